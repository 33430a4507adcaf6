//===- StackCosts.cpp - what software adds to tasks and memory ------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StackCosts.h"

#include "LocalWork.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/SmallSet.h"

#include <cmath>

using namespace mlir;
using namespace proteus;

/// What stacks do differently in a kernel that memory bounds; none if it is
/// another one.
static std::optional<machine::TrafficClass>
trafficOf(Operation *op, const cost::Kernel &work) {
  using machine::TrafficClass;
  if (isa<nn::CrossEntropyOp, nn::CrossEntropyGradOp, nn::RowMaxOp,
          nn::RowExpSumOp, nn::RowLossOp>(op))
    return TrafficClass::Loss;
  if (isa<nn::MoeRouteOp, nn::MoeRouteGradOp, nn::MoeDispatchOp,
          nn::MoeCombineOp, nn::MoeGateGradOp>(op))
    return TrafficClass::Permute;
  switch (work.family) {
  case cost::Family::Stream:
    return TrafficClass::Elementwise;
  case cost::Family::Norm:
    return TrafficClass::Norm;
  case cost::Family::Activation:
    return TrafficClass::Activation;
  case cost::Family::Rope:
    return TrafficClass::Rope;
  case cost::Family::Embedding:
    return TrafficClass::Embedding;
  case cost::Family::Softmax:
    return TrafficClass::Softmax;
  case cost::Family::Update:
    return TrafficClass::Update;
  case cost::Family::Product:
  case cost::Family::GroupedProduct:
  case cost::Family::Attention:
  case cost::Family::Convolution:
  case cost::Family::OtherMatrix:
    return std::nullopt;
  }
  llvm_unreachable("unknown family of kernels");
}

/// How many times the bytes of a batch normalisation are moved where it reads
/// its operands for the sums and again to normalise: three tensors instead of
/// two, five instead of three in the backward pass.
static double passesOfNorm(const machine::Stack &stack, Operation *op,
                           machine::DType type) {
  if (stack.hasChannelsLast(type))
    return 1;
  if (isa<nn::BatchNormOp>(op))
    return 3.0 / 2;
  return isa<nn::BatchNormGradOp>(op) ? 5.0 / 3 : 1;
}

void proteus::addTraffic(const machine::Stack &stack, Operation *op,
                         cost::Kernel &work) {
  if (work.convolution)
    work.convolution->channelsLast = stack.hasChannelsLast(work.type);
  work.bytes *= passesOfNorm(stack, op, work.type);
  if (std::optional<machine::TrafficClass> traffic = trafficOf(op, work))
    work.bytes *= stack.traffic[static_cast<unsigned>(*traffic)];
}

std::optional<cost::Kernel>
proteus::separateAccumulation(const machine::Stack &stack, Operation *op,
                              cost::Kernel &work) {
  if (!stack.separateAccumulation || !accumulates(op))
    return std::nullopt;
  // What is computed is as wide as the operands; the sum is read and written.
  double sum = work.resultBytes, own = sum;
  Type wide = getElementTypeOrSelf(op->getResult(0).getType());
  for (Type type : op->getOperandTypes())
    if (Type element = getElementTypeOrSelf(type); isa<FloatType>(element))
      own = std::min(own, sum * dist::elementBits(element) /
                              dist::elementBits(wide));
  work.accumulates = false;
  work.bytes -= sum - own;
  work.resultBytes = own;
  cost::Kernel adding;
  adding.family = cost::Family::Stream;
  adding.type = work.type;
  adding.pass = work.pass;
  adding.bytes = own + 2 * sum;
  adding.resultBytes = sum;
  return adding;
}

cost::Time proteus::timeWithStack(const machine::Stack &stack,
                                  const machine::Device &device,
                                  const cost::Kernel &work, cost::Time time) {
  double rate = 1;
  if (work.family == cost::Family::Attention)
    rate = stack.attentionRate(device.architecture);
  else if (work.family == cost::Family::Product)
    rate = stack.productRate(device.architecture);
  return rate == 1 ? time : cost::fromSeconds(cost::toSeconds(time) / rate);
}

/// Whether `op` works on a chunk of a product or of its collective that is not
/// the first one.
static bool isOfLaterChunk(Operation *op) {
  // A collective may stand between a chunk and its product, or the other way
  // round.
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

void proteus::addHostTime(const machine::Stack &stack, Operation *op,
                          sim::Task &task) {
  double host = 0;
  // The framework calls a library once for all chunks.
  if (isOfLaterChunk(op))
    return;
  if (isa<dist::SendOp, dist::RecvOp>(op)) {
    host = stack.hostMessage;
  } else if (task.collective >= 0) {
    host = stack.hostCollective;
  } else if (task.phase != sim::Phase::Update && task.duration > 0) {
    // Updates are few kernels over many tensors, however many operations they
    // are here.
    host = stack.hostKernel;
    if (stack.separateAccumulation && accumulates(op))
      host += stack.hostKernel;
    task.duration += cost::fromSeconds(stack.kernelGap);
  }
  task.launch = cost::fromSeconds(host);
}

void proteus::addPauses(const machine::Stack &stack, int64_t groupSize,
                        sim::Task &task) {
  if (!stack.hostWaits)
    return;
  // The chance that another one pauses while this one does not.
  double share = stack.hostPauseShare;
  double others = (1 - share) - std::pow(1 - share, groupSize);
  task.launch += cost::fromSeconds(stack.hostPause * others);
}

/// Whether a parameter is a matrix, or one per layer. Experts have three
/// dimensions, and their gradients are added elsewhere.
static bool isMatrix(const FlatBuffer &buffer) {
  size_t rank = cast<RankedTensorType>(buffer.value.getType()).getRank();
  return buffer.owner == sim::MemoryOwner::Parameters &&
         rank == (buffer.pieces > 1 ? 3 : 2);
}

static int64_t elementBitsOf(const FlatBuffer &buffer) {
  return dist::elementBits(
      cast<RankedTensorType>(buffer.value.getType()).getElementType());
}

/// Whether gradients accumulate in a wider type than that of the parameters.
static bool hasWideGradients(ArrayRef<FlatBuffer> resident) {
  int64_t parameter = 0, gradient = 0;
  for (const FlatBuffer &buffer : resident)
    if (buffer.owner == sim::MemoryOwner::Parameters)
      parameter = std::max(parameter, elementBitsOf(buffer));
    else if (buffer.owner == sim::MemoryOwner::Gradients)
      gradient = std::max(gradient, elementBitsOf(buffer));
  return parameter > 0 && gradient > parameter;
}

void proteus::addGradientCopies(const machine::Stack &stack,
                                ArrayRef<FlatBuffer> resident,
                                sim::DeviceClass &device) {
  // Of gradients of the model and of the optimizer, the resident ones are the
  // optimizer's if they are wide; then those of the model come on top.
  sim::MemoryOwner alike = hasWideGradients(resident)
                               ? sim::MemoryOwner::Parameters
                               : sim::MemoryOwner::MasterWeights;
  // One gradient of one layer for each shape of a matrix.
  llvm::SmallSet<std::pair<int64_t, int64_t>, 8> shapes;
  for (auto [i, buffer] : llvm::enumerate(resident)) {
    sim::Buffer copy = device.resident[i];
    copy.owner = sim::MemoryOwner::Gradients;
    if (stack.masterGradients && buffer.owner == alike) {
      device.resident.push_back(std::move(copy));
      continue;
    }
    if (!stack.dummyGradients || !isMatrix(buffer))
      continue;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(buffer.value.getType()).getShape().take_back(2);
    if (!shapes.insert({shape[0], shape[1]}).second)
      continue;
    copy.bytes /= copy.pieces;
    copy.pieces = 1;
    device.resident.push_back(std::move(copy));
  }
}
