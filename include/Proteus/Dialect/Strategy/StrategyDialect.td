//===- StrategyDialect.td - the strategy dialect -----------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_STRATEGY_STRATEGYDIALECT_TD
#define PROTEUS_DIALECT_STRATEGY_STRATEGYDIALECT_TD

include "mlir/IR/DialectBase.td"

def Strategy_Dialect : Dialect {
  let name = "strategy";
  let summary = "Strategies for training a model on a mesh of devices";
  let description = [{
    A *strategy tree* describes how the training of one model is distributed
    over devices. It defines the axes of the device mesh, the split of
    computations and tensors over these axes, and the order in which
    micro-batches run. Its nested nodes follow the module paths of the model.
    The model itself stays unchanged.

    ```mlir
    strategy.tree @megatron for @gpt {
      mesh [dp = 16, pp = 8, tp = 8]
      schedule micro_batches = 96 order = "1f1b"
      bucket size = 26214400 first = 1048576
      split op [batch -> dp]
      node "embedding" {
        split op [vocab -> tp]
      }
      node "layers[*]" {
        stages pp
        recompute
        node "attention.qkv" {
          split op [out -> tp]
        }
        node "attention.proj" {
          split op [in -> tp]
          split weight [0 -> [dp, tp]]
        }
      }
      node "head" {
        at [pp = 7]
      }
    }
    ```

    If several settings apply to an operation, the innermost one wins: a setting
    of a node replaces those of the enclosing nodes and of the tree. Splits are
    replaced key by key. Partitions that the tree does not set are inferred
    along the data flow. A tree therefore needs to name only a few modules.

    The operations in a tree are *settings*. They have no values, are never
    executed, and are written without the prefix of the dialect.
  }];
  let cppNamespace = "::proteus::strategy";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

#endif // PROTEUS_DIALECT_STRATEGY_STRATEGYDIALECT_TD
