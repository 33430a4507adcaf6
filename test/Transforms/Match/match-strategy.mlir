// RUN: split-file %s %t
// RUN: proteus-opt %t/trees.mlir -split-input-file --match-strategy \
// RUN:   | FileCheck %t/trees.mlir
// RUN: proteus-opt %t/options.mlir \
// RUN:     --match-strategy="strategy=@wide cluster=dgx-a100:2" \
// RUN:   | FileCheck %t/options.mlir

//--- trees.mlir

// A setting of the tree applies to every operation, and the function says what
// later passes need to know of the tree.

// CHECK:       #[[MESH:.*]] = #dist.mesh<[dp = 2]>
// CHECK-LABEL: func.func @tree_selects_everything(
// CHECK-SAME:    attributes {strategy.mesh = #[[MESH]], strategy.tree = @s}
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
// CHECK:         nn.relu "act"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @tree_selects_everything(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<6x4xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %1 = nn.relu "act"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    return %1 : tensor<8x6xf32>
  }
  strategy.tree @s for @tree_selects_everything {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// The nearest setting wins, iterator by iterator: the inner node replaces `out`
// and keeps `batch` of the tree and `in` of the node around it.

// CHECK-LABEL: func.func @nearest_wins_per_iterator(
// CHECK:         nn.linear "mlp.fc1"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, in -> a, out -> b]>}
// CHECK:         nn.linear "mlp.fc2"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, in -> a, out -> c]>}
// CHECK:         nn.linear "head"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @nearest_wins_per_iterator(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w1: tensor<4x4xf32> {nn.role = "parameter"},
      %w2: tensor<4x4xf32> {nn.role = "parameter"},
      %w3: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    %0 = nn.linear "mlp.fc1"(%x, %w1) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "mlp.fc2"(%0, %w2) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "head"(%1, %w3) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @nearest_wins_per_iterator {
    mesh [dp = 2, a = 2, b = 2, c = 2]
    split op [batch -> dp]
    node "mlp" {
      split op [in -> a, out -> b]
      node "fc2" { split op [out -> c] }
    }
  }
}

// -----

// Of two nodes that select the same operation from the same depth, the one
// written later wins.

// CHECK-LABEL: func.func @later_wins(
// CHECK:         nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[out -> b]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @later_wins(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @later_wins {
    mesh [a = 2, b = 2]
    node "*" { split op [out -> a] }
    node "fc" { split op [out -> b] }
  }
}

// -----

// `key -> []` says that the iterator is whole; that is written down, so that
// propagation leaves it alone.

// CHECK-LABEL: func.func @empty_list_is_not_split(
// CHECK:         nn.relu "a"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
// CHECK:         nn.relu "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> []]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @empty_list_is_not_split(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @empty_list_is_not_split {
    mesh [dp = 2]
    split op [batch -> dp]
    node "b" { split op [batch -> []] }
  }
}

// -----

// An operation takes the keys it has; a key that only some of the selected
// operations have is no error.

// CHECK-LABEL: func.func @keys_that_some_operations_have(
// CHECK:         nn.linear "m.fc"({{.*}}) {strategy.op = #strategy.partition<[out -> tp]>}
// CHECK:         nn.relu "m.act"(%{{.*}}) :
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @keys_that_some_operations_have(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    %0 = nn.linear "m.fc"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "m.act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @keys_that_some_operations_have {
    mesh [tp = 2]
    node "m" { split op [out -> tp] }
  }
}

// -----

// `batch` is the iterator that the batch of the inputs reaches, whatever the
// operation calls it: rows of a matrix product without leading dimensions.

// CHECK-LABEL: func.func @batch_under_another_name(
// CHECK:         nn.matmul "scores"({{.*}}) {strategy.op = #strategy.partition<[m -> dp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @batch_under_another_name(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<4x6xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    %0 = nn.matmul "scores"(%x, %w) : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @batch_under_another_name {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// The first dimension of a parameter is no batch, even where the operation calls
// it so: a conversion of a weight stays whole.

// CHECK-LABEL: func.func @batch_follows_the_inputs(
// CHECK:         nn.cast "activations"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
// CHECK-NEXT:    nn.cast "weights"(%{{[a-z0-9]+}}) :
// CHECK-NEXT:    nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @batch_follows_the_inputs(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xbf16> {
    %0 = nn.cast "activations"(%x) : (tensor<8x4xf32>) -> tensor<8x4xbf16>
    %1 = nn.cast "weights"(%w) : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    %2 = nn.linear "fc"(%0, %1) : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> tensor<8x4xbf16>
    return %2 : tensor<8x4xbf16>
  }
  strategy.tree @s for @batch_follows_the_inputs {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// An input that a repeat slices is a stack along its first dimension: its slices
// hold no batch.

// CHECK-LABEL: func.func @slices_of_inputs_hold_no_batch(
// CHECK:         nn.relu "sliced"(%{{[a-z0-9]+}}) :
// CHECK-NEXT:    nn.relu "carried"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
// CHECK-NEXT:    nn.add "sum"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @slices_of_inputs_hold_no_batch(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %s: tensor<3x8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 3
        carry(%h = %x : tensor<8x4xf32>)
        slice(%si = %s : tensor<3x8x4xf32> to tensor<8x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.relu "sliced"(%si) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %1 = nn.relu "carried"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %2 = nn.add "sum"(%1, %0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %2 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @slices_of_inputs_hold_no_batch {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// A parameter that is repeated along the batch is split as what it is joined with.

// CHECK-LABEL: func.func @repeated_along_the_batch(
// CHECK:         nn.broadcast "token"({{.*}}) {keep = array<i64: 1>, strategy.op = #strategy.partition<[batch -> dp]>}
// CHECK-NEXT:    nn.reshape "view"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
// CHECK-NEXT:    nn.add "sum"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @repeated_along_the_batch(
      %x: tensor<8x2x2xf32> {nn.role = "input"},
      %t: tensor<4xf32> {nn.role = "parameter"}) -> tensor<8x2x2xf32> {
    %0 = nn.broadcast "token"(%t) {keep = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
    %1 = nn.reshape "view"(%0) : (tensor<8x4xf32>) -> tensor<8x2x2xf32>
    %2 = nn.add "sum"(%x, %1) : (tensor<8x2x2xf32>, tensor<8x2x2xf32>) -> tensor<8x2x2xf32>
    return %2 : tensor<8x2x2xf32>
  }
  strategy.tree @s for @repeated_along_the_batch {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// Schedule and buckets of the tree end up on the function, micro-batches and
// devices in the mesh.

// CHECK:       #[[MESH:.*]] = #dist.mesh<[dp = 2], micro = 4, devices = [2, 5]>
// CHECK-LABEL: func.func @schedule_and_buckets(
// CHECK-SAME:    strategy.mesh = #[[MESH]]
// CHECK-SAME:    strategy.step = #dist.step<schedule = <order = gpipe, max_ongoing = 3>, buckets = <size = 4096, first = 1024>>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @schedule_and_buckets(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @schedule_and_buckets {
    mesh [dp = 2] devices [2, 5]
    schedule micro_batches = 4 order = "gpipe" max_ongoing = 3
    bucket size = 4096 first = 1024
  }
}

// -----

// The order of a schedule is 1f1b where the tree does not say.

// CHECK-LABEL: func.func @default_order(
// CHECK-NOT:     strategy.step
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @default_order(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @default_order {
    mesh [dp = 2]
    schedule micro_batches = 2
  }
}

// -----

// Storage of weight and state is written onto the parameter, per dimension; an
// iterator names the dimension that it indexes. Inputs have none.

// CHECK-LABEL: func.func @storage_of_parameters(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<8x4xf32> {nn.role = "input"}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6x4xf32> {nn.role = "parameter", strategy.state = {{\[\[}}"dp", "tp"], []], strategy.weight = {{\[\[}}"tp"], ["dp"]]}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<6xf32> {nn.role = "parameter", strategy.state = {{\[\[}}"dp", "tp"]], strategy.weight = {{\[\[}}"tp"]]}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @storage_of_parameters(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<6x4xf32> {nn.role = "parameter"},
      %b: tensor<6xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    %0 = nn.linear "fc"(%x, %w, %b) : (tensor<8x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @storage_of_parameters {
    mesh [dp = 2, tp = 2]
    node "fc" {
      split weight [out -> tp, in -> dp]
      split state [0 -> [dp, tp]]
    }
  }
}

// -----

// In a repeat, dimensions count within one layer: the stacked argument has one
// dimension more in front, which is whole.

// CHECK-LABEL: func.func @storage_of_stacked_parameters(
// CHECK-SAME:    tensor<3x4x4xf32> {nn.path = "layers[*].fc.weight", nn.role = "parameter", strategy.weight = {{\[\[}}], ["dp"], []]}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @storage_of_stacked_parameters(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %ws: tensor<3x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 3
        carry(%h = %x : tensor<8x4xf32>)
        slice(%w = %ws : tensor<3x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @storage_of_stacked_parameters {
    mesh [dp = 2]
    split weight [0 -> dp]
  }
}

// -----

// A parameter of a repeat in a repeat has two.

// CHECK-LABEL: func.func @storage_of_doubly_stacked_parameters(
// CHECK-SAME:    tensor<2x3x4x4xf32> {nn.path = "outer[*].inner[*].fc.weight", nn.role = "parameter", strategy.state = {{\[\[}}], [], [], ["dp"]], strategy.weight = {{\[\[}}], [], ["dp"], []]}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @storage_of_doubly_stacked_parameters(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %ws: tensor<2x3x4x4xf32> {nn.role = "parameter", nn.path = "outer[*].inner[*].fc.weight"}) -> tensor<8x4xf32> {
    %y = nn.repeat "outer" count 2
        carry(%h = %x : tensor<8x4xf32>)
        slice(%wi = %ws : tensor<2x3x4x4xf32> to tensor<3x4x4xf32>)
        -> (tensor<8x4xf32>) {
      %z = nn.repeat "inner" count 3
          carry(%g = %h : tensor<8x4xf32>)
          slice(%w = %wi : tensor<3x4x4xf32> to tensor<4x4xf32>)
          -> (tensor<8x4xf32>) {
        %0 = nn.linear "fc"(%g, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
        nn.yield %0 : tensor<8x4xf32>
      }
      nn.yield %z : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @storage_of_doubly_stacked_parameters {
    mesh [dp = 2]
    split weight [0 -> dp]
    split state [in -> dp]
  }
}

// -----

// Storage settings merge key by key, as those of the computation do: a node adds
// a dimension, and replaces one that it names as well.

// CHECK-LABEL: func.func @storage_merges_key_by_key(
// CHECK-SAME:    {nn.path = "a", nn.role = "parameter", strategy.weight = {{\[\[}}"dp"], []]}
// CHECK-SAME:    {nn.path = "b", nn.role = "parameter", strategy.state = {{\[\[}}], ["tp"]], strategy.weight = {{\[\[}}"dp"], ["tp"]]}
// CHECK-SAME:    {nn.path = "c", nn.role = "parameter", strategy.weight = {{\[\[}}"tp"], []]}
// CHECK-SAME:    {nn.path = "d", nn.role = "parameter", strategy.weight = {{\[\[}}], []]}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @storage_merges_key_by_key(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b"},
      %c: tensor<4x4xf32> {nn.role = "parameter", nn.path = "c"},
      %d: tensor<4x4xf32> {nn.role = "parameter", nn.path = "d"}) -> tensor<8x4xf32> {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "c"(%1, %c) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %3 = nn.linear "d"(%2, %d) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  strategy.tree @s for @storage_merges_key_by_key {
    mesh [dp = 2, tp = 2]
    split weight [0 -> dp]
    node "b" {
      split weight [1 -> tp]
      split state [1 -> tp]
    }
    node "c" { split weight [0 -> tp] }
    node "d" { split weight [0 -> []] }
  }
}

// -----

// Stages cut a repeat; five layers on two stages are three and two. Stacked
// arguments are cut alike, and say which layers they hold. What no node places
// joins its producers, else its readers.

// CHECK-LABEL: func.func @stages_cut_a_repeat(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x4xf32> {nn.role = "input", strategy.stage = 0 : i64}
// CHECK-SAME:    %[[W0:[a-z0-9]+]]: tensor<3x4x4xf32> {nn.path = "layers[0:3].fc.weight", nn.role = "parameter", strategy.stage = 0 : i64}
// CHECK-SAME:    %[[W1:[a-z0-9]+]]: tensor<2x4x4xf32> {nn.path = "layers[3:5].fc.weight", nn.role = "parameter", strategy.stage = 1 : i64}
// CHECK-SAME:    %[[B0:[a-z0-9]+]]: tensor<3x4xf32> {nn.path = "layers[0:3].fc.bias", nn.role = "parameter", strategy.stage = 0 : i64}
// CHECK-SAME:    %[[B1:[a-z0-9]+]]: tensor<2x4xf32> {nn.path = "layers[3:5].fc.bias", nn.role = "parameter", strategy.stage = 1 : i64}
// CHECK-SAME:    strategy.pipeline_axis = "pp"
// CHECK-NEXT:    %[[EMBEDDED:.*]] = nn.relu "embedding"(%[[X]]) {strategy.stage = 0 : i64}
// CHECK-NEXT:    %[[FIRST:.*]] = nn.repeat "layers" count 3
// CHECK-SAME:      carry(%{{.*}} = %[[EMBEDDED]] : tensor<8x4xf32>)
// CHECK-SAME:      slice(%{{.*}} = %[[W0]] : tensor<3x4x4xf32> to tensor<4x4xf32>, %{{.*}} = %[[B0]] : tensor<3x4xf32> to tensor<4xf32>)
// CHECK-SAME:      attributes {strategy.stage = 0 : i64}
// CHECK-NEXT:      nn.linear "fc"({{.*}}) {strategy.stage = 0 : i64}
// CHECK:         %[[SECOND:.*]] = nn.repeat "layers" first 3 count 2
// CHECK-SAME:      carry(%{{.*}} = %[[FIRST]] : tensor<8x4xf32>)
// CHECK-SAME:      slice(%{{.*}} = %[[W1]] : tensor<2x4x4xf32> to tensor<4x4xf32>, %{{.*}} = %[[B1]] : tensor<2x4xf32> to tensor<4xf32>)
// CHECK-SAME:      attributes {strategy.stage = 1 : i64}
// CHECK-NEXT:      nn.linear "fc"({{.*}}) {strategy.stage = 1 : i64}
// CHECK:         nn.relu "head"(%[[SECOND]]) {strategy.stage = 1 : i64}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @stages_cut_a_repeat(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %ws: tensor<5x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
      %bs: tensor<5x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.bias"}) -> tensor<8x4xf32> {
    %e = nn.relu "embedding"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.repeat "layers" count 5
        carry(%h = %e : tensor<8x4xf32>)
        slice(%w = %ws : tensor<5x4x4xf32> to tensor<4x4xf32>, %b = %bs : tensor<5x4xf32> to tensor<4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.linear "fc"(%h, %w, %b) : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    %z = nn.relu "head"(%y) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %z : tensor<8x4xf32>
  }
  strategy.tree @s for @stages_cut_a_repeat {
    mesh [pp = 2]
    node "layers[*]" { stages pp }
  }
}

// -----

// The modules on the stages may be parts of the layers, and later ones than the
// first: the rest of each layer joins them.

// CHECK-LABEL: func.func @stages_by_a_later_operation(
// CHECK:         nn.repeat "layers" count 1 {{.*}} attributes {strategy.stage = 0 : i64}
// CHECK-NEXT:      nn.linear "a"({{.*}}) {strategy.stage = 0 : i64}
// CHECK-NEXT:      nn.linear "b"({{.*}}) {strategy.stage = 0 : i64}
// CHECK:         nn.repeat "layers" first 1 count 1 {{.*}} attributes {strategy.stage = 1 : i64}
// CHECK-NEXT:      nn.linear "a"({{.*}}) {strategy.stage = 1 : i64}
// CHECK-NEXT:      nn.linear "b"({{.*}}) {strategy.stage = 1 : i64}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @stages_by_a_later_operation(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %as: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].a.weight"},
      %bs: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].b.weight"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 2
        carry(%h = %x : tensor<8x4xf32>)
        slice(%a = %as : tensor<2x4x4xf32> to tensor<4x4xf32>, %b = %bs : tensor<2x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.linear "a"(%h, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @stages_by_a_later_operation {
    mesh [pp = 2]
    node "layers[*].b" { stages pp }
  }
}

// -----

// Repeats in a repeat go where the outer one goes, layer by layer of the outer.

// CHECK-LABEL: func.func @stages_of_nested_repeats(
// CHECK-SAME:    tensor<1x3x4x4xf32> {nn.path = "outer[0:1].inner[*].fc.weight", nn.role = "parameter", strategy.stage = 0 : i64}
// CHECK-SAME:    tensor<1x3x4x4xf32> {nn.path = "outer[1:2].inner[*].fc.weight", nn.role = "parameter", strategy.stage = 1 : i64}
// CHECK:         nn.repeat "outer" count 1 {{.*}} attributes {strategy.stage = 0 : i64}
// CHECK-NEXT:      nn.repeat "inner" count 3 {{.*}} attributes {strategy.stage = 0 : i64}
// CHECK-NEXT:        nn.linear "fc"({{.*}}) {strategy.stage = 0 : i64}
// CHECK:         nn.repeat "outer" first 1 count 1 {{.*}} attributes {strategy.stage = 1 : i64}
// CHECK-NEXT:      nn.repeat "inner" count 3 {{.*}} attributes {strategy.stage = 1 : i64}
// CHECK-NEXT:        nn.linear "fc"({{.*}}) {strategy.stage = 1 : i64}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @stages_of_nested_repeats(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %ws: tensor<2x3x4x4xf32> {nn.role = "parameter", nn.path = "outer[*].inner[*].fc.weight"}) -> tensor<8x4xf32> {
    %y = nn.repeat "outer" count 2
        carry(%h = %x : tensor<8x4xf32>)
        slice(%wi = %ws : tensor<2x3x4x4xf32> to tensor<3x4x4xf32>)
        -> (tensor<8x4xf32>) {
      %z = nn.repeat "inner" count 3
          carry(%g = %h : tensor<8x4xf32>)
          slice(%w = %wi : tensor<3x4x4xf32> to tensor<4x4xf32>)
          -> (tensor<8x4xf32>) {
        %0 = nn.linear "fc"(%g, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
        nn.yield %0 : tensor<8x4xf32>
      }
      nn.yield %z : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @stages_of_nested_repeats {
    mesh [pp = 2]
    node "outer[*]" { stages pp }
  }
}

// -----

// Pieces of an argument without a path are told apart by their layers.

// CHECK-LABEL: func.func @pieces_without_a_path(
// CHECK-SAME:    tensor<1x4x4xf32> {nn.path = "arg1[0:1]", nn.role = "parameter"}
// CHECK-SAME:    tensor<2x4x4xf32> {nn.path = "arg1[1:3]", nn.role = "parameter"}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @pieces_without_a_path(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %ws: tensor<3x4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 3
        carry(%h = %x : tensor<8x4xf32>)
        slice(%w = %ws : tensor<3x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @pieces_without_a_path {
    mesh [tp = 2]
    node "layers[0]" { split op [out -> tp] }
  }
}

// -----

// A range in a pattern cuts a repeat as well, so that each piece is treated as
// one. The repeat starts at layer 2: patterns count layers of the model.

// CHECK-LABEL: func.func @ranges_cut_a_repeat(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<2x4x4xf32> {nn.path = "layers[2:4].fc.weight", nn.role = "parameter"}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<1x4x4xf32> {nn.path = "layers[4:5].fc.weight", nn.role = "parameter"}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<1x4x4xf32> {nn.path = "layers[5:6].fc.weight", nn.role = "parameter"}
// CHECK:         nn.repeat "layers" first 2 count 2
// CHECK-NEXT:      nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[out -> tp]>}
// CHECK:         nn.repeat "layers" first 4 count 1
// CHECK-NEXT:      nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[in -> tp]>}
// CHECK:         nn.repeat "layers" first 5 count 1
// CHECK-NEXT:      nn.linear "fc"(%{{.*}}, %{{.*}}) :
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @ranges_cut_a_repeat(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %ws: tensor<4x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" first 2 count 4
        carry(%h = %x : tensor<8x4xf32>)
        slice(%w = %ws : tensor<4x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @ranges_cut_a_repeat {
    mesh [tp = 2]
    node "layers[0:4]" { split op [out -> tp] }
    node "layers[4]" { split op [in -> tp] }
  }
}

// -----

// A pattern that treats all iterations alike does not cut.

// CHECK-LABEL: func.func @uniform_patterns_do_not_cut(
// CHECK:         nn.repeat "layers" count 4
// CHECK-NEXT:      nn.linear "fc"({{.*}}) {strategy.op = #strategy.partition<[out -> tp]>}
// CHECK-NOT:     nn.repeat
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @uniform_patterns_do_not_cut(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %ws: tensor<4x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<8x4xf32>)
        slice(%w = %ws : tensor<4x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @uniform_patterns_do_not_cut {
    mesh [tp = 2]
    node "layers[0:4]" { split op [out -> tp] }
  }
}

// -----

// `stages` counts the modules that the pattern matches, not the operations in
// them: three modules on two stages are two and one.

// CHECK-LABEL: func.func @stages_of_modules(
// CHECK:         nn.relu "block[0].a"({{.*}}) {strategy.stage = 0 : i64}
// CHECK:         nn.relu "block[0].b"({{.*}}) {strategy.stage = 0 : i64}
// CHECK:         nn.relu "block[1].a"({{.*}}) {strategy.stage = 0 : i64}
// CHECK:         nn.relu "block[2].a"({{.*}}) {strategy.stage = 1 : i64}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @stages_of_modules(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "block[0].a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "block[0].b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.relu "block[1].a"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %3 = nn.relu "block[2].a"(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  strategy.tree @s for @stages_of_modules {
    mesh [pp = 2]
    node "block[*]" { stages pp }
  }
}

// -----

// An operation that no node places joins the latest of its producers; without
// producers it joins the earliest of its readers; without either it is first.
// Operations are put in the order of their stages.

// CHECK-LABEL: func.func @unplaced_operations(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<8x4xf32> {nn.path = "x", nn.role = "input", strategy.stage = 1 : i64}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<4xf32> {nn.path = "w", nn.role = "parameter", strategy.stage = 1 : i64}
// CHECK:         nn.fill "alone"() {strategy.stage = 0 : i64
// CHECK:         nn.relu "reader_decides"({{.*}}) {strategy.stage = 1 : i64}
// CHECK:         nn.relu "a"({{.*}}) {strategy.stage = 1 : i64}
// CHECK:         nn.relu "b"({{.*}}) {strategy.stage = 2 : i64}
// CHECK:         nn.add "latest_producer"({{.*}}) {strategy.stage = 2 : i64}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @unplaced_operations(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<4xf32> {nn.role = "parameter", nn.path = "w"}) -> (tensor<8x4xf32>, tensor<4xf32>) {
    %0 = nn.relu "reader_decides"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.add "a_bias"(%0, %w) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %2 = nn.relu "a"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %3 = nn.relu "b"(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %4 = nn.add "latest_producer"(%2, %3) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %5 = nn.fill "alone"() {value = 0.0 : f64} : () -> tensor<4xf32>
    return %4, %5 : tensor<8x4xf32>, tensor<4xf32>
  }
  strategy.tree @s for @unplaced_operations {
    mesh [pp = 3]
    node "a" { at [pp = 1] }
    node "b" { at [pp = 2] }
  }
}

// -----

// Every stage loads the inputs it reads: an input of three stages becomes three
// arguments with the same path.

// CHECK-LABEL: func.func @inputs_are_loaded_per_stage(
// CHECK-SAME:    %[[X0:[a-z0-9]+]]: tensor<8x4xf32> {nn.path = "x", nn.role = "input", strategy.stage = 0 : i64}
// CHECK-SAME:    %[[X1:[a-z0-9]+]]: tensor<8x4xf32> {nn.path = "x", nn.role = "input", strategy.stage = 1 : i64}
// CHECK-SAME:    %[[X2:[a-z0-9]+]]: tensor<8x4xf32> {nn.path = "x", nn.role = "input", strategy.stage = 2 : i64}
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<8x4xf32> {nn.path = "y", nn.role = "input", strategy.stage = 0 : i64}
// CHECK:         nn.add "a"(%[[X0]], %[[Y]])
// CHECK:         nn.add "b"(%{{.*}}, %[[X1]])
// CHECK:         nn.add "c"(%{{.*}}, %[[X2]])
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @inputs_are_loaded_per_stage(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %y: tensor<8x4xf32> {nn.role = "input", nn.path = "y"}) -> tensor<8x4xf32> {
    %0 = nn.add "a"(%x, %y) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.add "b"(%0, %x) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.add "c"(%1, %x) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @inputs_are_loaded_per_stage {
    mesh [pp = 3]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
    node "c" { at [pp = 2] }
  }
}

// -----

// What the function returns as it came is read in no stage.

// CHECK-LABEL: func.func @returned_arguments(
// CHECK-SAME:    %[[X0:[a-z0-9]+]]: tensor<8x4xf32> {nn.path = "x", nn.role = "input"}
// CHECK-SAME:    %[[X1:[a-z0-9]+]]: tensor<8x4xf32> {nn.path = "x", nn.role = "input", strategy.stage = 1 : i64}
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "w", nn.role = "parameter", strategy.stage = 1 : i64}
// CHECK:         %[[Y:.*]] = nn.linear "a"(%[[X1]], %[[W]])
// CHECK-NEXT:    return %[[Y]], %[[X0]], %[[W]]
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @returned_arguments(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "w"}) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>) {
    %0 = nn.linear "a"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %0, %x, %w : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>
  }
  strategy.tree @s for @returned_arguments {
    mesh [pp = 2]
    node "a" { at [pp = 1] }
  }
}

// -----

// Every module that the pattern of a node matches is a recompute group of its
// own; a setting of the tree makes one group of the whole model.

// CHECK-LABEL: func.func @recompute_groups_are_modules(
// CHECK:         nn.relu "block[0].a"({{.*}}) {strategy.recompute = "block[0]"}
// CHECK:         nn.relu "block[0].b"({{.*}}) {strategy.recompute = "block[0]"}
// CHECK:         nn.relu "block[1].a"({{.*}}) {strategy.recompute = "block[1]"}
// CHECK:         nn.relu "head"(%{{.*}}) :
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @recompute_groups_are_modules(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "block[0].a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "block[0].b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.relu "block[1].a"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %3 = nn.relu "head"(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  strategy.tree @s for @recompute_groups_are_modules {
    mesh [dp = 2]
    node "block[*]" { recompute }
  }
}

// -----

// CHECK-LABEL: func.func @recompute_of_the_tree(
// CHECK:         nn.relu "a"({{.*}}) {strategy.recompute = "recompute_of_the_tree"}
// CHECK:         nn.relu "b"({{.*}}) {strategy.recompute = "recompute_of_the_tree"}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @recompute_of_the_tree(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @recompute_of_the_tree {
    mesh [dp = 2]
    recompute
  }
}

// -----

// In a repeat every iteration is a module of its own.

// CHECK-LABEL: func.func @recompute_in_a_repeat(
// CHECK:         nn.repeat "layers" count 3
// CHECK-NEXT:      nn.relu "a"({{.*}}) {strategy.recompute = "layers[*]"}
// CHECK-NEXT:      nn.relu "b"({{.*}}) {strategy.recompute = "layers[*]"}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @recompute_in_a_repeat(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %0 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %1 = nn.relu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @recompute_in_a_repeat {
    mesh [dp = 2]
    node "layers[*]" { recompute }
  }
}

// -----

// Modules within a layer are groups of their own.

// CHECK-LABEL: func.func @recompute_parts_of_a_layer(
// CHECK:         nn.repeat "layers" count 3
// CHECK-NEXT:      nn.relu "a.x"({{.*}}) {strategy.recompute = "layers[*].a"}
// CHECK-NEXT:      nn.relu "a.y"({{.*}}) {strategy.recompute = "layers[*].a"}
// CHECK-NEXT:      nn.relu "b"({{.*}}) {strategy.recompute = "layers[*].b"}
// CHECK-NEXT:      nn.relu "c"(%{{[a-z0-9]+}}) :
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @recompute_parts_of_a_layer(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %0 = nn.relu "a.x"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %1 = nn.relu "a.y"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %2 = nn.relu "b"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %3 = nn.relu "c"(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %3 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @recompute_parts_of_a_layer {
    mesh [dp = 2]
    node "layers[*].a" { recompute }
    node "layers[*].b" { recompute }
  }
}

// -----

// A module that holds a repeat is recomputed layer by layer.

// CHECK-LABEL: func.func @recompute_around_a_repeat(
// CHECK:         nn.relu "decoder.in"({{.*}}) {strategy.recompute = "decoder"}
// CHECK:         nn.repeat "decoder.layers" count 3
// CHECK-NEXT:      nn.relu "a"({{.*}}) {strategy.recompute = "decoder.layers[*]"}
// CHECK:         nn.relu "head"(%{{[a-z0-9#]+}}) :
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @recompute_around_a_repeat(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %e = nn.relu "decoder.in"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %y = nn.repeat "decoder.layers" count 3 carry(%h = %e : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %0 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    %z = nn.relu "head"(%y) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %z : tensor<8x4xf32>
  }
  strategy.tree @s for @recompute_around_a_repeat {
    mesh [dp = 2]
    node "decoder" { recompute }
  }
}

// -----

// Patterns: `*` is one component, `**` any number, a name without an index
// matches with any index.

// CHECK-LABEL: func.func @patterns(
// CHECK:         nn.relu "a.x"({{.*}}) {strategy.op = #strategy.partition<[hidden -> one]>}
// CHECK:         nn.relu "a.m.x"({{.*}}) {strategy.op = #strategy.partition<[batch -> any]>}
// CHECK:         nn.relu "b[3].y"({{.*}}) {strategy.op = #strategy.partition<[hidden -> any]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @patterns(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a.x"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "a.m.x"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.relu "b[3].y"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @patterns {
    mesh [one = 2, any = 2]
    node "*.x" { split op [hidden -> one] }
    node "**.m.x" { split op [batch -> any] }
    node "b" { split op [hidden -> any] }
  }
}

// -----

// The function that the tree is not for stays as it is.

// CHECK-LABEL: func.func @other(%{{.*}}: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
// CHECK-NEXT:    nn.relu "a"(%{{.*}}) :
// CHECK-LABEL: func.func @chosen(
// CHECK:         nn.relu "a"({{.*}}) {strategy.op
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @other(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  func.func @chosen(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @chosen {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// The remainder goes to the first stages: 7 layers on 3 stages are 3, 2 and 2.

// CHECK-LABEL: func.func @remainder_goes_to_the_first_stages(
// CHECK:         nn.repeat "layers" count 3 {{.*}}strategy.stage = 0
// CHECK:         nn.repeat "layers" first 3 count 2 {{.*}}strategy.stage = 1
// CHECK:         nn.repeat "layers" first 5 count 2 {{.*}}strategy.stage = 2
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @remainder_goes_to_the_first_stages(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 7 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %0 = nn.relu "act"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @remainder_goes_to_the_first_stages {
    mesh [pp = 3]
    node "layers[*]" { stages pp }
  }
}

// -----

// Parts of an axis become axes of the mesh, cut where a use begins or ends. The
// whole axis is the list of its parts; parts that always stand together are not
// cut (e), and names that are taken are made different.

// CHECK-LABEL: func.func @parts_of_axes
// CHECK-SAME:  strategy.mesh = #[[MESH:[a-z0-9]+]]
// CHECK:       nn.linear "a"
// CHECK-SAME:  strategy.op = #strategy.partition<[batch -> [d_0, d__1], out -> e]>
// CHECK:       nn.linear "b"
// CHECK-SAME:  strategy.op = #strategy.partition<[batch -> d_0, out -> d__1]>
// CHECK:       strategy.tree
// CHECK:       mesh [d_0 = 2, d__1 = 2, e = 4, d_1 = 1]
module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @parts_of_axes(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %v: tensor<16x16xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %w: tensor<16x16xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<8x16xf32> {
    %0 = nn.linear "a"(%x, %v) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %1 = nn.linear "b"(%0, %w) : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  strategy.tree @s for @parts_of_axes {
    mesh [d = 4, e = 4, d_1 = 1]
    split op [batch -> d]
    node "a" { split op [out -> [e:(1)2, e:(2)2]] }
    node "b" { split op [batch -> d:(1)2, out -> d:(2)2] }
  }
}

// -----

// Operations at single positions of an axis: splits over it are dropped there, and
// parameters and inputs that they alone read are there.

// CHECK-LABEL: func.func @places(
// CHECK-SAME:    nn.path = "a"{{[^}]*}}strategy.place = [#strategy.coordinate<dp = 1>]
// CHECK-SAME:    nn.path = "tables[0].weight"{{[^}]*}}strategy.place = [#strategy.coordinate<dp = 1>]
// CHECK:         nn.embedding "tables[0]"({{.*}}) {strategy.op = #strategy.partition<[batch -> []]>, strategy.place = [#strategy.coordinate<dp = 1>]}
// CHECK:         nn.embedding "tables[1]"({{.*}}) {strategy.op = #strategy.partition<[batch -> [], vocab -> tp]>, strategy.place = [#strategy.coordinate<dp = 0>]}
// CHECK:         nn.add "sum"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @places(
      %a: tensor<8xi32> {nn.role = "input", nn.path = "a"},
      %ta: tensor<10x6xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %b: tensor<8xi32> {nn.role = "input", nn.path = "b"},
      %tb: tensor<8x6xf32> {nn.role = "parameter", nn.path = "tables[1].weight"}) -> tensor<8x6xf32> {
    %0 = nn.embedding "tables[0]"(%a, %ta) : (tensor<8xi32>, tensor<10x6xf32>) -> tensor<8x6xf32>
    %1 = nn.embedding "tables[1]"(%b, %tb) : (tensor<8xi32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %2 = nn.add "sum"(%0, %1) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    return %2 : tensor<8x6xf32>
  }
  strategy.tree @s for @places {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "tables[0]" { at [dp = 1] }
    node "tables[1]" {
      at [dp = 0]
      split op [vocab -> tp]
    }
  }
}

//--- options.mlir

// The options select one of several trees, and a cluster, which replaces the
// one of the module: it has two nodes, and so room for the mesh.

// CHECK:       module attributes {proteus.cluster = "dgx-a100:2"}
// CHECK-LABEL: func.func @options(
// CHECK-SAME:    strategy.tree = @wide
// CHECK:         nn.relu "a"({{.*}}) {strategy.op = #strategy.partition<[batch -> wide]>}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @options(%x: tensor<16x4xf32> {nn.role = "input"}) -> tensor<16x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<16x4xf32>) -> tensor<16x4xf32>
    return %0 : tensor<16x4xf32>
  }
  strategy.tree @narrow for @options {
    mesh [narrow = 2]
    split op [batch -> narrow]
  }
  strategy.tree @wide for @options {
    mesh [wide = 16]
    split op [batch -> wide]
  }
}
