//===- ImageOps.cpp - convolution and pooling -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

using namespace mlir;
using namespace proteus::nn;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Verifies the attributes of a window, and that `output` has the size that
/// follows from the window and the size of `image`. In a forward operation,
/// `output` is the result. In a backward operation, `output` is the gradient of
/// that result.
static LogicalResult verifyWindow(Operation *op, Value image, Value output,
                                  ArrayRef<int64_t> kernel,
                                  ArrayRef<int64_t> stride,
                                  ArrayRef<int64_t> padding) {
  if (tensorType(image).getRank() != 4 || tensorType(output).getRank() != 4)
    return op->emitOpError("image and output must have rank 4, got ")
           << tensorType(image).getRank() << " and "
           << tensorType(output).getRank();
  std::pair<StringRef, ArrayRef<int64_t>> attributes[] = {
      {"kernel", kernel}, {"stride", stride}, {"padding", padding}};
  for (auto [name, values] : attributes) {
    if (values.size() != 2)
      return op->emitOpError()
             << "'" << name << "' must have 2 entries, got " << values.size();
    for (int64_t value : values)
      if (value < (name == "padding" ? 0 : 1))
        return op->emitOpError()
               << "'" << name << "' must be "
               << (name == "padding" ? "at least 0" : "at least 1") << ", got "
               << value;
      else if (value > maxElements)
        return op->emitOpError()
               << "'" << name << "' must be at most 2^56, got " << value;
  }
  for (unsigned i = 0; i < 2; ++i) {
    int64_t size = tensorType(image).getDimSize(2 + i);
    int64_t span = size + 2 * padding[i] - kernel[i];
    if (span < 0)
      return op->emitOpError() << "the kernel of size " << kernel[i]
                               << " is larger than the padded image of size "
                               << size + 2 * padding[i];
    int64_t expected = span / stride[i] + 1;
    if (tensorType(output).getDimSize(2 + i) != expected)
      return op->emitOpError()
             << "output dimension " << 2 + i << " has size "
             << tensorType(output).getDimSize(2 + i) << ", expected "
             << expected << " = (" << size << " + 2 * " << padding[i] << " - "
             << kernel[i] << ") / " << stride[i] << " + 1";
  }
  return success();
}

template <typename OpTy>
static LogicalResult verifyConvolution(OpTy op, Value image, Value output,
                                       Value weight) {
  auto type = tensorType(weight);
  if (type.getRank() != 4)
    return op.emitOpError("weight must have rank 4, got ") << type.getRank();
  ArrayRef<int64_t> dilation = op.getDilation();
  if (dilation.size() != 2 || dilation[0] < 1 || dilation[1] < 1)
    return op.emitOpError("'dilation' must have 2 entries of at least 1");
  int64_t reach[2];
  for (unsigned i = 0; i < 2; ++i) {
    int64_t steps = type.getDimSize(2 + i) - 1;
    if (steps > 0 && dilation[i] > maxElements / steps)
      return op.emitOpError("'dilation' ")
             << dilation[i] << " gives the kernel more than 2^56 positions";
    reach[i] = dilation[i] * steps + 1;
  }
  if (failed(verifyWindow(op, image, output, reach, op.getStride(),
                          op.getPadding())))
    return failure();
  int64_t groups = op.getGroups();
  for (Value value : {image, output})
    if (groups < 1 || sizeOf(value, 1) % groups != 0)
      return op.emitOpError("'groups' must divide the channels of image and "
                            "output, got ")
             << groups << " and " << sizeOf(value, 1);
  return success();
}

LogicalResult Conv2DOp::verify() {
  return verifyConvolution(*this, getInput(), getResult(), getWeight());
}
LogicalResult Conv2DDgradOp::verify() {
  return verifyConvolution(*this, getResult(), getGradient(), getWeight());
}
LogicalResult Conv2DWgradOp::verify() {
  return verifyConvolution(*this, getInput(), getGradient(), getResult());
}

LogicalResult Pool2DOp::verify() {
  return verifyWindow(*this, getInput(), getResult(), getKernel(), getStride(),
                      getPadding());
}
LogicalResult Pool2DGradOp::verify() {
  return verifyWindow(*this, getInput(), getGradient(), getKernel(),
                      getStride(), getPadding());
}

//===----------------------------------------------------------------------===//
// Iteration spaces
//===----------------------------------------------------------------------===//

namespace {
/// The iteration space that nn.conv2d and its gradients share. The image is
/// read through a window, so no iterator indexes the positions in the image.
struct ConvSpace {
  IterationSpace space;
  unsigned batch, out, in, height, width, kernelHeight, kernelWidth;
  std::optional<unsigned> group; ///< set if the channels form several groups

  ConvSpace(Value image, Value output, Value weight, int64_t groups) {
    auto perGroup = [&](Value value) {
      return groups > 0 ? sizeOf(value, 1) / groups : sizeOf(value, 1);
    };
    batch = space.add("batch", sizeOf(output, 0));
    if (groups > 1)
      group = space.add("group", groups);
    out = space.add("out", perGroup(output));
    in = space.add("in", perGroup(image));
    height = space.add("height", sizeOf(output, 2), IteratorKind::Opaque);
    width = space.add("width", sizeOf(output, 3), IteratorKind::Opaque);
    kernelHeight =
        space.add("kernel_height", sizeOf(weight, 2), IteratorKind::Opaque);
    kernelWidth =
        space.add("kernel_width", sizeOf(weight, 3), IteratorKind::Opaque);
  }
  void sumOver(unsigned iterator) {
    space.iterators[iterator].kind = IteratorKind::Sum;
  }
  DimIterators channels(unsigned ofGroup) const {
    return group ? DimIterators{*group, ofGroup} : DimIterators{ofGroup};
  }
  TensorIterators image() const { return {{batch}, channels(in), {}, {}}; }
  TensorIterators output() const {
    return {{batch}, channels(out), {height}, {width}};
  }
  TensorIterators weight() const {
    return {channels(out), {in}, {kernelHeight}, {kernelWidth}};
  }
};
} // namespace

IterationSpace Conv2DOp::getIterationSpace() {
  ConvSpace conv(getInput(), getResult(), getWeight(), getGroups());
  conv.sumOver(conv.in);
  conv.space.operands = {conv.image(), conv.weight()};
  if (getBias())
    conv.space.operands.push_back({conv.channels(conv.out)});
  conv.space.results = {conv.output()};
  return conv.space;
}
double Conv2DOp::getFlopsPerPoint() { return 2; }
KernelClass Conv2DOp::getKernelClass() { return KernelClass::Matrix; }

IterationSpace Conv2DDgradOp::getIterationSpace() {
  ConvSpace conv(getResult(), getGradient(), getWeight(), getGroups());
  conv.sumOver(conv.out);
  conv.space.operands = {conv.output(), conv.weight()};
  conv.space.results = {conv.image()};
  return conv.space;
}
double Conv2DDgradOp::getFlopsPerPoint() { return 2; }
KernelClass Conv2DDgradOp::getKernelClass() { return KernelClass::Matrix; }

IterationSpace Conv2DWgradOp::getIterationSpace() {
  ConvSpace conv(getInput(), getGradient(), getResult(), getGroups());
  conv.sumOver(conv.batch);
  conv.space.operands = {conv.output(), conv.image()};
  conv.space.results = {conv.weight()};
  return conv.space;
}
double Conv2DWgradOp::getFlopsPerPoint() { return 2; }
KernelClass Conv2DWgradOp::getKernelClass() { return KernelClass::Matrix; }

/// Returns the space of a pooling or of its gradient. Batch and channel are
/// parallel, and the positions in the output are opaque.
static IterationSpace poolSpace(Value output, bool gradient) {
  IterationSpace space;
  unsigned batch = space.add("batch", sizeOf(output, 0));
  unsigned channel = space.add("channel", sizeOf(output, 1));
  unsigned height =
      space.add("height", sizeOf(output, 2), IteratorKind::Opaque);
  unsigned width = space.add("width", sizeOf(output, 3), IteratorKind::Opaque);
  TensorIterators image = {{batch}, {channel}, {}, {}};
  TensorIterators pooled = indexedBy({batch, channel, height, width});
  if (gradient) {
    space.operands = {pooled, image};
    space.results = {image};
  } else {
    space.operands = {image};
    space.results = {pooled};
  }
  return space;
}

IterationSpace Pool2DOp::getIterationSpace() {
  return poolSpace(getResult(), /*gradient=*/false);
}
IterationSpace Pool2DGradOp::getIterationSpace() {
  return poolSpace(getGradient(), /*gradient=*/true);
}
// The gradient of a maximum depends on the elements of the image (operand 1).
// The gradient of an average does not.
bool Pool2DGradOp::readsWholeOperand(unsigned operand) {
  return operand != 1 || getKind() == PoolKind::Max;
}
double Pool2DGradOp::getReadsPerWrite() { return 0; }

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult Conv2DOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (!gradient)
    return success();
  OpBuilder &builder = scope.builder();
  if (scope.wants(getInput()))
    scope.add(getInput(), Conv2DDgradOp::create(
                              builder, getLoc(), scope.gradientType(getInput()),
                              getPathAttr(), gradient, scope.saved(getWeight()),
                              getStrideAttr(), getPaddingAttr(),
                              getDilationAttr(), getGroupsAttr()));
  if (scope.wants(getWeight()))
    scope.add(getWeight(),
              Conv2DWgradOp::create(
                  builder, getLoc(), scope.gradientType(getWeight()),
                  getPathAttr(), gradient, scope.saved(getInput()),
                  getStrideAttr(), getPaddingAttr(), getDilationAttr(),
                  getGroupsAttr()));
  if (getBias() && scope.wants(getBias()))
    scope.add(getBias(), ReduceSumOp::create(
                             builder, getLoc(), scope.gradientType(getBias()),
                             getPathAttr(), gradient, ArrayRef<int64_t>{1}));
  return success();
}

LogicalResult Pool2DOp::buildGradients(GradientScope &scope) {
  Value gradient = scope.gradientOf(getResult());
  if (gradient && scope.wants(getInput()))
    scope.add(getInput(),
              Pool2DGradOp::create(
                  scope.builder(), getLoc(), scope.gradientType(getInput()),
                  getPathAttr(), gradient, scope.saved(getInput()),
                  getKindAttr(), getKernelAttr(), getStrideAttr(),
                  getPaddingAttr()));
  return success();
}
