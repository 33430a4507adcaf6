// RUN: proteus-opt %s -split-input-file --insert-collectives | FileCheck %s --implicit-check-not="= dist."

// Every conversion must be expected below: any other one is an error. A
// conversion has the path of the operation that computes its operand, else of
// the one that reads it.

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[tp = 4]>
#whole = #dist.layout<#mesh, [{}, {}]>
#rows = #dist.layout<#mesh, [{tp}, {}]>
#columns = #dist.layout<#mesh, [{}, {tp}]>
#fwd = #strategy.phase<forward>
#bwd = #strategy.phase<backward>
module attributes {proteus.cluster = "dgx-a100"} {
  // Columns of the first product, rows of the second: the sum over its inner
  // dimension is reduced once, after the second.

  // CHECK:       #[[PENDING:.+]] = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
  // CHECK-LABEL: func.func @columns_then_rows
  // CHECK:         nn.linear "fc1"
  // CHECK-NEXT:    %[[Y:.+]] = nn.linear "fc2"{{.*}} -> tensor<8x16xf32, #[[PENDING]]>
  // CHECK-NEXT:    %[[R:.+]] = dist.all_reduce sum %[[Y]] over {tp} for activation {proteus.path = "fc2", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    nn.add "residual"(%[[R]], %{{.+}})
  func.func @columns_then_rows(
      %x: tensor<8x16xf32> {strategy.layout = #whole}, %w1: tensor<64x16xf32> {strategy.layout = #rows}, %w2: tensor<16x64xf32> {strategy.layout = #columns})
      -> tensor<8x16xf32> attributes {strategy.mesh = #mesh} {
    %0 = nn.linear "fc1"(%x, %w1) {strategy.op = #strategy.partition<[out -> tp]>, strategy.phase = #fwd} : (tensor<8x16xf32>, tensor<64x16xf32>) -> tensor<8x64xf32>
    %1 = nn.linear "fc2"(%0, %w2) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #fwd} : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %2 = nn.add "residual"(%1, %x) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %2 : tensor<8x16xf32>
  }

  // In the backward pass the sum is that over the columns of the first product.

  // CHECK-LABEL: func.func @columns_then_rows_backward
  // CHECK:         nn.linear_dgrad "fc2"
  // CHECK-NEXT:    %[[DX:.+]] = nn.linear_dgrad "fc1"{{.*}} -> tensor<8x16xf32, #[[PENDING]]>
  // CHECK-NEXT:    %[[R:.+]] = dist.all_reduce sum %[[DX]] over {tp} for activation {proteus.path = "fc1", strategy.phase = #strategy.phase<backward>}
  // CHECK-NEXT:    nn.relu_grad "act"(%[[R]], %{{.+}})
  func.func @columns_then_rows_backward(
      %x: tensor<8x16xf32> {strategy.layout = #whole}, %w1: tensor<64x16xf32> {strategy.layout = #rows}, %w2: tensor<16x64xf32> {strategy.layout = #columns})
      -> tensor<8x16xf32> attributes {strategy.mesh = #mesh} {
    %0 = nn.linear_dgrad "fc2"(%x, %w2) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
    %1 = nn.linear_dgrad "fc1"(%0, %w1) {strategy.op = #strategy.partition<[out -> tp]>, strategy.phase = #bwd} : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
    %2 = nn.relu_grad "act"(%1, %x) {strategy.op = #strategy.partition<[]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %2 : tensor<8x16xf32>
  }

  // A sum of two pending values is pending: it is reduced once, after the add.

  // CHECK-LABEL: func.func @pending_sums_pass_through_an_add
  // CHECK:         %[[A:.+]] = nn.linear "a"{{.*}} -> tensor<8x16xf32, #[[PENDING]]>
  // CHECK-NEXT:    %[[B:.+]] = nn.linear "b"{{.*}} -> tensor<8x16xf32, #[[PENDING]]>
  // CHECK-NEXT:    %[[SUM:.+]] = nn.add "sum"(%[[A]], %[[B]]){{.*}} -> tensor<8x16xf32, #[[PENDING]]>
  // CHECK-NEXT:    %[[WHOLE:.+]] = dist.all_reduce sum %[[SUM]] over {tp} for activation {proteus.path = "sum", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    nn.relu "act"(%[[WHOLE]])
  func.func @pending_sums_pass_through_an_add(%x: tensor<8x64xf32> {strategy.layout = #columns}, %w: tensor<16x64xf32> {strategy.layout = #columns})
      -> tensor<8x16xf32> attributes {strategy.mesh = #mesh} {
    %0 = nn.linear "a"(%x, %w) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #fwd} : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %1 = nn.linear "b"(%x, %w) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #fwd} : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %2 = nn.add "sum"(%0, %1) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = nn.relu "act"(%2) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %3 : tensor<8x16xf32>
  }

  // A value that an earlier reader needs whole is reduced already, so its sum with
  // a pending one is not pending.

  // CHECK-LABEL: func.func @a_reduced_value_does_not_pass
  // CHECK:         %[[A:.+]] = nn.linear "a"
  // CHECK-NEXT:    %[[WHOLE:.+]] = dist.all_reduce sum %[[A]] over {tp} for activation {proteus.path = "a", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    nn.relu "act"(%[[WHOLE]])
  // CHECK-NEXT:    %[[B:.+]] = nn.linear "b"
  // CHECK-NEXT:    %[[R:.+]] = dist.all_reduce sum %[[B]] over {tp} for activation {proteus.path = "b", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    nn.add "sum"(%[[WHOLE]], %[[R]])
  func.func @a_reduced_value_does_not_pass(%x: tensor<8x64xf32> {strategy.layout = #columns}, %w: tensor<16x64xf32> {strategy.layout = #columns})
      -> (tensor<8x16xf32>, tensor<8x16xf32>) attributes {strategy.mesh = #mesh} {
    %0 = nn.linear "a"(%x, %w) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #fwd} : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "act"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.linear "b"(%x, %w) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #fwd} : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %3 = nn.add "sum"(%0, %2) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1, %3 : tensor<8x16xf32>, tensor<8x16xf32>
  }

  // Readers that need the same layout share one conversion, the backward pass
  // included.

  // CHECK-LABEL: func.func @readers_share_a_conversion
  // CHECK:         %[[Y:.+]] = nn.linear "fc"
  // CHECK-NEXT:    %[[WHOLE:.+]] = dist.all_reduce sum %[[Y]] over {tp} for activation {proteus.path = "fc", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    nn.relu "a"(%[[WHOLE]])
  // CHECK-NEXT:    %[[B:.+]] = nn.gelu "b"(%[[WHOLE]])
  // CHECK-NEXT:    nn.gelu_grad "b"(%[[B]], %[[WHOLE]])
  func.func @readers_share_a_conversion(%x: tensor<8x64xf32> {strategy.layout = #columns}, %w: tensor<16x64xf32> {strategy.layout = #columns})
      -> (tensor<8x16xf32>, tensor<8x16xf32>) attributes {strategy.mesh = #mesh} {
    %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #fwd} : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "a"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.gelu "b"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = nn.gelu_grad "b"(%2, %0) {strategy.op = #strategy.partition<[]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1, %3 : tensor<8x16xf32>, tensor<8x16xf32>
  }

  // A larger copy is not kept for the backward pass, which gathers again. A
  // smaller one is kept: slices are taken once.

  // CHECK-LABEL: func.func @larger_copies_are_not_kept
  // CHECK:         %[[A:.+]] = nn.relu "split"
  // CHECK-NEXT:    %[[F:.+]] = dist.all_gather %[[A]] dim 0 over {tp} for activation {proteus.path = "split", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    %[[W:.+]] = nn.gelu "whole"(%[[F]])
  // CHECK-NEXT:    %[[S:.+]] = dist.slice %[[W]] dim 0 over {tp} {proteus.path = "whole", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    nn.relu "slice"(%[[S]])
  // CHECK-NEXT:    %[[B:.+]] = dist.all_gather %[[A]] dim 0 over {tp} for activation {proteus.path = "split", strategy.phase = #strategy.phase<backward>}
  // CHECK-NEXT:    nn.gelu_grad "whole"(%{{.+}}, %[[B]])
  // CHECK-NEXT:    nn.relu_grad "slice"(%{{.+}}, %[[S]])
  func.func @larger_copies_are_not_kept(%x: tensor<8x16xf32> {strategy.layout = #rows}, %g: tensor<8x16xf32> {strategy.layout = #whole}, %h: tensor<8x16xf32> {strategy.layout = #rows})
      -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) attributes {strategy.mesh = #mesh} {
    %0 = nn.relu "split"(%x) {strategy.op = #strategy.partition<[batch -> tp]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = nn.gelu "whole"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.relu "slice"(%1) {strategy.op = #strategy.partition<[batch -> tp]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = nn.gelu_grad "whole"(%g, %0) {strategy.op = #strategy.partition<[]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %4 = nn.relu_grad "slice"(%h, %1) {strategy.op = #strategy.partition<[batch -> tp]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %2, %3, %4 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  }

  // Attention whose queries are split gathers keys and values; their gradients
  // are pending and are scattered.

  // CHECK-LABEL: func.func @keys_and_values
  // CHECK:         %[[K:.+]] = dist.all_gather %arg1 dim 1 over {tp} for activation {proteus.path = "core", strategy.phase = #strategy.phase<backward>}
  // CHECK-NEXT:    %[[V:.+]] = dist.all_gather %arg2 dim 1 over {tp} for activation {proteus.path = "core", strategy.phase = #strategy.phase<backward>}
  // CHECK-NEXT:    %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = nn.attention_grad "core"(%arg0, %arg0, %[[K]], %[[V]], %arg0, %arg3)
  // CHECK-NEXT:    %[[DKS:.+]] = dist.reduce_scatter sum %[[DK]] dim 1 over {tp} for activation {proteus.path = "core", strategy.phase = #strategy.phase<backward>}
  // CHECK-NEXT:    %[[DVS:.+]] = dist.reduce_scatter sum %[[DV]] dim 1 over {tp} for activation {proteus.path = "core", strategy.phase = #strategy.phase<backward>}
  // CHECK-NEXT:    nn.concat "split"(%[[DQ]], %[[DKS]], %[[DVS]])
  func.func @keys_and_values(
      %q: tensor<4x8x16xf32> {strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>}, %k: tensor<4x8x16xf32> {strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>},
      %v: tensor<4x8x16xf32> {strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>}, %lse: tensor<4x4x8xf32> {strategy.layout = #dist.layout<#mesh, [{}, {}, {tp}]>})
      -> tensor<4x8x48xf32> attributes {strategy.mesh = #mesh} {
    %0:3 = nn.attention_grad "core"(%q, %q, %k, %v, %q, %lse) {heads = 4 : i64, strategy.op = #strategy.partition<[seq -> tp]>, strategy.phase = #bwd}
        : (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x4x8xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>)
    %1 = nn.concat "split"(%0#0, %0#1, %0#2) {groups = 4 : i64, strategy.op = #strategy.partition<[seq -> tp]>, strategy.phase = #bwd} : (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x48xf32>
    return %1 : tensor<4x8x48xf32>
  }

  // The sharding moves from one dimension to another in one step.

  // CHECK-LABEL: func.func @a_shard_moves_between_dimensions
  // CHECK:         %[[A:.+]] = nn.relu "a"
  // CHECK-NEXT:    %[[B:.+]] = dist.all_to_all %[[A]] from 0 to 1 over {tp} for activation {proteus.path = "a", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    nn.relu "b"(%[[B]])
  func.func @a_shard_moves_between_dimensions(%x: tensor<8x16xf32> {strategy.layout = #rows}) -> tensor<8x16xf32> attributes {strategy.mesh = #mesh} {
    %0 = nn.relu "a"(%x) {strategy.op = #strategy.partition<[batch -> tp]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "b"(%0) {strategy.op = #strategy.partition<[hidden -> tp]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }

  // A cross entropy whose vocabulary is split exchanges the row maxima, the sums
  // of exponentials and the picked logits, never the logits.

  // CHECK-LABEL: func.func @split_vocabulary
  // CHECK:         %[[M:.+]] = nn.row_max "loss"(%arg0)
  // CHECK-NEXT:    %[[MAX:.+]] = dist.all_reduce max %[[M]] over {tp} for activation {proteus.path = "loss", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    %[[S:.+]], %[[P:.+]] = nn.row_exp_sum "loss"(%arg0, %arg1, %[[MAX]])
  // CHECK-NEXT:    %[[SUM:.+]] = dist.all_reduce sum %[[S]] over {tp} for activation {proteus.path = "loss", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    %[[PICKED:.+]] = dist.all_reduce sum %[[P]] over {tp} for activation {proteus.path = "loss", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    %[[LOSS:.+]], %[[LSE:.+]] = nn.row_loss "loss"(%[[MAX]], %[[SUM]], %[[PICKED]])
  // CHECK-NEXT:    return %[[LOSS]], %[[LSE]]
  func.func @split_vocabulary(%x: tensor<8x64xf32> {strategy.layout = #columns}, %t: tensor<8xi32> {strategy.layout = #dist.layout<#mesh, [{}]>})
      -> (tensor<f32>, tensor<8xf32>) attributes {strategy.mesh = #mesh} {
    %loss, %lse = nn.cross_entropy "loss"(%x, %t) {strategy.op = #strategy.partition<[vocab -> tp]>, strategy.phase = #fwd} : (tensor<8x64xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss, %lse : tensor<f32>, tensor<8xf32>
  }

  // Recomputed work repeats its collectives.

  // CHECK-LABEL: func.func @recomputation_repeats_collectives
  // CHECK:         %[[Y:.+]] = nn.linear "fc"
  // CHECK-NEXT:    %[[F:.+]] = dist.all_reduce sum %[[Y]] over {tp} for activation {proteus.path = "fc", strategy.phase = #strategy.phase<forward>}
  // CHECK-NEXT:    nn.gelu "act"(%[[F]])
  // CHECK-NEXT:    nn.recompute "block"
  // CHECK-NEXT:      %[[AGAIN:.+]] = nn.linear "fc"
  // CHECK-NEXT:      %[[B:.+]] = dist.all_reduce sum %[[AGAIN]] over {tp} for activation {proteus.path = "fc", strategy.phase = #strategy.phase<backward>}
  // CHECK-NEXT:      nn.yield %[[B]]
  func.func @recomputation_repeats_collectives(%x: tensor<8x64xf32> {strategy.layout = #columns}, %w: tensor<16x64xf32> {strategy.layout = #columns})
      -> tensor<8x16xf32> attributes {strategy.mesh = #mesh} {
    %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #fwd} : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %1 = nn.gelu "act"(%0) {strategy.op = #strategy.partition<[]>, strategy.phase = #fwd} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.recompute "block" (%a = %x : tensor<8x64xf32>, %b = %w : tensor<16x64xf32>) -> (tensor<8x16xf32>) attributes {strategy.phase = #bwd} {
      %4 = nn.linear "fc"(%a, %b) {strategy.op = #strategy.partition<[in -> tp]>, strategy.phase = #bwd} : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
      nn.yield %4 : tensor<8x16xf32>
    }
    %3 = nn.gelu_grad "act"(%1, %2) {strategy.op = #strategy.partition<[]>, strategy.phase = #bwd} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %3 : tensor<8x16xf32>
  }

  // A function without a mesh belongs to no strategy and stays as it is.

  // CHECK-LABEL: func.func @helper(%{{.*}}: tensor<8x16xf32>) -> tensor<8x16xf32> {
  func.func @helper(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = nn.relu "a"(%x) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}

// -----

// Nothing is exchanged over an axis with a single device.

// CHECK-LABEL: func.func @an_axis_of_one_device
// CHECK:         return
#mesh = #dist.mesh<[dp = 2, tp = 1]>
#rows = #dist.layout<#mesh, [{dp}, {}]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @an_axis_of_one_device(%x: tensor<8x16xf32> {strategy.layout = #rows}, %w: tensor<16x16xf32> {strategy.layout = #dist.layout<#mesh, [{}, {}]>})
      -> tensor<8x16xf32> attributes {strategy.mesh = #mesh} {
    %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "act"(%0) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
}
