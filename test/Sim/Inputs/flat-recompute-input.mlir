// A recomputation reads a value in the layout in which the forward pass keeps it.

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<12x11x4xf32> {nn.role = "input", nn.path = "x"},
      %a1: tensor<1x4xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %a2: tensor<1x4xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %a3: tensor<1x3x4xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %a4: tensor<1x4x1xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %a5: tensor<1x4xf32> {nn.role = "parameter", nn.path = "layers[*].norm_2.scale"},
      %a6: tensor<1x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.gate.weight"},
      %a7: tensor<1x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %a8: tensor<1x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %a9: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a10: tensor<12x11xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v1 = nn.repeat "layers" count 1 carry(%v0 = %a0 : tensor<12x11x4xf32>)
        slice(%v2 = %a1 : tensor<1x4xf32> to tensor<4xf32>,
              %v3 = %a2 : tensor<1x4xf32> to tensor<4xf32>,
              %v5 = %a3 : tensor<1x3x4xf32> to tensor<3x4xf32>,
              %v12 = %a4 : tensor<1x4x1xf32> to tensor<4x1xf32>,
              %v15 = %a5 : tensor<1x4xf32> to tensor<4xf32>,
              %v17 = %a6 : tensor<1x4x4xf32> to tensor<4x4xf32>,
              %v19 = %a7 : tensor<1x4x4xf32> to tensor<4x4xf32>,
              %v22 = %a8 : tensor<1x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<12x11x4xf32>) {
      %v4 = nn.layer_norm "ln_1"(%v0, %v2, %v3) : (tensor<12x11x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12x11x4xf32>
      %v6 = nn.linear "attention.qkv"(%v4, %v5) : (tensor<12x11x4xf32>, tensor<3x4xf32>) -> tensor<12x11x3xf32>
      %v7, %v8, %v9 = nn.split "attention.split"(%v6) {groups = 1 : i64} : (tensor<12x11x3xf32>) -> (tensor<12x11x1xf32>, tensor<12x11x1xf32>, tensor<12x11x1xf32>)
      %v10, %v11 = nn.attention "attention.core"(%v7, %v8, %v9) {heads = 1 : i64, kv_heads = 1 : i64} : (tensor<12x11x1xf32>, tensor<12x11x1xf32>, tensor<12x11x1xf32>) -> (tensor<12x11x1xf32>, tensor<12x1x11xf32>)
      %v13 = nn.linear "attention.proj"(%v10, %v12) : (tensor<12x11x1xf32>, tensor<4x1xf32>) -> tensor<12x11x4xf32>
      %v14 = nn.add "residual_1"(%v0, %v13) : (tensor<12x11x4xf32>, tensor<12x11x4xf32>) -> tensor<12x11x4xf32>
      %v16 = nn.rms_norm "norm_2"(%v14, %v15) : (tensor<12x11x4xf32>, tensor<4xf32>) -> tensor<12x11x4xf32>
      %v18 = nn.linear "mlp.gate"(%v16, %v17) : (tensor<12x11x4xf32>, tensor<4x4xf32>) -> tensor<12x11x4xf32>
      %v20 = nn.linear "mlp.up"(%v16, %v19) : (tensor<12x11x4xf32>, tensor<4x4xf32>) -> tensor<12x11x4xf32>
      %v21 = nn.swiglu "mlp.act"(%v18, %v20) : (tensor<12x11x4xf32>, tensor<12x11x4xf32>) -> tensor<12x11x4xf32>
      %v23 = nn.linear "mlp.down"(%v21, %v22) : (tensor<12x11x4xf32>, tensor<4x4xf32>) -> tensor<12x11x4xf32>
      %v24 = nn.add "residual_2"(%v14, %v23) : (tensor<12x11x4xf32>, tensor<12x11x4xf32>) -> tensor<12x11x4xf32>
      nn.yield %v24 : tensor<12x11x4xf32>
    }
    %v25 = nn.linear "head"(%v1, %a9) : (tensor<12x11x4xf32>, tensor<4x4xf32>) -> tensor<12x11x4xf32>
    %v26, %v27 = nn.cross_entropy "loss"(%v25, %a10) : (tensor<12x11x4xf32>, tensor<12x11xi32>) -> (tensor<f32>, tensor<12x11xf32>)
    return %v26 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2, y = 2]
    node "layers[*]" {
      recompute
      node "residual_1" {
        split op [seq -> x, batch -> y]
        recompute
      }
      node "norm_2" {
        split op [seq -> [x, y]]
      }
    }
  }
}
