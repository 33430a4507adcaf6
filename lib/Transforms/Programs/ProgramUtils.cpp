//===- ProgramUtils.cpp - layers and readers in programs ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramUtils.h"

#include "mlir/IR/Block.h"

using namespace mlir;
using namespace proteus;

std::string proteus::layerOf(StringRef path) {
  size_t end = path.find(']');
  return end == StringRef::npos ? "" : path.take_front(end + 1).str();
}

Operation *proteus::firstReader(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *reader = op->getBlock()->findAncestorOpInBlock(*user);
    if (reader && (!first || reader->isBeforeInBlock(first)))
      first = reader;
  }
  return first;
}
