//===- SpaceText.h - iteration spaces as text -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_NN_SPACETEXT_H
#define PROTEUS_UNITTESTS_NN_SPACETEXT_H

#include "Proteus/Dialect/NN/IterationSpace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace proteus::nn {

/// Returns the iterators of a space, such as "batch:8 in:128:sum key:64:lse".
/// Parallel iterators have no kind.
inline std::string iteratorsOf(const IterationSpace &space) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      space.iterators, os,
      [&](const Iterator &iterator) {
        os << iterator.name << ":" << iterator.size;
        switch (iterator.kind) {
        case IteratorKind::Parallel:
          break;
        case IteratorKind::Sum:
          os << ":sum";
          break;
        case IteratorKind::Max:
          os << ":max";
          break;
        case IteratorKind::LogSumExp:
          os << ":lse";
          break;
        case IteratorKind::Moments:
          os << ":moments";
          break;
        case IteratorKind::Opaque:
          os << ":opaque";
          break;
        }
      },
      " ");
  return text;
}

/// Returns the iterators that index each dimension, such as "(batch, in) (out,
/// in) -> (batch, out)". A fused dimension lists its iterators; `_` has none.
inline std::string indexingOf(const IterationSpace &space) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](const TensorIterators &dims) {
    os << "(";
    llvm::interleaveComma(dims, os, [&](const DimIterators &list) {
      if (list.empty())
        os << "_";
      llvm::interleave(
          list, os, [&](unsigned i) { os << space.iterators[i].name; }, " ");
    });
    os << ")";
  };
  for (const TensorIterators &dims : space.operands) {
    print(dims);
    os << " ";
  }
  os << "->";
  for (const TensorIterators &dims : space.results) {
    os << " ";
    print(dims);
  }
  return text;
}

} // namespace proteus::nn

#endif // PROTEUS_UNITTESTS_NN_SPACETEXT_H
