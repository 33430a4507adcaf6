//===- StageMap.cpp - mesh coordinates of stages ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageMap.h"
#include "LayoutUtils.h"

#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/Partitioning.h"

using namespace mlir;
using namespace proteus;
using dist::LayoutAttr;

StageMap::StageMap(func::FuncOp function, dist::MeshAttr mesh) {
  if (auto axis = function->getAttrOfType<StringAttr>(kPipelineAxisAttr)) {
    pipelineAxis = *mesh.getAxisIndex(axis.getValue());
    numStages = mesh.getValue().getSize(*pipelineAxis);
  }
}

LayoutAttr StageMap::onStage(LayoutAttr layout, int64_t stage) const {
  if (!pipelineAxis)
    return layout;
  Place place(layout.getValue().fixed);
  llvm::erase_if(place,
                 [&](auto entry) { return entry.first == *pipelineAxis; });
  place.push_back({*pipelineAxis, stage % numStages});
  llvm::sort(place);
  return layout.withFixed(place);
}

LayoutAttr StageMap::onStage(LayoutAttr layout, Operation *op) const {
  return onStage(layout, getStage(op).value_or(0));
}

int64_t StageMap::positionOf(Value value) const {
  return pipelineAxis ? layoutOf(value)
                            .getValue()
                            .getFixedCoordinate(*pipelineAxis)
                            .value_or(0)
                      : 0;
}

int64_t StageMap::positionOf(Operation *op) const {
  return getStage(op).value_or(0) % numStages;
}

bool StageMap::moves(Value value, LayoutAttr target) const {
  return pipelineAxis &&
         target.getValue().getFixedCoordinate(*pipelineAxis) !=
             layoutOf(value).getValue().getFixedCoordinate(*pipelineAxis);
}
