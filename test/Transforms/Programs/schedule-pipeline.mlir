// RUN: split-file %s %t
// RUN: proteus-opt %t/orders.mlir -split-input-file --schedule-pipeline | FileCheck %t/orders.mlir
// RUN: proteus-opt %t/tree.mlir -split-input-file --lower-strategy | FileCheck %t/tree.mlir

//--- orders.mlir

// Three stages and four micro-batches. One forward, one backward: a stage has at
// most as many micro-batches in flight as there are stages from it to the last.
// It is the order where nothing else is said.

#mesh = #dist.mesh<[pp = 3], micro = 4>

// CHECK:      dist.schedule @schedule programs [@a_stage0, @a_stage1, @a_stage2] order [
// CHECK-NEXT:   [F0, F1, F2, B0, F3, B1, B2, B3, U],
// CHECK-NEXT:   [F0, F1, B0, F2, B1, F3, B2, B3, U],
// CHECK-NEXT:   [F0, B0, F1, B1, F2, B2, F3, B3, U]
// CHECK-NEXT: ]
dist.program @a_stage0 mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @a_stage1 mesh #mesh at [pp = 1] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @a_stage2 mesh #mesh at [pp = 2] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}

// -----

// GPipe: all forwards, then all backwards. The settings have served their
// purpose.

#mesh = #dist.mesh<[pp = 3], micro = 4>

// CHECK:      dist.program @b_stage0
// CHECK-NOT:  strategy.
// CHECK:      dist.schedule @schedule programs [@b_stage0, @b_stage1, @b_stage2] order [
// CHECK-NEXT:   [F0, F1, F2, F3, B0, B1, B2, B3, U],
// CHECK-NEXT:   [F0, F1, F2, F3, B0, B1, B2, B3, U],
// CHECK-NEXT:   [F0, F1, F2, F3, B0, B1, B2, B3, U]
// CHECK-NEXT: ]
dist.program @b_stage0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <order = gpipe>, buckets = <size = 4096>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @b_stage1 mesh #mesh at [pp = 1] () attributes {step = #dist.step<schedule = <order = gpipe>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @b_stage2 mesh #mesh at [pp = 2] () attributes {step = #dist.step<schedule = <order = gpipe>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}

// -----

// Interleaved chunks: two stages of two chunks run groups of two micro-batches. The
// first stage starts 2 * (p - 1) + (v - 1) * p = 4 forwards before it alternates.

#mesh = #dist.mesh<[pp = 2], micro = 4>

// CHECK:      dist.schedule @schedule programs [@i_stage0, @i_stage1] order [
// CHECK-NEXT:   [F0, F1, F0.1, F1.1, F2, B0.1, F3, B1.1, F2.1, B0, F3.1, B1, B2.1, B3.1, B2, B3, U],
// CHECK-NEXT:   [F0, F1, F0.1, B0.1, F1.1, B1.1, F2, B0, F3, B1, F2.1, B2.1, F3.1, B3.1, B2, B3, U]
// CHECK-NEXT: ]
dist.program @i_stage0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <order = interleaved, virtual_stages = 2>>} {
  dist.section forward { dist.yield }
  dist.section forward chunk 1 { dist.yield }
  dist.section backward chunk 1 { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @i_stage1 mesh #mesh at [pp = 1] () attributes {step = #dist.step<schedule = <order = interleaved, virtual_stages = 2>>} {
  dist.section forward { dist.yield }
  dist.section forward chunk 1 { dist.yield }
  dist.section backward chunk 1 { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}

// -----

// GPipe with chunks: one chunk after the other, back in reverse.

#mesh = #dist.mesh<[pp = 2], micro = 3>

// CHECK:      dist.schedule @schedule programs [@j_stage0, @j_stage1] order [
// CHECK-NEXT:   [F0, F1, F2, F0.1, F1.1, F2.1, B0.1, B1.1, B2.1, B0, B1, B2, U],
// CHECK-NEXT:   [F0, F1, F2, F0.1, F1.1, F2.1, B0.1, B1.1, B2.1, B0, B1, B2, U]
// CHECK-NEXT: ]
dist.program @j_stage0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <order = gpipe, virtual_stages = 2>>} {
  dist.section forward { dist.yield }
  dist.section forward chunk 1 { dist.yield }
  dist.section backward chunk 1 { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @j_stage1 mesh #mesh at [pp = 1] () attributes {step = #dist.step<schedule = <order = gpipe, virtual_stages = 2>>} {
  dist.section forward { dist.yield }
  dist.section forward chunk 1 { dist.yield }
  dist.section backward chunk 1 { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}

// -----

// Zero bubble: stage s runs the gradients of parameters s micro-batches later. The
// first stage has no gradient to send.

#mesh = #dist.mesh<[pp = 3], micro = 4>

// CHECK:      dist.schedule @schedule programs [@z_stage0, @z_stage1, @z_stage2] order [
// CHECK-NEXT:   [F0, F1, F2, B0, F3, B1, B2, B3, U],
// CHECK-NEXT:   [F0, F1, I0, F2, I1, W0, F3, I2, W1, I3, W2, W3, U],
// CHECK-NEXT:   [F0, I0, F1, I1, F2, I2, W0, F3, I3, W1, W2, W3, U]
// CHECK-NEXT: ]
dist.program @z_stage0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <order = "zero-bubble">>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @z_stage1 mesh #mesh at [pp = 1] () attributes {step = #dist.step<schedule = <order = "zero-bubble">>} {
  dist.section forward { dist.yield }
  dist.section input_gradient { dist.yield }
  dist.section weight_gradient { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @z_stage2 mesh #mesh at [pp = 2] () attributes {step = #dist.step<schedule = <order = "zero-bubble">>} {
  dist.section forward { dist.yield }
  dist.section input_gradient { dist.yield }
  dist.section weight_gradient { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}

// -----

// A limit alone is enough of a setting: the order is that of 1F1B.

#mesh = #dist.mesh<[pp = 2], micro = 3>

// CHECK:      dist.schedule @schedule programs [@e_stage0, @e_stage1] order [
// CHECK-NEXT:   [F0, B0, F1, B1, F2, B2],
// CHECK-NEXT:   [F0, B0, F1, B1, F2, B2]
// CHECK-NEXT: ]
dist.program @e_stage0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <max_ongoing = 1>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @e_stage1 mesh #mesh at [pp = 1] () attributes {step = #dist.step<>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// A program that only runs forward.

#mesh = #dist.mesh<[pp = 1], micro = 2>

// CHECK:      dist.schedule @schedule programs [@f_stage0] order [
// CHECK-NEXT:   [F0, F1]
// CHECK-NEXT: ]
dist.program @f_stage0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <max_ongoing = 1>>} {
  dist.section forward { dist.yield }
  dist.return
}

// -----

// Sections that do not exist are not scheduled: a stage without gradients and
// one without an update.

#mesh = #dist.mesh<[pp = 2], micro = 3>

// CHECK:      dist.schedule @schedule programs [@c_stage0, @c_stage1] order [
// CHECK-NEXT:   [F0, F1, F2, U],
// CHECK-NEXT:   [F0, B0, F1, B1, F2, B2]
// CHECK-NEXT: ]
dist.program @c_stage0 mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @c_stage1 mesh #mesh at [pp = 1] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// An order that is written down stands, whatever the programs ask for.

#mesh = #dist.mesh<[pp = 2], micro = 2>

// CHECK:      dist.schedule @mine programs [@d_stage0, @d_stage1] order [
// CHECK-NEXT:   [F1, F0, B1, B0],
// CHECK-NEXT:   [F1, B1, F0, B0]
// CHECK-NEXT: ]
// CHECK-NOT:  dist.schedule
dist.program @d_stage0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <order = gpipe>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @d_stage1 mesh #mesh at [pp = 1] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.schedule @mine programs [@d_stage0, @d_stage1] order [
  [F1, F0, B1, B0],
  [F1, B1, F0, B0]
]

// -----

// Without programs there is nothing to order.

// CHECK-LABEL: func.func private @no_programs
// CHECK-NOT:   dist.schedule
func.func private @no_programs()

//--- tree.mlir

// The limit of the tree holds for every stage, and shortens what the order
// would allow.

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

// What clean-up removes does not reach the programs: of two operations that do
// the same one is left, and what nobody reads is gone.

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

// One order for all stages. Nobody waits for a gradient of the first stage, and
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

// No gradient is needed where nothing in front has parameters.

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
