// All ranks on their own, one rank per class, and skipped periods of the pipeline:
// the same figures for every rank and link, with less and less effort.
//
// Four nodes of two devices that share a NIC. The messages of the pipeline go from the
// first two nodes to the others, and the gradients are reduced over pairs of nodes.

// RUN: rm -rf %t && split-file %s %t
// RUN: proteus-opt %t/model.mlir --lower-strategy -o %t/lowered.mlir
// RUN: proteus-opt %t/lowered.mlir --simulate="fold=none report=%t/none.json" -o %t/none.mlir
// RUN: proteus-opt %t/lowered.mlir --simulate="fold=ranks report=%t/ranks.json" -o %t/ranks.mlir
// RUN: proteus-opt %t/lowered.mlir --simulate="fold=all report=%t/all.json" -o %t/all.mlir
// RUN: python3 %S/Inputs/check_fold.py %t/none.json %t/ranks.json %t/all.json
// RUN: diff %t/none.mlir %t/ranks.mlir
// RUN: diff %t/none.mlir %t/all.mlir

// The default skips.
// RUN: proteus-opt %t/lowered.mlir --simulate=report=%t/default.json -o /dev/null
// RUN: cmp %t/default.json %t/all.json

// With a fabric above the NICs where leaf switches are oversubscribed.
// RUN: sed -e 's/}}}$/}}, "fabric": {"levels": [{"name": "leaf", "span": 2, "oversubscription": 4}, {"name": "spine"}]}}/' %t/nodes.json > %t/fabric.json
// RUN: proteus-opt %t/lowered.mlir --simulate="cluster=fabric.json fold=none report=%t/f-none.json" -o /dev/null
// RUN: proteus-opt %t/lowered.mlir --simulate="cluster=fabric.json fold=ranks report=%t/f-ranks.json" -o /dev/null
// RUN: proteus-opt %t/lowered.mlir --simulate="cluster=fabric.json fold=all report=%t/f-all.json" -o /dev/null
// RUN: python3 %S/Inputs/check_fold.py %t/f-none.json %t/f-ranks.json %t/f-all.json

//--- nodes.json
{"name": "shared NICs", "device": "A100-SXM4-80GB", "nodes": 4,
 "node": {"devices": 2, "nvlink": {"switched_links": 12, "link_gbps": 20}, "nics": {"count": 1, "speed_gbit": 100}}}

//--- model.mlir

module attributes {proteus.cluster = "nodes.json"} {
  func.func @mlp(
      %x: tensor<4096x1024xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<4096xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<4x1024x1024xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x1024x1024xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<4096x1024xf32>)
        slice(%u = %w1 : tensor<4x1024x1024xf32> to tensor<1024x1024xf32>,
              %v = %w2 : tensor<4x1024x1024xf32> to tensor<1024x1024xf32>)
        -> (tensor<4096x1024xf32>) {
      %0 = nn.linear "fc1"(%h, %u) : (tensor<4096x1024xf32>, tensor<1024x1024xf32>) -> tensor<4096x1024xf32>
      %1 = nn.relu "act"(%0) : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
      %2 = nn.linear "fc2"(%1, %v) : (tensor<4096x1024xf32>, tensor<1024x1024xf32>) -> tensor<4096x1024xf32>
      nn.yield %2 : tensor<4096x1024xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4096x1024xf32>, tensor<4096xi32>) -> (tensor<f32>, tensor<4096xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @pipeline for @mlp {
    mesh [pp = 2, dp = 4]
    schedule micro_batches = 32 order = "1f1b"
    bucket size = 4194304
    split op [batch -> dp]
    node "layers[*]" { stages pp }
    node "loss" { at [pp = 1] }
  }
}
