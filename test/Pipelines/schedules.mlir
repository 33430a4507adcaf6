// RUN: proteus-opt %s -split-input-file --lower-strategy | FileCheck %s

// Orders of whole models; those of given programs are in Transforms/Programs.

// The limit of the tree holds for every stage, and is less than the order would
// allow.

// CHECK:      dist.schedule @schedule programs [@limited_stage0, @limited_stage1, @limited_stage2] order [
// CHECK-NEXT:   [F0, F1, B0, F2, B1, F3, B2, B3, U],
// CHECK-NEXT:   [F0, F1, B0, F2, B1, F3, B2, B3, U],
// CHECK-NEXT:   [F0, B0, F1, B1, F2, B2, F3, B3, U]
// CHECK-NEXT: ]
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @limited(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %ws: tensor<3x16x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %y = nn.repeat "layers" count 3
        carry(%h = %x : tensor<8x16xf32>)
        slice(%w = %ws : tensor<3x16x16xf32> to tensor<16x16xf32>)
        -> (tensor<8x16xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      nn.yield %0 : tensor<8x16xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @limited {
    mesh [pp = 3]
    schedule micro_batches = 4 order = "1f1b" max_ongoing = 2
    node "layers[*]" { stages pp }
  }
}

// -----

// CHECK:      dist.schedule @schedule programs [@limited_gpipe_stage0, @limited_gpipe_stage1, @limited_gpipe_stage2] order [
// CHECK-NEXT:   [F0, F1, F2, B0, F3, B1, B2, B3, U],
// CHECK-NEXT:   [F0, F1, F2, B0, F3, B1, B2, B3, U],
// CHECK-NEXT:   [F0, F1, F2, B0, F3, B1, B2, B3, U]
// CHECK-NEXT: ]
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @limited_gpipe(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %ws: tensor<3x16x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %y = nn.repeat "layers" count 3
        carry(%h = %x : tensor<8x16xf32>)
        slice(%w = %ws : tensor<3x16x16xf32> to tensor<16x16xf32>)
        -> (tensor<8x16xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      nn.yield %0 : tensor<8x16xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @limited_gpipe {
    mesh [pp = 3]
    schedule micro_batches = 4 order = "gpipe" max_ongoing = 3
    node "layers[*]" { stages pp }
  }
}

// -----

// The clean-up is part of the lowering: of two equal operations one is left, and an
// operation without a reader is gone.

// CHECK-LABEL: dist.program @cleaned
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[A:.+]] = nn.relu "a"
// CHECK-NEXT:      %[[SUM:.+]] = nn.add "sum"(%[[A]], %[[A]])
// CHECK-NEXT:      dist.yield %[[SUM]]
// CHECK:       dist.schedule @schedule programs [@cleaned] order [
// CHECK-NEXT:    [F0]
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @cleaned(%x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"}) -> tensor<8x16xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "a"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.gelu "unused"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = nn.add "sum"(%0, %1) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %3 : tensor<8x16xf32>
  }
  strategy.tree @s for @cleaned {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// One order for all stages. No stage waits for a gradient of the first stage, and
// the second has no parameters: their backwards are whole and run in place of I.

// CHECK-LABEL: dist.program @alike_stage0
// CHECK:       dist.schedule @schedule programs [@alike_stage0, @alike_stage1, @alike_stage2] order [
// CHECK-NEXT:    [F0, F1, B0, B1, U],
// CHECK-NEXT:    [F0, F1, B0, B1],
// CHECK-NEXT:    [F0, F1, I0, I1, W0, W1, U]
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @alike(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "b"(%1, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @alike {
    mesh [pp = 3]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, I0, I1, W0, W1]
    order stage 1 [F0, F1, I0, I1, W0, W1]
    order stage 2 [F0, F1, I0, I1, W0, W1]
    node "a" { at [pp = 0] }
    node "act" { at [pp = 1] }
    node "b" { at [pp = 2] }
  }
}

// -----

// No gradient is needed on a stage if no stage up to it has parameters.

// CHECK-LABEL: dist.program @inputs_stage0
// CHECK:       dist.schedule @schedule programs [@inputs_stage0, @inputs_stage1] order [
// CHECK-NEXT:    [F0, F1],
// CHECK-NEXT:    [F0, B0, F1, B1, U]
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @inputs(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %1 = nn.gelu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "b"(%1, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @inputs {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, B0, B1]
    order stage 1 [F0, I0, W0, F1, I1, W1]
    node "act" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}
