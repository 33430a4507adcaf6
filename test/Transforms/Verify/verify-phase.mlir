// A phase that keeps its promise passes its check, and the check changes nothing.
// Functions and programs of other phases are not checked, and without an option the
// first phase is meant.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: proteus-opt %t/matched.mlir -o %t/matched.txt && proteus-opt %t/matched.mlir --verify-phase | diff %t/matched.txt -
// RUN: proteus-opt %t/matched.mlir --verify-phase=after=matched | diff %t/matched.txt -
// RUN: proteus-opt %t/step.mlir -o %t/step.txt && proteus-opt %t/step.mlir --verify-phase=after=step | diff %t/step.txt -
// RUN: proteus-opt %t/propagated.mlir -o %t/propagated.txt && proteus-opt %t/propagated.mlir --verify-phase=after=propagated | diff %t/propagated.txt -
// RUN: proteus-opt %t/collectives.mlir -o %t/collectives.txt && proteus-opt %t/collectives.mlir --verify-phase=after=collectives | diff %t/collectives.txt -
// RUN: proteus-opt %t/scalar.mlir --verify-phase=after=collectives -o /dev/null
// RUN: proteus-opt %t/programs.mlir -o %t/programs.txt && proteus-opt %t/programs.mlir --verify-phase=after=programs | diff %t/programs.txt -
// RUN: proteus-opt %t/programs.mlir --verify-phase=after=schedule | diff %t/programs.txt -

// RUN: not proteus-opt %t/helper.mlir --verify-phase=after=never -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: Cannot find option named 'never'

// A function without a mesh belongs to no strategy.
// RUN: proteus-opt %t/helper.mlir --verify-phase=after=matched | FileCheck %t/helper.mlir
// RUN: proteus-opt %t/helper.mlir --verify-phase=after=step -o /dev/null
// RUN: proteus-opt %t/helper.mlir --verify-phase=after=propagated -o /dev/null
// RUN: proteus-opt %t/helper.mlir --verify-phase=after=collectives -o /dev/null
// RUN: proteus-opt %t/helper.mlir --verify-phase=after=programs -o /dev/null
// RUN: proteus-opt %t/helper.mlir --verify-phase=after=schedule -o /dev/null

//--- matched.mlir

// Every argument has a role, every operation a stage.
#mesh = #dist.mesh<[pp = 2]>
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}, %w: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32>
    attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp"} {
  %0 = nn.linear "a"(%x, %w) {strategy.stage = 0 : i64} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = nn.relu "b"(%0) {strategy.stage = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

//--- step.mlir

// Every parameter is updated, every operation has a phase.
#mesh = #dist.mesh<[dp = 2]>
func.func @f(%g: tensor<4x4xf32> {nn.role = "input"}, %w: tensor<4x4xf32> {nn.role = "parameter"}) -> (tensor<4x4xf32> {nn.updates = 1 : i64})
    attributes {strategy.mesh = #mesh, nn.training = #nn.training<optimizer = sgd>} {
  %0 = nn.sgd "w"(%w, %g) {strategy.phase = #strategy.phase<update>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

//--- propagated.mlir

// Every operation has a partition, every argument a layout.
#mesh = #dist.mesh<[dp = 2]>
func.func @f(%x: tensor<8x4xf32> {strategy.layout = #dist.layout<#mesh, [{dp}, {}]>}) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.relu "a"(%x) {strategy.op = #strategy.partition<[]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- collectives.mlir

// Operands and results have the layouts of the partition, and a linear operation
// lets a pending sum pass.
#mesh = #dist.mesh<[dp = 2, tp = 2]>
#x = #dist.layout<#mesh, [{dp}, {tp}]>
#w = #dist.layout<#mesh, [{}, {tp}]>
#p = #dist.layout<#mesh, [{dp}, {}], partial = [sum {tp}]>
#y = #dist.layout<#mesh, [{dp}, {}]>
func.func @f(%x: tensor<8x4xf32, #x>, %w: tensor<6x4xf32, #w>) -> tensor<8x6xf32, #y> attributes {strategy.mesh = #mesh} {
  %0 = nn.linear "a"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>} : (tensor<8x4xf32, #x>, tensor<6x4xf32, #w>) -> tensor<8x6xf32, #p>
  %1 = nn.add "b"(%0, %0) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x6xf32, #p>, tensor<8x6xf32, #p>) -> tensor<8x6xf32, #p>
  %2 = dist.all_reduce sum %1 over {tp} : tensor<8x6xf32, #p> -> tensor<8x6xf32, #y>
  return %2 : tensor<8x6xf32, #y>
}

//--- scalar.mlir

// A number has no layout.
#mesh = #dist.mesh<[dp = 2]>
#x = #dist.layout<#mesh, [{dp}]>
func.func @scalar(%x: tensor<8xf32, #x>, %y: tensor<8xf32, #x>, %s: f32) -> tensor<8xf32, #x> attributes {strategy.mesh = #mesh} {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %s : tensor<8xf32, #x>, f32) outs(%y : tensor<8xf32, #x>) attrs = {strategy.op = #strategy.partition<[d0 -> dp]>} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32, #x>
  return %0 : tensor<8xf32, #x>
}

//--- programs.mlir

// Messages have two ends of one type, and the schedule runs to its end.
#mesh = #dist.mesh<[pp = 2], micro = 2>
#at0 = #dist.layout<#mesh, [{micro}], at = [pp = 0]>
#at1 = #dist.layout<#mesh, [{micro}], at = [pp = 1]>
dist.program @s0 mesh #mesh at [pp = 0] (%x: tensor<8xf32, #at0>) {
  dist.section forward {
    dist.send %x to stage 1 tag 0 : tensor<8xf32, #at0>
    dist.yield
  }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () {
  dist.section forward {
    %0 = dist.recv from stage 0 tag 0 : tensor<8xf32, #at1>
    dist.yield
  }
  dist.return
}
dist.schedule @schedule programs [@s0, @s1] order [[F0, F1], [F0, F1]]

//--- helper.mlir

// CHECK: func.func @helper
func.func @helper(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
