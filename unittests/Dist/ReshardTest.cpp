//===- ReshardTest.cpp - plans against data -------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every plan between every pair of layouts of small tensors is run on data:
// each rank holds integers, each step moves them as the collective would, and
// what the ranks hold in the end must be what the target layout says. A
// step sees buffers of a group of ranks only: an all-gather joins what its
// members hold, a slice keeps some of what a rank holds, and so on.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "gtest/gtest.h"

#include <map>

using namespace proteus::dist;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

using Coordinates = SmallVector<int64_t>;
using Index = std::vector<int64_t>;

/// What a rank holds: elements by global index. Keeping the index with the
/// element makes a misplaced part visible.
using Buffer = std::map<Index, int64_t>;

/// All points that a rank holds.
std::vector<Index> points(ArrayRef<Ranges> held) {
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

/// The value of a tensor element, negative ones included.
int64_t element(const Index &index) {
  int64_t value = 7;
  for (int64_t i : index)
    value = value * 31 + i * i - 5 * i;
  return value % 101;
}

/// The ranks of a mesh and what each holds.
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

  /// Gives every rank its part; partial values are made up such that their
  /// reduction is the element.
  void load(const Layout &layout) {
    buffers.clear();
    for (const Coordinates &rank : ranks) {
      Buffer buffer;
      for (const Index &index : points(localRanges(mesh, layout, shape, rank)))
        buffer[index] = contribution(layout, rank, index);
      buffers.push_back(std::move(buffer));
    }
  }

  /// Whether the ranks hold what the layout says, replicas equal.
  bool holds(const Layout &layout) const {
    for (auto [number, rank] : llvm::enumerate(ranks)) {
      std::vector<Index> expected =
          points(localRanges(mesh, layout, shape, rank));
      if (expected.size() != buffers[number].size())
        return false;
      for (const Index &index : expected)
        if (!buffers[number].count(index) ||
            reduced(layout, rank, index) != element(index))
          return false;
      for (auto [other, otherRank] : llvm::enumerate(ranks))
        if (sameBut(layout, rank, otherRank) &&
            buffers[other] != buffers[number])
          return false;
    }
    return true;
  }

  void run(const Step &step, const Layout &before) {
    std::vector<Buffer> result(buffers.size());
    for (auto [number, rank] : llvm::enumerate(ranks)) {
      std::vector<size_t> group = groupOf(rank, step.axes);
      switch (step.kind) {
      case StepKind::Slice:
        result[number] = cut(buffers[number], rank, step, before);
        break;
      case StepKind::AllGather:
        result[number] = concatenate(group);
        break;
      case StepKind::AllReduce:
        result[number] = reduce(group, *step.reduction);
        break;
      case StepKind::ReduceScatter:
        result[number] =
            cut(reduce(group, *step.reduction), rank, step, before);
        break;
      case StepKind::AllToAll:
        result[number] = cut(concatenate(group), rank, step, before);
        break;
      }
    }
    buffers = std::move(result);
  }

private:
  /// A share of the element such that the maxima over the max axes sum up to
  /// it over the sum axes.
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

  /// Numbers of the ranks that differ from `rank` in `axes` only, in the order
  /// of these axes.
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

  /// Whether the ranks differ in replicated axes only.
  bool sameBut(const Layout &layout, const Coordinates &a,
               const Coordinates &b) const {
    for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis)
      if (a[axis] != b[axis] && !layout.isReplicated(axis))
        return false;
    return true;
  }

  int64_t reduced(const Layout &layout, const Coordinates &rank,
                  const Index &index) const {
    int64_t sum = 0;
    for (size_t s : groupOf(rank, layout.getPartial(ReductionKind::Sum))) {
      int64_t most = std::numeric_limits<int64_t>::min();
      for (size_t m : groupOf(ranks[s], layout.getPartial(ReductionKind::Max)))
        most = std::max(most, buffers[m].at(index));
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

  /// The part of a rank's own buffer that it keeps when `step.axes` are added
  /// to the dimension: local indices only.
  Buffer cut(const Buffer &buffer, const Coordinates &rank, const Step &step,
             const Layout &before) const {
    unsigned dim = *step.toDim;
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

Mesh makeMesh(ArrayRef<int64_t> sizes) {
  Mesh mesh;
  for (auto [index, size] : llvm::enumerate(sizes)) {
    mesh.names.push_back(std::string(1, 'a' + index));
    mesh.sizes.push_back(size);
  }
  return mesh;
}

/// All layouts of a tensor on a mesh, axes in every role and order; with
/// `zigzag`, every dimension both ways.
std::vector<Layout> allLayouts(const Mesh &mesh, ArrayRef<int64_t> shape,
                               bool zigzag) {
  std::vector<Layout> layouts = {Layout(shape.size())};
  for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis) {
    std::vector<Layout> next;
    for (const Layout &layout : layouts) {
      next.push_back(layout);
      for (unsigned dim = 0; dim < shape.size(); ++dim)
        for (size_t at = 0; at <= layout.dims[dim].size(); ++at) {
          next.push_back(layout);
          AxisList &axes = next.back().dims[dim];
          axes.insert(axes.begin() + at, axis);
        }
      for (unsigned kind = 0; kind < numReductionKinds; ++kind) {
        next.push_back(layout);
        next.back().partial[kind].push_back(axis);
      }
    }
    layouts = std::move(next);
  }
  for (unsigned dim = 0; zigzag && dim < shape.size(); ++dim)
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

/// A target may be partial only where the source is, in the same way. A sum
/// cannot be reduced under a maximum that stays.
bool isReachable(const Mesh &mesh, const Layout &from, const Layout &to) {
  for (Axis axis = 1; axis < mesh.getNumAxes(); ++axis)
    if (to.getPartialKind(axis) &&
        to.getPartialKind(axis) != from.getPartialKind(axis))
      return false;
  return to.getPartial(ReductionKind::Max).empty() ||
         to.getPartial(ReductionKind::Sum) ==
             from.getPartial(ReductionKind::Sum);
}

void checkAllPairs(ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape,
                   bool zigzag = false) {
  Mesh mesh = makeMesh(sizes);
  std::vector<Layout> layouts = allLayouts(mesh, shape, zigzag);
  Machine machine(mesh, shape);
  for (const Layout &from : layouts) {
    machine.load(from);
    ASSERT_TRUE(machine.holds(from)) << "the initial data is wrong";
    for (const Layout &to : layouts) {
      std::string reason;
      auto plan =
          planReshard(mesh, shape, 32, from, to, defaultStepCost, reason);
      ASSERT_EQ(succeeded(plan), isReachable(mesh, from, to)) << reason;
      if (failed(plan))
        continue;
      Machine copy = machine;
      Layout layout = from;
      for (const PlannedStep &planned : *plan) {
        copy.run(planned.step, layout);
        layout = planned.result;
        ASSERT_TRUE(copy.holds(layout))
            << "wrong data after " << stringify(planned.step.kind).str();
      }
      ASSERT_EQ(layout, to);
    }
  }
}

TEST(ReshardTest, EveryPairOnOneAxis) {
  checkAllPairs({4}, {8});
  checkAllPairs({4}, {7});
  checkAllPairs({3}, {7, 5});
}

TEST(ReshardTest, EveryPairOnTwoAxes) {
  checkAllPairs({2, 2}, {8});
  checkAllPairs({2, 2}, {6});
  checkAllPairs({2, 2}, {4, 4});
  checkAllPairs({2, 2}, {5, 6});
}

TEST(ReshardTest, EveryPairOnTwoByFour) {
  checkAllPairs({2, 4}, {8, 8});
  checkAllPairs({2, 4}, {11, 4});
}

TEST(ReshardTest, EveryPairOnThreeAxesOfAVector) {
  checkAllPairs({2, 2, 2}, {8});
  checkAllPairs({2, 2, 2}, {11});
}

TEST(ReshardTest, EveryPairOnThreeAxesOfAMatrix) {
  checkAllPairs({2, 2, 2}, {8, 4});
  checkAllPairs({2, 2, 2}, {6, 3});
}

TEST(ReshardTest, EveryPairWithZigzags) {
  checkAllPairs({4}, {8}, /*zigzag=*/true);
  checkAllPairs({2}, {8, 4}, /*zigzag=*/true);
  checkAllPairs({2, 2}, {8, 4}, /*zigzag=*/true);
  // Six elements: a zigzag over three parts, none over two.
  checkAllPairs({2, 3}, {6, 4}, /*zigzag=*/true);
}

//===----------------------------------------------------------------------===//
// Choice of steps
//===----------------------------------------------------------------------===//

std::vector<StepKind> kinds(const Mesh &mesh, ArrayRef<int64_t> shape,
                            const Layout &from, const Layout &to) {
  std::string reason;
  auto plan = planReshard(mesh, shape, 32, from, to, defaultStepCost, reason);
  EXPECT_TRUE(succeeded(plan)) << reason;
  std::vector<StepKind> result;
  if (succeeded(plan))
    for (const PlannedStep &planned : *plan)
      result.push_back(planned.step.kind);
  return result;
}

Layout sharded(std::initializer_list<AxisList> dims) {
  Layout layout;
  layout.dims.assign(dims.begin(), dims.end());
  return layout;
}

TEST(ReshardTest, OneCollectiveWhereOneDoes) {
  Mesh mesh = makeMesh({2, 4});
  SmallVector<int64_t> shape = {1024, 1024};
  Layout partial(2);
  partial.getPartial(ReductionKind::Sum) = {1, 2};
  using Kinds = std::vector<StepKind>;
  EXPECT_EQ(kinds(mesh, shape, partial, Layout(2)),
            (Kinds{StepKind::AllReduce}));
  EXPECT_EQ(kinds(mesh, shape, partial, sharded({{2, 1}, {}})),
            (Kinds{StepKind::ReduceScatter}));
  EXPECT_EQ(kinds(mesh, shape, sharded({{1, 2}, {}}), Layout(2)),
            (Kinds{StepKind::AllGather}));
  EXPECT_EQ(kinds(mesh, shape, sharded({{1, 2}, {}}), sharded({{}, {1, 2}})),
            (Kinds{StepKind::AllToAll}));
  EXPECT_EQ(kinds(mesh, shape, Layout(2), sharded({{2}, {1}})),
            (Kinds{StepKind::Slice, StepKind::Slice}));
  EXPECT_EQ(kinds(mesh, shape, partial, partial), Kinds{});
}

TEST(ReshardTest, ZigzagsNest) {
  Mesh mesh = makeMesh({2, 2});
  Layout both = sharded({{1, 2}}), major = sharded({{1}}), whole(1);
  Layout contiguous = major;
  both.dims[0].zigzag = major.dims[0].zigzag = true;
  using Kinds = std::vector<StepKind>;
  EXPECT_EQ(kinds(mesh, {8}, both, major), (Kinds{StepKind::AllGather}));
  EXPECT_EQ(kinds(mesh, {8}, major, both), (Kinds{StepKind::Slice}));
  EXPECT_EQ(kinds(mesh, {8}, whole, both), (Kinds{StepKind::Slice}));
  EXPECT_EQ(kinds(mesh, {8}, contiguous, major),
            (Kinds{StepKind::AllGather, StepKind::Slice}));
}

TEST(ReshardTest, ShiftedPartsGoHomeFirst) {
  Mesh mesh = makeMesh({4});
  Layout shifted = sharded({{1}});
  shifted.dims[0].shift = 1;
  std::string reason;
  EXPECT_TRUE(failed(applyStep(mesh, {8}, shifted,
                               {StepKind::AllGather, {1}, {}, 0, {}}, reason)));
  EXPECT_EQ(reason, "the parts of dimension 0 have been shifted by 1; shift "
                    "them home first");
}

TEST(ReshardTest, UnevenMinorAxesGoThroughTheWholeDimension) {
  Mesh mesh = makeMesh({2, 2});
  EXPECT_EQ(kinds(mesh, {6}, sharded({{1, 2}}), sharded({{1}})),
            (std::vector<StepKind>{StepKind::AllGather, StepKind::Slice}));
  EXPECT_EQ(kinds(mesh, {8}, sharded({{1, 2}}), sharded({{1}})),
            (std::vector<StepKind>{StepKind::AllGather}));
}

TEST(ReshardTest, TheCostDecides) {
  Mesh mesh = makeMesh({4});
  Layout from(1), to(1);
  from.getPartial(ReductionKind::Sum) = {1};
  auto noAllReduce = [](const Step &step, const StepVolume &volume) {
    return step.kind == StepKind::AllReduce ? uint64_t(1) << 40
                                            : defaultStepCost(step, volume);
  };
  std::string reason;
  auto plan = planReshard(mesh, {1024}, 32, from, to, noAllReduce, reason);
  ASSERT_TRUE(succeeded(plan));
  ASSERT_EQ(plan->size(), 2u);
  EXPECT_EQ((*plan)[0].step.kind, StepKind::ReduceScatter);
  EXPECT_EQ((*plan)[1].step.kind, StepKind::AllGather);
}

TEST(ReshardTest, VolumesAreThoseOfTheRankThatHoldsMost) {
  Mesh mesh = makeMesh({4});
  Step gather{StepKind::AllGather, {1}, {}, 0, {}};
  StepVolume volume =
      stepVolume(mesh, {10}, 16, sharded({{1}}), Layout(1), gather);
  EXPECT_EQ(volume.groupSize, 4);
  EXPECT_EQ(volume.bufferBytes, 20);
  EXPECT_EQ(volume.movedBytes, 15);
}

TEST(ReshardTest, TimeTakesNoPart) {
  Mesh mesh = makeMesh({2});
  mesh.micro = 2;
  std::string reason;
  EXPECT_TRUE(failed(planReshard(mesh, {8}, 32, sharded({{microAxis}}),
                                 Layout(1), defaultStepCost, reason)));
  EXPECT_EQ(reason, "the layouts differ in the time axis 'micro', which takes "
                    "part in no collective");
  EXPECT_EQ(kinds(mesh, {8}, sharded({{microAxis, 1}}), sharded({{microAxis}})),
            std::vector<StepKind>{StepKind::AllGather});
  EXPECT_TRUE(
      failed(planReshard(mesh, {6}, 32, sharded({{microAxis, 1}}),
                         sharded({{microAxis}}), defaultStepCost, reason)));
}

TEST(ReshardTest, OtherDevicesTakeATransfer) {
  Mesh mesh = makeMesh({2, 2});
  Layout from(1), to(1);
  from.fixed = {{1, 0}};
  to.fixed = {{1, 1}};
  std::string reason;
  EXPECT_TRUE(
      failed(planReshard(mesh, {8}, 32, from, to, defaultStepCost, reason)));
  EXPECT_EQ(reason, "the layouts are fixed at different coordinates, which "
                    "takes a transfer");
}

TEST(ReshardTest, PartialValuesAreNotMadeUp) {
  Mesh mesh = makeMesh({2});
  Layout from(1), to(1);
  to.getPartial(ReductionKind::Max) = {1};
  std::string reason;
  EXPECT_TRUE(
      failed(planReshard(mesh, {8}, 32, from, to, defaultStepCost, reason)));
  EXPECT_EQ(reason,
            "the target is partial (max) over axis 'a' and the source is not");
}

TEST(ReshardTest, ReplicasThatBothEndsHaveStayIdle) {
  Mesh mesh = makeMesh({2, 8, 8});
  Layout from(2);
  from.getPartial(ReductionKind::Sum) = {2};
  std::string reason;
  auto plan = planReshard(mesh, {4096, 4096}, 32, from, Layout(2),
                          defaultStepCost, reason);
  ASSERT_TRUE(succeeded(plan));
  ASSERT_EQ(plan->size(), 1u);
  EXPECT_EQ(plan->front().step.axes, AxisList{2});
}

TEST(ReshardTest, TiesGoToTheKindListedFirst) {
  Mesh mesh = makeMesh({2, 4});
  auto flat = [](const Step &, const StepVolume &) { return uint64_t(1); };
  std::string reason;
  auto plan = planReshard(mesh, {8, 8}, 32, sharded({{1}, {2}}),
                          sharded({{2}, {1}}), flat, reason);
  ASSERT_TRUE(succeeded(plan));
  // Gather, all-to-all and slice would do as well.
  ASSERT_EQ(plan->size(), 3u);
  for (const PlannedStep &planned : *plan)
    EXPECT_EQ(planned.step.kind, StepKind::AllToAll);
}

} // namespace
