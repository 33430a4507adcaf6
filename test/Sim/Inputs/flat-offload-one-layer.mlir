// One layer offloads its activations: its input belongs to the layer before.

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4x2x4xbf16> {nn.role = "input", nn.path = "x"},
      %a1: tensor<3x4xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %a2: tensor<3x4xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %a3: tensor<3x3x4xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %a4: tensor<3x4x1xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %a5: tensor<3x2x4xbf16> {nn.role = "parameter", nn.path = "layers[*].moe.gate.weight"},
      %a6: tensor<3x2x2x4xbf16> {nn.role = "parameter", nn.path = "layers[*].moe.experts.up.weight"},
      %a7: tensor<3x2x4x2xbf16> {nn.role = "parameter", nn.path = "layers[*].moe.experts.down.weight"},
      %a8: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a9: tensor<4x2x4xbf16> {nn.role = "input", nn.path = "target"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %v1 = nn.repeat "layers" count 3 carry(%v0 = %a0 : tensor<4x2x4xbf16>)
        slice(%v2 = %a1 : tensor<3x4xbf16> to tensor<4xbf16>,
              %v3 = %a2 : tensor<3x4xbf16> to tensor<4xbf16>,
              %v5 = %a3 : tensor<3x3x4xbf16> to tensor<3x4xbf16>,
              %v12 = %a4 : tensor<3x4x1xbf16> to tensor<4x1xbf16>,
              %v15 = %a5 : tensor<3x2x4xbf16> to tensor<2x4xbf16>,
              %v21 = %a6 : tensor<3x2x2x4xbf16> to tensor<2x2x4xbf16>,
              %v24 = %a7 : tensor<3x2x4x2xbf16> to tensor<2x4x2xbf16>)
        -> (tensor<4x2x4xbf16>) {
      %v4 = nn.layer_norm "ln_1"(%v0, %v2, %v3) : (tensor<4x2x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4x2x4xbf16>
      %v6 = nn.linear "attention.qkv"(%v4, %v5) : (tensor<4x2x4xbf16>, tensor<3x4xbf16>) -> tensor<4x2x3xbf16>
      %v7, %v8, %v9 = nn.split "attention.split"(%v6) {groups = 1 : i64} : (tensor<4x2x3xbf16>) -> (tensor<4x2x1xbf16>, tensor<4x2x1xbf16>, tensor<4x2x1xbf16>)
      %v10, %v11 = nn.attention "attention.core"(%v7, %v8, %v9) {heads = 1 : i64, kv_heads = 1 : i64} : (tensor<4x2x1xbf16>, tensor<4x2x1xbf16>, tensor<4x2x1xbf16>) -> (tensor<4x2x1xbf16>, tensor<4x1x2xf32>)
      %v13 = nn.linear "attention.proj"(%v10, %v12) : (tensor<4x2x1xbf16>, tensor<4x1xbf16>) -> tensor<4x2x4xbf16>
      %v14 = nn.add "residual_1"(%v0, %v13) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      %v16 = nn.linear "moe.gate"(%v14, %v15) : (tensor<4x2x4xbf16>, tensor<2x4xbf16>) -> tensor<4x2x2xbf16>
      %v17, %v18, %v19 = nn.moe_route "moe.route"(%v16)  {groups = 4 : i64, capacity_factor = 0.50 : f64} : (tensor<4x2x2xbf16>) -> (tensor<4x2x1xbf16>, tensor<4x2x1xi32>, tensor<4x2x1xi32>)
      %v20 = nn.moe_dispatch "moe.dispatch"(%v14, %v18, %v19) : (tensor<4x2x4xbf16>, tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<2x4x1x4xbf16>
      %v22 = nn.expert_linear "moe.experts.up"(%v20, %v21) : (tensor<2x4x1x4xbf16>, tensor<2x2x4xbf16>) -> tensor<2x4x1x2xbf16>
      %v23 = nn.gelu "moe.experts.act"(%v22) : (tensor<2x4x1x2xbf16>) -> tensor<2x4x1x2xbf16>
      %v25 = nn.expert_linear "moe.experts.down"(%v23, %v24) : (tensor<2x4x1x2xbf16>, tensor<2x4x2xbf16>) -> tensor<2x4x1x4xbf16>
      %v26 = nn.moe_combine "moe.combine"(%v25, %v18, %v19, %v17) : (tensor<2x4x1x4xbf16>, tensor<4x2x1xi32>, tensor<4x2x1xi32>, tensor<4x2x1xbf16>) -> tensor<4x2x4xbf16>
      %v27 = nn.add "residual_2"(%v14, %v26) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      nn.yield %v27 : tensor<4x2x4xbf16>
    }
    %v28 = nn.linear "head"(%v1, %a8) : (tensor<4x2x4xbf16>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
    %v29 = nn.mse_loss "loss"(%v28, %a9) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<f32>
    return %v29 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2]
    split op [batch -> x]
    node "layers[1]" {
      offload activation
    }
  }
}
