//===- RankData.h - layouts executed on data --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A machine whose ranks hold integers and move them as the collectives would. A
// step accesses only the buffers of one group of ranks: an all-gather joins the
// buffers of its members, a slice keeps a part of a buffer, and so on.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_DIST_RANKDATA_H
#define PROTEUS_UNITTESTS_DIST_RANKDATA_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <map>

namespace proteus::dist {

using llvm::ArrayRef;
using llvm::SmallVector;

using Coordinates = SmallVector<int64_t>;
using Index = std::vector<int64_t>;

/// Elements of a rank by global index. The index shows a misplaced part.
using Buffer = std::map<Index, int64_t>;

/// Returns all points in the ranges that a rank holds.
inline std::vector<Index> points(ArrayRef<Ranges> held) {
  std::vector<Index> result = {{}};
  for (const Ranges &ranges : held) {
    std::vector<Index> next;
    for (const Index &prefix : result)
      for (const Range &range : ranges)
        for (int64_t i = range.begin; i < range.end; ++i) {
          next.push_back(prefix);
          next.back().push_back(i);
        }
    result = std::move(next);
  }
  return result;
}

/// Returns all points of a box.
inline std::vector<Index> points(ArrayRef<int64_t> offset,
                                 ArrayRef<int64_t> sizes) {
  SmallVector<Ranges> held;
  for (auto [begin, size] : llvm::zip_equal(offset, sizes))
    held.push_back({{begin, begin + size}});
  return points(held);
}

/// Returns the value of a tensor element, which may be negative.
inline int64_t element(const Index &index) {
  int64_t value = 7;
  for (int64_t i : index)
    value = value * 31 + i * i - 5 * i;
  return value % 101;
}

/// Returns the points that the rank at `coordinates` holds.
inline std::vector<Index> pointsOf(const Mesh &mesh, const Layout &layout,
                                   ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> coordinates) {
  std::vector<Index> block =
      points(localRanges(mesh, layout, shape, coordinates));
  if (layout.flat.empty())
    return block;
  size_t lists = 1;
  for (unsigned dim = 0; dim < layout.flat.leading; ++dim)
    lists *= shape[dim];
  Range range = flatRange(mesh, layout, shape, coordinates);
  std::vector<Index> held;
  for (size_t i = 0; i < block.size(); ++i) {
    int64_t position = i % (block.size() / lists);
    if (position >= range.begin && position < range.end)
      held.push_back(block[i]);
  }
  return held;
}

/// The ranks of a mesh and their buffers.
class Machine {
public:
  Machine(const Mesh &mesh, ArrayRef<int64_t> shape)
      : mesh(mesh), shape(shape) {
    for (int64_t position = 0; position < mesh.getNumDevices(); ++position) {
      Coordinates coordinates = {0};
      coordinates.append(mesh.getCoordinates(position));
      ranks.push_back(coordinates);
    }
  }

  /// Gives every rank its part. Partial values are chosen such that their
  /// reduction is the element.
  void load(const Layout &layout) {
    buffers.clear();
    for (const Coordinates &rank : ranks) {
      Buffer buffer;
      if (!isHolder(layout, rank)) {
        buffers.push_back(buffer);
        continue;
      }
      for (const Index &index : pointsOf(mesh, layout, shape, rank))
        buffer[index] = contribution(layout, rank, index);
      buffers.push_back(std::move(buffer));
    }
  }

  /// Returns true if the ranks hold the values of the layout and replicas are
  /// equal.
  bool holds(const Layout &layout) const {
    for (auto [number, rank] : llvm::enumerate(ranks)) {
      if (!isHolder(layout, rank))
        continue;
      std::vector<Index> expected = pointsOf(mesh, layout, shape, rank);
      if (expected.size() != buffers[number].size())
        return false;
      std::vector<std::vector<size_t>> terms;
      for (size_t term : groupOf(rank, layout.getPartial(ReductionKind::Sum)))
        terms.push_back(
            groupOf(ranks[term], layout.getPartial(ReductionKind::Max)));
      for (const Index &index : expected)
        if (!buffers[number].count(index) ||
            reduced(terms, index) != element(index))
          return false;
      for (auto [other, otherRank] : llvm::enumerate(ranks))
        if (sameBut(layout, rank, otherRank) &&
            buffers[other] != buffers[number])
          return false;
    }
    return true;
  }

  void run(const Step &step, const Layout &before, const Layout &after) {
    std::vector<Buffer> result(buffers.size());
    for (auto [number, rank] : llvm::enumerate(ranks)) {
      std::vector<size_t> group = groupOf(rank, step.axes);
      switch (step.kind) {
      case StepKind::Slice:
        result[number] = cut(buffers[number], rank, step, before, after);
        break;
      case StepKind::AllGather:
        result[number] = concatenate(group);
        break;
      case StepKind::AllReduce:
        result[number] = reduce(group, *step.reduction);
        break;
      case StepKind::ReduceScatter:
        result[number] =
            cut(reduce(group, *step.reduction), rank, step, before, after);
        break;
      case StepKind::AllToAll:
        result[number] = cut(concatenate(group), rank, step, before, after);
        break;
      case StepKind::Permute:
        result[number] = buffers[sourceOf(rank, group, step, before, after)];
        break;
      case StepKind::Broadcast:
        result[number] = buffers[rootOf(group, before)];
        break;
      case StepKind::Scatter:
        result[number] =
            cut(buffers[rootOf(group, before)], rank, step, before, after);
        break;
      }
    }
    buffers = std::move(result);
  }

private:
  /// Returns true if the rank has the value.
  bool isHolder(const Layout &layout, const Coordinates &rank) const {
    return llvm::all_of(layout.fixed, [&](std::pair<Axis, int64_t> entry) {
      return rank[entry.first] == entry.second;
    });
  }

  size_t rootOf(ArrayRef<size_t> group, const Layout &before) const {
    for (size_t member : group)
      if (isHolder(before, ranks[member]))
        return member;
    // The group is at another coordinate of the fixed axes.
    return group.front();
  }

  /// Returns the member whose position in `before` is that of `rank` in
  /// `after`: the same part of every dimension, and the same replica along the
  /// axes.
  size_t sourceOf(const Coordinates &rank, ArrayRef<size_t> group,
                  const Step &step, const Layout &before,
                  const Layout &after) const {
    auto describe = [&](const Layout &layout, const Coordinates &who) {
      std::vector<int64_t> key;
      for (const AxisList &axes : layout.dims)
        key.push_back(flatten(axes, who));
      AxisList replicas;
      for (Axis axis : step.axes)
        if (layout.isReplicated(axis))
          replicas.push_back(axis);
      key.push_back(flatten(replicas, who));
      return key;
    };
    for (size_t member : group)
      if (describe(before, ranks[member]) == describe(after, rank))
        return member;
    ADD_FAILURE() << "no member has the block";
    return group.front();
  }

  /// Returns a summand of the element. The maxima over the max axes, summed
  /// over the sum axes, give the element.
  int64_t contribution(const Layout &layout, const Coordinates &rank,
                       const Index &index) const {
    int64_t sumRank = flatten(layout.getPartial(ReductionKind::Sum), rank);
    int64_t sumSize = mesh.getSize(layout.getPartial(ReductionKind::Sum));
    int64_t value = element(index);
    int64_t share = sumRank == 0 ? value : 13 * sumRank + index[0];
    if (sumRank == 0)
      for (int64_t other = 1; other < sumSize; ++other)
        share -= 13 * other + index[0];
    int64_t maxSize = mesh.getSize(layout.getPartial(ReductionKind::Max));
    int64_t maxRank = flatten(layout.getPartial(ReductionKind::Max), rank);
    return maxRank == (value & 1 ? 0 : maxSize - 1) ? share
                                                    : share - 1 - maxRank;
  }

  int64_t flatten(ArrayRef<Axis> axes, const Coordinates &rank) const {
    int64_t index = 0;
    for (Axis axis : axes)
      index = index * mesh.getSize(axis) + rank[axis];
    return index;
  }

  /// Returns the numbers of the ranks that differ from `rank` only in `axes`,
  /// in the order of these axes.
  std::vector<size_t> groupOf(const Coordinates &rank,
                              ArrayRef<Axis> axes) const {
    std::vector<size_t> group(mesh.getSize(axes));
    for (auto [number, other] : llvm::enumerate(ranks)) {
      bool member = true;
      for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis)
        member &= llvm::is_contained(axes, axis) || other[axis] == rank[axis];
      if (member)
        group[flatten(axes, other)] = number;
    }
    return group;
  }

  /// Returns true if the ranks differ only in replicated axes.
  bool sameBut(const Layout &layout, const Coordinates &a,
               const Coordinates &b) const {
    for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis)
      if (a[axis] != b[axis] && !layout.isReplicated(axis))
        return false;
    return true;
  }

  /// Returns the sum of the maxima over the ranks of each term.
  int64_t reduced(const std::vector<std::vector<size_t>> &terms,
                  const Index &index) const {
    int64_t sum = 0;
    for (const std::vector<size_t> &term : terms) {
      int64_t most = std::numeric_limits<int64_t>::min();
      for (size_t member : term)
        most = std::max(most, buffers[member].at(index));
      sum += most;
    }
    return sum;
  }

  Buffer concatenate(ArrayRef<size_t> group) const {
    Buffer result;
    for (size_t member : group)
      for (const auto &[index, value] : buffers[member])
        EXPECT_TRUE(result.try_emplace(index, value).second)
            << "members hold the same element";
    return result;
  }

  Buffer reduce(ArrayRef<size_t> group, ReductionKind kind) const {
    Buffer result = buffers[group.front()];
    for (size_t member : group.drop_front()) {
      EXPECT_EQ(buffers[member].size(), result.size());
      for (const auto &[index, value] : buffers[member]) {
        int64_t &total = result.at(index);
        total =
            kind == ReductionKind::Sum ? total + value : std::max(total, value);
      }
    }
    return result;
  }

  /// Returns the part of a rank's buffer that it keeps when `step.axes` are
  /// added to the dimension.
  Buffer cut(const Buffer &buffer, const Coordinates &rank, const Step &step,
             const Layout &before, const Layout &after) const {
    unsigned dim = *step.toDim;
    if (dim == shape.size()) {
      Buffer part;
      for (const Index &index : pointsOf(mesh, after, shape, rank))
        part[index] = buffer.at(index);
      return part;
    }
    int64_t outer = numParts(mesh, before, dim);
    int64_t inner = mesh.getSize(step.axes);
    int64_t part =
        partIndex(mesh, before, dim, rank) * inner + flatten(step.axes, rank);
    bool zigzag = outer == 1 ? step.zigzag : before.dims[dim].zigzag;
    Buffer result;
    for (const Range &range :
         partRanges(shape[dim], outer * inner, part, zigzag))
      for (const auto &[index, value] : buffer)
        if (index[dim] >= range.begin && index[dim] < range.end)
          result[index] = value;
    return result;
  }

  const Mesh &mesh;
  ArrayRef<int64_t> shape;
  std::vector<Coordinates> ranks;
  std::vector<Buffer> buffers;
};

inline Mesh makeMesh(ArrayRef<int64_t> sizes) {
  Mesh mesh;
  for (auto [index, size] : llvm::enumerate(sizes)) {
    mesh.names.push_back(std::string(1, 'a' + index));
    mesh.sizes.push_back(size);
  }
  return mesh;
}

/// Returns all layouts of a tensor on a mesh, with axes in every role and
/// order. With `withZigzag`, every dimension occurs with and without zigzag,
/// and with `withFlat`, axes may belong to a flat cut.
inline std::vector<Layout> allLayouts(const Mesh &mesh, ArrayRef<int64_t> shape,
                                      bool withFixed = false,
                                      bool withZigzag = false,
                                      bool withFlat = false) {
  std::vector<Layout> layouts = {Layout(shape.size())};
  for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis) {
    std::vector<Layout> next;
    for (const Layout &layout : layouts) {
      next.push_back(layout);
      for (unsigned dim = 0; dim < shape.size() + withFlat; ++dim)
        for (size_t at = 0; at <= layout.getAxes(dim).size(); ++at) {
          next.push_back(layout);
          AxisList &axes = dim < shape.size() ? next.back().dims[dim]
                                              : next.back().flat.axes;
          axes.insert(axes.begin() + at, axis);
        }
      for (unsigned kind = 0; kind < numReductionKinds; ++kind) {
        next.push_back(layout);
        next.back().partial[kind].push_back(axis);
      }
      // One coordinate other than the first covers all.
      if (withFixed) {
        next.push_back(layout);
        next.back().fixed.push_back({axis, mesh.getSize(axis) - 1});
      }
    }
    layouts = std::move(next);
  }
  for (unsigned dim = 0; withZigzag && dim < shape.size(); ++dim)
    for (size_t i = 0, e = layouts.size(); i < e; ++i)
      if (Layout layout = layouts[i]; !layout.dims[dim].empty()) {
        layout.dims[dim].zigzag = true;
        layouts.push_back(std::move(layout));
      }
  llvm::erase_if(layouts, [&](const Layout &layout) {
    return layout.checkShape(mesh, shape).has_value();
  });
  return layouts;
}

/// Returns true if a plan exists. The target may be partial or fixed only where
/// the source is, in the same role. A sum can't be reduced under a maximum that
/// stays.
inline bool isReachable(const Mesh &mesh, const Layout &from,
                        const Layout &to) {
  for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis)
    if (to.getPartialKind(axis) &&
        to.getPartialKind(axis) != from.getPartialKind(axis))
      return false;
  for (const std::pair<Axis, int64_t> &entry : to.fixed)
    if (!llvm::is_contained(from.fixed, entry))
      return false;
  return to.getPartial(ReductionKind::Max).empty() ||
         to.getPartial(ReductionKind::Sum) ==
             from.getPartial(ReductionKind::Sum);
}

/// Returns the bytes moved plus, for a group of several ranks, a start-up worth
/// 64 KiB. A slice costs nothing.
inline uint64_t ringCost(const Step &step, const StepVolume &volume) {
  constexpr uint64_t startUp = 64 * 1024;
  if (step.kind == StepKind::Slice || volume.groupSize == 1)
    return 0;
  return volume.movedBytes + startUp;
}

} // namespace proteus::dist

#endif // PROTEUS_UNITTESTS_DIST_RANKDATA_H
