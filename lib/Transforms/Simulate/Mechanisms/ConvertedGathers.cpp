//===- ConvertedGathers.cpp - parameters gathered in a narrow type --------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If all readers of a parameter are products that convert it to a narrow type,
// the framework converts the shards and gathers the parameter in that type.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace mlir;
using namespace proteus;

namespace {
struct ConvertedGathers : public Mechanism {
  void changeGather(Value gathered, int64_t &bits) const override {
    if (Type type = narrowTypeOfReaders(gathered))
      bits = std::min<int64_t>(bits, type.getIntOrFloatBitWidth());
  }
};
} // namespace

MechanismPtr
proteus::createConvertedGathers(const machine::StackParameters &parameters) {
  if (!parameters.gathersConverted)
    return nullptr;
  return std::make_unique<ConvertedGathers>();
}
