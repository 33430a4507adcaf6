// Two repeats read one parameter: the second goes on with the sum of the gradients
// of the first.

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4x2xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<2x4xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %a3: tensor<2x4xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %a4: tensor<2x3x4xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %a5: tensor<2x4x1xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %a6: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "shared.weight"},
      %a7: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a8: tensor<4x2x4xbf16> {nn.role = "input", nn.path = "target"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4x2xi32>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
    %v2 = nn.repeat "layers" count 2 carry(%v1 = %v0 : tensor<4x2x4xbf16>)
        slice(%v3 = %a2 : tensor<2x4xbf16> to tensor<4xbf16>,
              %v4 = %a3 : tensor<2x4xbf16> to tensor<4xbf16>,
              %v6 = %a4 : tensor<2x3x4xbf16> to tensor<3x4xbf16>,
              %v13 = %a5 : tensor<2x4x1xbf16> to tensor<4x1xbf16>)
        -> (tensor<4x2x4xbf16>) {
      %v5 = nn.layer_norm "ln_1"(%v1, %v3, %v4) : (tensor<4x2x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4x2x4xbf16>
      %v7 = nn.linear "attention.qkv"(%v5, %v6) : (tensor<4x2x4xbf16>, tensor<3x4xbf16>) -> tensor<4x2x3xbf16>
      %v8, %v9, %v10 = nn.split "attention.split"(%v7) {groups = 1 : i64} : (tensor<4x2x3xbf16>) -> (tensor<4x2x1xbf16>, tensor<4x2x1xbf16>, tensor<4x2x1xbf16>)
      %v11, %v12 = nn.attention "attention.core"(%v8, %v9, %v10) {heads = 1 : i64, kv_heads = 1 : i64} : (tensor<4x2x1xbf16>, tensor<4x2x1xbf16>, tensor<4x2x1xbf16>) -> (tensor<4x2x1xbf16>, tensor<4x1x2xf32>)
      %v14 = nn.linear "attention.proj"(%v11, %v13) : (tensor<4x2x1xbf16>, tensor<4x1xbf16>) -> tensor<4x2x4xbf16>
      %v15 = nn.add "residual_1"(%v1, %v14) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      %v16 = nn.linear "shared"(%v15, %a6) : (tensor<4x2x4xbf16>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
      %v17 = nn.gelu "act"(%v16) : (tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      %v18 = nn.add "residual"(%v15, %v17) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      nn.yield %v18 : tensor<4x2x4xbf16>
    }
    %v19 = nn.linear "head"(%v2, %a7) : (tensor<4x2x4xbf16>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
    %v20 = nn.mse_loss "loss"(%v19, %a8) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<f32>
    return %v20 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2]
    node "layers[0]" {
    }
    node "embedding" {
      split op [seq -> x]
    }
  }
}
