//===- UnusedAxes.cpp - axes over which nothing is split ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reports axes of the mesh that are not used. An axis is used if an operation
// or a stored argument is split over it, if an operation is restricted to one
// coordinate of it, or if the pipeline lies along it.
//
//===----------------------------------------------------------------------===//

#include "UnusedAxes.h"

#include "Proteus/Transforms/Common/Annotations.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;
using nn::IterationSpaceOpInterface;

/// Returns the paths of the operations of the forward pass, at most eight, as a
/// list for an error message.
static std::string listOperations(func::FuncOp function) {
  constexpr size_t most = 8;
  llvm::SetVector<StringAttr> paths;
  function.walk([&](IterationSpaceOpInterface op) {
    if (getPhase(op) == Phase::Forward)
      paths.insert(StringAttr::get(op->getContext(), nn::getPath(op)));
  });
  std::string list;
  for (StringAttr path : paths.getArrayRef().take_front(most))
    list += (list.empty() ? "'" : ", '") + path.str() + "'";
  if (paths.size() > most)
    list += " and " + std::to_string(paths.size() - most) + " more";
  return list;
}

LogicalResult
proteus::reportUnusedAxes(func::FuncOp function, const dist::Mesh &mesh,
                          const PropagatedPartitions &propagated) {
  std::vector<bool> used(mesh.getNumAxes(), false);
  used[dist::microAxis] = true;
  if (auto axis = function->getAttrOfType<StringAttr>(kPipelineAxisAttr))
    used[*mesh.find(axis.getValue())] = true;
  auto mark = [&](ArrayRef<Axis> axes) {
    for (Axis axis : axes)
      used[axis] = true;
  };
  for (auto &[op, part] : propagated.parts) {
    for (auto [axis, position] : part.getPlace())
      used[axis] = true;
    for (unsigned i = 0; i < part.getSpace().iterators.size(); ++i)
      mark(part.getAxes(i));
  }
  for (BlockArgument argument : function.getArguments())
    for (const AxisList &axes : propagated.known.lookup(argument))
      mark(axes);
  SmallVector<Axis> idle;
  bool anyUsed = false;
  for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis) {
    if (mesh.getSize(axis) == 1)
      continue;
    anyUsed |= used[axis];
    if (!used[axis])
      idle.push_back(axis);
  }
  if (idle.empty())
    return success();
  if (anyUsed) {
    for (Axis axis : idle)
      function.emitWarning("nothing is split over axis '")
          << mesh.getName(axis) << "' of size " << mesh.getSize(axis)
          << ": its devices all do the same work; split an iterator over it or "
             "leave it out of the mesh";
    return success();
  }
  InFlightDiagnostic diagnostic =
      function.emitOpError("the strategy splits no operation, so every one of "
                           "the ")
      << mesh.getNumDevices()
      << " devices would do all the work; set a partition, such as "
         "'split op [batch -> "
      << mesh.getName(idle.front()) << "]'";
  diagnostic.attachNote() << "operations without a setting: "
                          << listOperations(function);
  return diagnostic;
}
