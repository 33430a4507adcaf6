module attributes {proteus.cluster = "dgx-a100", proteus.stack = "generic"} {
  func.func @mlp(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %y: tensor<8x16xf32> {nn.role = "input", nn.path = "y"},
      %ws: tensor<2x16x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %r = nn.repeat "layers" count 2 carry(%c = %x : tensor<8x16xf32>)
        slice(%w = %ws : tensor<2x16x16xf32> to tensor<16x16xf32>) -> (tensor<8x16xf32>) {
      %0 = nn.linear "fc"(%c, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      %1 = nn.relu "act"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
      nn.yield %1 : tensor<8x16xf32>
    }
    %loss = nn.mse_loss "loss"(%r, %y) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @mlp {
    mesh [dp = 4, tp = 2]
    split op [batch -> dp]
    node "layers" { split op [out -> tp] recompute }
    schedule micro_batches = 2 order = "1f1b"
  }
}
