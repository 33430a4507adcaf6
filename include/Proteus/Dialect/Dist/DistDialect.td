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
    The distributed execution graph of a training step. Values are builtin
    tensors of the *global* shape whose encoding, `#dist.layout`, says where on
    a `#dist.mesh` their elements are. Collectives turn one layout into another.
    A `dist.program` is what all devices of one pipeline stage run, cut into
    sections; a `dist.schedule` says in which order each program runs its
    sections for each micro-batch.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Registers the attributes, which live in a file of their own.
    void registerAttributes();
  }];
}

#endif // PROTEUS_DIALECT_DIST_DISTDIALECT_TD
