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
  let summary = "Attributes for the input and the results of a simulation";
  let description = [{
    The dialect has no operations and no types. It defines attributes that are
    attached to operations of other dialects, and verifies them.

    | attribute | on | value |
    |---|---|---|
    | `proteus.cluster` | `builtin.module` | the cluster: the name of a preset or a file (a non-empty string), or an inline description (a dictionary) |
    | `proteus.stack` | `builtin.module` | the software stack: a name, a file or JSON text (a non-empty string), or an inline description (a dictionary) |
    | `proteus.site` | `builtin.module` | the site: a name, a file or JSON text (a non-empty string), or an inline description (a dictionary) |
    | `proteus.path` | any operation, any argument | the path of the operation or argument in its model, such as `"layers[3].attention.qkv"` |
    | `proteus.compute` | a matrix product | the narrow type, such as `f8E4M3FN`, of both factors in the matrix units. The factors are converted to it before the product; saved values and results keep the types of the tensors |
    | `proteus.prefetch` | an operation that gathers or fetches a parameter | number of layers of a repeat by which the operation may precede the layer that reads the parameter, `i64` |
    | `proteus.once` | an operation that gathers a parameter | the operation runs with the first micro-batch only, and its result stays in memory for the step, `unit` |
    | `proteus.exchange` | an all-gather, reduce-scatter or all-reduce | the members write directly into buffers of each other instead of calling the communication library: `array<i64: i, k>` for chunk i of k of a ring exchange, `array<i64: 0, 1>` for the whole collective at once |
    | `proteus.pieces` | a matrix product | number of equal products that one library call launches. The products run on several streams, so that one product fills the partial last wave of thread blocks of another, `i64` |
    | `proteus.iteration_time_ms` | `builtin.module` | result: time of one training step in milliseconds, `f64` |
    | `proteus.samples_per_second` | `builtin.module` | result: throughput in samples per second, `f64` |
    | `proteus.peak_memory_mb` | `builtin.module` | result: peak memory of the device with the highest peak, in 10^6 bytes, `f64` |
    | `proteus.fits` | `builtin.module` | result: true if the step fits into the memory of every device, `bool` |

    **Constraints**: every attribute has a value of the kind in the table, and
    is attached only to the objects in the table; results of functions carry
    none of them; numbers are finite and not negative; the dialect has no other
    attributes.

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
