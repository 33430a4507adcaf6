//===- ImageKernels.cpp - convolution and pooling ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelKinds.h"

#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;

namespace {
/// Window that slides over an image.
struct Window {
  int64_t height, width; ///< size of the image in pixels
  ArrayRef<int64_t> kernel, stride, padding, dilation;

  /// Places the window at the output pixel (y, x) and calls `visit` for each
  /// element of the window that lies inside the image. The arguments are the
  /// row-major positions of the element in the kernel and in the image.
  void forEach(int64_t y, int64_t x,
               function_ref<void(int64_t, int64_t)> visit) const {
    for (int64_t ky = 0; ky < kernel[0]; ++ky)
      for (int64_t kx = 0; kx < kernel[1]; ++kx) {
        int64_t iy = y * stride[0] + ky * dilation[0] - padding[0];
        int64_t ix = x * stride[1] + kx * dilation[1] - padding[1];
        if (iy >= 0 && iy < height && ix >= 0 && ix < width)
          visit(ky * kernel[1] + kx, iy * width + ix);
      }
  }
};

/// Multiply-adds of a convolution. `forEach` calls `visit` for each of them,
/// with row-major positions in the blocks of output, weight and image.
struct Products {
  ArrayRef<int64_t> output, weight, image; ///< shapes of the blocks
  ArrayRef<int64_t> stride, padding, dilation;

  void forEach(function_ref<void(int64_t, int64_t, int64_t)> visit) const {
    int64_t kernel[] = {weight[2], weight[3]};
    Window window = {image[2], image[3], kernel, stride, padding, dilation};
    int64_t pixels = window.height * window.width;
    // A block holds whole groups of channels. Dimension 1 of the weight is the
    // number of input channels per group.
    int64_t ins = weight[1];
    int64_t groups = image[1] / ins;
    int64_t outs = output[1] / groups;
    forEachIndex(output, [&](ArrayRef<int64_t> index) {
      int64_t position = linearise(output, index);
      int64_t firstIn = index[1] / outs * ins;
      for (int64_t in = 0; in < ins; ++in) {
        int64_t plane = (index[0] * image[1] + firstIn + in) * pixels;
        int64_t filter = (index[1] * ins + in) * kernel[0] * kernel[1];
        window.forEach(index[2], index[3], [&](int64_t k, int64_t pixel) {
          visit(position, filter + k, plane + pixel);
        });
      }
    });
  }
};
} // namespace

template <typename T>
static LogicalResult compute(nn::Conv2DOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  TensorOf<T> &y = out[0].data;
  const TensorOf<T> &x = *in[0], &w = *in[1];
  Products{y.getShape(),   w.getShape(),    x.getShape(),
           op.getStride(), op.getPadding(), op.getDilation()}
      .forEach([&](int64_t o, int64_t k, int64_t i) { y[o] += w[k] * x[i]; });
  // If the iterator `in` is split, the output is a sum over devices, so only
  // the devices with the first shard of `in` add the bias.
  if (!op.getBias() || !in[1].place.toLocal(1, 0))
    return success();
  int64_t pixels = y.getDim(2) * y.getDim(3);
  for (int64_t i = 0; i < y.size(); ++i)
    y[i] += (*in[2])[i / pixels % y.getDim(1)];
  return success();
}

static LogicalResult compute(nn::Conv2DDgradOp op, Operands in, Results out) {
  Tensor &dx = out[0].data;
  const Tensor &dy = *in[0], &w = *in[1];
  Products{dy.getShape(),  w.getShape(),    dx.getShape(),
           op.getStride(), op.getPadding(), op.getDilation()}
      .forEach([&](int64_t o, int64_t k, int64_t i) { dx[i] += w[k] * dy[o]; });
  return success();
}

static LogicalResult compute(nn::Conv2DWgradOp op, Operands in, Results out) {
  Tensor &dw = out[0].data;
  const Tensor &dy = *in[0], &x = *in[1];
  Products{dy.getShape(),  dw.getShape(),   x.getShape(),
           op.getStride(), op.getPadding(), op.getDilation()}
      .forEach([&](int64_t o, int64_t k, int64_t i) { dw[k] += dy[o] * x[i]; });
  return success();
}

/// Calls `visit` for every window of a pooling. The arguments are the row-major
/// position of the window's output, and the row-major positions of the elements
/// of the window in the block of the image.
template <typename T>
static void forEachPool(const TensorOf<T> &output, const TensorOf<T> &image,
                        ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride,
                        ArrayRef<int64_t> padding,
                        function_ref<void(int64_t, ArrayRef<int64_t>)> visit) {
  constexpr int64_t dense[] = {1, 1};
  Window window = {image.getDim(2), image.getDim(3), kernel,
                   stride,          padding,         dense};
  forEachIndex(output.getShape(), [&](ArrayRef<int64_t> index) {
    int64_t plane =
        (index[0] * image.getDim(1) + index[1]) * window.height * window.width;
    SmallVector<int64_t> pixels;
    window.forEach(index[2], index[3], [&](int64_t, int64_t pixel) {
      pixels.push_back(plane + pixel);
    });
    visit(linearise(output.getShape(), index), pixels);
  });
}

/// Returns the one of `pixels` at which `image` is largest, or the first one if
/// several elements are equal.
template <typename T>
static int64_t argMax(const TensorOf<T> &image, ArrayRef<int64_t> pixels) {
  return *llvm::max_element(
      pixels, [&](int64_t a, int64_t b) { return image[a] < image[b]; });
}

static LogicalResult verifyWindows(Operation *op, ArrayRef<int64_t> kernel,
                                   ArrayRef<int64_t> padding) {
  if (padding[0] < kernel[0] && padding[1] < kernel[1])
    return success();
  return op->emitOpError("can't be evaluated: a window may lie outside the "
                         "image");
}

template <typename T>
static LogicalResult compute(nn::Pool2DOp op, OperandsOf<T> in,
                             ResultsOf<T> out) {
  if (failed(verifyWindows(op, op.getKernel(), op.getPadding())))
    return failure();
  TensorOf<T> &y = out[0].data;
  const TensorOf<T> &x = *in[0];
  double area = op.getKernel()[0] * op.getKernel()[1];
  forEachPool(y, x, op.getKernel(), op.getStride(), op.getPadding(),
              [&](int64_t o, ArrayRef<int64_t> pixels) {
                if (op.getKind() == nn::PoolKind::Max) {
                  y[o] = x[argMax(x, pixels)];
                  return;
                }
                for (int64_t pixel : pixels)
                  y[o] += x[pixel] / area;
              });
  return success();
}

static LogicalResult compute(nn::Pool2DGradOp op, Operands in, Results out) {
  if (failed(verifyWindows(op, op.getKernel(), op.getPadding())))
    return failure();
  Tensor &dx = out[0].data;
  const Tensor &dy = *in[0], &x = *in[1];
  double area = op.getKernel()[0] * op.getKernel()[1];
  forEachPool(dy, x, op.getKernel(), op.getStride(), op.getPadding(),
              [&](int64_t o, ArrayRef<int64_t> pixels) {
                if (op.getKind() == nn::PoolKind::Max) {
                  dx[argMax(x, pixels)] += dy[o];
                  return;
                }
                for (int64_t pixel : pixels)
                  dx[pixel] += dy[o] / area;
              });
  return success();
}

template <typename T>
Evaluated proteus::interp::evaluateImage(Operation *op, OperandsOf<T> in,
                                         ResultsOf<T> out) {
  auto run = [&](auto kernel) { return compute(kernel, in, out); };
  llvm::TypeSwitch<Operation *, Evaluated> kernels(op);
  kernels.template Case<nn::Conv2DOp, nn::Pool2DOp>(run);
  if constexpr (std::is_same_v<T, double>)
    kernels
        .template Case<nn::Conv2DDgradOp, nn::Conv2DWgradOp, nn::Pool2DGradOp>(
            run);
  return kernels.Default([](Operation *) { return std::nullopt; });
}

PROTEUS_FOR_ALL_NUMBERS(evaluateImage);
