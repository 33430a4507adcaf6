//===- Partitioning.cpp - partitions and their layouts ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/Partitioning.h"

#include "Proteus/Transforms/Common/Annotations.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;

Place proteus::getPlace(Attribute annotation, const dist::Mesh &mesh) {
  Place place;
  if (auto list = dyn_cast_if_present<ArrayAttr>(annotation))
    for (auto coordinate : list.getAsRange<strategy::CoordinateAttr>())
      place.push_back(
          {*mesh.find(coordinate.getAxis()), coordinate.getPosition()});
  llvm::sort(place);
  return place;
}

DimAxes DimAxes::withLeading() const {
  DimAxes result = *this;
  result.insert(result.begin(), AxisList());
  result.flat.leading += !flat.empty();
  return result;
}

DimAxes DimAxes::withoutLeading() const {
  DimAxes result = *this;
  result.erase(result.begin());
  result.flat.leading -= !flat.empty();
  return result;
}

/// Reads a flat cut. Leaves out axes with one device.
static dist::FlatCut getFlatCut(strategy::FlatAttr flat,
                                const dist::Mesh &mesh) {
  dist::FlatCut cut;
  for (auto name : flat.getAxes().getAsRange<StringAttr>()) {
    Axis axis = *mesh.find(name.getValue());
    if (mesh.getSize(axis) > 1)
      cut.axes.push_back(axis);
  }
  if (cut.empty())
    return dist::FlatCut();
  cut.leading = flat.getLeading();
  cut.granule = flat.getGranule().value_or(1);
  return cut;
}

Partitioning::Partitioning(nn::IterationSpaceOpInterface op)
    : op(op), space(op.getIterationSpace()), axes(space.iterators.size()) {}

Partitioning Partitioning::fromAnnotation(nn::IterationSpaceOpInterface op,
                                          const dist::Mesh &mesh) {
  Partitioning result(op);
  result.place = proteus::getPlace(op->getAttr(kPlaceAttr), mesh);
  if (auto flat = op->getAttrOfType<strategy::FlatAttr>(kFlatAttr))
    result.flat = getFlatCut(flat, mesh);
  auto annotation = op->getAttrOfType<strategy::PartitionAttr>(kOpAttr);
  if (!annotation)
    return result;
  auto step = op->getAttrOfType<IntegerAttr>(kRingStepAttr);
  for (strategy::PartAttr part : annotation.getParts()) {
    auto iterator = result.space.find(part.getIterator());
    if (!iterator)
      continue;
    AxisList &axes = result.axes[*iterator];
    for (StringAttr name : part.getAxes()) {
      // An axis with one device splits nothing.
      Axis axis = *mesh.find(name.getValue());
      if (mesh.getSize(axis) > 1)
        axes.push_back(axis);
    }
    axes.zigzag = part.getZigzag() && !axes.empty();
    if (part.getRing() && !axes.empty()) {
      result.ring = *iterator;
      if (step)
        axes.shift = step.getInt() % mesh.getSize(axes);
    }
  }
  return result;
}

void Partitioning::annotate(const dist::Mesh &mesh) const {
  MLIRContext *context = op->getContext();
  SmallVector<strategy::PartAttr> parts;
  for (auto [i, iterator] : llvm::enumerate(space.iterators)) {
    SmallVector<StringAttr> names;
    for (Axis axis : axes[i])
      names.push_back(StringAttr::get(context, mesh.getName(axis)));
    if (!names.empty())
      parts.push_back(strategy::PartAttr::get(
          context, StringAttr::get(context, iterator.name), names,
          axes[i].zigzag, ring == i));
  }
  op->setDiscardableAttr(kOpAttr, strategy::PartitionAttr::get(context, parts));
  if (flat.empty())
    return;
  SmallVector<Attribute> names;
  for (Axis axis : flat.axes)
    names.push_back(StringAttr::get(context, mesh.getName(axis)));
  op->setDiscardableAttr(kFlatAttr, strategy::FlatAttr::get(
                                        context, ArrayAttr::get(context, names),
                                        flat.leading, flat.granule));
}

bool Partitioning::isElementwise() const {
  auto isWhole = [&](const nn::TensorIterators &dims) {
    if (dims.size() != space.iterators.size())
      return false;
    for (auto [number, dim] : llvm::enumerate(dims))
      if (dim.size() != 1 || dim.front() != number)
        return false;
    return true;
  };
  auto isScalar = [](const nn::TensorIterators &dims) { return dims.empty(); };
  auto mayBeCut = [&](const nn::TensorIterators &dims) {
    return isWhole(dims) || isScalar(dims);
  };
  return !space.iterators.empty() && llvm::any_of(space.operands, isWhole) &&
         llvm::all_of(space.operands, mayBeCut) &&
         llvm::all_of(space.results, mayBeCut) &&
         llvm::none_of(space.iterators, [](const nn::Iterator &iterator) {
           return iterator.isCompound();
         });
}

bool Partitioning::uses(Axis axis) const {
  return llvm::is_contained(flat.axes, axis) ||
         llvm::any_of(axes,
                      [&](const AxisList &list) {
                        return llvm::is_contained(list, axis);
                      }) ||
         llvm::any_of(place, [&](auto entry) { return entry.first == axis; });
}

bool Partitioning::mayShareAxis(unsigned a, unsigned b) const {
  if ((ring == a) == (ring == b))
    return false;
  auto indexedByBoth = [&](const nn::TensorIterators &dims) {
    auto indexes = [&](unsigned iterator) {
      return llvm::any_of(dims, [&](const nn::DimIterators &dim) {
        return llvm::is_contained(dim, iterator);
      });
    };
    return indexes(a) && indexes(b);
  };
  return llvm::none_of(space.operands, indexedByBoth) &&
         llvm::none_of(space.results, indexedByBoth);
}

DimAxes Partitioning::getDimAxes(const nn::TensorIterators &dims) const {
  DimAxes result;
  for (const nn::DimIterators &dim : dims) {
    auto major = majorIterator(dim);
    result.push_back(major ? axes[*major] : AxisList());
  }
  if (!dims.empty())
    result.flat = flat;
  return result;
}

dist::LayoutAttr Partitioning::getOperandLayout(unsigned number,
                                                dist::MeshAttr mesh) const {
  dist::Layout layout(space.operands[number].size());
  DimAxes dims = getDimAxes(space.operands[number]);
  layout.dims.assign(dims.begin(), dims.end());
  layout.flat = dims.flat;
  layout.fixed.assign(place.begin(), place.end());
  return dist::LayoutAttr::get(mesh, layout);
}

dist::LayoutAttr Partitioning::getResultLayout(unsigned number,
                                               dist::MeshAttr mesh) const {
  const nn::TensorIterators &dims = space.results[number];
  dist::Layout layout(dims.size());
  DimAxes dimAxes = getDimAxes(dims);
  layout.dims.assign(dimAxes.begin(), dimAxes.end());
  layout.flat = dimAxes.flat;
  layout.fixed.assign(place.begin(), place.end());
  // A scalar that is computed from all elements is partial over the flat cut.
  auto reduction = [&](unsigned iterator) {
    return space.iterators[iterator].kind == nn::IteratorKind::Max
               ? dist::ReductionKind::Max
               : dist::ReductionKind::Sum;
  };
  if (dims.empty() && !flat.empty())
    llvm::append_range(layout.getPartial(reduction(0)), flat.axes);
  for (unsigned i = 0; i < axes.size(); ++i) {
    bool indexes = llvm::any_of(dims, [&](const nn::DimIterators &dim) {
      return llvm::is_contained(dim, i);
    });
    if (indexes || ring == i)
      continue;
    AxisList &partial = layout.getPartial(reduction(i));
    for (Axis axis : axes[i])
      if (!layout.getShardedDim(axis))
        partial.push_back(axis);
  }
  return dist::LayoutAttr::get(mesh, layout);
}

Storage::Storage(ArrayAttr annotation, const dist::Mesh &mesh) : mesh(mesh) {
  for (Attribute entry : annotation) {
    if (auto cut = dyn_cast<strategy::FlatAttr>(entry)) {
      flat = getFlatCut(cut, mesh);
      hasRows = !cut.getGranule();
      continue;
    }
    dims.emplace_back();
    for (auto name : cast<ArrayAttr>(entry).getAsRange<StringAttr>()) {
      Axis axis = *mesh.find(name.getValue());
      if (mesh.getSize(axis) > 1)
        dims.back().push_back(axis);
    }
  }
}

DimAxes Storage::resolve(RankedTensorType type, const DimAxes &read) const {
  DimAxes result = hasDims() ? dims : read;
  result.resize(type.getRank());
  result.flat = flat;
  llvm::erase_if(result.flat.axes, [&](Axis axis) {
    return llvm::any_of(result, [&](const AxisList &list) {
      return llvm::is_contained(list, axis);
    });
  });
  if (result.flat.empty()) {
    result.flat = dist::FlatCut();
    return result;
  }
  if (hasRows)
    for (int64_t dim = flat.leading + 1; dim < type.getRank(); ++dim)
      result.flat.granule *=
          dist::partSize(type.getDimSize(dim), mesh.getSize(result[dim]), 0);
  return result;
}

InitialValues::InitialValues(Operation *root) {
  root->walk([&](Operation *op) { add(op); });
}

void InitialValues::add(Operation *op) {
  if (isa<nn::IterationSpaceOpInterface>(op) &&
      llvm::all_of(op->getOperands(), [&](Value operand) {
        return !isa<RankedTensorType>(operand.getType()) || contains(operand);
      }))
    values.insert(op->result_begin(), op->result_end());
}

void InitialValues::remove(Operation *op) {
  for (Value result : op->getResults())
    values.erase(result);
}
