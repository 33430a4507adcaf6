//===- Partitioning.h - partitions and their layouts ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derives layouts from partitions: the axes of the iterators of an operation
// determine the layout that each operand must have and the layout that each
// result gets. Used by settle-repeats, build-training-step, propagate-strategy,
// insert-collectives and verify-phase.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_PARTITIONING_H
#define PROTEUS_TRANSFORMS_COMMON_PARTITIONING_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/DenseSet.h"

namespace proteus {

/// Axes that shard each dimension of a tensor, and its flat cut.
struct DimAxes : llvm::SmallVector<dist::AxisList, 4> {
  using Base = llvm::SmallVector<dist::AxisList, 4>;
  using Base::Base;

  dist::FlatCut flat;

  /// Returns the axes of a stack of tensors with these axes.
  DimAxes withLeading() const;
  /// Returns the axes of one tensor of a stack with these axes.
  DimAxes withoutLeading() const;

  friend bool operator==(const DimAxes &a, const DimAxes &b) {
    return static_cast<const Base &>(a) == static_cast<const Base &>(b) &&
           a.flat == b.flat;
  }
  friend bool operator!=(const DimAxes &a, const DimAxes &b) {
    return !(a == b);
  }
};

/// Coordinates on axes of the mesh. They restrict an operation or a value to
/// the devices at these coordinates. Without coordinates, all devices run the
/// operation or hold the value.
using Place = llvm::SmallVector<std::pair<dist::Axis, int64_t>, 1>;

/// Returns the coordinates in an annotation `kPlaceAttr`, sorted by axis.
/// Returns no coordinates if the annotation is null.
Place getPlace(mlir::Attribute annotation, const dist::Mesh &mesh);

/// Partition of one operation: the axes that split each iterator, major axis
/// first, and the coordinates to which the operation is restricted, if any.
///
/// The parts of one iterator, the ring iterator, may travel around a ring of
/// devices until every device has processed all parts. Only the axes of the
/// ring iterator may also split one other iterator, if no tensor is indexed by
/// both. For example, attention may have the partition
/// `[seq -> cp, key -> ring cp]`.
class Partitioning {
public:
  /// Creates a partition that splits no iterator.
  explicit Partitioning(nn::IterationSpaceOpInterface op);

  /// Reads the partition from the annotations of `op`. Leaves out axes with one
  /// device, because they split nothing.
  static Partitioning fromAnnotation(nn::IterationSpaceOpInterface op,
                                     const dist::Mesh &mesh);
  /// Writes the axes of all iterators to the annotation `kOpAttr` of the
  /// operation, and the flat cut to `kFlatAttr`.
  void annotate(const dist::Mesh &mesh) const;

  const nn::IterationSpace &getSpace() const { return space; }
  const dist::AxisList &getAxes(unsigned iterator) const {
    return axes[iterator];
  }
  void setAxes(unsigned iterator, dist::AxisList list) {
    axes[iterator] = std::move(list);
  }
  /// Returns the flat cut of all tensors of an element-wise operation.
  const dist::FlatCut &getFlat() const { return flat; }
  void setFlat(dist::FlatCut cut) { flat = std::move(cut); }
  /// Returns true if the operation works on each element by itself, so that its
  /// tensors may have a flat cut: each tensor is indexed by all iterators in
  /// order, or is a scalar. A scalar result is a sum or maximum over all
  /// elements.
  bool isElementwise() const;
  /// Returns true if `axis` splits an iterator or belongs to the flat cut, or
  /// if the operation is restricted to one coordinate of `axis`.
  bool uses(dist::Axis axis) const;
  const Place &getPlace() const { return place; }

  /// Returns the ring iterator, or nullopt if there is none.
  std::optional<unsigned> getRing() const { return ring; }
  void setRing(unsigned iterator) { ring = iterator; }
  /// Returns true if the same axis may split the iterators `a` and `b`. This
  /// requires that exactly one of them is the ring iterator, and that no tensor
  /// is indexed by both.
  bool mayShareAxis(unsigned a, unsigned b) const;

  /// Returns the major iterator of `dim`, which is the first of the iterators
  /// that index the dimension. A split of the dimension divides only this
  /// iterator. Returns nullopt if no iterator indexes the dimension.
  static std::optional<unsigned> majorIterator(const nn::DimIterators &dim) {
    return dim.empty() ? std::nullopt : std::optional<unsigned>(dim.front());
  }

  /// Returns the axes that shard each dimension of a tensor indexed by `dims`,
  /// and the flat cut. These are the axes of the major iterator of the
  /// dimension. Axes of its minor iterators do not count, because their parts
  /// are not contiguous in the dimension.
  DimAxes getDimAxes(const nn::TensorIterators &dims) const;

  /// Returns the layout that operand `number` must have.
  dist::LayoutAttr getOperandLayout(unsigned number, dist::MeshAttr mesh) const;
  /// Returns the layout that result `number` gets. The result is partial over
  /// the axes of iterators that do not index it. The ring iterator is an
  /// exception: every device processes all its parts, so no reduction is
  /// pending.
  dist::LayoutAttr getResultLayout(unsigned number, dist::MeshAttr mesh) const;

private:
  nn::IterationSpaceOpInterface op;
  nn::IterationSpace space;
  llvm::SmallVector<dist::AxisList> axes;
  dist::FlatCut flat;
  Place place;
  std::optional<unsigned> ring;
};

/// A set of initial values: results of operations that read no tensors except
/// other initial values. Examples are empty tensors, tensors filled with a
/// scalar, and values computed from these. They can be created in any layout
/// without communication.
///
/// An operation must be added after the operations that compute its operands.
/// It is then examined once. Without the set, every value would have to be
/// traced back separately, possibly to the start of the model.
class InitialValues {
public:
  InitialValues() = default;
  /// Creates the set of all initial values inside `root`.
  explicit InitialValues(mlir::Operation *root);

  bool contains(mlir::Value value) const { return values.contains(value); }
  /// Adds the results of `op` if they are initial values.
  void add(mlir::Operation *op);
  /// Removes the results of `op`. Must be called before `op` is erased, because
  /// a later operation may get the same address in memory.
  void remove(mlir::Operation *op);

private:
  llvm::DenseSet<mlir::Value> values;
};

/// Storage of a parameter, its gradient or its state, as its storage annotation
/// gives it. Axes with one device are left out.
class Storage {
public:
  Storage(mlir::ArrayAttr annotation, const dist::Mesh &mesh);

  /// Returns true if the annotation states the axes of each dimension.
  /// Otherwise it states only a flat cut, and the dimensions are those of the
  /// block that operations read.
  bool hasDims() const { return !dims.empty(); }
  /// Returns the axes of a stored tensor of type `type`. `read` are the axes of
  /// the block that operations read; they are used without `hasDims`. Axes that
  /// shard a dimension already are left out of the flat cut.
  DimAxes resolve(mlir::RankedTensorType type, const DimAxes &read) const;

private:
  const dist::Mesh &mesh;
  DimAxes dims;
  dist::FlatCut flat;
  /// True if the granule of the flat cut is a row.
  bool hasRows = false;
};

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_PARTITIONING_H
