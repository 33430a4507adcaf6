// The gradient of a shared parameter joins its bucket when its last layer has added to
// it, before the other gradients of that layer.

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4x2xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<3x4xbf16> {nn.role = "parameter", nn.path = "layers[*].norm_1.scale"},
      %a3: tensor<3x1x4xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.q.weight"},
      %a4: tensor<3x1x4xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.k.weight"},
      %a5: tensor<3x1x4xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.v.weight"},
      %a6: tensor<3x4x1xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %a7: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "shared.weight"},
      %a8: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a9: tensor<4x2x4xbf16> {nn.role = "input", nn.path = "target"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4x2xi32>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
    %v2 = nn.repeat "layers" count 3 carry(%v1 = %v0 : tensor<4x2x4xbf16>)
        slice(%v3 = %a2 : tensor<3x4xbf16> to tensor<4xbf16>,
              %v5 = %a3 : tensor<3x1x4xbf16> to tensor<1x4xbf16>,
              %v9 = %a4 : tensor<3x1x4xbf16> to tensor<1x4xbf16>,
              %v13 = %a5 : tensor<3x1x4xbf16> to tensor<1x4xbf16>,
              %v22 = %a6 : tensor<3x4x1xbf16> to tensor<4x1xbf16>)
        -> (tensor<4x2x4xbf16>) {
      %v4 = nn.rms_norm "norm_1"(%v1, %v3) : (tensor<4x2x4xbf16>, tensor<4xbf16>) -> tensor<4x2x4xbf16>
      %v6 = nn.linear "attention.q"(%v4, %v5) : (tensor<4x2x4xbf16>, tensor<1x4xbf16>) -> tensor<4x2x1xbf16>
      %v7 = nn.reshape "attention.q_heads"(%v6) : (tensor<4x2x1xbf16>) -> tensor<4x2x1x1xbf16>
      %v8 = nn.transpose "attention.q_transpose"(%v7) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x2x1x1xbf16>) -> tensor<4x1x2x1xbf16>
      %v10 = nn.linear "attention.k"(%v4, %v9) : (tensor<4x2x4xbf16>, tensor<1x4xbf16>) -> tensor<4x2x1xbf16>
      %v11 = nn.reshape "attention.k_heads"(%v10) : (tensor<4x2x1xbf16>) -> tensor<4x2x1x1xbf16>
      %v12 = nn.transpose "attention.k_transpose"(%v11) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x2x1x1xbf16>) -> tensor<4x1x2x1xbf16>
      %v14 = nn.linear "attention.v"(%v4, %v13) : (tensor<4x2x4xbf16>, tensor<1x4xbf16>) -> tensor<4x2x1xbf16>
      %v15 = nn.reshape "attention.v_heads"(%v14) : (tensor<4x2x1xbf16>) -> tensor<4x2x1x1xbf16>
      %v16 = nn.transpose "attention.v_transpose"(%v15) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x2x1x1xbf16>) -> tensor<4x1x2x1xbf16>
      %v17 = nn.matmul "attention.scores"(%v8, %v12) {transpose_b} : (tensor<4x1x2x1xbf16>, tensor<4x1x2x1xbf16>) -> tensor<4x1x2x2xbf16>
      %v18 = nn.softmax "attention.softmax"(%v17) : (tensor<4x1x2x2xbf16>) -> tensor<4x1x2x2xbf16>
      %v19 = nn.matmul "attention.context"(%v18, %v16) : (tensor<4x1x2x2xbf16>, tensor<4x1x2x1xbf16>) -> tensor<4x1x2x1xbf16>
      %v20 = nn.transpose "attention.merge"(%v19) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x1x2x1xbf16>) -> tensor<4x2x1x1xbf16>
      %v21 = nn.reshape "attention.flatten"(%v20) : (tensor<4x2x1x1xbf16>) -> tensor<4x2x1xbf16>
      %v23 = nn.linear "attention.proj"(%v21, %v22) : (tensor<4x2x1xbf16>, tensor<4x1xbf16>) -> tensor<4x2x4xbf16>
      %v24 = nn.add "residual_1"(%v1, %v23) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      %v25 = nn.linear "shared"(%v24, %a7) : (tensor<4x2x4xbf16>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
      %v26 = nn.gelu "act"(%v25) : (tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      %v27 = nn.add "residual"(%v24, %v26) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<4x2x4xbf16>
      nn.yield %v27 : tensor<4x2x4xbf16>
    }
    %v28 = nn.linear "head"(%v2, %a8) : (tensor<4x2x4xbf16>, tensor<4x4xbf16>) -> tensor<4x2x4xbf16>
    %v29 = nn.mse_loss "loss"(%v28, %a9) : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>) -> tensor<f32>
    return %v29 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 6]
    bucket first = 64
    node "layers[*]" {
      stages x:(2)3 of [1, 1, 1]
      node "shared" {
        split op [seq -> x:(1)2]
      }
    }
  }
}
