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
