// Buckets as the published Proteus fills them: settings of strategy.bucket.
//
// RUN: proteus-opt %s %{to-fuse-gradients} | FileCheck %s
// RUN: proteus-opt %s --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: is right

// The second layer comes first, and of each layer its bias: with 64 bytes of bias
// and 1024 of weight, a bucket of 1088 bytes is a layer. Every replica updates half
// of a parameter and takes it from the whole sum; all new parameters are gathered
// at once.
// CHECK:     dist.fused_reduce all_reduce sum
// CHECK-SAME: buckets {{\[\[}}0[0:1], 1[0:1]], [2[0:1], 3[0:1]]] for gradient
// CHECK-NOT: dist.reduce_scatter
// CHECK:     dist.slice
// CHECK:     dist.fused_gather
// CHECK-SAME: buckets {{\[\[}}0[0:1], 1[0:1], 2[0:1], 3[0:1]]] for parameter
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @two(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<16xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<16xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<32x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<32x16xf32>
    %1 = nn.linear "fc2"(%0, %w2, %b2) : (tensor<32x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<32x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @two {
    mesh [dp = 2]
    bucket size = 1025 gather = 1000000 by_operation all_reduce
    split op [batch -> dp]
    split state [0 -> dp]
  }
}
