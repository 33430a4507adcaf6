// RUN: proteus-opt %s -split-input-file -verify-diagnostics

// A tree has a mesh.
func.func private @f()
// expected-error@+1 {{'strategy.tree' op has no mesh; add one, such as mesh [dp = 8]}}
strategy.tree @t for @f {
}

// -----

// A tree has one mesh.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the first is here}}
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.mesh' op is the second mesh of tree @t; keep one of them}}
  mesh [dp = 8]
}

// -----

// A tree is for a function that exists.
// expected-error@+1 {{'strategy.tree' op is for @f, which is not defined; define func.func @f in the same module}}
strategy.tree @t for @f {
  mesh [dp = 8]
}

// -----

// A tree is for a function.
// expected-note@+1 {{@f is defined here}}
module @f {
}
// expected-error@+1 {{'strategy.tree' op is for @f, which is a 'builtin.module'; a strategy is for a func.func}}
strategy.tree @t for @f {
  mesh [dp = 8]
}

// -----

// A tree holds operations of the dialect only.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' does not belong in tree @t; a strategy holds operations of the strategy dialect only}}
  %0 = builtin.unrealized_conversion_cast to i32
}

// -----

// A node stands in a tree.
// expected-error@+1 {{'strategy.node' op expects parent op to be one of 'strategy.tree, strategy.node'}}
strategy.node "a" {
}

// -----

// A tree does not stand in a tree.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 8]
  // expected-error@+1 {{'strategy.tree' op symbol's parent must have the SymbolTable trait}}
  tree @u for @f {
    mesh [dp = 8]
  }
}

// -----

// A mesh has axes.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{'strategy.mesh' op has no axes; write at least one, such as [dp = 8]}}
  mesh []
}

// -----

// An axis has at least one position.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{'strategy.mesh' op axis 'tp' has size 0; a size must be at least 1}}
  mesh [dp = 2, tp = 0]
}

// -----

// Axis names are distinct.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{'strategy.mesh' op axis 'dp' is given twice; axis names are distinct}}
  mesh [dp = 2, dp = 4]
}

// -----

// The name micro is reserved.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{'strategy.mesh' op axis name 'micro' is reserved for micro-batches; rename it}}
  mesh [micro = 2]
}

// -----

// A mesh has at most 2^31 devices.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{'strategy.mesh' op axis 'b' of size 32769 times 65536 devices of the axes before it exceeds the limit of 2147483648 devices}}
  mesh [a = 65536, b = 32769]
}

// -----

// The number of devices does not overflow.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{'strategy.mesh' op axis 'b' of size 9223372036854775807 times 4 devices of the axes before it exceeds the limit of 2147483648 devices}}
  mesh [a = 4, b = 9223372036854775807]
}

// -----

// There is one device per position.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{'strategy.mesh' op lists 3 devices, but the axes have 4 positions; list one device for each}}
  mesh [dp = 2, tp = 2] devices [0, 1, 2]
}

// -----

// Devices are distinct.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{'strategy.mesh' op lists device 1 twice; a device has one position}}
  mesh [dp = 3] devices [0, 1, 1]
}

// -----

// Devices are not negative.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{'strategy.mesh' op lists the negative device -1; device ids start at 0}}
  mesh [dp = 2] devices [0, -1]
}

// -----

// An axis name is an identifier.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{axis 'd.p' is not an identifier; use letters, digits and '_', not a digit first}}
  mesh [d.p = 2]
}

// -----

// An axis has a name.
func.func private @f()
strategy.tree @t for @f {
  // expected-error@+1 {{expected the name of an axis}}
  mesh [4]
}

// -----

// The mesh is not set in a node.
func.func private @f()
// expected-note@+1 {{tree @t is here}}
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-error@+1 {{'strategy.mesh' op mesh belongs to the tree; move it out of node "a"}}
    mesh [dp = 8]
  }
}

// -----

// The schedule is not set in a node.
func.func private @f()
// expected-note@+1 {{tree @t is here}}
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-error@+1 {{'strategy.schedule' op schedule belongs to the tree; move it out of node "a"}}
    schedule micro_batches = 8
  }
}

// -----

// The bucket is not set in a node.
func.func private @f()
// expected-note@+1 {{tree @t is here}}
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-error@+1 {{'strategy.bucket' op bucket belongs to the tree; move it out of node "a"}}
    bucket size = 8
  }
}

// -----

// The schedule is not set outside a tree.
// expected-error@+1 {{'strategy.schedule' op schedule belongs to the tree; put it directly into a strategy.tree}}
strategy.schedule micro_batches = 8

// -----

// micro_batches is at least 1.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.schedule' op micro_batches = 0 is too small; it must be at least 1}}
  schedule micro_batches = 0
}

// -----

// max_ongoing is at least 1.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.schedule' op max_ongoing = 0 is too small; it must be at least 1}}
  schedule micro_batches = 8 max_ongoing = 0
}

// -----

// virtual_stages is at least 1.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.schedule' op virtual_stages = 0 is too small; it must be at least 1}}
  schedule micro_batches = 8 virtual_stages = 0
}

// -----

// The order is a known one.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.schedule' op unknown order "2f2b"; known are "gpipe", "1f1b", "interleaved", "zero-bubble", "explicit"}}
  schedule micro_batches = 8 order = "2f2b"
}

// -----

// There is one schedule.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-note@+1 {{the first is here}}
  schedule micro_batches = 8
  // expected-error@+1 {{'strategy.schedule' op is the second schedule of tree @t; keep one of them}}
  schedule micro_batches = 4
}

// -----

// A bucket has a size.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.bucket' op has no size; give 'size', 'first' or both, in bytes, or 'per_layer'}}
  bucket
}

// -----

// The size of a bucket is at least 1.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.bucket' op size = 0 is too small; it must be at least 1}}
  bucket size = 0
}

// -----

// The size of the first bucket is at least 1.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.bucket' op first = -5 is too small; it must be at least 1}}
  bucket size = 8 first = -5
}

// -----

// The size of a bucket of updated parameters is at least 1.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.bucket' op gather = 0 is too small; it must be at least 1}}
  bucket size = 8 gather = 0
}

// -----

// There is one bucket setting.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-note@+1 {{the first is here}}
  bucket size = 8
  // expected-error@+1 {{'strategy.bucket' op is the second bucket of tree @t; keep one of them}}
  bucket first = 4
}

// -----

// A pattern is well-formed.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.node' op has the malformed pattern "layers[": expected an index, a range or '*' at position 7, found the end of the pattern}}
  node "layers[" {
  }
}

// -----

// A pattern is well-formed.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.node' op has the malformed pattern "a..b": expected a name, '*' or '**' at position 2, found '.'}}
  node "a..b" {
  }
}

// -----

// A pattern is well-formed.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.node' op has the malformed pattern "": expected a name, '*' or '**' at position 0, found the end of the pattern}}
  node "" {
  }
}

// -----

// A pattern is well-formed.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.node' op has the malformed pattern "a[3:2]": the range 3:2 at position 2 is empty; its end is exclusive}}
  node "a[3:2]" {
  }
}

// -----

// A split names axes of the mesh.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the mesh is here}}
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.split' op unknown axis 'pp'; the axes of the mesh are dp, tp}}
  split op [batch -> [dp, pp]]
}

// -----

// A split in a nested node names axes of the mesh; all offenders are reported.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the mesh is here}}
  mesh [dp = 2, tp = 4]
  node "a" {
    node "b" {
      // expected-error@+1 {{'strategy.split' op unknown axis 'pp'; the axes of the mesh are dp, tp}}
      split op [batch -> pp]
      // expected-error@+1 {{'strategy.split' op unknown axis 'pp'; the axes of the mesh are dp, tp}}
      split weight [0 -> pp]
    }
  }
}

// -----

// An axis splits one key.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.split' op axis 'tp' is used twice, for iterator 'out' and for dimension 0; an axis splits one key, once}}
  split weight [out -> tp, 0 -> tp]
}

// -----

// An axis splits a key once.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.split' op axis 'tp' is used twice, for iterator 'out' and for iterator 'out'; an axis splits one key, once}}
  split op [out -> [tp, tp]]
}

// -----

// An iterator is given once.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.split' op iterator 'out' is given twice; list all its axes in one arrow}}
  split op [out -> tp, out -> dp]
}

// -----

// A dimension is given once.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.split' op dimension 0 is given twice; list all its axes in one arrow}}
  split weight [0 -> tp, 0 -> dp]
}

// -----

// An item is split once per node.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-note@+1 {{the first is here}}
    split weight [0 -> tp]
    split gradient [0 -> tp]
    // expected-error@+1 {{'strategy.split' op is the second split of 'weight' of node "a"; keep one of them}}
    split weight [1 -> dp]
  }
}

// -----

// An input is split once per node.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-note@+1 {{the first is here}}
  split input 1 [0 -> tp]
  split input 0 [0 -> tp]
  // expected-error@+1 {{'strategy.split' op is the second split of 'input 1' of tree @t; keep one of them}}
  split input 1 [0 -> dp]
}

// -----

// A computation is split by iterators.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.split' op names dimension 0, but 'op' takes iterator names; split a memory item, such as 'weight', by dimension}}
  split op [0 -> tp]
}

// -----

// A dimension is not negative.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.split' op names dimension -1; dimensions start at 0}}
  split weight [-1 -> tp]
}

// -----

// A partition is not empty.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.split' op has an empty partition; write at least one arrow, such as [batch -> dp]}}
  split op []
}

// -----

// An item is a known one.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{expected an item: op, weight, gradient, state, output, output_gradient or input with a number}}
  split bias [0 -> tp]
}

// -----

// An input has a number.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{item 'input' needs the number of an operand, such as 'input 0'}}
  split input [0 -> tp]
}

// -----

// Only an input has a number.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{item 'weight' takes no operand number, got 1}}
  split weight 1 [0 -> tp]
}

// -----

// An operand number is not negative.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{operand number -1 of item 'input' is negative}}
  split input -1 [0 -> tp]
}

// -----

// A key is an iterator or a dimension.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{expected the name of an iterator}}
  split op ["batch" -> tp]
}

// -----

// A split stands in a tree.
// expected-error@+1 {{'strategy.split' op expects parent op to be one of 'strategy.tree, strategy.node'}}
strategy.split op [batch -> dp]

// -----

// A placement names axes of the mesh.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the mesh is here}}
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-error@+1 {{'strategy.at' op unknown axis 'pp'; the axes of the mesh are dp, tp}}
    at [pp = 0]
  }
}

// -----

// A position lies on its axis.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the mesh is here}}
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-error@+1 {{'strategy.at' op position 4 is outside axis 'tp' of size 4; positions are 0 to 3}}
    at [tp = 4]
  }
}

// -----

// A position is not negative.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the mesh is here}}
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-error@+1 {{'strategy.at' op position -1 is outside axis 'tp' of size 4; positions are 0 to 3}}
    at [tp = -1]
  }
}

// -----

// A placement has one position per axis.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.at' op axis 'tp' is given twice, at 0 and at 1; give one position}}
  at [tp = 0, tp = 1]
}

// -----

// A placement is not empty.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.at' op has no coordinates; write at least one, such as [pp = 0]}}
  at []
}

// -----

// Stages name an axis of the mesh.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the mesh is here}}
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-error@+1 {{'strategy.stages' op unknown axis 'pp'; the axes of the mesh are dp, tp}}
    stages pp
  }
}

// -----

// Stages are cut in a node.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{'strategy.stages' op stages belongs to a node; it cuts the modules that the node's pattern matches}}
  stages dp
}

// -----

// The axis of stages is an identifier.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-error@+1 {{'strategy.stages' op axis 'd p' is neither an identifier nor a sub-axis; write 'd' or 'd:(1)2'}}
    "strategy.stages"() {axis = "d p"} : () -> ()
  }
}

// -----

// A node has one at.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-note@+1 {{the first is here}}
    at [dp = 0]
    // expected-error@+1 {{'strategy.at' op is the second at of node "a"; keep one of them}}
    at [dp = 0]
  }
}

// -----

// A node has one stages.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-note@+1 {{the first is here}}
    stages dp
    // expected-error@+1 {{'strategy.stages' op is the second stages of node "a"; keep one of them}}
    stages dp
  }
}

// -----

// A node has one recompute.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-note@+1 {{the first is here}}
    recompute
    // expected-error@+1 {{'strategy.recompute' op is the second recompute of node "a"; keep one of them}}
    recompute
  }
}

// -----

// A node is placed either by position or in stages.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  node "a" {
    // expected-note@+1 {{the other placement is here}}
    at [dp = 0]
    // expected-error@+1 {{'strategy.stages' op places node "a" a second time; use either at or stages}}
    stages dp
  }
}

// -----

// An iterator name is an identifier.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 2, tp = 4]
  // expected-error@+1 {{iterator 'a.b' is not an identifier; use letters, digits and '_', not a digit first}}
  split op [a.b -> tp]
}

// -----

func.func private @gpt()
strategy.tree @s for @gpt {
  mesh [dp = 4]
  // expected-error@+1 {{'strategy.prefetch' op sets nothing; give 'depth', 'reshard_after_forward' or 'once'}}
  prefetch
}

// -----

func.func private @gpt()
strategy.tree @s for @gpt {
  mesh [dp = 4]
  // expected-error@+1 {{'strategy.prefetch' op depth = -1 is negative; 0 gathers a layer's parameters when it starts}}
  prefetch depth = -1
}

// -----

func.func private @gpt()
strategy.tree @s for @gpt {
  mesh [dp = 4]
  // expected-error@+1 {{'strategy.offload' op names no item; name 'weight', 'state' or 'activation', or 'none'}}
  offload
}

// -----

func.func private @gpt()
strategy.tree @s for @gpt {
  mesh [dp = 4]
  // expected-error@+1 {{'strategy.offload' op names items and 'none'; keep one of them}}
  offload none state
}

// -----

// Runs of modules may be empty, but no less.
func.func private @m()
strategy.tree @t for @m {
  mesh [pp = 2]
  node "a[*]" {
    // expected-error@+1 {{'strategy.stages' op gives run 1 -1 modules, expected at least 0}}
    stages pp of [2, -1]
  }
}

// -----

// Items are a letter, a micro-batch and perhaps a chunk.
func.func private @m()
strategy.tree @t for @m {
  mesh [pp = 2]
  schedule micro_batches = 2 order = "explicit"
  // expected-error@+1 {{'strategy.order' op stage 0: 'X1' is no item; write F, B, I or W, the micro-batch, and .c for a chunk other than 0}}
  order stage 0 [F0, X1]
}

// -----

// The update is not listed.
func.func private @m()
strategy.tree @t for @m {
  mesh [pp = 2]
  schedule micro_batches = 2 order = "explicit"
  // expected-error@+1 {{'strategy.order' op stage 0: 'U' is no item; write F, B, I or W, the micro-batch, and .c for a chunk other than 0}}
  order stage 0 [F0, U]
}

// -----

// A stage has a number.
func.func private @m()
strategy.tree @t for @m {
  mesh [pp = 2]
  schedule micro_batches = 2 order = "explicit"
  // expected-error@+1 {{'strategy.order' op stage -1 is negative}}
  order stage -1 [F0]
}

// -----

// A stage has one order.
func.func private @m()
strategy.tree @t for @m {
  mesh [pp = 2]
  schedule micro_batches = 2 order = "explicit"
  // expected-note@+1 {{the first is here}}
  order stage 0 [F0]
  // expected-error@+1 {{'strategy.order' op is the second of stage 0; keep one of them}}
  order stage 0 [F1]
}

// -----

// Orders go with an explicit schedule.
func.func private @m()
strategy.tree @t for @m {
  mesh [pp = 2]
  schedule micro_batches = 2 order = "gpipe"
  // expected-error@+1 {{'strategy.order' op lists the work of a stage, but the schedule does not have order = "explicit"}}
  order stage 0 [F0]
}

// -----

// An explicit schedule has orders.
func.func private @m()
strategy.tree @t for @m {
  mesh [pp = 2]
  // expected-error@+1 {{'strategy.schedule' op is "explicit", but no stage has an order; add order stage 0 [F0, B0, ...] and so on}}
  schedule micro_batches = 2 order = "explicit"
}

// -----

// An order belongs to the tree.
func.func private @m()
// expected-note@+1 {{tree @t is here}}
strategy.tree @t for @m {
  mesh [pp = 2]
  node "a" {
    // expected-error@+1 {{'strategy.order' op order belongs to the tree; move it out of node "a"}}
    order stage 0 [F0]
  }
}

// -----

// A sub-axis has a prefix and a size.
func.func private @f()
strategy.tree @t for @f {
  mesh [d = 8]
  // expected-error@+1 {{sub-axis 'd:(0)2' has prefix 0 and size 2; a prefix is at least 1, a size at least 2, and both divide the axis}}
  split op [batch -> d:(0)2]
}

// -----

// One rank is no sub-axis.
func.func private @f()
strategy.tree @t for @f {
  mesh [d = 8]
  // expected-error@+1 {{sub-axis 'd:(2)1' has prefix 2 and size 1}}
  split op [batch -> d:(2)1]
}

// -----

// Sub-axes divide their axis.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the mesh is here}}
  mesh [d = 8]
  // expected-error@+1 {{'strategy.split' op 'd:(2)3' does not divide axis 'd' of size 8; the product of prefix and size must divide it}}
  split op [batch -> d:(2)3]
}

// -----

// Sub-axes are of known axes.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the mesh is here}}
  mesh [d = 8]
  // expected-error@+1 {{'strategy.split' op unknown axis 'e'; the axes of the mesh are d}}
  split op [batch -> e:(1)2]
}

// -----

// Sub-axes of one split do not overlap.
func.func private @f()
strategy.tree @t for @f {
  mesh [d = 8]
  // expected-error@+1 {{'strategy.split' op 'd:(1)4' for iterator 'batch' and 'd:(2)2' for iterator 'out' overlap; use parts of the axis that do not, such as 'd:(1)2' and 'd:(2)4'}}
  split op [batch -> d:(1)4, out -> d:(2)2]
}

// -----

// An axis and its part overlap.
func.func private @f()
strategy.tree @t for @f {
  mesh [d = 8]
  // expected-error@+1 {{'strategy.split' op 'd' for iterator 'batch' and 'd:(2)2' for iterator 'out' overlap}}
  split op [batch -> d, out -> d:(2)2]
}

// -----

// An axis is cut in one way.
func.func private @f()
strategy.tree @t for @f {
  mesh [d = 6]
  // expected-note@+1 {{the other sub-axis is here}}
  split op [batch -> d:(1)2]
  node "a" {
    // expected-error@+1 {{'strategy.split' op 'd:(1)3' cuts axis 'd' at 3 and 'd:(1)2' cuts it at 2, and neither divides the other; use sub-axes whose cuts divide each other}}
    split op [batch -> d:(1)3]
  }
}

// -----

// A position is on the sub-axis.
func.func private @f()
strategy.tree @t for @f {
  // expected-note@+1 {{the mesh is here}}
  mesh [d = 8]
  node "a" {
    // expected-error@+1 {{'strategy.at' op position 2 is outside axis 'd:(1)2' of size 2; positions are 0 to 1}}
    at [d:(1)2 = 2]
  }
}

// -----

// Positions are on parts that do not overlap.
func.func private @f()
strategy.tree @t for @f {
  mesh [d = 8]
  node "a" {
    // expected-error@+1 {{'strategy.at' op 'd:(1)4' and 'd:(2)2' overlap; give one position for each part of an axis}}
    at [d:(1)4 = 1, d:(2)2 = 1]
  }
}

// -----

// Slices of transfers are a setting of the tree.
func.func private @f()
// expected-note@+1 {{tree @t is here}}
strategy.tree @t for @f {
  mesh [d = 8]
  node "a" {
    // expected-error@+1 {{'strategy.scatter_gather' op scatter_gather belongs to the tree; move it out of node "a"}}
    scatter_gather
  }
}

// -----

// Words of the arrows name no axis.
func.func @f() { return }
strategy.tree @s for @f {
  // expected-error@+1 {{'strategy.mesh' op axis name 'ring' is reserved for the distribution of parts; rename it}}
  mesh [ring = 2]
}

// -----

// What is stored is contiguous.
func.func @f() { return }
strategy.tree @s for @f {
  mesh [dp = 2]
  // expected-error@+1 {{'strategy.split' op splits iterator 'out' by 'zigzag', which applies to 'op' only; memory items are split into contiguous parts}}
  split weight [out -> zigzag dp]
}

// -----

// A ring does not allow an axis twice for what stays.
func.func @f() { return }
strategy.tree @s for @f {
  mesh [cp = 2]
  // expected-error@+1 {{'strategy.split' op axis 'cp' is used twice, for iterator 'seq' and for iterator 'head'; an axis splits one key, once}}
  split op [seq -> cp, head -> cp, key -> ring cp]
}

// -----

func.func @f() { return }
strategy.tree @s for @f {
  mesh [cp = 2]
  // expected-error@+1 {{'zigzag' needs an axis}}
  split op [seq -> zigzag []]
}

// -----

func.func @f() { return }
strategy.tree @s for @f {
  mesh [cp = 2]
  // expected-error@+1 {{'ring' applies to iterators, not to dimension 0 : i64}}
  split weight [0 -> ring cp]
}

// -----

// What is kept for the step is not dropped after the forward pass.
func.func @m() { return }

strategy.tree @t for @m {
  mesh [dp = 2]
  // expected-error@+1 {{'strategy.prefetch' op 'once' keeps the gathered parameters for the whole step; leave 'reshard_after_forward' out}}
  prefetch reshard_after_forward = true once
}

// -----

// An overlap says something.
func.func @m() { return }

strategy.tree @t for @m {
  mesh [dp = 2]
  // expected-error@+1 {{'strategy.overlap' op sets nothing; give 'tensor', 'messages' or 'reductions'}}
  overlap
}

// -----

func.func @m() { return }

strategy.tree @t for @m {
  mesh [dp = 2]
  // expected-error@+1 {{'strategy.overlap' op unknown tensor "some"; known are "none", "async", "chunked"}}
  overlap tensor = "some"
}

// -----

// Chunks are for products that are cut.
func.func @m() { return }

strategy.tree @t for @m {
  mesh [dp = 2]
  // expected-error@+1 {{'strategy.overlap' op 'chunks' is the number of chunks of tensor = "chunked"; leave it out}}
  overlap tensor = "async" chunks = 4
}

// -----

func.func @m() { return }

strategy.tree @t for @m {
  mesh [dp = 2]
  // expected-error@+1 {{'strategy.overlap' op chunks = 1 is too small; it must be at least 2}}
  overlap tensor = "chunked" chunks = 1
}

// -----

// The overlap is not set in a node.
func.func @m() { return }

// expected-note@+1 {{tree @t is here}}
strategy.tree @t for @m {
  mesh [dp = 2]
  node "a" {
    // expected-error@+1 {{'strategy.overlap' op overlap belongs to the tree; move it out of node "a"}}
    overlap messages = false
  }
}

// -----

// A flat cut is for tensors of parameters.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 8]
  // expected-error@+1 {{names 'flat', which applies to 'weight', 'gradient' and 'state' only}}
  split op [flat -> dp]
}

// -----

// There is one flat cut.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 8, tp = 2]
  // expected-error@+1 {{names 'flat' and 'flat_rows'; use one of them}}
  split state [flat -> dp, flat_rows -> tp]
}

// -----

// At least one layer reduces gradients.
func.func private @f()
strategy.tree @t for @f {
  mesh [dp = 8]
  // expected-error@+1 {{reductions = 0 is too small; it must be at least 1}}
  overlap reductions = 0
}
