//===- KernelParameters.cpp - fitted parameters of kernels ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/KernelParameters.h"
#include "Proteus/Machine/Device.h"

#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace proteus::machine;

StringRef proteus::machine::stringify(Basis basis) {
  switch (basis) {
  case Basis::Measured:
    return "measured";
  case Basis::SameChip:
    return "same chip";
  case Basis::Datasheet:
    return "datasheet";
  }
  llvm_unreachable("unknown basis");
}

ArrayRef<Basis> proteus::machine::allBases() {
  static constexpr Basis bases[] = {Basis::Measured, Basis::SameChip,
                                    Basis::Datasheet};
  return bases;
}

StringRef proteus::machine::stringify(MemoryClass kind) {
  switch (kind) {
  case MemoryClass::Stream:
    return "stream";
  case MemoryClass::Norm:
    return "norm";
  case MemoryClass::Activation:
    return "activation";
  case MemoryClass::Rope:
    return "rope";
  case MemoryClass::Embedding:
    return "embedding";
  case MemoryClass::Softmax:
    return "softmax";
  }
  llvm_unreachable("unknown memory class");
}

ArrayRef<MemoryClass> proteus::machine::allMemoryClasses() {
  static constexpr MemoryClass classes[numMemoryClasses] = {
      MemoryClass::Stream, MemoryClass::Norm,      MemoryClass::Activation,
      MemoryClass::Rope,   MemoryClass::Embedding, MemoryClass::Softmax};
  return classes;
}

/// Returns the type to use if a device has no parameters of `type`.
static DType substituteOf(DType type) {
  if (type == DType::BF16)
    return DType::F16;
  if (type == DType::F16)
    return DType::BF16;
  return type == DType::I8 ? DType::F8 : DType::F32;
}

template <typename T>
static const T &find(const std::vector<std::pair<DType, T>> &entries,
                     DType type) {
  for (DType wanted : {type, substituteOf(type), DType::F32})
    for (const auto &[candidate, parameters] : entries)
      if (candidate == wanted)
        return parameters;
  llvm_unreachable("a device has parameters of f32");
}

const ProductParameters &KernelParameters::product(DType type) const {
  return find(products, type);
}

const ConvolutionParameters &KernelParameters::convolution(DType type) const {
  return find(convolutions, type);
}
