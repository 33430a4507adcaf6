//===- PropagateStrategy.cpp - a partition for every op ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass propagate-strategy: propagates partitions along the data flow,
// reports conflicts and errors, cuts the batch into micro-batches, and
// annotates operations and arguments with the result.
//
//===----------------------------------------------------------------------===//

#include "PartitionDiagnostics.h"
#include "Propagation.h"
#include "PropagationRemarks.h"
#include "UnusedAxes.h"

#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/BatchAnalysis.h"
#include "Proteus/Transforms/Propagation/Passes.h"

#include "llvm/ADT/MapVector.h"

namespace proteus {
#define GEN_PASS_DEF_PROPAGATESTRATEGY
#include "Proteus/Transforms/Propagation/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using dist::AxisList;
using nn::IterationSpaceOpInterface;

/// Cuts the batch into micro-batches, and annotates operations with their
/// partitions and arguments with their layouts. If partitions are invalid,
/// emits one error per distinct message.
static LogicalResult annotate(func::FuncOp function, dist::MeshAttr meshAttr,
                              PropagatedPartitions &propagated) {
  const dist::Mesh &mesh = meshAttr.getValue();
  BatchAnalysis batch(function);
  AxisList micro;
  if (mesh.micro > 1)
    micro.push_back(dist::microAxis);

  // One mistake in a tree causes the same error in many operations, including
  // gradients. It is reported once, for the first operation.
  llvm::MapVector<StringAttr, SmallVector<Operation *>> offenders;
  function.walk([&](IterationSpaceOpInterface op) {
    Partitioning &part = propagated.parts.find(op)->second;
    if (auto iterator = batch.getIterator(op); iterator && !micro.empty()) {
      AxisList axes = part.getAxes(*iterator);
      axes.insert(axes.begin(), micro.begin(), micro.end());
      part.setAxes(*iterator, axes);
    }
    std::string problem = findFault(op, part, mesh);
    if (problem.empty())
      part.annotate(mesh);
    else
      offenders[StringAttr::get(op->getContext(), problem)].push_back(op);
  });
  for (auto &[problem, operations] : offenders) {
    InFlightDiagnostic diagnostic =
        operations.front()->emitOpError(problem.getValue());
    if (operations.size() > 1)
      diagnostic.attachNote()
          << "and in " << operations.size() - 1 << " other operations";
  }
  if (!offenders.empty())
    return failure();

  ArgumentAttrChanges layouts;
  for (BlockArgument argument : function.getArguments()) {
    unsigned rank = cast<RankedTensorType>(argument.getType()).getRank();
    dist::Layout layout(rank);
    auto found = propagated.known.find(argument);
    if (found != propagated.known.end()) {
      layout.dims.assign(found->second.begin(), found->second.end());
      layout.flat = found->second.flat;
    }
    if (auto dim = batch.getDimension(argument); dim && !micro.empty())
      layout.dims[*dim].insert(layout.dims[*dim].begin(), dist::microAxis);
    Place place = getPlace(getArgumentAttr(argument, kPlaceAttr), mesh);
    layout.fixed.assign(place.begin(), place.end());
    layouts.set(argument, kLayoutAttr, dist::LayoutAttr::get(meshAttr, layout));
  }
  layouts.apply(function);
  return success();
}

namespace {
class PropagateStrategy
    : public proteus::impl::PropagateStrategyBase<PropagateStrategy> {
public:
  using PropagateStrategyBase::PropagateStrategyBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto mesh = getMatchedMesh(function, getArgument());
    if (!mesh)
      return;
    if (hasLayouts(function)) {
      function.emitOpError("has layouts already; run propagate-strategy once, "
                           "before insert-collectives");
      return signalPassFailure();
    }
    if (failed(checkPartitions(function, mesh.getValue())))
      return signalPassFailure();
    FailureOr<PropagatedPartitions> propagated =
        propagate(function, mesh.getValue());
    if (failed(propagated))
      return signalPassFailure();
    if (explain)
      explainPartitions(function, mesh.getValue(), *propagated);
    remarkConflicts(function, mesh.getValue(), *propagated);
    if (failed(reportUnusedAxes(function, mesh.getValue(), *propagated)) ||
        failed(annotate(function, mesh, *propagated)))
      return signalPassFailure();
  }
};
} // namespace
