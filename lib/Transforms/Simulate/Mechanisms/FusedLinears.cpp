//===- FusedLinears.cpp - linears of one input as one product -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frameworks run linears that read the same input as one product, for example
// those of queries, keys and values, or both linears of a gated block. Their
// input is therefore converted once, unless the conversion includes weights.
// The gradient of the input is one product too, so no kernel sums the gradients
// of the single linears. The times of the products themselves do not change.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

#include "Proteus/Transforms/Common/SumTerms.h"

using namespace mlir;
using namespace proteus;

/// Returns true if an earlier linear in the block of `op` has the same input
/// and converts it.
static bool isConvertedBefore(Operation *op) {
  return llvm::any_of(op->getOperand(0).getUses(), [&](OpOperand &use) {
    Operation *other = use.getOwner();
    return use.getOperandNumber() == 0 && isa<nn::LinearOp>(other) &&
           convertsInto(other) && other->getBlock() == op->getBlock() &&
           other->isBeforeInBlock(op);
  });
}

namespace {
struct FusedLinears : public Mechanism {
  void changeKernel(Operation *op, const RankContext &,
                    KernelPlan &plan) const override {
    if (isa<nn::AddOp>(op) && isInputGradient(op))
      plan.exists = false;
    if (isa<nn::LinearOp>(op) && convertsInto(op) && !plan.conversion.weights &&
        isConvertedBefore(op))
      plan.conversion.input = false;
  }
};
} // namespace

MechanismPtr
proteus::createFusedLinears(const machine::StackParameters &parameters) {
  if (!parameters.fusedLinears)
    return nullptr;
  return std::make_unique<FusedLinears>();
}
