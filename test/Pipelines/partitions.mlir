// RUN: proteus-opt %s -split-input-file -allow-unregistered-dialect %{to-propagate-strategy} | FileCheck %s

// Partitions of whole models and their gradients; those of single operations are in
// Transforms/Propagation.

//===----------------------------------------------------------------------===//
// Forward and backward
//===----------------------------------------------------------------------===//

// Axes follow the data: columns of the first layer, the activation, rows of the
// second layer. The result of a sum over an axis is whole along it.

// CHECK-LABEL: func.func @forward_through_activations(
// CHECK:         nn.linear "fc1"({{.*}}) {strategy.op = #strategy.partition<[out -> tp]>}
// CHECK:         nn.relu "act"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.linear "fc2"({{.*}}) {strategy.op = #strategy.partition<[in -> tp]>}
// CHECK:         nn.relu "last"({{.*}}) {strategy.op = #strategy.partition<[]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @forward_through_activations(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w1: tensor<6x4xf32> {nn.role = "parameter"},
      %w2: tensor<4x6xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %1 = nn.relu "act"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %2 = nn.linear "fc2"(%1, %w2) : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>
    %3 = nn.relu "last"(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  strategy.tree @s for @forward_through_activations {
    mesh [tp = 2]
    node "fc1" { split op [out -> tp] }
  }
}

// -----

// A split of the fused projection becomes one of heads: contiguous parts of
// [head, 3, dim] are heads, and stay local up to the rows of the projection.

// CHECK-LABEL: func.func @attention_by_heads(
// CHECK:         nn.linear "qkv"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>}
// CHECK:         nn.split "split"({{.*}}) {groups = 4 : i64, strategy.op = #strategy.partition<[batch -> dp, head -> tp]>}
// CHECK:         nn.attention "core"({{.*}}) {heads = 4 : i64, strategy.op = #strategy.partition<[batch -> dp, head -> tp]>}
// CHECK:         nn.linear "proj"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @attention_by_heads(
      %x: tensor<8x5x16xf32> {nn.role = "input"},
      %w1: tensor<48x16xf32> {nn.role = "parameter"},
      %w2: tensor<16x16xf32> {nn.role = "parameter"}) -> tensor<8x5x16xf32> {
    %0 = nn.linear "qkv"(%x, %w1) : (tensor<8x5x16xf32>, tensor<48x16xf32>) -> tensor<8x5x48xf32>
    %q, %k, %v = nn.split "split"(%0) {groups = 4 : i64} : (tensor<8x5x48xf32>) -> (tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>)
    %a, %lse = nn.attention "core"(%q, %k, %v) {heads = 4 : i64} : (tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) -> (tensor<8x5x16xf32>, tensor<8x4x5xf32>)
    %1 = nn.linear "proj"(%a, %w2) : (tensor<8x5x16xf32>, tensor<16x16xf32>) -> tensor<8x5x16xf32>
    return %1 : tensor<8x5x16xf32>
  }
  strategy.tree @s for @attention_by_heads {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "qkv" { split op [out -> tp] }
  }
}

// -----

// A producer that is free takes the axes that its first reader needs.

// CHECK-LABEL: func.func @backward_to_producers(
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.gelu "b"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[in -> tp]>}
// CHECK:         nn.linear "second"({{.*}}) {strategy.op = #strategy.partition<[batch -> tp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @backward_to_producers(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<6x4xf32> {nn.role = "parameter"}) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.gelu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "fc"(%1, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %3 = nn.linear "second"(%1, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    return %2, %3 : tensor<8x6xf32>, tensor<8x6xf32>
  }
  strategy.tree @s for @backward_to_producers {
    mesh [tp = 2]
    node "fc" { split op [in -> tp] }
    node "second" { split op [batch -> tp] }
  }
}

// -----

// The axes of an operand come before those that a reader needs.

// CHECK-LABEL: func.func @operands_before_readers(
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[out -> tp]>}
// CHECK:         nn.gelu "between"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.gelu "wants_batch"({{.*}}) {strategy.op = #strategy.partition<[batch -> tp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @operands_before_readers(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<6x4xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %1 = nn.gelu "between"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %2 = nn.gelu "wants_batch"(%1) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    return %2 : tensor<8x6xf32>
  }
  strategy.tree @s for @operands_before_readers {
    mesh [tp = 2]
    node "fc" { split op [out -> tp] }
    node "wants_batch" { split op [batch -> tp] }
  }
}

// -----

// A setting of the tree stays, `key -> []` included: neither the operand nor the
// reader changes "fixed". Operations after it start from its result.

// CHECK-LABEL: func.func @settings_stay(
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.gelu "fixed"({{.*}}) {strategy.op = #strategy.partition<[]>}
// CHECK:         nn.gelu "b"({{.*}}) {strategy.op = #strategy.partition<[]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @settings_stay(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.gelu "fixed"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.gelu "b"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @settings_stay {
    mesh [tp = 2]
    node "a" { split op [hidden -> tp] }
    node "fixed" { split op [hidden -> []] }
  }
}

// -----

// An axis that the operation uses already is not taken a second time.

// CHECK-LABEL: func.func @axis_in_use(
// CHECK:         nn.linear "b"({{.*}}) {strategy.op = #strategy.partition<[out -> tp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @axis_in_use(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @axis_in_use {
    mesh [tp = 2]
    node "a" { split op [hidden -> tp] }
    node "b" { split op [out -> tp] }
  }
}

// -----

// An opaque iterator takes nothing: a layer norm needs whole rows.

// CHECK-LABEL: func.func @opaque_iterators_stay_whole(
// CHECK:         nn.layer_norm "norm"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
// CHECK:         nn.gelu "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @opaque_iterators_stay_whole(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %g: tensor<4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.layer_norm "norm"(%0, %g, %g) : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %2 = nn.gelu "b"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @opaque_iterators_stay_whole {
    mesh [dp = 2, tp = 2]
    node "a" { split op [batch -> dp, hidden -> tp] }
  }
}

// -----

// A log-sum-exp is split where the operation can be decomposed, as a
// cross-entropy can; the keys of attention stay whole.

// CHECK-LABEL: func.func @log_sum_exp(
// CHECK:         nn.attention "core"({{.*}}) {heads = 2 : i64, strategy.op = #strategy.partition<[]>}
// CHECK:         nn.cross_entropy "loss"({{.*}}) {strategy.op = #strategy.partition<[vocab -> tp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @log_sum_exp(
      %q: tensor<2x4x8xf32> {nn.role = "input"},
      %k: tensor<2x4x8xf32> {nn.role = "parameter"},
      %w: tensor<6x8xf32> {nn.role = "parameter"},
      %labels: tensor<2x4xi32> {nn.role = "input"}) -> tensor<f32> {
    %0 = nn.gelu "keys"(%k) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %a, %rows = nn.attention "core"(%q, %0, %0) {heads = 2 : i64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x2x4xf32>)
    %1 = nn.linear "head"(%a, %w) : (tensor<2x4x8xf32>, tensor<6x8xf32>) -> tensor<2x4x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<2x4x6xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @log_sum_exp {
    mesh [tp = 2]
    node "keys" { split op [seq -> tp] }
    node "head" { split op [out -> tp] }
  }
}

// -----

// Parts need not be equal, but there are not more parts than elements: six
// columns go to four devices, not the two rows that they become.

// CHECK-LABEL: func.func @enough_elements(
// CHECK:         nn.gelu "uneven"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.reshape "rows"({{.*}}) {strategy.op = #strategy.partition<[]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @enough_elements(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<6x4xf32> {nn.role = "parameter"}) -> tensor<8x2x3xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %1 = nn.gelu "uneven"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %2 = nn.reshape "rows"(%1) : (tensor<8x6xf32>) -> tensor<8x2x3xf32>
    return %2 : tensor<8x2x3xf32>
  }
  strategy.tree @s for @enough_elements {
    mesh [tp = 4]
    node "fc" { split op [out -> tp] }
  }
}

// -----

// In a dimension that several iterators share only equal parts of the major one
// are contiguous: six heads do not go to four devices, though 24 columns do.

// CHECK-LABEL: func.func @fused_dimensions_split_evenly(
// CHECK:         nn.linear "even"({{.*}}) {strategy.op = #strategy.partition<[out -> two]>}
// CHECK:         nn.split "by_two"({{.*}}) {groups = 6 : i64, strategy.op = #strategy.partition<[head -> two]>}
// CHECK:         nn.linear "uneven"({{.*}}) {strategy.op = #strategy.partition<[out -> four]>}
// CHECK:         nn.split "by_four"({{.*}}) {groups = 6 : i64, strategy.op = #strategy.partition<[]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @fused_dimensions_split_evenly(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<24x4xf32> {nn.role = "parameter"},
      %v: tensor<24x4xf32> {nn.role = "parameter"}) -> (tensor<8x12xf32>, tensor<8x12xf32>) {
    %0 = nn.linear "even"(%x, %w) : (tensor<8x4xf32>, tensor<24x4xf32>) -> tensor<8x24xf32>
    %a, %b = nn.split "by_two"(%0) {groups = 6 : i64} : (tensor<8x24xf32>) -> (tensor<8x12xf32>, tensor<8x12xf32>)
    %1 = nn.linear "uneven"(%x, %v) : (tensor<8x4xf32>, tensor<24x4xf32>) -> tensor<8x24xf32>
    %c, %d = nn.split "by_four"(%1) {groups = 6 : i64} : (tensor<8x24xf32>) -> (tensor<8x12xf32>, tensor<8x12xf32>)
    return %a, %c : tensor<8x12xf32>, tensor<8x12xf32>
  }
  strategy.tree @s for @fused_dimensions_split_evenly {
    mesh [two = 2, four = 4]
    node "even" { split op [out -> two] }
    node "uneven" { split op [out -> four] }
  }
}

// -----

// A merged dimension carries the split of its major part.

// CHECK-LABEL: func.func @merged_dimensions(
// CHECK:         nn.reshape "flatten"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, f1 -> tp]>}
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @merged_dimensions(
      %x: tensor<8x4x3xf32> {nn.role = "input"},
      %w: tensor<6x12xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    %0 = nn.gelu "a"(%x) : (tensor<8x4x3xf32>) -> tensor<8x4x3xf32>
    %1 = nn.reshape "flatten"(%0) : (tensor<8x4x3xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc"(%1, %w) : (tensor<8x12xf32>, tensor<6x12xf32>) -> tensor<8x6xf32>
    return %2 : tensor<8x6xf32>
  }
  strategy.tree @s for @merged_dimensions {
    mesh [dp = 2, tp = 2]
    node "a" { split op [batch -> dp, seq -> tp] }
  }
}

// -----

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

// A parameter is stored as its first reader uses it, an input likewise. An argument
// without a reader is whole.

// CHECK-LABEL: func.func @arguments_follow_their_first_reader(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<8x4xf32> {nn.path = "x", {{.*}}strategy.layout = #dist.layout<#mesh, [{dp}, {}]>}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "w", {{.*}}strategy.layout = #dist.layout<#mesh, [{tp}, {}]>}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6xf32> {nn.path = "b", {{.*}}strategy.layout = #dist.layout<#mesh, [{tp}]>}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<4x4xf32> {nn.path = "unused", {{.*}}strategy.layout = #dist.layout<#mesh, [{}, {}]>}
// CHECK:         nn.linear "first"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>}
// CHECK:         nn.linear "second"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @arguments_follow_their_first_reader(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "w"},
      %b: tensor<6xf32> {nn.role = "parameter", nn.path = "b"},
      %u: tensor<4x4xf32> {nn.role = "parameter", nn.path = "unused"}) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
    %0 = nn.linear "first"(%x, %w, %b) : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<8x6xf32>
    %1 = nn.linear "second"(%x, %w, %b) : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<8x6xf32>
    return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
  }
  strategy.tree @s for @arguments_follow_their_first_reader {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "first" { split op [out -> tp] }
    node "second" { split op [in -> tp] }
  }
}

// -----

// Gradient, state and update of a parameter follow it.

// CHECK-LABEL: func.func @states_follow_their_parameter(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "fc.weight", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{tp}, {}]>}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "fc.weight.velocity", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{tp}, {}]>}
// CHECK:         nn.cross_entropy "loss"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, vocab -> tp]>
// CHECK:         nn.cross_entropy_grad "loss"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, vocab -> tp]>
// CHECK:         nn.linear_wgrad "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK:         nn.sgd "fc.weight"({{.*}}) {momentum, strategy.op = #strategy.partition<[d0 -> tp]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @states_follow_their_parameter(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<8x6xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @states_follow_their_parameter {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "fc" { split op [out -> tp] }
  }
}

// -----

// States that are split where the parameter is whole: the update follows the
// states, the parameter its first reader. That is a sharded optimizer.

// CHECK-LABEL: func.func @sharded_states(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "fc.weight", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {}]>
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "fc.weight.first_moment", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "fc.weight.second_moment", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.linear_wgrad "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.adam "fc.weight"({{.*}}) {strategy.op = #strategy.partition<[d0 -> dp]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @sharded_states(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<8x6xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sharded_states {
    mesh [dp = 2]
    split op [batch -> dp]
    split state [0 -> dp]
  }
}

// -----

// The product with a parameter that is stored in parts is split as the tree sets it:
// the axis is taken by the batch. The states and the update follow the storage.

// CHECK-LABEL: func.func @sharded_parameters(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "fc.weight", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {dp}]>
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "fc.weight.velocity", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {dp}]>
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.linear_wgrad "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.sgd "fc.weight"({{.*}}) {momentum, strategy.op = #strategy.partition<[d1 -> dp]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @sharded_parameters(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<8x6xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sharded_parameters {
    mesh [dp = 2]
    split op [batch -> dp]
    split weight [1 -> dp]
  }
}

// -----

// The first reader is the first in the program, also in the body of a repeat that
// reads the parameter from outside.

// CHECK-LABEL: func.func @first_reader_in_a_body(
// CHECK-SAME:    tensor<4x4xf32> {nn.path = "w", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {a}]>}
// CHECK:         nn.matmul "first"({{.*}}) {strategy.op = #strategy.partition<[n -> a]>}
// CHECK:         nn.matmul "second"({{.*}}) {strategy.op = #strategy.partition<[m -> b, k -> a]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @first_reader_in_a_body(
      %x: tensor<4x4xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "w"}) -> tensor<4x4xf32> {
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %0 = nn.matmul "first"(%h, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %1 = nn.matmul "second"(%w, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      nn.yield %1 : tensor<4x4xf32>
    }
    return %y : tensor<4x4xf32>
  }
  strategy.tree @s for @first_reader_in_a_body {
    mesh [a = 2, b = 2]
    node "layers[*].first" { split op [n -> a] }
    node "layers[*].second" { split op [m -> b] }
  }
}

// -----

// That holds for readers at different depths: before a repeat, in a repeat in it,
// after that, and after both.

// CHECK-LABEL: func.func @first_reader_at_any_depth(
// CHECK-SAME:    tensor<4x4xf32> {nn.path = "w", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{a}, {}]>}
// CHECK-SAME:    tensor<4x4xf32> {nn.path = "v", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {b}]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @first_reader_at_any_depth(
      %x: tensor<4x4xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "w"},
      %v: tensor<4x4xf32> {nn.role = "parameter", nn.path = "v"}) -> tensor<4x4xf32> {
    %e = nn.linear "before"(%x, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = nn.repeat "outer" count 2 carry(%h = %e : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %z = nn.repeat "inner" count 2 carry(%g = %h : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
        %0 = nn.linear "deep"(%g, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        nn.yield %0 : tensor<4x4xf32>
      }
      %1 = nn.linear "shallow"(%z, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %2 = nn.linear "again"(%1, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      nn.yield %2 : tensor<4x4xf32>
    }
    %3 = nn.linear "behind"(%y, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
  strategy.tree @s for @first_reader_at_any_depth {
    mesh [a = 2, b = 2]
    node "before" { split op [in -> b, out -> []] }
    node "outer[*].inner[*].deep" { split op [out -> a, in -> []] }
    node "outer[*].shallow" { split op [in -> b, out -> []] }
    node "outer[*].again" { split op [in -> [], out -> a] }
    node "behind" { split op [in -> b, out -> []] }
  }
}

// -----

// A sum of gradients is split as the gradients are. Those of a parameter that two
// operations read are whole: the batch is summed up before.

// CHECK-LABEL: func.func @sums_of_gradients(
// CHECK:         nn.linear_dgrad "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK-NEXT:    nn.add "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.linear_wgrad "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.linear_wgrad "a"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK-NEXT:    nn.add "a"({{.*}}) {strategy.op = #strategy.partition<[]>
// CHECK-NEXT:    nn.sgd "w"({{.*}}) {strategy.op = #strategy.partition<[]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @sums_of_gradients(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "w"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = nn.add "residual"(%1, %0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %labels) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sums_of_gradients {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// The rows of a product are the sum of the gradient of its right operand, and
// its columns that of the gradient of its left one.

// CHECK-LABEL: func.func @gradients_of_products(
// CHECK-SAME:    tensor<4x4xf32> {nn.path = "w", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {tp}]>}
// CHECK:         %[[Y:.*]] = nn.matmul "mm"({{.*}}) {strategy.op = #strategy.partition<[m -> dp, n -> tp]>, strategy.phase = #strategy.phase<forward>}
// CHECK:         %[[D:.*]] = nn.cross_entropy_grad "loss"(
// CHECK-NEXT:    nn.matmul "mm"(%[[D]], %{{[a-z0-9]+}}) {strategy.op = #strategy.partition<[m -> dp, k -> tp]>, strategy.phase = #strategy.phase<backward>, transpose_b}
// CHECK-NEXT:    nn.matmul "mm"(%{{[a-z0-9]+}}, %[[D]]) {strategy.op = #strategy.partition<[n -> tp, k -> dp]>, strategy.phase = #strategy.phase<backward>, transpose_a}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @gradients_of_products(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %b: tensor<4xf32> {nn.role = "parameter", nn.path = "b"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "w"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.add "shift"(%x, %b) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %1 = nn.matmul "mm"(%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @gradients_of_products {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "mm" { split op [n -> tp] }
  }
}

// -----

// Parameters of a repeat have one dimension more, the first, which is whole.

// CHECK-LABEL: func.func @through_repeats(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<3x4x4xf32> {nn.path = "layers[*].fc1.weight", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<3x4x4xf32> {nn.path = "layers[*].fc2.weight", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {}, {tp}]>}
// CHECK:         nn.add "in"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.linear "fc1"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK:         nn.linear "fc2"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>
// CHECK:         nn.gelu "out"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.repeat "layers" count 3 reverse
// CHECK:         nn.linear_dgrad "fc2"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>
// CHECK:         nn.linear_wgrad "fc2"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>
// CHECK:         nn.linear_dgrad "fc1"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK:         nn.linear_wgrad "fc1"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK:         nn.sgd "fc1.weight"({{.*}}) {strategy.op = #strategy.partition<[d0 -> tp]>
// CHECK:         nn.sgd "fc2.weight"({{.*}}) {strategy.op = #strategy.partition<[d1 -> tp]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @through_repeats(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1s: tensor<3x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2s: tensor<3x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %p: tensor<4xf32> {nn.role = "parameter", nn.path = "in.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.add "in"(%x, %p) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %1 = nn.repeat "layers" count 3
        carry(%h = %0 : tensor<8x4xf32>)
        slice(%w1 = %w1s : tensor<3x4x4xf32> to tensor<4x4xf32>, %w2 = %w2s : tensor<3x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %a = nn.linear "fc1"(%h, %w1) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %b = nn.linear "fc2"(%a, %w2) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %b : tensor<8x4xf32>
    }
    %2 = nn.gelu "out"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %labels) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @through_repeats {
    mesh [dp = 2, tp = 2]
    node "in" { split op [batch -> dp] }
    node "layers[*].fc1" { split op [out -> tp] }
  }
}

// -----

// The first iteration of a repeat that starts from an input is a repeat of its
// own in a training step; it is split as the others are.

// CHECK-LABEL: func.func @first_iteration(
// CHECK-SAME:    tensor<1x4x4xf32> {nn.path = "layers[0:1].fc.weight", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>, strategy.state = {{\[\[}}], [], ["dp"]]}
// CHECK-SAME:    tensor<2x4x4xf32> {nn.path = "layers[1:3].fc.weight", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>, strategy.state = {{\[\[}}], [], ["dp"]]}
// CHECK-SAME:    tensor<1x4x4xf32> {nn.path = "layers[0:1].fc.weight.velocity", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {}, {dp}]>
// CHECK-SAME:    tensor<2x4x4xf32> {nn.path = "layers[1:3].fc.weight.velocity", {{[^{}]*}}strategy.layout = #dist.layout<#mesh, [{}, {}, {dp}]>
// CHECK:         nn.repeat "layers" count 1 carry
// CHECK-NEXT:      nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK:         nn.repeat "layers" first 1 count 2 carry
// CHECK-NEXT:      nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK:         nn.repeat "layers" first 1 count 2 reverse
// CHECK:           nn.linear_wgrad "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK:         nn.repeat "layers" count 1 reverse
// CHECK-NEXT:      nn.linear_wgrad "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK-COUNT-2:   nn.sgd "fc.weight"({{.*}}) {momentum, strategy.op = #strategy.partition<[d0 -> tp, d1 -> dp]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @first_iteration(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %ws: tensor<3x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.repeat "layers" count 3
        carry(%h = %x : tensor<8x4xf32>)
        slice(%w = %ws : tensor<3x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %1 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @first_iteration {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    split state [1 -> dp]
    node "layers[*].fc" { split op [out -> tp] }
  }
}

// -----

// Of a value that no operation with an iteration space computes nothing is known,
// nor of a repeat that carries it, nor of its slices.

// CHECK-LABEL: func.func @values_of_unknown_operations(
// CHECK-SAME:    tensor<4x4xf32> {nn.role = "input", strategy.layout = #dist.layout<#mesh, [{a}, {}]>}
// CHECK:         nn.add "shift"({{.*}}) {strategy.op = #strategy.partition<[batch -> a]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @values_of_unknown_operations(
      %x: tensor<4x4xf32> {nn.role = "input"}) -> tensor<4x4xf32> {
    %0 = "test.constant"() : () -> tensor<4x4xf32>
    %1 = nn.repeat "unknown" count 2 carry(%h = %0 : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      nn.yield %h : tensor<4x4xf32>
    }
    %2 = nn.repeat "layers" count 4
        carry(%h = %x : tensor<4x4xf32>)
        slice(%s = %1 : tensor<4x4xf32> to tensor<4xf32>)
        -> (tensor<4x4xf32>) {
      %3 = nn.add "shift"(%h, %s) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
      nn.yield %3 : tensor<4x4xf32>
    }
    return %2 : tensor<4x4xf32>
  }
  strategy.tree @s for @values_of_unknown_operations {
    mesh [a = 2]
    node "layers[*].shift" { split op [batch -> a] }
  }
}

// -----

// Recomputed operations are split as they were the first time.

// CHECK-LABEL: func.func @through_recomputation(
// CHECK:         nn.recompute "block"
// CHECK:           nn.linear "block.fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>, strategy.phase = #strategy.phase<backward>
// CHECK:           nn.gelu "block.act"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, hidden -> tp]>, strategy.phase = #strategy.phase<backward>
// CHECK:         nn.gelu_grad "block.act"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, hidden -> tp]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @through_recomputation(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "block.fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %1 = nn.gelu "block.act"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<8x6xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @through_recomputation {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "block" { recompute }
    node "block.fc" { split op [out -> tp] }
  }
}

// -----

//===----------------------------------------------------------------------===//
// Micro-batches
//===----------------------------------------------------------------------===//

// The batch is split over micro-batches first, then over devices, wherever it
// goes; updates, parameters and states have none.

// CHECK:       #[[MESH:.*]] = #dist.mesh<[dp = 2], micro = 2>
// CHECK-LABEL: func.func @micro_batches_come_first(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<8x4xf32> {nn.path = "x", {{[^{}]*}}strategy.layout = #dist.layout<#[[MESH]], [{micro, dp}, {}]>}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<8xi32> {nn.path = "labels", {{[^{}]*}}strategy.layout = #dist.layout<#[[MESH]], [{micro, dp}]>}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "w", {{[^{}]*}}strategy.layout = #dist.layout<#[[MESH]], [{}, {}]>}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.path = "w.velocity", {{[^{}]*}}strategy.layout = #dist.layout<#[[MESH]], [{}, {}]>}
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>
// CHECK:         nn.cross_entropy "loss"({{.*}}) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>
// CHECK:         nn.fill "loss"() {strategy.op = #strategy.partition<[]>
// CHECK:         nn.cross_entropy_grad "loss"({{.*}}) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>
// CHECK:         nn.linear_wgrad "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>
// CHECK:         nn.sgd "w"({{.*}}) {momentum, strategy.op = #strategy.partition<[]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @micro_batches_come_first(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "w"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<8x6xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @micro_batches_come_first {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}

// -----

// The batch is found by following the inputs, whatever an operation calls it.

// CHECK-LABEL: func.func @batch_under_another_name(
// CHECK:         nn.matmul "mm"({{.*}}) {strategy.op = #strategy.partition<[m -> [micro, dp]]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @batch_under_another_name(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<4x6xf32> {nn.role = "parameter", nn.path = "w"}) -> tensor<8x6xf32> {
    %0 = nn.matmul "mm"(%x, %w) : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @batch_under_another_name {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}

// -----

// A slice of an input holds no batch, because the first dimension of the input is
// that of the layers. A value that only parameters reach has no batch either.

// CHECK-LABEL: func.func @values_without_a_batch(
// CHECK:         nn.cast "weights"({{.*}}) {strategy.op = #strategy.partition<[]>}
// CHECK:         nn.relu "sliced"({{.*}}) {strategy.op = #strategy.partition<[]>}
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @values_without_a_batch(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %s: tensor<3x4x4xf32> {nn.role = "input", nn.path = "s"},
      %w: tensor<4xf64> {nn.role = "parameter", nn.path = "w"}) -> tensor<8x4xf32> {
    %b = nn.cast "weights"(%w) : (tensor<4xf64>) -> tensor<4xf32>
    %y = nn.repeat "layers" count 3
        carry(%h = %x : tensor<8x4xf32>)
        slice(%si = %s : tensor<3x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.relu "sliced"(%si) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %1 = nn.linear "fc"(%h, %0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @values_without_a_batch {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}

// -----

// Without a split of the batch over devices there is the split over time.

// CHECK-LABEL: func.func @micro_batches_alone(
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> micro, out -> tp]>}
// CHECK:         nn.reshape "rows"({{.*}}) {strategy.op = #strategy.partition<[batch -> micro, f2 -> tp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @micro_batches_alone(
      %x: tensor<8x3x4xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "w"}) -> tensor<24x6xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x3x4xf32>, tensor<6x4xf32>) -> tensor<8x3x6xf32>
    %1 = nn.reshape "rows"(%0) : (tensor<8x3x6xf32>) -> tensor<24x6xf32>
    return %1 : tensor<24x6xf32>
  }
  strategy.tree @s for @micro_batches_alone {
    mesh [tp = 2]
    schedule micro_batches = 4
    node "fc" { split op [out -> tp] }
  }
}

// -----

//===----------------------------------------------------------------------===//
// Other functions
//===----------------------------------------------------------------------===//

// A function that no tree was matched with stays as it is.

// CHECK-LABEL: func.func @not_matched(%{{.*}}: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
// CHECK-NEXT:    nn.gelu "a"(%{{.*}}) :
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @not_matched(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  func.func @matched(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @matched {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}
