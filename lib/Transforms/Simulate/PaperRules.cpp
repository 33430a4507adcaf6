//===- PaperRules.cpp - costs of the published Proteus --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the rules of `fidelity=paper` (docs/reference.md): the costs of
// kernels, the queues and the interference follow the reference.
//
//===----------------------------------------------------------------------===//

#include "CostRules.h"
#include "LocalWork.h"

#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Reference/Costs/ReferenceModel.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace proteus;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Returns the work of `op` with the bytes that the reference counts. Returns
/// nullopt if the reference runs no kernel for `op`.
static std::optional<cost::Kernel> paperWork(nn::IterationSpaceOpInterface op,
                                             sim::Phase phase,
                                             ArrayRef<int64_t> coordinates) {
  Operation *operation = op;
  bool isGradient = phase == sim::Phase::Backward;
  // The reference runs no kernel for these operations. The gradient of the
  // loss, created by a fill, is an input in the reference. A loss over a split
  // vocabulary takes only one pass in the reference, that of `nn.row_exp_sum`.
  // Gradients are added up by the kernels that compute them.
  if (isa<nn::FillOp, nn::RowMaxOp, nn::RowLossOp>(operation) ||
      (isGradient && isa<nn::AddOp>(operation)))
    return std::nullopt;
  std::optional<cost::Kernel> kernel = localWork(op, coordinates);
  if (!kernel)
    return kernel;
  auto size = [&](Value value) -> double {
    return dist::localBytes(cast<RankedTensorType>(value.getType()),
                            coordinates);
  };
  // Returns the bytes of the table rows that a lookup accesses, which are at
  // most the bytes of the table.
  auto rows = [&](Value found, Value table) {
    return std::min(size(found), size(table));
  };
  auto first = [&] { return size(operation->getResult(0)); };
  llvm::TypeSwitch<Operation *>(operation)
      // The dropout of the reference stores no mask.
      .Case([&](nn::DropoutOp drop) {
        kernel->bytes = size(drop.getInput()) + first();
      })
      .Case<nn::DropoutGradOp, nn::Pool2DGradOp>([&](auto gradient) {
        kernel->bytes = size(gradient.getGradient()) + first();
      })
      .Case([&](nn::CrossEntropyGradOp gradient) {
        kernel->bytes = size(gradient.getLabels()) + first();
      })
      // The gradient of an elementwise multiplication reads both factors in the
      // reference, although one is enough.
      .Case([&](nn::MulOp) {
        if (isGradient)
          kernel->bytes += first();
      })
      // The Adam update of the reference reads the moments but does not write
      // them.
      .Case([&](nn::AdamOp adam) {
        kernel->bytes = first();
        for (Value operand : adam->getOperands())
          kernel->bytes += size(operand);
      })
      .Case([&](nn::EmbeddingOp lookup) {
        kernel->bytes = size(lookup.getIndices()) + first() +
                        rows(lookup.getResult(), lookup.getTable());
      })
      .Case([&](nn::EmbeddingGradOp gradient) {
        kernel->bytes = size(gradient.getIndices()) +
                        size(gradient.getGradient()) +
                        rows(gradient.getGradient(), gradient.getResult());
      })
      // The reference reads only one row of the table per bag.
      .Case([&](nn::EmbeddingBagOp lookup) {
        kernel->bytes = first() + rows(lookup.getResult(), lookup.getTable());
      })
      .Case([&](nn::EmbeddingBagGradOp gradient) {
        kernel->bytes = size(gradient.getGradient()) +
                        rows(gradient.getGradient(), gradient.getResult());
      });
  return kernel;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Returns the time that the device waits before every kernel.
static cost::Time paperLaunchGap() {
  static const cost::Time gap = cost::fromSeconds(
      cantFail(net::parseReferenceConstants(net::embeddedReferenceConstants(),
                                            "constants.json"))
          .launchGap *
      1e-3);
  return gap;
}

namespace {
/// Changes the tasks of one class so that they take as long as the kernels of
/// the reference.
class PaperKernels {
public:
  PaperKernels(const FlatList &flat, std::vector<sim::Task> &tasks)
      : flat(flat), tasks(tasks) {}

  /// Joins the kernels that compute the gradients of one operation (those of
  /// its input, weight and bias) into one launch: they end together, and the
  /// launch gap `gap` counts once.
  void joinGradients(cost::Time gap);
  void addCopies(cost::Time gap, ArrayRef<int64_t> coordinates,
                 llvm::function_ref<cost::Time(const cost::Kernel &)> cost);

private:
  /// Returns true if a task is a kernel of the backward pass that takes time.
  bool isGradient(uint32_t task) const {
    return tasks[task].phase == sim::Phase::Backward &&
           tasks[task].stream == sim::Stream::Compute &&
           tasks[task].duration > 0;
  }

  const FlatList &flat;
  std::vector<sim::Task> &tasks;
};
} // namespace

void PaperKernels::joinGradients(cost::Time gap) {
  // For every kernel, the last kernel of the launch to which it belongs.
  std::vector<uint32_t> lastOf(tasks.size());
  std::vector<uint32_t> group;
  auto close = [&] {
    if (group.empty())
      return;
    for (uint32_t member : group)
      lastOf[member] = group.back();
    for (uint32_t member : ArrayRef(group).drop_back()) {
      tasks[group.back()].duration += tasks[member].duration - gap;
      tasks[member].duration = 0;
    }
    group.clear();
  };
  auto joins = [&](uint32_t task) {
    if (group.empty() ||
        flat.tasks[group.back()].label != flat.tasks[task].label)
      return false;
    // A kernel that waits for a task between the kernels of the launch so far
    // cannot be part of this launch.
    return llvm::all_of(tasks[task].dependsOn, [&](uint32_t other) {
      return other <= group.front() || llvm::is_contained(group, other);
    });
  };
  for (uint32_t task = 0; task < tasks.size(); ++task) {
    lastOf[task] = task;
    if (!isGradient(task))
      continue;
    if (!joins(task))
      close();
    group.push_back(task);
  }
  close();
  for (uint32_t task = 0; task < tasks.size(); ++task)
    for (uint32_t other : std::vector<uint32_t>(tasks[task].dependsOn))
      if (uint32_t last = lastOf[other];
          last < task && lastOf[task] != last &&
          !llvm::is_contained(tasks[task].dependsOn, last))
        tasks[task].dependsOn.push_back(last);
}

/// Returns the memory traffic of copying the gradient of `op` to its operands,
/// in multiples of the size of the result; 0 if nothing is copied. The gradient
/// of a sum is read once and written to both operands: 3. The gradient of a
/// concatenation is read and written once, in parts: 2.
static double copiesOf(Operation *op) {
  if (isa<nn::AddOp>(op))
    return 3;
  return isa<nn::ConcatOp>(op) && op->getNumOperands() > 1 ? 2 : 0;
}

/// Adds the time of copying gradients of sums and concatenations to their
/// operands. A copy runs when the backward pass reaches the first kernel of an
/// operation that precedes the sum or concatenation. If a gradient was
/// accumulated just before that kernel, the copy replaces the accumulation.
/// Otherwise the time of the copy, without the launch gap, is added to the
/// kernel.
void PaperKernels::addCopies(
    cost::Time gap, ArrayRef<int64_t> coordinates,
    llvm::function_ref<cost::Time(const cost::Kernel &)> cost) {
  struct Copy {
    uint32_t task;
    cost::Time time;
  };
  std::vector<Copy> open;
  llvm::StringMap<uint32_t> forward;
  std::optional<uint32_t> accumulation;
  for (auto [number, task] : llvm::enumerate(flat.tasks)) {
    auto at = static_cast<uint32_t>(number);
    if (tasks[at].collective >= 0)
      continue;
    if (task.phase == sim::Phase::Forward) {
      forward.try_emplace(task.label, at);
      if (double copies = copiesOf(task.op)) {
        cost::Kernel copy;
        copy.type = computeType(task.op);
        copy.bytes =
            copies * dist::localBytes(cast<RankedTensorType>(
                                          task.op->getResult(0).getType()),
                                      coordinates);
        open.push_back({at, cost(copy)});
      }
      continue;
    }
    if (task.phase == sim::Phase::Backward && isa<nn::AddOp>(task.op))
      accumulation = at;
    auto found = forward.find(task.label);
    if (!isGradient(at) || found == forward.end())
      continue;
    while (!open.empty() && open.back().task > found->second) {
      if (accumulation)
        tasks[*accumulation].duration = open.back().time;
      else
        tasks[at].duration += open.back().time - gap;
      accumulation.reset();
      open.pop_back();
    }
    accumulation.reset();
  }
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {
class PaperRules : public CostRules {
public:
  std::optional<KernelCost> kernelCost(nn::IterationSpaceOpInterface op,
                                       sim::Phase phase,
                                       const RankContext &rank) const override {
    std::optional<cost::Kernel> work = paperWork(op, phase, rank.coordinates);
    if (!work)
      return std::nullopt;
    return KernelCost{rank.kernels.cost(*work), work->family};
  }

  sim::Stream streamOf(Operation *op) const override;
  int64_t gatheredBits(Value gathered) const override {
    return proteus::gatheredBits(gathered);
  }
  void changeCollective(Operation *op,
                        sim::Collective &collective) const override;
  void changeClass(const FlatProgram &flat, const RankContext &rank,
                   sim::DeviceClass &device) const override;
};
} // namespace

/// Returns the stream of `op`. As in the reference, one stream holds the
/// reductions of gradients and another one all other communication. A message
/// is in this other stream only on its sender; its receiver waits in a stream
/// for receives.
sim::Stream PaperRules::streamOf(Operation *op) const {
  if (isa<dist::RecvOp>(op) || !isa<dist::CollectiveOpInterface>(op))
    return getStream(op);
  return dist::getPurpose(op) == dist::Purpose::Gradient
             ? sim::Stream::DataParallel
             : sim::Stream::TensorParallel;
}

/// Makes reductions of gradients the only communication that interferes with
/// kernels: flows without channels do not interfere.
void PaperRules::changeCollective(Operation *op,
                                  sim::Collective &collective) const {
  collective.flow.channels = streamOf(op) == sim::Stream::DataParallel ? 1 : 0;
}

/// Makes the updates of parameters wait for all communication of the
/// micro-batches.
static void updateAfterCommunication(sim::DeviceClass &device) {
  const sim::Template &once = device.once;
  // Kernels run in order, so it is enough that the first kernel of each section
  // waits.
  for (size_t s = 0; s + 1 < once.sectionBegin.size(); ++s)
    for (uint32_t t = once.sectionBegin[s]; t < once.sectionBegin[s + 1]; ++t) {
      if (once.tasks[t].stream != sim::Stream::Compute)
        continue;
      for (auto [m, task] : llvm::enumerate(device.micro.tasks)) {
        std::pair<uint32_t, uint32_t> edge(t, m);
        if (task.collective >= 0 &&
            !llvm::is_contained(device.onceDependsOn, edge))
          device.onceDependsOn.push_back(edge);
      }
      break;
    }
}

/// Applies the rules of the reference to a complete class. All kernels get the
/// same interference factor. The kernels that compute the gradients of one
/// operation become one launch. The time of copying gradients of sums and
/// concatenations is added. Updates wait for all communication of the
/// micro-batches. The launch latency stays 0, because the durations of kernels
/// include it.
void PaperRules::changeClass(const FlatProgram &flat, const RankContext &rank,
                             sim::DeviceClass &device) const {
  double factor = rank.device.interference.matrixKernel;
  device.interference = {factor, factor, factor};
  PaperKernels kernels(flat.micro, device.micro.tasks);
  kernels.joinGradients(paperLaunchGap());
  kernels.addCopies(paperLaunchGap(), rank.coordinates,
                    [&](const cost::Kernel &kernel) {
                      return rank.kernels.cost(kernel).time;
                    });
  updateAfterCommunication(device);
}

std::unique_ptr<CostRules> proteus::createPaperRules() {
  return std::make_unique<PaperRules>();
}
