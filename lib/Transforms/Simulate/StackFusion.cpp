//===- StackFusion.cpp - neighbours that a stack runs as one kernel -------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is between two operations of one kernel is not read again, and not
// written if nothing else needs it. Operations of different modules are never
// fused.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/SumTerms.h"
#include "StackCosts.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace proteus;
using machine::FusedNeighbours;
using machine::Stack;

static bool isElementwise(Operation *op) {
  return isa<nn::AddOp, nn::MulOp, nn::ScaleOp, nn::CastOp, nn::ReluOp,
             nn::ReluGradOp, nn::GeluOp, nn::GeluGradOp, nn::SiluOp,
             nn::SiluGradOp, nn::TanhOp, nn::TanhGradOp, nn::SigmoidOp,
             nn::SigmoidGradOp, nn::DropoutOp, nn::DropoutGradOp>(op);
}

/// Whether normalisations are among the neighbours that are fused.
static bool fusesNorm(const Stack &stack, machine::DType type) {
  return stack.fusedNeighbours == FusedNeighbours::Norms &&
         machine::byteWidth(type) == 2 && stack.hasChannelsLast(type);
}

/// "layer1[2]" of "layer1[2].act".
static StringRef moduleOf(StringRef path) {
  return path.contains('.') ? path.rsplit('.').first : StringRef();
}

/// Whether two operations are in one place and in one module of the model. What
/// depends on that is the same in rolled and unrolled forms of a model.
static bool areNeighbours(Operation *a, Operation *b) {
  std::string first = nn::getPath(a), second = nn::getPath(b);
  return a->getBlock() == b->getBlock() && moduleOf(first) == moduleOf(second);
}

/// Whether `reader` is computed where `value`, an operand of it, is.
static bool isFused(const Stack &stack, machine::DType type, Value value,
                    Operation *reader) {
  Operation *writer = value.getDefiningOp();
  if (!writer || !areNeighbours(writer, reader))
    return false;
  bool norms = fusesNorm(stack, type);
  if (!isElementwise(writer) && !(norms && isa<nn::BatchNormOp>(writer)))
    return false;
  if (!isElementwise(reader) && !(norms && isa<nn::BatchNormGradOp>(reader)))
    return false;
  // What else is read must be there already.
  return llvm::all_of(reader->getOperands(), [&](Value other) {
    Operation *source = other.getDefiningOp();
    return other == value || !source ||
           source->getBlock() != writer->getBlock() ||
           source->isBeforeInBlock(writer);
  });
}

bool proteus::removeFusedTraffic(const Stack &stack, Operation *op,
                                 ArrayRef<int64_t> coordinates,
                                 cost::Kernel &work) {
  // A product can add its result to that of another one as it computes it.
  if (stack.fusedLinears && isa<nn::AddOp>(op) && isInputGradient(op))
    return false;
  if (stack.fusedNeighbours == FusedNeighbours::None)
    return true;
  auto bytesOf = [&](Value value) {
    return static_cast<double>(
        dist::localBytes(cast<RankedTensorType>(value.getType()), coordinates));
  };
  for (Value operand : op->getOperands())
    if (isFused(stack, work.type, operand, op))
      work.bytes -= bytesOf(operand);
  if (op->getNumResults() > 0 && op->getResult(0).hasOneUse() &&
      isFused(stack, work.type, op->getResult(0),
              *op->getResult(0).user_begin()))
    work.bytes -= bytesOf(op->getResult(0));
  return work.bytes > 0;
}
