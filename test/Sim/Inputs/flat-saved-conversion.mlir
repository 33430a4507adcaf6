// A layer reads a value from outside, and converts it only to save it.
module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4x4xbf16> {nn.role = "input", nn.path = "x"},
      %a1: tensor<1x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].outer.fc.weight"},
      %a2: tensor<1x4xbf16> {nn.role = "parameter", nn.path = "layers[*].outer.fc.bias"},
      %a3: tensor<1x4xbf16> {nn.role = "parameter", nn.path = "layers[*].norm_2.scale"},
      %a4: tensor<1x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.gate.weight"},
      %a5: tensor<1x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %a6: tensor<1x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %a7: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a8: tensor<4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v1 = nn.repeat "layers" count 1 carry(%v0 = %a0 : tensor<4x4xbf16>)
        slice(%v2 = %a1 : tensor<1x4x4xbf16> to tensor<4x4xbf16>,
              %v3 = %a2 : tensor<1x4xbf16> to tensor<4xbf16>,
              %v6 = %a3 : tensor<1x4xbf16> to tensor<4xbf16>,
              %v8 = %a4 : tensor<1x4x4xbf16> to tensor<4x4xbf16>,
              %v10 = %a5 : tensor<1x4x4xbf16> to tensor<4x4xbf16>,
              %v13 = %a6 : tensor<1x4x4xbf16> to tensor<4x4xbf16>)
        -> (tensor<4x4xbf16>) {
      %v4 = nn.linear "outer.fc"(%a0, %v2, %v3) : (tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4xbf16>) -> tensor<4x4xbf16>
      %v5 = nn.add "outer.join"(%v0, %v4) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v7 = nn.rms_norm "norm_2"(%v5, %v6) : (tensor<4x4xbf16>, tensor<4xbf16>) -> tensor<4x4xbf16>
      %v9 = nn.linear "mlp.gate"(%v7, %v8) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v11 = nn.linear "mlp.up"(%v7, %v10) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v12 = nn.swiglu "mlp.act"(%v9, %v11) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v14 = nn.linear "mlp.down"(%v12, %v13) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v15 = nn.add "residual_2"(%v5, %v14) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
      nn.yield %v15 : tensor<4x4xbf16>
    }
    %v16 = nn.linear "head"(%v1, %a7) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %v17, %v18 = nn.cross_entropy "loss"(%v16, %a8) : (tensor<4x4xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v17 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 1, y = 2]
    split op [batch -> y]
    node "layers[*]" {
      node "outer.fc" {
        split input 0 [in -> y]
      }
      node "mlp.act" {
        split output [hidden -> y]
      }
    }
  }
}
