// The gradient that enters a recomputed layer is reduced before the recomputation.

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<4x1xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<9x4xf32> {nn.role = "parameter", nn.path = "bag.weight"},
      %a2: tensor<4x2x4xf32> {nn.role = "parameter", nn.path = "layers[*].moe.gate.weight"},
      %a3: tensor<4x2x2x4xf32> {nn.role = "parameter", nn.path = "layers[*].moe.experts.up.weight"},
      %a4: tensor<4x2x4x2xf32> {nn.role = "parameter", nn.path = "layers[*].moe.experts.down.weight"},
      %a5: tensor<9x4xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a6: tensor<4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.embedding_bag "bag"(%a0, %a1) : (tensor<4x1xi32>, tensor<9x4xf32>) -> tensor<4x4xf32>
    %v2 = nn.repeat "layers" count 4 carry(%v1 = %v0 : tensor<4x4xf32>)
        slice(%v3 = %a2 : tensor<4x2x4xf32> to tensor<2x4xf32>,
              %v9 = %a3 : tensor<4x2x2x4xf32> to tensor<2x2x4xf32>,
              %v12 = %a4 : tensor<4x2x4x2xf32> to tensor<2x4x2xf32>)
        -> (tensor<4x4xf32>) {
      %v4 = nn.linear "moe.gate"(%v1, %v3) : (tensor<4x4xf32>, tensor<2x4xf32>) -> tensor<4x2xf32>
      %v5, %v6, %v7 = nn.moe_route "moe.route"(%v4)  {groups = 4 : i64, capacity_factor = 0.50 : f64} : (tensor<4x2xf32>) -> (tensor<4x1xf32>, tensor<4x1xi32>, tensor<4x1xi32>)
      %v8 = nn.moe_dispatch "moe.dispatch"(%v1, %v6, %v7) : (tensor<4x4xf32>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<2x4x1x4xf32>
      %v10 = nn.expert_linear "moe.experts.up"(%v8, %v9) : (tensor<2x4x1x4xf32>, tensor<2x2x4xf32>) -> tensor<2x4x1x2xf32>
      %v11 = nn.gelu "moe.experts.act"(%v10) : (tensor<2x4x1x2xf32>) -> tensor<2x4x1x2xf32>
      %v13 = nn.expert_linear "moe.experts.down"(%v11, %v12) : (tensor<2x4x1x2xf32>, tensor<2x4x2xf32>) -> tensor<2x4x1x4xf32>
      %v14 = nn.moe_combine "moe.combine"(%v13, %v6, %v7, %v5) : (tensor<2x4x1x4xf32>, tensor<4x1xi32>, tensor<4x1xi32>, tensor<4x1xf32>) -> tensor<4x4xf32>
      %v15 = nn.add "residual_2"(%v1, %v14) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      nn.yield %v15 : tensor<4x4xf32>
    }
    %v16 = nn.linear "head"(%v2, %a5) : (tensor<4x4xf32>, tensor<9x4xf32>) -> tensor<4x9xf32>
    %v17, %v18 = nn.cross_entropy "loss"(%v16, %a6) : (tensor<4x9xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v17 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2, y = 2, z = 2]
    schedule micro_batches = 1 order = "gpipe" virtual_stages = 2
    node "layers[*]" {
      stages x of [1, 1, 1, 1]
      recompute
      node "moe.experts.down" {
        split op [expert -> y]
      }
    }
    node "loss" {
      split op [vocab -> z]
    }
  }
}
