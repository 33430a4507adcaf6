//===- TensorTest.cpp - tensors of the interpreter --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Interp/Tensor.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace proteus::interp;

static Tensor counting(llvm::ArrayRef<int64_t> shape) {
  Tensor tensor(shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor[i] = i;
  return tensor;
}

TEST(Tensor, SlicesAndInsertsBlocks) {
  Tensor whole = counting({3, 4});
  Tensor block = whole.slice({1, 1}, {2, 3});
  EXPECT_EQ(block.at({0, 0}), 5);
  EXPECT_EQ(block.at({1, 2}), 11);
  Tensor copy({3, 4});
  copy.insert(block, {1, 1});
  EXPECT_EQ(copy.at({2, 3}), 11);
  EXPECT_EQ(copy.at({0, 0}), 0);
  EXPECT_EQ(copy.at({2, 0}), 0);
}

TEST(Tensor, SelectUndoesStack) {
  Tensor a = counting({2, 2}), b({2, 2}, 7);
  Tensor stack = Tensor::stack({a, b});
  EXPECT_EQ(stack.getShape(), llvm::ArrayRef<int64_t>({2, 2, 2}));
  EXPECT_EQ(largestDifference(stack.select(0), a).relative, 0);
  EXPECT_EQ(largestDifference(stack.select(1), b).relative, 0);
}

TEST(Tensor, ConcatenatesUnequalParts) {
  Tensor whole = counting({2, 5});
  Tensor left = whole.slice(1, 0, 3), right = whole.slice(1, 3, 2);
  EXPECT_EQ(
      largestDifference(Tensor::concat({&left, &right}, 1), whole).relative, 0);
}

TEST(Tensor, DifferencesAreRelativeToTheLargestValue) {
  Tensor a({2}, std::vector<double>{100, 1}),
      b({2}, std::vector<double>{100, 2});
  Difference difference = largestDifference(a, b);
  EXPECT_EQ(difference.position, 1);
  EXPECT_DOUBLE_EQ(difference.relative, 0.01);
  b[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(largestDifference(a, b).relative));
}

TEST(Tensor, EqualZerosDoNotDiffer) {
  EXPECT_EQ(largestDifference(Tensor({3}), Tensor({3})).relative, 0);
}

TEST(Tensor, RandomNumbersDependOnSeedAndIndexAlone) {
  EXPECT_EQ(randomAt(1, 2), randomAt(1, 2));
  EXPECT_NE(randomAt(1, 2), randomAt(2, 2));
  EXPECT_NE(randomAt(1, 2), randomAt(1, 3));
  double mean = 0;
  for (int i = 0; i < 10000; ++i)
    mean += randomAt(5, i) / 10000;
  EXPECT_NEAR(mean, 0.5, 0.02);
}
