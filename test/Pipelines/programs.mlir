// RUN: proteus-opt %s -split-input-file %{to-split-stages} \
// RUN:   | FileCheck %s --implicit-check-not=dist.send --implicit-check-not=dist.recv \
// RUN:       --implicit-check-not=dist.transfer --implicit-check-not=func.func \
// RUN:       --implicit-check-not=strategy.phase --implicit-check-not=strategy.stage \
// RUN:       --implicit-check-not=strategy.op --implicit-check-not=strategy.tree

// One stage: one program of the name of the model, with a section per phase.
// Values that a later section reads leave their section; the update runs once. The
// function and its tree are gone.

// CHECK-LABEL: dist.program @one_stage mesh #mesh (
// CHECK-SAME:  %[[X:[a-z0-9]+]]: {{[^{]*}} {nn.path = "x", nn.role = "input"}
// CHECK-SAME:  %[[W:[a-z0-9]+]]: {{[^{]*}} {nn.path = "fc.weight", nn.role = "parameter"}
// CHECK-SAME:  -> (tensor<f32, #{{[a-z0-9]+}}>, tensor<32x16xf32, #{{[a-z0-9]+}}> {nn.updates = 2 : i64})
// CHECK-SAME:  attributes {nn.training = #nn.training<optimizer = sgd>}
// CHECK-NEXT:    %[[F:.+]]:3 = dist.section forward {
// CHECK-NEXT:      %[[Y:.+]] = nn.linear "fc"(%[[X]], %[[W]])
// CHECK-NEXT:      %[[LOSS:.+]], %[[LSE:.+]] = nn.cross_entropy "loss"(%[[Y]],
// CHECK-NEXT:      dist.yield %[[Y]], %[[LOSS]], %[[LSE]]
// CHECK:         %[[B:.+]] = dist.section backward {
// CHECK:           nn.cross_entropy_grad "loss"(%{{.+}}, %[[F]]#0, %{{.+}}, %[[F]]#2)
// CHECK-NEXT:      %[[DW:.+]] = nn.linear_wgrad "fc"
// CHECK-NEXT:      dist.yield %[[DW]]
// CHECK:         %[[U:.+]] = dist.section update once {
// CHECK-NEXT:      %[[G:.+]] = dist.all_reduce sum %[[B]] over {dp} for gradient {proteus.path = "fc"} :
// CHECK-NEXT:      %[[NEW:.+]] = nn.sgd "fc.weight"(%[[W]], %[[G]])
// CHECK-NEXT:      dist.yield %[[NEW]]
// CHECK:         dist.return %[[F]]#1, %[[U]]
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @one_stage(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<32x16xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
    %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<8x32xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @one_stage {
    mesh [dp = 4]
    split op [batch -> dp]
  }
}

// -----

// Three stages: every message has a sender and a receiver that agree on the
// tag and have the path of the value, in the phases of both; arguments and
// results are where their stage is, and `nn.updates` counts the arguments of the
// program.

// CHECK-LABEL: dist.program @three_stages_stage0 mesh #mesh at [pp = 0] (
// CHECK-SAME:  {nn.path = "x", nn.role = "input"}
// CHECK-SAME:  {nn.path = "a.weight", nn.role = "parameter"}
// CHECK-SAME:  -> (tensor<16x16xf32, #{{[a-z0-9]+}}> {nn.updates = 1 : i64})
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[A:.+]] = nn.linear "a"
// CHECK-NEXT:      dist.send %[[A]] to stage 1 tag [[#TAG_A:]] for activation {proteus.path = "a"} :
// CHECK:         dist.section backward {
// CHECK-NEXT:      %[[DA:.+]] = dist.recv from stage 1 tag [[#TAG_DA:]] for activation {proteus.path = "b"} :
// CHECK-NEXT:      nn.linear_wgrad "a"(%[[DA]], %{{.+}})
// CHECK:         dist.section update once {
// CHECK-NEXT:      dist.accumulate
// CHECK-NEXT:      nn.sgd "a.weight"
// CHECK:         dist.return

// CHECK:       dist.program @three_stages_stage1 mesh #mesh at [pp = 1] (
// CHECK-SAME:  {nn.path = "b.weight", nn.role = "parameter"}
// CHECK-SAME:  -> (tensor<16x16xf32, #{{[a-z0-9]+}}> {nn.updates = 0 : i64})
// CHECK:         %[[F:.+]] = dist.section forward {
// CHECK-NEXT:      %[[H:.+]] = dist.recv from stage 0 tag [[#TAG_A]] for activation {proteus.path = "a"} :
// CHECK-NEXT:      %[[B:.+]] = nn.linear "b"(%[[H]],
// CHECK-NEXT:      dist.send %[[B]] to stage 2 tag [[#TAG_B:]] for activation {proteus.path = "b"} :
// A value received in the forward section is kept for the backward section.
// CHECK-NEXT:      dist.yield %[[H]]
// CHECK:         dist.section backward {
// CHECK-NEXT:      %[[DB:.+]] = dist.recv from stage 2 tag [[#TAG_DB:]] for activation
// CHECK-NEXT:      %[[DX:.+]] = nn.linear_dgrad "b"(%[[DB]], %{{.+}})
// CHECK:           nn.linear_wgrad "b"(%[[DB]], %[[F]])
// CHECK:           dist.send %[[DX]] to stage 0 tag [[#TAG_DA]] for activation
// CHECK:         dist.return

// CHECK:       dist.program @three_stages_stage2 mesh #mesh at [pp = 2] (
// CHECK-SAME:  {nn.path = "labels", nn.role = "input"}
// CHECK-SAME:  {nn.path = "c.weight", nn.role = "parameter"}
// CHECK-SAME:  -> (tensor<f32, #{{[a-z0-9]+}}> {nn.result = 0 : i64}, tensor<16x16xf32, #{{[a-z0-9]+}}> {nn.updates = 1 : i64})
// CHECK:         dist.section forward {
// CHECK-NEXT:      dist.recv from stage 1 tag [[#TAG_B]] for activation
// CHECK:           nn.cross_entropy "loss"
// CHECK:         dist.section backward {
// CHECK:           %[[DC:.+]] = nn.linear_dgrad "c"
// CHECK:           dist.send %[[DC]] to stage 1 tag [[#TAG_DB]] for activation
// CHECK:         dist.section update once {
// CHECK:         dist.return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @three_stages(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %wa: tensor<16x16xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %wb: tensor<16x16xf32> {nn.role = "parameter", nn.path = "b.weight"},
      %wc: tensor<16x16xf32> {nn.role = "parameter", nn.path = "c.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %wa) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.linear "b"(%0, %wb) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %2 = nn.linear "c"(%1, %wc) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @three_stages {
    mesh [pp = 3]
    schedule micro_batches = 4
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
    node "c" { at [pp = 2] }
  }
}

// -----

// A value that two stages read is sent to each of them, under its own tag.

// CHECK-LABEL: dist.program @skips_stage0
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[A:.+]] = nn.relu "a"
// CHECK-NEXT:      dist.send %[[A]] to stage 1 tag [[#ONE:]] for activation
// CHECK-NEXT:      dist.send %[[A]] to stage 2 tag [[#TWO:]] for activation
// CHECK:         dist.return
// CHECK:       dist.program @skips_stage1
// CHECK:           dist.recv from stage 0 tag [[#ONE]] for activation
// CHECK:           dist.send %{{.+}} to stage 2 tag [[#THREE:]] for activation
// CHECK:         dist.return
// CHECK:       dist.program @skips_stage2
// CHECK-DAG:       dist.recv from stage 0 tag [[#TWO]] for activation
// CHECK-DAG:       dist.recv from stage 1 tag [[#THREE]] for activation
// CHECK:           nn.add "c"
// CHECK-NOT:     dist.section backward
// CHECK:         dist.return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @skips(%x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"})
      -> tensor<8x16xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "b"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.add "c"(%1, %0) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %2 : tensor<8x16xf32>
  }
  strategy.tree @s for @skips {
    mesh [pp = 3]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
    node "c" { at [pp = 2] }
  }
}

// -----

// Settings of the tree that later passes apply stay on the programs.

// CHECK-LABEL: dist.program @settings_stay
// CHECK-SAME:  step = #dist.step<schedule = <order = gpipe, max_ongoing = 2>, buckets = <size = 4096, first = 1024>>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @settings_stay(%x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"})
      -> tensor<8x16xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
  strategy.tree @s for @settings_stay {
    mesh [dp = 2]
    schedule micro_batches = 4 order = "gpipe" max_ongoing = 2
    bucket size = 4096 first = 1024
    split op [batch -> dp]
  }
}
