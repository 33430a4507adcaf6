// RUN: proteus-opt %s -split-input-file --schedule-pipeline | FileCheck %s --implicit-check-not="schedule = <"

// No program keeps the setting `schedule`: it is applied, unless a case says so.

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

// CHECK:      dist.program @b_stage0 {{.*}} attributes {step = #dist.step<buckets = <size = 4096>>} {
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

// A schedule that is there stands, whatever the programs request. Their requests
// are kept.

#mesh = #dist.mesh<[pp = 2], micro = 2>

// CHECK:      dist.program @d_stage0 {{.*}} attributes {step = #dist.step<schedule = <order = gpipe>>} {
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

// The limit holds for every stage, and shortens what the order would allow.

#mesh = #dist.mesh<[pp = 3], micro = 4>

// CHECK:      dist.schedule @schedule programs [@g_stage0, @g_stage1, @g_stage2] order [
// CHECK-NEXT:   [F0, F1, B0, F2, B1, F3, B2, B3],
// CHECK-NEXT:   [F0, F1, B0, F2, B1, F3, B2, B3],
// CHECK-NEXT:   [F0, B0, F1, B1, F2, B2, F3, B3]
// CHECK-NEXT: ]
dist.program @g_stage0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <max_ongoing = 2>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @g_stage1 mesh #mesh at [pp = 1] () attributes {step = #dist.step<schedule = <max_ongoing = 2>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @g_stage2 mesh #mesh at [pp = 2] () attributes {step = #dist.step<schedule = <max_ongoing = 2>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

#mesh = #dist.mesh<[pp = 1], micro = 4>

// CHECK:      dist.schedule @schedule programs [@h_stage0] order [
// CHECK-NEXT:   [F0, F1, F2, B0, F3, B1, B2, B3]
// CHECK-NEXT: ]
dist.program @h_stage0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <order = gpipe, max_ongoing = 3>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// One listed order for all stages of a model that is trained. A backward that is
// not split runs in place of I, and W is dropped (stage 0); a stage without
// gradients drops both (stage 2); the update comes last and is not listed.

#mesh = #dist.mesh<[pp = 3], micro = 2>

// CHECK:      dist.schedule @schedule programs [@i_stage0, @i_stage1, @i_stage2] order [
// CHECK-NEXT:   [F0, F1, B0, B1, U],
// CHECK-NEXT:   [F0, F1, I0, I1, W0, W1, U],
// CHECK-NEXT:   [F0, F1]
// CHECK-NEXT: ]
dist.program @i_stage0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "I0", "I1", "W0", "W1"], ["F0", "F1", "I0", "I1", "W0", "W1"], ["F0", "F1", "I0", "I1", "W0", "W1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @i_stage1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "I0", "I1", "W0", "W1"], ["F0", "F1", "I0", "I1", "W0", "W1"], ["F0", "F1", "I0", "I1", "W0", "W1"]]>>} {
  dist.section forward { dist.yield }
  dist.section input_gradient { dist.yield }
  dist.section weight_gradient { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @i_stage2 mesh #mesh at [pp = 2] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "I0", "I1", "W0", "W1"], ["F0", "F1", "I0", "I1", "W0", "W1"], ["F0", "F1", "I0", "I1", "W0", "W1"]]>>} {
  dist.section forward { dist.yield }
  dist.return
}
