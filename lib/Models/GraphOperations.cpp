//===- GraphOperations.cpp - operations of a graph builder ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Models/GraphBuilder.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

/// Returns the shape of `value` with `size` as its last dimension.
static SmallVector<int64_t> withLast(Value value, int64_t size) {
  SmallVector<int64_t> shape(GraphBuilder::shapeOf(value));
  shape.back() = size;
  return shape;
}

//===----------------------------------------------------------------------===//
// Operations with parameters
//===----------------------------------------------------------------------===//

Value GraphBuilder::linearWith(StringRef path, Value x, Value weight,
                               Value bias) {
  return create<nn::LinearOp>(tensor(withLast(x, shapeOf(weight)[0])),
                              pathOf(path), x, weight, bias);
}

Value GraphBuilder::linear(StringRef path, Value x, int64_t outFeatures,
                           bool bias) {
  Value weight =
      parameter((path + ".weight").str(), {outFeatures, shapeOf(x).back()});
  Value shift;
  if (bias)
    shift = parameter((path + ".bias").str(), {outFeatures});
  return inMatrixType(linearWith(path, x, weight, shift));
}

Value GraphBuilder::inMatrixType(Value value) {
  if (matrixType && frames.size() > 1)
    value.getDefiningOp()->setDiscardableAttr(ProteusDialect::computeAttrName,
                                              TypeAttr::get(matrixType));
  return value;
}

Value GraphBuilder::embedding(StringRef path, Value indices, int64_t rows,
                              int64_t hidden) {
  Value table = parameter((path + ".weight").str(), {rows, hidden});
  SmallVector<int64_t> shape(shapeOf(indices));
  shape.push_back(hidden);
  return create<nn::EmbeddingOp>(tensor(shape), pathOf(path), indices, table);
}

Value GraphBuilder::layerNorm(StringRef path, Value x) {
  int64_t hidden = shapeOf(x).back();
  Value scale = parameter((path + ".scale").str(), {hidden});
  Value shift = parameter((path + ".shift").str(), {hidden});
  return create<nn::LayerNormOp>(x.getType(), pathOf(path), x, scale, shift);
}

Value GraphBuilder::rmsNorm(StringRef path, Value x) {
  Value scale = parameter((path + ".scale").str(), {shapeOf(x).back()});
  return create<nn::RMSNormOp>(x.getType(), pathOf(path), x, scale);
}

Value GraphBuilder::batchNorm(StringRef path, Value x, int64_t groups) {
  int64_t channels = shapeOf(x)[1];
  Value scale = parameter((path + ".scale").str(), {channels});
  Value shift = parameter((path + ".shift").str(), {channels});
  // Mean and variance are f32, independently of the type of the model.
  auto statistics =
      RankedTensorType::get({groups, channels}, builder.getF32Type());
  return create<nn::BatchNormOp>(TypeRange{x.getType(), statistics, statistics},
                                 pathOf(path), x, scale, shift, groups)
      .getResult();
}

/// Returns the number of positions of a window of size `kernel` that slides
/// over `size` pixels in one dimension.
static int64_t windows(int64_t size, int64_t kernel, int64_t stride,
                       int64_t padding) {
  return (size + 2 * padding - kernel) / stride + 1;
}

Value GraphBuilder::conv2d(StringRef path, Value x, int64_t outChannels,
                           std::pair<int64_t, int64_t> kernel,
                           std::pair<int64_t, int64_t> stride,
                           std::pair<int64_t, int64_t> padding, bool bias,
                           int64_t groups) {
  Shape image = shapeOf(x);
  Value weight =
      parameter((path + ".weight").str(),
                {outChannels, image[1] / groups, kernel.first, kernel.second});
  Value shift;
  if (bias)
    shift = parameter((path + ".bias").str(), {outChannels});
  RankedTensorType result =
      tensor({image[0], outChannels,
              windows(image[2], kernel.first, stride.first, padding.first),
              windows(image[3], kernel.second, stride.second, padding.second)});
  return create<nn::Conv2DOp>(result, pathOf(path), x, weight, shift,
                              ArrayRef<int64_t>{stride.first, stride.second},
                              ArrayRef<int64_t>{padding.first, padding.second},
                              /*dilation=*/ArrayRef<int64_t>{1, 1}, groups);
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

Value GraphBuilder::attention(StringRef path, Value query, Value key,
                              Value value, int64_t heads, int64_t keyHeads,
                              bool causal) {
  Shape queries = shapeOf(query);
  auto rows = RankedTensorType::get({queries[0], heads, queries[1]},
                                    builder.getF32Type());
  IntegerAttr groups;
  if (keyHeads != heads)
    groups = builder.getI64IntegerAttr(keyHeads);
  int64_t width = shapeOf(value).back() / keyHeads * heads;
  return create<nn::AttentionOp>(
             TypeRange{tensor(withLast(query, width)), rows},
             builder.getStringAttr(pathOf(path)), query, key, value,
             builder.getI64IntegerAttr(heads), groups,
             causal ? builder.getUnitAttr() : UnitAttr())
      .getResult();
}

Value GraphBuilder::rope(StringRef path, Value x, int64_t heads) {
  return create<nn::RopeOp>(x.getType(), builder.getStringAttr(pathOf(path)), x,
                            builder.getI64IntegerAttr(heads),
                            builder.getF64FloatAttr(10000.0),
                            /*inverse=*/UnitAttr());
}

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

Value GraphBuilder::relu(StringRef path, Value x) {
  return create<nn::ReluOp>(x.getType(), pathOf(path), x);
}
Value GraphBuilder::silu(StringRef path, Value x) {
  return create<nn::SiluOp>(x.getType(), pathOf(path), x);
}
Value GraphBuilder::gelu(StringRef path, Value x) {
  return create<nn::GeluOp>(x.getType(), pathOf(path), x);
}
Value GraphBuilder::tanh(StringRef path, Value x) {
  return create<nn::TanhOp>(x.getType(), pathOf(path), x);
}
Value GraphBuilder::sigmoid(StringRef path, Value x) {
  return create<nn::SigmoidOp>(x.getType(), pathOf(path), x);
}
Value GraphBuilder::swiglu(StringRef path, Value gate, Value up) {
  return create<nn::SwigluOp>(gate.getType(), pathOf(path), gate, up);
}
Value GraphBuilder::add(StringRef path, Value lhs, Value rhs) {
  return create<nn::AddOp>(lhs.getType(), pathOf(path), lhs, rhs);
}
Value GraphBuilder::mul(StringRef path, Value lhs, Value rhs) {
  return create<nn::MulOp>(lhs.getType(), pathOf(path), lhs, rhs);
}
Value GraphBuilder::scale(StringRef path, Value x, double factor) {
  return create<nn::ScaleOp>(x.getType(), pathOf(path), x,
                             llvm::APFloat(factor));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value GraphBuilder::pool2d(StringRef path, nn::PoolKind kind, Value x,
                           std::pair<int64_t, int64_t> kernel,
                           std::pair<int64_t, int64_t> stride,
                           std::pair<int64_t, int64_t> padding) {
  Shape image = shapeOf(x);
  RankedTensorType result =
      tensor({image[0], image[1],
              windows(image[2], kernel.first, stride.first, padding.first),
              windows(image[3], kernel.second, stride.second, padding.second)});
  return create<nn::Pool2DOp>(result, pathOf(path), x, kind,
                              ArrayRef<int64_t>{kernel.first, kernel.second},
                              ArrayRef<int64_t>{stride.first, stride.second},
                              ArrayRef<int64_t>{padding.first, padding.second});
}

Value GraphBuilder::reshape(StringRef path, Value x, Shape shape) {
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  return create<nn::ReshapeOp>(RankedTensorType::get(shape, element),
                               pathOf(path), x);
}

Value GraphBuilder::transpose(StringRef path, Value x, Shape permutation) {
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(shapeOf(x)[dim]);
  return create<nn::TransposeOp>(tensor(shape), pathOf(path), x, permutation);
}

GraphBuilder::Values GraphBuilder::split(StringRef path, Value x, Shape sizes,
                                         int64_t groups) {
  SmallVector<Type> types;
  for (int64_t size : sizes)
    types.push_back(tensor(withLast(x, size)));
  return Values(
      create<nn::SplitOp>(types, pathOf(path), x, groups)->getResults());
}

Value GraphBuilder::concat(StringRef path, ValueRange pieces, int64_t groups) {
  int64_t size = 0;
  for (Value piece : pieces)
    size += shapeOf(piece).back();
  return create<nn::ConcatOp>(tensor(withLast(pieces.front(), size)),
                              pathOf(path), pieces, groups);
}

Value GraphBuilder::broadcast(StringRef path, Value x, Shape shape,
                              Shape keep) {
  return create<nn::BroadcastOp>(tensor(shape), pathOf(path), x, keep);
}

Value GraphBuilder::matmul(StringRef path, Value lhs, Value rhs,
                           bool transposeRhs) {
  Shape right = shapeOf(rhs);
  int64_t columns = right[right.size() - (transposeRhs ? 2 : 1)];
  return create<nn::MatmulOp>(tensor(withLast(lhs, columns)), pathOf(path), lhs,
                              rhs, /*transpose_a=*/false, transposeRhs);
}

Value GraphBuilder::softmax(StringRef path, Value x) {
  return create<nn::SoftmaxOp>(x.getType(), pathOf(path), x);
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

Value GraphBuilder::toF32(StringRef path, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getElementType().isF32())
    return x;
  return create<nn::CastOp>(type.clone(builder.getF32Type()), pathOf(path), x);
}

Value GraphBuilder::crossEntropy(StringRef path, Value logits, Value labels) {
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto rows = RankedTensorType::get(shapeOf(labels), builder.getF32Type());
  return create<nn::CrossEntropyOp>(TypeRange{scalar, rows}, pathOf(path),
                                    logits, labels)
      .getLoss();
}

Value GraphBuilder::mseLoss(StringRef path, Value prediction, Value target) {
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  return create<nn::MSELossOp>(scalar, pathOf(path), prediction, target);
}
