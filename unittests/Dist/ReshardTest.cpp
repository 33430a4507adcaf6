//===- ReshardTest.cpp - execution of plans on data -----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes every plan between every pair of layouts of small tensors. Each rank
// holds integers, each step moves them as the collective would, and the ranks
// must end with the data of the target layout.
//
//===----------------------------------------------------------------------===//

#include "RankData.h"

using namespace proteus::dist;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// Plans and executes every pair of layouts, or one in `stride`.
void checkAllPairs(ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape,
                   bool withFixed = false, bool withZigzag = false,
                   size_t stride = 1, bool withFlat = false) {
  size_t number = 0;
  Mesh mesh = makeMesh(sizes);
  std::vector<Layout> layouts =
      allLayouts(mesh, shape, withFixed, withZigzag, withFlat);
  Machine machine(mesh, shape);
  for (const Layout &from : layouts) {
    machine.load(from);
    ASSERT_TRUE(machine.holds(from)) << "the initial data is wrong";
    for (const Layout &to : layouts) {
      if (number++ % stride != 0)
        continue;
      std::string reason;
      auto plan = planReshard(mesh, shape, 32, from, to, ringCost, reason);
      ASSERT_EQ(succeeded(plan), isReachable(mesh, from, to)) << reason;
      if (failed(plan))
        continue;
      Machine copy = machine;
      Layout layout = from;
      for (const PlannedStep &planned : *plan) {
        copy.run(planned.step, layout, planned.result);
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

TEST(ReshardTest, EveryPairWithFlatCuts) {
  checkAllPairs({4}, {7}, false, false, 1, /*withFlat=*/true);
  checkAllPairs({3, 2}, {3, 5}, false, false, 1, /*withFlat=*/true);
  checkAllPairs({2, 2}, {4, 4}, false, false, 1, /*withFlat=*/true);
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

TEST(ReshardTest, EveryPairWithValuesOnSomeRanksOnly) {
  checkAllPairs({4}, {8}, /*withFixed=*/true);
  checkAllPairs({2, 3}, {7, 6}, /*withFixed=*/true);
}

TEST(ReshardTest, SomePairsOnThreeAxesOfAMatrix) {
  checkAllPairs({2, 2, 2}, {8, 4}, false, false, /*stride=*/11);
  checkAllPairs({2, 2, 2}, {6, 3}, false, false, /*stride=*/11);
}

//===----------------------------------------------------------------------===//
// Choice of steps
//===----------------------------------------------------------------------===//

std::vector<StepKind> kinds(const Mesh &mesh, ArrayRef<int64_t> shape,
                            const Layout &from, const Layout &to) {
  std::string reason;
  auto plan = planReshard(mesh, shape, 32, from, to, ringCost, reason);
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
                                            : ringCost(step, volume);
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
                                 Layout(1), ringCost, reason)));
  EXPECT_EQ(reason, "the layouts differ in the time axis 'micro', which takes "
                    "part in no collective");
  EXPECT_EQ(kinds(mesh, {8}, sharded({{microAxis, 1}}), sharded({{microAxis}})),
            std::vector<StepKind>{StepKind::AllGather});
  EXPECT_TRUE(failed(planReshard(mesh, {6}, 32, sharded({{microAxis, 1}}),
                                 sharded({{microAxis}}), ringCost, reason)));
}

TEST(ReshardTest, OtherDevicesTakeATransfer) {
  Mesh mesh = makeMesh({2, 2});
  Layout from(1), to(1);
  from.fixed = {{1, 0}};
  to.fixed = {{1, 1}};
  std::string reason;
  EXPECT_TRUE(failed(planReshard(mesh, {8}, 32, from, to, ringCost, reason)));
  EXPECT_EQ(
      reason,
      "the layouts are fixed at different coordinates, which needs a transfer");
}

TEST(ReshardTest, PartialValuesAreNotMadeUp) {
  Mesh mesh = makeMesh({2});
  Layout from(1), to(1);
  to.getPartial(ReductionKind::Max) = {1};
  std::string reason;
  EXPECT_TRUE(failed(planReshard(mesh, {8}, 32, from, to, ringCost, reason)));
  EXPECT_EQ(reason,
            "the target is partial (max) over axis 'a' and the source is not");
}

TEST(ReshardTest, ReplicasThatBothEndsHaveStayIdle) {
  Mesh mesh = makeMesh({2, 8, 8});
  Layout from(2);
  from.getPartial(ReductionKind::Sum) = {2};
  std::string reason;
  auto plan =
      planReshard(mesh, {4096, 4096}, 32, from, Layout(2), ringCost, reason);
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
  // A gather, an all-to-all and a slice are possible too, and so are three
  // all-to-alls.
  ASSERT_EQ(plan->size(), 3u);
  EXPECT_EQ((*plan)[0].step.kind, StepKind::AllToAll);
  EXPECT_EQ((*plan)[1].step.kind, StepKind::Permute);
  EXPECT_EQ((*plan)[2].step.kind, StepKind::AllToAll);
}

TEST(ReshardTest, AxesOfOneDimensionChangePlacesByAPermute) {
  using Kinds = std::vector<StepKind>;
  Mesh mesh = makeMesh({2, 4});
  EXPECT_EQ(kinds(mesh, {64, 64}, sharded({{1, 2}, {}}), sharded({{2, 1}, {}})),
            Kinds{StepKind::Permute});
  // Uneven parts work too, because blocks do not change.
  EXPECT_EQ(kinds(mesh, {61, 64}, sharded({{1, 2}, {}}), sharded({{2, 1}, {}})),
            Kinds{StepKind::Permute});
  // A permute exchanges dimensions if their axes have one size.
  Mesh square = makeMesh({4, 4});
  EXPECT_EQ(kinds(square, {64, 64}, sharded({{1}, {2}}), sharded({{2}, {1}})),
            Kinds{StepKind::Permute});
  // A permute moves the split from one axis to another that was replicated.
  EXPECT_EQ(kinds(square, {64, 64}, sharded({{1}, {}}), sharded({{2}, {}})),
            Kinds{StepKind::Permute});
}

TEST(ReshardTest, ExchangedAxesOnTwoByFourHoldTheRightData) {
  // Two rows of four become four rows of two. A permute can't do this, because
  // blocks change their shape.
  Mesh mesh = makeMesh({2, 4});
  SmallVector<int64_t> shape = {8, 8};
  Layout from = sharded({{1}, {2}}), to = sharded({{2}, {1}});
  std::string reason;
  auto plan = planReshard(mesh, shape, 32, from, to, ringCost, reason);
  ASSERT_TRUE(succeeded(plan)) << reason;
  Machine machine(mesh, shape);
  machine.load(from);
  EXPECT_FALSE(machine.holds(to));
  Layout layout = from;
  for (const PlannedStep &planned : *plan) {
    machine.run(planned.step, layout, planned.result);
    layout = planned.result;
  }
  EXPECT_EQ(layout, to);
  EXPECT_TRUE(machine.holds(to));
}

TEST(ReshardTest, APermuteNamesTheAxesThatMove) {
  Mesh mesh = makeMesh({2, 2, 2});
  // The axis in the middle keeps its position.
  EXPECT_EQ(permutedAxes(mesh, sharded({{1, 2, 3}}), sharded({{3, 2, 1}})),
            (AxisList{1, 3}));
  EXPECT_EQ(permutedAxes(mesh, sharded({{1, 2}}), sharded({{2, 3}})),
            (AxisList{1, 2, 3}));
  Step step{StepKind::Permute, {1, 2}, {}, {}, {}, {{3, 2, 1}}};
  std::string reason;
  EXPECT_TRUE(failed(applyStep(mesh, {8}, sharded({{1, 2, 3}}), step, reason)));
  EXPECT_EQ(reason, "moves blocks along {a, c}, not {a, b}");
}

TEST(ReshardTest, AxesThatAreTreatedAlikeMoveTogether) {
  // With a cost per rank of a group, two small groups are cheaper than one.
  auto perRank = [](const Step &step, const StepVolume &volume) {
    return step.kind == StepKind::Slice ? uint64_t(0)
                                        : uint64_t(volume.groupSize - 1);
  };
  Mesh mesh = makeMesh({2, 4});
  Layout partial(1);
  partial.getPartial(ReductionKind::Sum) = {1, 2};
  std::string reason;
  for (const Layout &to : {Layout(1), sharded({{2, 1}})}) {
    auto plan = planReshard(mesh, {64}, 32, partial, to, perRank, reason);
    ASSERT_TRUE(succeeded(plan));
    EXPECT_EQ(plan->size(), 1u);
    EXPECT_TRUE(plan->back().result == to);
    plan = planReshard(mesh, {64}, 32, partial, to, perRank, reason,
                       /*splitCollectives=*/true);
    ASSERT_TRUE(succeeded(plan));
    EXPECT_EQ(plan->size(), 2u);
  }
}

TEST(ReshardTest, WhatOneRankHoldsIsBroadcastOrScattered) {
  using Kinds = std::vector<StepKind>;
  Mesh mesh = makeMesh({2, 4});
  Layout root(2);
  root.fixed = {{2, 1}};
  EXPECT_EQ(kinds(mesh, {64, 64}, root, Layout(2)), Kinds{StepKind::Broadcast});
  EXPECT_EQ(kinds(mesh, {64, 64}, root, sharded({{}, {2}})),
            Kinds{StepKind::Scatter});
}

TEST(ReshardTest, EveryPairWithZigzags) {
  checkAllPairs({4}, {8}, /*withFixed=*/false, /*withZigzag=*/true);
  checkAllPairs({2}, {8, 4}, /*withFixed=*/false, /*withZigzag=*/true);
  checkAllPairs({2, 2}, {8, 4}, /*withFixed=*/false, /*withZigzag=*/true);
  // Six elements have a zigzag over three parts, but not over two.
  checkAllPairs({2, 3}, {6, 4}, /*withFixed=*/false, /*withZigzag=*/true);
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
  EXPECT_EQ(
      reason,
      "the parts of dimension 0 have been shifted by 1; shift them back first");
}

} // namespace
