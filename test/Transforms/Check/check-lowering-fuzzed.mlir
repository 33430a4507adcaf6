// Cases that proteus-strategy-fuzz has found and made smaller.
// RUN: proteus-opt %s -split-input-file --check-lowering -verify-diagnostics -o /dev/null

// A gradient is partial over y and z. One reader needs it whole, a sum of two
// such gradients passes it on while it is partial over z.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @model(
      %a0: tensor<4xi32> {nn.role = "input", nn.path = "labels"},
      %a1: tensor<4xi32> {nn.role = "input", nn.path = "ids"},
      %a2: tensor<4x4xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a3: tensor<4x4xf32> {nn.role = "parameter", nn.path = "layers[0].mlp.up.weight"},
      %a4: tensor<4x4xf32> {nn.role = "parameter", nn.path = "layers[0].mlp.down.weight"},
      %a5: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %v0 = nn.embedding "embedding"(%a1, %a2) : (tensor<4xi32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v1 = nn.linear "layers[0].mlp.up"(%v0, %a3) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v2 = nn.relu "layers[0].mlp.act"(%v1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %v3 = nn.linear "layers[0].mlp.down"(%v2, %a4) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v4 = nn.add "layers[0].residual_2"(%v0, %v3) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v5 = nn.linear "head"(%v4, %a5) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v6, %v7 = nn.cross_entropy "loss"(%v5, %a0) : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v6 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 1, y = 2, z = 2]
    node "loss" {
      split op [vocab -> [y, z]]
    }
    node "layers[*]" {
      node "mlp.up" {
        split op [out -> [z, x]]
      }
    }
  }
}

// -----

// A partial gradient is reduced on its way to another stage, where a sum reads
// it as well.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @model(
      %a0: tensor<4x5xi32> {nn.role = "input", nn.path = "labels"},
      %a1: tensor<4x5xi32> {nn.role = "input", nn.path = "ids"},
      %a2: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a3: tensor<4xbf16> {nn.role = "parameter", nn.path = "layers[0].ln_1.scale"},
      %a4: tensor<4xbf16> {nn.role = "parameter", nn.path = "layers[0].ln_1.shift"},
      %a5: tensor<18x4xbf16> {nn.role = "parameter", nn.path = "layers[0].attention.qkv.weight"},
      %a6: tensor<4x6xbf16> {nn.role = "parameter", nn.path = "layers[0].attention.proj.weight"},
      %a7: tensor<4xbf16> {nn.role = "parameter", nn.path = "layers[0].ln_2.scale"},
      %a8: tensor<4xbf16> {nn.role = "parameter", nn.path = "layers[0].ln_2.shift"},
      %a9: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "layers[0].mlp.up.weight"},
      %a10: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "layers[0].mlp.down.weight"},
      %a11: tensor<4xbf16> {nn.role = "parameter", nn.path = "layers[1].ln_1.scale"},
      %a12: tensor<4xbf16> {nn.role = "parameter", nn.path = "layers[1].ln_1.shift"},
      %a13: tensor<18x4xbf16> {nn.role = "parameter", nn.path = "layers[1].attention.qkv.weight"},
      %a14: tensor<4x6xbf16> {nn.role = "parameter", nn.path = "layers[1].attention.proj.weight"},
      %a15: tensor<4xbf16> {nn.role = "parameter", nn.path = "layers[1].ln_2.scale"},
      %a16: tensor<4xbf16> {nn.role = "parameter", nn.path = "layers[1].ln_2.shift"},
      %a17: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "layers[1].mlp.up.weight"},
      %a18: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "layers[1].mlp.down.weight"},
      %a19: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %v0 = nn.embedding "embedding"(%a1, %a2) : (tensor<4x5xi32>, tensor<4x4xbf16>) -> tensor<4x5x4xbf16>
    %v1 = nn.layer_norm "layers[0].ln_1"(%v0, %a3, %a4) : (tensor<4x5x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4x5x4xbf16>
    %v2 = nn.linear "layers[0].attention.qkv"(%v1, %a5) : (tensor<4x5x4xbf16>, tensor<18x4xbf16>) -> tensor<4x5x18xbf16>
    %v3, %v4, %v5 = nn.split "layers[0].attention.split"(%v2) {groups = 2 : i64} : (tensor<4x5x18xbf16>) -> (tensor<4x5x6xbf16>, tensor<4x5x6xbf16>, tensor<4x5x6xbf16>)
    %v6, %v7 = nn.attention "layers[0].attention.core"(%v3, %v4, %v5) {heads = 2 : i64, kv_heads = 2 : i64} : (tensor<4x5x6xbf16>, tensor<4x5x6xbf16>, tensor<4x5x6xbf16>) -> (tensor<4x5x6xbf16>, tensor<4x2x5xf32>)
    %v8 = nn.linear "layers[0].attention.proj"(%v6, %a6) : (tensor<4x5x6xbf16>, tensor<4x6xbf16>) -> tensor<4x5x4xbf16>
    %v9 = nn.add "layers[0].residual_1"(%v0, %v8) : (tensor<4x5x4xbf16>, tensor<4x5x4xbf16>) -> tensor<4x5x4xbf16>
    %v10 = nn.layer_norm "layers[0].ln_2"(%v9, %a7, %a8) : (tensor<4x5x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4x5x4xbf16>
    %v11 = nn.linear "layers[0].mlp.up"(%v10, %a9) : (tensor<4x5x4xbf16>, tensor<4x4xbf16>) -> tensor<4x5x4xbf16>
    %v12 = nn.relu "layers[0].mlp.act"(%v11) : (tensor<4x5x4xbf16>) -> tensor<4x5x4xbf16>
    %v13 = nn.linear "layers[0].mlp.down"(%v12, %a10) : (tensor<4x5x4xbf16>, tensor<4x4xbf16>) -> tensor<4x5x4xbf16>
    %v14 = nn.add "layers[0].residual_2"(%v9, %v13) : (tensor<4x5x4xbf16>, tensor<4x5x4xbf16>) -> tensor<4x5x4xbf16>
    %v15 = nn.layer_norm "layers[1].ln_1"(%v14, %a11, %a12) : (tensor<4x5x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4x5x4xbf16>
    %v16 = nn.linear "layers[1].attention.qkv"(%v15, %a13) : (tensor<4x5x4xbf16>, tensor<18x4xbf16>) -> tensor<4x5x18xbf16>
    %v17, %v18, %v19 = nn.split "layers[1].attention.split"(%v16) {groups = 2 : i64} : (tensor<4x5x18xbf16>) -> (tensor<4x5x6xbf16>, tensor<4x5x6xbf16>, tensor<4x5x6xbf16>)
    %v20, %v21 = nn.attention "layers[1].attention.core"(%v17, %v18, %v19) {heads = 2 : i64, kv_heads = 2 : i64} : (tensor<4x5x6xbf16>, tensor<4x5x6xbf16>, tensor<4x5x6xbf16>) -> (tensor<4x5x6xbf16>, tensor<4x2x5xf32>)
    %v22 = nn.linear "layers[1].attention.proj"(%v20, %a14) : (tensor<4x5x6xbf16>, tensor<4x6xbf16>) -> tensor<4x5x4xbf16>
    %v23 = nn.add "layers[1].residual_1"(%v14, %v22) : (tensor<4x5x4xbf16>, tensor<4x5x4xbf16>) -> tensor<4x5x4xbf16>
    %v24 = nn.layer_norm "layers[1].ln_2"(%v23, %a15, %a16) : (tensor<4x5x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4x5x4xbf16>
    %v25 = nn.linear "layers[1].mlp.up"(%v24, %a17) : (tensor<4x5x4xbf16>, tensor<4x4xbf16>) -> tensor<4x5x4xbf16>
    %v26 = nn.relu "layers[1].mlp.act"(%v25) : (tensor<4x5x4xbf16>) -> tensor<4x5x4xbf16>
    %v27 = nn.linear "layers[1].mlp.down"(%v26, %a18) : (tensor<4x5x4xbf16>, tensor<4x4xbf16>) -> tensor<4x5x4xbf16>
    %v28 = nn.add "layers[1].residual_2"(%v23, %v27) : (tensor<4x5x4xbf16>, tensor<4x5x4xbf16>) -> tensor<4x5x4xbf16>
    %v29 = nn.linear "head"(%v28, %a19) : (tensor<4x5x4xbf16>, tensor<4x4xbf16>) -> tensor<4x5x4xbf16>
    %v30, %v31 = nn.cross_entropy "loss"(%v29, %a0) : (tensor<4x5x4xbf16>, tensor<4x5xi32>) -> (tensor<f32>, tensor<4x5xf32>)
    return %v30 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2, y = 2]
    split weight [0 -> y]
    node "layers[*]" {
      stages x
    }
  }
}

// -----

// Constants in a layer are written again in its backward pass, and in what is
// recomputed.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @constants_of_recomputed_layers(
      %a0: tensor<4xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<1x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].linalg.up.weight"},
      %a3: tensor<1x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].linalg.down.weight"},
      %a4: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a5: tensor<4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4xi32>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %v2 = nn.repeat "layers" count 1 carry(%v1 = %v0 : tensor<4x4xbf16>)
        slice(%v4 = %a2 : tensor<1x4x4xbf16> to tensor<4x4xbf16>,
              %v10 = %a3 : tensor<1x4x4xbf16> to tensor<4x4xbf16>)
        -> (tensor<4x4xbf16>) {
      %v3 = arith.constant 0.0 : bf16
      %v5 = tensor.empty() : tensor<4x4xbf16>
      %v6 = linalg.fill ins(%v3 : bf16) outs(%v5 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v7 = linalg.matmul {proteus.path = "linalg.up"} ins(%v1, %v4 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%v6 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v8 = tensor.empty() : tensor<4x4xbf16>
      %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v7 : tensor<4x4xbf16>) outs(%v8 : tensor<4x4xbf16>) attrs = {proteus.path = "linalg.act"} {
      ^bb0(%in: bf16, %out: bf16):
        %m = arith.maximumf %in, %v3 : bf16
        linalg.yield %m : bf16
      } -> tensor<4x4xbf16>
      %v11 = tensor.empty() : tensor<4x4xbf16>
      %v12 = linalg.fill ins(%v3 : bf16) outs(%v11 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v13 = linalg.matmul {proteus.path = "linalg.down"} ins(%v9, %v10 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%v12 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      nn.yield %v13 : tensor<4x4xbf16>
    }
    %v14 = nn.linear "head"(%v2, %a4) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %v15, %v16 = nn.cross_entropy "loss"(%v14, %a5) : (tensor<4x4xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v15 : tensor<f32>
  }
  strategy.tree @strategy for @constants_of_recomputed_layers {
    mesh [x = 2]
    split op [batch -> x]
    node "layers[*]" {
      recompute
    }
  }
}

// -----

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @constants_of_layers(
      %a0: tensor<4xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<1x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].linalg.up.weight"},
      %a3: tensor<1x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].linalg.down.weight"},
      %a4: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a5: tensor<4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4xi32>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %v2 = nn.repeat "layers" count 1 carry(%v1 = %v0 : tensor<4x4xbf16>)
        slice(%v4 = %a2 : tensor<1x4x4xbf16> to tensor<4x4xbf16>,
              %v10 = %a3 : tensor<1x4x4xbf16> to tensor<4x4xbf16>)
        -> (tensor<4x4xbf16>) {
      %v3 = arith.constant 0.0 : bf16
      %v5 = tensor.empty() : tensor<4x4xbf16>
      %v6 = linalg.fill ins(%v3 : bf16) outs(%v5 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v7 = linalg.matmul {proteus.path = "linalg.up"} ins(%v1, %v4 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%v6 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v8 = tensor.empty() : tensor<4x4xbf16>
      %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v7 : tensor<4x4xbf16>) outs(%v8 : tensor<4x4xbf16>) attrs = {proteus.path = "linalg.act"} {
      ^bb0(%in: bf16, %out: bf16):
        %m = arith.maximumf %in, %v3 : bf16
        linalg.yield %m : bf16
      } -> tensor<4x4xbf16>
      %v11 = tensor.empty() : tensor<4x4xbf16>
      %v12 = linalg.fill ins(%v3 : bf16) outs(%v11 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      %v13 = linalg.matmul {proteus.path = "linalg.down"} ins(%v9, %v10 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%v12 : tensor<4x4xbf16>) -> tensor<4x4xbf16>
      nn.yield %v13 : tensor<4x4xbf16>
    }
    %v14 = nn.linear "head"(%v2, %a4) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %v15, %v16 = nn.cross_entropy "loss"(%v14, %a5) : (tensor<4x4xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v15 : tensor<f32>
  }
  strategy.tree @strategy for @constants_of_layers {
    mesh [x = 2]
    split op [batch -> x]
  }
}

// -----

// An embedding that is read twice in a group of a batch normalisation has no
// gradient: terms of a size of three cancel, where the largest velocity is 0.3.
// What rounding leaves of them differs.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @gradients_that_cancel(
      %a0: tensor<4xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x7xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<7xf32> {nn.role = "parameter", nn.path = "batch_norm.scale"},
      %a3: tensor<7xf32> {nn.role = "parameter", nn.path = "batch_norm.shift"},
      %a4: tensor<2x8x7xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %a5: tensor<2x8xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.up.bias"},
      %a6: tensor<2x7x8xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %a7: tensor<2x7xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.down.bias"},
      %a8: tensor<4x7xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a9: tensor<4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4xi32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    %v1, %v2, %v3 = nn.batch_norm "batch_norm"(%v0, %a2, %a3) {groups = 2 : i64} : (tensor<4x7xf32>, tensor<7xf32>, tensor<7xf32>) -> (tensor<4x7xf32>, tensor<2x7xf32>, tensor<2x7xf32>)
    %v5 = nn.repeat "layers" count 2 carry(%v4 = %v1 : tensor<4x7xf32>)
        slice(%v6 = %a4 : tensor<2x8x7xf32> to tensor<8x7xf32>,
              %v7 = %a5 : tensor<2x8xf32> to tensor<8xf32>,
              %v10 = %a6 : tensor<2x7x8xf32> to tensor<7x8xf32>,
              %v11 = %a7 : tensor<2x7xf32> to tensor<7xf32>)
        -> (tensor<4x7xf32>) {
      %v8 = nn.linear "mlp.up"(%v4, %v6, %v7) : (tensor<4x7xf32>, tensor<8x7xf32>, tensor<8xf32>) -> tensor<4x8xf32>
      %v9 = nn.relu "mlp.act"(%v8) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %v12 = nn.linear "mlp.down"(%v9, %v10, %v11) : (tensor<4x8xf32>, tensor<7x8xf32>, tensor<7xf32>) -> tensor<4x7xf32>
      %v13 = nn.add "residual_2"(%v4, %v12) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
      nn.yield %v13 : tensor<4x7xf32>
    }
    %v14 = nn.linear "head"(%v5, %a8) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x4xf32>
    %v15, %v16 = nn.cross_entropy "loss"(%v14, %a9) : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v15 : tensor<f32>
  }
  strategy.tree @strategy for @gradients_that_cancel {
    mesh [x = 1, y = 1, z = 2]
    node "layers[*]" {
      node "mlp.act" {
        split input 0 [hidden -> z]
        recompute
      }
    }
  }
}

// -----

// Gradients of a shared parameter are pending over micro-batches and over z; the
// sum of two of them is split over z, and stays pending over micro-batches.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @sums_pass_along_other_axes(
      %a0: tensor<6x2x4xf32> {nn.role = "input", nn.path = "x"},
      %a1: tensor<5x4xf32> {nn.role = "parameter", nn.path = "layers[*].mix.norm.scale"},
      %a2: tensor<5x4xf32> {nn.role = "parameter", nn.path = "layers[*].mix.norm.shift"},
      %a3: tensor<4x4xf32> {nn.role = "parameter", nn.path = "shared.weight"},
      %a4: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a5: tensor<6x2xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %v1 = nn.repeat "layers" count 5 carry(%v0 = %a0 : tensor<6x2x4xf32>)
        slice(%v4 = %a1 : tensor<5x4xf32> to tensor<4xf32>,
              %v5 = %a2 : tensor<5x4xf32> to tensor<4xf32>)
        -> (tensor<6x2x4xf32>) {
      %v2 = nn.matmul "mix.scores"(%v0, %v0) {transpose_b} : (tensor<6x2x4xf32>, tensor<6x2x4xf32>) -> tensor<6x2x2xf32>
      %v3 = nn.matmul "mix.values"(%v2, %v0) : (tensor<6x2x2xf32>, tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
      %v6 = nn.layer_norm "mix.norm"(%v3, %v4, %v5) : (tensor<6x2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<6x2x4xf32>
      %v7 = nn.linear "shared"(%v6, %a3) : (tensor<6x2x4xf32>, tensor<4x4xf32>) -> tensor<6x2x4xf32>
      %v8 = nn.gelu "act"(%v7) : (tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
      %v9 = nn.add "residual"(%v6, %v8) : (tensor<6x2x4xf32>, tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
      nn.yield %v9 : tensor<6x2x4xf32>
    }
    %v10 = nn.linear "head"(%v1, %a4) : (tensor<6x2x4xf32>, tensor<4x4xf32>) -> tensor<6x2x4xf32>
    %v11, %v12 = nn.cross_entropy "loss"(%v10, %a5) : (tensor<6x2x4xf32>, tensor<6x2xi32>) -> (tensor<f32>, tensor<6x2xf32>)
    return %v11 : tensor<f32>
  }
  strategy.tree @strategy for @sums_pass_along_other_axes {
    mesh [x = 1, y = 2, z = 2]
    schedule micro_batches = 3
    node "layers[2]" {
      node "act" {
        split op [hidden -> z]
      }
      node "residual" {
        split op [seq -> z, hidden -> y]
      }
    }
  }
}

// -----

// Two chunks of a stage share a parameter, and the listed order runs the weight
// gradients of chunk 0 before those of chunk 1: neither waits for the other.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-warning @below {{nothing is split over axis 'x' of size 3}}
  // expected-remark @below {{lowering is right}}
  func.func @chunks_in_any_order(
      %a0: tensor<4x4xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<12x5xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<5x5xbf16> {nn.role = "parameter", nn.path = "shared.weight"},
      %a3: tensor<5xbf16> {nn.role = "parameter", nn.path = "ln_f.scale"},
      %a4: tensor<5xbf16> {nn.role = "parameter", nn.path = "ln_f.shift"},
      %a5: tensor<12x5xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a6: tensor<12xbf16> {nn.role = "parameter", nn.path = "head.bias"},
      %a7: tensor<4x4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4x4xi32>, tensor<12x5xbf16>) -> tensor<4x4x5xbf16>
    %v2 = nn.repeat "layers" count 4 carry(%v1 = %v0 : tensor<4x4x5xbf16>)
        -> (tensor<4x4x5xbf16>) {
      %v3 = nn.linear "shared"(%v1, %a2) : (tensor<4x4x5xbf16>, tensor<5x5xbf16>) -> tensor<4x4x5xbf16>
      %v4 = nn.gelu "act"(%v3) : (tensor<4x4x5xbf16>) -> tensor<4x4x5xbf16>
      %v5 = nn.add "residual"(%v1, %v4) : (tensor<4x4x5xbf16>, tensor<4x4x5xbf16>) -> tensor<4x4x5xbf16>
      nn.yield %v5 : tensor<4x4x5xbf16>
    }
    %v6 = nn.layer_norm "ln_f"(%v2, %a3, %a4) : (tensor<4x4x5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> tensor<4x4x5xbf16>
    %v7 = nn.linear "head"(%v6, %a5, %a6) : (tensor<4x4x5xbf16>, tensor<12x5xbf16>, tensor<12xbf16>) -> tensor<4x4x12xbf16>
    %v8 = nn.cast "logits"(%v7) : (tensor<4x4x12xbf16>) -> tensor<4x4x12xf32>
    %v9, %v10 = nn.cross_entropy "loss"(%v8, %a7) : (tensor<4x4x12xf32>, tensor<4x4xi32>) -> (tensor<f32>, tensor<4x4xf32>)
    return %v9 : tensor<f32>
  }
  strategy.tree @strategy for @chunks_in_any_order {
    mesh [x = 3, y = 2]
    schedule micro_batches = 4 order = "explicit" virtual_stages = 2
    bucket size = 1000 first = 300
    overlap tensor = "chunked" chunks = 4
    order stage 0 [F1, F3, F1.1, F0, F2, F2.1, F3.1, B1.1, B2.1, B2, F0.1, B3.1, B1, B3, B0.1, B0]
    order stage 1 [F3, F1, F1.1, F0, F2, F2.1, I2.1, I1.1, W1.1, F3.1, I3.1, W3.1, I2, F0.1, W2, W2.1, I1, W1, I3, W3, I0.1, W0.1, I0, W0]
    node "layers[*]" {
      stages y
    }
  }
}

// -----

// A recomputed layer reads a value of another stage from outside its repeat. The
// collective that gathers the value got the path of the recomputation,
// `layers[*]`, which is no path of an operation.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @recomputed_layers_read_from_outside(
      %a0: tensor<4x4xf32> {nn.role = "input", nn.path = "x"},
      %a1: tensor<4x4xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %a2: tensor<4x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
      %a3: tensor<4xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.linear "stem"(%a0, %a1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v2 = nn.repeat "layers" count 4 carry(%v1 = %v0 : tensor<4x4xf32>)
        slice(%v4 = %a2 : tensor<4x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<4x4xf32>) {
      %v3 = nn.add "join"(%v1, %v0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %v5 = nn.linear "fc"(%v3, %v4) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %v6 = nn.gelu "act"(%v5) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      nn.yield %v6 : tensor<4x4xf32>
    }
    %v7, %v8 = nn.cross_entropy "loss"(%v2, %a3) : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %v7 : tensor<f32>
  }
  strategy.tree @strategy for @recomputed_layers_read_from_outside {
    mesh [x = 2, y = 2]
    node "layers[*]" {
      stages x of [2, 2]
      recompute
      node "fc" {
        split op [out -> y]
      }
    }
  }
}

// -----

// The layers of a layer read a parameter from outside of both repeats. The sum
// of its gradients over the inner layers is a term of the sum over the outer
// ones, and both are complete only after the last micro-batch.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @nested_layers_read_a_parameter_from_outside(
      %a0: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %a1: tensor<2x3x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].blocks[*].fc.weight"},
      %a2: tensor<4xf32> {nn.role = "parameter", nn.path = "shift.weight"},
      %a3: tensor<8xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v1 = nn.repeat "layers" count 2 carry(%v0 = %a0 : tensor<8x4xf32>)
        slice(%v5 = %a1 : tensor<2x3x4x4xf32> to tensor<3x4x4xf32>)
        -> (tensor<8x4xf32>) {
      %v4 = nn.repeat "blocks" count 3 carry(%v3 = %v0 : tensor<8x4xf32>)
          slice(%v6 = %v5 : tensor<3x4x4xf32> to tensor<4x4xf32>)
          -> (tensor<8x4xf32>) {
        %v7 = nn.linear "fc"(%v3, %v6) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
        %v8 = nn.add "shift"(%v7, %a2) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
        %v9 = nn.gelu "act"(%v8) : (tensor<8x4xf32>) -> tensor<8x4xf32>
        nn.yield %v9 : tensor<8x4xf32>
      }
      nn.yield %v4 : tensor<8x4xf32>
    }
    %v12, %v13 = nn.cross_entropy "loss"(%v1, %a3) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %v12 : tensor<f32>
  }
  strategy.tree @strategy for @nested_layers_read_a_parameter_from_outside {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}
