//===- Schedule.cpp - text and hashes of schedule data --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Schedule.h"

#include "llvm/ADT/StringExtras.h"

using namespace proteus::dist;
using llvm::StringRef;

llvm::hash_code proteus::dist::hash_value(const Work &work) {
  return llvm::hash_combine(static_cast<uint32_t>(work.kind), work.chunk,
                            work.micro.has_value(), work.micro.value_or(0));
}

/// Returns the index of the bit of `work` in the bit vector of its section: 0
/// if the section runs once per step, else the micro-batch plus one.
static unsigned placeOf(const Work &work) {
  return work.micro ? *work.micro + 1 : 0;
}

bool WorkSet::insert(const Work &work) {
  llvm::BitVector &bits = sections[{work.kind, work.chunk}];
  unsigned place = placeOf(work);
  if (place >= bits.size())
    bits.resize(std::max(place + 1, 2 * bits.size()));
  bool isNew = !bits.test(place);
  bits.set(place);
  return isNew;
}

bool WorkSet::contains(const Work &work) const {
  auto found = sections.find({work.kind, work.chunk});
  return found != sections.end() && placeOf(work) < found->second.size() &&
         found->second.test(placeOf(work));
}

llvm::hash_code proteus::dist::hash_value(const BucketRange &range) {
  return llvm::hash_combine(range.operand, range.from, range.to);
}

llvm::hash_code proteus::dist::hash_value(const Buckets &buckets) {
  llvm::hash_code hash(buckets.list.size());
  for (const Buckets::Bucket &bucket : buckets.list)
    hash = llvm::hash_combine(
        hash, llvm::hash_combine_range(bucket.begin(), bucket.end()));
  return hash;
}

/// Letters of the section kinds, in the order of the enumeration SectionKind.
static constexpr llvm::StringLiteral kindLetters = "FBIWU";

std::string proteus::dist::formatWork(const Work &work) {
  std::string text(1, kindLetters[static_cast<size_t>(work.kind)]);
  if (work.micro)
    text += std::to_string(*work.micro);
  if (work.chunk != 0)
    text += "." + std::to_string(work.chunk);
  return text;
}

std::optional<Work> proteus::dist::parseWork(StringRef text) {
  if (text.empty())
    return std::nullopt;
  size_t letter = kindLetters.find(text.front());
  if (letter == StringRef::npos)
    return std::nullopt;
  Work work{static_cast<SectionKind>(letter)};
  auto [micro, chunk] = text.drop_front().split('.');
  uint32_t number;
  if (!micro.empty()) {
    if (micro.getAsInteger(10, number))
      return std::nullopt;
    work.micro = number;
  }
  if (text.contains('.')) {
    if (chunk.getAsInteger(10, number))
      return std::nullopt;
    work.chunk = number;
  }
  return work;
}
