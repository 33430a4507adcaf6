// What a layer reads is converted in front of what only prepares a destination in it, whether
// the layer is repeated or written out: both take the same time.

// RUN: proteus-opt %s --unroll-repeats --lower-strategy | FileCheck %s
// RUN: proteus-opt %s --lower-strategy --simulate=summary -o /dev/null 2>&1 | grep "iteration time" > %t.repeated
// RUN: proteus-opt %s --unroll-repeats --lower-strategy --simulate=summary -o /dev/null 2>&1 | grep "iteration time" > %t.written
// RUN: diff %t.repeated %t.written

// CHECK: dist.section forward
// CHECK: nn.embedding
// CHECK-NEXT: dist.all_reduce sum
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: linalg.matmul

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x5xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<1x5x4xbf16> {nn.role = "parameter", nn.path = "layers[*].linalg.up.weight"},
      %a3: tensor<1x4x5xbf16> {nn.role = "parameter", nn.path = "layers[*].linalg.down.weight"},
      %a4: tensor<4x5xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a5: tensor<4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4xi32>, tensor<4x5xbf16>) -> tensor<4x5xbf16>
    %v2 = nn.repeat "layers" count 1 carry(%v1 = %v0 : tensor<4x5xbf16>)
        slice(%v4 = %a2 : tensor<1x5x4xbf16> to tensor<5x4xbf16>,
              %v10 = %a3 : tensor<1x4x5xbf16> to tensor<4x5xbf16>)
        -> (tensor<4x5xbf16>) {
      %v3 = arith.constant 0.0 : bf16
      %v5 = tensor.empty() : tensor<4x4xbf16>
      %v6 = linalg.fill ins(%v3 : bf16) outs(%v5 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v7 = linalg.matmul {proteus.path = "linalg.up"} ins(%v1, %v4 : tensor<4x5xbf16>, tensor<5x4xbf16>) outs(%v6 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v8 = tensor.empty() : tensor<4x4xbf16>
      %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v7 : tensor<4x4xbf16>) outs(%v8 : tensor<4x4xbf16>) attrs = {proteus.path = "linalg.act"} {
      ^bb0(%in: bf16, %out: bf16):
        %m = arith.maximumf %in, %v3 : bf16
        linalg.yield %m : bf16
      } -> tensor<4x4xbf16>
      %v11 = tensor.empty() : tensor<4x5xbf16>
      %v12 = linalg.fill ins(%v3 : bf16) outs(%v11 : tensor<4x5xbf16>) -> tensor<4x5xbf16>
      %v13 = linalg.matmul {proteus.path = "linalg.down"} ins(%v9, %v10 : tensor<4x4xbf16>, tensor<4x5xbf16>) outs(%v12 : tensor<4x5xbf16>) -> tensor<4x5xbf16>
      nn.yield %v13 : tensor<4x5xbf16>
    }
    %v14 = nn.linear "head"(%v2, %a4) : (tensor<4x5xbf16>, tensor<4x5xbf16>) -> tensor<4x4xbf16>
    %v15, %v16 = nn.cross_entropy "loss"(%v14, %a5) : (tensor<4x4xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v15 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 4, z = 1]
    node "embedding" {
      split op [vocab -> x:(1)2]
    }
  }
}
