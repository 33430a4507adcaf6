//===- InsertCollectives.cpp - layouts and conversions ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutInserter.h"

#include "Proteus/Transforms/Collectives/Passes.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/ResolveMachine.h"

namespace proteus {
#define GEN_PASS_DEF_INSERTCOLLECTIVES
#include "Proteus/Transforms/Collectives/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

namespace {
class InsertCollectives
    : public proteus::impl::InsertCollectivesBase<InsertCollectives> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto mesh = getMatchedMesh(function, getArgument());
    if (!mesh)
      return;
    for (BlockArgument argument : function.getArguments())
      if (!getArgumentAttr(argument, kLayoutAttr)) {
        function.emitOpError("argument ")
            << argument.getArgNumber()
            << " has no layout; run propagate-strategy first";
        return signalPassFailure();
      }
    if (failed(checkPartitions(function, mesh.getValue())))
      return signalPassFailure();
    // The cluster determines the costs of conversions.
    FailureOr<machine::Cluster> cluster =
        resolveCluster(function->getParentOfType<ModuleOp>());
    if (failed(cluster) ||
        failed(LayoutInserter(function, mesh, *cluster).run()))
      signalPassFailure();
  }
};
} // namespace
