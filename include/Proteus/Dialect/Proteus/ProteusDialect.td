//===- ProteusDialect.td - the proteus attribute dialect ---*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_PROTEUS_PROTEUSDIALECT_TD
#define PROTEUS_DIALECT_PROTEUS_PROTEUSDIALECT_TD

include "mlir/IR/OpBase.td"

def Proteus_Dialect : Dialect {
  let name = "proteus";
  let summary = "Attributes that carry a simulation's input and results";
  let description = [{
    Has no operations and no types; it checks the attributes that are attached
    to the operations of other dialects.

    | attribute | on | value |
    |---|---|---|
    | `proteus.cluster` | `builtin.module` | what is simulated: a preset or a file (a string, not empty), or an inline description (a dictionary) |
    | `proteus.stack` | `builtin.module` | the software that runs it: a name, a file or JSON text (a string), or an inline description (a dictionary) |
    | `proteus.site` | `builtin.module` | the place where it runs, likewise |
    | `proteus.path` | any operation, any argument | the path of a module, such as `"layers[3].attention.qkv"` |
    | `proteus.compute` | a matrix product and its gradients | the narrow type, such as `f8E4M3FN`, in which the matrix units take both factors: they are converted first, what is kept and what comes out have the types of the tensors |
    | `proteus.prefetch` | an operation that gathers or fetches a parameter | how many repeated layers ahead of its use it may run, `i64` |
    | `proteus.once` | an operation that gathers a parameter | it runs with the first micro-batch only, and its result stays for the step, `unit` |
    | `proteus.exchange` | an all-gather or reduce-scatter | its members write into buffers of each other, without the communication library: `array<i64: i, k>`, chunk i of k of a ring exchange, or `array<i64: 0, 1>`, all at once |
    | `proteus.pieces` | a matrix product | of how many like it the library was asked for at once, on several streams: what a wave of one leaves idle the next one fills, `i64` |
    | `proteus.iteration_time_ms` | `builtin.module` | result: time of one training step, `f64` |
    | `proteus.samples_per_second` | `builtin.module` | result: throughput, `f64` |
    | `proteus.peak_memory_mb` | `builtin.module` | result: memory of the fullest device in 10^6 bytes, `f64` |
    | `proteus.fits` | `builtin.module` | result: whether every device has memory enough, `bool` |

    **Constraints**: attributes have the place and the kind of value that the
    table says; the numbers are finite and not negative; there are no other
    attributes of this dialect.

    ```mlir
    module attributes {proteus.cluster = "dgx-a100:128"} {
      func.func @model() attributes {proteus.path = "model"} {
        return
      }
    }
    ```
  }];
  let cppNamespace = "::proteus";
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Names of the attributes.
    static constexpr ::llvm::StringLiteral clusterAttrName = "proteus.cluster";
    static constexpr ::llvm::StringLiteral stackAttrName = "proteus.stack";
    static constexpr ::llvm::StringLiteral siteAttrName = "proteus.site";
    static constexpr ::llvm::StringLiteral pathAttrName = "proteus.path";
    static constexpr ::llvm::StringLiteral computeAttrName = "proteus.compute";
    static constexpr ::llvm::StringLiteral prefetchAttrName =
        "proteus.prefetch";
    static constexpr ::llvm::StringLiteral onceAttrName = "proteus.once";
    static constexpr ::llvm::StringLiteral exchangeAttrName =
        "proteus.exchange";
    static constexpr ::llvm::StringLiteral piecesAttrName = "proteus.pieces";
    static constexpr ::llvm::StringLiteral iterationTimeAttrName =
        "proteus.iteration_time_ms";
    static constexpr ::llvm::StringLiteral samplesPerSecondAttrName =
        "proteus.samples_per_second";
    static constexpr ::llvm::StringLiteral peakMemoryAttrName =
        "proteus.peak_memory_mb";
    static constexpr ::llvm::StringLiteral fitsAttrName = "proteus.fits";
  }];
}

#endif // PROTEUS_DIALECT_PROTEUS_PROTEUSDIALECT_TD
