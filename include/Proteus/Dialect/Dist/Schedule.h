//===- Schedule.h - work items and gradient buckets as data -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contents of the attributes #dist.order and #dist.buckets, without IR: the
// work items of a schedule and the buckets of a fused collective.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_SCHEDULE_H
#define PROTEUS_DIALECT_DIST_SCHEDULE_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include "llvm/ADT/BitVector.h"

#include <map>
#include <tuple>

namespace proteus::dist {

/// One work item of a schedule: the execution of one section of a program. If
/// `micro` is set, the section runs for this micro-batch, otherwise once per
/// step.
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

/// A set of work items. It has one bit per section and micro-batch, so that
/// verifiers are fast for orders with many micro-batches.
class WorkSet {
public:
  /// Adds `work` and returns true if it was not in the set.
  bool insert(const Work &work);
  bool contains(const Work &work) const;

private:
  std::map<std::pair<SectionKind, int64_t>, llvm::BitVector> sections;
};

/// Formats a work item: the letter of its kind, then its micro-batch, if it has
/// one, and its chunk, unless this is 0. Examples are `F3`, `B0.1` and `U`.
std::string formatWork(const Work &work);

/// Parses text of the form that `formatWork` writes. Returns nullopt if `text`
/// is malformed.
std::optional<Work> parseWork(llvm::StringRef text);

/// The iterations `[from, to)` of one operand of a fused collective. An operand
/// that is not stacked has the range `[0, 1)`.
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

/// The buckets of a fused collective, in the order in which their collectives
/// start.
struct Buckets {
  using Bucket = llvm::SmallVector<BucketRange, 4>;
  llvm::SmallVector<Bucket, 0> list;

  bool operator==(const Buckets &other) const { return list == other.list; }
};
llvm::hash_code hash_value(const Buckets &buckets);

} // namespace proteus::dist

#endif // PROTEUS_DIALECT_DIST_SCHEDULE_H
