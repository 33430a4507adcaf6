//===- TermScale.cpp - scale of tensors with terms that cancel --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TermScale.h"

#include <cmath>

using namespace proteus;
using interp::Tensor;

/// Terms that cancel may leave a tensor that is much smaller than its terms
/// (see `scaleOfTerms`). If it is smaller than this fraction of its terms, its
/// differences are relative to this fraction of the terms instead of to its own
/// size. The default tolerance of 1e-9 then permits differences of 1e-13 of the
/// terms, which is about a thousand rounding errors (2^-53 each).
static constexpr double keptOfTerms = 1e-4;

llvm::StringRef proteus::kindOf(llvm::StringRef path) {
  return path.rsplit('.').second;
}

double proteus::scaleOfTerms(const Tensor &expected, const Tensor &disturbed,
                             double largestOfKind) {
  double change = 0;
  for (int64_t i = 0; i < expected.size(); ++i)
    change = std::max(change, std::fabs(disturbed[i] - expected[i]));
  return std::min(keptOfTerms * change / noiseSize, largestOfKind);
}
