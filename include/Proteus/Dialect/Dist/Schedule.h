//===- Schedule.h - work items and gradient buckets as data -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_SCHEDULE_H
#define PROTEUS_DIALECT_DIST_SCHEDULE_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include "llvm/ADT/BitVector.h"

#include <map>
#include <tuple>

namespace proteus::dist {

/// One entry of a schedule: run a section of a program, for a micro-batch
/// unless it runs once per step.
struct Work {
  SectionKind kind;
  int64_t chunk = 0;
  std::optional<int64_t> micro = std::nullopt;

  bool operator==(const Work &other) const {
    return std::tie(kind, chunk, micro) ==
           std::tie(other.kind, other.chunk, other.micro);
  }
  bool operator<(const Work &other) const {
    return std::tie(kind, chunk, micro) <
           std::tie(other.kind, other.chunk, other.micro);
  }
};
llvm::hash_code hash_value(const Work &work);

/// A set of work: a section has one bit per micro-batch, so that orders of many
/// micro-batches are checked fast.
class WorkSet {
public:
  /// Returns whether `work` was not in the set.
  bool insert(const Work &work);
  bool contains(const Work &work) const;

private:
  std::map<std::pair<SectionKind, int64_t>, llvm::BitVector> sections;
};

/// `F3`, `B0.1`, `U`: kind, micro-batch, chunk other than 0.
std::string formatWork(const Work &work);

/// The inverse of `formatWork`.
std::optional<Work> parseWork(llvm::StringRef text);

/// The iterations `[from, to)` of one operand of a fused reduction.
struct BucketRange {
  int64_t operand;
  int64_t from;
  int64_t to;

  bool operator==(const BucketRange &other) const {
    return std::tie(operand, from, to) ==
           std::tie(other.operand, other.from, other.to);
  }
};
llvm::hash_code hash_value(const BucketRange &range);

/// What is reduced together, in the order of launch.
struct Buckets {
  using Bucket = llvm::SmallVector<BucketRange, 4>;
  llvm::SmallVector<Bucket, 0> list;

  bool operator==(const Buckets &other) const { return list == other.list; }
};
llvm::hash_code hash_value(const Buckets &buckets);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_SCHEDULE_H
