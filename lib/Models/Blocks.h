//===- Blocks.h - blocks of transformers ------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_MODELS_BLOCKS_H
#define PROTEUS_LIB_MODELS_BLOCKS_H

#include "Proteus/Models/GraphBuilder.h"

#include "llvm/Support/Error.h"

namespace proteus::models {

/// Returns an error if a dimension in `given` is 0, that is, not set.
llvm::Error
requireDimensions(llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> given);

/// Returns an error if `heads` does not divide `hidden`.
llvm::Error checkHeadsDivide(int64_t heads, int64_t hidden);

/// Adds learned position embeddings to `x` `[batch, seq, hidden]`. The
/// embeddings are the rows of the table `position.weight`. If the table has
/// `seq` rows, the model adds the whole table. Otherwise the model looks up one
/// row per token.
mlir::Value addLearnedPositions(GraphBuilder &graph, mlir::Value x,
                                int64_t maxPositions);

/// Splits `x` `[batch, seq, width]` along `seq` into segments. Segment i has
/// `lengths[i]` tokens.
GraphBuilder::Values splitSequence(GraphBuilder &graph, llvm::StringRef path,
                                   mlir::Value x,
                                   llvm::ArrayRef<int64_t> lengths);

/// Concatenates segments of tokens along `seq`. This is the inverse of
/// `splitSequence`.
mlir::Value joinSequences(GraphBuilder &graph, llvm::StringRef path,
                          mlir::ValueRange runs);

/// Adds a feed-forward block: the linear operation `<path>.fc1`, an activation
/// function (`relu` or `gelu`) and the linear operation `<path>.fc2`.
mlir::Value plainFeedForward(GraphBuilder &graph, llvm::StringRef path,
                             mlir::Value x, int64_t width,
                             llvm::StringRef activation, bool bias);

/// Adds a dropout, or returns `x` if `probability` is 0.
mlir::Value dropoutIfAny(GraphBuilder &graph, llvm::StringRef path,
                         mlir::Value x, double probability);

/// Adds attention as separate kernels: a product that computes the whole score
/// matrix, a softmax, and a product with the values. `probability` is the
/// probability of dropout after the softmax. `query`, `key` and `value` must
/// have the same number of heads.
mlir::Value unfusedAttention(GraphBuilder &graph, mlir::Value query,
                             mlir::Value key, mlir::Value value, int64_t heads,
                             double probability);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_BLOCKS_H
