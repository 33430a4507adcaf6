//===- Device.cpp - properties of one type of device ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Machine/Device.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace proteus::machine;

int64_t proteus::machine::byteWidth(DType type) {
  switch (type) {
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::F32:
  case DType::TF32:
  case DType::I32:
    return 4;
  case DType::BF16:
  case DType::F16:
    return 2;
  case DType::F8:
  case DType::I8:
    return 1;
  }
  llvm_unreachable("unknown element type");
}

StringRef proteus::machine::stringify(DType type) {
  switch (type) {
  case DType::F64:
    return "f64";
  case DType::F32:
    return "f32";
  case DType::TF32:
    return "tf32";
  case DType::BF16:
    return "bf16";
  case DType::F16:
    return "f16";
  case DType::F8:
    return "f8";
  case DType::I64:
    return "i64";
  case DType::I32:
    return "i32";
  case DType::I8:
    return "i8";
  }
  llvm_unreachable("unknown element type");
}

ArrayRef<DType> proteus::machine::allDTypes() {
  static constexpr DType types[] = {DType::F64,  DType::F32, DType::TF32,
                                    DType::BF16, DType::F16, DType::F8,
                                    DType::I64,  DType::I32, DType::I8};
  return types;
}

StringRef proteus::machine::stringify(Architecture architecture) {
  switch (architecture) {
  case Architecture::Other:
    return "other";
  case Architecture::Pascal:
    return "pascal";
  case Architecture::Volta:
    return "volta";
  case Architecture::Turing:
    return "turing";
  case Architecture::Ampere:
    return "ampere";
  case Architecture::Hopper:
    return "hopper";
  case Architecture::Blackwell:
    return "blackwell";
  case Architecture::CDNA:
    return "cdna";
  }
  llvm_unreachable("unknown architecture");
}

ArrayRef<Architecture> proteus::machine::allArchitectures() {
  static constexpr Architecture architectures[] = {
      Architecture::Other,     Architecture::Pascal, Architecture::Volta,
      Architecture::Turing,    Architecture::Ampere, Architecture::Hopper,
      Architecture::Blackwell, Architecture::CDNA};
  return architectures;
}

Architecture proteus::machine::architectureOf(uint32_t computeCapability) {
  switch (computeCapability / 10) {
  case 6:
    return Architecture::Pascal;
  case 7:
    return computeCapability >= 75 ? Architecture::Turing : Architecture::Volta;
  case 8:
    return Architecture::Ampere;
  case 9:
    return Architecture::Hopper;
  case 10:
  case 11:
  case 12:
    return Architecture::Blackwell;
  default:
    return Architecture::Other;
  }
}

bool Device::supports(DType type) const {
  return llvm::any_of(peakFlops,
                      [&](const auto &entry) { return entry.first == type; });
}

double Device::peak(DType type) const {
  for (DType wanted : {type, DType::F32})
    for (const auto &[candidate, flops] : peakFlops)
      if (candidate == wanted)
        return flops;
  return 0;
}

void Device::setPeak(DType type, double flops) {
  for (auto &[candidate, peak] : peakFlops)
    if (candidate == type) {
      peak = flops;
      return;
    }
  peakFlops.emplace_back(type, flops);
}

void Device::useTF32() {
  if (!supports(DType::TF32))
    return;
  setPeak(DType::F32, peak(DType::TF32));
  if (!kernels)
    return;
  auto replace = [](auto &entries, const auto &parameters) {
    for (auto &[type, own] : entries)
      if (type == DType::F32)
        own = parameters;
  };
  replace(kernels->products, kernels->product(DType::TF32));
  replace(kernels->convolutions, kernels->convolution(DType::TF32));
}
