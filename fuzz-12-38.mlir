// hang
//   proteus-opt --check-lowering=tolerance=1.000000e-09 fuzz-12-38.mlir -o /dev/null
// Made smaller from
//   proteus-strategy-fuzz --seed 12 --first 38 --count 1 --tolerance 1.000000e-09

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<12x4xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<9x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %a3: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %a4: tensor<4x16x8xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %a5: tensor<4x16xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
      %a6: tensor<4x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %a7: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
      %a8: tensor<4x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %a9: tensor<4x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %a10: tensor<12x4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, reduction = bf16>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<12x4xi32>, tensor<9x8xf32>) -> tensor<12x4x8xf32>
    %v2 = nn.repeat "layers" count 4 carry(%v1 = %v0 : tensor<12x4x8xf32>)
        slice(%v3 = %a2 : tensor<4x8xf32> to tensor<8xf32>,
              %v4 = %a3 : tensor<4x8xf32> to tensor<8xf32>,
              %v6 = %a4 : tensor<4x16x8xf32> to tensor<16x8xf32>,
              %v7 = %a5 : tensor<4x16xf32> to tensor<16xf32>,
              %v14 = %a6 : tensor<4x8x8xf32> to tensor<8x8xf32>,
              %v15 = %a7 : tensor<4x8xf32> to tensor<8xf32>,
              %v18 = %a8 : tensor<4x8x8xf32> to tensor<8x8xf32>,
              %v21 = %a9 : tensor<4x8x8xf32> to tensor<8x8xf32>)
        -> (tensor<12x4x8xf32>) {
      %v5 = nn.layer_norm "ln_1"(%v1, %v3, %v4) : (tensor<12x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<12x4x8xf32>
      %v8 = nn.linear "attention.qkv"(%v5, %v6, %v7) : (tensor<12x4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<12x4x16xf32>
      %v9, %v10, %v11 = nn.split "attention.split"(%v8) {groups = 2 : i64} : (tensor<12x4x16xf32>) -> (tensor<12x4x8xf32>, tensor<12x4x4xf32>, tensor<12x4x4xf32>)
      %v12, %v13 = nn.attention "attention.core"(%v9, %v10, %v11) {heads = 4 : i64, kv_heads = 2 : i64} : (tensor<12x4x8xf32>, tensor<12x4x4xf32>, tensor<12x4x4xf32>) -> (tensor<12x4x8xf32>, tensor<12x4x4xf32>)
      %v16 = nn.linear "attention.proj"(%v12, %v14, %v15) : (tensor<12x4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<12x4x8xf32>
      %v17 = nn.add "residual_1"(%v1, %v16) : (tensor<12x4x8xf32>, tensor<12x4x8xf32>) -> tensor<12x4x8xf32>
      %v19 = nn.linear "mlp.up"(%v17, %v18) : (tensor<12x4x8xf32>, tensor<8x8xf32>) -> tensor<12x4x8xf32>
      %v20 = nn.relu "mlp.act"(%v19) : (tensor<12x4x8xf32>) -> tensor<12x4x8xf32>
      %v22 = nn.linear "mlp.down"(%v20, %v21) : (tensor<12x4x8xf32>, tensor<8x8xf32>) -> tensor<12x4x8xf32>
      %v23 = nn.add "residual_2"(%v17, %v22) : (tensor<12x4x8xf32>, tensor<12x4x8xf32>) -> tensor<12x4x8xf32>
      nn.yield %v23 : tensor<12x4x8xf32>
    }
    %v24 = nn.linear "head"(%v2, %a1) : (tensor<12x4x8xf32>, tensor<9x8xf32>) -> tensor<12x4x9xf32>
    %v25, %v26 = nn.cross_entropy "loss"(%v24, %a10) : (tensor<12x4x9xf32>, tensor<12x4xi32>) -> (tensor<f32>, tensor<12x4xf32>)
    return %v25 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 4, y = 2]
    schedule micro_batches = 3 order = "1f1b"
    split op [batch -> x]
    split weight [0 -> x]
    node "layers[*]" {
      node "attention.split" {
        split op [head -> y]
      }
      node "attention.core" {
        split op [seq -> y]
      }
      node "attention.proj" {
        split state [0 -> x]
      }
      node "mlp.up" {
        split op [out -> y]
      }
    }
  }
}
