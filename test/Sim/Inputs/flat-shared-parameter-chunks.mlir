// Chunks share a parameter: each computes a gradient of its own, and the update adds
// them.

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4x2xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x4xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<4x4xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %a3: tensor<4x4xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %a4: tensor<4x3x4xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %a5: tensor<4x4x1xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %a6: tensor<4x4xf32> {nn.role = "parameter", nn.path = "shared.weight"},
      %a7: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a8: tensor<4x2x4xf32> {nn.role = "input", nn.path = "target"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4x2xi32>, tensor<4x4xf32>) -> tensor<4x2x4xf32>
    %v2 = nn.repeat "layers" count 4 carry(%v1 = %v0 : tensor<4x2x4xf32>)
        slice(%v3 = %a2 : tensor<4x4xf32> to tensor<4xf32>,
              %v4 = %a3 : tensor<4x4xf32> to tensor<4xf32>,
              %v6 = %a4 : tensor<4x3x4xf32> to tensor<3x4xf32>,
              %v13 = %a5 : tensor<4x4x1xf32> to tensor<4x1xf32>)
        -> (tensor<4x2x4xf32>) {
      %v5 = nn.layer_norm "ln_1"(%v1, %v3, %v4) : (tensor<4x2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x2x4xf32>
      %v7 = nn.linear "attention.qkv"(%v5, %v6) : (tensor<4x2x4xf32>, tensor<3x4xf32>) -> tensor<4x2x3xf32>
      %v8, %v9, %v10 = nn.split "attention.split"(%v7) {groups = 1 : i64} : (tensor<4x2x3xf32>) -> (tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>)
      %v11, %v12 = nn.attention "attention.core"(%v8, %v9, %v10) {heads = 1 : i64, kv_heads = 1 : i64} : (tensor<4x2x1xf32>, tensor<4x2x1xf32>, tensor<4x2x1xf32>) -> (tensor<4x2x1xf32>, tensor<4x1x2xf32>)
      %v14 = nn.linear "attention.proj"(%v11, %v13) : (tensor<4x2x1xf32>, tensor<4x1xf32>) -> tensor<4x2x4xf32>
      %v15 = nn.add "residual_1"(%v1, %v14) : (tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
      %v16 = nn.linear "shared"(%v15, %a6) : (tensor<4x2x4xf32>, tensor<4x4xf32>) -> tensor<4x2x4xf32>
      %v17 = nn.gelu "act"(%v16) : (tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
      %v18 = nn.add "residual"(%v15, %v17) : (tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
      nn.yield %v18 : tensor<4x2x4xf32>
    }
    %v19 = nn.linear "head"(%v2, %a7) : (tensor<4x2x4xf32>, tensor<4x4xf32>) -> tensor<4x2x4xf32>
    %v20 = nn.mse_loss "loss"(%v19, %a8) : (tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> tensor<f32>
    return %v20 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 4, z = 1]
    schedule micro_batches = 1 order = "gpipe" virtual_stages = 2
    node "layers[*]" {
      stages x:(1)2 of [1, 1, 1, 1]
    }
  }
}
