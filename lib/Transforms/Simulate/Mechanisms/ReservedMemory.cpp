//===- ReservedMemory.cpp - memory of the framework itself ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds the memory that the framework takes on every device in addition to
// tensors, the allocator and communication.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace mlir;
using namespace proteus;

namespace {
class ReservedMemory : public Mechanism {
public:
  explicit ReservedMemory(int64_t bytes) : bytes(bytes) {}

  void changeWorkload(sim::Workload &workload) const override {
    workload.memory.stackBytes = bytes;
  }

private:
  int64_t bytes;
};
} // namespace

MechanismPtr
proteus::createReservedMemory(const machine::StackParameters &parameters) {
  if (parameters.reservedBytes == 0)
    return nullptr;
  return std::make_unique<ReservedMemory>(parameters.reservedBytes);
}
