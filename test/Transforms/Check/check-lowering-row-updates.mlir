// RUN: proteus-opt %s -split-input-file --check-lowering -verify-diagnostics -o /dev/null

// Tables of which only the rows in use are updated: the lowered step gives the same
// parameters wherever the tables are.

// On single devices, of a step with another optimizer, which the tables do not have.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @placed(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %i2: tensor<8x3xi32> {nn.role = "input", nn.path = "ids2"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<3x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %t2: tensor<40x4xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) {row_updates} : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) {row_updates} : (tensor<8x3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %v2 = nn.embedding_bag "tables[2]"(%i2, %t2) {row_updates} : (tensor<8x3xi32>, tensor<40x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s2 = nn.add "sum2"(%s1, %v2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s2, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @placed {
    mesh [dp = 4]
    split op [batch -> dp]
    node "tables[0]" { at [dp = 3] }
    node "tables[1]" { at [dp = 0] }
    node "tables[2]" { at [dp = 3] }
  }
}

// -----

// On all devices, which gather indices and gradients; with a second copy of what the
// optimizer updates, and the weights of the rest split over the devices.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @replicated(
      %ids: tensor<8x3xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t: tensor<10x4xf32> {nn.role = "parameter", nn.path = "table.weight"},
      %w: tensor<5x4xbf16> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32, master = f32>} {
    %v = nn.embedding_bag "table"(%ids, %t) {row_updates} : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xbf16>
    %y = nn.linear "top"(%v, %w) : (tensor<8x4xbf16>, tensor<5x4xbf16>) -> tensor<8x5xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xbf16>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @replicated {
    mesh [dp = 4]
    split op [batch -> dp]
    split gradient [0 -> dp]
    split state [0 -> dp]
  }
}

// -----

// Split by rows: each device changes those that it holds. The lookup is recomputed.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @by_rows(
      %ids: tensor<8x3xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t: tensor<10x4xf32> {nn.role = "parameter", nn.path = "table.weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v = nn.embedding_bag "table"(%ids, %t) {row_updates} : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%v, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @by_rows {
    mesh [dp = 2, tp = 3]
    split op [batch -> dp]
    node "table" { split op [batch -> dp, vocab -> tp] recompute }
  }
}

// -----

// Stacked ones, split by tables.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @by_tables(
      %ids: tensor<8x4x2xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t: tensor<4x10x6xf32> {nn.role = "parameter", nn.path = "tables.weight"},
      %w: tensor<5x6xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = sgd>} {
    %v = nn.embedding_bag "tables"(%ids, %t) {row_updates} : (tensor<8x4x2xi32>, tensor<4x10x6xf32>) -> tensor<8x4x6xf32>
    %x = nn.interaction "interaction"(%v) : (tensor<8x4x6xf32>) -> tensor<8x6xf32>
    %y = nn.linear "top"(%x, %w) : (tensor<8x6xf32>, tensor<5x6xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @by_tables {
    mesh [dp = 4]
    split op [batch -> dp]
    node "tables" { split op [batch -> [], table -> dp] }
  }
}

// -----

// A gradient that is much smaller than the table: the check of gradients does not take
// it from the difference of the tables before and after the update.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @small_gradient(
      %a0: tensor<6x2x1xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<2x10x2xf32> {nn.role = "parameter", nn.path = "bag.weight"},
      %a2: tensor<4x1xf32> {nn.role = "parameter", nn.path = "interaction_out.weight"},
      %a3: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].linalg.up.weight"},
      %a4: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].linalg.down.weight"},
      %a5: tensor<10x4xf32> {nn.role = "parameter", nn.path = "head.weight"},
      %a6: tensor<6xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.embedding_bag "bag"(%a0, %a1) {row_updates} : (tensor<6x2x1xi32>, tensor<2x10x2xf32>) -> tensor<6x2x2xf32>
    %v1 = nn.interaction "interaction"(%v0) : (tensor<6x2x2xf32>) -> tensor<6x1xf32>
    %v2 = nn.linear "interaction_out"(%v1, %a2) : (tensor<6x1xf32>, tensor<4x1xf32>) -> tensor<6x4xf32>
    %v4 = nn.repeat "layers" count 2 carry(%v3 = %v2 : tensor<6x4xf32>)
        slice(%v7 = %a3 : tensor<2x4x4xf32> to tensor<4x4xf32>,
              %v13 = %a4 : tensor<2x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<6x4xf32>) {
      %v5 = nn.mul "outer.join"(%v3, %v2) : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
      %v6 = arith.constant 0.0 : f32
      %v8 = tensor.empty() : tensor<6x4xf32>
      %v9 = linalg.fill ins(%v6 : f32) outs(%v8 : tensor<6x4xf32>) -> tensor<6x4xf32>
      %v10 = linalg.matmul {proteus.path = "linalg.up"} ins(%v5, %v7 : tensor<6x4xf32>, tensor<4x4xf32>) outs(%v9 : tensor<6x4xf32>) -> tensor<6x4xf32>
      %v11 = tensor.empty() : tensor<6x4xf32>
      %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v10 : tensor<6x4xf32>) outs(%v11 : tensor<6x4xf32>) attrs = {proteus.path = "linalg.act"} {
      ^bb0(%in: f32, %out: f32):
        %m = arith.maximumf %in, %v6 : f32
        linalg.yield %m : f32
      } -> tensor<6x4xf32>
      %v14 = tensor.empty() : tensor<6x4xf32>
      %v15 = linalg.fill ins(%v6 : f32) outs(%v14 : tensor<6x4xf32>) -> tensor<6x4xf32>
      %v16 = linalg.matmul {proteus.path = "linalg.down"} ins(%v12, %v13 : tensor<6x4xf32>, tensor<4x4xf32>) outs(%v15 : tensor<6x4xf32>) -> tensor<6x4xf32>
      nn.yield %v16 : tensor<6x4xf32>
    }
    %v17 = nn.linear "head"(%v4, %a5) : (tensor<6x4xf32>, tensor<10x4xf32>) -> tensor<6x10xf32>
    %v18, %v19 = nn.cross_entropy "loss"(%v17, %a6) : (tensor<6x10xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<6xf32>)
    return %v18 : tensor<f32>
  }
  strategy.tree @strategy for @small_gradient {
    mesh [x = 1]
  }
}
