//===- PropagationRemarks.cpp - remarks on partitions -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits remarks about the origin of the axes that split iterators.
//
//===----------------------------------------------------------------------===//

#include "PropagationRemarks.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using nn::IterationSpaceOpInterface;

void proteus::explainPartitions(func::FuncOp function, const dist::Mesh &mesh,
                                const PropagatedPartitions &propagated) {
  function.walk([&](IterationSpaceOpInterface op) {
    const Partitioning &part = propagated.parts.find(op)->second;
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (auto [i, iterator] : llvm::enumerate(part.getSpace().iterators)) {
      if (part.getAxes(i).empty())
        continue;
      stream << (text.empty() ? "" : "; ") << iterator.name << " over "
             << mesh.format(part.getAxes(i));
      auto found = propagated.sources.find({op, i});
      if (found == propagated.sources.end())
        stream << " from the tree";
      else if (found->second.kind == AxisSource::Operand)
        stream << " like operand " << found->second.number;
      else
        stream << " for its reader '" << nn::getPath(found->second.op) << "'";
    }
    op->emitRemark(text.empty() ? "whole on every device" : text);
  });
}

void proteus::remarkConflicts(func::FuncOp function, const dist::Mesh &mesh,
                              const PropagatedPartitions &propagated) {
  function.walk([&](IterationSpaceOpInterface op) {
    // Skip gradients, because their conflicts repeat those of the forward
    // operations.
    if (getPhase(op) != Phase::Forward)
      return;
    const Partitioning &part = propagated.parts.find(op)->second;
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      // Skip arguments: readers need not have the layout in which an argument
      // is stored, so a difference is not a conflict.
      auto known = propagated.known.find(operand.get());
      if (!operand.get().getDefiningOp() || known == propagated.known.end())
        continue;
      for (auto [dim, axes] :
           llvm::zip(part.getSpace().operands[number], known->second)) {
        auto iterator = Partitioning::majorIterator(dim);
        if (!iterator || axes.empty() ||
            propagated.setByTree.contains({op, *iterator}))
          continue;
        ArrayRef<Axis> taken = part.getAxes(*iterator);
        auto found = propagated.sources.find({op, *iterator});
        if (taken.empty() || taken == ArrayRef<Axis>(axes) ||
            found == propagated.sources.end())
          continue;
        InFlightDiagnostic remark =
            op->emitRemark("operand ")
            << number << " is split over " << mesh.format(axes) << " along '"
            << part.getSpace().iterators[*iterator].name << "', but ";
        if (found->second.kind == AxisSource::Operand)
          remark << "operand " << found->second.number << " comes first";
        else
          remark << "its reader '" << nn::getPath(found->second.op)
                 << "' comes first";
        remark << " with " << mesh.format(taken) << ": operand " << number
               << " is converted; set the iterator in the tree to decide "
                  "otherwise";
      }
    }
  });
}
