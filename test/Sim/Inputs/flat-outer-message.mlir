// Every layer reads a value from outside of the layers before the value of the
// preceding layer. The second stage receives both.
module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4x2x4xf32> {nn.role = "input", nn.path = "x"},
      %a1: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].outer.fc.weight"},
      %a2: tensor<2x4xf32> {nn.role = "parameter", nn.path = "layers[*].outer.fc.bias"},
      %a3: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %a4: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %a5: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a6: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.tanh "outer"(%a0) : (tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
    %v2 = nn.repeat "layers" count 2 carry(%v1 = %a0 : tensor<4x2x4xf32>)
        slice(%v3 = %a1 : tensor<2x4x4xf32> to tensor<4x4xf32>,
              %v4 = %a2 : tensor<2x4xf32> to tensor<4xf32>,
              %v7 = %a3 : tensor<2x4x4xf32> to tensor<4x4xf32>,
              %v10 = %a4 : tensor<2x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<4x2x4xf32>) {
      %v5 = nn.linear "outer.fc"(%v0, %v3, %v4) : (tensor<4x2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x2x4xf32>
      %v6 = nn.add "outer.join"(%v1, %v5) : (tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
      %v8 = nn.linear "mlp.up"(%v6, %v7) : (tensor<4x2x4xf32>, tensor<4x4xf32>) -> tensor<4x2x4xf32>
      %v9 = nn.relu "mlp.act"(%v8) : (tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
      %v11 = nn.linear "mlp.down"(%v9, %v10) : (tensor<4x2x4xf32>, tensor<4x4xf32>) -> tensor<4x2x4xf32>
      nn.yield %v11 : tensor<4x2x4xf32>
    }
    %v12 = nn.linear "head"(%v2, %a5) : (tensor<4x2x4xf32>, tensor<4x4xf32>) -> tensor<4x2x4xf32>
    %v13, %v14 = nn.cross_entropy "loss"(%v12, %a6) : (tensor<4x2x4xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %v13 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2]
    node "layers[*]" {
      stages x
    }
  }
}
