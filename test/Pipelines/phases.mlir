// Every phase of a good lowering passes its check, and the check changes
// nothing: layers, tensor and data parallelism, a pipeline with recomputation,
// operations of linalg.

// RUN: rm -rf %t && split-file %s %t
// RUN: proteus-opt %t/pipeline.mlir %{to-settle-repeats} -o %t/1.mlir
// RUN: proteus-opt %t/1.mlir --verify-phase=after=matched | diff %t/1.mlir -
// RUN: proteus-opt %t/pipeline.mlir %{to-build-training-step} -o %t/2.mlir
// RUN: proteus-opt %t/2.mlir --verify-phase=after=matched -o /dev/null
// RUN: proteus-opt %t/2.mlir --verify-phase=after=step | diff %t/2.mlir -
// RUN: proteus-opt %t/pipeline.mlir %{to-propagate-strategy} -o %t/3.mlir
// RUN: proteus-opt %t/3.mlir --verify-phase=after=propagated | diff %t/3.mlir -
// RUN: proteus-opt %t/pipeline.mlir %{to-insert-collectives} -o %t/4.mlir
// RUN: proteus-opt %t/4.mlir --verify-phase=after=collectives | diff %t/4.mlir -
// RUN: proteus-opt %t/pipeline.mlir %{to-split-stages} -o %t/5.mlir
// RUN: proteus-opt %t/5.mlir --verify-phase=after=programs | diff %t/5.mlir -
// RUN: proteus-opt %t/pipeline.mlir %{to-schedule-pipeline} -o %t/6.mlir
// RUN: proteus-opt %t/6.mlir --verify-phase=after=programs -o /dev/null
// RUN: proteus-opt %t/6.mlir --verify-phase=after=schedule | diff %t/6.mlir -

// The examples.
// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir %{to-insert-collectives} --verify-phase=after=collectives -o /dev/null
// RUN: proteus-opt %examples/alexnet-dp.mlir %{to-insert-collectives} --verify-phase=after=collectives -o /dev/null
// RUN: proteus-opt %examples/linalg-mlp.mlir %{to-insert-collectives} --verify-phase=after=collectives -o /dev/null

// A model that is not trained has no phases to check but those of the layouts.
// RUN: proteus-opt %t/forward.mlir %{to-build-training-step} --verify-phase=after=step -o /dev/null
// RUN: proteus-opt %t/forward.mlir %{to-propagate-strategy} --verify-phase=after=propagated -o /dev/null
// RUN: proteus-opt %t/forward.mlir %{to-insert-collectives} --verify-phase=after=collectives -o /dev/null

// The lowering checks every phase where it ends, and cleans up before the order
// is written.
// RUN: proteus-opt %t/forward.mlir --lower-strategy --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=PASSES
// PASSES:      match-strategy{
// PASSES:      settle-repeats
// PASSES:      verify-phase{after=matched}
// PASSES:      build-training-step
// PASSES:      verify-phase{after=step}
// PASSES:      propagate-strategy
// PASSES:      verify-phase{after=propagated}
// PASSES:      insert-collectives
// PASSES:      verify-phase{after=collectives}
// PASSES-NEXT: split-stages
// PASSES-NEXT: verify-phase{after=programs}
// PASSES:      fuse-exchanges
// PASSES:      chunk-products
// PASSES:      fuse-gradients
// PASSES:      canonicalize
// PASSES:      cse
// PASSES:      schedule-pipeline
// PASSES-NEXT: verify-phase{after=schedule}

//--- pipeline.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @m(
      %ids: tensor<8x8xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x8xi32> {nn.role = "input", nn.path = "labels"},
      %we: tensor<32x16xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %w1: tensor<4x64x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x16x64xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %wh: tensor<32x16xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %x = nn.embedding "embedding"(%ids, %we) : (tensor<8x8xi32>, tensor<32x16xf32>) -> tensor<8x8x16xf32>
    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<8x8x16xf32>)
        slice(%a = %w1 : tensor<4x64x16xf32> to tensor<64x16xf32>, %b = %w2 : tensor<4x16x64xf32> to tensor<16x64xf32>)
        -> (tensor<8x8x16xf32>) {
      %0 = nn.linear "fc1"(%h, %a) : (tensor<8x8x16xf32>, tensor<64x16xf32>) -> tensor<8x8x64xf32>
      %1 = nn.gelu "act"(%0) : (tensor<8x8x64xf32>) -> tensor<8x8x64xf32>
      %2 = nn.linear "fc2"(%1, %b) : (tensor<8x8x64xf32>, tensor<16x64xf32>) -> tensor<8x8x16xf32>
      %3 = nn.add "residual"(%2, %h) : (tensor<8x8x16xf32>, tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
      nn.yield %3 : tensor<8x8x16xf32>
    }
    %logits = nn.linear "head"(%y, %wh) : (tensor<8x8x16xf32>, tensor<32x16xf32>) -> tensor<8x8x32xf32>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %t) : (tensor<8x8x32xf32>, tensor<8x8xi32>) -> (tensor<f32>, tensor<8x8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @m {
    mesh [pp = 2, dp = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    split state [0 -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "head" { split op [out -> tp] }
    node "layers[*]" {
      stages pp
      recompute
      node "fc1" { split op [out -> tp] }
    }
  }
}

//--- forward.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<8x16xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
  strategy.tree @s for @f {
    mesh [tp = 2]
    node "fc" { split op [in -> tp] }
  }
}
