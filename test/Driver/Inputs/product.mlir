module attributes {proteus.cluster = "dgx-a100"} {
  func.func @m(
      %x: tensor<8192x8192xf32> {nn.role = "input", nn.path = "x"},
      %y: tensor<8192x8192xf32> {nn.role = "input", nn.path = "y"},
      %w: tensor<8192x8192xf32> {nn.role = "parameter", nn.path = "w"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "product"(%x, %w) : (tensor<8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
    %loss = nn.mse_loss "loss"(%0, %y) : (tensor<8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @m {
    mesh [d = 1]
  }
}
