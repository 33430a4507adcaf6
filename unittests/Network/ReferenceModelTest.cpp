//===- ReferenceModelTest.cpp - the figures of the original ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Network/ReferenceModel.h"
#include "ReferenceFiles.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::net;
using proteus::json::Reader;

namespace {

/// A row of the table and the model of the machine it is about.
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

/// The worst deviation of a row's twelve figures.
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

} // namespace
