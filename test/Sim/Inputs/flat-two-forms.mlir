module attributes {proteus.cluster = "dgx-a100"} {
  func.func @m(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w0: tensor<16x16xf32> {nn.role = "parameter", nn.path = "in.weight"},
      %w1: tensor<3x64x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<3x16x64xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %i = nn.linear "in"(%x, %w0) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %y = nn.repeat "layers" count 3
        carry(%h = %i : tensor<32x16xf32>)
        slice(%a = %w1 : tensor<3x64x16xf32> to tensor<64x16xf32>, %b = %w2 : tensor<3x16x64xf32> to tensor<16x64xf32>)
        -> (tensor<32x16xf32>) {
      %0 = nn.linear "fc1"(%h, %a) : (tensor<32x16xf32>, tensor<64x16xf32>) -> tensor<32x64xf32>
      %1 = nn.relu "act"(%0) : (tensor<32x64xf32>) -> tensor<32x64xf32>
      %2 = nn.linear "fc2"(%1, %b) : (tensor<32x64xf32>, tensor<16x64xf32>) -> tensor<32x16xf32>
      nn.yield %2 : tensor<32x16xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @m {
    mesh [tp = 2]
    node "layers[*].act" { split op [hidden -> []] }
    node "layers[*].fc2" { split op [in -> tp] }
  }
}

