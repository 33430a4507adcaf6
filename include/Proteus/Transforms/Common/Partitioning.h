//===- Partitioning.h - partitions and their layouts ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The relation between partitions and layouts: given the axes of the iterators
// of an operation, the layout that each operand must have and the layout that
// each result gets. Used by propagate-strategy, build-training-step and
// insert-collectives.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_COMMON_PARTITIONING_H
#define PROTEUS_TRANSFORMS_COMMON_PARTITIONING_H

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/DenseSet.h"

namespace proteus {

/// Axes that shard each dimension of a tensor.
using DimAxes = llvm::SmallVector<dist::AxisList, 4>;

/// Coordinates on axes of the mesh. The devices at these coordinates are the
/// only ones that run an operation or hold a value.
using Place = llvm::SmallVector<std::pair<dist::Axis, int64_t>, 1>;

/// Returns the coordinates in an annotation `kPlaceAttr`, sorted by axis. A
/// null attribute has none.
Place getPlace(mlir::Attribute annotation, const dist::Mesh &mesh);

/// Partition of one operation: the axes of each iterator, major axis first, and
/// the coordinates of the only devices that run it, if not all run it. The
/// parts of one iterator may go round a ring of devices. The same axes may then
/// split a second iterator, provided that no tensor is indexed by both.
class Partitioning {
public:
  /// Creates a partition that splits no iterator.
  explicit Partitioning(nn::IterationSpaceOpInterface op);

  /// Reads the partition from the annotations of `op`. Leaves out axes with one
  /// device.
  static Partitioning fromAnnotation(nn::IterationSpaceOpInterface op,
                                     const dist::Mesh &mesh);
  /// Writes the axes into the annotation of the operation.
  void annotate(const dist::Mesh &mesh) const;

  const nn::IterationSpace &getSpace() const { return space; }
  const dist::AxisList &getAxes(unsigned iterator) const {
    return axes[iterator];
  }
  void setAxes(unsigned iterator, dist::AxisList list) {
    axes[iterator] = std::move(list);
  }
  /// Returns true if `axis` splits an iterator, or the operation runs at one
  /// coordinate of `axis` only.
  bool uses(dist::Axis axis) const;
  const Place &getPlace() const { return place; }

  /// Returns the iterator whose parts go round a ring, or nullopt.
  std::optional<unsigned> getRing() const { return ring; }
  void setRing(unsigned iterator) { ring = iterator; }
  /// Returns true if the same axis may split both iterators: exactly one of
  /// them is the ring iterator, and no tensor is indexed by both.
  bool mayShareAxis(unsigned a, unsigned b) const;

  /// Returns the iterator that a split of dimension `dim` divides, which is the
  /// major one, or nullopt if no iterator indexes the dimension.
  static std::optional<unsigned> majorIterator(const nn::DimIterators &dim) {
    return dim.empty() ? std::nullopt : std::optional<unsigned>(dim.front());
  }

  /// Returns the axes that shard each dimension of a tensor indexed by `dims`.
  /// The axes of a minor iterator of a fused dimension do not count, because
  /// its parts are not contiguous in the dimension.
  DimAxes getDimAxes(const nn::TensorIterators &dims) const;

  /// Returns the layout that operand `number` must have.
  dist::LayoutAttr getOperandLayout(unsigned number, dist::MeshAttr mesh) const;
  /// Returns the layout that result `number` gets. It is partial over the axes
  /// of iterators that do not index the result. The ring iterator is an
  /// exception, because all its parts pass through every device.
  dist::LayoutAttr getResultLayout(unsigned number, dist::MeshAttr mesh) const;

private:
  nn::IterationSpaceOpInterface op;
  nn::IterationSpace space;
  llvm::SmallVector<dist::AxisList> axes;
  Place place;
  std::optional<unsigned> ring;
};

/// Results of operations that read no tensor other than such results: empty
/// tensors, tensors filled with a scalar, and values computed from them. They
/// may take any layout without communication. Operations are added in program
/// order, so each operation is examined once. To trace each value back on its
/// own could lead to the start of the model every time.
class InitialValues {
public:
  InitialValues() = default;
  /// Adds all operations inside `root`.
  explicit InitialValues(mlir::Operation *root);

  bool contains(mlir::Value value) const { return values.contains(value); }
  /// Adds the results of `op` if they are initial values.
  void add(mlir::Operation *op);
  /// Removes the results of `op`. Must be called before `op` is erased, because
  /// a new operation may get its address.
  void remove(mlir::Operation *op);

private:
  llvm::DenseSet<mlir::Value> values;
};

/// Returns the axes in a storage annotation of a parameter, which is an array
/// with one array of axis names per dimension. Leaves out axes with one device.
DimAxes getStoredDims(mlir::ArrayAttr axes, const dist::Mesh &mesh);

} // namespace proteus

#endif // PROTEUS_TRANSFORMS_COMMON_PARTITIONING_H
