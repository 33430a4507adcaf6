//===- MutationTest.cpp - damaged cluster files ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Damages the embedded files at random and reads them: each is refused with a
// message or gives a cluster that holds together. The fuzzers of
// tools/proteus-cluster-fuzz do the same with more patience.
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

std::vector<std::string> corpus() {
  std::vector<std::string> paths;
  std::error_code error;
  for (sys::fs::directory_iterator file(PROTEUS_CLUSTERS, error), end;
       file != end && !error; file.increment(error))
    if (StringRef(file->path()).ends_with(".json"))
      paths.push_back(file->path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const std::string &path : paths)
    texts.push_back(cantFail(errorOrToExpected(MemoryBuffer::getFile(path)))
                        ->getBuffer()
                        .str());
  return texts;
}

/// What is true of every cluster that is accepted.
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

TEST(Mutation, DamagedFilesAreRefusedOrSound) {
  std::vector<std::string> texts = corpus();
  ASSERT_EQ(texts.size(), clusterPresetNames().size());
  std::mt19937 random(1);
  auto pick = [&](size_t limit) { return random() % limit; };
  const char *const pieces[] = {"0",    "-1",   "1e308", "1e-300",      "65536",
                                "null", "true", "[]",    "{}",          "\"\"",
                                "2.5",  ",",    "}",     "999999999999"};
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = texts[pick(texts.size())];
    for (size_t change = 0, count = 1 + pick(3); change < count; ++change) {
      size_t place = pick(text.size());
      switch (pick(4)) {
      case 0:
        text[place] = static_cast<char>(pick(256));
        break;
      case 1:
        text.erase(place, 1 + pick(20));
        break;
      case 2: {
        // A piece of another file.
        const std::string &other = texts[pick(texts.size())];
        size_t from = pick(other.size());
        text.insert(place, other.substr(from, 1 + pick(40)));
        break;
      }
      default: {
        // Another value instead of a number.
        size_t begin = text.find_first_of("0123456789", place);
        if (begin == std::string::npos)
          break;
        size_t end = text.find_first_not_of("0123456789.", begin);
        text.replace(begin, end - begin, pieces[pick(std::size(pieces))]);
        break;
      }
      }
    }
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
  // Both outcomes were seen.
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, 2950);
}

} // namespace
