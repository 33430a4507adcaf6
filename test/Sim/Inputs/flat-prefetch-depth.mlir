// With a prefetch depth of zero, a parameter is gathered after the layer before.

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x4xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].linalg.up.weight"},
      %a3: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].linalg.down.weight"},
      %a4: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a5: tensor<4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4xi32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v2 = nn.repeat "layers" count 2 carry(%v1 = %v0 : tensor<4x4xf32>)
        slice(%v4 = %a2 : tensor<2x4x4xf32> to tensor<4x4xf32>,
              %v10 = %a3 : tensor<2x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<4x4xf32>) {
      %v3 = arith.constant 0.0 : f32
      %v5 = tensor.empty() : tensor<4x4xf32>
      %v6 = linalg.fill ins(%v3 : f32) outs(%v5 : tensor<4x4xf32>) -> tensor<4x4xf32>
      %v7 = linalg.matmul {proteus.path = "linalg.up"} ins(%v1, %v4 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%v6 : tensor<4x4xf32>) -> tensor<4x4xf32>
      %v8 = tensor.empty() : tensor<4x4xf32>
      %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v7 : tensor<4x4xf32>) outs(%v8 : tensor<4x4xf32>) attrs = {proteus.path = "linalg.act"} {
      ^bb0(%in: f32, %out: f32):
        %m = arith.maximumf %in, %v3 : f32
        linalg.yield %m : f32
      } -> tensor<4x4xf32>
      %v11 = tensor.empty() : tensor<4x4xf32>
      %v12 = linalg.fill ins(%v3 : f32) outs(%v11 : tensor<4x4xf32>) -> tensor<4x4xf32>
      %v13 = linalg.matmul {proteus.path = "linalg.down"} ins(%v9, %v10 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%v12 : tensor<4x4xf32>) -> tensor<4x4xf32>
      nn.yield %v13 : tensor<4x4xf32>
    }
    %v14 = nn.linear "head"(%v2, %a4) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v15, %v16 = nn.cross_entropy "loss"(%v14, %a5) : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v15 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2, y = 1]
    split op [batch -> x]
    prefetch depth = 0
    node "layers[*]" {
      node "linalg.up" {
        split op [d1 -> x, batch -> []]
      }
      node "linalg.down" {
        split weight [0 -> x]
      }
    }
  }
}
