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
    What the cost of a communication depends on. Sizes are local ones, on the
    rank that holds most.
  }];
  let methods = [
    InterfaceMethod<"The pattern of the communication.",
      "::proteus::dist::CollectiveKind", "getCollectiveKind">,
    InterfaceMethod<[{
      Names of the mesh axes it runs over, in normal form; none for a message
      between stages.
    }], "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"Number of ranks that take part together.",
      "int64_t", "getGroupSize">,
    InterfaceMethod<[{
      Bytes of the buffer of an all-reduce, the result of an all-gather, the
      input of a reduce-scatter, the input of an all-to-all, what a rank sends
      in a permute, what the root holds of a broadcast, scatter or gather, or
      the message of a send, a receive or a shift.
    }], "int64_t", "getBufferBytes">,
  ];
}

#endif // PROTEUS_DIALECT_DIST_DISTINTERFACES_TD
