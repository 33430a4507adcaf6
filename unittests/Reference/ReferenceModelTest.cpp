//===- ReferenceModelTest.cpp - figures of the reference ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Costs/ReferenceModel.h"
#include "ReferenceFiles.h"

#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace llvm;
using namespace proteus;
using namespace proteus::net;
using proteus::json::Reader;

namespace {

/// A row of the table and the model of its machine.
struct Row {
  std::string name; ///< cluster and ranks
  ReferenceModel model;
  ReferenceGroup group;
  Reader reader;
};

Row readRow(Reader reader) {
  std::string cluster = reader["cluster"].nonEmptyString();
  std::vector<int64_t> ranks;
  std::string name = cluster + ":";
  for (Reader rank : reader["ranks"].elements()) {
    ranks.push_back(rank.integer(0, 1 << 20));
    name += " " + std::to_string(ranks.back());
  }
  int64_t perNode = reader["devices_per_node"].integer(1, 8);
  int64_t nodes = (ranks.empty() ? 0 : ranks.back()) / perNode + 1;
  ReferenceModel model({cluster, readTopology(cluster), nodes, perNode},
                       readConstants());
  ReferenceGroup group = model.group(ranks);
  return {name, std::move(model), group, reader};
}

double deviation(double predicted, double expected) {
  return std::abs(predicted / expected - 1);
}

/// Returns the largest deviation of a row's twelve figures.
double worstFigure(const Row &row) {
  static constexpr std::tuple<const char *, ReferenceKind, double> entries[] = {
      {"all_reduce", ReferenceKind::AllReduce, 25e6},
      {"all_reduce_1KiB", ReferenceKind::AllReduce, 1024},
      {"all_gather", ReferenceKind::AllGather, 25e6},
      {"reduce_scatter", ReferenceKind::ReduceScatter, 25e6},
      {"broadcast", ReferenceKind::Broadcast, 25e6},
      {"reduce", ReferenceKind::Reduce, 25e6},
  };
  double worst = 0;
  for (auto [key, kind, bytes] : entries) {
    ReferenceFigures figures = row.model.figures(kind, row.group, bytes);
    std::vector<Reader> expected = row.reader[key].elements();
    if (expected.size() != 2)
      return INFINITY;
    worst = std::max({worst,
                      deviation(figures.bandwidth, expected[0].positive(1e6)),
                      deviation(figures.latency, expected[1].positive(1e6))});
  }
  return worst;
}

TEST(ReferenceModel, AnswersAsTheCommunicatorsOfTheOriginal) {
  json::Document document = readReference("communicators.json");
  std::vector<Reader> rows = document.root()["communicators"].elements();
  ASSERT_EQ(rows.size(), 133u);
  size_t within1 = 0, within5 = 0, classes = 0;
  for (Reader reader : rows) {
    Row row = readRow(reader);
    double worst = worstFigure(row);
    within1 += worst <= 0.01;
    within5 += worst <= 0.05;
    EXPECT_LE(worst, 0.01) << row.name << ": bus " << row.group.busBandwidth
                           << " GB/s";
    bool sameClasses =
        int64_t(row.group.intra) == reader["intra"].integer(0, 6) &&
        int64_t(row.group.inter) == reader["inter"].integer(0, 6) &&
        row.group.acrossNodes == reader["across_nodes"].boolean();
    classes += sameClasses;
    EXPECT_TRUE(sameClasses) << row.name << ": " << int(row.group.intra) << " "
                             << int(row.group.inter);
  }
  if (Error error = document.takeError())
    FAIL() << toString(std::move(error));
  std::cout << "communicators of the original: " << within1
            << " of 133 within 1 %, " << within5 << " within 5 %, " << classes
            << " with the same path classes\n";
}

/// A task of the recorded runs and the model's prediction.
struct GoldenTask {
  std::string name;
  double predicted = 0;
  std::vector<double> durations; ///< ms
  int64_t count = 0;
  bool delayed = false;
};

GoldenTask readGoldenTask(Reader row) {
  GoldenTask task;
  std::string cluster = row["cluster"].nonEmptyString();
  std::string kindName = row["kind"].nonEmptyString();
  task.name = cluster + " " + kindName;
  std::vector<int64_t> ranks;
  for (Reader rank : row["ranks"].elements()) {
    ranks.push_back(rank.integer(0, 7));
    task.name += " " + std::to_string(ranks.back());
  }
  int64_t bytes = row["bytes"].integer(1, 1LL << 40);
  task.name += ", " + std::to_string(bytes) + " bytes";
  ReferenceModel model({cluster, readTopology(cluster), 1,
                        row["devices_per_node"].integer(1, 8)},
                       readConstants());
  std::optional<ReferenceKind> kind = parseReferenceKind(kindName);
  EXPECT_TRUE(kind) << kindName;
  task.predicted =
      model.milliseconds(kind.value_or(ReferenceKind::AllReduce),
                         model.group(ranks), bytes, row["share"].positive(64)) *
      row["stretch"].positive(2);
  for (Reader duration : row["milliseconds"].elements())
    task.durations.push_back(duration.positive(1e6));
  task.count = row["count"].integer(1, 1000);
  task.delayed = row.has("delayed");
  return task;
}

TEST(ReferenceModel, GivesEveryCollectiveOfTheGoldenRuns) {
  json::Document document = readReference("golden_costs.json");
  int64_t tasks = 0, matched = 0, delayed = 0;
  for (Reader row : document.root()["collectives"].elements()) {
    GoldenTask task = readGoldenTask(row);
    tasks += task.count;
    if (task.delayed) {
      // Only the timeline determines the length of the delay.
      delayed += task.count;
      for (double duration : task.durations)
        EXPECT_GT(duration, task.predicted * 1.1) << task.name;
      continue;
    }
    matched += task.count;
    for (double duration : task.durations)
      EXPECT_LE(deviation(task.predicted, duration), 0.01) << task.name;
  }
  if (Error error = document.takeError())
    FAIL() << toString(std::move(error));
  EXPECT_EQ(tasks, 248);
  EXPECT_EQ(delayed, 3);
  std::cout << "collectives of the golden runs: " << matched << " of " << tasks
            << " without delay\n";
}

ReferenceGroup groupOf(ReferenceModel &model, int64_t ranks) {
  std::vector<int64_t> list(ranks);
  std::iota(list.begin(), list.end(), 0);
  return model.group(list);
}

TEST(ReferenceModel, FixedBandwidthsReplaceComputedOnesInCosts) {
  ReferenceModel model({"titanxp", readTopology("titanxp"), 1, 8},
                       readConstants());
  ReferenceGroup group = groupOf(model, 8);
  EXPECT_NEAR(model.figures(ReferenceKind::AllReduce, group, 25e6).bandwidth,
              3.4286, 1e-4);
  EXPECT_NEAR(model.milliseconds(ReferenceKind::AllReduce, group, 42e6),
              10 + 0.0882, 1e-9);
  EXPECT_NEAR(model.milliseconds(ReferenceKind::AllGather, group, 48e6),
              7 + 0.0483, 1e-9);
}

TEST(ReferenceModel, AllToAllIsABroadcastPerPeerWithItsOwnFactors) {
  ReferenceModel inNode({"titanxp", readTopology("titanxp"), 1, 8},
                        readConstants());
  // 6 GB/s and a tenth of 14.1 us, seven times.
  EXPECT_NEAR(
      inNode.milliseconds(ReferenceKind::AllToAll, groupOf(inNode, 8), 6e6),
      7 * (1 + 0.00141), 1e-9);
  ReferenceModel across({"dgx1_v100_1ib", readTopology("dgx1_v100_1ib"), 4, 8},
                        readConstants());
  // 10 GB/s halved and divided by the four nodes of the cluster; half of 18 us.
  EXPECT_NEAR(
      across.milliseconds(ReferenceKind::AllToAll, groupOf(across, 16), 1.25e6),
      15 * (1 + 0.009), 1e-9);
}

TEST(ReferenceModel, NodesWithDifferentPlacesTakeTheWorst) {
  ReferenceModel model({"dgx1_v100_1ib", readTopology("dgx1_v100_1ib"), 2, 8},
                       readConstants());
  // 0 and 1 have an NVLink; the route between 8 and 12 leads through both
  // sockets.
  ReferenceGroup group = model.group({0, 1, 8, 12});
  EXPECT_EQ(group.nodes, 2);
  EXPECT_EQ(group.busBandwidth, 9);
  EXPECT_EQ(group.hop, 5.7);
  // The release reports the class of the better node.
  EXPECT_EQ(group.intra, PathClass::NVLink);
}

TEST(ReferenceConstants, HoldTheLaunchGapOfTheReference) {
  EXPECT_EQ(readConstants().launchGap, 0.002);
}

TEST(ReferenceConstants, ErrorsNameThePlace) {
  std::string text = readReferenceText("constants.json");
  auto errorWith = [&](StringRef from, StringRef to) {
    std::string changed = text;
    changed.replace(changed.find(from.str()), from.size(), to.str());
    auto constants = parseReferenceConstants(changed, "constants.json");
    return constants ? "" : toString(constants.takeError());
  };
  EXPECT_EQ(errorWith("\"kind\": \"all_reduce\"", "\"kind\": \"sum\""),
            "constants.json: unknown collective 'sum' at "
            "fixed_bandwidths[0].kind");
  EXPECT_EQ(errorWith("\"timeline\"", "\"timelines\""),
            "constants.json: unknown key 'timelines' (nearest valid key: "
            "'timeline')");
  EXPECT_EQ(errorWith("3.4", "-1"),
            "constants.json: expected a positive number at ring.nvlink_hop_us, "
            "got -1");
}

} // namespace
