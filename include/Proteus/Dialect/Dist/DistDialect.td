//===- DistDialect.td - the dist dialect -------------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_DISTDIALECT_TD
#define PROTEUS_DIALECT_DIST_DISTDIALECT_TD

include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::proteus::dist";
  let summary = "Distributed execution: layouts, collectives, programs";
  let description = [{
    Describes the distributed execution of a training step. Values are builtin
    tensors of the *global* shape. Their encoding, `#dist.layout`, describes how
    the elements are distributed over the devices of a `#dist.mesh`. Collectives
    turn one layout into another. A `dist.program` is the work of all devices of
    one pipeline stage, divided into sections. A `dist.schedule` lists for each
    program the order in which its sections run for each micro-batch.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Registers the attributes of the dialect, which are defined in
    /// DistAttrs.cpp.
    void registerAttributes();
  }];
}

#endif // PROTEUS_DIALECT_DIST_DISTDIALECT_TD
