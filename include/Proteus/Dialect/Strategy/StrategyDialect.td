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
  let summary = "How a model is trained on a mesh of devices";
  let description = [{
    A *strategy tree* says how the training of one model is spread over devices:
    how each computation and each tensor is partitioned, onto which axes of the
    device mesh the parts are mapped, and in which order micro-batches run. Its
    nested nodes mirror the module paths of the model, which stays untouched.

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

    The nearest setting wins: what a node sets, key by key, replaces what the
    nodes around it and the tree set for the same operation. What is not set
    anywhere is inferred along the data flow. A tree therefore names the few
    modules that matter.

    Operations below a tree are *settings*. They hold no values, are never
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
