//===- FlowRules.cpp - costs with the mechanisms of a stack ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostRules.h"
#include "FlatProgram.h"
#include "LocalWork.h"
#include "Mechanisms/Mechanism.h"

using namespace mlir;
using namespace proteus;

/// Returns true if `op` is the product or the collective of a chunk
/// (`dist.chunk`) other than the first chunk.
static bool isOfLaterChunk(Operation *op) {
  // There may be one operation between `op` and the chunk: a gather if `op` is
  // the product, or the product if `op` is a collective.
  for (unsigned between = 0; between < 2 && op->getNumOperands() > 0;
       ++between) {
    op = op->getOperand(0).getDefiningOp();
    if (!op)
      return false;
    if (auto chunk = dyn_cast<dist::ChunkOp>(op))
      return chunk.getIndex() > 0;
    auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op);
    if (!isa<dist::AllGatherOp>(op) &&
        !(kernel && kernel.getKernelClass() == nn::KernelClass::Matrix))
      return false;
  }
  return false;
}

namespace {
class FlowRules : public CostRules {
public:
  explicit FlowRules(const machine::Stack &stack)
      : mechanisms(createMechanisms(stack.parameters)) {}

  std::optional<KernelCost> kernelCost(nn::IterationSpaceOpInterface op,
                                       sim::Phase phase,
                                       const RankContext &rank) const override;
  sim::Stream streamOf(Operation *op) const override { return getStream(op); }
  int64_t gatheredBits(Value gathered) const override;
  void changeTask(const TaskContext &context, sim::Task &task) const override;
  void changeClass(const FlatProgram &flat, const RankContext &rank,
                   sim::DeviceClass &device) const override;
  void changeWorkload(sim::Workload &workload) const override;

private:
  std::vector<std::unique_ptr<Mechanism>> mechanisms;
};
} // namespace

std::optional<KernelCost>
FlowRules::kernelCost(nn::IterationSpaceOpInterface op, sim::Phase,
                      const RankContext &rank) const {
  std::optional<cost::Kernel> work = localWork(op, rank.coordinates);
  if (!work)
    return std::nullopt;
  KernelPlan plan;
  plan.kernel = *work;
  plan.conversion = conversionOf(op);
  for (const auto &mechanism : mechanisms) {
    mechanism->changeKernel(op, rank, plan);
    if (!plan.exists)
      return std::nullopt;
  }
  // The products of one library call run together. Each gets an equal share of
  // the time of the call.
  cost::Answer answer = rank.kernels.cost(workOfAllPieces(op, plan.kernel));
  answer.time /= numPieces(op);
  if (plan.rate != 1)
    answer.time = cost::fromSeconds(cost::toSeconds(answer.time) / plan.rate);
  if (auto conversion = conversionWork(op, rank.coordinates, plan.conversion))
    answer.time += rank.kernels.cost(*conversion).time;
  for (const cost::Kernel &kernel : plan.following)
    answer.time += rank.kernels.cost(kernel).time;
  auto launches = static_cast<unsigned>(1 + plan.following.size());
  return KernelCost{answer, plan.kernel.family, launches};
}

int64_t FlowRules::gatheredBits(Value gathered) const {
  int64_t bits = proteus::gatheredBits(gathered);
  for (const auto &mechanism : mechanisms)
    mechanism->changeGather(gathered, bits);
  return bits;
}

void FlowRules::changeTask(const TaskContext &context, sim::Task &task) const {
  TaskContext own = context;
  if (isOfLaterChunk(context.op))
    own.launches = 0;
  for (const auto &mechanism : mechanisms)
    mechanism->changeTask(own, task);
}

void FlowRules::changeClass(const FlatProgram &flat, const RankContext &rank,
                            sim::DeviceClass &device) const {
  device.interference = rank.device.interference;
  device.launchLatency = cost::fromSeconds(rank.device.launchLatency);
  for (const auto &mechanism : mechanisms)
    mechanism->changeClass(flat.resident, device);
}

void FlowRules::changeWorkload(sim::Workload &workload) const {
  for (const auto &mechanism : mechanisms)
    mechanism->changeWorkload(workload);
}

std::unique_ptr<CostRules>
proteus::createFlowRules(const machine::Stack &stack) {
  return std::make_unique<FlowRules>(stack);
}
