// A stage offloads the value that it receives, and a kernel that does not read this
// value runs first.
module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4x4xf32> {nn.role = "input", nn.path = "x"},
      %a1: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].outer.fc.weight"},
      %a2: tensor<2x4xf32> {nn.role = "parameter", nn.path = "layers[*].outer.fc.bias"},
      %a3: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %a4: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %a5: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a6: tensor<4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %v1 = nn.repeat "layers" count 2 carry(%v0 = %a0 : tensor<4x4xf32>)
        slice(%v2 = %a1 : tensor<2x4x4xf32> to tensor<4x4xf32>,
              %v3 = %a2 : tensor<2x4xf32> to tensor<4xf32>,
              %v6 = %a3 : tensor<2x4x4xf32> to tensor<4x4xf32>,
              %v9 = %a4 : tensor<2x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<4x4xf32>) {
      %v4 = nn.linear "outer.fc"(%a0, %v2, %v3) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
      %v5 = nn.mul "outer.join"(%v0, %v4) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %v7 = nn.linear "mlp.up"(%v5, %v6) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %v8 = nn.relu "mlp.act"(%v7) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %v10 = nn.linear "mlp.down"(%v8, %v9) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      nn.yield %v10 : tensor<4x4xf32>
    }
    %v11 = nn.linear "head"(%v1, %a5) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v12, %v13 = nn.cross_entropy "loss"(%v11, %a6) : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v12 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 1, y = 2]
    offload state activation
    node "layers[*]" {
      stages y
    }
  }
}
