//===- DistEnums.td - enumerations of the dist dialect -----*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_DIST_DISTENUMS_TD
#define PROTEUS_DIALECT_DIST_DISTENUMS_TD

include "Proteus/Dialect/Dist/DistDialect.td"
include "mlir/IR/EnumAttr.td"

class Dist_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::proteus::dist";
}

def Dist_ReductionKind : Dist_Enum<"ReductionKind",
    "reduction of partial values to a whole one", [
  I32EnumCase<"Sum", 0, "sum">,
  I32EnumCase<"Max", 1, "max">,
]>;

def Dist_CollectiveKind : Dist_Enum<"CollectiveKind",
    "pattern of a communication", [
  I32EnumCase<"AllReduce", 0, "all_reduce">,
  I32EnumCase<"AllGather", 1, "all_gather">,
  I32EnumCase<"ReduceScatter", 2, "reduce_scatter">,
  I32EnumCase<"AllToAll", 3, "all_to_all">,
  I32EnumCase<"Send", 4, "send">,
  I32EnumCase<"Recv", 5, "recv">,
  I32EnumCase<"Permute", 6, "permute">,
  I32EnumCase<"Broadcast", 7, "broadcast">,
  I32EnumCase<"Scatter", 8, "scatter">,
  I32EnumCase<"Gather", 9, "gather">,
  I32EnumCase<"Shift", 10, "shift">,
]>;

def Dist_Purpose : Dist_Enum<"Purpose", "purpose of a communication", [
  I32EnumCase<"Activation", 0, "activation">,
  I32EnumCase<"Gradient", 1, "gradient">,
  I32EnumCase<"Parameter", 2, "parameter">,
]>;

def Dist_SectionKind : Dist_Enum<"SectionKind", "part of a training step", [
  I32EnumCase<"Forward", 0, "forward">,
  I32EnumCase<"Backward", 1, "backward">,
  I32EnumCase<"InputGradient", 2, "input_gradient">,
  I32EnumCase<"WeightGradient", 3, "weight_gradient">,
  I32EnumCase<"Update", 4, "update">,
]>;

#endif // PROTEUS_DIALECT_DIST_DISTENUMS_TD
