// RUN: rm -rf %t && split-file %s %t
// RUN: proteus-opt %t/matched.mlir -split-input-file -verify-diagnostics --verify-phase=after=matched
// RUN: proteus-opt %t/step.mlir -split-input-file -verify-diagnostics --verify-phase=after=step
// RUN: proteus-opt %t/propagated.mlir -split-input-file -verify-diagnostics --verify-phase=after=propagated
// RUN: proteus-opt %t/collectives.mlir -split-input-file -verify-diagnostics --verify-phase=after=collectives
// RUN: proteus-opt %t/function.mlir -verify-diagnostics --verify-phase=after=programs
// RUN: proteus-opt %t/function.mlir -verify-diagnostics --verify-phase=after=schedule
// RUN: proteus-opt %t/programs.mlir -split-input-file -verify-diagnostics --verify-phase=after=programs
// RUN: proteus-opt %t/schedule.mlir -split-input-file -verify-diagnostics --verify-phase=after=schedule
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/matched.mlir --verify-phase=after=matched
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/step.mlir --verify-phase=after=step
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/propagated.mlir --verify-phase=after=propagated
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/collectives.mlir --verify-phase=after=collectives
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/function.mlir --verify-phase=after=programs
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/function.mlir --verify-phase=after=schedule
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/programs.mlir --verify-phase=after=programs
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/schedule.mlir --verify-phase=after=schedule

// Every offender is listed at its location.

//--- matched.mlir

#mesh = #dist.mesh<[pp = 2]>
// expected-error@+2 {{'func.func' op argument 1 has no role; add nn.role = "input", "parameter" or "state"}}
// expected-error@+1 {{'func.func' op argument 2 has no role; add nn.role = "input", "parameter" or "state"}}
func.func @roles(%x: tensor<8x16xf32> {nn.role = "input"}, %w: tensor<16x16xf32>, %b: tensor<16xf32>) -> tensor<8x16xf32>
    attributes {strategy.mesh = #mesh} {
  // Without a pipeline there are no stages.
  %0 = nn.linear "fc"(%x, %w, %b) : (tensor<8x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

#mesh = #dist.mesh<[pp = 2]>
// expected-error@+1 {{'func.func' op argument 0 has no role}}
func.func @stages(%x: tensor<8x16xf32>, %ws: tensor<2x16x16xf32> {nn.role = "parameter"}) -> tensor<8x16xf32>
    attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp"} {
  %0 = nn.relu "a"(%x) {strategy.stage = 0 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  // expected-error@+1 {{'nn.relu' op has no pipeline stage}}
  %1 = nn.relu "b"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = nn.repeat "layers" count 2 carry(%h = %1 : tensor<8x16xf32>) slice(%w = %ws : tensor<2x16x16xf32> to tensor<16x16xf32>) -> (tensor<8x16xf32>) {
    // expected-error@+1 {{'nn.linear' op has no pipeline stage}}
    %3 = nn.linear "fc"(%h, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    nn.yield %3 : tensor<8x16xf32>
  }
  return %2 : tensor<8x16xf32>
}

//--- step.mlir

#mesh = #dist.mesh<[dp = 2]>
// expected-error@+2 {{'func.func' op parameter 'b.weight' is not updated}}
// expected-error@+1 {{'func.func' op parameter 'arg3' is not updated}}
func.func @updates(
    %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
    %a: tensor<16x16xf32> {nn.role = "parameter", nn.path = "a.weight"},
    %b: tensor<16x16xf32> {nn.role = "parameter", nn.path = "b.weight"},
    %c: tensor<16x16xf32> {nn.role = "parameter"})
    -> (tensor<8x16xf32>, tensor<16x16xf32> {nn.updates = 1 : i64})
    attributes {strategy.mesh = #mesh, nn.training = #nn.training<optimizer = sgd>} {
  %0 = nn.relu "act"(%x) {strategy.phase = #strategy.phase<forward>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0, %a : tensor<8x16xf32>, tensor<16x16xf32>
}

// -----

#mesh = #dist.mesh<[dp = 2]>
func.func @phases(%x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"}) -> tensor<8x16xf32>
    attributes {strategy.mesh = #mesh, nn.training = #nn.training<optimizer = sgd>} {
  // expected-error@+1 {{'nn.relu' op belongs to no phase of the step}}
  %0 = nn.relu "a"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = nn.relu "b"(%0) {strategy.phase = #strategy.phase<forward>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = nn.recompute "r"(%y = %1 : tensor<8x16xf32>) -> (tensor<8x16xf32>) {
    // expected-error@+1 {{'nn.gelu' op belongs to no phase of the step}}
    %3 = nn.gelu "c"(%y) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    nn.yield %3 : tensor<8x16xf32>
  }
  return %2 : tensor<8x16xf32>
}

// -----

// A model that is not trained has neither.
#mesh = #dist.mesh<[dp = 2]>
func.func @forward_only(%x: tensor<8x16xf32> {nn.role = "parameter", nn.path = "x"}) -> tensor<8x16xf32>
    attributes {strategy.mesh = #mesh} {
  %0 = nn.relu "a"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

//--- propagated.mlir

#mesh = #dist.mesh<[dp = 2]>
// expected-error@+2 {{'func.func' op argument 'x' has no layout}}
// expected-error@+1 {{'func.func' op argument 'arg2' has no layout}}
func.func @open(
    %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
    %y: tensor<8x16xf32> {nn.role = "input", nn.path = "y", strategy.layout = #dist.layout<#mesh, [{dp}, {}]>},
    %z: tensor<8x16xf32> {nn.role = "input"}) -> tensor<8x16xf32>
    attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.add' op has no partition}}
  %0 = nn.add "a"(%x, %y) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = nn.relu "b"(%0) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  // expected-error@+1 {{'nn.relu' op has no partition}}
  %2 = nn.relu "c"(%1) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

//--- collectives.mlir

// An operand that is not split as the operation needs it, a result that is not
// what the partition gives, and values without a layout.

#mesh = #dist.mesh<[dp = 2, tp = 2]>
#b = #dist.layout<#mesh, [{dp}, {}]>
#h = #dist.layout<#mesh, [{}, {tp}]>
#w = #dist.layout<#mesh, [{}, {}]>
func.func @layouts(%x: tensor<8x16xf32, #b>, %y: tensor<8x16xf32>, %w: tensor<16x16xf32, #w>) -> tensor<8x16xf32, #w>
    attributes {strategy.mesh = #mesh} {
  %0 = nn.relu "good"(%x) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x16xf32, #b>) -> tensor<8x16xf32, #b>
  // expected-error@+1 {{'nn.relu' op operand 0 has layout #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{dp}, {}]>, expected #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{}, {tp}]>}}
  %1 = nn.relu "operand"(%0) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x16xf32, #b>) -> tensor<8x16xf32, #h>
  // expected-error@+1 {{'nn.relu' op result 0 has layout #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{}, {}]>, expected #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{dp}, {}]>}}
  %2 = nn.relu "result"(%0) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x16xf32, #b>) -> tensor<8x16xf32, #w>
  // The sum over `in` is not complete.
  // expected-error@+1 {{'nn.linear' op result 0 has layout #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{}, {}]>, expected #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{}, {}], partial = [sum {tp}]>}}
  %3 = nn.linear "partial"(%1, %1) {strategy.op = #strategy.partition<[in -> tp]>} : (tensor<8x16xf32, #h>, tensor<8x16xf32, #h>) -> tensor<8x8xf32, #w>
  // expected-error@+2 {{'nn.relu' op operand 0 has no layout}}
  // expected-error@+1 {{'nn.relu' op result 0 has no layout}}
  %4 = nn.relu "none"(%y) {strategy.op = #strategy.partition<[]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32, #w>
}

// -----

// A sum that is still to be done may pass a linear operation, no other.

#mesh = #dist.mesh<[dp = 2, tp = 2]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
func.func @passing(%x: tensor<8x16xf32, #p>) -> tensor<8x16xf32, #p>
    attributes {strategy.mesh = #mesh} {
  %0 = nn.add "sum"(%x, %x) {strategy.op = #strategy.partition<[]>} : (tensor<8x16xf32, #p>, tensor<8x16xf32, #p>) -> tensor<8x16xf32, #p>
  // expected-error@+2 {{'nn.relu' op operand 0 has layout #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{}, {}], partial = [sum {tp}]>, expected #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{}, {}]>}}
  // expected-error@+1 {{'nn.relu' op result 0 has layout #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{}, {}], partial = [sum {tp}]>, expected #dist.layout<#dist.mesh<[dp = 2, tp = 2]>, [{}, {}]>}}
  %1 = nn.relu "act"(%0) {strategy.op = #strategy.partition<[]>} : (tensor<8x16xf32, #p>) -> tensor<8x16xf32, #p>
  return %1 : tensor<8x16xf32, #p>
}

//--- function.mlir

#mesh = #dist.mesh<[dp = 2]>
// expected-error@+1 {{'func.func' op is not split into programs}}
func.func @first() attributes {strategy.mesh = #mesh} {
  return
}
// expected-error@+1 {{'func.func' op is not split into programs}}
func.func @second() attributes {strategy.mesh = #mesh} {
  return
}
// A function without a mesh may stay.
func.func @helper() {
  return
}

//--- programs.mlir

// One position of the axis has no program.

#mesh = #dist.mesh<[pp = 3]>
// expected-error@+1 {{'dist.program' op is at position 0 of 3, but is program 0 of 2; every position of the pipeline axis needs one program, in order}}
dist.program @s0 mesh #mesh at [pp = 0] () {
  dist.return
}
// expected-error@+1 {{'dist.program' op is at position 1 of 3, but is program 1 of 2; every position of the pipeline axis needs one program, in order}}
dist.program @s1 mesh #mesh at [pp = 1] () {
  dist.return
}

// -----

// Programs in another order than their stages.

#mesh = #dist.mesh<[pp = 3]>
dist.program @s0 mesh #mesh at [pp = 0] () {
  dist.return
}
// expected-error@+1 {{'dist.program' op is at position 2 of 3, but is program 1 of 3}}
dist.program @s2 mesh #mesh at [pp = 2] () {
  dist.return
}
// expected-error@+1 {{'dist.program' op is at position 1 of 3, but is program 2 of 3}}
dist.program @s1 mesh #mesh at [pp = 1] () {
  dist.return
}

// -----

// Two programs and no pipeline.

#mesh = #dist.mesh<[dp = 2]>
// expected-error@+1 {{'dist.program' op is at position 0 of 1, but is program 0 of 2}}
dist.program @a mesh #mesh () {
  dist.return
}
// expected-error@+1 {{'dist.program' op is at position 0 of 1, but is program 1 of 2}}
dist.program @b mesh #mesh () {
  dist.return
}

// -----

// A pipeline along two axes.

#mesh = #dist.mesh<[pp = 1, qq = 1]>
// expected-error@+1 {{'dist.program' op is fixed along 2 axes; a pipeline lies along one}}
dist.program @s0 mesh #mesh at [pp = 0, qq = 0] () {
  dist.return
}

// -----

// Reductions across stages: not in an update, one that another stage lacks,
// without its own stage, of other stages, of another type, twice.

#mesh = #dist.mesh<[pp = 3]>
#x0 = #dist.layout<#mesh, [{}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{}], at = [pp = 1]>
#x2 = #dist.layout<#mesh, [{}], at = [pp = 2]>
dist.program @s0 mesh #mesh at [pp = 0] (%x: tensor<8xf32, #x0>, %y: tensor<4xf32, #x0>) {
  dist.section forward {
    // expected-error@+2 {{'dist.stage_reduce' op must be directly in the update section}}
    // expected-error@+1 {{'dist.stage_reduce' op the reduction with tag 0 is missing in stage 1}}
    %0 = dist.stage_reduce %x over stages [0, 1] tag 0 : tensor<8xf32, #x0>
    dist.yield
  }
  dist.section update once {
    // expected-error@+2 {{'dist.stage_reduce' op the reduction with tag 1 leaves out its own stage 0}}
    // expected-error@+1 {{'dist.stage_reduce' op the reduction with tag 1 is missing in stage 2}}
    %0 = dist.stage_reduce %x over stages [1, 2] tag 1 : tensor<8xf32, #x0>
    // expected-note@+1 {{which is here}}
    %1 = dist.stage_reduce %x over stages [0, 1] tag 2 : tensor<8xf32, #x0>
    // expected-note@+1 {{which is here}}
    %2 = dist.stage_reduce %x over stages [0, 1] tag 3 : tensor<8xf32, #x0>
    // expected-error@+1 {{'dist.stage_reduce' op the tag 3 is in use in stage 0}}
    %3 = dist.stage_reduce %x over stages [0, 1] tag 3 : tensor<8xf32, #x0>
    dist.yield
  }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] (%x: tensor<8xf32, #x1>, %y: tensor<4xf32, #x1>) {
  dist.section update once {
    %0 = dist.stage_reduce %x over stages [1, 2] tag 1 : tensor<8xf32, #x1>
    // expected-error@+1 {{'dist.stage_reduce' op the reduction with tag 2 differs from that of stage 0}}
    %1 = dist.stage_reduce %y over stages [0, 1] tag 2 : tensor<4xf32, #x1>
    // expected-error@+1 {{'dist.stage_reduce' op the reduction with tag 3 differs from that of stage 0}}
    %2 = dist.stage_reduce %x over stages [0, 1, 2] tag 3 : tensor<8xf32, #x1>
    dist.yield
  }
  dist.return
}
dist.program @s2 mesh #mesh at [pp = 2] () {
  dist.return
}

// -----

// Messages: without a receiver, without a sender, to the own stage, to another
// stage than the one that receives, from another than the one that sends, and of
// another type.

#mesh = #dist.mesh<[pp = 2, tp = 2]>
#x0 = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
#s1 = #dist.layout<#mesh, [{tp}, {}], at = [pp = 1]>
dist.program @s0 mesh #mesh at [pp = 0] (%x: tensor<8x8xf32, #x0>) {
  dist.section forward {
    // expected-error@+1 {{'dist.send' op the message with tag 0 has no other end}}
    dist.send %x to stage 1 tag 0 : tensor<8x8xf32, #x0>
    // expected-error@+1 {{'dist.send' op the message with tag 2 stays in stage 0}}
    dist.send %x to stage 0 tag 2 : tensor<8x8xf32, #x0>
    %0 = dist.recv from stage 0 tag 2 : tensor<8x8xf32, #x0>
    // expected-error@+1 {{'dist.send' op the message with tag 3 goes to stage 5 but is received by stage 1 from stage 0}}
    dist.send %x to stage 5 tag 3 : tensor<8x8xf32, #x0>
    // expected-error@+1 {{'dist.send' op the message with tag 4 goes to stage 1 but is received by stage 1 from stage 1}}
    dist.send %x to stage 1 tag 4 : tensor<8x8xf32, #x0>
    // expected-error@+1 {{'dist.send' op the message with tag 5 is sent as 'tensor<8x8xf32, #dist.layout<#dist.mesh<[pp = 2, tp = 2]>, [{}, {}], at = [pp = 0]>>' but received as 'tensor<8x8xf32, #dist.layout<#dist.mesh<[pp = 2, tp = 2]>, [{tp}, {}], at = [pp = 1]>>'}}
    dist.send %x to stage 1 tag 5 : tensor<8x8xf32, #x0>
    // expected-error@+1 {{'dist.send' op the message with tag 6 is sent as 'tensor<8x8xf32, #dist.layout<#dist.mesh<[pp = 2, tp = 2]>, [{}, {}], at = [pp = 0]>>' but received as 'tensor<8x4xf32, #dist.layout<#dist.mesh<[pp = 2, tp = 2]>, [{}, {}], at = [pp = 1]>>'}}
    dist.send %x to stage 1 tag 6 : tensor<8x8xf32, #x0>
    // A good one.
    dist.send %x to stage 1 tag 7 : tensor<8x8xf32, #x0>
    dist.yield
  }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () {
  dist.section forward {
    // expected-error@+1 {{'dist.recv' op the message with tag 1 has no other end}}
    %0 = dist.recv from stage 0 tag 1 : tensor<8x8xf32, #x1>
    %1 = dist.recv from stage 0 tag 3 : tensor<8x8xf32, #x1>
    %2 = dist.recv from stage 1 tag 4 : tensor<8x8xf32, #x1>
    %3 = dist.recv from stage 0 tag 5 : tensor<8x8xf32, #s1>
    %4 = dist.recv from stage 0 tag 6 : tensor<8x4xf32, #x1>
    %5 = dist.recv from stage 0 tag 7 : tensor<8x8xf32, #x1>
    dist.yield
  }
  dist.return
}

// -----

// A tag names one message.
#mesh = #dist.mesh<[pp = 2]>
#x0 = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
dist.program @s0 mesh #mesh at [pp = 0] (%x: tensor<8x8xf32, #x0>) {
  dist.section forward {
    // expected-note@+1 {{used here as well}}
    dist.send %x to stage 1 tag 0 : tensor<8x8xf32, #x0>
    // expected-error@+1 {{'dist.send' op the tag 0 is in use}}
    dist.send %x to stage 1 tag 0 : tensor<8x8xf32, #x0>
    dist.yield
  }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () {
  dist.section forward {
    %0 = dist.recv from stage 0 tag 0 : tensor<8x8xf32, #x1>
    dist.yield
  }
  dist.return
}

// -----

// A pipeline lies along one axis.
#mesh = #dist.mesh<[pp = 2, dp = 2]>
dist.program @s0 mesh #mesh at [pp = 0] () {
  dist.return
}
// expected-error@+1 {{'dist.program' op lies along the axis 'dp', but the pipeline along 'pp'}}
dist.program @s1 mesh #mesh at [dp = 1] () {
  dist.return
}

//--- schedule.mlir

// Stage 0 waits for the gradient of micro-batch 0 before it starts micro-batch
// 1, with which stage 1 begins.

#mesh = #dist.mesh<[pp = 2], micro = 2>
#x0 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 1]>
// expected-note@+1 {{stage 0 waits before B0}}
dist.program @s0 mesh #mesh at [pp = 0] (%x: tensor<8x8xf32, #x0>) {
  dist.section forward {
    dist.send %x to stage 1 tag 0 : tensor<8x8xf32, #x0>
    dist.yield
  }
  dist.section backward {
    %0 = dist.recv from stage 1 tag 1 : tensor<8x8xf32, #x0>
    dist.yield
  }
  dist.return
}
// expected-note@+1 {{stage 1 waits before F1}}
dist.program @s1 mesh #mesh at [pp = 1] () {
  %f = dist.section forward {
    %0 = dist.recv from stage 0 tag 0 : tensor<8x8xf32, #x1>
    dist.yield %0 : tensor<8x8xf32, #x1>
  }
  dist.section backward {
    dist.send %f to stage 0 tag 1 : tensor<8x8xf32, #x1>
    dist.yield
  }
  dist.return
}
// expected-error@+1 {{'dist.schedule' op can't run to its end: the orders of the stages wait for each other}}
dist.schedule @schedule programs [@s0, @s1] order [
  [F0, B0, F1, B1],
  [F1, B1, F0, B0]
]

// -----

// Three stages, of which the last is done: it only sends.

#mesh = #dist.mesh<[pp = 3], micro = 2>
#x0 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 1]>
#x2 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 2]>
// expected-note@+1 {{stage 0 waits before F1}}
dist.program @s0 mesh #mesh at [pp = 0] (%x: tensor<8x8xf32, #x0>) {
  dist.section forward {
    %0 = dist.recv from stage 1 tag 0 : tensor<8x8xf32, #x0>
    dist.yield
  }
  dist.section backward {
    dist.send %x to stage 1 tag 1 : tensor<8x8xf32, #x0>
    dist.yield
  }
  dist.return
}
// expected-note@+1 {{stage 1 waits before B0}}
dist.program @s1 mesh #mesh at [pp = 1] (%x: tensor<8x8xf32, #x1>) {
  dist.section forward {
    %0 = dist.recv from stage 2 tag 2 : tensor<8x8xf32, #x1>
    dist.send %x to stage 0 tag 0 : tensor<8x8xf32, #x1>
    dist.yield
  }
  dist.section backward {
    %0 = dist.recv from stage 0 tag 1 : tensor<8x8xf32, #x1>
    dist.yield
  }
  dist.return
}
dist.program @s2 mesh #mesh at [pp = 2] (%x: tensor<8x8xf32, #x2>) {
  dist.section forward {
    dist.send %x to stage 1 tag 2 : tensor<8x8xf32, #x2>
    dist.yield
  }
  dist.return
}
// expected-error@+1 {{'dist.schedule' op can't run to its end: the orders of the stages wait for each other}}
dist.schedule @schedule programs [@s0, @s1, @s2] order [
  [F0, F1, B0, B1],
  [F0, B0, F1, B1],
  [F0, F1]
]

// -----

// Two stages that take the micro-batches in the same order, whichever it is.

#mesh = #dist.mesh<[pp = 2], micro = 2>
#x0 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 1]>
dist.program @s0 mesh #mesh at [pp = 0] (%x: tensor<8x8xf32, #x0>) {
  dist.section forward {
    dist.send %x to stage 1 tag 0 : tensor<8x8xf32, #x0>
    dist.yield
  }
  dist.section backward {
    %0 = dist.recv from stage 1 tag 1 : tensor<8x8xf32, #x0>
    dist.yield
  }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () {
  %f = dist.section forward {
    %0 = dist.recv from stage 0 tag 0 : tensor<8x8xf32, #x1>
    dist.yield %0 : tensor<8x8xf32, #x1>
  }
  dist.section backward {
    dist.send %f to stage 0 tag 1 : tensor<8x8xf32, #x1>
    dist.yield
  }
  dist.return
}
dist.schedule @schedule programs [@s0, @s1] order [
  [F1, F0, B1, B0],
  [F1, B1, F0, B0]
]
