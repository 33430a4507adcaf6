//===- FusedNeighbours.cpp - elementwise neighbours as one kernel ---------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise operations of one module that follow each other run as one
// kernel. A tensor between two operations of a kernel is not read again. It is
// also not written if it has no other reader.
//
// With `norms`, the kernel also contains a batch normalisation, if images have
// 16-bit elements and their channels are last: in the forward pass the
// normalisation that precedes the elementwise operations, in the backward pass
// the normalisation that follows them.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

#include "Proteus/Dialect/Dist/Layout.h"

using namespace mlir;
using namespace proteus;

static bool isElementwise(Operation *op) {
  return isa<nn::AddOp, nn::MulOp, nn::ScaleOp, nn::CastOp, nn::ReluOp,
             nn::ReluGradOp, nn::GeluOp, nn::GeluGradOp, nn::SiluOp,
             nn::SiluGradOp, nn::TanhOp, nn::TanhGradOp, nn::SigmoidOp,
             nn::SigmoidGradOp, nn::DropoutOp, nn::DropoutGradOp>(op);
}

/// Returns the module in a path, such as "layer1[2]" in "layer1[2].act".
static StringRef moduleOf(StringRef path) {
  return path.contains('.') ? path.rsplit('.').first : StringRef();
}

/// Returns true if two operations are in one block and in one module of the
/// model. The result is the same for layers in a repeat and for layers that are
/// written out.
static bool areNeighbours(Operation *a, Operation *b) {
  std::string first = nn::getPath(a), second = nn::getPath(b);
  return a->getBlock() == b->getBlock() && moduleOf(first) == moduleOf(second);
}

namespace {
class FusedNeighbours : public Mechanism {
public:
  explicit FusedNeighbours(const machine::StackParameters &parameters)
      : fusesNorms(parameters.fusedNeighbours ==
                   machine::FusedNeighbours::Norms),
        parameters(parameters) {}

  void changeKernel(Operation *op, const RankContext &rank,
                    KernelPlan &plan) const override {
    machine::DType type = plan.kernel.type;
    auto bytesOf = [&](Value value) {
      return static_cast<double>(dist::localBytes(
          cast<RankedTensorType>(value.getType()), rank.coordinates));
    };
    for (Value operand : op->getOperands())
      if (isFused(type, operand, op))
        plan.kernel.bytes -= bytesOf(operand);
    if (op->getNumResults() > 0 && op->getResult(0).hasOneUse() &&
        isFused(type, op->getResult(0), *op->getResult(0).user_begin()))
      plan.kernel.bytes -= bytesOf(op->getResult(0));
    if (!(plan.kernel.bytes > 0))
      plan.exists = false;
  }

private:
  /// Returns true if `reader` and the operation that computes `value` run as
  /// one kernel.
  bool isFused(machine::DType type, Value value, Operation *reader) const;

  bool fusesNorms;
  machine::StackParameters parameters;
};
} // namespace

bool FusedNeighbours::isFused(machine::DType type, Value value,
                              Operation *reader) const {
  Operation *writer = value.getDefiningOp();
  if (!writer || !areNeighbours(writer, reader))
    return false;
  bool norms = fusesNorms && machine::byteWidth(type) == 2 &&
               parameters.hasChannelsLast(type);
  if (!isElementwise(writer) && !(norms && isa<nn::BatchNormOp>(writer)))
    return false;
  if (!isElementwise(reader) && !(norms && isa<nn::BatchNormGradOp>(reader)))
    return false;
  // One kernel can contain both operations only if the other operands of the
  // reader are computed before the writer.
  return llvm::all_of(reader->getOperands(), [&](Value other) {
    Operation *source = other.getDefiningOp();
    return other == value || !source ||
           source->getBlock() != writer->getBlock() ||
           source->isBeforeInBlock(writer);
  });
}

MechanismPtr
proteus::createFusedNeighbours(const machine::StackParameters &parameters) {
  if (parameters.fusedNeighbours == machine::FusedNeighbours::None)
    return nullptr;
  return std::make_unique<FusedNeighbours>(parameters);
}
