// RUN: proteus-opt %s -split-input-file %{to-settle-repeats} | FileCheck %s
// RUN: proteus-opt %s -split-input-file --lower-strategy | FileCheck %s --check-prefix=LOWERED
// RUN: proteus-opt %s -split-input-file --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXECUTED

// The body leaves the carried value split over tp, but gets it whole from "in",
// which the tree keeps whole: the first iteration differs from the others. No other
// iteration communicates.

// CHECK-LABEL: func.func @first_differs(
// CHECK-SAME:    tensor<1x8x8xf32> {{{.*}}nn.path = "layers[0:1].w"
// CHECK-SAME:    tensor<3x8x8xf32> {{{.*}}nn.path = "layers[1:4].w"
// CHECK:         %[[FIRST:.*]] = nn.repeat "layers" count 1 carry(%{{.*}} = %0 :
// CHECK:         nn.repeat "layers" first 1 count 3 carry(%{{.*}} = %[[FIRST]] :

// LOWERED-LABEL: dist.program @first_differs
// LOWERED:         dist.section forward
// LOWERED:           nn.repeat "layers" count 1
// LOWERED:             dist.slice
// LOWERED:             nn.yield
// LOWERED:           nn.repeat "layers" first 1 count 3
// LOWERED-NOT:         dist.
// LOWERED:             nn.yield
// EXECUTED:      lowering is right
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @first_differs(
      %x: tensor<8x8xf32> {nn.role = "input"},
      %labels: tensor<8xi32> {nn.role = "input"},
      %win: tensor<8x8xf32> {nn.role = "parameter", nn.path = "in.w"},
      %w: tensor<4x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].w"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "in"(%x, %win) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%h = %0 : tensor<8x8xf32>)
        slice(%wi = %w : tensor<4x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x8xf32>) {
      %2 = nn.gelu "act"(%h) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %3 = nn.linear "fc"(%2, %wi) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      nn.yield %3 : tensor<8x8xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @first_differs {
    mesh [tp = 2]
    node "in" { split op [batch -> [], out -> []] }
    node "layers[*].fc" { split op [batch -> tp] }
    node "layers[*].act" { split op [hidden -> []] }
  }
}
