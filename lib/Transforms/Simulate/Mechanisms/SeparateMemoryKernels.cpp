//===- SeparateMemoryKernels.cpp - efficiency of memory-bound kernels -----===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalisations, activation functions, rotary embeddings, table lookups and
// softmax have the measured efficiency of separate kernels. Without this
// mechanism they reach the efficiency of a copy, because they are assumed to be
// fused.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace mlir;
using namespace proteus;

namespace {
struct SeparateMemoryKernels : public Mechanism {
  void changeMachine(machine::Cluster &,
                     cost::KernelModelOptions &kernels) const override {
    kernels.fusedMemoryKernels = false;
  }
};
} // namespace

MechanismPtr proteus::createSeparateMemoryKernels(
    const machine::StackParameters &parameters) {
  if (!parameters.separateMemoryKernels)
    return nullptr;
  return std::make_unique<SeparateMemoryKernels>();
}
