//===- MoveTest.cpp - moves between meshes --------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes every move on data. Each destination must end with its block, and
// every element must come from a device that held it. No element may be sent to
// its holder or sent twice. The time of the busiest link is compared with a
// search over all choices of a sender for every element.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Move.h"

#include "RankData.h"

using namespace proteus::dist;

namespace {

/// Returns the elements that every device of a mesh holds.
std::map<int64_t, std::vector<Index>>
holdings(const Mesh &mesh, const Layout &layout, ArrayRef<int64_t> shape) {
  std::map<int64_t, std::vector<Index>> result;
  for (int64_t position = 0; position < mesh.getNumDevices(); ++position) {
    Coordinates rank = {0};
    rank.append(mesh.getCoordinates(position));
    bool holds = true;
    for (auto [axis, coordinate] : layout.fixed)
      holds &= rank[axis] == coordinate;
    if (holds)
      result[mesh.getDevice(ArrayRef(rank).drop_front())] =
          points(localRanges(mesh, layout, shape, rank));
  }
  return result;
}

bool isIn(const std::vector<Index> &list, const Index &index) {
  return llvm::is_contained(list, index);
}

/// Search for the least time of the busiest link over all choices of senders
/// for all elements.
class BestChoice {
public:
  BestChoice(const MoveLinks &links,
             const std::map<int64_t, std::vector<Index>> &held,
             const std::map<int64_t, std::vector<Index>> &needed) {
    for (const auto &[destination, elements] : needed)
      for (const Index &index : elements) {
        if (held.count(destination) && isIn(held.at(destination), index))
          continue;
        std::vector<std::pair<std::pair<int64_t, bool>, int64_t>> senders;
        for (const auto &[device, own] : held)
          if (isIn(own, index)) {
            bool leaves = device / links.devicesPerNode !=
                          destination / links.devicesPerNode;
            senders.push_back(
                {{device, leaves}, leaves ? links.betweenNodes : links.inNode});
          }
        choices.push_back(std::move(senders));
      }
  }

  int64_t run() {
    search(0, 0);
    return best;
  }

private:
  void search(size_t next, int64_t busiest) {
    if (busiest >= best)
      return;
    if (next == choices.size()) {
      best = busiest;
      return;
    }
    for (auto [link, time] : choices[next]) {
      load[link] += time;
      search(next + 1, std::max(busiest, load[link]));
      load[link] -= time;
    }
  }

  std::vector<std::vector<std::pair<std::pair<int64_t, bool>, int64_t>>>
      choices;
  std::map<std::pair<int64_t, bool>, int64_t> load;
  int64_t best = std::numeric_limits<int64_t>::max();
};

void check(const Mesh &fromMesh, const Layout &from, const Mesh &toMesh,
           const Layout &to, ArrayRef<int64_t> shape, MoveLinks links = {}) {
  std::string reason;
  auto move = planMove(fromMesh, from, toMesh, to, shape, links, reason);
  ASSERT_TRUE(succeeded(move)) << reason;
  auto held = holdings(fromMesh, from, shape);
  auto needed = holdings(toMesh, to, shape);
  std::map<int64_t, std::vector<Index>> arrived;
  std::map<std::pair<int64_t, bool>, int64_t> load;
  for (const MovePiece &piece : move->pieces)
    for (const Index &index : points(piece.region.offset, piece.region.sizes)) {
      EXPECT_TRUE(isIn(held[piece.source], index)) << "sent by a stranger";
      EXPECT_FALSE(isIn(arrived[piece.destination], index)) << "sent twice";
      arrived[piece.destination].push_back(index);
      if (piece.source == piece.destination)
        continue;
      EXPECT_FALSE(isIn(held[piece.destination], index)) << "was there before";
      bool leaves = piece.source / links.devicesPerNode !=
                    piece.destination / links.devicesPerNode;
      load[{piece.source, leaves}] +=
          leaves ? links.betweenNodes : links.inNode;
    }
  for (auto &[device, elements] : needed) {
    llvm::sort(arrived[device]);
    llvm::sort(elements);
    EXPECT_EQ(arrived[device], elements) << "device " << device;
  }
  int64_t busiest = 0;
  for (auto [link, time] : load)
    busiest = std::max(busiest, time);
  EXPECT_EQ(busiest, move->time);
  EXPECT_EQ(move->time, BestChoice(links, held, needed).run());
}

Mesh onDevices(ArrayRef<int64_t> sizes, ArrayRef<int64_t> devices) {
  Mesh mesh = makeMesh(sizes);
  mesh.devices.assign(devices.begin(), devices.end());
  return mesh;
}

Layout split(std::initializer_list<AxisList> dims) {
  Layout layout;
  layout.dims.assign(dims.begin(), dims.end());
  return layout;
}

TEST(MoveTest, OtherSizesOnTheSameDevices) {
  check(makeMesh({2, 2}), split({{1}, {2}}), makeMesh({4}), split({{1}, {}}),
        {4, 2});
  check(makeMesh({4}), split({{1}}), onDevices({2}, {0, 1}), split({{1}}), {8});
  check(onDevices({2}, {0, 1}), split({{1}}), makeMesh({4}), split({{1}}), {8});
}

TEST(MoveTest, UnevenParts) {
  check(makeMesh({3}), split({{1}}), makeMesh({4}), split({{1}}), {7});
  check(makeMesh({2}), split({{}, {1}}), onDevices({3}, {1, 2, 3}),
        split({{1}, {}}), {3, 3});
}

TEST(MoveTest, DisjointDevices) {
  check(makeMesh({2}), split({{1}}), onDevices({3}, {4, 5, 6}), split({{1}}),
        {6});
}

TEST(MoveTest, ReplicasShareTheLoad) {
  // Two replicas send half of the six elements each.
  check(makeMesh({2}), split({{}}), onDevices({1}, {5}), split({{}}), {6});
  std::string reason;
  auto move = planMove(makeMesh({2}), split({{}}), onDevices({1}, {5}),
                       split({{}}), {6}, {}, reason);
  ASSERT_TRUE(succeeded(move));
  EXPECT_EQ(move->time, 3);
  // One replica has more to send elsewhere, so the other sends more here.
  check(makeMesh({2, 2}), split({{1}}), onDevices({2}, {3, 5}), split({{}}),
        {4});
}

TEST(MoveTest, TheLinkDecides) {
  MoveLinks links;
  links.devicesPerNode = 2;
  links.betweenNodes = 3;
  // Devices 0 and 2 hold all elements. Devices 1 and 3 need them, each in the
  // node of one holder.
  check(onDevices({2}, {0, 2}), split({{}}), onDevices({2}, {1, 3}),
        split({{}}), {4}, links);
  // Device 0 is near; device 4 is far and idle.
  check(onDevices({2}, {0, 4}), split({{}}), onDevices({1}, {1}), split({{}}),
        {8}, links);
}

TEST(MoveTest, ZigzagAndShiftedParts) {
  AxisList zigzag = {1}, shifted = {1}, both = {1};
  zigzag.zigzag = both.zigzag = true;
  shifted.shift = both.shift = 1;
  for (const AxisList &from : {AxisList{1}, zigzag, shifted, both})
    for (const AxisList &to : {AxisList{1}, zigzag, shifted, both}) {
      check(makeMesh({2}), split({from}), makeMesh({2}), split({to}), {8});
      check(makeMesh({2}), split({from}), onDevices({4}, {4, 1, 5, 0}),
            split({to}), {8});
    }
  // Replicas of a zigzag share the load; columns are split too.
  check(makeMesh({2, 2}), split({zigzag, {}}), onDevices({2}, {1, 4}),
        split({{}, {1}}), {4, 2});
  check(makeMesh({2, 2}), split({zigzag, {2}}), makeMesh({2}),
        split({{}, zigzag}), {4, 4});

  // Device 0 holds the rows 0, 1, 6 and 7 and needs the first four.
  std::string reason;
  auto move = planMove(makeMesh({2}), split({zigzag}), makeMesh({2}),
                       split({{1}}), {8}, {}, reason);
  ASSERT_TRUE(succeeded(move)) << reason;
  std::vector<std::pair<std::pair<int64_t, int64_t>, Region>> pieces;
  for (const MovePiece &piece : move->pieces)
    pieces.push_back({{piece.source, piece.destination}, piece.region});
  EXPECT_EQ(pieces,
            (std::vector<std::pair<std::pair<int64_t, int64_t>, Region>>{
                {{0, 0}, {{0}, {2}}},
                {{1, 0}, {{2}, {2}}},
                {{1, 1}, {{4}, {2}}},
                {{0, 1}, {{6}, {2}}}}));
}

TEST(MoveTest, WhatIsFixedAtACoordinate) {
  Layout root(1);
  root.fixed = {{1, 1}};
  check(makeMesh({2, 2}), root, makeMesh({4}), split({{1}}), {4});
}

TEST(MoveTest, WhatCanNotMove) {
  std::string reason;
  Layout partial(1);
  partial.getPartial(ReductionKind::Sum) = {1};
  EXPECT_TRUE(failed(planMove(makeMesh({2}), partial, makeMesh({2}), Layout(1),
                              {4}, {}, reason)));
  EXPECT_EQ(reason,
            "a partial value cannot move to another mesh; reduce it first");
}

} // namespace
