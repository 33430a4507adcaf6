//===- Random.h - random numbers for parts of a case ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every block and feature draws from its own stream, so that a new block or
// feature does not change the numbers of the others.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_RANDOM_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_RANDOM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace proteus {
namespace fuzz {

/// A stream of random numbers: number n is a hash of the stream and n.
class Random {
public:
  Random(uint64_t seed, uint64_t index, llvm::StringRef name)
      : stream(mix(mix(mix(seed) ^ index) ^ llvm::xxh3_64bits(name))) {}

  /// Returns a number in `[0, end)`.
  int64_t below(int64_t end) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(end));
  }
  /// Returns a number in `[first, last]`.
  int64_t between(int64_t first, int64_t last) {
    return first + below(last - first + 1);
  }
  /// Returns a number in `(0, 1]`.
  double fraction() {
    return static_cast<double>((next() >> 11) + 1) / (uint64_t(1) << 53);
  }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <typename T> T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  template <typename T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[below(i)]);
  }

private:
  uint64_t next() { return mix(stream + counter++); }
  /// Applies the finaliser of SplitMix64.
  static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t stream;
  uint64_t counter = 0;
};

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_RANDOM_H
