// RUN: proteus-opt %s | proteus-opt | FileCheck %s
// RUN: proteus-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: proteus-opt %s --mlir-print-op-generic | proteus-opt | FileCheck %s
// RUN: proteus-opt %s --emit-bytecode | proteus-opt | FileCheck %s

func.func private @gpt()

// The whole tree, nested settings without the prefix of the dialect.

// CHECK-LABEL: strategy.tree @megatron for @gpt {
// CHECK-NEXT:    mesh [dp = 16, pp = 8, tp = 8]
// CHECK-NEXT:    schedule micro_batches = 96 order = "1f1b"
// CHECK-NEXT:    bucket size = 26214400 first = 1048576
// CHECK-NEXT:    split op [batch -> dp]
// CHECK-NEXT:    node "embedding" {
// CHECK-NEXT:      split op [vocab -> tp]
// CHECK-NEXT:    }
// CHECK-NEXT:    node "layers[*]" {
// CHECK-NEXT:      stages pp
// CHECK-NEXT:      recompute
// CHECK-NEXT:      node "attention.qkv" {
// CHECK-NEXT:        split op [out -> tp]
// CHECK-NEXT:      }
// CHECK-NEXT:      node "attention.proj" {
// CHECK-NEXT:        split op [in -> tp]
// CHECK-NEXT:        split weight [0 -> [dp, tp]]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    node "head" {
// CHECK-NEXT:      at [pp = 7]
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// GENERIC-LABEL: "strategy.tree"() <{model = @gpt, sym_name = "megatron"}> ({
// GENERIC:         "strategy.mesh"() <{axes = [#strategy.axis<dp = 16>, #strategy.axis<pp = 8>, #strategy.axis<tp = 8>]}>
// GENERIC:         "strategy.schedule"() <{micro_batches = 96 : i64, order = "1f1b"}>
// GENERIC:         "strategy.bucket"() <{first = 1048576 : i64, size = 26214400 : i64}>
// GENERIC:         "strategy.split"() <{item = #strategy.item<op>, partition = #strategy.partition<[batch -> dp]>}>
// GENERIC:         "strategy.node"() <{pattern = "layers[*]"}> ({
// GENERIC:           "strategy.stages"() <{axis = "pp"}>
// GENERIC:           "strategy.recompute"()
// GENERIC:           "strategy.split"() <{item = #strategy.item<weight>, partition = #strategy.partition<[0 -> [dp, tp]]>}>
// GENERIC:         "strategy.at"() <{coordinates = [#strategy.coordinate<pp = 7>]}>
strategy.tree @megatron for @gpt {
  mesh [dp = 16, pp = 8, tp = 8]
  schedule micro_batches = 96 order = "1f1b"
  bucket size = 26214400 first = 1048576
  split op [batch -> dp]
  node "embedding" {
    split op [vocab -> tp]
  }
  node "layers[*]" {
    stages pp
    recompute
    node "attention.qkv" { split op [out -> tp] }
    node "attention.proj" {
      split op [in -> tp]
      split weight [0 -> [dp, tp]]
    }
  }
  node "head" { at [pp = 7] }
}

// Every item; the order of keys is kept; one axis needs no brackets.

// CHECK-LABEL: strategy.tree @items for @gpt {
// CHECK-NEXT:    mesh [a = 2, b = 1, size = 2]
// CHECK-NEXT:    split op [z -> a, y -> b]
// CHECK-NEXT:    split weight [out -> size]
// CHECK-NEXT:    split gradient [1 -> [b, a], 0 -> size]
// CHECK-NEXT:    split state [0 -> a]
// CHECK-NEXT:    split output [batch -> a]
// CHECK-NEXT:    split output_gradient [batch -> []]
// CHECK-NEXT:    split input 0 [batch -> a]
// CHECK-NEXT:    split input 1 [batch -> b]
// CHECK-NEXT:  }
// GENERIC-LABEL: sym_name = "items"
// GENERIC:         #strategy.item<input 1>
strategy.tree @items for @gpt {
  mesh [a = 2, b = 1, size = 2]
  split op [z -> a, y -> b]
  split weight [out -> [size]]
  split gradient [1 -> [b, a], 0 -> size]
  split state [0 -> a]
  split output [batch -> a]
  split output_gradient [batch -> []]
  split input 0 [batch -> a]
  split input 1 [batch -> b]
}

// Options of mesh, schedule, bucket and at; settings of the whole model.

// CHECK-LABEL: strategy.tree @options for @gpt {
// CHECK-NEXT:    mesh [dp = 2, pp = 2] devices [0, 1, 4, 5]
// CHECK-NEXT:    schedule micro_batches = 8 order = "gpipe" max_ongoing = 4 virtual_stages = 2
// CHECK-NEXT:    bucket first = 1 gather = 2 by_operation all_reduce
// CHECK-NEXT:    recompute
// CHECK-NEXT:    at [pp = 0, dp = 1]
// CHECK-NEXT:  }
// GENERIC-LABEL: sym_name = "options"
// GENERIC:         devices = array<i64: 0, 1, 4, 5>
// GENERIC:         max_ongoing = 4 : i64, micro_batches = 8 : i64, order = "gpipe", virtual_stages = 2 : i64
strategy.tree @options for @gpt {
  mesh [dp = 2, pp = 2] devices [0, 1, 4, 5]
  schedule micro_batches = 8 order = "gpipe" max_ongoing = 4 virtual_stages = 2
  bucket first = 1 gather = 2 by_operation all_reduce
  recompute
  at [pp = 0, dp = 1]
}

// What runs beside what, and when parameters are gathered.

// CHECK-LABEL: strategy.tree @overlap for @gpt {
// CHECK-NEXT:    mesh [dp = 2]
// CHECK-NEXT:    bucket size = 8 per_layer
// CHECK-NEXT:    overlap tensor = "chunked" chunks = 8 messages = false
// CHECK-NEXT:    prefetch depth = 2 once
// CHECK-NEXT:  }
strategy.tree @overlap for @gpt {
  mesh [dp = 2]
  bucket size = 8 per_layer
  overlap tensor = "chunked" chunks = 8 messages = false
  prefetch depth = 2 once
}

// The prefix may be written; attributes and empty nodes are kept.

// CHECK-LABEL: strategy.tree @spelled for @gpt attributes {note = "x"} {
// CHECK-NEXT:    mesh [dp = 1] {note = 1 : i64}
// CHECK-NEXT:    schedule micro_batches = 1
// CHECK-NEXT:    bucket size = 1
// CHECK-NEXT:    node "**.mlp[0:4].*" attributes {note = "y"} {
// CHECK-NEXT:    }
// CHECK-NEXT:  }
strategy.tree @spelled for @gpt attributes {note = "x"} {
  strategy.mesh [dp = 1] {note = 1 : i64}
  strategy.schedule micro_batches = 1
  strategy.bucket size = 1
  strategy.node "**.mlp[0:4].*" attributes {note = "y"} {}
}

// The largest mesh, and a device id that is not small.

// CHECK-LABEL: strategy.tree @large for @gpt {
// CHECK-NEXT:    mesh [a = 65536, b = 32768]
strategy.tree @large for @gpt {
  mesh [a = 65536, b = 32768]
}

// CHECK-LABEL: strategy.tree @far for @gpt {
// CHECK-NEXT:    mesh [a = 1] devices [9223372036854775807]
strategy.tree @far for @gpt {
  mesh [a = 1] devices [9223372036854775807]
}

// Attributes stand alone as well.

// CHECK-LABEL: func.func private @attributes
// CHECK-SAME:    a = #strategy.partition<[batch -> dp, out -> [a, b]]>
// CHECK-SAME:    b = #strategy.part<0 -> tp>
// CHECK-SAME:    c = #strategy.item<input 2>
// CHECK-SAME:    d = #strategy.axis<dp = 16>
// CHECK-SAME:    e = #strategy.coordinate<pp = 7>
func.func private @attributes() attributes {
  a = #strategy.partition<[batch -> [dp], out -> [a, b]]>,
  b = #strategy.part<0 -> tp>,
  c = #strategy.item<input 2>,
  d = #strategy.axis<dp = 16>,
  e = #strategy.coordinate<pp = 7>
}

// Where parameters come from and what lies on the host.

// CHECK-LABEL: strategy.tree @sharded for @gpt {
// CHECK:         split gradient [0 -> dp]
// CHECK-NEXT:    split output [1 -> dp]
// CHECK-NEXT:    split output_gradient [1 -> dp]
// CHECK-NEXT:    split input 0 [seq -> []]
// CHECK-NEXT:    prefetch depth = 2 reshard_after_forward = false
// CHECK-NEXT:    offload state
// CHECK-NEXT:    node "layers[*]" {
// CHECK-NEXT:      prefetch depth = 0
// CHECK-NEXT:      offload weight state activation
// CHECK-NEXT:      node "fc" {
// CHECK-NEXT:        prefetch reshard_after_forward = true
// CHECK-NEXT:        offload none
strategy.tree @sharded for @gpt {
  mesh [dp = 4]
  split gradient [0 -> dp]
  split output [1 -> dp]
  split output_gradient [1 -> dp]
  split input 0 [seq -> []]
  prefetch depth = 2 reshard_after_forward = false
  offload state
  node "layers[*]" {
    prefetch depth = 0
    offload weight state activation
    node "fc" {
      prefetch reshard_after_forward = true
      offload none
    }
  }
}

// Work listed stage by stage, and stages of unequal length.

// CHECK-LABEL: strategy.tree @listed for @gpt
// CHECK:         schedule micro_batches = 2 order = "explicit" virtual_stages = 2
// CHECK-NEXT:    order stage 0 [F0, F1.1, I0, W0.1]
// CHECK-NEXT:    order stage 1 [B0]
// CHECK:           stages pp of [3, 4, 4, 1]
// GENERIC:       "strategy.order"() <{items = ["F0", "F1.1", "I0", "W0.1"], stage = 0 : i64}>
// GENERIC:       "strategy.stages"() <{axis = "pp", counts = array<i64: 3, 4, 4, 1>}>
strategy.tree @listed for @gpt {
  mesh [pp = 2]
  schedule micro_batches = 2 order = "explicit" virtual_stages = 2
  order stage 0 [F0, F1.1, I0, W0.1]
  order stage 1 [B0]
  node "layers[*]" {
    stages pp of [3, 4, 4, 1]
  }
}

// CHECK-LABEL: strategy.tree @parts_of_axes
strategy.tree @parts_of_axes for @gpt {
  mesh [d = 8, p = 4]
  // CHECK: scatter_gather
  scatter_gather
  // CHECK: split op [batch -> d:(1)2, out -> [d:(2)2, d:(4)2]]
  split op [batch -> d:(1)2, out -> [d:(2)2, d:(4)2]]
  node "a" {
    // CHECK: at [p:(2)2 = 1]
    at [p:(2)2 = 1]
  }
  node "b" {
    // CHECK: stages p:(1)2
    stages p:(1)2
  }
}

// CHECK-LABEL: strategy.tree @context
strategy.tree @context for @gpt {
  mesh [dp = 2, cp = 4]
  // CHECK: split op [batch -> dp, seq -> zigzag cp, key -> ring zigzag cp]
  split op [batch -> dp, seq -> zigzag cp, key -> ring zigzag cp]
  // CHECK: split op [seq -> zigzag [dp, cp], key -> ring [dp, cp]]
  node "layers" { split op [seq -> zigzag [dp, cp], key -> ring [dp, cp]] }
}
