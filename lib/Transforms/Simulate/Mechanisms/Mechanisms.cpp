//===- Mechanisms.cpp - mechanisms of a stack in their order --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

using namespace proteus;

std::vector<std::unique_ptr<Mechanism>>
proteus::createMechanisms(const machine::StackParameters &parameters) {
  constexpr MechanismPtr (*order[])(const machine::StackParameters &) = {
#define MECHANISM(NAME) create##NAME,
#include "Mechanisms.def"
  };
  std::vector<std::unique_ptr<Mechanism>> mechanisms;
  for (auto create : order)
    if (std::unique_ptr<Mechanism> mechanism = create(parameters))
      mechanisms.push_back(std::move(mechanism));
  return mechanisms;
}
