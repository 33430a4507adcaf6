//===- ReferenceRoofline.cpp - kernel costs of the reference --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Costs/ReferenceRoofline.h"
#include "Proteus/Support/JSON.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace llvm;
using namespace proteus::cost;
using proteus::json::Reader;

Expected<ReferenceRoofline::Constants>
ReferenceRoofline::parseConstants(StringRef text, StringRef source) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  Reader compute = document->root()["compute"];
  Constants constants;
  constants.flops = compute["gflops"].positive(1e12) * 1e9;
  constants.memoryBandwidth = compute["memory_gbps"].positive(1e9) * 1e9;
  constants.bytesPerElement = compute["bytes_per_element"].positive(8);
  constants.memoryBoundGemmExtra =
      compute["memory_bound_gemm_extra_ms"].nonNegative(1e6);
  constants.elementwiseFloor = compute["elementwise_floor_ms"].nonNegative(1e6);
  if (Error error = document->takeError())
    return std::move(error);
  return constants;
}

Expected<ReferenceRoofline> ReferenceRoofline::parse(StringRef text,
                                                     StringRef source) {
  Expected<Constants> constants = parseConstants(text, source);
  if (!constants)
    return constants.takeError();
  return ReferenceRoofline(*constants);
}

static double elementsOf(ArrayRef<int64_t> shape) {
  double elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

double ReferenceRoofline::matrix(double flops, double bytes) const {
  if (flops / bytes > constants.flops / constants.memoryBandwidth)
    return flops / constants.flops * 1e3;
  return bytes / constants.memoryBandwidth * 1e3 +
         constants.memoryBoundGemmExtra;
}

double ReferenceRoofline::gemm(double m, double n, double k) const {
  return matrix(2 * m * n * k,
                constants.bytesPerElement * (m * n + m * k + n * k));
}

double ReferenceRoofline::elementwise(double elements) const {
  return std::max(elements * constants.bytesPerElement /
                      constants.memoryBandwidth * 1e3,
                  constants.elementwiseFloor);
}

/// Returns the time in ms of a linear, or of a convolution as an implicit
/// product. `rows` is the number of rows of the result. `weight` is the shape
/// (outputs, rest) of the weight. If there is a bias, `biased` is the shape of
/// the result, and the time includes one more pass over the result. Otherwise
/// `biased` is null.
double ReferenceRoofline::layer(double rows, ArrayRef<int64_t> weight,
                                const Shape *biased) const {
  double time = gemm(rows, weight.front(), elementsOf(weight.drop_front()));
  return biased ? time + elementwise(elementsOf(*biased)) : time;
}

/// Returns the time in ms of the gradient of a linear or a convolution.
/// `inputs` are the gradient of the result, the input and the weight. `outputs`
/// are the gradients of the input (if it is needed), the weight and the bias
/// (if there is one).
double ReferenceRoofline::layerGradient(double rows, ArrayRef<Shape> inputs,
                                        ArrayRef<Shape> outputs) const {
  ArrayRef<int64_t> weight = inputs[2];
  double features = weight.front(), rest = elementsOf(weight.drop_front());
  double time = gemm(features, rest, rows);
  if (outputs.front() == inputs[1]) {
    time += gemm(rows, rest, features);
    outputs = outputs.drop_front();
  }
  return outputs.size() > 1 ? time + elementwise(elementsOf(inputs[0])) : time;
}

Expected<double>
ReferenceRoofline::milliseconds(StringRef op, ArrayRef<Shape> inputs,
                                ArrayRef<Shape> outputs) const {
  auto fits = [&](size_t numInputs, size_t rank) {
    return inputs.size() >= numInputs && !outputs.empty() &&
           llvm::all_of(inputs.take_front(numInputs), [&](const Shape &shape) {
             return shape.size() >= rank;
           });
  };
  auto mismatch = [&] {
    return createStringError("operands of '" + op +
                             "' do not have the shapes of this class");
  };
  auto rowsOf = [](const Shape &shape) {
    return elementsOf(ArrayRef(shape).drop_back());
  };
  auto pixelsOf = [](const Shape &shape) {
    return elementsOf(shape) / shape[1];
  };

  if (op == "Linear" || op == "LinearBW") {
    bool backward = op == "LinearBW";
    if (!fits(backward ? 3 : 2, 2))
      return mismatch();
    return backward ? layerGradient(rowsOf(inputs[0]), inputs, outputs)
                    : layer(rowsOf(inputs[0]), inputs[1],
                            inputs.size() > 2 ? &outputs[0] : nullptr);
  }
  if (op == "Conv2d" || op == "Conv2dBW") {
    bool backward = op == "Conv2dBW";
    if (!fits(backward ? 3 : 2, 4) || outputs[0].size() < 2)
      return mismatch();
    return backward ? layerGradient(pixelsOf(inputs[0]), inputs, outputs)
                    : layer(pixelsOf(outputs[0]), inputs[1],
                            inputs.size() > 2 ? &outputs[0] : nullptr);
  }
  if (op == "Matmul" || op == "MatmulBW") {
    bool backward = op == "MatmulBW";
    if (!fits(backward ? 3 : 2, 2))
      return mismatch();
    // All dimensions of `left` but the last count as rows, including those of a
    // batch.
    const Shape &left = inputs[backward], &right = inputs[backward + 1];
    double rows = rowsOf(left), inner = left.back(), columns = right.back();
    return backward ? gemm(rows, inner, columns) + gemm(inner, columns, rows)
                    : gemm(rows, columns, inner);
  }
  if (op == "Embedding") {
    if (!fits(2, 1) || inputs[1].size() != 2)
      return mismatch();
    // Only the rows of the table that are looked up are read.
    double indices = elementsOf(inputs[0]);
    double rows = std::min<double>(indices, inputs[1][0]);
    return elementwise(rows * inputs[1][1] + indices + elementsOf(outputs[0]));
  }
  double elements = 0;
  for (ArrayRef<Shape> operands : {inputs, outputs})
    for (const Shape &shape : operands)
      elements += elementsOf(shape);
  return elementwise(elements);
}

double ReferenceRoofline::milliseconds(const Kernel &kernel) const {
  Constants typed = constants;
  typed.bytesPerElement = byteWidth(kernel.type);
  ReferenceRoofline roofline(typed);
  if (!kernel.matrix)
    return roofline.elementwise(kernel.bytes / typed.bytesPerElement);
  if (!kernel.product)
    return roofline.matrix(kernel.flops, kernel.bytes);
  const MatrixProduct &product = *kernel.product;
  double time = roofline.gemm(product.rows, product.columns, product.inner);
  return product.biased > 0 ? time + roofline.elementwise(product.biased)
                            : time;
}

namespace {
/// Cost model that computes the times of kernels by the reference's roofline.
class ReferenceRooflineModel : public KernelCostModel {
public:
  ReferenceRooflineModel(ReferenceRoofline roofline, double launchGap)
      : roofline(roofline), launchGap(launchGap) {}

  Answer cost(const Kernel &kernel) const override {
    double time = roofline.milliseconds(kernel);
    // A kernel counts as memory-bound if its time depends on `bytes`. The time
    // of a matrix product depends only on its sizes, so a product never counts
    // as memory-bound.
    Kernel computing = kernel;
    computing.bytes = 0;
    return {fromSeconds(time * 1e-3 + launchGap), Source::Roofline, 0,
            roofline.milliseconds(computing) != time};
  }

private:
  ReferenceRoofline roofline;
  double launchGap;
};
} // namespace

std::unique_ptr<KernelCostModel> proteus::cost::createReferenceRooflineModel(
    const Device &device, ReferenceRoofline::Constants constants,
    double launchGap) {
  constants.flops = device.peak(DType::F32);
  constants.memoryBandwidth = device.memoryBandwidth;
  return std::make_unique<ReferenceRooflineModel>(ReferenceRoofline(constants),
                                                  launchGap);
}
