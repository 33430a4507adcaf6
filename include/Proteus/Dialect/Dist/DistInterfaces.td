//===- DistInterfaces.td - interfaces of the dist dialect --*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_DISTINTERFACES_TD
#define PROTEUS_DIALECT_DIST_DISTINTERFACES_TD

include "mlir/IR/OpBase.td"

def Dist_DataMovementOpInterface : OpInterface<"DataMovementOpInterface"> {
  let cppNamespace = "::proteus::dist";
  let description = [{
    An operation that moves data between devices, or between a device and its
    host.
  }];
  let methods = [
    InterfaceMethod<"Returns the purpose of the data, if it is known.",
      "std::optional<::proteus::dist::Purpose>", "getPurpose">,
  ];
}

def Dist_CollectiveOpInterface
    : OpInterface<"CollectiveOpInterface", [Dist_DataMovementOpInterface]> {
  let cppNamespace = "::proteus::dist";
  let description = [{
    The properties of a communication that determine its cost. Sizes are those
    of shards, on the rank that holds the most.
  }];
  let methods = [
    InterfaceMethod<"Returns the pattern of the communication.",
      "::proteus::dist::CollectiveKind", "getCollectiveKind">,
    InterfaceMethod<[{
      Returns the names of the mesh axes over which the communication runs, in
      normal form. A message between stages has none.
    }], "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"Returns the number of ranks in a group.",
      "int64_t", "getGroupSize">,
    InterfaceMethod<[{
      Returns the bytes of the buffer of an all-reduce, the result of an
      all-gather, the input of a reduce-scatter or all-to-all, the block that a
      rank sends in a permute, the value on the root of a broadcast, scatter or
      gather, or the message of a send, a receive or a shift.
    }], "int64_t", "getBufferBytes">,
  ];
}

#endif // PROTEUS_DIALECT_DIST_DISTINTERFACES_TD
