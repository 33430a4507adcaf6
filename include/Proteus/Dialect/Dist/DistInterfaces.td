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
    The properties of a communication that determine its cost. All sizes in
    bytes are sizes of shards, on the rank with the largest shard.
  }];
  let methods = [
    InterfaceMethod<"Returns the pattern of the communication.",
      "::proteus::dist::CollectiveKind", "getCollectiveKind">,
    InterfaceMethod<[{
      Returns the names of the mesh axes over which the communication runs, in
      mesh order. A message between stages has no axes.
    }], "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"Returns the number of ranks in a group.",
      "int64_t", "getGroupSize">,
    InterfaceMethod<[{
      Returns the bytes that determine the duration of the communication:

      - all-reduce: the buffer;
      - all-gather: the result;
      - reduce-scatter and all-to-all: the input;
      - permute: the block that a rank sends;
      - broadcast, scatter and gather: the value on the root;
      - send, receive and shift: the message.
    }], "int64_t", "getBufferBytes">,
  ];
}

#endif // PROTEUS_DIALECT_DIST_DISTINTERFACES_TD
