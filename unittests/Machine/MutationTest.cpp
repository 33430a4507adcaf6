//===- MutationTest.cpp - damaged files -----------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Damages cluster files and topology dumps at random and reads them. Each must
// be rejected with a message or give a consistent result. The fuzzers of
// tools/proteus-input-fuzz do the same for longer.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Cluster.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace llvm;
using namespace proteus::machine;

namespace {

std::vector<std::string> corpus(StringRef directory, StringRef suffix) {
  std::vector<std::string> paths;
  std::error_code error;
  for (sys::fs::directory_iterator file(directory, error), end;
       file != end && !error; file.increment(error))
    if (StringRef(file->path()).ends_with(suffix))
      paths.push_back(file->path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const std::string &path : paths)
    texts.push_back(cantFail(errorOrToExpected(MemoryBuffer::getFile(path)))
                        ->getBuffer()
                        .str());
  return texts;
}

/// Generator of damaged texts, in the same sequence on every machine.
class Damage {
public:
  explicit Damage(std::vector<std::string> texts) : texts(std::move(texts)) {}

  std::string next() {
    std::string text = texts[pick(texts.size())];
    for (size_t change = 0, count = 1 + pick(3); change < count; ++change)
      damage(text);
    return text;
  }

private:
  size_t pick(size_t limit) { return random() % limit; }

  void damage(std::string &text) {
    static const char *const values[] = {
        "0",  "-1", "1e308", "1e-300", "65536", "null", "true",
        "[]", "{}", "\"\"",  "2.5",    ",",     "}",    "999999999999"};
    size_t place = pick(text.size());
    switch (pick(4)) {
    case 0:
      text[place] = static_cast<char>(pick(256));
      return;
    case 1:
      text.erase(place, 1 + pick(20));
      return;
    case 2: {
      // Insert a part of another file.
      const std::string &other = texts[pick(texts.size())];
      text.insert(place, other.substr(pick(other.size()), 1 + pick(40)));
      return;
    }
    default: {
      // Replace a number by another value.
      size_t begin = text.find_first_of("0123456789", place);
      if (begin == std::string::npos)
        return;
      size_t end = text.find_first_not_of("0123456789.", begin);
      text.replace(begin, end - begin, values[pick(std::size(values))]);
      return;
    }
    }
  }

  std::vector<std::string> texts;
  std::mt19937 random{1};
};

/// Checks the invariants of every accepted cluster.
void check(const Cluster &cluster) {
  int64_t devices = cluster.numDevices();
  ASSERT_GT(devices, 0);
  ASSERT_LE(cluster.numNodes(), maxNodes);
  for (int64_t device : {int64_t(0), devices / 2, devices - 1}) {
    ASSERT_LT(cluster.nodeOf(device), cluster.numNodes());
    ASSERT_GT(cluster.deviceAt(device).peak(DType::F32), 0);
    ASSERT_GT(cluster.deviceAt(device).memoryBandwidth, 0);
    const NodeKind &kind = cluster.kindOf(device);
    ASSERT_LT(cluster.localIndex(device), kind.graph.numDevices());
    for (const NodeLink &link : kind.graph.links)
      ASSERT_GE(link.bandwidth, 1);
  }
  ASSERT_FALSE(bool(checkReach(cluster)));
}

constexpr int rounds = 3000;

TEST(Mutation, DamagedClustersAreRefusedOrSound) {
  std::vector<std::string> texts = corpus(PROTEUS_CLUSTERS, ".json");
  ASSERT_EQ(texts.size(), clusterPresetNames().size());
  Damage damage(std::move(texts));
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string text = damage.next();
    Expected<Cluster> cluster = parseClusterJSON(text, "damaged.json");
    if (!cluster) {
      EXPECT_TRUE(
          StringRef(toString(cluster.takeError())).starts_with("damaged.json"));
      continue;
    }
    ++accepted;
    check(*cluster);
    if (HasFatalFailure()) {
      ADD_FAILURE() << text;
      return;
    }
  }
  // Both outcomes occurred.
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, rounds - 50);
}

TEST(Mutation, DamagedTopologiesAreRefusedOrSound) {
  std::vector<std::string> texts = corpus(PROTEUS_TOPOLOGIES, ".xml");
  ASSERT_FALSE(texts.empty());
  Damage damage(std::move(texts));
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string text = damage.next();
    Expected<NodeGraph> graph = parseTopologyXML(text, "damaged.xml");
    if (!graph) {
      EXPECT_TRUE(
          StringRef(toString(graph.takeError())).starts_with("damaged.xml"));
      continue;
    }
    ++accepted;
    ASSERT_GT(graph->numDevices(), 0u) << text;
    for (const NodeLink &link : graph->links)
      ASSERT_TRUE(link.from < graph->vertices.size() &&
                  link.to < graph->vertices.size() && link.bandwidth > 0)
          << text;
  }
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, rounds - 50);
}

} // namespace
