// A multilayer perceptron, trained data-parallel on the 8 GPUs of one DGX A100.
//
//   proteus-opt --lower-strategy --simulate examples/mlp-dp.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @mlp(
      %x: tensor<4096x1024xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<4096xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<4096x1024xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<4096xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<10x4096xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<10xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<4096x1024xf32>, tensor<4096x1024xf32>, tensor<4096xf32>) -> tensor<4096x4096xf32>
    %1 = nn.relu "act"(%0) : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<4096x4096xf32>, tensor<10x4096xf32>, tensor<10xf32>) -> tensor<4096x10xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %labels) : (tensor<4096x10xf32>, tensor<4096xi32>) -> (tensor<f32>, tensor<4096xf32>)
    return %loss : tensor<f32>
  }

  // Every GPU computes one eighth of the batch; gradients are summed.
  strategy.tree @data_parallel for @mlp {
    mesh [dp = 8]
    split op [batch -> dp]
  }
}
