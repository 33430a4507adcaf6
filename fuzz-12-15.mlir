// hang
//   proteus-opt --check-lowering=tolerance=1.000000e-09 fuzz-12-15.mlir -o /dev/null
// Made smaller from
//   proteus-strategy-fuzz --seed 12 --first 15 --count 1 --tolerance 1.000000e-09

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<8x4x12xf32> {nn.role = "input", nn.path = "x"},
      %a1: tensor<4x12xf32> {nn.role = "parameter", nn.path = "position.weight"},
      %a2: tensor<3x12xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %a3: tensor<3x12xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %a4: tensor<3x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %a5: tensor<3x8xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
      %a6: tensor<3x12x4xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %a7: tensor<3x12xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
      %a8: tensor<3x12xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %a9: tensor<3x12xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %a10: tensor<3x10x12xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %a11: tensor<3x12x10xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %a12: tensor<8x12xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a13: tensor<8xf32> {nn.role = "parameter", nn.path = "head.bias"},
      %a14: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, reduction = bf16>} {
    %v0 = nn.add "position"(%a0, %a1) : (tensor<8x4x12xf32>, tensor<4x12xf32>) -> tensor<8x4x12xf32>
    %v2 = nn.repeat "layers" count 3 carry(%v1 = %v0 : tensor<8x4x12xf32>)
        slice(%v3 = %a2 : tensor<3x12xf32> to tensor<12xf32>,
              %v4 = %a3 : tensor<3x12xf32> to tensor<12xf32>,
              %v6 = %a4 : tensor<3x8x12xf32> to tensor<8x12xf32>,
              %v7 = %a5 : tensor<3x8xf32> to tensor<8xf32>,
              %v14 = %a6 : tensor<3x12x4xf32> to tensor<12x4xf32>,
              %v15 = %a7 : tensor<3x12xf32> to tensor<12xf32>,
              %v18 = %a8 : tensor<3x12xf32> to tensor<12xf32>,
              %v19 = %a9 : tensor<3x12xf32> to tensor<12xf32>,
              %v21 = %a10 : tensor<3x10x12xf32> to tensor<10x12xf32>,
              %v26 = %a11 : tensor<3x12x10xf32> to tensor<12x10xf32>)
        -> (tensor<8x4x12xf32>) {
      %v5 = nn.layer_norm "ln_1"(%v1, %v3, %v4) : (tensor<8x4x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<8x4x12xf32>
      %v8 = nn.linear "attention.qkv"(%v5, %v6, %v7) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %v9, %v10, %v11 = nn.split "attention.split"(%v8) {groups = 2 : i64} : (tensor<8x4x8xf32>) -> (tensor<8x4x4xf32>, tensor<8x4x2xf32>, tensor<8x4x2xf32>)
      %v12, %v13 = nn.attention "attention.core"(%v9, %v10, %v11) {heads = 4 : i64, kv_heads = 2 : i64, causal} : (tensor<8x4x4xf32>, tensor<8x4x2xf32>, tensor<8x4x2xf32>) -> (tensor<8x4x4xf32>, tensor<8x4x4xf32>)
      %v16 = nn.linear "attention.proj"(%v12, %v14, %v15) : (tensor<8x4x4xf32>, tensor<12x4xf32>, tensor<12xf32>) -> tensor<8x4x12xf32>
      %v17 = nn.add "residual_1"(%v1, %v16) : (tensor<8x4x12xf32>, tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %v20 = nn.layer_norm "ln_2"(%v17, %v18, %v19) : (tensor<8x4x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<8x4x12xf32>
      %v22 = nn.linear "mlp.up"(%v20, %v21) : (tensor<8x4x12xf32>, tensor<10x12xf32>) -> tensor<8x4x10xf32>
      %v23 = nn.relu "mlp.act"(%v22) : (tensor<8x4x10xf32>) -> tensor<8x4x10xf32>
      %v24, %v25 = nn.dropout "mlp.drop"(%v23) {probability = 0.25 : f64, seed = 3 : i64} : (tensor<8x4x10xf32>) -> (tensor<8x4x10xf32>, tensor<8x4x10xi8>)
      %v27 = nn.linear "mlp.down"(%v24, %v26) : (tensor<8x4x10xf32>, tensor<12x10xf32>) -> tensor<8x4x12xf32>
      %v28 = nn.add "residual_2"(%v17, %v27) : (tensor<8x4x12xf32>, tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      nn.yield %v28 : tensor<8x4x12xf32>
    }
    %v29 = nn.linear "head"(%v2, %a12, %a13) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
    %v30 = nn.reshape "flat.logits"(%v29) : (tensor<8x4x8xf32>) -> tensor<32x8xf32>
    %v31 = nn.reshape "flat.labels"(%a14) : (tensor<8x4xi32>) -> tensor<32xi32>
    %v32, %v33 = nn.cross_entropy "loss"(%v30, %v31) : (tensor<32x8xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %v32 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 3, y = 3, z = 1]
    schedule micro_batches = 1 order = "gpipe"
    split op [batch -> z]
    split weight [0 -> z]
    node "layers[0:1]" {
      at [x = 0]
      node "attention.qkv" {
        split op [out -> y]
      }
    }
    node "layers[1:2]" {
      at [x = 1]
      node "ln_1" {
        split op [seq -> y]
      }
      node "attention.split" {
        split op [seq -> y]
      }
      node "attention.core" {
        split op [seq -> y]
      }
      node "attention.proj" {
        split weight [0 -> z]
      }
      node "ln_2" {
        split op [seq -> y]
      }
      node "mlp.up" {
        split op [batch -> [], out -> y]
      }
      node "mlp.act" {
        split op [seq -> y]
      }
    }
    node "layers[2:3]" {
      at [x = 2]
      node "ln_1" {
        split op [seq -> y]
      }
      node "attention.qkv" {
        split op [out -> y]
      }
      node "attention.core" {
        split op [seq -> y]
      }
      node "mlp.up" {
        split op [seq -> y]
      }
      node "mlp.drop" {
        split op [hidden -> y]
      }
      node "mlp.down" {
        split op [out -> y]
      }
      node "residual_2" {
        split op [hidden -> y]
      }
    }
  }
}
