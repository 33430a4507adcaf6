// RUN: proteus-opt %s -split-input-file %{to-insert-collectives} \
// RUN:   | FileCheck %s --implicit-check-not="= dist."
// RUN: proteus-opt %s -split-input-file --unroll-repeats %{to-insert-collectives} \
// RUN:   | FileCheck %s --check-prefix=FLAT

// Collectives of whole models; those of single operations are in
// Transforms/Collectives.
//
// Every conversion must be expected below: any other one is an error. A
// conversion has the path of the operation that computes its operand, else of
// the one that reads it.

// Data parallel: gradients are partial where they are computed; the update
// needs them whole.

// CHECK: #[[PARTIAL_W:.+]] = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
// CHECK: #[[PARTIAL_B:.+]] = #dist.layout<#mesh, [{}], partial = [sum {dp}]>
// CHECK-LABEL: func.func @gradients_are_reduced_in_the_update
// CHECK:       nn.linear "fc"
// CHECK:       nn.cross_entropy "loss"
// CHECK:       %[[DW:.+]] = nn.linear_wgrad "fc"{{.*}} -> tensor<32x16xf32, #[[PARTIAL_W]]>
// CHECK:       %[[DB:.+]] = nn.reduce_sum "fc"{{.*}} -> tensor<32xf32, #[[PARTIAL_B]]>
// CHECK:       %[[W:.+]] = dist.all_reduce sum %[[DW]] over {dp} for gradient {proteus.path = "fc", strategy.phase = #strategy.phase<update>}
// CHECK:       nn.sgd "fc.weight"(%{{.+}}, %[[W]])
// CHECK:       %[[B:.+]] = dist.all_reduce sum %[[DB]] over {dp} for gradient {proteus.path = "fc", strategy.phase = #strategy.phase<update>}
// CHECK:       nn.sgd "fc.bias"(%{{.+}}, %[[B]])
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @gradients_are_reduced_in_the_update(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<32x16xf32> {nn.role = "parameter", nn.path = "fc.weight"},
      %b: tensor<32xf32> {nn.role = "parameter", nn.path = "fc.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc"(%x, %w, %b) : (tensor<8x16xf32>, tensor<32x16xf32>, tensor<32xf32>) -> tensor<8x32xf32>
    %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<8x32xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @gradients_are_reduced_in_the_update {
    mesh [dp = 4]
    split op [batch -> dp]
  }
}

// -----

// A linear split by columns and one split by rows: one all-reduce after the
// second in the forward pass, one after the first in the backward pass, and no
// reduction of gradients, for every device holds its own part of the weights.

// CHECK-LABEL: func.func @columns_then_rows
// CHECK:       nn.linear "fc1"
// CHECK:       %[[Y:.+]] = nn.linear "fc2"
// CHECK-NEXT:  %[[R:.+]] = dist.all_reduce sum %[[Y]] over {tp} for activation {proteus.path = "fc2", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:  nn.add "residual"(%[[R]], %{{.+}})
// CHECK:       nn.linear_dgrad "fc2"
// CHECK:       %[[DX:.+]] = nn.linear_dgrad "fc1"
// CHECK:       %[[RX:.+]] = dist.all_reduce sum %[[DX]] over {tp} for activation {proteus.path = "fc1", strategy.phase = #strategy.phase<backward>}
// CHECK:       nn.add "fc1"(%{{.+}}, %[[RX]])
// CHECK:       nn.sgd "fc2.weight"
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @columns_then_rows(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w0: tensor<16x16xf32> {nn.role = "parameter", nn.path = "in.weight"},
      %w1: tensor<64x16xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<16x64xf32> {nn.role = "parameter", nn.path = "fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "in"(%x, %w0) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.linear "fc1"(%0, %w1) : (tensor<8x16xf32>, tensor<64x16xf32>) -> tensor<8x64xf32>
    %2 = nn.relu "act"(%1) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %3 = nn.linear "fc2"(%2, %w2) : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %4 = nn.add "residual"(%3, %0) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%4, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @columns_then_rows {
    mesh [tp = 4]
    node "fc1" { split op [out -> tp] }
  }
}

// -----

// A sum of two partial values is partial: it is reduced once, after the add.

// CHECK: #[[PARTIAL:.+]] = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
// CHECK-LABEL: func.func @partial_sums_pass_through_an_add
// CHECK:       %[[A:.+]] = nn.linear "a"{{.*}} -> tensor<8x16xf32, #[[PARTIAL]]>
// CHECK:       %[[B:.+]] = nn.linear "b"{{.*}} -> tensor<8x16xf32, #[[PARTIAL]]>
// CHECK:       %[[SUM:.+]] = nn.add "sum"(%[[A]], %[[B]]){{.*}} -> tensor<8x16xf32, #[[PARTIAL]]>
// CHECK-NEXT:  %[[WHOLE:.+]] = dist.all_reduce sum %[[SUM]] over {tp} for activation {proteus.path = "sum", strategy.phase = #strategy.phase<forward>}
// CHECK:       nn.cross_entropy "loss"(%[[WHOLE]]
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @partial_sums_pass_through_an_add(
      %x: tensor<8x64xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %wa: tensor<16x64xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %wb: tensor<16x64xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %wa) : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %1 = nn.linear "b"(%x, %wb) : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %2 = nn.add "sum"(%0, %1) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @partial_sums_pass_through_an_add {
    mesh [tp = 2]
    node "*" { split op [in -> tp] }
  }
}

// -----

// Readers that need the same layout share one conversion, the backward pass
// included: the gradient of gelu reads the operand of gelu.

// CHECK-LABEL: func.func @readers_share_a_conversion
// CHECK:       %[[Y:.+]] = nn.linear "fc"
// CHECK-NEXT:  %[[WHOLE:.+]] = dist.all_reduce sum %[[Y]] over {tp} for activation {proteus.path = "fc", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:  nn.relu "a"(%[[WHOLE]])
// CHECK-NEXT:  nn.gelu "b"(%[[WHOLE]])
// CHECK:       nn.gelu_grad "b"(%{{.+}}, %[[WHOLE]])
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @readers_share_a_conversion(
      %x: tensor<8x64xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<16x64xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "a"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.gelu "b"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %3 = nn.add "sum"(%1, %2) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%3, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @readers_share_a_conversion {
    mesh [tp = 2]
    node "fc" { split op [in -> tp] }
  }
}

// -----

// Sharded optimizer state (ZeRO, stage 1): gradients are scattered, each device
// updates its part, and the new parameters are gathered.

// CHECK: #[[SHARD:.+]] = #dist.layout<#mesh, [{dp}, {}]>
// CHECK: #[[WHOLE:.+]] = #dist.layout<#mesh, [{}, {}]>
// CHECK-LABEL: func.func @sharded_state
// CHECK-SAME:  {nn.path = "fc.weight.first_moment", nn.role = "state", strategy.layout = #[[SHARD]]
// CHECK:       %[[DW:.+]] = nn.linear_wgrad "fc"
// CHECK:       %[[PART:.+]] = dist.slice %{{.+}} dim 0 over {dp} {proteus.path = "fc.weight", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:  %[[GRAD:.+]] = dist.reduce_scatter sum %[[DW]] dim 0 over {dp} for gradient {proteus.path = "fc", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:  %[[NEW:.+]]:3 = nn.adam "fc.weight"(%[[PART]], %[[GRAD]], %{{.+}}, %{{.+}})
// CHECK-NEXT:  %[[GATHERED:.+]] = dist.all_gather %[[NEW]]#0 dim 0 over {dp} for parameter {proteus.path = "fc.weight", strategy.phase = #strategy.phase<update>} : tensor<32x16xf32, #[[SHARD]]> -> tensor<32x16xf32, #[[WHOLE]]>
// CHECK-NEXT:  return %{{.+}}, %[[GATHERED]], %[[NEW]]#1, %[[NEW]]#2
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @sharded_state(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<32x16xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
    %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<8x32xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sharded_state {
    mesh [dp = 4]
    split op [batch -> dp]
    split state [out -> dp]
  }
}

// -----

// The same for layers that are written once: the gradients of all layers are
// scattered as one stack, and every layer is gathered right after its update,
// inside the body of the repeat. The flat form does the same, layer by layer.

// CHECK: #[[STACK:.+]] = #dist.layout<#mesh, [{}, {dp}, {}]>
// CHECK-LABEL: func.func @sharded_state_of_layers
// CHECK:       %[[DW:.+]]:2 = nn.repeat "layers" count 4 reverse
// CHECK:       dist.all_reduce sum %{{.+}} over {dp} for gradient {proteus.path = "in", strategy.phase = #strategy.phase<update>}
// CHECK:       %[[G:.+]] = dist.reduce_scatter sum %[[DW]]#1 dim 1 over {dp} for gradient {proteus.path = "layers", strategy.phase = #strategy.phase<update>} : tensor<4x16x16xf32, #{{.+}}> -> tensor<4x16x16xf32, #[[STACK]]>
// CHECK-NEXT:  %[[U:.+]]:3 = nn.repeat "layers" count 4 slice(%[[W:[a-z0-9]+]] = %{{[a-z0-9]+}} : {{.+}}, %[[GI:[a-z0-9]+]] = %[[G]]
// CHECK-NEXT:    %[[PART:.+]] = dist.slice %[[W]] dim 0 over {dp} {proteus.path = "fc.weight", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    %[[NEW:.+]]:3 = nn.adam "fc.weight"(%[[PART]], %[[GI]],
// CHECK-NEXT:    nn.yield %[[NEW]]#0, %[[NEW]]#1, %[[NEW]]#2
// CHECK:       %[[WHOLE:.+]] = dist.all_gather %[[U]]#0 dim 1 over {dp} for parameter {proteus.path = "fc.weight", strategy.phase = #strategy.phase<update>}
// CHECK:       return %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[WHOLE]], %[[U]]#1, %[[U]]#2

// FLAT-LABEL:    func.func @sharded_state_of_layers
// FLAT:            %[[NEW:.+]]:3 = nn.adam "layers[0].fc.weight"
// FLAT-NEXT:       dist.all_gather %[[NEW]]#0 dim 0 over {dp} for parameter {proteus.path = "layers[0].fc.weight", strategy.phase = #strategy.phase<update>}
// FLAT:            %[[NEW:.+]]:3 = nn.adam "layers[1].fc.weight"
// FLAT-NEXT:       dist.all_gather %[[NEW]]#0 dim 0 over {dp} for parameter {proteus.path = "layers[1].fc.weight", strategy.phase = #strategy.phase<update>}
// FLAT:            nn.adam "layers[2].fc.weight"
// FLAT-NEXT:       dist.all_gather
// FLAT:            nn.adam "layers[3].fc.weight"
// FLAT-NEXT:       dist.all_gather
// FLAT-NOT:        dist.
// FLAT:            return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @sharded_state_of_layers(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w0: tensor<16x16xf32> {nn.role = "parameter", nn.path = "in.weight"},
      %ws: tensor<4x16x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %i = nn.linear "in"(%x, %w0) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %y = nn.repeat "layers" count 4
        carry(%h = %i : tensor<32x16xf32>)
        slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>)
        -> (tensor<32x16xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
      %1 = nn.relu "act"(%0) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      nn.yield %1 : tensor<32x16xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sharded_state_of_layers {
    mesh [dp = 2]
    node "in" { split op [batch -> dp] }
    node "layers[*]" {
      split op [batch -> dp]
      split state [0 -> dp]
    }
  }
}

// -----

// A stacked gradient is converted slice by slice. Where the reduction is the
// first step it is done for all layers at once, so that it can join a bucket;
// the rest is done layer by layer (fc2). Where it is not (fc1: the shards of
// tensor parallelism are in the way), all is done layer by layer. The dimension
// of the layers is never split.

// CHECK-LABEL: func.func @stacked_gradients_in_several_steps
// CHECK:       nn.repeat "layers" count 3 carry
// CHECK:         nn.linear "fc2"
// CHECK-NEXT:    dist.all_reduce sum %{{.+}} over {tp} for activation {proteus.path = "fc2", strategy.phase = #strategy.phase<forward>}
// CHECK:       %[[B:.+]]:3 = nn.repeat "layers" count 3 reverse
// CHECK:         dist.all_reduce sum %{{.+}} over {tp} for activation {proteus.path = "fc1", strategy.phase = #strategy.phase<backward>}
// CHECK:       dist.all_reduce sum %{{.+}} over {dp} for gradient {proteus.path = "in", strategy.phase = #strategy.phase<update>}
// CHECK:       nn.repeat "layers" count 3 slice({{.*}}, %[[G1:[a-z0-9]+]] = %[[B]]#1 : {{.*}} attributes {strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    dist.permute %{{.+}} over {dp, tp} for parameter {proteus.path = "fc1.weight", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    %[[GG:.+]] = dist.all_gather %[[G1]] dim 0 over {tp} for gradient {proteus.path = "fc1.weight", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    %[[GR:.+]] = dist.reduce_scatter sum %[[GG]] dim 0 over {dp} for gradient {proteus.path = "fc1.weight", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    %[[NEW:.+]]:3 = nn.adam "fc1.weight"(%{{.+}}, %[[GR]],
// CHECK-NEXT:    nn.yield %[[NEW]]#0
// CHECK:       dist.permute %{{.+}}#0 over {dp, tp} for parameter {proteus.path = "fc1.weight", strategy.phase = #strategy.phase<update>}
// CHECK:       %[[G2:.+]] = dist.reduce_scatter sum %[[B]]#2 dim 1 over {dp} for gradient {proteus.path = "layers", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:  nn.repeat "layers" count 3 slice({{.*}}, %[[G2I:[a-z0-9]+]] = %[[G2]] : {{.*}} attributes {strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    %[[W:.+]] = dist.slice %{{.+}} dim 0 over {dp} {proteus.path = "fc2.weight", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    dist.all_to_all %[[W]] from 1 to 0 over {tp} for parameter {proteus.path = "fc2.weight", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    %[[GT:.+]] = dist.all_to_all %[[G2I]] from 1 to 0 over {tp} for gradient {proteus.path = "fc2.weight", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    %[[NEW:.+]]:3 = nn.adam "fc2.weight"(%{{.+}}, %[[GT]],
// CHECK-NEXT:    nn.yield %[[NEW]]#0
// CHECK:       %[[NW:.+]] = dist.all_to_all %{{.+}}#0 from 1 to 2 over {tp} for parameter {proteus.path = "fc2.weight", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:  dist.all_gather %[[NW]] dim 1 over {dp} for parameter {proteus.path = "fc2.weight", strategy.phase = #strategy.phase<update>}
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @stacked_gradients_in_several_steps(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w0: tensor<16x16xf32> {nn.role = "parameter", nn.path = "in.weight"},
      %w1: tensor<3x64x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<3x16x64xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %i = nn.linear "in"(%x, %w0) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %y = nn.repeat "layers" count 3
        carry(%h = %i : tensor<32x16xf32>)
        slice(%a = %w1 : tensor<3x64x16xf32> to tensor<64x16xf32>, %b = %w2 : tensor<3x16x64xf32> to tensor<16x64xf32>)
        -> (tensor<32x16xf32>) {
      %0 = nn.linear "fc1"(%h, %a) : (tensor<32x16xf32>, tensor<64x16xf32>) -> tensor<32x64xf32>
      %1 = nn.relu "act"(%0) : (tensor<32x64xf32>) -> tensor<32x64xf32>
      %2 = nn.linear "fc2"(%1, %b) : (tensor<32x64xf32>, tensor<16x64xf32>) -> tensor<32x16xf32>
      nn.yield %2 : tensor<32x16xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @stacked_gradients_in_several_steps {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "layers[*].fc1" {
      split op [out -> tp]
      split state [0 -> dp]
    }
    node "layers[*].fc2" { split state [0 -> [dp, tp]] }
  }
}

// -----

// The backward pass converts again rather than keep a larger form alive.
// Attention whose queries are split gathers keys and values in the forward pass
// and again in the backward pass; their gradients are scattered.

// CHECK-LABEL: func.func @keys_and_values_are_gathered_in_both_phases
// CHECK:       %[[F:.+]]:7 = nn.repeat "layers" count 3 carry
// CHECK:         %[[QKV:.+]]:3 = nn.split "split"
// CHECK-NEXT:    %[[K:.+]] = dist.all_gather %[[QKV]]#1 dim 1 over {tp} for activation {proteus.path = "split", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:    %[[V:.+]] = dist.all_gather %[[QKV]]#2 dim 1 over {tp} for activation {proteus.path = "split", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:    %[[A:.+]], %{{.+}} = nn.attention "core"(%[[QKV]]#0, %[[K]], %[[V]])
// CHECK-NEXT:    nn.yield %[[A]], %[[QKV]]#0, %[[QKV]]#1, %[[QKV]]#2, %[[A]]
// CHECK:       nn.repeat "layers" count 3 reverse
// CHECK-SAME:    %[[KI:[a-z0-9]+]] = %[[F]]#2 :
// CHECK-SAME:    %[[VI:[a-z0-9]+]] = %[[F]]#3 :
// CHECK-NEXT:    %[[KG:.+]] = dist.all_gather %[[KI]] dim 1 over {tp} for activation {proteus.path = "core", strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:    %[[VG:.+]] = dist.all_gather %[[VI]] dim 1 over {tp} for activation {proteus.path = "core", strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:    %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = nn.attention_grad "core"(%{{.+}}, %{{.+}}, %[[KG]], %[[VG]], %{{.+}}, %{{.+}})
// CHECK-NEXT:    %[[DKS:.+]] = dist.reduce_scatter sum %[[DK]] dim 1 over {tp} for activation {proteus.path = "core", strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:    %[[DVS:.+]] = dist.reduce_scatter sum %[[DV]] dim 1 over {tp} for activation {proteus.path = "core", strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:    nn.concat "split"(%[[DQ]], %[[DKS]], %[[DVS]])
// CHECK:       dist.all_reduce sum %{{.+}} over {tp} for gradient {proteus.path = "embedding", strategy.phase = #strategy.phase<update>}
// CHECK:       dist.all_reduce sum %{{.+}} over {tp} for gradient {proteus.path = "layers", strategy.phase = #strategy.phase<update>}
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @keys_and_values_are_gathered_in_both_phases(
      %ids: tensor<4x8xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<4x8xi32> {nn.role = "input", nn.path = "labels"},
      %we: tensor<32x16xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %ws: tensor<3x48x16xf32> {nn.role = "parameter", nn.path = "layers[*].qkv.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %x = nn.embedding "embedding"(%ids, %we) : (tensor<4x8xi32>, tensor<32x16xf32>) -> tensor<4x8x16xf32>
    %y = nn.repeat "layers" count 3
        carry(%h = %x : tensor<4x8x16xf32>)
        slice(%w = %ws : tensor<3x48x16xf32> to tensor<48x16xf32>)
        -> (tensor<4x8x16xf32>) {
      %0 = nn.linear "qkv"(%h, %w) : (tensor<4x8x16xf32>, tensor<48x16xf32>) -> tensor<4x8x48xf32>
      %q, %k, %v = nn.split "split"(%0) {groups = 4 : i64} : (tensor<4x8x48xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>)
      %a, %lse = nn.attention "core"(%q, %k, %v) {heads = 4 : i64} : (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x4x8xf32>)
      nn.yield %a : tensor<4x8x16xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x8x16xf32>, tensor<4x8xi32>) -> (tensor<f32>, tensor<4x8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @keys_and_values_are_gathered_in_both_phases {
    mesh [tp = 2]
    split op [seq -> tp]
  }
}

// -----

// Sharded weights (ZeRO, stage 3): each phase gathers a layer's weight inside
// the body of the repeat, so that one layer at a time is whole; gradients of
// all layers are scattered, and nothing is gathered after the update.

// CHECK: #[[STACK:.+]] = #dist.layout<#mesh, [{}, {dp}, {}]>
// CHECK-LABEL: func.func @sharded_weights
// CHECK-SAME:  tensor<4x16x16xf32, #[[STACK]]> {nn.path = "layers[*].fc.weight"
// CHECK:       nn.repeat "layers" count 4 carry
// CHECK-SAME:  slice(%[[SLICE:.+]] = %{{.+}} : tensor<4x16x16xf32, #[[STACK]]>
// CHECK-NEXT:    %[[F:.+]] = dist.all_gather %[[SLICE]] dim 0 over {dp} for parameter {proteus.path = "fc", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:    nn.linear "fc"(%{{.+}}, %[[F]])
// CHECK:       nn.repeat "layers" count 4 reverse
// CHECK-SAME:  slice(%[[SLICE:.+]] = %{{.+}} : tensor<4x16x16xf32, #[[STACK]]> to {{[^,]+}}, #{{[a-z0-9]+}}>,
// CHECK:         %[[B:.+]] = dist.all_gather %[[SLICE]] dim 0 over {dp} for parameter {proteus.path = "fc", strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:    nn.linear_dgrad "fc"(%{{.+}}, %[[B]])
// CHECK:       dist.all_reduce sum %{{.+}} over {dp} for gradient {proteus.path = "in", strategy.phase = #strategy.phase<update>}
// CHECK:       %[[G:.+]] = dist.reduce_scatter sum %{{.+}} dim 1 over {dp} for gradient {proteus.path = "layers", strategy.phase = #strategy.phase<update>} : tensor<4x16x16xf32, #{{.+}}> -> tensor<4x16x16xf32, #[[STACK]]>
// CHECK-NEXT:  nn.repeat "layers" count 4 slice({{.*}}, %{{.+}} = %[[G]]
// CHECK-NEXT:    nn.sgd "fc.weight"
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @sharded_weights(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w0: tensor<16x16xf32> {nn.role = "parameter", nn.path = "in.weight"},
      %ws: tensor<4x16x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %i = nn.linear "in"(%x, %w0) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %y = nn.repeat "layers" count 4
        carry(%h = %i : tensor<32x16xf32>)
        slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>)
        -> (tensor<32x16xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
      %1 = nn.relu "act"(%0) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      nn.yield %1 : tensor<32x16xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sharded_weights {
    mesh [dp = 2]
    split op [batch -> dp]
    node "layers[*]" { split weight [0 -> dp] }
  }
}

// -----

// Where the layers read an input of the model, the first of them needs no
// gradient of its operand, and its weight is gathered in the forward pass only.

// CHECK-LABEL: func.func @layers_read_an_input
// CHECK:       nn.repeat "layers" count 1 carry
// CHECK-NEXT:    %[[F:.+]] = dist.all_gather %{{.+}} dim 0 over {dp} for parameter {proteus.path = "fc", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:    nn.linear "fc"(%{{.+}}, %[[F]])
// CHECK:       nn.repeat "layers" first 1 count 3 carry
// CHECK-NEXT:    dist.all_gather %{{.+}} dim 0 over {dp} for parameter {proteus.path = "fc", strategy.phase = #strategy.phase<forward>}
// CHECK:       %[[REST:.+]]:2 = nn.repeat "layers" first 1 count 3 reverse
// CHECK:         %[[B:.+]] = dist.all_gather %{{.+}} dim 0 over {dp} for parameter {proteus.path = "fc", strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:    nn.linear_dgrad "fc"(%{{.+}}, %[[B]])
// CHECK:       %[[FIRST:.+]] = nn.repeat "layers" count 1 reverse
// CHECK-NOT:     nn.linear_dgrad
// CHECK:       dist.reduce_scatter sum %[[FIRST]] dim 1 over {dp} for gradient {proteus.path = "layers", strategy.phase = #strategy.phase<update>}
// CHECK:       dist.reduce_scatter sum %[[REST]]#1 dim 1 over {dp} for gradient {proteus.path = "layers", strategy.phase = #strategy.phase<update>}
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @layers_read_an_input(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %ws: tensor<4x16x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<32x16xf32>)
        slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>)
        -> (tensor<32x16xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
      %1 = nn.relu "act"(%0) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      nn.yield %1 : tensor<32x16xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @layers_read_an_input {
    mesh [dp = 2]
    split op [batch -> dp]
    split weight [0 -> dp]
  }
}

// -----

// A cross entropy whose vocabulary is split: the row maxima, the sums of
// exponentials and the picked logits are exchanged, never the logits.

// CHECK-LABEL: func.func @split_vocabulary
// CHECK:       %[[LOGITS:.+]] = nn.linear "head"
// CHECK-NEXT:  %[[M:.+]] = nn.row_max "loss"(%[[LOGITS]])
// CHECK-NEXT:  %[[MAX:.+]] = dist.all_reduce max %[[M]] over {tp} for activation {proteus.path = "loss", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:  %[[S:.+]], %[[P:.+]] = nn.row_exp_sum "loss"(%[[LOGITS]], %{{.+}}, %[[MAX]])
// CHECK-NEXT:  %[[SUM:.+]] = dist.all_reduce sum %[[S]] over {tp} for activation {proteus.path = "loss", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:  %[[PICKED:.+]] = dist.all_reduce sum %[[P]] over {tp} for activation {proteus.path = "loss", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:  %[[LOSS:.+]], %[[LSE:.+]] = nn.row_loss "loss"(%[[MAX]], %[[SUM]], %[[PICKED]])
// CHECK-NOT:   nn.cross_entropy "
// CHECK:       nn.cross_entropy_grad "loss"(%{{.+}}, %[[LOGITS]], %{{.+}}, %[[LSE]])
// The gradient of the head is partial over the vocabulary.
// CHECK:       %[[DX:.+]] = nn.linear_dgrad "head"
// CHECK:       dist.all_reduce sum %[[DX]] over {tp} for activation {proteus.path = "head", strategy.phase = #strategy.phase<backward>}
// CHECK:       return %[[LOSS]],
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @split_vocabulary(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc.weight"},
      %wh: tensor<64x16xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.linear "head"(%0, %wh) : (tensor<8x16xf32>, tensor<64x16xf32>) -> tensor<8x64xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x64xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @split_vocabulary {
    mesh [tp = 2]
    node "head" { split op [out -> tp] }
  }
}

// -----

// Micro-batches: gradients and the loss are summed over time before they are
// summed over devices.

// CHECK: #[[EACH:.+]] = #dist.layout<#mesh, [{}, {}], partial = [sum {micro, dp}]>
// CHECK: #[[ALL:.+]] = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
// CHECK-LABEL: func.func @micro_batches_accumulate
// CHECK:       %[[LOSS:.+]], %{{.+}} = nn.cross_entropy "loss"
// CHECK-NEXT:  %[[MEAN:.+]] = dist.accumulate %[[LOSS]] {proteus.path = "loss", strategy.phase = #strategy.phase<update>}
// CHECK:       %[[DW:.+]] = nn.linear_wgrad "fc"{{.*}} -> tensor<32x16xf32, #[[EACH]]>
// CHECK-NEXT:  %[[SUM:.+]] = dist.accumulate %[[DW]] {proteus.path = "fc", strategy.phase = #strategy.phase<update>} : tensor<32x16xf32, #[[EACH]]> -> tensor<32x16xf32, #[[ALL]]>
// CHECK-NEXT:  %[[W:.+]] = dist.all_reduce sum %[[SUM]] over {dp} for gradient {proteus.path = "fc", strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:  nn.sgd "fc.weight"(%{{.+}}, %[[W]])
// CHECK-NEXT:  return %[[MEAN]],
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @micro_batches_accumulate(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<32x16xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x32xf32>
    %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<32x32xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @micro_batches_accumulate {
    mesh [dp = 2]
    schedule micro_batches = 4
    split op [batch -> dp]
  }
}

// -----

// A pipeline: a value that another stage reads goes through one transfer, however
// many operations read it there. The transfer has the stage that receives it.

// CHECK: #[[X0:.+]] = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
// CHECK: #[[X1:.+]] = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
// CHECK-LABEL: func.func @stages_exchange_values
// CHECK:       %[[H:.+]] = nn.linear "fc1"{{.*}} -> tensor<8x16xf32, #[[X0]]>
// CHECK-NEXT:  %[[T:.+]] = dist.transfer %[[H]] {proteus.path = "fc1", strategy.phase = #strategy.phase<forward>, strategy.stage = 1 : i64} : tensor<8x16xf32, #[[X0]]> -> tensor<8x16xf32, #[[X1]]>
// CHECK-NEXT:  nn.linear "fc2"(%[[T]],
// CHECK-NEXT:  nn.add "residual"(%{{.+}}, %[[T]])
// CHECK:       nn.linear_wgrad "fc2"(%{{.+}}, %[[T]])
// CHECK:       dist.transfer %{{.+}} {proteus.path = "fc2", strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64} : tensor<8x16xf32, #[[X1]]> -> tensor<8x16xf32, #[[X0]]>
// CHECK-NEXT:  nn.linear_wgrad "fc1"
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @stages_exchange_values(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.linear "fc2"(%0, %w2) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %2 = nn.add "residual"(%1, %0) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @stages_exchange_values {
    mesh [pp = 2]
    node "fc1" { at [pp = 0] }
    node "fc2" { at [pp = 1] }
  }
}

// -----

// Between stages a value moves in the layout that its reader needs, converted
// on the stage that computes it.

// CHECK-LABEL: func.func @a_partial_value_is_reduced_before_it_moves
// CHECK:       %[[Y:.+]] = nn.linear "fc1"
// CHECK-NEXT:  %[[WHOLE:.+]] = dist.all_reduce sum %[[Y]] over {tp} for activation {proteus.path = "fc1", strategy.phase = #strategy.phase<forward>, strategy.stage = 0 : i64}
// CHECK-NEXT:  %[[T:.+]] = dist.transfer %[[WHOLE]] {proteus.path = "fc1", strategy.phase = #strategy.phase<forward>, strategy.stage = 1 : i64}
// CHECK-NEXT:  nn.relu "act"(%[[T]])
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @a_partial_value_is_reduced_before_it_moves(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc1.weight"})
      -> tensor<8x16xf32> {
    %0 = nn.linear "fc1"(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "act"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  strategy.tree @s for @a_partial_value_is_reduced_before_it_moves {
    mesh [pp = 2, tp = 2]
    node "fc1" {
      at [pp = 0]
      split op [in -> tp]
    }
    node "act" { at [pp = 1] }
  }
}

// -----

// Recomputed work repeats its collectives.

// CHECK-LABEL: func.func @recomputation_repeats_collectives
// CHECK:       %[[Y:.+]] = nn.linear "block.fc2"
// CHECK-NEXT:  dist.all_reduce sum %[[Y]] over {tp} for activation {proteus.path = "block.fc2", strategy.phase = #strategy.phase<forward>}
// CHECK:       nn.recompute "block"
// CHECK:         %[[AGAIN:.+]] = nn.linear "block.fc2"
// CHECK-NEXT:    dist.all_reduce sum %[[AGAIN]] over {tp} for activation {proteus.path = "block.fc2", strategy.phase = #strategy.phase<backward>}
// CHECK:         nn.yield
// CHECK:       %[[DX:.+]] = nn.linear_dgrad "block.fc1"
// CHECK:       dist.all_reduce sum %[[DX]] over {tp} for activation {proteus.path = "block.fc1", strategy.phase = #strategy.phase<backward>}
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @recomputation_repeats_collectives(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w0: tensor<16x16xf32> {nn.role = "parameter", nn.path = "in.weight"},
      %w1: tensor<64x16xf32> {nn.role = "parameter", nn.path = "block.fc1.weight"},
      %w2: tensor<16x64xf32> {nn.role = "parameter", nn.path = "block.fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "in"(%x, %w0) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.linear "block.fc1"(%0, %w1) : (tensor<8x16xf32>, tensor<64x16xf32>) -> tensor<8x64xf32>
    %2 = nn.linear "block.fc2"(%1, %w2) : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
    %3 = nn.relu "block.act"(%2) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%3, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @recomputation_repeats_collectives {
    mesh [tp = 2]
    node "block" {
      recompute
      node "fc1" { split op [out -> tp] }
    }
  }
}

// -----

// The sharding moves from one dimension to another in one step.

// CHECK-LABEL: func.func @a_shard_moves_between_dimensions
// CHECK:       %[[A:.+]] = nn.relu "a"
// CHECK-NEXT:  %[[B:.+]] = dist.all_to_all %[[A]] from 0 to 1 over {x} for activation {proteus.path = "a", strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:  nn.relu "b"(%[[B]])
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @a_shard_moves_between_dimensions(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"}) -> tensor<8x16xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "b"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  strategy.tree @s for @a_shard_moves_between_dimensions {
    mesh [x = 4]
    node "a" { split op [batch -> x] }
    node "b" { split op [batch -> [], hidden -> x] }
  }
}

// -----

// Gradients of a shared weight that are partial over different axes: the sum
// over micro-batches, pending in both, passes through their sum; the other is
// reduced before.

// CHECK-LABEL: func.func @sums_over_different_axes
// CHECK:       dist.slice {{.*}}strategy.phase = #strategy.phase<forward>
// CHECK:       dist.accumulate %loss
// CHECK:       %[[B:.+]] = nn.linear_wgrad "b"
// CHECK:       dist.all_gather {{.*}}strategy.phase = #strategy.phase<backward>
// CHECK:       %[[A:.+]] = nn.linear_wgrad "a"
// CHECK-NEXT:  %[[R:.+]] = dist.all_reduce sum %[[B]] over {dp} for activation
// CHECK-NEXT:  %[[S:.+]] = nn.add "a"(%[[R]], %[[A]])
// CHECK-NEXT:  %[[T:.+]] = dist.accumulate %[[S]]
// CHECK-NEXT:  nn.sgd "a.weight"(%{{.+}}, %[[T]])
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @sums_over_different_axes(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<16x16xf32> {nn.role = "parameter", nn.path = "a.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %w) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %1 = nn.relu "act"(%0) : (tensor<32x16xf32>) -> tensor<32x16xf32>
    %2 = nn.linear "b"(%1, %w) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sums_over_different_axes {
    mesh [dp = 2]
    schedule micro_batches = 2
    node "a" { split op [batch -> []] }
    node "act" { split op [batch -> []] }
    node "b" { split op [batch -> dp] }
  }
}

// -----

// Nothing is exchanged over an axis with a single device.

// CHECK-LABEL: func.func @an_axis_of_one_device
// CHECK:       return
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @an_axis_of_one_device(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<8x16xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "act"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  strategy.tree @s for @an_axis_of_one_device {
    mesh [dp = 2, tp = 1]
    split op [batch -> dp]
    node "fc" { split op [in -> tp] }
  }
}

// -----

// Where the tree allows it, a value that all ranks of a stage hold goes to
// another node in slices: a pending sum is reduced into the slices, and the
// slices are gathered where they arrive. The first dimension that is as good as
// any is sliced. Within a node a plain transfer is cheaper: see @near.

// CHECK-LABEL: func.func @slices_cross_between_nodes
// CHECK:       %[[Y:.+]] = nn.linear "fc1"
// CHECK-NEXT:  %[[S:.+]] = dist.reduce_scatter sum %[[Y]] dim 0 over {tp} for activation {proteus.path = "fc1", strategy.phase = #strategy.phase<forward>, strategy.stage = 0 : i64}
// CHECK-NEXT:  %[[T:.+]] = dist.transfer %[[S]] {proteus.path = "fc1", strategy.phase = #strategy.phase<forward>, strategy.stage = 1 : i64}
// CHECK-NEXT:  %[[G:.+]] = dist.all_gather %[[T]] dim 0 over {tp} for activation {proteus.path = "fc1", strategy.phase = #strategy.phase<forward>, strategy.stage = 1 : i64}
// CHECK-NEXT:  nn.relu "act"(%[[G]])
module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @slices_cross_between_nodes(
      %x: tensor<1024x4096xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<4096x4096xf32> {nn.role = "parameter", nn.path = "fc1.weight"})
      -> tensor<1024x4096xf32> {
    %0 = nn.linear "fc1"(%x, %w) : (tensor<1024x4096xf32>, tensor<4096x4096xf32>) -> tensor<1024x4096xf32>
    %1 = nn.relu "act"(%0) : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    return %1 : tensor<1024x4096xf32>
  }
  strategy.tree @s for @slices_cross_between_nodes {
    mesh [pp = 2, tp = 8]
    scatter_gather
    node "fc1" {
      at [pp = 0]
      split op [in -> tp]
    }
    node "act" { at [pp = 1] }
  }
}

// -----

// CHECK-LABEL: func.func @near
// CHECK:       dist.all_reduce
// CHECK-NEXT:  %[[Y:.+]] = nn.relu "act1"
// CHECK-NEXT:  %[[T:.+]] = dist.transfer %[[Y]]
// CHECK-NEXT:  nn.relu "act2"(%[[T]])
module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @near(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc1.weight"})
      -> tensor<8x16xf32> {
    %0 = nn.linear "fc1"(%x, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.relu "act1"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.relu "act2"(%1) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %2 : tensor<8x16xf32>
  }
  strategy.tree @s for @near {
    mesh [pp = 2, tp = 2]
    scatter_gather
    node "fc1" {
      at [pp = 0]
      split op [in -> tp]
    }
    node "act1" { at [pp = 0] }
    node "act2" { at [pp = 1] }
  }
}
