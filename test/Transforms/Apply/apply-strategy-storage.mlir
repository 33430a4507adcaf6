// RUN: proteus-opt %s --apply-strategy="dp=4 zero=1 zero-shards=dimensions" | FileCheck %s
// RUN: proteus-opt %s --apply-strategy="dp=4 zero=1 zero-shards=dimensions" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %s --apply-strategy="dp=4 zero=3 zero-shards=dimensions" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %s --apply-strategy="dp=4 zero=3 zero-shards=dimensions reshard-after-forward=false" | FileCheck %s --check-prefix=KEEP
// KEEP: prefetch reshard_after_forward = false

// What a sharded optimizer keeps of a weight is split along a dimension that divides:
// uneven parts make ranks differ. With a bias it is the one that the bias has.

// CHECK:      node "fc1" {
// CHECK-NEXT:   split state [out -> dp]
// CHECK:      node "fc2" {
// CHECK-NEXT:   split state [in -> dp]
// CHECK:      node "fc3" {
// CHECK-NEXT:   split state [out -> dp]
// RIGHT: lowering is right

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @mlp(%x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
                 %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
                 %w1: tensor<8x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
                 %w2: tensor<6x8xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
                 %w3: tensor<5x6xf32> {nn.role = "parameter", nn.path = "fc3.weight"},
                 %b3: tensor<5xf32> {nn.role = "parameter", nn.path = "fc3.bias"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = nn.linear "fc2"(%0, %w2) : (tensor<8x8xf32>, tensor<6x8xf32>) -> tensor<8x6xf32>
    %2 = nn.linear "fc3"(%1, %w3, %b3) : (tensor<8x6xf32>, tensor<5x6xf32>, tensor<5xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
}
