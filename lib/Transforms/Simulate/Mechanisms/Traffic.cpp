//===- Traffic.cpp - bytes of memory-bound kernels ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory-bound kernels move a multiple of the bytes of their operation, because
// they write intermediate tensors or read an operand several times.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace mlir;
using namespace proteus;

/// Returns the traffic class of a memory-bound kernel, or nullopt for other
/// kernels. Each class has a factor of its own.
static std::optional<machine::TrafficClass>
trafficOf(Operation *op, const cost::Kernel &work) {
  using machine::TrafficClass;
  if (isa<nn::CrossEntropyOp, nn::CrossEntropyGradOp, nn::RowMaxOp,
          nn::RowExpSumOp, nn::RowLossOp>(op))
    return TrafficClass::Loss;
  if (isa<nn::MoeRouteOp, nn::MoeRouteGradOp, nn::MoeDispatchOp,
          nn::MoeCombineOp, nn::MoeGateGradOp>(op))
    return TrafficClass::Permute;
  switch (work.family) {
  case cost::Family::Stream:
    return TrafficClass::Elementwise;
  case cost::Family::Norm:
    return TrafficClass::Norm;
  case cost::Family::Activation:
    return TrafficClass::Activation;
  case cost::Family::Rope:
    return TrafficClass::Rope;
  case cost::Family::Embedding:
    return TrafficClass::Embedding;
  case cost::Family::Softmax:
    return TrafficClass::Softmax;
  case cost::Family::Update:
    return TrafficClass::Update;
  case cost::Family::Product:
  case cost::Family::GroupedProduct:
  case cost::Family::Attention:
  case cost::Family::Convolution:
  case cost::Family::OtherMatrix:
    return std::nullopt;
  }
  llvm_unreachable("unknown family of kernels");
}

namespace {
class Traffic : public Mechanism {
public:
  explicit Traffic(const machine::StackParameters &parameters)
      : factors(parameters.traffic) {}

  void changeKernel(Operation *op, const RankContext &,
                    KernelPlan &plan) const override {
    if (auto traffic = trafficOf(op, plan.kernel))
      plan.kernel.bytes *= factors[static_cast<unsigned>(*traffic)];
  }

private:
  std::array<double, machine::numTrafficClasses> factors;
};
} // namespace

MechanismPtr
proteus::createTraffic(const machine::StackParameters &parameters) {
  if (llvm::all_of(parameters.traffic,
                   [](double factor) { return factor == 1; }))
    return nullptr;
  return std::make_unique<Traffic>(parameters);
}
