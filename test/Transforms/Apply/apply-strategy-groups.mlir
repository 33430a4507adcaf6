// RUN: proteus-opt %s --apply-strategy="dp=8 zero=1 zero-group=4" | FileCheck %s
// RUN: proteus-opt %s --apply-strategy="dp=4 zero=2 zero-group=2" --check-lowering=cluster=dgx-a100 -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not proteus-opt %s --apply-strategy="dp=8 zero=1 zero-group=3" 2>&1 | FileCheck %s --check-prefix=ERROR

// States are split within groups of neighbours, of which each has all of them.
// CHECK: mesh [dp = 8]
// CHECK: split state [flat -> dp:(2)4]
// RIGHT: lowering is right
// ERROR: zero-group=3 must divide dp=8; leave it out to shard over all of them

func.func @mlp(
    %x: tensor<16x8xf32> {nn.role = "input", nn.path = "x"},
    %labels: tensor<16xi32> {nn.role = "input", nn.path = "labels"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "fc.weight"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
  %0 = nn.linear "fc"(%x, %w) : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<16x8xf32>, tensor<16xi32>) -> (tensor<f32>, tensor<16xf32>)
  return %loss : tensor<f32>
}
