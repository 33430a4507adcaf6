// RUN: proteus-opt %s -split-input-file -allow-unregistered-dialect --propagate-strategy \
// RUN:   | FileCheck %s --implicit-check-not="strategy.op =" --implicit-check-not="strategy.layout ="

// Every partition and every layout must be expected below: any other one is an
// error. An operation with `strategy.op` in the input has it from the tree.

//===----------------------------------------------------------------------===//
// Operands and readers
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[tp = 2]>

// Axes follow the data: columns of the first layer, the activation, rows of the
// second layer. The result of a sum over an axis is whole along it.

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{tp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK:         nn.linear "fc1"({{.*}}) {strategy.op = #strategy.partition<[out -> tp]>}
// CHECK:         nn.relu "act"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.linear "fc2"({{.*}}) {strategy.op = #strategy.partition<[in -> tp]>}
// CHECK:         nn.relu "last"({{.*}}) {strategy.op = #strategy.partition<[]>}
func.func @forward(%x: tensor<8x4xf32>, %w1: tensor<6x4xf32>, %w2: tensor<4x6xf32>) -> tensor<8x4xf32>
    attributes {strategy.mesh = #mesh} {
  %0 = nn.linear "fc1"(%x, %w1) {strategy.op = #strategy.partition<[out -> tp]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %1 = nn.relu "act"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = nn.linear "fc2"(%1, %w2) : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>
  %3 = nn.relu "last"(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// A producer that is free takes the axes that its first reader needs, through
// several producers. The second reader has no say.

// CHECK-LABEL: func.func @producers_follow_their_first_reader(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.gelu "b"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.linear "first"({{.*}}) {strategy.op = #strategy.partition<[in -> tp]>}
// CHECK:         nn.linear "second"({{.*}}) {strategy.op = #strategy.partition<[batch -> tp]>}
func.func @producers_follow_their_first_reader(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>)
    attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.gelu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = nn.linear "first"(%1, %w) {strategy.op = #strategy.partition<[in -> tp]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %3 = nn.linear "second"(%1, %w) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  return %2, %3 : tensor<8x6xf32>, tensor<8x6xf32>
}

// The axes of an operand come before those that a reader needs.

// CHECK-LABEL: func.func @operands_before_readers(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.gelu "between"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.gelu "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> tp]>}
func.func @operands_before_readers(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.gelu "between"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = nn.gelu "b"(%1) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// A setting stays, `key -> []` included: neither the operand nor the reader
// changes "fixed". Operations after it start from its result.

// CHECK-LABEL: func.func @settings_stay(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.gelu "fixed"({{.*}}) {strategy.op = #strategy.partition<[]>}
// CHECK:         nn.gelu "b"({{.*}}) {strategy.op = #strategy.partition<[]>}
func.func @settings_stay(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.gelu "fixed"(%0) {strategy.op = #strategy.partition<[hidden -> []]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = nn.gelu "b"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// An axis that the operation uses already is not taken a second time.

// CHECK-LABEL: func.func @an_axis_is_taken_once(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{tp}, {}]>
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.linear "b"({{.*}}) {strategy.op = #strategy.partition<[out -> tp]>}
func.func @an_axis_is_taken_once(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.linear "b"(%0, %w) {strategy.op = #strategy.partition<[out -> tp]>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// An opaque iterator takes nothing: a layer norm needs whole rows.

// CHECK-LABEL: func.func @opaque_iterators_stay_whole(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}]>
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.layer_norm "norm"({{.*}}) {strategy.op = #strategy.partition<[]>}
func.func @opaque_iterators_stay_whole(%x: tensor<8x4xf32>, %g: tensor<4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.layer_norm "norm"(%0, %g, %g) : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// A log-sum-exp is split where the operation can be decomposed, as a
// cross-entropy can.

// CHECK-LABEL: func.func @vocabularies_are_split(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}]>
// CHECK:         nn.gelu "logits"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.cross_entropy "loss"({{.*}}) {strategy.op = #strategy.partition<[vocab -> tp]>}
func.func @vocabularies_are_split(%x: tensor<8x6xf32>, %t: tensor<8xi32>) -> tensor<f32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "logits"(%x) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<8x6xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// The keys of an attention can't be decomposed and stay whole.

// CHECK-LABEL: func.func @keys_stay_whole(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>
// CHECK:         nn.gelu "keys"({{.*}}) {strategy.op = #strategy.partition<[seq -> tp]>}
// CHECK:         nn.attention "core"({{.*}}) {heads = 2 : i64, strategy.op = #strategy.partition<[]>}
func.func @keys_stay_whole(%q: tensor<2x4x8xf32>, %k: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "keys"(%k) {strategy.op = #strategy.partition<[seq -> tp]>} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %a, %lse = nn.attention "core"(%q, %0, %0) {heads = 2 : i64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x2x4xf32>)
  return %a : tensor<2x4x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Dimensions of several iterators
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[tp = 4]>

// A split of a fused projection becomes one of heads: contiguous parts of
// [head, 3, dim] are heads.

// CHECK-LABEL: func.func @columns_become_heads(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}, {tp}]>
// CHECK:         nn.gelu "qkv"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.split "split"({{.*}}) {groups = 4 : i64, strategy.op = #strategy.partition<[head -> tp]>}
// CHECK:         nn.attention "core"({{.*}}) {heads = 4 : i64, strategy.op = #strategy.partition<[head -> tp]>}
func.func @columns_become_heads(%x: tensor<8x5x48xf32>) -> tensor<8x5x16xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "qkv"(%x) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x5x48xf32>) -> tensor<8x5x48xf32>
  %q, %k, %v = nn.split "split"(%0) {groups = 4 : i64} : (tensor<8x5x48xf32>) -> (tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>)
  %a, %lse = nn.attention "core"(%q, %k, %v) {heads = 4 : i64} : (tensor<8x5x16xf32>, tensor<8x5x16xf32>, tensor<8x5x16xf32>) -> (tensor<8x5x16xf32>, tensor<8x4x5xf32>)
  return %a : tensor<8x5x16xf32>
}

// In a dimension that several iterators share only equal parts of the major one
// are contiguous: six heads do not go to four devices, though 24 columns do.

// CHECK-LABEL: func.func @heads_are_split_evenly(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.split "split"({{.*}}) {groups = 6 : i64, strategy.op = #strategy.partition<[]>}
func.func @heads_are_split_evenly(%x: tensor<8x24xf32>) -> tensor<8x12xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x24xf32>) -> tensor<8x24xf32>
  %a, %b = nn.split "split"(%0) {groups = 6 : i64} : (tensor<8x24xf32>) -> (tensor<8x12xf32>, tensor<8x12xf32>)
  return %a : tensor<8x12xf32>
}

// Parts need not be equal, but there are not more parts than elements: six
// columns go to four devices, not the two rows that they become.

// CHECK-LABEL: func.func @every_part_has_an_element(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.gelu "uneven"({{.*}}) {strategy.op = #strategy.partition<[hidden -> tp]>}
// CHECK:         nn.reshape "rows"({{.*}}) {strategy.op = #strategy.partition<[]>}
func.func @every_part_has_an_element(%x: tensor<8x6xf32>) -> tensor<8x2x3xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = nn.gelu "uneven"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = nn.reshape "rows"(%1) : (tensor<8x6xf32>) -> tensor<8x2x3xf32>
  return %2 : tensor<8x2x3xf32>
}

// A merged dimension has the split of its major part.

// CHECK-LABEL: func.func @merged_dimensions(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK:         nn.gelu "a"({{.*}}) {strategy.op = #strategy.partition<[seq -> tp]>}
// CHECK:         nn.reshape "flatten"({{.*}}) {strategy.op = #strategy.partition<[f1 -> tp]>}
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[in -> tp]>}
func.func @merged_dimensions(%x: tensor<8x4x3xf32>, %w: tensor<6x12xf32>) -> tensor<8x6xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[seq -> tp]>} : (tensor<8x4x3xf32>) -> tensor<8x4x3xf32>
  %1 = nn.reshape "flatten"(%0) : (tensor<8x4x3xf32>) -> tensor<8x12xf32>
  %2 = nn.linear "fc"(%1, %w) : (tensor<8x12xf32>, tensor<6x12xf32>) -> tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[a = 2, b = 2]>

// An argument is stored as its first reader uses it. An argument without a reader
// is whole.

// CHECK-LABEL: func.func @arguments_follow_their_first_reader(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{a}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{b}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{b}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}]>
// CHECK:         nn.linear "first"({{.*}}) {strategy.op = #strategy.partition<[batch -> a, out -> b]>}
// CHECK:         nn.linear "second"({{.*}}) {strategy.op = #strategy.partition<[batch -> a, in -> b]>}
func.func @arguments_follow_their_first_reader(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>, %unused: tensor<4x4xf32>)
    -> (tensor<8x6xf32>, tensor<8x6xf32>) attributes {strategy.mesh = #mesh} {
  %0 = nn.linear "first"(%x, %w, %b) {strategy.op = #strategy.partition<[batch -> a, out -> b]>} : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  %1 = nn.linear "second"(%x, %w, %b) {strategy.op = #strategy.partition<[batch -> a, in -> b]>} : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}

// A parameter that is stored in parts: the batch takes the axis, so the product
// needs the parameter whole. The storage stays.

// CHECK-LABEL: func.func @stored_in_parts(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{a}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {a}]>
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> a]>}
func.func @stored_in_parts(%x: tensor<8x4xf32>, %w: tensor<6x4xf32> {nn.role = "parameter", strategy.weight = [[], ["a"]]}) -> tensor<8x6xf32>
    attributes {strategy.mesh = #mesh} {
  %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[batch -> a]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Without a setting the state of the optimizer is stored as its update uses it,
// and the update follows the parameter.

// CHECK-LABEL: func.func @states_follow_their_parameter(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{a}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{a}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{b}, {}]>
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> b, out -> a]>}
// CHECK:         nn.sgd "w"({{.*}}) {momentum, strategy.op = #strategy.partition<[d0 -> a]>
func.func @states_follow_their_parameter(
    %w: tensor<6x4xf32> {nn.role = "parameter"}, %v: tensor<6x4xf32> {nn.role = "state"}, %x: tensor<8x4xf32>)
    -> (tensor<8x6xf32>, tensor<6x4xf32>, tensor<6x4xf32>) attributes {strategy.mesh = #mesh} {
  %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[batch -> b, out -> a]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %1:2 = nn.sgd "w"(%w, %w, %v) {momentum, strategy.phase = #strategy.phase<update>} : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)
  return %0, %1#0, %1#1 : tensor<8x6xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}

// Where the state is split, the update follows the state and not the parameter,
// though the parameter is its first operand. That is a sharded optimizer.

// CHECK-LABEL: func.func @updates_follow_their_state(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{a}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{b}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}]>
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[out -> a]>}
// CHECK:         nn.sgd "w"({{.*}}) {momentum, strategy.op = #strategy.partition<[d0 -> b]>
func.func @updates_follow_their_state(
    %w: tensor<6x4xf32> {nn.role = "parameter"}, %v: tensor<6x4xf32> {nn.role = "state", strategy.state = [["b"], []]}, %x: tensor<8x4xf32>)
    -> (tensor<8x6xf32>, tensor<6x4xf32>, tensor<6x4xf32>) attributes {strategy.mesh = #mesh} {
  %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[out -> a]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %1:2 = nn.sgd "w"(%w, %w, %v) {momentum, strategy.phase = #strategy.phase<update>} : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)
  return %0, %1#0, %1#1 : tensor<8x6xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}

// The first reader is the first in the program, also in a repeat inside a repeat
// that reads the parameter from outside: "deep" comes before "shallow".

// CHECK-LABEL: func.func @first_reader_at_any_depth(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{a}, {}]>
// CHECK:         nn.linear "deep"({{.*}}) {strategy.op = #strategy.partition<[out -> a]>}
// CHECK:         nn.linear "shallow"({{.*}}) {strategy.op = #strategy.partition<[in -> b]>}
// CHECK:         nn.linear "last"({{.*}}) {strategy.op = #strategy.partition<[in -> b]>}
func.func @first_reader_at_any_depth(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {strategy.mesh = #mesh} {
  %y = nn.repeat "outer" count 2 carry(%h = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %z = nn.repeat "inner" count 2 carry(%g = %h : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %0 = nn.linear "deep"(%g, %w) {strategy.op = #strategy.partition<[out -> a, in -> []]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      nn.yield %0 : tensor<4x4xf32>
    }
    %1 = nn.linear "shallow"(%z, %w) {strategy.op = #strategy.partition<[in -> b, out -> []]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    nn.yield %1 : tensor<4x4xf32>
  }
  %2 = nn.linear "last"(%y, %w) {strategy.op = #strategy.partition<[in -> b, out -> []]>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// An operation that is restricted to one device of an axis takes no split over
// it, and an argument that is restricted so keeps its place.

// CHECK-LABEL: func.func @places(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {b}], at = [a = 1]>, strategy.place
// CHECK:         nn.gelu "one"({{.*}}) {strategy.op = #strategy.partition<[hidden -> b]>, strategy.place
// CHECK:         nn.gelu "all"({{.*}}) {strategy.op = #strategy.partition<[batch -> a, hidden -> b]>}
func.func @places(%x: tensor<8x4xf32> {strategy.place = [#strategy.coordinate<a = 1>]}) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "one"(%x) {strategy.place = [#strategy.coordinate<a = 1>]} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.gelu "all"(%0) {strategy.op = #strategy.partition<[batch -> a, hidden -> b]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Phases of the step
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2, tp = 2]>

// A sum of gradients is split as its terms are. The gradients of a parameter have
// no rows of the batch: the batch is summed, so their sum is whole.

// CHECK-LABEL: func.func @sums_of_gradients(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}]>
// CHECK:         nn.linear_dgrad "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK-NEXT:    nn.add "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK-NEXT:    nn.linear_wgrad "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK-NEXT:    nn.linear_wgrad "a"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK-NEXT:    nn.add "a"({{.*}}) {strategy.op = #strategy.partition<[]>
func.func @sums_of_gradients(%g: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.linear_dgrad "b"(%g, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<backward>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = nn.add "b"(%g, %0) {strategy.phase = #strategy.phase<backward>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = nn.linear_wgrad "b"(%g, %1) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<backward>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %3 = nn.linear_wgrad "a"(%1, %g) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<backward>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %4 = nn.add "a"(%2, %3) {strategy.phase = #strategy.phase<backward>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// The gradient of a product whose columns are split is a sum over the columns for
// the left operand; for the right operand its columns stay split. The update
// follows the gradient.

// CHECK-LABEL: func.func @gradients_of_products(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {tp}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}]>
// CHECK:         nn.matmul "mm"({{.*}}) {strategy.op = #strategy.partition<[m -> dp, k -> tp]>, strategy.phase = #strategy.phase<backward>, transpose_b}
// CHECK-NEXT:    nn.matmul "mm"({{.*}}) {strategy.op = #strategy.partition<[n -> tp, k -> dp]>, strategy.phase = #strategy.phase<backward>, transpose_a}
// CHECK-NEXT:    nn.sgd "w"({{.*}}) {strategy.op = #strategy.partition<[d1 -> tp]>
func.func @gradients_of_products(%g: tensor<8x4xf32>, %x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>) attributes {strategy.mesh = #mesh} {
  %0 = nn.matmul "mm"(%g, %w) {strategy.op = #strategy.partition<[m -> dp, k -> tp]>, strategy.phase = #strategy.phase<backward>, transpose_b} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = nn.matmul "mm"(%x, %g) {strategy.op = #strategy.partition<[n -> tp, k -> dp]>, strategy.phase = #strategy.phase<backward>, transpose_a} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %2 = nn.sgd "w"(%w, %1) {strategy.phase = #strategy.phase<update>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %2 : tensor<8x4xf32>, tensor<4x4xf32>
}

// A reader of another phase does not split its producer: "a" is whole, though its
// gradient is not.

// CHECK-LABEL: func.func @readers_of_another_phase(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK:         nn.relu "a"({{.*}}) {strategy.op = #strategy.partition<[]>
// CHECK:         nn.relu_grad "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
func.func @readers_of_another_phase(%x: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.relu "a"(%x) {strategy.phase = #strategy.phase<forward>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.relu_grad "b"(%g, %0) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<backward>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// An observer is split as the first other reader of its operand, and does not
// count as a reader itself.

// CHECK-LABEL: func.func @observers(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK:         nn.square_sum "w"({{.*}}) {strategy.op = #strategy.partition<[d0 -> dp]>
// CHECK:         nn.sgd "w"({{.*}}) {momentum, strategy.op = #strategy.partition<[d0 -> dp]>
func.func @observers(%w: tensor<6x4xf32> {nn.role = "parameter", strategy.weight = [[], []]}, %g: tensor<6x4xf32>, %v: tensor<6x4xf32> {nn.role = "state", strategy.state = [["dp"], []]})
    -> (tensor<f32>, tensor<6x4xf32>, tensor<6x4xf32>) attributes {strategy.mesh = #mesh} {
  %0 = nn.square_sum "w"(%g) {strategy.phase = #strategy.phase<update>} : (tensor<6x4xf32>) -> tensor<f32>
  %1:2 = nn.sgd "w"(%w, %g, %v) {momentum, strategy.phase = #strategy.phase<update>} : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>)
  return %0, %1#0, %1#1 : tensor<f32>, tensor<6x4xf32>, tensor<6x4xf32>
}

// A value that is kept as an operation reads it has the partition of that operand,
// not of the producer.

// CHECK-LABEL: func.func @kept_as_read(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {tp}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{tp}, {}]>
// CHECK:         nn.relu "a"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, hidden -> tp]>}
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>}
// CHECK:         nn.keep "fc"({{.*}}) {strategy.keep_as_read = 0 : i64, strategy.op = #strategy.partition<[batch -> dp]>}
func.func @kept_as_read(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>) -> (tensor<8x6xf32>, tensor<8x4xf32>) attributes {strategy.mesh = #mesh} {
  %0 = nn.relu "a"(%x) {strategy.op = #strategy.partition<[batch -> dp, hidden -> tp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.linear "fc"(%0, %w) {strategy.op = #strategy.partition<[out -> tp]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  %2 = nn.keep "fc"(%0) {strategy.keep_as_read = 0 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1, %2 : tensor<8x6xf32>, tensor<8x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2, tp = 2]>

// Carried values bring their axes into a repeat and out of it. A stack of
// parameters has one dimension more, the first, which is whole.

// CHECK-LABEL: func.func @through_repeats(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}, {tp}]>
// CHECK:         nn.gelu "in"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.linear "fc1"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK:         nn.linear "fc2"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, in -> tp]>
// CHECK:         nn.gelu "out"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
func.func @through_repeats(%x: tensor<8x4xf32>, %ws: tensor<3x4x4xf32>, %vs: tensor<3x4x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.repeat "layers" count 3 carry(%h = %0 : tensor<8x4xf32>)
      slice(%w = %ws : tensor<3x4x4xf32> to tensor<4x4xf32>, %v = %vs : tensor<3x4x4xf32> to tensor<4x4xf32>) -> (tensor<8x4xf32>) {
    %2 = nn.linear "fc1"(%h, %w) {strategy.op = #strategy.partition<[out -> tp]>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %3 = nn.linear "fc2"(%2, %v) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %3 : tensor<8x4xf32>
  }
  %4 = nn.gelu "out"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// The result of several iterations is split as each of them enters, the result of
// a single iteration as the body leaves it. Stacked results are split as a slice.

// CHECK-LABEL: func.func @results_of_repeats(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK:         nn.gelu "in"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.gelu "many"({{.*}}) {strategy.op = #strategy.partition<[hidden -> dp]>
// CHECK:         nn.gelu "one"({{.*}}) {strategy.op = #strategy.partition<[hidden -> dp]>
// CHECK:         nn.gelu "after_many"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.gelu "after_one"({{.*}}) {strategy.op = #strategy.partition<[hidden -> dp]>
// CHECK:         nn.gelu "stack"({{.*}}) {strategy.op = #strategy.partition<[hidden -> dp]>
func.func @results_of_repeats(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<3x8x4xf32>) attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1:2 = nn.repeat "several" count 3 carry(%h = %0 : tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<3x8x4xf32>) {
    %2 = nn.gelu "many"(%h) {strategy.op = #strategy.partition<[batch -> [], hidden -> dp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %2, %2 : tensor<8x4xf32>, tensor<8x4xf32>
  }
  %3 = nn.repeat "single" count 1 carry(%h = %0 : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
    %4 = nn.gelu "one"(%h) {strategy.op = #strategy.partition<[batch -> [], hidden -> dp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %4 : tensor<8x4xf32>
  }
  %5 = nn.gelu "after_many"(%1#0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %6 = nn.gelu "after_one"(%3) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %7 = nn.gelu "stack"(%1#1) : (tensor<3x8x4xf32>) -> tensor<3x8x4xf32>
  return %5, %6, %7 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<3x8x4xf32>
}

// The update of layers follows the state of the stack, a slice at a time, in each
// of the repeats into which the layers are cut.

// CHECK-LABEL: func.func @updates_of_layers(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}, {}]>, strategy.weight
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {}, {dp}]>, strategy.state
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}, {}]>, strategy.weight
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{}, {tp}, {dp}]>, strategy.state
// CHECK:         nn.sgd "fc.weight"({{.*}}) {momentum, strategy.op = #strategy.partition<[d1 -> dp]>
// CHECK:         nn.sgd "fc.weight"({{.*}}) {momentum, strategy.op = #strategy.partition<[d0 -> tp, d1 -> dp]>
func.func @updates_of_layers(
    %w0: tensor<1x4x4xf32> {nn.role = "parameter", strategy.weight = [[], [], []]},
    %v0: tensor<1x4x4xf32> {nn.role = "state", strategy.state = [[], [], ["dp"]]},
    %w1: tensor<2x4x4xf32> {nn.role = "parameter", strategy.weight = [[], ["tp"], []]},
    %v1: tensor<2x4x4xf32> {nn.role = "state", strategy.state = [[], ["tp"], ["dp"]]})
    -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) attributes {strategy.mesh = #mesh} {
  %0:2 = nn.repeat "layers" count 1 slice(%w = %w0 : tensor<1x4x4xf32> to tensor<4x4xf32>, %v = %v0 : tensor<1x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<1x4x4xf32>, tensor<1x4x4xf32>) attributes {strategy.phase = #strategy.phase<update>} {
    %2:2 = nn.sgd "fc.weight"(%w, %w, %v) {momentum, strategy.phase = #strategy.phase<update>} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    nn.yield %2#0, %2#1 : tensor<4x4xf32>, tensor<4x4xf32>
  }
  %1:2 = nn.repeat "layers" first 1 count 2 slice(%w = %w1 : tensor<2x4x4xf32> to tensor<4x4xf32>, %v = %v1 : tensor<2x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>) attributes {strategy.phase = #strategy.phase<update>} {
    %2:2 = nn.sgd "fc.weight"(%w, %w, %v) {momentum, strategy.phase = #strategy.phase<update>} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    nn.yield %2#0, %2#1 : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %0#0, %0#1, %1#0, %1#1 : tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
}

// Axes enter and leave a recomputation as if its operations stood outside.

// CHECK-LABEL: func.func @through_recomputation(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{tp}, {}]>
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>
// CHECK:         nn.gelu "act"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, hidden -> tp]>
// CHECK:         nn.gelu_grad "act"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, hidden -> tp]>
func.func @through_recomputation(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>) -> tensor<8x6xf32> attributes {strategy.mesh = #mesh} {
  %0:2 = nn.recompute "block" (%a = %x : tensor<8x4xf32>, %b = %w : tensor<6x4xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) attributes {strategy.phase = #strategy.phase<backward>} {
    %1 = nn.linear "fc"(%a, %b) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>, strategy.phase = #strategy.phase<backward>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %2 = nn.gelu "act"(%1) {strategy.phase = #strategy.phase<backward>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
    nn.yield %2, %1 : tensor<8x6xf32>, tensor<8x6xf32>
  }
  %3 = nn.gelu_grad "act"(%0#0, %0#1) {strategy.phase = #strategy.phase<backward>} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %3 : tensor<8x6xf32>
}

// An operation without an iteration space brings no axes, nor does a repeat that
// carries its result, nor a slice of that.

// CHECK-LABEL: func.func @unknown_operations(
// CHECK-SAME:    strategy.layout = #dist.layout<#mesh, [{dp}, {}]>
// CHECK:         nn.add "shift"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
func.func @unknown_operations(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = "test.constant"() : () -> tensor<4x4xf32>
  %1 = nn.repeat "unknown" count 2 carry(%h = %0 : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    nn.yield %h : tensor<4x4xf32>
  }
  %2 = nn.repeat "layers" count 4 carry(%h = %x : tensor<4x4xf32>) slice(%s = %1 : tensor<4x4xf32> to tensor<4xf32>) -> (tensor<4x4xf32>) {
    %3 = nn.add "shift"(%h, %s) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    nn.yield %3 : tensor<4x4xf32>
  }
  return %2 : tensor<4x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Micro-batches
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2], micro = 2>

// The batch of an input is split over micro-batches first, then over devices,
// in every operation that it reaches, under any name. Parameters have no batch.

// CHECK:       #[[MESH:.*]] = #dist.mesh<[dp = 2], micro = 2>
// CHECK-LABEL: func.func @micro_batches_come_first(
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{micro, dp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{}, {}]>
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>}
// CHECK:         nn.matmul "mm"({{.*}}) {strategy.op = #strategy.partition<[m -> [micro, dp]]>}
func.func @micro_batches_come_first(%x: tensor<8x4xf32> {nn.role = "input"}, %w: tensor<4x4xf32>, %v: tensor<4x6xf32>) -> tensor<8x6xf32>
    attributes {strategy.mesh = #mesh} {
  %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = nn.matmul "mm"(%0, %v) : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// Gradients of parameters are sums over the batch, and so over micro-batches. The
// update runs once and has none.

// CHECK-LABEL: func.func @updates_have_no_micro_batches(
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{micro, dp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{}, {}]>
// CHECK:         nn.linear_wgrad "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>
// CHECK:         nn.sgd "w"({{.*}}) {strategy.op = #strategy.partition<[]>
func.func @updates_have_no_micro_batches(%x: tensor<8x4xf32> {nn.role = "input"}, %w: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<4x4xf32>
    attributes {strategy.mesh = #mesh} {
  %0 = nn.linear_wgrad "fc"(%x, %x) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<backward>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = nn.sgd "w"(%w, %0) {strategy.phase = #strategy.phase<update>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// A slice of an input holds no batch, because the first dimension of the input is
// that of the layers. A value that only parameters reach has no batch either.

// CHECK-LABEL: func.func @values_without_a_batch(
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{micro, dp}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{{[{][a-z]*[}]}}, {}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{}]>
// CHECK:         nn.cast "weights"({{.*}}) {strategy.op = #strategy.partition<[]>}
// CHECK:         nn.relu "sliced"({{.*}}) {strategy.op = #strategy.partition<[]>}
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>}
func.func @values_without_a_batch(%x: tensor<8x4xf32> {nn.role = "input"}, %s: tensor<3x4x4xf32> {nn.role = "input"}, %w: tensor<4xf64> {nn.role = "parameter"})
    -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %b = nn.cast "weights"(%w) : (tensor<4xf64>) -> tensor<4xf32>
  %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4xf32>) slice(%si = %s : tensor<3x4x4xf32> to tensor<4x4xf32>) -> (tensor<8x4xf32>) {
    %0 = nn.relu "sliced"(%si) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = nn.linear "fc"(%h, %0, %b) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    nn.yield %1 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Without a split of the batch over devices there is the split over time.

// CHECK-LABEL: func.func @micro_batches_alone(
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{micro}, {}, {}]>
// CHECK-SAME:    strategy.layout = #dist.layout<#[[MESH]], [{dp}, {}]>
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> micro, out -> dp]>}
// CHECK:         nn.reshape "rows"({{.*}}) {strategy.op = #strategy.partition<[batch -> micro, f2 -> dp]>}
func.func @micro_batches_alone(%x: tensor<8x3x4xf32> {nn.role = "input"}, %w: tensor<6x4xf32>) -> tensor<24x6xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[out -> dp]>} : (tensor<8x3x4xf32>, tensor<6x4xf32>) -> tensor<8x3x6xf32>
  %1 = nn.reshape "rows"(%0) : (tensor<8x3x6xf32>) -> tensor<24x6xf32>
  return %1 : tensor<24x6xf32>
}

// A function without a mesh belongs to no strategy and stays as it is.

// CHECK-LABEL: func.func @helper(%{{.*}}: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
// CHECK-NEXT:    nn.gelu "a"(%{{.*}}) :
func.func @helper(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
