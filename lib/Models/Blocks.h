//===- Blocks.h - what several families are made of -------------*- C++ -*-===//
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

/// An error unless all of `given` are: a size of 0 is none.
llvm::Error
requireDimensions(llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> given);

/// An error unless `heads` divides `hidden`.
llvm::Error checkHeadsDivide(int64_t heads, int64_t hidden);

/// Adds learned positions `position.weight` to `x` [batch, seq, hidden]. A
/// table that is as long as the sequence is added as it is; of a longer one the
/// rows in use are looked up.
mlir::Value addLearnedPositions(GraphBuilder &graph, mlir::Value x,
                                int64_t maxPositions);

/// Cuts `x` [batch, seq, width] along the sequence into runs of `lengths`.
GraphBuilder::Values splitSequence(GraphBuilder &graph, llvm::StringRef path,
                                   mlir::Value x,
                                   llvm::ArrayRef<int64_t> lengths);

/// Joins runs of sequences; the inverse of `splitSequence`.
mlir::Value joinSequences(GraphBuilder &graph, llvm::StringRef path,
                          mlir::ValueRange runs);

/// Linear, activation (`relu` or `gelu`), linear: `<path>.fc1`, `<path>.fc2`.
mlir::Value plainFeedForward(GraphBuilder &graph, llvm::StringRef path,
                             mlir::Value x, int64_t width,
                             llvm::StringRef activation, bool bias);

/// Dropout with a probability, or `x` if that is 0.
mlir::Value dropoutIfAny(GraphBuilder &graph, llvm::StringRef path,
                         mlir::Value x, double probability);

/// Attention as products of whole squares and a softmax between, of as many key
/// heads as heads.
mlir::Value unfusedAttention(GraphBuilder &graph, mlir::Value query,
                             mlir::Value key, mlir::Value value, int64_t heads,
                             double probability);

} // namespace proteus::models

#endif // PROTEUS_LIB_MODELS_BLOCKS_H
