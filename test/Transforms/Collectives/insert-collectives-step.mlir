// RUN: proteus-opt %s -split-input-file --insert-collectives | FileCheck %s --implicit-check-not="= dist."

// Conversions of parameters, gradients and states, and between micro-batches and
// stages. Every conversion must be expected below: any other one is an error.

//===----------------------------------------------------------------------===//
// Gradients and updates
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2]>
#x = #dist.layout<#mesh, [{dp}, {}]>
#w = #dist.layout<#mesh, [{}, {}]>
#ws = #dist.layout<#mesh, [{}, {}, {}]>
#shards = #dist.layout<#mesh, [{}, {dp}, {}]>
#fwd = #strategy.phase<forward>
#bwd = #strategy.phase<backward>
#upd = #strategy.phase<update>
module attributes {proteus.cluster = "dgx-a100"} {
  // A gradient is pending where it is computed. Its sum is part of the update.

  // CHECK-DAG:   #[[PENDING:.+]] = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
  // CHECK-DAG:   #[[SHARDS:.+]] = #dist.layout<#mesh, [{}, {dp}, {}]>
  // CHECK-LABEL: func.func @gradients_are_reduced_in_the_update
  // CHECK:         %[[DW:.+]] = nn.linear_wgrad "fc"{{.*}} -> tensor<16x16xf32, #[[PENDING]]>
  // CHECK-NEXT:    %[[G:.+]] = dist.all_reduce sum %[[DW]] over {dp} for gradient {proteus.path = "fc", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    nn.sgd "w"(%{{.+}}, %[[G]])
  func.func @gradients_are_reduced_in_the_update(%w: tensor<16x16xf32> {nn.role = "parameter", strategy.layout = #w}, %x: tensor<8x16xf32> {strategy.layout = #x})
      -> (tensor<16x16xf32> {nn.updates = 0 : i64}) attributes {strategy.mesh = #mesh} {
    %0 = nn.linear_wgrad "fc"(%x, %x) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    %1 = nn.sgd "w"(%w, %0) {strategy.op = #strategy.partition<[]>, strategy.phase = #upd} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }

  // Sharded states (ZeRO, stage 1): the gradient is scattered, each device updates
  // its part, and the new parameter is gathered.

  // CHECK-LABEL: func.func @sharded_state
  // CHECK:         %[[DW:.+]] = nn.linear_wgrad "fc"
  // CHECK-NEXT:    %[[PART:.+]] = dist.slice %arg0 dim 0 over {dp} {proteus.path = "w", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    %[[G:.+]] = dist.reduce_scatter sum %[[DW]] dim 0 over {dp} for gradient {proteus.path = "fc", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    %[[NEW:.+]]:2 = nn.sgd "w"(%[[PART]], %[[G]], %arg1)
  // CHECK-NEXT:    %[[WHOLE:.+]] = dist.all_gather %[[NEW]]#0 dim 0 over {dp} for parameter {proteus.path = "w", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    return %[[WHOLE]], %[[NEW]]#1
  func.func @sharded_state(
      %w: tensor<16x16xf32> {nn.role = "parameter", strategy.layout = #w}, %v: tensor<16x16xf32> {nn.role = "state", strategy.layout = #x}, %x: tensor<8x16xf32> {strategy.layout = #x})
      -> (tensor<16x16xf32> {nn.updates = 0 : i64}, tensor<16x16xf32> {nn.updates = 1 : i64}) attributes {strategy.mesh = #mesh} {
    %0 = nn.linear_wgrad "fc"(%x, %x) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    %1:2 = nn.sgd "w"(%w, %0, %v) {momentum, strategy.op = #strategy.partition<[d0 -> dp]>, strategy.phase = #upd} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>)
    return %1#0, %1#1 : tensor<16x16xf32>, tensor<16x16xf32>
  }

  // The same for layers that are written once: the gradients of all layers are
  // scattered as one stack, each layer updates its part of a slice, and all layers
  // are gathered together.

  // CHECK-LABEL: func.func @sharded_state_of_layers
  // CHECK:         %[[DW:.+]] = nn.repeat "layers" count 4 reverse
  // CHECK:         %[[G:.+]] = dist.reduce_scatter sum %[[DW]] dim 1 over {dp} for gradient {proteus.path = "layers", strategy.phase = #strategy.phase<update>} : tensor<4x16x16xf32, #{{.+}}> -> tensor<4x16x16xf32, #[[SHARDS]]>
  // CHECK-NEXT:    %[[U:.+]]:2 = nn.repeat "layers" count 4 slice(%[[W:[a-z0-9]+]] = %arg0 : {{.+}}, %[[GI:[a-z0-9]+]] = %[[G]]
  // CHECK-NEXT:      %[[PART:.+]] = dist.slice %[[W]] dim 0 over {dp} {proteus.path = "fc.weight", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:      nn.sgd "fc.weight"(%[[PART]], %[[GI]],
  // CHECK-NEXT:      nn.yield
  // CHECK-NEXT:    }
  // CHECK-NEXT:    %[[WHOLE:.+]] = dist.all_gather %[[U]]#0 dim 1 over {dp} for parameter {proteus.path = "fc.weight", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    return %[[WHOLE]], %[[U]]#1
  func.func @sharded_state_of_layers(
      %ws: tensor<4x16x16xf32> {nn.role = "parameter", strategy.layout = #ws}, %vs: tensor<4x16x16xf32> {nn.role = "state", strategy.layout = #shards}, %x: tensor<8x16xf32> {strategy.layout = #x})
      -> (tensor<4x16x16xf32> {nn.updates = 0 : i64}, tensor<4x16x16xf32> {nn.updates = 1 : i64}) attributes {strategy.mesh = #mesh} {
    %0 = nn.repeat "layers" count 4 reverse -> (tensor<4x16x16xf32>) attributes {strategy.phase = #bwd} {
      %2 = nn.linear_wgrad "fc"(%x, %x) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      nn.yield %2 : tensor<16x16xf32>
    }
    %1:2 = nn.repeat "layers" count 4 slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>, %g = %0 : tensor<4x16x16xf32> to tensor<16x16xf32>, %v = %vs : tensor<4x16x16xf32> to tensor<16x16xf32>)
        -> (tensor<4x16x16xf32>, tensor<4x16x16xf32>) attributes {strategy.phase = #upd} {
      %2:2 = nn.sgd "fc.weight"(%w, %g, %v) {momentum, strategy.op = #strategy.partition<[d0 -> dp]>, strategy.phase = #upd} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>)
      nn.yield %2#0, %2#1 : tensor<16x16xf32>, tensor<16x16xf32>
    }
    return %1#0, %1#1 : tensor<4x16x16xf32>, tensor<4x16x16xf32>
  }

  // Sharded weights (ZeRO, stage 3): each phase gathers the weight of a layer in
  // the body of the repeat, so that one layer at a time is whole. The gradients of
  // all layers are scattered, and nothing is gathered after the update.

  // CHECK-LABEL: func.func @sharded_weights
  // CHECK:         nn.repeat "layers" count 4 carry({{.*}}) slice(%[[S:.+]] = %arg0 : tensor<4x16x16xf32, #[[SHARDS]]>
  // CHECK-NEXT:      %[[F:.+]] = dist.all_gather %[[S]] dim 0 over {dp} for parameter {proteus.path = "fc", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:      nn.linear "fc"(%{{.+}}, %[[F]])
  // CHECK:         %[[DW:.+]]:2 = nn.repeat "layers" count 4 reverse carry({{.*}}) slice(%[[S:.+]] = %arg0 : tensor<4x16x16xf32, #[[SHARDS]]>
  // CHECK-NEXT:      %[[B:.+]] = dist.all_gather %[[S]] dim 0 over {dp} for parameter {proteus.path = "fc", strategy.phase = #strategy.phase<backward>}
  // CHECK-NEXT:      nn.linear_dgrad "fc"(%{{.+}}, %[[B]])
  // CHECK:         %[[G:.+]] = dist.reduce_scatter sum %[[DW]]#1 dim 1 over {dp} for gradient {proteus.path = "layers", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    nn.repeat "layers" count 4 slice({{.*}}, %{{.+}} = %[[G]]
  // CHECK-NEXT:      nn.sgd "fc.weight"
  func.func @sharded_weights(%ws: tensor<4x16x16xf32> {nn.role = "parameter", strategy.layout = #shards}, %x: tensor<8x16xf32> {strategy.layout = #x})
      -> (tensor<4x16x16xf32> {nn.updates = 0 : i64}) attributes {strategy.mesh = #mesh} {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x16xf32>) slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>) -> (tensor<8x16xf32>) attributes {strategy.phase = #fwd} {
      %3 = nn.linear "fc"(%h, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #fwd} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      nn.yield %3 : tensor<8x16xf32>
    }
    %1:2 = nn.repeat "layers" count 4 reverse carry(%h = %0 : tensor<8x16xf32>) slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<4x16x16xf32>) attributes {strategy.phase = #bwd} {
      %3 = nn.linear_dgrad "fc"(%h, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      %4 = nn.linear_wgrad "fc"(%h, %h) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      nn.yield %3, %4 : tensor<8x16xf32>, tensor<16x16xf32>
    }
    %2 = nn.repeat "layers" count 4 slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>, %g = %1#1 : tensor<4x16x16xf32> to tensor<16x16xf32>) -> (tensor<4x16x16xf32>) attributes {strategy.phase = #upd} {
      %3 = nn.sgd "fc.weight"(%w, %g) {strategy.op = #strategy.partition<[d0 -> dp]>, strategy.phase = #upd} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      nn.yield %3 : tensor<16x16xf32>
    }
    return %2 : tensor<4x16x16xf32>
  }

  // The first layer needs no gradient of its operand: a repeat that only computes
  // the gradients of weights gathers no weight.

  // CHECK-LABEL: func.func @weights_are_gathered_where_they_are_read
  // CHECK:         nn.repeat "layers" count 1 carry
  // CHECK-NEXT:      dist.all_gather %{{.+}} dim 0 over {dp} for parameter {proteus.path = "fc", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:      nn.linear "fc"
  // CHECK:         nn.repeat "layers" count 1 reverse
  // CHECK-NEXT:      nn.linear_wgrad "fc"
  // CHECK:         return
  func.func @weights_are_gathered_where_they_are_read(%ws: tensor<1x16x16xf32> {nn.role = "parameter", strategy.layout = #shards}, %x: tensor<8x16xf32> {strategy.layout = #x})
      -> (tensor<8x16xf32>, tensor<1x16x16xf32>) attributes {nn.training = #nn.training<optimizer = sgd>, strategy.mesh = #mesh} {
    %0 = nn.repeat "layers" count 1 carry(%h = %x : tensor<8x16xf32>) slice(%w = %ws : tensor<1x16x16xf32> to tensor<16x16xf32>) -> (tensor<8x16xf32>) attributes {strategy.phase = #fwd} {
      %2 = nn.linear "fc"(%h, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #fwd} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      nn.yield %2 : tensor<8x16xf32>
    }
    %1 = nn.repeat "layers" count 1 reverse slice(%w = %ws : tensor<1x16x16xf32> to tensor<16x16xf32>) -> (tensor<1x16x16xf32>) attributes {strategy.phase = #bwd} {
      %2 = nn.linear_wgrad "fc"(%x, %x) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      nn.yield %2 : tensor<16x16xf32>
    }
    return %0, %1 : tensor<8x16xf32>, tensor<1x16x16xf32>
  }

  // A parameter that the body reads from outside is gathered once for all
  // iterations of a pass.

  // CHECK-LABEL: func.func @shared_weights_are_gathered_once
  // CHECK:         %[[W0:.+]] = dist.all_gather %{{.+}} dim 0 over {dp} for parameter {proteus.path = "layers[0].fc", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    nn.repeat "layers" count 4 carry
  // CHECK-NEXT:      nn.linear "fc"(%{{.+}}, %[[W0]])
  // CHECK:         %[[W1:.+]] = dist.all_gather %{{.+}} dim 0 over {dp} for parameter {proteus.path = "layers[3].fc", strategy.phase = #strategy.phase<backward>}
  // CHECK-NEXT:    nn.repeat "layers" count 4 reverse carry
  // CHECK-NEXT:      nn.linear_dgrad "fc"(%{{.+}}, %[[W1]])
  // CHECK:         return
  func.func @shared_weights_are_gathered_once(%w: tensor<16x16xf32> {nn.role = "parameter", strategy.layout = #dist.layout<#mesh, [{dp}, {}]>}, %x: tensor<8x16xf32> {strategy.layout = #x})
      -> (tensor<8x16xf32>, tensor<8x16xf32>) attributes {nn.training = #nn.training<optimizer = sgd>, strategy.mesh = #mesh} {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x16xf32>) -> (tensor<8x16xf32>) attributes {strategy.phase = #fwd} {
      %2 = nn.linear "fc"(%h, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #fwd} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      nn.yield %2 : tensor<8x16xf32>
    }
    %1 = nn.repeat "layers" count 4 reverse carry(%d = %0 : tensor<8x16xf32>) -> (tensor<8x16xf32>) attributes {strategy.phase = #bwd} {
      %2 = nn.linear_dgrad "fc"(%d, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      nn.yield %2 : tensor<8x16xf32>
    }
    return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
  }

  // A sum over iterations that goes on with a pending sum stays pending. It is
  // reduced once, for the update.

  // CHECK-LABEL: func.func @sums_stay_pending_from_repeat_to_repeat
  // CHECK:         %[[FIRST:.+]] = nn.linear_wgrad "head"
  // CHECK-NEXT:    %[[SUM:.+]] = nn.repeat "layers" count 4 reverse carry(%{{.+}} = %[[FIRST]] :
  // CHECK-NEXT:      nn.linear_wgrad "fc"
  // CHECK-NEXT:      nn.add "fc"
  // CHECK-NEXT:      nn.yield
  // CHECK-NEXT:    }
  // CHECK-NEXT:    %[[WHOLE:.+]] = dist.all_reduce sum %[[SUM]] over {dp} for gradient
  // CHECK-NEXT:    nn.sgd "w"(%{{.+}}, %[[WHOLE]])
  func.func @sums_stay_pending_from_repeat_to_repeat(%w: tensor<16x16xf32> {nn.role = "parameter", strategy.layout = #w}, %x: tensor<8x16xf32> {strategy.layout = #x})
      -> (tensor<16x16xf32> {nn.updates = 0 : i64}) attributes {nn.training = #nn.training<optimizer = sgd>, strategy.mesh = #mesh} {
    %0 = nn.linear_wgrad "head"(%x, %x) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    %1 = nn.repeat "layers" count 4 reverse carry(%s = %0 : tensor<16x16xf32>) -> (tensor<16x16xf32>) attributes {strategy.phase = #bwd} {
      %3 = nn.linear_wgrad "fc"(%x, %x) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      %4 = nn.add "fc"(%s, %3) {strategy.op = #strategy.partition<[]>, strategy.phase = #bwd} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      nn.yield %4 : tensor<16x16xf32>
    }
    %2 = nn.sgd "w"(%w, %1) {strategy.op = #strategy.partition<[]>, strategy.phase = #upd} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %2 : tensor<16x16xf32>
  }
}

// -----

// Stacked gradients that reach their state in several steps. A reduction that is
// the first step is done for all layers at once, so that it can join a bucket; the
// rest is done layer by layer ("a"). Where it is not the first step, because the
// shards of tensor parallelism are gathered before, all is done layer by layer
// ("b").

// CHECK-LABEL: func.func @several_steps
// CHECK:         %[[DW:.+]]:2 = nn.repeat "layers" count 3 reverse
// CHECK:         %[[A:.+]] = dist.reduce_scatter sum %[[DW]]#0 dim 1 over {dp} for gradient {proteus.path = "layers", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    nn.repeat "layers" count 3 slice(%{{.+}} = %arg0 {{.*}}, %[[AI:[a-z0-9]+]] = %[[A]] :
// CHECK-NEXT:      %[[G:.+]] = dist.all_to_all %[[AI]] from 1 to 0 over {tp} for gradient {proteus.path = "a", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:      nn.sgd "a"(%{{.+}}, %[[G]])
// CHECK:         nn.repeat "layers" count 3 slice(%{{.+}} = %arg1 {{.*}}, %[[BI:[a-z0-9]+]] = %[[DW]]#1 :
// CHECK-NEXT:      %[[W:.+]] = dist.all_gather %[[BI]] dim 0 over {tp} for gradient {proteus.path = "b", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:      %[[G:.+]] = dist.reduce_scatter sum %[[W]] dim 0 over {dp} for gradient {proteus.path = "b", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:      nn.sgd "b"(%{{.+}}, %[[G]])
// CHECK:         return
#mesh = #dist.mesh<[dp = 2, tp = 2]>
#as = #dist.layout<#mesh, [{}, {dp, tp}, {}]>
#bs = #dist.layout<#mesh, [{}, {dp}, {}]>
#bwd = #strategy.phase<backward>
#upd = #strategy.phase<update>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @several_steps(
      %as: tensor<3x16x64xf32> {nn.role = "parameter", strategy.layout = #as}, %bs: tensor<3x64x16xf32> {nn.role = "parameter", strategy.layout = #bs},
      %x: tensor<8x64xf32> {strategy.layout = #dist.layout<#mesh, [{dp}, {tp}]>}, %g: tensor<8x16xf32> {strategy.layout = #dist.layout<#mesh, [{dp}, {}]>})
      -> (tensor<3x16x64xf32> {nn.updates = 0 : i64}, tensor<3x64x16xf32> {nn.updates = 1 : i64}) attributes {strategy.mesh = #mesh} {
    %0:2 = nn.repeat "layers" count 3 reverse -> (tensor<3x16x64xf32>, tensor<3x64x16xf32>) attributes {strategy.phase = #bwd} {
      %3 = nn.linear_wgrad "a"(%g, %x) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x64xf32>) -> tensor<16x64xf32>
      %4 = nn.linear_wgrad "b"(%x, %g) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>, strategy.phase = #bwd} : (tensor<8x64xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
      nn.yield %3, %4 : tensor<16x64xf32>, tensor<64x16xf32>
    }
    %1 = nn.repeat "layers" count 3 slice(%w = %as : tensor<3x16x64xf32> to tensor<16x64xf32>, %d = %0#0 : tensor<3x16x64xf32> to tensor<16x64xf32>) -> (tensor<3x16x64xf32>) attributes {strategy.phase = #upd} {
      %3 = nn.sgd "a"(%w, %d) {strategy.op = #strategy.partition<[d0 -> [dp, tp]]>, strategy.phase = #upd} : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
      nn.yield %3 : tensor<16x64xf32>
    }
    %2 = nn.repeat "layers" count 3 slice(%w = %bs : tensor<3x64x16xf32> to tensor<64x16xf32>, %d = %0#1 : tensor<3x64x16xf32> to tensor<64x16xf32>) -> (tensor<3x64x16xf32>) attributes {strategy.phase = #upd} {
      %3 = nn.sgd "b"(%w, %d) {strategy.op = #strategy.partition<[d0 -> dp]>, strategy.phase = #upd} : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
      nn.yield %3 : tensor<64x16xf32>
    }
    return %1, %2 : tensor<3x16x64xf32>, tensor<3x64x16xf32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// Micro-batches
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2], micro = 4>
#x = #dist.layout<#mesh, [{micro, dp}, {}]>
#y = #dist.layout<#mesh, [{micro}, {}]>
#w = #dist.layout<#mesh, [{}, {}]>
#fwd = #strategy.phase<forward>
#bwd = #strategy.phase<backward>
#upd = #strategy.phase<update>
module attributes {proteus.cluster = "dgx-a100"} {
  // Gradients are summed over time before they are summed over devices.

  // CHECK-DAG:   #[[EACH:.+]] = #dist.layout<#mesh, [{}, {}], partial = [sum {micro, dp}]>
  // CHECK-DAG:   #[[ALL:.+]] = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
  // CHECK-LABEL: func.func @gradients_accumulate
  // CHECK:         %[[DW:.+]] = nn.linear_wgrad "fc"{{.*}} -> tensor<16x16xf32, #[[EACH]]>
  // CHECK-NEXT:    %[[SUM:.+]] = dist.accumulate %[[DW]] {proteus.path = "fc", strategy.phase = #strategy.phase<update>} : tensor<16x16xf32, #[[EACH]]> -> tensor<16x16xf32, #[[ALL]]>
  // CHECK-NEXT:    %[[G:.+]] = dist.all_reduce sum %[[SUM]] over {dp} for gradient {proteus.path = "fc", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    nn.sgd "w"(%{{.+}}, %[[G]])
  func.func @gradients_accumulate(%w: tensor<16x16xf32> {nn.role = "parameter", strategy.layout = #w}, %x: tensor<32x16xf32> {strategy.layout = #x})
      -> (tensor<16x16xf32> {nn.updates = 0 : i64}) attributes {strategy.mesh = #mesh} {
    %0 = nn.linear_wgrad "fc"(%x, %x) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>, strategy.phase = #bwd} : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %1 = nn.sgd "w"(%w, %0) {strategy.op = #strategy.partition<[]>, strategy.phase = #upd} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }

  // The sum of the gradients of two chunks is part of the update, which runs once:
  // both gradients accumulate before. The sum over devices passes through.

  // CHECK-LABEL: func.func @gradients_of_chunks_accumulate
  // CHECK:         %[[B:.+]] = nn.linear_wgrad "b"
  // CHECK-NEXT:    %[[A:.+]] = nn.linear_wgrad "a"
  // CHECK-NEXT:    %[[BS:.+]] = dist.accumulate %[[B]]
  // CHECK-NEXT:    %[[AS:.+]] = dist.accumulate %[[A]]
  // CHECK-NEXT:    %[[S:.+]] = nn.add "w"(%[[BS]], %[[AS]])
  // CHECK-NEXT:    %[[G:.+]] = dist.all_reduce sum %[[S]] over {dp} for gradient
  // CHECK-NEXT:    nn.sgd "w"(%{{.+}}, %[[G]])
  func.func @gradients_of_chunks_accumulate(%w: tensor<16x16xf32> {nn.role = "parameter", strategy.layout = #w}, %x: tensor<32x16xf32> {strategy.layout = #x})
      -> (tensor<16x16xf32> {nn.updates = 0 : i64}) attributes {strategy.mesh = #mesh} {
    %0 = nn.linear_wgrad "b"(%x, %x) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>, strategy.phase = #bwd} : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %1 = nn.linear_wgrad "a"(%x, %x) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>, strategy.phase = #bwd} : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %2 = nn.add "w"(%0, %1) {strategy.op = #strategy.partition<[]>, strategy.phase = #upd} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %3 = nn.sgd "w"(%w, %2) {strategy.op = #strategy.partition<[]>, strategy.phase = #upd} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %3 : tensor<16x16xf32>
  }

  // A value that the step returns, such as the loss, is summed over time, and
  // stays pending over devices.

  // CHECK-LABEL: func.func @losses_accumulate
  // CHECK:         %[[LOSS:.+]], %{{.+}} = nn.cross_entropy "loss"
  // CHECK-NEXT:    %[[MEAN:.+]] = dist.accumulate %[[LOSS]] {proteus.path = "loss", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    return %[[MEAN]]
  func.func @losses_accumulate(%x: tensor<32x16xf32> {strategy.layout = #x}, %t: tensor<32xi32> {strategy.layout = #dist.layout<#mesh, [{micro, dp}]>})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>, strategy.mesh = #mesh} {
    %loss, %lse = nn.cross_entropy "loss"(%x, %t) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>, strategy.phase = #fwd} : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }

  // The results of a model that is not trained are its output, so they are summed
  // over devices as well: after the sum over time, or in the forward pass.

  // CHECK-LABEL: func.func @outputs_are_reduced
  // CHECK:         %[[LOSS:.+]], %{{.+}} = nn.cross_entropy "loss"
  // CHECK-NEXT:    %[[SUM:.+]] = dist.accumulate %[[LOSS]] {proteus.path = "loss", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    %[[MEAN:.+]] = dist.all_reduce sum %[[SUM]] over {dp} for activation {proteus.path = "loss", strategy.phase = #strategy.phase<update>}
  // CHECK-NEXT:    %[[Y:.+]] = nn.linear "fc"
  // CHECK-NEXT:    %[[WHOLE:.+]] = dist.all_reduce sum %[[Y]] over {dp} for activation {proteus.path = "fc", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    return %[[MEAN]], %[[WHOLE]]
  func.func @outputs_are_reduced(
      %x: tensor<32x16xf32> {strategy.layout = #x}, %t: tensor<32xi32> {strategy.layout = #dist.layout<#mesh, [{micro, dp}]>},
      %v: tensor<32x16xf32> {strategy.layout = #dist.layout<#mesh, [{micro}, {dp}]>}, %w: tensor<8x16xf32> {nn.role = "parameter", strategy.layout = #dist.layout<#mesh, [{}, {dp}]>})
      -> (tensor<f32>, tensor<32x8xf32>) attributes {strategy.mesh = #mesh} {
    %loss, %lse = nn.cross_entropy "loss"(%x, %t) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>, strategy.phase = #fwd} : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    %y = nn.linear "fc"(%v, %w) {strategy.op = #strategy.partition<[batch -> micro, in -> dp]>, strategy.phase = #fwd} : (tensor<32x16xf32>, tensor<8x16xf32>) -> tensor<32x8xf32>
    return %loss, %y : tensor<f32>, tensor<32x8xf32>
  }

  // Gradients of a shared weight that are pending over different axes: the sum
  // over micro-batches, pending in both, passes through their sum; the other is
  // reduced before.

  // CHECK-LABEL: func.func @sums_over_different_axes
  // CHECK:         %[[B:.+]] = nn.linear_wgrad "b"
  // CHECK-NEXT:    %[[A:.+]] = nn.linear_wgrad "a"
  // CHECK-NEXT:    %[[R:.+]] = dist.all_reduce sum %[[B]] over {dp} for activation
  // CHECK-NEXT:    %[[S:.+]] = nn.add "a"(%[[R]], %[[A]])
  // CHECK-NEXT:    %[[T:.+]] = dist.accumulate %[[S]]
  // CHECK-NEXT:    nn.sgd "w"(%{{.+}}, %[[T]])
  func.func @sums_over_different_axes(%w: tensor<16x16xf32> {nn.role = "parameter", strategy.layout = #w}, %x: tensor<32x16xf32> {strategy.layout = #x}, %y: tensor<32x16xf32> {strategy.layout = #y})
      -> (tensor<16x16xf32> {nn.updates = 0 : i64}) attributes {strategy.mesh = #mesh} {
    %0 = nn.linear_wgrad "b"(%x, %x) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>, strategy.phase = #bwd} : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %1 = nn.linear_wgrad "a"(%y, %y) {strategy.op = #strategy.partition<[batch -> micro]>, strategy.phase = #bwd} : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %2 = nn.add "a"(%0, %1) {strategy.op = #strategy.partition<[]>, strategy.phase = #bwd} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %3 = nn.sgd "w"(%w, %2) {strategy.op = #strategy.partition<[]>, strategy.phase = #upd} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %3 : tensor<16x16xf32>
  }
}

// -----

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[pp = 2, tp = 2]>
#whole = #dist.layout<#mesh, [{}, {}]>
#columns = #dist.layout<#mesh, [{}, {tp}]>
#fwd = #strategy.phase<forward>
#bwd = #strategy.phase<backward>
module attributes {proteus.cluster = "dgx-a100"} {
  // A value that another stage reads goes through one transfer, however many
  // operations read it there and in whatever phase. The transfer has the phase of
  // the producer and the stage of the reader.

  // CHECK-DAG:   #[[X0:.+]] = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
  // CHECK-DAG:   #[[X1:.+]] = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
  // CHECK-LABEL: func.func @one_transfer
  // CHECK:         %[[H:.+]] = nn.relu "a"{{.*}} -> tensor<8x16xf32, #[[X0]]>
  // CHECK-NEXT:    %[[T:.+]] = dist.transfer %[[H]] {proteus.path = "a", strategy.phase = #strategy.phase<forward>, strategy.stage = 1 : i64} : tensor<8x16xf32, #[[X0]]> -> tensor<8x16xf32, #[[X1]]>
  // CHECK-NEXT:    nn.relu "b"(%[[T]])
  // CHECK-NEXT:    nn.gelu "c"(%[[T]])
  // CHECK-NEXT:    %[[G:.+]] = nn.gelu_grad "c"(%{{.+}}, %[[T]])
  // CHECK-NEXT:    dist.transfer %[[G]] {proteus.path = "c", strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64} : tensor<8x16xf32, #[[X1]]> -> tensor<8x16xf32, #[[X0]]>
  // CHECK-NEXT:    nn.relu_grad "a"
  func.func @one_transfer(%x: tensor<8x16xf32> {strategy.layout = #whole, strategy.stage = 0 : i64})
      -> (tensor<8x16xf32>, tensor<8x16xf32>) attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp"} {
    %0 = nn.relu "a"(%x) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd, strategy.stage = 0 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "b"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd, strategy.stage = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.gelu "c"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd, strategy.stage = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = nn.gelu_grad "c"(%2, %0) {strategy.op = #strategy.partition<[]>, strategy.phase = #bwd, strategy.stage = 1 : i64} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %4 = nn.relu_grad "a"(%3, %0) {strategy.op = #strategy.partition<[]>, strategy.phase = #bwd, strategy.stage = 0 : i64} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1, %4 : tensor<8x16xf32>, tensor<8x16xf32>
  }

  // A value moves in the layout that its reader needs: a pending sum is reduced on
  // the stage that computes it.

  // CHECK-LABEL: func.func @reduced_before_it_moves
  // CHECK:         %[[Y:.+]] = nn.linear "fc"
  // CHECK-NEXT:    %[[R:.+]] = dist.all_reduce sum %[[Y]] over {tp} for activation {proteus.path = "fc", strategy.phase = #strategy.phase<forward>, strategy.stage = 0 : i64}
  // CHECK-NEXT:    %[[T:.+]] = dist.transfer %[[R]] {proteus.path = "fc", strategy.phase = #strategy.phase<forward>, strategy.stage = 1 : i64}
  // CHECK-NEXT:    nn.relu "act"(%[[T]])
  func.func @reduced_before_it_moves(%x: tensor<8x16xf32> {strategy.layout = #columns, strategy.stage = 0 : i64}, %w: tensor<16x16xf32> {strategy.layout = #columns, strategy.stage = 0 : i64})
      -> tensor<8x16xf32> attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp"} {
    %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #fwd, strategy.stage = 0 : i64} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "act"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd, strategy.stage = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
}

// -----

// With `scatter_gather` a value that all ranks of a stage hold goes to another
// node in slices: a pending sum is reduced into the slices, which are gathered
// where they arrive. Of dimensions that are as good the first is sliced.

#mesh = #dist.mesh<[pp = 2, tp = 8]>
#whole = #dist.layout<#mesh, [{}, {}]>
#columns = #dist.layout<#mesh, [{}, {tp}]>
#fwd = #strategy.phase<forward>
module attributes {proteus.cluster = "dgx-a100:2"} {
  // CHECK-LABEL: func.func @slices_cross_between_nodes
  // CHECK:         %[[Y:.+]] = nn.linear "fc"
  // CHECK-NEXT:    %[[S:.+]] = dist.reduce_scatter sum %[[Y]] dim 0 over {tp} for activation {proteus.path = "fc", strategy.phase = #strategy.phase<forward>, strategy.stage = 0 : i64}
  // CHECK-NEXT:    %[[T:.+]] = dist.transfer %[[S]] {proteus.path = "fc", strategy.phase = #strategy.phase<forward>, strategy.stage = 1 : i64}
  // CHECK-NEXT:    %[[G:.+]] = dist.all_gather %[[T]] dim 0 over {tp} for activation {proteus.path = "fc", strategy.phase = #strategy.phase<forward>, strategy.stage = 1 : i64}
  // CHECK-NEXT:    nn.relu "act"(%[[G]])
  func.func @slices_cross_between_nodes(%x: tensor<1024x4096xf32> {strategy.layout = #columns, strategy.stage = 0 : i64}, %w: tensor<4096x4096xf32> {strategy.layout = #columns, strategy.stage = 0 : i64})
      -> tensor<1024x4096xf32> attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp", strategy.scatter_gather} {
    %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #fwd, strategy.stage = 0 : i64} : (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
    %1 = nn.relu "act"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd, strategy.stage = 1 : i64} : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    return %1 : tensor<1024x4096xf32>
  }

  // Without the setting the transfer is plain.

  // CHECK-LABEL: func.func @plain_without_the_setting
  // CHECK:         %[[Y:.+]] = nn.relu "a"
  // CHECK-NEXT:    %[[T:.+]] = dist.transfer %[[Y]]
  // CHECK-NEXT:    nn.relu "b"(%[[T]])
  func.func @plain_without_the_setting(%x: tensor<1024x4096xf32> {strategy.layout = #whole, strategy.stage = 0 : i64})
      -> tensor<1024x4096xf32> attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp"} {
    %0 = nn.relu "a"(%x) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd, strategy.stage = 0 : i64} : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %1 = nn.relu "b"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd, strategy.stage = 1 : i64} : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    return %1 : tensor<1024x4096xf32>
  }
}

// -----

// Within a node a plain transfer is cheaper.

#mesh = #dist.mesh<[pp = 2, tp = 2]>
#whole = #dist.layout<#mesh, [{}, {}]>
#fwd = #strategy.phase<forward>
module attributes {proteus.cluster = "dgx-a100:2"} {
  // CHECK-LABEL: func.func @plain_within_a_node
  // CHECK:         %[[Y:.+]] = nn.relu "a"
  // CHECK-NEXT:    %[[T:.+]] = dist.transfer %[[Y]]
  // CHECK-NEXT:    nn.relu "b"(%[[T]])
  func.func @plain_within_a_node(%x: tensor<1024x4096xf32> {strategy.layout = #whole, strategy.stage = 0 : i64})
      -> tensor<1024x4096xf32> attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp", strategy.scatter_gather} {
    %0 = nn.relu "a"(%x) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd, strategy.stage = 0 : i64} : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %1 = nn.relu "b"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd, strategy.stage = 1 : i64} : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    return %1 : tensor<1024x4096xf32>
  }
}
