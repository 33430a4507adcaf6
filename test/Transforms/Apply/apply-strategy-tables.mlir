// Whole tables on single data-parallel devices: the largest first, each where least is
// looked up, and held among those; and the sizes of gradient buckets. The lowering computes what the model does.

// RUN: proteus-opt %s --apply-strategy="dp=2 place-tables=true bucket-size=4096 first-bucket-size=512" | FileCheck %s
// RUN: proteus-opt %s --apply-strategy="dp=2 place-tables=true" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %s --apply-strategy="dp=2 place-tables=true" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %s --apply-strategy="dp=2 zero=1 gather-bucket-size=4096" | FileCheck %s --check-prefix=GATHER
// RUN: proteus-opt %s --apply-strategy="dp=2 zero=1 gather-per-parameter=true" --lower-strategy | FileCheck %s --check-prefix=EACH

// GATHER: bucket
// GATHER-SAME: gather = 4096
// EACH: dist.schedule

// CHECK:      strategy.tree @s for @dlrm
// CHECK-NEXT:   mesh [dp = 2]
// CHECK-NEXT:   bucket size = 4096 first = 512
// CHECK-NEXT:   split op [batch -> dp]
// CHECK-NEXT:   node "tables[0]" {
// CHECK-NEXT:     at [dp = 1]
// CHECK-NEXT:   }
// CHECK-NEXT:   node "tables[1]" {
// CHECK-NEXT:     at [dp = 0]
// CHECK-NEXT:   }
// CHECK-NEXT:   node "tables[2]" {
// CHECK-NEXT:     at [dp = 1]
// CHECK-NEXT:   }
// CHECK-NEXT:   node "tables[3]" {
// CHECK-NEXT:     at [dp = 0]
// CHECK-NEXT:   }
// SIMULATED: proteus.iteration_time_ms

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @dlrm(
      %a: tensor<8x1xi32> {nn.role = "input", nn.path = "a"},
      %b: tensor<8x1xi32> {nn.role = "input", nn.path = "b"},
      %c: tensor<8x1xi32> {nn.role = "input", nn.path = "c"},
      %d: tensor<8x1xi32> {nn.role = "input", nn.path = "d"},
      %y: tensor<8x1xf32> {nn.role = "input", nn.path = "clicked"},
      %ta: tensor<6x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %tb: tensor<16x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %tc: tensor<5x4xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %td: tensor<2x4xf32> {nn.role = "parameter", nn.path = "tables[3].weight"},
      %w: tensor<1x16xf32> {nn.role = "parameter", nn.path = "top.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.embedding_bag "tables[0]"(%a, %ta) : (tensor<8x1xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %1 = nn.embedding_bag "tables[1]"(%b, %tb) : (tensor<8x1xi32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %2 = nn.embedding_bag "tables[2]"(%c, %tc) : (tensor<8x1xi32>, tensor<5x4xf32>) -> tensor<8x4xf32>
    %3 = nn.embedding_bag "tables[3]"(%d, %td) : (tensor<8x1xi32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    %f = nn.concat "join"(%0, %1, %2, %3) : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x16xf32>
    %z = nn.linear "top"(%f, %w) : (tensor<8x16xf32>, tensor<1x16xf32>) -> tensor<8x1xf32>
    %loss = nn.mse_loss "loss"(%z, %y) : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
