// Stages by shares of weights: eight layers of 16 elements each and a head of 80, 208 in all.

// RUN: proteus-opt %s --apply-strategy="pp=2 micro-batches=2" | FileCheck %s --check-prefix=LAYERS
// LAYERS: stages pp{{$}}
// LAYERS-NOT: at [pp

// Seven layers are the first to exceed a half, 104.
// RUN: proteus-opt %s --apply-strategy="pp=2 micro-batches=2 stage-partition=weights" | FileCheck %s --check-prefix=TWO
// TWO:     stages pp of [7, 1]
// TWO-NOT: at [pp

// 52, 104 and 156: the head is in the stage of the last layer, and takes the share of the
// last stage too.
// RUN: proteus-opt %s --apply-strategy="pp=4 micro-batches=4 stage-partition=weights" | FileCheck %s --check-prefix=FOUR
// FOUR:     stages pp of [4, 3, 1, 0]
// FOUR-NOT: at [pp

// 29.7, 59.4, 89.1, 118.9: the head begins a stage, in which the loss stays. Two are idle,
// and the step is right.
// RUN: proteus-opt %s --apply-strategy="pp=7 micro-batches=7 stage-partition=weights" | FileCheck %s --check-prefix=SEVEN
// RUN: proteus-opt %s --apply-strategy="pp=7 micro-batches=7 stage-partition=weights" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// SEVEN:      stages pp of [2, 2, 2, 2, 0, 0, 0]
// SEVEN:      node "head" {
// SEVEN-NEXT:   at [pp = 4]
// SEVEN-NOT:  at [pp
// RIGHT: lowering is right

// RUN: not proteus-opt %s --apply-strategy="pp=2 micro-batches=2 virtual-stages=2 stage-partition=weights" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: error: stage-partition=weights cuts a model into one run per stage; use virtual-stages=1, or stage-partition=layers

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @m(%x: tensor<28x4xf32> {nn.role = "input", nn.path = "x"},
               %labels: tensor<28xi32> {nn.role = "input", nn.path = "labels"},
               %w: tensor<8x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
               %h: tensor<20x4xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.repeat "layers" count 8
        carry(%in = %x : tensor<28x4xf32>)
        slice(%w_i = %w : tensor<8x4x4xf32> to tensor<4x4xf32>) -> (tensor<28x4xf32>) {
      %1 = nn.linear "fc"(%in, %w_i) : (tensor<28x4xf32>, tensor<4x4xf32>) -> tensor<28x4xf32>
      nn.yield %1 : tensor<28x4xf32>
    }
    %2 = nn.linear "head"(%0, %h) : (tensor<28x4xf32>, tensor<20x4xf32>) -> tensor<28x20xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %labels) : (tensor<28x20xf32>, tensor<28xi32>) -> (tensor<f32>, tensor<28xf32>)
    return %loss : tensor<f32>
  }
}
