//===- Programs.cpp - features of lowered programs --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::fuzz;

/// Returns true if some result of an operation satisfies `holds`.
static bool anyTensor(ModuleOp module,
                      llvm::function_ref<bool(RankedTensorType)> holds) {
  return module
      .walk([&](Operation *op) {
        for (Type type : op->getResultTypes())
          if (auto tensor = dyn_cast<RankedTensorType>(type))
            if (dist::getLayout(tensor) && holds(tensor))
              return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

template <typename Op> static bool hasOp(ModuleOp module) {
  return module.walk([](Op) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static bool usesAxis(ModuleOp module) {
  return anyTensor(module, [](RankedTensorType type) {
    dist::LayoutAttr layout = dist::getLayout(type);
    for (unsigned dim = 0; dim < layout.getRank(); ++dim)
      for (dist::Axis axis : layout.getDimAxes(dim))
        if (axis != dist::microAxis &&
            layout.getMesh().getValue().getSize(axis) >= 2)
          return true;
    return false;
  });
}

static bool hasUnevenPart(ModuleOp module) {
  return anyTensor(module,
                   [](RankedTensorType type) { return !dist::isEven(type); });
}

static bool hasStages(ModuleOp module) {
  return llvm::range_size(module.getOps<dist::ProgramOp>()) >= 2;
}

void proteus::fuzz::addPrograms(Registry &registry) {
  auto add = [&](llvm::StringRef name, bool (*inProgram)(ModuleOp)) {
    Feature feature;
    feature.name = name;
    feature.inProgram = inProgram;
    registry.addFeature(feature);
  };
  add("axis of two or more splits a tensor", usesAxis);
  add("uneven part", hasUnevenPart);
  add("two or more programs", hasStages);
  add("nn.repeat", hasOp<nn::RepeatOp>);
  add("nn.recompute", hasOp<nn::RecomputeOp>);
  add("dist.all_reduce", hasOp<dist::AllReduceOp>);
  add("dist.all_gather", hasOp<dist::AllGatherOp>);
  add("dist.reduce_scatter", hasOp<dist::ReduceScatterOp>);
  add("dist.all_to_all", hasOp<dist::AllToAllOp>);
  add("dist.permute", hasOp<dist::PermuteOp>);
  add("dist.slice", hasOp<dist::SliceOp>);
  add("dist.accumulate", hasOp<dist::AccumulateOp>);
  add("dist.fused_reduce", hasOp<dist::FusedReduceOp>);
  add("dist.fused_gather", hasOp<dist::FusedGatherOp>);
  add("dist.offload", hasOp<dist::OffloadOp>);
  add("dist.fetch", hasOp<dist::FetchOp>);
  add("nn.keep", hasOp<nn::KeepOp>);
  add("dist.send", hasOp<dist::SendOp>);
  add("dist.stage_reduce (parameter tied across stages)",
      hasOp<dist::StageReduceOp>);
}
