//===- PartitionDiagnostics.cpp - faults of partitions --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two functions contain the rules for partitions: `maySplit` checks a split
// before it is made, and `findFault` describes the fault of an existing split.
// `checkStorage` contains the rules for stored tensors.
//
//===----------------------------------------------------------------------===//

#include "PartitionDiagnostics.h"

#include "Proteus/Transforms/Common/Annotations.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;

/// Returns true if `iterator` shares a dimension of a tensor with another
/// iterator. Such an iterator can be split only into equal parts.
static bool isFused(const nn::IterationSpace &space, unsigned iterator) {
  auto inFused = [&](const nn::TensorIterators &dims) {
    return llvm::any_of(dims, [&](const nn::DimIterators &dim) {
      return dim.size() > 1 && llvm::is_contained(dim, iterator);
    });
  };
  return llvm::any_of(space.operands, inFused) ||
         llvm::any_of(space.results, inFused);
}

/// Returns true if `iterator` is a minor iterator of a dimension of a result.
/// If it were split, its parts would not be contiguous in the result.
static bool isMinorInResult(const nn::IterationSpace &space,
                            unsigned iterator) {
  return llvm::any_of(space.results, [&](const nn::TensorIterators &dims) {
    return llvm::any_of(dims, [&](const nn::DimIterators &dim) {
      return llvm::is_contained(llvm::drop_begin(dim, dim.empty() ? 0 : 1),
                                iterator);
    });
  });
}

static bool isSplittable(Operation *op, const nn::Iterator &iterator) {
  return iterator.isSplittable() ||
         (iterator.isCompound() && isa<nn::DecomposableOpInterface>(op));
}

bool proteus::maySplit(Operation *op, const Partitioning &part,
                       unsigned iterator, const AxisList &axes,
                       const dist::Mesh &mesh) {
  const nn::Iterator &info = part.getSpace().iterators[iterator];
  if (!isSplittable(op, info) || isMinorInResult(part.getSpace(), iterator))
    return false;
  for (auto [axis, position] : part.getPlace())
    if (llvm::is_contained(axes, axis))
      return false;
  for (Axis axis : part.getFlat().axes)
    if (llvm::is_contained(axes, axis))
      return false;
  for (unsigned other = 0; other < part.getSpace().iterators.size(); ++other)
    for (Axis axis : axes)
      if (llvm::is_contained(part.getAxes(other), axis) &&
          !part.mayShareAxis(iterator, other))
        return false;
  int64_t count = mesh.getSize(axes);
  return count <= info.size && (!axes.zigzag || info.size % (2 * count) == 0) &&
         (!isFused(part.getSpace(), iterator) || info.size % count == 0);
}

/// Returns the error message for an invalid `ring` split, or an empty string if
/// the split is valid.
static std::string findRingFault(Operation *op, const Partitioning &part,
                                 const dist::Mesh &mesh) {
  ArrayRef<nn::Iterator> iterators = part.getSpace().iterators;
  StringRef name = iterators[*part.getRing()].name;
  auto ring = dyn_cast<nn::RingOpInterface>(op);
  if (!ring || ring.getRingIterator() != name)
    return llvm::formatv(
        "the parts of iterator '{0}' can't go round a ring: only those of the "
        "keys of an attention can; drop 'ring'",
        name);
  // Each axis of the ring must also split another iterator. Otherwise every
  // device would do the same work on every part.
  for (Axis axis : part.getAxes(*part.getRing()))
    if (llvm::none_of(llvm::seq<unsigned>(0, iterators.size()), [&](auto i) {
          return i != *part.getRing() &&
                 llvm::is_contained(part.getAxes(i), axis);
        }))
      return llvm::formatv("the parts of iterator '{0}' go round a ring over "
                           "axis '{1}', which splits nothing else; split 'seq' "
                           "over it as well",
                           name, mesh.getName(axis));
  return "";
}

std::string proteus::findFault(Operation *op, const Partitioning &part,
                               const dist::Mesh &mesh) {
  ArrayRef<nn::Iterator> iterators = part.getSpace().iterators;
  SmallVector<std::optional<unsigned>> owner(mesh.getNumAxes());
  for (auto [i, iterator] : llvm::enumerate(iterators)) {
    const AxisList &axes = part.getAxes(i);
    if (axes.empty())
      continue;
    StringRef name = iterator.name;
    std::string over = mesh.format(axes);
    for (Axis axis : axes) {
      if (owner[axis] && !part.mayShareAxis(*owner[axis], i))
        return llvm::formatv("axis '{0}' splits both '{1}' and '{2}'; an axis "
                             "may split one iterator of an operation",
                             mesh.getName(axis), iterators[*owner[axis]].name,
                             name);
      owner[axis] = i;
    }
    bool isRing = part.getRing() == i;
    if (std::string problem = isRing ? findRingFault(op, part, mesh) : "";
        !problem.empty())
      return problem;
    if (!isRing && !isSplittable(op, iterator))
      return llvm::formatv("iterator '{0}' can't be split (over {1}): the "
                           "operation needs it whole; split another iterator",
                           name, over);
    int64_t size = iterator.size, count = mesh.getSize(axes);
    if (count > size)
      return llvm::formatv(
          "iterator '{0}' has size {1} and can't be split into "
          "{2} parts over {3}; use fewer devices there, or split another "
          "iterator",
          name, size, count, over);
    if (axes.zigzag && llvm::is_contained(axes, dist::microAxis))
      return llvm::formatv(
          "iterator '{0}' can't be split in a zigzag: micro-batches cut it in "
          "order; use one micro-batch, or contiguous parts",
          name);
    if (axes.zigzag && size % (2 * count) != 0)
      return llvm::formatv("iterator '{0}' of size {1} can't be split in a "
                           "zigzag over {2}: that needs {3} equal chunks; "
                           "change its size, or use contiguous parts",
                           name, size, over, 2 * count);
    if (isFused(part.getSpace(), i) && size % count != 0)
      return llvm::formatv(
          "iterator '{0}' of size {1} is part of a fused "
          "dimension and can't be split into {2} unequal parts "
          "over {3}",
          name, size, count, over);
    if (llvm::is_contained(axes, dist::microAxis) && iterator.isCompound())
      return llvm::formatv("iterator '{0}' is reduced within the operation and "
                           "can't span micro-batches; use one micro-batch, or "
                           "statistic groups that are a multiple of "
                           "micro-batches times devices",
                           name);
    if (llvm::is_contained(axes, dist::microAxis) && size % count != 0)
      return llvm::formatv("iterator '{0}' of size {1} can't be cut into {2} "
                           "equal parts: micro-batches times devices over {3}; "
                           "change the batch or the micro-batches",
                           name, size, count, over);
    if (isMinorInResult(part.getSpace(), i))
      return llvm::formatv("iterator '{0}' is a minor part of a fused "
                           "dimension of the result and can't be split",
                           name);
  }
  return "";
}

LogicalResult proteus::checkStorage(func::FuncOp function,
                                    BlockArgument argument, const DimAxes &dims,
                                    const dist::Mesh &mesh) {
  llvm::SmallDenseSet<Axis> used;
  auto type = cast<RankedTensorType>(argument.getType());
  for (Axis axis : dims.flat.axes)
    used.insert(axis);
  for (auto [dim, axes] : llvm::enumerate(dims)) {
    for (Axis axis : axes)
      if (!used.insert(axis).second)
        return function.emitOpError("axis '")
               << mesh.getName(axis) << "' splits '"
               << getArgumentPath(argument) << "' twice: dimension " << dim
               << (llvm::is_contained(dims.flat.axes, axis)
                       ? " and the flat list of its elements"
                       : " and a dimension before it")
               << "; an axis may split a tensor once";
    if (mesh.getSize(axes) > type.getDimSize(dim))
      return function.emitOpError("dimension ")
             << dim << " of '" << getArgumentPath(argument) << "' has size "
             << type.getDimSize(dim) << " and can't be split into "
             << mesh.getSize(axes) << " parts over " << mesh.format(axes);
  }
  return success();
}
