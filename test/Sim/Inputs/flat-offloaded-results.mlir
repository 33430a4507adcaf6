// Several results of one kernel are offloaded.
module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4x2xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<2x4xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %a3: tensor<2x4xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %a4: tensor<2x3x4xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %a5: tensor<2x4x1xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %a6: tensor<2x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %a7: tensor<2x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %a8: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a9: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4x2xi32>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
    %v2 = nn.repeat "layers" count 2 carry(%v1 = %v0 : tensor<4x2x4xbf16>)
        slice(%v3 = %a2 : tensor<2x4xbf16> to tensor<4xbf16>,
              %v4 = %a3 : tensor<2x4xbf16> to tensor<4xbf16>,
              %v6 = %a4 : tensor<2x3x4xbf16> to tensor<3x4xbf16>,
              %v13 = %a5 : tensor<2x4x1xbf16> to tensor<4x1xbf16>,
              %v16 = %a6 : tensor<2x4x4xbf16> to tensor<4x4xbf16>,
              %v21 = %a7 : tensor<2x4x4xbf16> to tensor<4x4xbf16>)
        -> (tensor<4x2x4xbf16>) {
      %v5 = nn.layer_norm "ln_1"(%v1, %v3, %v4) : (tensor<4x2x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4x2x4xbf16>
      %v7 = nn.linear "attention.qkv"(%v5, %v6) : (tensor<4x2x4xbf16>, tensor<3x4xbf16>) -> tensor<4x2x3xbf16>
      %v8, %v9, %v10 = nn.split "attention.split"(%v7) {groups = 1 : i64} : (tensor<4x2x3xbf16>) -> (tensor<4x2x1xbf16>, tensor<4x2x1xbf16>, tensor<4x2x1xbf16>)
      %v11, %v12 = nn.attention "attention.core"(%v8, %v9, %v10) {heads = 1 : i64, kv_heads = 1 : i64} : (tensor<4x2x1xbf16>, tensor<4x2x1xbf16>, tensor<4x2x1xbf16>) -> (tensor<4x2x1xbf16>, tensor<4x1x2xf32>)
      %v14 = nn.linear "attention.proj"(%v11, %v13) : (tensor<4x2x1xbf16>, tensor<4x1xbf16>) -> tensor<4x2x4xbf16>
      %v15 = nn.add "residual_1"(%v1, %v14) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      %v17 = nn.linear "mlp.up"(%v15, %v16) : (tensor<4x2x4xbf16>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
      %v18 = nn.relu "mlp.act"(%v17) : (tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      %v19, %v20 = nn.dropout "mlp.drop"(%v18) {probability = 0.25 : f64, seed = 3 : i64} : (tensor<4x2x4xbf16>) -> (tensor<4x2x4xbf16>, tensor<4x2x4xi8>)
      %v22 = nn.linear "mlp.down"(%v19, %v21) : (tensor<4x2x4xbf16>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
      nn.yield %v22 : tensor<4x2x4xbf16>
    }
    %v23 = nn.linear "head"(%v2, %a8) : (tensor<4x2x4xbf16>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
    %v24, %v25 = nn.cross_entropy "loss"(%v23, %a9) : (tensor<4x2x4xbf16>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %v24 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2, y = 1, z = 1]
    schedule micro_batches = 1 order = "zero-bubble"
    node "layers[*]" {
      stages x of [1, 1]
      offload weight activation
    }
  }
}
