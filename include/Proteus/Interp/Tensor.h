//===- Tensor.h - small dense tensors of doubles ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of the interpreter. Everything is computed in double precision,
// whatever the element type says, integers included: the interpreter compares
// programs, not number formats.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_TENSOR_H
#define PROTEUS_INTERP_TENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace proteus::interp {

using Shape = llvm::SmallVector<int64_t, 4>;

/// Number of elements of a tensor of `shape`.
int64_t numElements(llvm::ArrayRef<int64_t> shape);

/// Row-major position of `index` in a tensor of `shape`.
int64_t linearise(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> index);

/// The inverse of `linearise`.
Shape delinearise(llvm::ArrayRef<int64_t> shape, int64_t position);

/// Calls `visit` with every index of `shape`, the last dimension fastest.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// `[1, 2]`, for diagnostics.
std::string formatIndex(llvm::ArrayRef<int64_t> index);

/// A dense row-major tensor.
class Tensor {
public:
  /// A scalar zero.
  Tensor() : values(1, 0.0) {}
  explicit Tensor(llvm::ArrayRef<int64_t> shape, double value = 0.0)
      : shape(shape), values(numElements(shape), value) {}
  Tensor(llvm::ArrayRef<int64_t> shape, std::vector<double> values);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  /// Size of a dimension; negative ones count from the last.
  int64_t getDim(int64_t dim) const {
    return shape[dim < 0 ? dim + getRank() : dim];
  }
  int64_t size() const { return values.size(); }

  /// Element by row-major position.
  double &operator[](int64_t position) { return values[position]; }
  double operator[](int64_t position) const { return values[position]; }
  /// Element by index.
  double &at(llvm::ArrayRef<int64_t> index) {
    return values[linearise(shape, index)];
  }
  double at(llvm::ArrayRef<int64_t> index) const {
    return values[linearise(shape, index)];
  }

  /// The block of `blockShape` that starts at `offset`.
  Tensor slice(llvm::ArrayRef<int64_t> offset,
               llvm::ArrayRef<int64_t> blockShape) const;
  /// `count` elements of dimension `dim` from `first` on.
  Tensor slice(unsigned dim, int64_t first, int64_t count) const;
  /// Writes `block` at `offset`.
  void insert(const Tensor &block, llvm::ArrayRef<int64_t> offset);
  /// Element `i` of the leading dimension, which goes.
  Tensor select(int64_t i) const;
  /// The same elements under another shape.
  Tensor reshaped(llvm::ArrayRef<int64_t> newShape) const;
  /// Largest absolute value; NaN if there is one.
  double maxAbs() const;

  /// Tensors of one shape along a new leading dimension.
  static Tensor stack(llvm::ArrayRef<Tensor> slices);
  /// Tensors one after the other along dimension `dim`.
  static Tensor concat(llvm::ArrayRef<const Tensor *> pieces, unsigned dim);

private:
  Shape shape;
  std::vector<double> values;
};

/// Where two tensors of one shape differ most.
struct Difference {
  int64_t position = 0;
  double first = 0;
  double second = 0;
  /// Absolute difference over the largest absolute value of both tensors, or
  /// over the smallest scale if that is larger; infinite where one value is not
  /// a number.
  double relative = 0;
};

/// The largest difference of two tensors of one shape. It is relative to the
/// largest value of the tensors: small values are often differences of large
/// ones.
Difference largestDifference(const Tensor &first, const Tensor &second,
                             double smallestScale = 0);

/// The largest absolute value; 0 if there is none.
double largestValue(const Tensor &tensor);

/// The `index`-th number of a random sequence, in [0, 1): a function of its
/// arguments alone, so that parts of a tensor draw the numbers of the whole.
double randomAt(uint64_t seed, uint64_t index);

} // namespace proteus::interp

#endif // PROTEUS_INTERP_TENSOR_H
