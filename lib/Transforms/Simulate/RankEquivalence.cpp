//===- RankEquivalence.cpp - ranks that do the same work ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankEquivalence.h"

#include "LocalWork.h"

#include "Proteus/Dialect/NN/VisitedShare.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;

RankEquivalence::RankEquivalence(ArrayRef<FlatProgram> programs,
                                 const dist::Mesh &mesh,
                                 std::optional<Axis> pipelineAxis)
    : mesh(mesh), pipelineAxis(pipelineAxis) {
  for (const FlatProgram &flat : programs) {
    dist::ProgramOp program = flat.program;
    for (Type type : program.getArgumentTypes())
      inspect(type);
    program.walk([&](Operation *op) { inspect(op); });
  }
}

void RankEquivalence::inspect(Type type) {
  dist::LayoutAttr attribute = dist::getLayout(type);
  if (!attribute)
    return;
  const dist::Layout &layout = attribute.getValue();
  for (auto entry : layout.fixed)
    if (entry.first != pipelineAxis)
      places.insert(entry);
  auto tensor = cast<RankedTensorType>(type);
  if (dist::isEven(tensor))
    return;
  for (auto [dim, axes] : llvm::enumerate(layout.dims))
    if (tensor.getDimSize(dim) % mesh.getSize(axes) != 0)
      uneven.insert({tensor.getDimSize(dim), axes});
}

/// Returns the axes along which ranks can visit different shares of the points
/// of `kernel` that they hold. These axes split the queries or the keys of
/// causal attention.
static AxisList decidingAxes(nn::IterationSpaceOpInterface kernel) {
  AxisList deciding;
  nn::IterationSpace space = kernel.getIterationSpace();
  auto visit = [&](Type type, const nn::TensorIterators &dims) {
    dist::LayoutAttr layout = dist::getLayout(type);
    if (!layout)
      return;
    for (auto [axes, iterators] : llvm::zip(layout.getValue().dims, dims))
      if (!iterators.empty() &&
          nn::decidesVisitedShare(space, iterators.front()))
        for (Axis axis : axes)
          if (axis != dist::microAxis && !llvm::is_contained(deciding, axis))
            deciding.push_back(axis);
  };
  for (auto [type, dims] : llvm::zip(kernel->getOperandTypes(), space.operands))
    visit(type, dims);
  for (auto [type, dims] : llvm::zip(kernel->getResultTypes(), space.results))
    visit(type, dims);
  return deciding;
}

void RankEquivalence::inspect(Operation *op) {
  for (Type type : op->getResultTypes())
    inspect(type);
  auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op);
  if (!kernel || kernel.getVisitedShare() == 1)
    return;
  // A share that is equal on all ranks does not distinguish them.
  AxisList axes = decidingAxes(kernel);
  if (!axes.empty())
    skipping.insert({{op->getName(),
                      FunctionType::get(op->getContext(), op->getOperandTypes(),
                                        op->getResultTypes()),
                      llvm::bit_cast<int64_t>(kernel.getVisitedShare())},
                     {kernel, axes}});
}

std::vector<bool> RankEquivalence::differingAxes() const {
  std::vector<bool> differs(mesh.sizes.size());
  auto mark = [&](Axis axis) {
    if (axis != dist::microAxis)
      differs[axis - 1] = true;
  };
  if (pipelineAxis)
    mark(*pipelineAxis);
  for (auto &[size, axes] : uneven)
    llvm::for_each(axes, mark);
  for (auto [axis, position] : places)
    mark(axis);
  for (auto &[types, kernel] : skipping)
    llvm::for_each(kernel.second, mark);
  return differs;
}

int64_t RankEquivalence::shareOf(nn::IterationSpaceOpInterface kernel,
                                 const AxisList &axes,
                                 ArrayRef<int64_t> coordinates) const {
  int64_t part = 0;
  for (Axis axis : axes)
    part = part * mesh.getSize(axis) + coordinates[axis];
  auto [entry, isNew] = shares.try_emplace({kernel, part});
  if (isNew)
    entry->second = llvm::bit_cast<int64_t>(kernel.getVisitedShareOf(
        heldRanges(kernel, kernel.getIterationSpace(), coordinates)));
  return entry->second;
}

std::vector<int64_t>
RankEquivalence::colourOf(ArrayRef<int64_t> coordinates) const {
  std::vector<int64_t> colour;
  if (pipelineAxis)
    colour.push_back(coordinates[*pipelineAxis - 1]);
  SmallVector<int64_t> withMicro(coordinates);
  withMicro.insert(withMicro.begin(), 0);
  for (auto &[size, axes] : uneven) {
    dist::Layout layout(1);
    layout.dims[0] = axes;
    colour.push_back(dist::partSize(
        size, mesh.getSize(axes), dist::partIndex(mesh, layout, 0, withMicro)));
  }
  for (auto &[types, kernel] : skipping)
    colour.push_back(shareOf(kernel.first, kernel.second, withMicro));
  for (auto [axis, position] : places)
    colour.push_back(coordinates[axis - 1] == position);
  return colour;
}
