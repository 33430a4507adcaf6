//===- Partitioning.h - from iterators to layouts ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bridge from iteration spaces to layouts: given the axes of an op's
// iterators, the layout each operand must have and each result gets.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_PARTITIONING_H
#define PROTEUS_TRANSFORMS_COMMON_PARTITIONING_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/DenseSet.h"

namespace proteus {

/// Axes per dimension of a tensor.
using DimAxes = llvm::SmallVector<dist::AxisList, 4>;

/// Coordinates at which alone something is.
using Place = llvm::SmallVector<std::pair<dist::Axis, int64_t>, 1>;

/// The place that an annotation names; a null attribute names none.
Place getPlace(mlir::Attribute annotation, const dist::Mesh &mesh);

/// The partition of one operation: axes per iterator, major first, and the
/// place where alone it runs, if it does not run everywhere. The parts of an
/// iterator may go round a ring; then the axes may split another iterator as
/// well, if no tensor is indexed by both.
class Partitioning {
public:
  /// No iterator is split.
  explicit Partitioning(nn::IterationSpaceOpInterface op);

  /// As written in the annotation of `op`.
  static Partitioning fromAnnotation(nn::IterationSpaceOpInterface op,
                                     const dist::Mesh &mesh);
  /// Writes the annotation.
  void annotate(const dist::Mesh &mesh) const;

  const nn::IterationSpace &getSpace() const { return space; }
  const dist::AxisList &getAxes(unsigned iterator) const {
    return axes[iterator];
  }
  void setAxes(unsigned iterator, dist::AxisList list) {
    axes[iterator] = std::move(list);
  }
  /// Whether any iterator is split over `axis`, or the operation runs at one
  /// coordinate of it.
  bool uses(dist::Axis axis) const;
  const Place &getPlace() const { return place; }

  /// The iterator whose parts go round a ring, if there is one.
  std::optional<unsigned> getRing() const { return ring; }
  void setRing(unsigned iterator) { ring = iterator; }
  /// Whether two iterators may be split over the same axis.
  bool mayShareAxis(unsigned a, unsigned b) const;

  /// The iterator that a split of dimension `dim` splits: the major one. None
  /// for a dimension that is never split.
  static std::optional<unsigned> majorIterator(const nn::DimIterators &dim) {
    return dim.empty() ? std::nullopt : std::optional<unsigned>(dim.front());
  }

  /// Axes per dimension that `dims` have under this partition. A split of a
  /// minor iterator of a fused dimension is not contiguous: it leaves the
  /// dimension whole.
  DimAxes getDimAxes(const nn::TensorIterators &dims) const;

  /// The layout operand `number` must have, on `stage`.
  dist::LayoutAttr getOperandLayout(unsigned number, dist::MeshAttr mesh) const;
  /// The layout result `number` gets: partial over the axes of iterators that
  /// do not index it, unless the parts of a ring pass by all of them.
  dist::LayoutAttr getResultLayout(unsigned number, dist::MeshAttr mesh) const;

private:
  nn::IterationSpaceOpInterface op;
  nn::IterationSpace space;
  llvm::SmallVector<dist::AxisList> axes;
  Place place;
  std::optional<unsigned> ring;
};

/// Values that are made from nothing: empty tensors, and those filled with a
/// scalar. Such a value may take any layout for free. Operations are added in
/// the order of the program, so that each is looked at once: asking what a
/// value is made from, value by value, would go back to the start of the model.
class InitialValues {
public:
  InitialValues() = default;
  /// Those of all operations inside `root`.
  explicit InitialValues(mlir::Operation *root);

  bool contains(mlir::Value value) const { return values.contains(value); }
  void add(mlir::Operation *op);
  /// To be called before an operation is erased: another one may take its
  /// address.
  void remove(mlir::Operation *op);

private:
  llvm::DenseSet<mlir::Value> values;
};

/// The axes per dimension that an annotation of a parameter lists (an array of
/// arrays of names), those with one device left out.
DimAxes getStoredDims(mlir::ArrayAttr axes, const dist::Mesh &mesh);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_PARTITIONING_H
