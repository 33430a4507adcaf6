// A pass that runs before the pass it needs warns or fails.
//
// RUN: split-file %s %t
// RUN: proteus-opt %t/model.mlir --settle-repeats --propagate-strategy --insert-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNMATCHED
// UNMATCHED: warning: settle-repeats leaves the model 'model' unchanged: it was not matched with a strategy tree; run match-strategy first
// UNMATCHED: warning: propagate-strategy leaves the model 'model' unchanged
// UNMATCHED: warning: insert-collectives leaves the model 'model' unchanged
// RUN: not proteus-opt %t/model.mlir --split-stages 2>&1 | FileCheck %s --check-prefix=UNSPLIT
// UNSPLIT: error: no function was matched with a strategy tree; run match-strategy first
// RUN: not proteus-opt %t/model.mlir --schedule-pipeline 2>&1 | FileCheck %s --check-prefix=UNSCHEDULED
// UNSCHEDULED: error: there is no dist.program to schedule; run split-stages first
// RUN: not proteus-opt %t/model.mlir --match-strategy --build-training-step --settle-repeats 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: 'func.func' op has gradients; run settle-repeats before build-training-step
// RUN: not proteus-opt %t/model.mlir --match-strategy --propagate-strategy --build-training-step 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: 'func.func' op has layouts already; run build-training-step before propagate-strategy
// RUN: not proteus-opt %t/model.mlir --match-strategy --propagate-strategy --propagate-strategy 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not proteus-opt %t/model.mlir --match-strategy --propagate-strategy --insert-collectives --propagate-strategy 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'func.func' op has layouts already; run propagate-strategy once, before insert-collectives
// RUN: not proteus-opt %t/model.mlir --pass-pipeline="builtin.module(lower-strategy,dist.program(chunk-products{chunks=2}))" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: error: 'dist.program' op has buckets, which count its kernels; run chunk-products before fuse-gradients

// An annotation by hand must fit the operation and the mesh.
// RUN: sed 's/nn.linear "fc"(%x, %w)/& {strategy.op = #strategy.partition<[batch -> tp]>}/; s/attributes {nn.training/attributes {strategy.mesh = #dist.mesh<[dp = 2]>, nn.training/' %t/model.mlir \
// RUN:   | not proteus-opt --propagate-strategy 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: 'nn.linear' op is split over 'tp', which is no axis of the mesh
// RUN: sed 's/nn.linear "fc"(%x, %w)/& {strategy.op = #strategy.partition<[rows -> dp]>}/; s/attributes {nn.training/attributes {strategy.mesh = #dist.mesh<[dp = 2]>, nn.training/' %t/model.mlir \
// RUN:   | not proteus-opt --propagate-strategy 2>&1 | FileCheck %s --check-prefix=ITERATOR
// ITERATOR: error: 'nn.linear' op has no iterator 'rows', which its strategy.op splits

// A function without roles is no model and is left alone.
// RUN: proteus-opt %t/other.mlir --propagate-strategy --insert-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER --allow-empty
// OTHER-NOT: warning

//--- model.mlir
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @model(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<10x16xf32> {nn.role = "parameter", nn.path = "w"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %y = nn.linear "fc"(%x, %w) : (tensor<8x16xf32>, tensor<10x16xf32>) -> tensor<8x10xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @model {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

//--- other.mlir
func.func @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
