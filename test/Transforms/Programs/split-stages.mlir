// RUN: proteus-opt %s -split-input-file --split-stages \
// RUN:   | FileCheck %s --implicit-check-not=dist.send --implicit-check-not=dist.recv \
// RUN:       --implicit-check-not=dist.transfer --implicit-check-not=func.func --implicit-check-not="strategy." \
// RUN:       --implicit-check-not=dist.section --implicit-check-not="dist.program @"

// Every program, section and message must be expected below, and no annotation of
// an earlier pass is left.

#fwd = #strategy.phase<forward>
#bwd = #strategy.phase<backward>
#upd = #strategy.phase<update>

// One stage: one program of the name of the model, with a section per phase.
// Values that a later section reads leave their section; the update runs once. The
// tree is gone with the function; a function without a mesh stays.

// CHECK-LABEL: dist.program @one_stage mesh #mesh (
// CHECK-SAME:  %[[X:[a-z0-9]+]]: {{[^{]*}} {nn.path = "x", nn.role = "input"}
// CHECK-SAME:  %[[W:[a-z0-9]+]]: {{[^{]*}} {nn.role = "parameter"}
// CHECK-SAME:  -> (tensor<8x16xf32, #{{[a-z0-9]+}}>, tensor<16x16xf32, #{{[a-z0-9]+}}> {nn.updates = 1 : i64})
// CHECK-SAME:  attributes {nn.training = #nn.training<optimizer = sgd>}
// CHECK-NEXT:    %[[F:.+]] = dist.section forward {
// CHECK-NEXT:      %[[Y:.+]] = nn.linear "fc"(%[[X]], %[[W]]) :
// CHECK-NEXT:      dist.yield %[[Y]] :
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[B:.+]] = dist.section backward {
// CHECK-NEXT:      %[[DW:.+]] = nn.linear_wgrad "fc"(%[[F]], %[[X]]) :
// CHECK-NEXT:      dist.yield %[[DW]] :
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[U:.+]] = dist.section update once {
// CHECK-NEXT:      %[[G:.+]] = dist.all_reduce sum %[[B]] over {dp} for gradient {proteus.path = "fc"} :
// CHECK-NEXT:      %[[NEW:.+]] = nn.sgd "w"(%[[W]], %[[G]]) :
// CHECK-NEXT:      dist.yield %[[NEW]] :
// CHECK-NEXT:    }
// CHECK-NEXT:    dist.return %[[F]], %[[U]] :
// CHECK:       func.func @helper(
#mesh = #dist.mesh<[dp = 2]>
#x = #dist.layout<#mesh, [{dp}, {}]>
#w = #dist.layout<#mesh, [{}, {}]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
func.func @one_stage(%x: tensor<8x16xf32, #x> {nn.path = "x", nn.role = "input", strategy.layout = #x}, %w: tensor<16x16xf32, #w> {nn.role = "parameter", strategy.layout = #w})
    -> (tensor<8x16xf32, #x>, tensor<16x16xf32, #w> {nn.updates = 1 : i64}) attributes {nn.training = #nn.training<optimizer = sgd>, strategy.mesh = #mesh, strategy.tree = @s} {
  %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #fwd, strategy.ring_step = 0 : i64} : (tensor<8x16xf32, #x>, tensor<16x16xf32, #w>) -> tensor<8x16xf32, #x>
  %1 = nn.linear_wgrad "fc"(%0, %x) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
  %2 = dist.all_reduce sum %1 over {dp} for gradient {proteus.path = "fc", strategy.phase = #upd} : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
  %3 = nn.sgd "w"(%w, %2) {strategy.op = #strategy.partition<[]>, strategy.phase = #upd} : (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>) -> tensor<16x16xf32, #w>
  return %0, %3 : tensor<8x16xf32, #x>, tensor<16x16xf32, #w>
}
strategy.tree @s for @one_stage { mesh [dp = 2] }
func.func @helper(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// Two stages: a message has a sender and a receiver of one tag and path, in the
// phase of the transfer. Arguments and results are where their stage is.
// `nn.updates` counts the arguments of the program; other results have their
// number in the model. A received value is kept for the backward section.

// CHECK-LABEL: dist.program @two_stages_stage0 mesh #mesh at [pp = 0] (
// CHECK-SAME:  %[[X:[a-z0-9]+]]: {{[^{]*}} {nn.path = "x"}) -> (tensor<8xf32, #{{[a-z0-9]+}}> {nn.result = 1 : i64}) {
// CHECK-NEXT:    %[[A:.+]] = dist.section forward {
// CHECK-NEXT:      %[[Y:.+]] = nn.relu "a"(%[[X]]) :
// CHECK-NEXT:      dist.send %[[Y]] to stage 1 tag [[#FORTH:]] for activation {proteus.path = "a"} :
// CHECK-NEXT:      dist.yield %[[Y]] :
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[G:.+]] = dist.section backward {
// CHECK-NEXT:      %[[DY:.+]] = dist.recv from stage 1 tag [[#BACK:]] for activation {proteus.path = "b"} :
// CHECK-NEXT:      nn.relu_grad "a"(%[[DY]], %[[A]]) :
// CHECK:         dist.return %[[G]] :

// CHECK:       dist.program @two_stages_stage1 mesh #mesh at [pp = 1] (
// CHECK-SAME:  %[[V:[a-z0-9]+]]: {{[^{]*}} {nn.path = "v"}) -> (tensor<8xf32, #{{[a-z0-9]+}}> {nn.updates = 0 : i64}) {
// CHECK-NEXT:    %[[F:.+]] = dist.section forward {
// CHECK-NEXT:      %[[H:.+]] = dist.recv from stage 0 tag [[#FORTH]] for activation {proteus.path = "a"} :
// CHECK-NEXT:      dist.yield %[[H]] :
// CHECK-NEXT:    }
// CHECK-NEXT:    dist.section backward {
// CHECK-NEXT:      %[[D:.+]] = nn.gelu_grad "b"(%[[V]], %[[F]]) :
// CHECK-NEXT:      dist.send %[[D]] to stage 0 tag [[#BACK]] for activation {proteus.path = "b"} :
// CHECK-NEXT:      dist.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[U:.+]] = dist.section update once {
// CHECK-NEXT:      nn.sgd "v"(%[[V]], %[[V]]) :
// CHECK:         dist.return %[[U]] :
#fwd = #strategy.phase<forward>
#bwd = #strategy.phase<backward>
#upd = #strategy.phase<update>
#mesh = #dist.mesh<[pp = 2]>
#at0 = #dist.layout<#mesh, [{}], at = [pp = 0]>
#at1 = #dist.layout<#mesh, [{}], at = [pp = 1]>
func.func @two_stages(%v: tensor<8xf32, #at1> {nn.path = "v", strategy.stage = 1 : i64}, %x: tensor<8xf32, #at0> {nn.path = "x", strategy.stage = 0 : i64})
    -> (tensor<8xf32, #at1> {nn.updates = 0 : i64}, tensor<8xf32, #at0>) attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp"} {
  %0 = nn.relu "a"(%x) {strategy.phase = #fwd, strategy.stage = 0 : i64} : (tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  %1 = dist.transfer %0 {proteus.path = "a", strategy.phase = #fwd, strategy.stage = 1 : i64} : tensor<8xf32, #at0> -> tensor<8xf32, #at1>
  %2 = nn.gelu_grad "b"(%v, %1) {strategy.phase = #bwd, strategy.stage = 1 : i64} : (tensor<8xf32, #at1>, tensor<8xf32, #at1>) -> tensor<8xf32, #at1>
  %3 = dist.transfer %2 {proteus.path = "b", strategy.phase = #bwd, strategy.stage = 0 : i64} : tensor<8xf32, #at1> -> tensor<8xf32, #at0>
  %4 = nn.relu_grad "a"(%3, %0) {strategy.phase = #bwd, strategy.stage = 0 : i64} : (tensor<8xf32, #at0>, tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  %5 = nn.sgd "v"(%v, %v) {strategy.phase = #upd, strategy.stage = 1 : i64} : (tensor<8xf32, #at1>, tensor<8xf32, #at1>) -> tensor<8xf32, #at1>
  return %5, %4 : tensor<8xf32, #at1>, tensor<8xf32, #at0>
}

// -----

// A value that two stages read is sent to each of them, under its own tag.

// CHECK-LABEL: dist.program @skips_stage0
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[A:.+]] = nn.relu "a"
// CHECK-NEXT:      dist.send %[[A]] to stage 1 tag [[#ONE:]] for activation
// CHECK-NEXT:      dist.send %[[A]] to stage 2 tag [[#TWO:]] for activation
// CHECK:       dist.program @skips_stage1
// CHECK:         dist.section forward {
// CHECK-NEXT:      dist.recv from stage 0 tag [[#ONE]] for activation
// CHECK:       dist.program @skips_stage2
// CHECK:         dist.section forward {
// CHECK-NEXT:      dist.recv from stage 0 tag [[#TWO]] for activation
#mesh = #dist.mesh<[pp = 3]>
#at0 = #dist.layout<#mesh, [{}], at = [pp = 0]>
#at1 = #dist.layout<#mesh, [{}], at = [pp = 1]>
#at2 = #dist.layout<#mesh, [{}], at = [pp = 2]>
func.func @skips(%x: tensor<8xf32, #at0> {strategy.stage = 0 : i64}) -> (tensor<8xf32, #at1>, tensor<8xf32, #at2>) attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp"} {
  %0 = nn.relu "a"(%x) {strategy.stage = 0 : i64} : (tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  %1 = dist.transfer %0 {strategy.stage = 1 : i64} : tensor<8xf32, #at0> -> tensor<8xf32, #at1>
  %2 = dist.transfer %0 {strategy.stage = 2 : i64} : tensor<8xf32, #at0> -> tensor<8xf32, #at2>
  return %1, %2 : tensor<8xf32, #at1>, tensor<8xf32, #at2>
}

// -----

// Messages that a repeat reads have the order in which the kernels of its body read
// them, as if the layers were written out. The communication that reads a message
// follows all of them.

// CHECK-LABEL: dist.program @layers_stage0
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[A:.+]] = nn.relu "a"
// CHECK-NEXT:      %[[B:.+]] = nn.relu "b"
// CHECK-NEXT:      dist.send %[[A]] to stage 1 tag [[#FIRST:]] for activation
// CHECK-NEXT:      dist.send %[[B]] to stage 1 tag [[#SECOND:]] for activation
// CHECK:       dist.program @layers_stage1
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[OUTER:.+]] = dist.recv from stage 0 tag [[#FIRST]] for activation
// CHECK-NEXT:      %[[CARRIED:.+]] = dist.recv from stage 0 tag [[#SECOND]] for activation
// CHECK-NEXT:      %[[WHOLE:.+]] = dist.all_gather %[[CARRIED]]
// CHECK-NEXT:      nn.repeat "layers" count 2 carry(%{{.+}} = %[[WHOLE]]
// CHECK-NEXT:        nn.relu "first"(%[[OUTER]])
#mesh = #dist.mesh<[pp = 2, tp = 2]>
#at0 = #dist.layout<#mesh, [{}], at = [pp = 0]>
#at1 = #dist.layout<#mesh, [{}], at = [pp = 1]>
#cut0 = #dist.layout<#mesh, [{tp}], at = [pp = 0]>
#cut1 = #dist.layout<#mesh, [{tp}], at = [pp = 1]>
func.func @layers(%x: tensor<8xf32, #at0> {strategy.stage = 0 : i64}, %y: tensor<8xf32, #cut0> {strategy.stage = 0 : i64}) -> tensor<8xf32, #at1> attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp"} {
  %a = nn.relu "a"(%x) {strategy.stage = 0 : i64} : (tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  %b = nn.relu "b"(%y) {strategy.stage = 0 : i64} : (tensor<8xf32, #cut0>) -> tensor<8xf32, #cut0>
  %carried = dist.transfer %b {strategy.stage = 1 : i64} : tensor<8xf32, #cut0> -> tensor<8xf32, #cut1>
  %whole = dist.all_gather %carried dim 0 over {tp} for activation {strategy.stage = 1 : i64} : tensor<8xf32, #cut1> -> tensor<8xf32, #at1>
  %outer = dist.transfer %a {strategy.stage = 1 : i64} : tensor<8xf32, #at0> -> tensor<8xf32, #at1>
  %r = nn.repeat "layers" count 2 carry(%c = %whole : tensor<8xf32, #at1>) -> (tensor<8xf32, #at1>) attributes {strategy.stage = 1 : i64} {
    %first = nn.relu "first"(%outer) {strategy.stage = 1 : i64} : (tensor<8xf32, #at1>) -> tensor<8xf32, #at1>
    %next = nn.add "second"(%c, %first) {strategy.stage = 1 : i64} : (tensor<8xf32, #at1>, tensor<8xf32, #at1>) -> tensor<8xf32, #at1>
    nn.yield %next : tensor<8xf32, #at1>
  }
  return %r : tensor<8xf32, #at1>
}

// -----

// Chunks: with p stages, virtual stage c * p + s is chunk c of stage s. Forward
// sections come by chunk, gradients in reverse, one update for all chunks. The
// settings of the step stay on every program.

// CHECK-LABEL: dist.program @chunks_stage0
// CHECK-SAME:  attributes {step = #dist.step<schedule = <order = interleaved, max_ongoing = 4, virtual_stages = 2>, buckets = <size = 4096>, overlap = <tensor = none>>} {
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[A:.+]] = nn.relu "a"
// CHECK-NEXT:      dist.send %[[A]] to stage 1 tag [[#AB:]]
// CHECK:         dist.section forward chunk 1 {
// CHECK-NEXT:      %[[B:.+]] = dist.recv from stage 1 tag [[#BC:]]
// CHECK-NEXT:      nn.relu "c"(%[[B]])
// CHECK:         dist.section backward chunk 1 {
// CHECK-NEXT:      nn.relu_grad "c"
// CHECK:         dist.section backward {
// CHECK-NEXT:      nn.relu_grad "a"
// CHECK:         dist.section update once {
// CHECK-NEXT:      nn.sgd "a"
// CHECK-NEXT:      nn.sgd "c"
// CHECK:       dist.program @chunks_stage1
// CHECK-SAME:  step = #dist.step<schedule = <order = interleaved, max_ongoing = 4, virtual_stages = 2>, buckets = <size = 4096>, overlap = <tensor = none>>
// CHECK:         dist.section forward {
// CHECK-NEXT:      dist.recv from stage 0 tag [[#AB]]
// CHECK:           dist.send %{{.+}} to stage 0 tag [[#BC]]
#fwd = #strategy.phase<forward>
#bwd = #strategy.phase<backward>
#upd = #strategy.phase<update>
#mesh = #dist.mesh<[pp = 2]>
#at0 = #dist.layout<#mesh, [{}], at = [pp = 0]>
#at1 = #dist.layout<#mesh, [{}], at = [pp = 1]>
func.func @chunks(%x: tensor<8xf32, #at0> {strategy.stage = 0 : i64}) -> (tensor<8xf32, #at0>, tensor<8xf32, #at0>)
    attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp", strategy.step = #dist.step<schedule = <order = interleaved, max_ongoing = 4, virtual_stages = 2>, buckets = <size = 4096>, overlap = <tensor = none>>} {
  %0 = nn.relu "a"(%x) {strategy.phase = #fwd, strategy.stage = 0 : i64} : (tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  %1 = dist.transfer %0 {strategy.phase = #fwd, strategy.stage = 1 : i64} : tensor<8xf32, #at0> -> tensor<8xf32, #at1>
  %2 = nn.relu "b"(%1) {strategy.phase = #fwd, strategy.stage = 1 : i64} : (tensor<8xf32, #at1>) -> tensor<8xf32, #at1>
  %3 = dist.transfer %2 {strategy.phase = #fwd, strategy.stage = 2 : i64} : tensor<8xf32, #at1> -> tensor<8xf32, #at0>
  %4 = nn.relu "c"(%3) {strategy.phase = #fwd, strategy.stage = 2 : i64} : (tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  %5 = nn.relu_grad "c"(%4, %4) {strategy.phase = #bwd, strategy.stage = 2 : i64} : (tensor<8xf32, #at0>, tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  %6 = nn.relu_grad "a"(%5, %0) {strategy.phase = #bwd, strategy.stage = 0 : i64} : (tensor<8xf32, #at0>, tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  %7 = nn.sgd "a"(%x, %6) {strategy.phase = #upd, strategy.stage = 0 : i64} : (tensor<8xf32, #at0>, tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  %8 = nn.sgd "c"(%x, %5) {strategy.phase = #upd, strategy.stage = 2 : i64} : (tensor<8xf32, #at0>, tensor<8xf32, #at0>) -> tensor<8xf32, #at0>
  return %7, %8 : tensor<8xf32, #at0>, tensor<8xf32, #at0>
}

// -----

// Where the schedule splits gradients, the backward section of a stage becomes
// two: the gradients for which the stage before waits, and the rest. No stage
// waits for stage 0, which keeps one section.

// CHECK-LABEL: dist.program @split_gradients_stage0
// CHECK:         dist.section backward {
// CHECK-NEXT:      %[[D:.+]] = dist.recv from stage 1
// CHECK-NEXT:      nn.linear_wgrad "a"(%[[D]],
// CHECK:       dist.program @split_gradients_stage1
// CHECK:         %[[I:.+]] = dist.section input_gradient {
// CHECK-NEXT:      %[[G:.+]] = nn.relu_grad "act"
// CHECK-NEXT:      %[[DX:.+]] = nn.linear_dgrad "b"(%[[G]],
// CHECK-NEXT:      dist.send %[[DX]] to stage 0
// CHECK-NEXT:      dist.yield %[[G]] :
// CHECK:         dist.section weight_gradient {
// CHECK-NEXT:      nn.linear_wgrad "b"(%[[I]],
#bwd = #strategy.phase<backward>
#mesh = #dist.mesh<[pp = 2]>
#at0 = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
#at1 = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
func.func @split_gradients(%x: tensor<8x8xf32, #at0> {strategy.stage = 0 : i64}, %w: tensor<8x8xf32, #at1> {strategy.stage = 1 : i64})
    -> (tensor<8x8xf32, #at0>, tensor<8x8xf32, #at1>) attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp", strategy.step = #dist.step<schedule = <order = "zero-bubble">>} {
  %0 = nn.relu_grad "act"(%w, %w) {strategy.phase = #bwd, strategy.stage = 1 : i64} : (tensor<8x8xf32, #at1>, tensor<8x8xf32, #at1>) -> tensor<8x8xf32, #at1>
  %1 = nn.linear_wgrad "b"(%0, %w) {strategy.phase = #bwd, strategy.stage = 1 : i64} : (tensor<8x8xf32, #at1>, tensor<8x8xf32, #at1>) -> tensor<8x8xf32, #at1>
  %2 = nn.linear_dgrad "b"(%0, %w) {strategy.phase = #bwd, strategy.stage = 1 : i64} : (tensor<8x8xf32, #at1>, tensor<8x8xf32, #at1>) -> tensor<8x8xf32, #at1>
  %3 = dist.transfer %2 {strategy.phase = #bwd, strategy.stage = 0 : i64} : tensor<8x8xf32, #at1> -> tensor<8x8xf32, #at0>
  %4 = nn.linear_wgrad "a"(%3, %x) {strategy.phase = #bwd, strategy.stage = 0 : i64} : (tensor<8x8xf32, #at0>, tensor<8x8xf32, #at0>) -> tensor<8x8xf32, #at0>
  return %4, %1 : tensor<8x8xf32, #at0>, tensor<8x8xf32, #at1>
}

// -----

// A repeat that computes both kinds of gradients is cut in two. The second part
// reads the carried values of the first one as a stack.

// CHECK-LABEL: dist.program @split_layers_stage0
// CHECK:         dist.section backward {
// CHECK-NEXT:      dist.recv from stage 1
// CHECK:       dist.program @split_layers_stage1
// CHECK:         %[[I:.+]] = dist.section input_gradient {
// CHECK-NEXT:      %[[R:.+]]:2 = nn.repeat "layers" count 2 reverse carry(%[[G:[a-z0-9]+]] = %{{[a-z0-9]+}} : {{.*}}) slice(%[[WI:[a-z0-9]+]] = %{{[a-z0-9]+}} :
// CHECK-NEXT:        %[[D:.+]] = nn.linear_dgrad "fc"(%[[G]], %[[WI]])
// CHECK-NEXT:        nn.yield %[[D]], %[[G]] :
// CHECK-NEXT:      }
// CHECK-NEXT:      dist.send %[[R]]#0 to stage 0
// CHECK-NEXT:      dist.yield %[[R]]#1 :
// CHECK:         dist.section weight_gradient {
// CHECK-NEXT:      nn.repeat "layers" count 2 reverse slice(%[[GI:[a-z0-9]+]] = %[[I]] :
// CHECK-NEXT:        nn.linear_wgrad "fc"(%[[GI]], %[[GI]])
#bwd = #strategy.phase<backward>
#mesh = #dist.mesh<[pp = 2]>
#at0 = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
#at1 = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
#s = #dist.layout<#mesh, [{}, {}, {}], at = [pp = 1]>
func.func @split_layers(%g: tensor<8x8xf32, #at1> {strategy.stage = 1 : i64}, %ws: tensor<2x8x8xf32, #s> {strategy.stage = 1 : i64})
    -> (tensor<8x8xf32, #at0>, tensor<2x8x8xf32, #s>) attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp", strategy.step = #dist.step<schedule = <order = "zero-bubble">>} {
  %0:2 = nn.repeat "layers" count 2 reverse carry(%h = %g : tensor<8x8xf32, #at1>) slice(%w = %ws : tensor<2x8x8xf32, #s> to tensor<8x8xf32, #at1>)
      -> (tensor<8x8xf32, #at1>, tensor<2x8x8xf32, #s>) attributes {strategy.phase = #bwd, strategy.stage = 1 : i64} {
    %2 = nn.linear_dgrad "fc"(%h, %w) : (tensor<8x8xf32, #at1>, tensor<8x8xf32, #at1>) -> tensor<8x8xf32, #at1>
    %3 = nn.linear_wgrad "fc"(%h, %h) : (tensor<8x8xf32, #at1>, tensor<8x8xf32, #at1>) -> tensor<8x8xf32, #at1>
    nn.yield %2, %3 : tensor<8x8xf32, #at1>, tensor<8x8xf32, #at1>
  }
  %1 = dist.transfer %0#0 {strategy.phase = #bwd, strategy.stage = 0 : i64} : tensor<8x8xf32, #at1> -> tensor<8x8xf32, #at0>
  return %1, %0#1 : tensor<8x8xf32, #at0>, tensor<2x8x8xf32, #s>
}

// -----

// Every section has its own copy of the constants that it reads.

// CHECK-LABEL: dist.program @constants
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[CST:.+]] = arith.constant
// CHECK-NEXT:      linalg.fill ins(%[[CST]]
// CHECK:         dist.section backward {
// CHECK-NEXT:      %[[CST:.+]] = arith.constant
// CHECK-NEXT:      linalg.fill ins(%[[CST]]
// CHECK:         dist.return
#mesh = #dist.mesh<[dp = 2]>
#x = #dist.layout<#mesh, [{}]>
func.func @constants(%x: tensor<8xf32, #x>) -> (tensor<8xf32, #x>, tensor<8xf32, #x>) attributes {strategy.mesh = #mesh} {
  %one = arith.constant 1.0 : f32
  %0 = linalg.fill {strategy.phase = #strategy.phase<forward>} ins(%one : f32) outs(%x : tensor<8xf32, #x>) -> tensor<8xf32, #x>
  %1 = linalg.fill {strategy.phase = #strategy.phase<backward>} ins(%one : f32) outs(%x : tensor<8xf32, #x>) -> tensor<8xf32, #x>
  return %0, %1 : tensor<8xf32, #x>, tensor<8xf32, #x>
}
