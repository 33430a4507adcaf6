//===- DeviceModel.cpp - model of a kernel by its family ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/KernelModels.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>

using namespace proteus::cost;
using proteus::machine::Basis;
using proteus::machine::KernelParameters;
using proteus::machine::MemoryClass;
using proteus::machine::MemoryParameters;
using proteus::machine::ProductParameters;
using proteus::machine::Provenance;

/// Lower limit of the uncertainty of a kernel that uses the parameters of
/// MemoryClass::Stream although it belongs to another class.
static constexpr double fusedUncertainty = 0.15;

static Answer answer(const Estimate &estimate, const Provenance &provenance) {
  return {fromSeconds(estimate.seconds),
          provenance.basis == Basis::Datasheet ? Source::Datasheet
                                               : Source::Fitted,
          provenance.error, estimate.memoryBound};
}

/// Estimates a matrix kernel of unknown sizes. Assumes that it reaches the
/// rates of a large product, and that each step is one launch.
static Estimate estimateOtherMatrix(const Device &device,
                                    const ProductParameters &parameters,
                                    const Kernel &kernel) {
  double compute = kernel.flops / (parameters.efficiency * device.sustained *
                                   device.peak(kernel.type));
  double memory =
      kernel.bytes / (parameters.memoryEfficiency * device.memoryBandwidth);
  return {std::max(compute, memory) + kernel.steps * parameters.fixedTime,
          memory > compute};
}

MemoryClass proteus::cost::memoryClassOf(Family family) {
  switch (family) {
  case Family::Norm:
    return MemoryClass::Norm;
  case Family::Activation:
    return MemoryClass::Activation;
  case Family::Rope:
    return MemoryClass::Rope;
  case Family::Embedding:
    return MemoryClass::Embedding;
  case Family::Softmax:
    return MemoryClass::Softmax;
  default:
    return MemoryClass::Stream;
  }
}

Answer proteus::cost::estimateKernel(const Device &device,
                                     const KernelModelOptions &options,
                                     const Kernel &kernel) {
  const KernelParameters &all = *device.kernels;
  const ProductParameters &product = all.product(kernel.type);
  switch (kernel.family) {
  case Family::Product:
    return answer(estimateProduct(device, product, kernel), product);
  case Family::GroupedProduct:
    return answer(estimateGroupedProduct(device, product, all.grouped, kernel),
                  all.grouped);
  case Family::Attention:
    return answer(estimateAttention(device, all.attention, kernel),
                  all.attention);
  case Family::Convolution: {
    const auto &convolution = all.convolution(kernel.type);
    return answer(estimateConvolution(device, convolution, kernel),
                  convolution);
  }
  case Family::OtherMatrix:
    return answer(estimateOtherMatrix(device, product, kernel), product);
  case Family::Update: {
    // A few launches update all parameters of the model. The fixed time is
    // therefore negligible.
    MemoryParameters stream = all.of(MemoryClass::Stream);
    stream.fixedTime = 0;
    return answer(estimateMemory(device, stream, kernel), stream);
  }
  default: {
    MemoryClass own = memoryClassOf(kernel.family);
    MemoryClass kind = options.fusedMemoryKernels ? MemoryClass::Stream : own;
    Answer result =
        answer(estimateMemory(device, all.of(kind), kernel), all.of(kind));
    // The parameters of MemoryClass::Stream were not fitted to kernels of this
    // class, so the prediction is less certain.
    if (kind != own)
      result.uncertainty = std::max(result.uncertainty, fusedUncertainty);
    return result;
  }
  }
}

namespace {
class DeviceModel : public KernelCostModel {
public:
  DeviceModel(const Device &device, const KernelModelOptions &options)
      : device(device), options(options) {}

  Answer cost(const Kernel &kernel) const override {
    return estimateKernel(device, options, kernel);
  }

private:
  Device device;
  KernelModelOptions options;
};
} // namespace

std::unique_ptr<KernelCostModel>
proteus::cost::createDeviceModel(const Device &device,
                                 const KernelModelOptions &options) {
  if (!device.kernels || options.roofline)
    return createRooflineModel(device);
  return std::make_unique<DeviceModel>(device, options);
}
