//===- Tensor.cpp - small dense tensors of numbers --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Interp/Tensor.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <cmath>
#include <limits>

using namespace proteus::interp;
using llvm::ArrayRef;

int64_t proteus::interp::numElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t proteus::interp::linearise(ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> index) {
  assert(shape.size() == index.size() && "index of another rank");
  int64_t position = 0;
  for (auto [size, i] : llvm::zip_equal(shape, index)) {
    assert(i >= 0 && i < size && "index outside the tensor");
    position = position * size + i;
  }
  return position;
}

Shape proteus::interp::delinearise(ArrayRef<int64_t> shape, int64_t position) {
  Shape index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = position % shape[dim];
    position /= shape[dim];
  }
  return index;
}

void proteus::interp::forEachIndex(
    ArrayRef<int64_t> shape,
    llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  Shape index(shape.size(), 0);
  for (int64_t left = numElements(shape); left > 0; --left) {
    visit(index);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}

std::string proteus::interp::formatIndex(ArrayRef<int64_t> index) {
  std::string text = "[";
  for (auto [i, value] : llvm::enumerate(index))
    text += (i ? ", " : "") + std::to_string(value);
  return text + "]";
}

template <typename T>
TensorOf<T>::TensorOf(ArrayRef<int64_t> shape, std::vector<T> values)
    : shape(shape), values(std::move(values)) {
  assert(static_cast<int64_t>(this->values.size()) == numElements(shape) &&
         "as many values as elements");
}

template <typename T>
TensorOf<T> TensorOf<T>::slice(ArrayRef<int64_t> offset,
                               ArrayRef<int64_t> blockShape) const {
  TensorOf block(blockShape);
  int64_t position = 0;
  Shape index(shape.size());
  forEachIndex(blockShape, [&](ArrayRef<int64_t> local) {
    for (size_t dim = 0; dim < local.size(); ++dim)
      index[dim] = offset[dim] + local[dim];
    block[position++] = at(index);
  });
  return block;
}

template <typename T>
TensorOf<T> TensorOf<T>::slice(unsigned dim, int64_t first,
                               int64_t count) const {
  Shape offset(shape.size(), 0), blockShape(shape);
  offset[dim] = first;
  blockShape[dim] = count;
  return slice(offset, blockShape);
}

template <typename T>
void TensorOf<T>::insert(const TensorOf &block, ArrayRef<int64_t> offset) {
  int64_t position = 0;
  Shape index(shape.size());
  forEachIndex(block.getShape(), [&](ArrayRef<int64_t> local) {
    for (size_t dim = 0; dim < local.size(); ++dim)
      index[dim] = offset[dim] + local[dim];
    at(index) = block[position++];
  });
}

template <typename T> TensorOf<T> TensorOf<T>::select(int64_t i) const {
  assert(i >= 0 && i < shape.front() && "no such slice");
  ArrayRef<int64_t> inner = getShape().drop_front();
  int64_t count = numElements(inner);
  return TensorOf(inner, std::vector<T>(values.begin() + i * count,
                                        values.begin() + (i + 1) * count));
}

template <typename T>
TensorOf<T> TensorOf<T>::reshaped(ArrayRef<int64_t> newShape) const {
  return TensorOf(newShape, values);
}

template <typename T> double TensorOf<T>::maxAbs() const {
  double most = 0;
  for (const T &element : values) {
    double value = valueOf(element);
    if (std::isnan(value))
      return value;
    most = std::max(most, std::fabs(value));
  }
  return most;
}

template <typename T>
TensorOf<T> TensorOf<T>::stack(ArrayRef<TensorOf> slices) {
  assert(!slices.empty() && "a stack has slices");
  Shape shape = {static_cast<int64_t>(slices.size())};
  shape.append(slices.front().shape.begin(), slices.front().shape.end());
  std::vector<T> values;
  for (const TensorOf &slice : slices) {
    assert(slice.shape == slices.front().shape && "slices of one shape");
    values.insert(values.end(), slice.values.begin(), slice.values.end());
  }
  return TensorOf(shape, std::move(values));
}

template <typename T>
TensorOf<T> TensorOf<T>::concat(ArrayRef<const TensorOf *> pieces,
                                unsigned dim) {
  Shape shape(pieces.front()->getShape());
  shape[dim] = 0;
  for (const TensorOf *piece : pieces)
    shape[dim] += piece->getDim(dim);
  TensorOf whole(shape);
  Shape offset(shape.size(), 0);
  for (const TensorOf *piece : pieces) {
    whole.insert(*piece, offset);
    offset[dim] += piece->getDim(dim);
  }
  return whole;
}

template class proteus::interp::TensorOf<double>;
template class proteus::interp::TensorOf<Dual>;

double proteus::interp::largestValue(const Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (!std::isnan(tensor[i]))
      largest = std::max(largest, std::fabs(tensor[i]));
  return largest;
}

Difference proteus::interp::largestDifference(const Tensor &first,
                                              const Tensor &second,
                                              double smallestScale) {
  assert(first.getShape() == second.getShape() && "tensors of one shape");
  double scale =
      std::max({largestValue(first), largestValue(second), smallestScale});
  Difference largest;
  for (int64_t i = 0; i < first.size(); ++i) {
    double difference = std::fabs(first[i] - second[i]);
    double relative = difference == 0 ? 0 : difference / scale;
    if (std::isnan(relative))
      relative = std::numeric_limits<double>::infinity();
    if (i == 0 || relative > largest.relative)
      largest = {i, first[i], second[i], relative};
  }
  return largest;
}

/// Returns a hash of `bits`, the finalizer of SplitMix64: every bit of the
/// result depends on every bit of the argument.
static uint64_t mix(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

double proteus::interp::randomAt(uint64_t seed, uint64_t index) {
  return static_cast<double>(mix(mix(seed) ^ index) >> 11) * 0x1.0p-53;
}
