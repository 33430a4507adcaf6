// hang
//   proteus-opt --check-lowering=tolerance=1.000000e-09 fuzz-12-41.mlir -o /dev/null
// Made smaller from
//   proteus-strategy-fuzz --seed 12 --first 41 --count 1 --tolerance 1.000000e-09

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<8x5xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<6x5xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<5x5xf32> {nn.role = "parameter", nn.path = "position.weight"},
      %a3: tensor<5xf32> {nn.role = "parameter", nn.path = "layers[0].ln_2.scale"},
      %a4: tensor<5xf32> {nn.role = "parameter", nn.path = "layers[0].ln_2.shift"},
      %a5: tensor<10x5xf32> {nn.role = "parameter", nn.path = "layers[0].mlp.up.weight"},
      %a6: tensor<10xf32> {nn.role = "parameter", nn.path = "layers[0].mlp.up.bias"},
      %a7: tensor<5x10xf32> {nn.role = "parameter", nn.path = "layers[0].mlp.down.weight"},
      %a8: tensor<5xf32> {nn.role = "parameter", nn.path = "layers[0].mlp.down.bias"},
      %a9: tensor<5xf32> {nn.role = "parameter", nn.path = "layers[1].ln_2.scale"},
      %a10: tensor<5xf32> {nn.role = "parameter", nn.path = "layers[1].ln_2.shift"},
      %a11: tensor<10x5xf32> {nn.role = "parameter", nn.path = "layers[1].mlp.up.weight"},
      %a12: tensor<10xf32> {nn.role = "parameter", nn.path = "layers[1].mlp.up.bias"},
      %a13: tensor<5x10xf32> {nn.role = "parameter", nn.path = "layers[1].mlp.down.weight"},
      %a14: tensor<5xf32> {nn.role = "parameter", nn.path = "layers[1].mlp.down.bias"},
      %a15: tensor<5xf32> {nn.role = "parameter", nn.path = "layers[2].ln_2.scale"},
      %a16: tensor<5xf32> {nn.role = "parameter", nn.path = "layers[2].ln_2.shift"},
      %a17: tensor<10x5xf32> {nn.role = "parameter", nn.path = "layers[2].mlp.up.weight"},
      %a18: tensor<10xf32> {nn.role = "parameter", nn.path = "layers[2].mlp.up.bias"},
      %a19: tensor<5x10xf32> {nn.role = "parameter", nn.path = "layers[2].mlp.down.weight"},
      %a20: tensor<5xf32> {nn.role = "parameter", nn.path = "layers[2].mlp.down.bias"},
      %a21: tensor<6x5xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a22: tensor<6xf32> {nn.role = "parameter", nn.path = "head.bias"},
      %a23: tensor<8x5xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<8x5xi32>, tensor<6x5xf32>) -> tensor<8x5x5xf32>
    %v1 = nn.add "position"(%v0, %a2) : (tensor<8x5x5xf32>, tensor<5x5xf32>) -> tensor<8x5x5xf32>
    %v2 = nn.layer_norm "layers[0].ln_2"(%v1, %a3, %a4) : (tensor<8x5x5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<8x5x5xf32>
    %v3 = nn.linear "layers[0].mlp.up"(%v2, %a5, %a6) : (tensor<8x5x5xf32>, tensor<10x5xf32>, tensor<10xf32>) -> tensor<8x5x10xf32>
    %v4 = nn.relu "layers[0].mlp.act"(%v3) : (tensor<8x5x10xf32>) -> tensor<8x5x10xf32>
    %v5 = nn.linear "layers[0].mlp.down"(%v4, %a7, %a8) : (tensor<8x5x10xf32>, tensor<5x10xf32>, tensor<5xf32>) -> tensor<8x5x5xf32>
    %v6 = nn.layer_norm "layers[1].ln_2"(%v5, %a9, %a10) : (tensor<8x5x5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<8x5x5xf32>
    %v7 = nn.linear "layers[1].mlp.up"(%v6, %a11, %a12) : (tensor<8x5x5xf32>, tensor<10x5xf32>, tensor<10xf32>) -> tensor<8x5x10xf32>
    %v8 = nn.relu "layers[1].mlp.act"(%v7) : (tensor<8x5x10xf32>) -> tensor<8x5x10xf32>
    %v9 = nn.linear "layers[1].mlp.down"(%v8, %a13, %a14) : (tensor<8x5x10xf32>, tensor<5x10xf32>, tensor<5xf32>) -> tensor<8x5x5xf32>
    %v10 = nn.layer_norm "layers[2].ln_2"(%v9, %a15, %a16) : (tensor<8x5x5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<8x5x5xf32>
    %v11 = nn.linear "layers[2].mlp.up"(%v10, %a17, %a18) : (tensor<8x5x5xf32>, tensor<10x5xf32>, tensor<10xf32>) -> tensor<8x5x10xf32>
    %v12 = nn.relu "layers[2].mlp.act"(%v11) : (tensor<8x5x10xf32>) -> tensor<8x5x10xf32>
    %v13 = nn.linear "layers[2].mlp.down"(%v12, %a19, %a20) : (tensor<8x5x10xf32>, tensor<5x10xf32>, tensor<5xf32>) -> tensor<8x5x5xf32>
    %v14 = nn.linear "head"(%v13, %a21, %a22) : (tensor<8x5x5xf32>, tensor<6x5xf32>, tensor<6xf32>) -> tensor<8x5x6xf32>
    %v15, %v16 = nn.cross_entropy "loss"(%v14, %a23) : (tensor<8x5x6xf32>, tensor<8x5xi32>) -> (tensor<f32>, tensor<8x5xf32>)
    return %v15 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2, y = 2, z = 2] devices [5, 2, 1, 4, 6, 7, 3, 0]
    schedule micro_batches = 2 order = "1f1b" max_ongoing = 3
    split op [batch -> z]
    split state [0 -> z]
    node "layers[*]" {
      stages x
      recompute
      node "ln_2" {
        split op [seq -> y, batch -> []]
      }
      node "mlp.act" {
        split op [hidden -> y]
      }
    }
    node "embedding" {
      split op [vocab -> y]
    }
  }
}
