// RUN: proteus-opt %s -split-input-file --check-lowering -verify-diagnostics -o /dev/null

// Operations at single positions of the data-parallel axis, among others that all
// of its devices run.

// Tables of different sizes on four devices, two of them on one.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @plain(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %i2: tensor<8x3xi32> {nn.role = "input", nn.path = "ids2"},
      %i3: tensor<8x3xi32> {nn.role = "input", nn.path = "ids3"},
      %i4: tensor<8x3xi32> {nn.role = "input", nn.path = "ids4"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<3x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %t2: tensor<7x4xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %t3: tensor<40x4xf32> {nn.role = "parameter", nn.path = "tables[3].weight"},
      %t4: tensor<6x4xf32> {nn.role = "parameter", nn.path = "tables[4].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = sgd>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %v2 = nn.embedding_bag "tables[2]"(%i2, %t2) : (tensor<8x3xi32>, tensor<7x4xf32>) -> tensor<8x4xf32>
    %v3 = nn.embedding_bag "tables[3]"(%i3, %t3) : (tensor<8x3xi32>, tensor<40x4xf32>) -> tensor<8x4xf32>
    %v4 = nn.embedding_bag "tables[4]"(%i4, %t4) : (tensor<8x3xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s2 = nn.add "sum2"(%s1, %v2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s3 = nn.add "sum3"(%s2, %v3) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s4 = nn.add "sum4"(%s3, %v4) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s4, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @plain {
    mesh [dp = 4]
    split op [batch -> dp]
    node "tables[0]" { at [dp = 3] }
    node "tables[1]" { at [dp = 0] }
    node "tables[2]" { at [dp = 2] }
    node "tables[3]" { at [dp = 1] }
    node "tables[4]" { at [dp = 3] }
  }
}

// -----

// A state beside each table, and two micro-batches.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @momentum(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %i2: tensor<8x3xi32> {nn.role = "input", nn.path = "ids2"},
      %i3: tensor<8x3xi32> {nn.role = "input", nn.path = "ids3"},
      %i4: tensor<8x3xi32> {nn.role = "input", nn.path = "ids4"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<3x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %t2: tensor<7x4xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %t3: tensor<40x4xf32> {nn.role = "parameter", nn.path = "tables[3].weight"},
      %t4: tensor<6x4xf32> {nn.role = "parameter", nn.path = "tables[4].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %v2 = nn.embedding_bag "tables[2]"(%i2, %t2) : (tensor<8x3xi32>, tensor<7x4xf32>) -> tensor<8x4xf32>
    %v3 = nn.embedding_bag "tables[3]"(%i3, %t3) : (tensor<8x3xi32>, tensor<40x4xf32>) -> tensor<8x4xf32>
    %v4 = nn.embedding_bag "tables[4]"(%i4, %t4) : (tensor<8x3xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s2 = nn.add "sum2"(%s1, %v2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s3 = nn.add "sum3"(%s2, %v3) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s4 = nn.add "sum4"(%s3, %v4) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s4, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @momentum {
    mesh [dp = 4]
    split op [batch -> dp]
    schedule micro_batches = 2
    node "tables[0]" { at [dp = 3] }
    node "tables[1]" { at [dp = 0] }
    node "tables[2]" { at [dp = 2] }
    node "tables[3]" { at [dp = 1] }
    node "tables[4]" { at [dp = 3] }
  }
}

// -----

// Two states beside each table.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @moments(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %i2: tensor<8x3xi32> {nn.role = "input", nn.path = "ids2"},
      %i3: tensor<8x3xi32> {nn.role = "input", nn.path = "ids3"},
      %i4: tensor<8x3xi32> {nn.role = "input", nn.path = "ids4"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<3x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %t2: tensor<7x4xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %t3: tensor<40x4xf32> {nn.role = "parameter", nn.path = "tables[3].weight"},
      %t4: tensor<6x4xf32> {nn.role = "parameter", nn.path = "tables[4].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %v2 = nn.embedding_bag "tables[2]"(%i2, %t2) : (tensor<8x3xi32>, tensor<7x4xf32>) -> tensor<8x4xf32>
    %v3 = nn.embedding_bag "tables[3]"(%i3, %t3) : (tensor<8x3xi32>, tensor<40x4xf32>) -> tensor<8x4xf32>
    %v4 = nn.embedding_bag "tables[4]"(%i4, %t4) : (tensor<8x3xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s2 = nn.add "sum2"(%s1, %v2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s3 = nn.add "sum3"(%s2, %v3) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s4 = nn.add "sum4"(%s3, %v4) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s4, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @moments {
    mesh [dp = 4]
    split op [batch -> dp]
    node "tables[0]" { at [dp = 3] }
    node "tables[1]" { at [dp = 0] }
    node "tables[2]" { at [dp = 2] }
    node "tables[3]" { at [dp = 1] }
    node "tables[4]" { at [dp = 3] }
  }
}

// -----

// The norm of all gradients takes those of the tables from where they are.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @clipped(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %i2: tensor<8x3xi32> {nn.role = "input", nn.path = "ids2"},
      %i3: tensor<8x3xi32> {nn.role = "input", nn.path = "ids3"},
      %i4: tensor<8x3xi32> {nn.role = "input", nn.path = "ids4"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<3x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %t2: tensor<7x4xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %t3: tensor<40x4xf32> {nn.role = "parameter", nn.path = "tables[3].weight"},
      %t4: tensor<6x4xf32> {nn.role = "parameter", nn.path = "tables[4].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %v2 = nn.embedding_bag "tables[2]"(%i2, %t2) : (tensor<8x3xi32>, tensor<7x4xf32>) -> tensor<8x4xf32>
    %v3 = nn.embedding_bag "tables[3]"(%i3, %t3) : (tensor<8x3xi32>, tensor<40x4xf32>) -> tensor<8x4xf32>
    %v4 = nn.embedding_bag "tables[4]"(%i4, %t4) : (tensor<8x3xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s2 = nn.add "sum2"(%s1, %v2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s3 = nn.add "sum3"(%s2, %v3) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s4 = nn.add "sum4"(%s3, %v4) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s4, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @clipped {
    mesh [dp = 4]
    split op [batch -> dp]
    node "tables[0]" { at [dp = 3] }
    node "tables[1]" { at [dp = 0] }
    node "tables[2]" { at [dp = 2] }
    node "tables[3]" { at [dp = 1] }
    node "tables[4]" { at [dp = 3] }
  }
}

// -----

// So does the check of the loss scale.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @scaled(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %i2: tensor<8x3xi32> {nn.role = "input", nn.path = "ids2"},
      %i3: tensor<8x3xi32> {nn.role = "input", nn.path = "ids3"},
      %i4: tensor<8x3xi32> {nn.role = "input", nn.path = "ids4"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<3x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %t2: tensor<7x4xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %t3: tensor<40x4xf32> {nn.role = "parameter", nn.path = "tables[3].weight"},
      %t4: tensor<6x4xf32> {nn.role = "parameter", nn.path = "tables[4].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = adam, clip = 0.01, loss_scale = 64.0>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %v2 = nn.embedding_bag "tables[2]"(%i2, %t2) : (tensor<8x3xi32>, tensor<7x4xf32>) -> tensor<8x4xf32>
    %v3 = nn.embedding_bag "tables[3]"(%i3, %t3) : (tensor<8x3xi32>, tensor<40x4xf32>) -> tensor<8x4xf32>
    %v4 = nn.embedding_bag "tables[4]"(%i4, %t4) : (tensor<8x3xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s2 = nn.add "sum2"(%s1, %v2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s3 = nn.add "sum3"(%s2, %v3) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s4 = nn.add "sum4"(%s3, %v4) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s4, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @scaled {
    mesh [dp = 4]
    split op [batch -> dp]
    schedule micro_batches = 2
    node "tables[0]" { at [dp = 3] }
    node "tables[1]" { at [dp = 0] }
    node "tables[2]" { at [dp = 2] }
    node "tables[3]" { at [dp = 1] }
    node "tables[4]" { at [dp = 3] }
  }
}

// -----

// Tables and states in the host memory of their device.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @hosted(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %i2: tensor<8x3xi32> {nn.role = "input", nn.path = "ids2"},
      %i3: tensor<8x3xi32> {nn.role = "input", nn.path = "ids3"},
      %i4: tensor<8x3xi32> {nn.role = "input", nn.path = "ids4"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<3x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %t2: tensor<7x4xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %t3: tensor<40x4xf32> {nn.role = "parameter", nn.path = "tables[3].weight"},
      %t4: tensor<6x4xf32> {nn.role = "parameter", nn.path = "tables[4].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = adam>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %v2 = nn.embedding_bag "tables[2]"(%i2, %t2) : (tensor<8x3xi32>, tensor<7x4xf32>) -> tensor<8x4xf32>
    %v3 = nn.embedding_bag "tables[3]"(%i3, %t3) : (tensor<8x3xi32>, tensor<40x4xf32>) -> tensor<8x4xf32>
    %v4 = nn.embedding_bag "tables[4]"(%i4, %t4) : (tensor<8x3xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s2 = nn.add "sum2"(%s1, %v2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s3 = nn.add "sum3"(%s2, %v3) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s4 = nn.add "sum4"(%s3, %v4) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s4, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @hosted {
    mesh [dp = 4]
    split op [batch -> dp]
    offload weight state
    node "tables[0]" { at [dp = 3] }
    node "tables[1]" { at [dp = 0] }
    node "tables[2]" { at [dp = 2] }
    node "tables[3]" { at [dp = 1] }
    node "tables[4]" { at [dp = 3] }
  }
}

// -----

// Tables on the first stage of a pipeline.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @pipelined(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %i2: tensor<8x3xi32> {nn.role = "input", nn.path = "ids2"},
      %i3: tensor<8x3xi32> {nn.role = "input", nn.path = "ids3"},
      %i4: tensor<8x3xi32> {nn.role = "input", nn.path = "ids4"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<3x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %t2: tensor<7x4xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %t3: tensor<40x4xf32> {nn.role = "parameter", nn.path = "tables[3].weight"},
      %t4: tensor<6x4xf32> {nn.role = "parameter", nn.path = "tables[4].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %v2 = nn.embedding_bag "tables[2]"(%i2, %t2) : (tensor<8x3xi32>, tensor<7x4xf32>) -> tensor<8x4xf32>
    %v3 = nn.embedding_bag "tables[3]"(%i3, %t3) : (tensor<8x3xi32>, tensor<40x4xf32>) -> tensor<8x4xf32>
    %v4 = nn.embedding_bag "tables[4]"(%i4, %t4) : (tensor<8x3xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s2 = nn.add "sum2"(%s1, %v2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s3 = nn.add "sum3"(%s2, %v3) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %s4 = nn.add "sum4"(%s3, %v4) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s4, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @pipelined {
    mesh [pp = 2, dp = 4]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "tables[0]" { at [pp = 0, dp = 3] }
    node "tables[1]" { at [pp = 0, dp = 0] }
    node "tables[2]" { at [pp = 0, dp = 2] }
    node "tables[3]" { at [pp = 0, dp = 1] }
    node "tables[4]" { at [pp = 0, dp = 3] }
    node "sum1" { at [pp = 0] }
    node "sum2" { at [pp = 0] }
    node "sum3" { at [pp = 0] }
    node "sum4" { at [pp = 0] }
    node "top" { at [pp = 1] }
    node "loss" { at [pp = 1] }
  }
}

// -----

// A reader that every device runs whole: the vectors are broadcast.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @replicated_reader(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<3x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s1, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @replicated_reader {
    mesh [dp = 4]
    split op [batch -> dp]
    node "sum1" { split op [batch -> []] }
    node "tables[0]" { at [dp = 2] }
    node "tables[1]" { at [dp = 1] }
  }
}

// -----

// The devices at one position share a table.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @split_at_place(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<4x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s1, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @split_at_place {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "tables[0]" {
      at [dp = 1]
      split op [vocab -> tp]
    }
    node "tables[1]" { at [dp = 0] }
  }
}

// -----

// A position on two axes, and on one of two.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @two_axes(
      %i0: tensor<8x3xi32> {nn.role = "input", nn.path = "ids0"},
      %i1: tensor<8x3xi32> {nn.role = "input", nn.path = "ids1"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %t0: tensor<10x4xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %t1: tensor<4x4xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum>} {
    %v0 = nn.embedding_bag "tables[0]"(%i0, %t0) : (tensor<8x3xi32>, tensor<10x4xf32>) -> tensor<8x4xf32>
    %v1 = nn.embedding_bag "tables[1]"(%i1, %t1) : (tensor<8x3xi32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %s1 = nn.add "sum1"(%v0, %v1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%s1, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @two_axes {
    mesh [node = 2, dp = 2]
    split op [batch -> [node, dp]]
    node "tables[0]" { at [node = 1, dp = 0] }
    node "tables[1]" { at [dp = 1] }
  }
}

// -----

// An operation at one position after a sharded one, and one input that is read at a
// position and everywhere.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @after(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"},
      %c: tensor<4x4xf32> {nn.role = "parameter", nn.path = "c.weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "c"(%x, %c) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %3 = nn.add "sum"(%1, %2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%3, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @after {
    mesh [dp = 4]
    split op [batch -> dp]
    node "b" { at [dp = 1] }
    node "c" { at [dp = 2] }
  }
}

// -----

// The producer is whole on every device: the place keeps its copy.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @replicated_producer(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"},
      %c: tensor<4x4xf32> {nn.role = "parameter", nn.path = "c.weight"},
      %w: tensor<5x4xf32> {nn.role = "parameter", nn.path = "top.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "c"(%x, %c) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %3 = nn.add "sum"(%1, %2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.linear "top"(%3, %w) : (tensor<8x4xf32>, tensor<5x4xf32>) -> tensor<8x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x5xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @replicated_producer {
    mesh [dp = 4]
    split op [batch -> dp]
    node "a" { split op [batch -> []] }
    node "b" { at [dp = 1] }
    node "c" { at [dp = 2] }
  }
}
