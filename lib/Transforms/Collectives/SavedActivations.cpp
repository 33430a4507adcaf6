//===- SavedActivations.cpp - layouts of saved activations ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SavedActivations.h"
#include "Proteus/Transforms/Common/RepeatStacks.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/Partitioning.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace proteus;
using dist::LayoutAttr;
using nn::IterationSpaceOpInterface;
using nn::RepeatOp;

bool proteus::isNoLarger(RankedTensorType type, LayoutAttr form,
                         LayoutAttr own) {
  return dist::localBytes(dist::withLayout(type, form)) <=
         dist::localBytes(dist::withLayout(type, own));
}

/// Returns the layout in which a kernel reads `use`, or null if the owner of
/// `use` is not a kernel.
static LayoutAttr readLayout(OpOperand &use, dist::MeshAttr mesh) {
  auto kernel = dyn_cast<IterationSpaceOpInterface>(use.getOwner());
  if (!kernel)
    return {};
  return Partitioning::fromAnnotation(kernel, mesh.getValue())
      .getOperandLayout(use.getOperandNumber(), mesh);
}

/// Groups the uses of `argument` by the layout in which kernels read it.
/// `argument` belongs to a backward body and receives the saved activation
/// `value` of a forward body. A layout is a key only if it is worthwhile to
/// save `value` a second time in this layout:
/// - a kernel of the forward body also reads `value` in this layout;
/// - the layout differs from the one in which `value` is produced;
/// - the layout is no larger than the one in which `value` is produced.
/// All other uses have the key null. Returns no uses if no kernel computes
/// `value`.
static llvm::MapVector<Attribute, SmallVector<OpOperand *>>
usesByForm(BlockArgument argument, Value value, dist::MeshAttr mesh) {
  llvm::MapVector<Attribute, SmallVector<OpOperand *>> uses;
  auto producer =
      dyn_cast_if_present<IterationSpaceOpInterface>(value.getDefiningOp());
  if (!producer)
    return uses;
  LayoutAttr own =
      Partitioning::fromAnnotation(producer, mesh.getValue())
          .getResultLayout(cast<OpResult>(value).getResultNumber(), mesh);
  auto type = cast<RankedTensorType>(value.getType());
  for (OpOperand &use : argument.getUses()) {
    LayoutAttr form = readLayout(use, mesh);
    bool made = form && form != own && isNoLarger(type, form, own) &&
                llvm::any_of(value.getUses(), [&](OpOperand &other) {
                  return readLayout(other, mesh) == form;
                });
    uses[made ? form : LayoutAttr()].push_back(&use);
  }
  return uses;
}

void proteus::separateSavedActivations(func::FuncOp function,
                                       dist::MeshAttr mesh) {
  SmallVector<RepeatOp> repeats(function.front().getOps<RepeatOp>());
  for (RepeatOp repeat : repeats) {
    if (getPhase(repeat) != Phase::Forward)
      continue;
    SmallVector<Value> values;
    SmallVector<std::pair<RepeatOp, BlockArgument>> arguments;
    for (OpResult stack : repeat.getStackedResults()) {
      Value value = repeat.getYield()->getOperand(stack.getResultNumber());
      for (OpOperand &stackUse : stack.getUses()) {
        auto reader = dyn_cast<RepeatOp>(stackUse.getOwner());
        if (!reader || getPhase(reader) != Phase::Backward ||
            stackUse.getOperandNumber() < reader.getNumCarried())
          continue;
        BlockArgument argument =
            reader.getBody().getArgument(stackUse.getOperandNumber());
        auto uses = usesByForm(argument, value, mesh);
        // If all uses read the same layout, there is only one group and nothing
        // to separate.
        for (auto &[form, list] : uses) {
          if (!form || uses.size() == 1)
            continue;
          BlockArgument copy = reader.getBody().addArgument(argument.getType(),
                                                            argument.getLoc());
          for (OpOperand *use : list)
            use->set(copy);
          values.push_back(value);
          arguments.push_back({reader, copy});
        }
      }
    }
    if (values.empty())
      continue;
    RepeatOp extended = stackAsWell(repeat, values);
    repeat.erase();
    for (auto [entry, stack] : llvm::zip_equal(
             arguments, extended->getResults().take_back(values.size())))
      entry.first.getSlicedMutable().append(stack);
  }
}
