// RUN: proteus-opt %s -split-input-file --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %s -split-input-file --unroll-repeats --check-lowering="seed=7 tolerance=1e-12" -verify-diagnostics -o /dev/null
// RUN: proteus-opt %s -split-input-file --check-lowering -o %t.after 2>/dev/null
// RUN: proteus-opt %s -split-input-file -o %t.before
// RUN: diff %t.before %t.after

// Small models under many strategies, executed before and after the lowering,
// layers repeated and written out. The module stays as it is.

// Data parallel.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @data_parallel(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @data_parallel {
    mesh [dp = 4]
    split op [batch -> dp]
  }
}

// -----

// Columns, then rows: the bias of a linear that computes partial sums is added
// once.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @columns_then_rows(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @columns_then_rows {
    mesh [tp = 4]
    node "fc1" { split op [out -> tp] }
  }
}

// -----

// Logits that are split by classes: the cross-entropy is decomposed.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @classes_are_split(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @classes_are_split {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "fc2" { split op [out -> tp] }
  }
}

// -----

// Parts that differ in size: 6 samples and 10 features over 4 devices, 7 classes
// over 2.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @uneven_parts(
      %x: tensor<6x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<6xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<10xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<7x10xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<7xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<6x8xf32>, tensor<10x8xf32>, tensor<10xf32>) -> tensor<6x10xf32>
    %1 = nn.gelu "act"(%0) : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<6x10xf32>, tensor<7x10xf32>, tensor<7xf32>) -> tensor<6x7xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<6x7xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<6xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @uneven_parts {
    mesh [dp = 4, tp = 2]
    node "fc1" { split op [batch -> dp, out -> tp] }
    node "fc2" { split op [out -> [tp]] }
    node "act" { split op [hidden -> dp] }
  }
}

// -----

// Several axes on one dimension, in both orders.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @axes_on_one_dimension(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<16x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<16xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x16xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @axes_on_one_dimension {
    mesh [a = 2, b = 2, c = 2]
    node "fc1" { split op [out -> [a, c], batch -> b] }
    node "act" { split op [hidden -> [c, b], batch -> a] }
    node "fc2" { split op [out -> [b, a], in -> c] }
  }
}

// -----

// ZeRO, stage 1: gradients are scattered, states are split, parameters are
// gathered.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @sharded_states(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sharded_states {
    mesh [dp = 4]
    split op [batch -> dp]
    split state [0 -> dp]
  }
}

// -----

// The same with parts that differ in size.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @uneven_sharded_states(
      %x: tensor<8x8xbf16> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<10x8xbf16> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<10xbf16> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<7x10xbf16> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<7xbf16> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xbf16>, tensor<10x8xbf16>, tensor<10xbf16>) -> tensor<8x10xbf16>
    %1 = nn.gelu "act"(%0) : (tensor<8x10xbf16>) -> tensor<8x10xbf16>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x10xbf16>, tensor<7x10xbf16>, tensor<7xbf16>) -> tensor<8x7xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x7xbf16>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @uneven_sharded_states {
    mesh [dp = 4]
    split op [batch -> dp]
    split state [0 -> dp]
  }
}

// -----

// ZeRO, stage 3: parameters are split and gathered where they are read.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @sharded_parameters(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sharded_parameters {
    mesh [dp = 4]
    schedule micro_batches = 2
    split op [batch -> dp]
    split weight [0 -> dp]
    split state [0 -> dp]
  }
}

// -----

// Small buckets, and gradients that travel in another type.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @buckets(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, reduction = f16>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @buckets {
    mesh [dp = 2]
    schedule micro_batches = 4
    bucket size = 128 first = 8
    split op [batch -> dp]
  }
}

// -----

// Megatron: heads, columns and rows, vocabulary.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @tensor_parallel(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      %g1: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %s1: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wq: tensor<2x24x8xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.weight"},
      %bq: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.bias"},
      %wp: tensor<2x8x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.weight"},
      %bp: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.bias"},
      %w1: tensor<2x16x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %b1: tensor<2x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.bias"},
      %w2: tensor<2x8x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %wh: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %e = nn.embedding "embedding"(%ids, %wte) : (tensor<8x4xi32>, tensor<12x8xbf16>) -> tensor<8x4x8xbf16>
    %x = nn.add "position"(%e, %wpe) : (tensor<8x4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x4x8xbf16>
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4x8xbf16>)
        slice(%g1_i = %g1 : tensor<2x8xbf16> to tensor<8xbf16>,
              %s1_i = %s1 : tensor<2x8xbf16> to tensor<8xbf16>,
              %wq_i = %wq : tensor<2x24x8xbf16> to tensor<24x8xbf16>,
              %bq_i = %bq : tensor<2x24xbf16> to tensor<24xbf16>,
              %wp_i = %wp : tensor<2x8x8xbf16> to tensor<8x8xbf16>,
              %bp_i = %bp : tensor<2x8xbf16> to tensor<8xbf16>,
              %w1_i = %w1 : tensor<2x16x8xbf16> to tensor<16x8xbf16>,
              %b1_i = %b1 : tensor<2x16xbf16> to tensor<16xbf16>,
              %w2_i = %w2 : tensor<2x8x16xbf16> to tensor<8x16xbf16>,
              %b2_i = %b2 : tensor<2x8xbf16> to tensor<8xbf16>)
        -> (tensor<8x4x8xbf16>) {
      %n = nn.layer_norm "ln_1"(%h, %g1_i, %s1_i) : (tensor<8x4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %qkv = nn.linear "qkv"(%n, %wq_i, %bq_i) : (tensor<8x4x8xbf16>, tensor<24x8xbf16>, tensor<24xbf16>) -> tensor<8x4x24xbf16>
      %q, %k, %v = nn.split "split"(%qkv) {groups = 4 : i64} : (tensor<8x4x24xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>)
      %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x4xf32>)
      %p = nn.linear "proj"(%a, %wp_i, %bp_i) : (tensor<8x4x8xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %r = nn.add "residual_1"(%h, %p) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      %1 = nn.linear "fc1"(%r, %w1_i, %b1_i) : (tensor<8x4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<8x4x16xbf16>
      %2 = nn.gelu "act"(%1) : (tensor<8x4x16xbf16>) -> tensor<8x4x16xbf16>
      %3 = nn.linear "fc2"(%2, %w2_i, %b2_i) : (tensor<8x4x16xbf16>, tensor<8x16xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %4 = nn.add "residual_2"(%r, %3) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      nn.yield %4 : tensor<8x4x8xbf16>
    }
    %z = nn.linear "head"(%y, %wh) : (tensor<8x4x8xbf16>, tensor<12x8xbf16>) -> tensor<8x4x12xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xbf16>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tensor_parallel {
    mesh [tp = 4]
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" {
      
      node "qkv" { split op [out -> tp] }
      node "fc1" { split op [out -> tp] }
    }
    node "head" { split op [out -> tp] }
  }
}

// -----

// The sequence is split: causal attention masks by position in the whole
// sequence, position embeddings are rows of their own.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @sequence_parallel(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      %g1: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %s1: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wq: tensor<2x24x8xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.weight"},
      %bq: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.bias"},
      %wp: tensor<2x8x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.weight"},
      %bp: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.bias"},
      %w1: tensor<2x16x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %b1: tensor<2x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.bias"},
      %w2: tensor<2x8x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %wh: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %e = nn.embedding "embedding"(%ids, %wte) : (tensor<8x4xi32>, tensor<12x8xbf16>) -> tensor<8x4x8xbf16>
    %x = nn.add "position"(%e, %wpe) : (tensor<8x4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x4x8xbf16>
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4x8xbf16>)
        slice(%g1_i = %g1 : tensor<2x8xbf16> to tensor<8xbf16>,
              %s1_i = %s1 : tensor<2x8xbf16> to tensor<8xbf16>,
              %wq_i = %wq : tensor<2x24x8xbf16> to tensor<24x8xbf16>,
              %bq_i = %bq : tensor<2x24xbf16> to tensor<24xbf16>,
              %wp_i = %wp : tensor<2x8x8xbf16> to tensor<8x8xbf16>,
              %bp_i = %bp : tensor<2x8xbf16> to tensor<8xbf16>,
              %w1_i = %w1 : tensor<2x16x8xbf16> to tensor<16x8xbf16>,
              %b1_i = %b1 : tensor<2x16xbf16> to tensor<16xbf16>,
              %w2_i = %w2 : tensor<2x8x16xbf16> to tensor<8x16xbf16>,
              %b2_i = %b2 : tensor<2x8xbf16> to tensor<8xbf16>)
        -> (tensor<8x4x8xbf16>) {
      %n = nn.layer_norm "ln_1"(%h, %g1_i, %s1_i) : (tensor<8x4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %qkv = nn.linear "qkv"(%n, %wq_i, %bq_i) : (tensor<8x4x8xbf16>, tensor<24x8xbf16>, tensor<24xbf16>) -> tensor<8x4x24xbf16>
      %q, %k, %v = nn.split "split"(%qkv) {groups = 4 : i64} : (tensor<8x4x24xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>)
      %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x4xf32>)
      %p = nn.linear "proj"(%a, %wp_i, %bp_i) : (tensor<8x4x8xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %r = nn.add "residual_1"(%h, %p) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      %1 = nn.linear "fc1"(%r, %w1_i, %b1_i) : (tensor<8x4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<8x4x16xbf16>
      %2 = nn.gelu "act"(%1) : (tensor<8x4x16xbf16>) -> tensor<8x4x16xbf16>
      %3 = nn.linear "fc2"(%2, %w2_i, %b2_i) : (tensor<8x4x16xbf16>, tensor<8x16xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %4 = nn.add "residual_2"(%r, %3) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      nn.yield %4 : tensor<8x4x8xbf16>
    }
    %z = nn.linear "head"(%y, %wh) : (tensor<8x4x8xbf16>, tensor<12x8xbf16>) -> tensor<8x4x12xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xbf16>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sequence_parallel {
    mesh [sp = 2]
    split op [seq -> sp]
  }
}

// -----

// Sequence outside, heads inside attention: all-to-all.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @sequence_to_heads(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      %g1: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %s1: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wq: tensor<2x24x8xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.weight"},
      %bq: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.bias"},
      %wp: tensor<2x8x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.weight"},
      %bp: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.bias"},
      %w1: tensor<2x16x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %b1: tensor<2x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.bias"},
      %w2: tensor<2x8x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %wh: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %e = nn.embedding "embedding"(%ids, %wte) : (tensor<8x4xi32>, tensor<12x8xbf16>) -> tensor<8x4x8xbf16>
    %x = nn.add "position"(%e, %wpe) : (tensor<8x4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x4x8xbf16>
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4x8xbf16>)
        slice(%g1_i = %g1 : tensor<2x8xbf16> to tensor<8xbf16>,
              %s1_i = %s1 : tensor<2x8xbf16> to tensor<8xbf16>,
              %wq_i = %wq : tensor<2x24x8xbf16> to tensor<24x8xbf16>,
              %bq_i = %bq : tensor<2x24xbf16> to tensor<24xbf16>,
              %wp_i = %wp : tensor<2x8x8xbf16> to tensor<8x8xbf16>,
              %bp_i = %bp : tensor<2x8xbf16> to tensor<8xbf16>,
              %w1_i = %w1 : tensor<2x16x8xbf16> to tensor<16x8xbf16>,
              %b1_i = %b1 : tensor<2x16xbf16> to tensor<16xbf16>,
              %w2_i = %w2 : tensor<2x8x16xbf16> to tensor<8x16xbf16>,
              %b2_i = %b2 : tensor<2x8xbf16> to tensor<8xbf16>)
        -> (tensor<8x4x8xbf16>) {
      %n = nn.layer_norm "ln_1"(%h, %g1_i, %s1_i) : (tensor<8x4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %qkv = nn.linear "qkv"(%n, %wq_i, %bq_i) : (tensor<8x4x8xbf16>, tensor<24x8xbf16>, tensor<24xbf16>) -> tensor<8x4x24xbf16>
      %q, %k, %v = nn.split "split"(%qkv) {groups = 4 : i64} : (tensor<8x4x24xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>)
      %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x4xf32>)
      %p = nn.linear "proj"(%a, %wp_i, %bp_i) : (tensor<8x4x8xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %r = nn.add "residual_1"(%h, %p) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      %1 = nn.linear "fc1"(%r, %w1_i, %b1_i) : (tensor<8x4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<8x4x16xbf16>
      %2 = nn.gelu "act"(%1) : (tensor<8x4x16xbf16>) -> tensor<8x4x16xbf16>
      %3 = nn.linear "fc2"(%2, %w2_i, %b2_i) : (tensor<8x4x16xbf16>, tensor<8x16xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %4 = nn.add "residual_2"(%r, %3) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      nn.yield %4 : tensor<8x4x8xbf16>
    }
    %z = nn.linear "head"(%y, %wh) : (tensor<8x4x8xbf16>, tensor<12x8xbf16>) -> tensor<8x4x12xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xbf16>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sequence_to_heads {
    mesh [sp = 2]
    split op [seq -> sp]
    node "layers[*].core" { split op [head -> sp, seq -> []] }
    node "layers[*].split" { split op [head -> sp, seq -> []] }
  }
}

// -----

// A pipeline with recomputation: dropout drops the same elements again.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @pipeline_with_recomputation(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      %g1: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %s1: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wq: tensor<4x24x8xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.weight"},
      %bq: tensor<4x24xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.bias"},
      %wp: tensor<4x8x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.weight"},
      %bp: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.bias"},
      %w1: tensor<4x16x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %b1: tensor<4x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.bias"},
      %w2: tensor<4x8x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %wh: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %e = nn.embedding "embedding"(%ids, %wte) : (tensor<8x4xi32>, tensor<12x8xbf16>) -> tensor<8x4x8xbf16>
    %x = nn.add "position"(%e, %wpe) : (tensor<8x4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x4x8xbf16>
    %y = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4x8xbf16>)
        slice(%g1_i = %g1 : tensor<4x8xbf16> to tensor<8xbf16>,
              %s1_i = %s1 : tensor<4x8xbf16> to tensor<8xbf16>,
              %wq_i = %wq : tensor<4x24x8xbf16> to tensor<24x8xbf16>,
              %bq_i = %bq : tensor<4x24xbf16> to tensor<24xbf16>,
              %wp_i = %wp : tensor<4x8x8xbf16> to tensor<8x8xbf16>,
              %bp_i = %bp : tensor<4x8xbf16> to tensor<8xbf16>,
              %w1_i = %w1 : tensor<4x16x8xbf16> to tensor<16x8xbf16>,
              %b1_i = %b1 : tensor<4x16xbf16> to tensor<16xbf16>,
              %w2_i = %w2 : tensor<4x8x16xbf16> to tensor<8x16xbf16>,
              %b2_i = %b2 : tensor<4x8xbf16> to tensor<8xbf16>)
        -> (tensor<8x4x8xbf16>) {
      %n = nn.layer_norm "ln_1"(%h, %g1_i, %s1_i) : (tensor<8x4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %qkv = nn.linear "qkv"(%n, %wq_i, %bq_i) : (tensor<8x4x8xbf16>, tensor<24x8xbf16>, tensor<24xbf16>) -> tensor<8x4x24xbf16>
      %q, %k, %v = nn.split "split"(%qkv) {groups = 4 : i64} : (tensor<8x4x24xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>)
      %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x4xf32>)
      %p0 = nn.linear "proj"(%a, %wp_i, %bp_i) : (tensor<8x4x8xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %p, %mask = nn.dropout "drop"(%p0) {probability = 0.25 : f64, seed = 7 : i64} : (tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xi8>)
      %r = nn.add "residual_1"(%h, %p) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      %1 = nn.linear "fc1"(%r, %w1_i, %b1_i) : (tensor<8x4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<8x4x16xbf16>
      %2 = nn.gelu "act"(%1) : (tensor<8x4x16xbf16>) -> tensor<8x4x16xbf16>
      %3 = nn.linear "fc2"(%2, %w2_i, %b2_i) : (tensor<8x4x16xbf16>, tensor<8x16xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %4 = nn.add "residual_2"(%r, %3) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      nn.yield %4 : tensor<8x4x8xbf16>
    }
    %z = nn.linear "head"(%y, %wh) : (tensor<8x4x8xbf16>, tensor<12x8xbf16>) -> tensor<8x4x12xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xbf16>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @pipeline_with_recomputation {
    mesh [pp = 2]
    schedule micro_batches = 4 order = "1f1b"
    node "layers[*]" { stages pp recompute }
  }
}

// -----

// A pipeline whose stages have different numbers of layers.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @uneven_stages(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      %g1: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %s1: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wq: tensor<4x24x8xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.weight"},
      %bq: tensor<4x24xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.bias"},
      %wp: tensor<4x8x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.weight"},
      %bp: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.bias"},
      %w1: tensor<4x16x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %b1: tensor<4x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.bias"},
      %w2: tensor<4x8x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %wh: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %e = nn.embedding "embedding"(%ids, %wte) : (tensor<8x4xi32>, tensor<12x8xbf16>) -> tensor<8x4x8xbf16>
    %x = nn.add "position"(%e, %wpe) : (tensor<8x4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x4x8xbf16>
    %y = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4x8xbf16>)
        slice(%g1_i = %g1 : tensor<4x8xbf16> to tensor<8xbf16>,
              %s1_i = %s1 : tensor<4x8xbf16> to tensor<8xbf16>,
              %wq_i = %wq : tensor<4x24x8xbf16> to tensor<24x8xbf16>,
              %bq_i = %bq : tensor<4x24xbf16> to tensor<24xbf16>,
              %wp_i = %wp : tensor<4x8x8xbf16> to tensor<8x8xbf16>,
              %bp_i = %bp : tensor<4x8xbf16> to tensor<8xbf16>,
              %w1_i = %w1 : tensor<4x16x8xbf16> to tensor<16x8xbf16>,
              %b1_i = %b1 : tensor<4x16xbf16> to tensor<16xbf16>,
              %w2_i = %w2 : tensor<4x8x16xbf16> to tensor<8x16xbf16>,
              %b2_i = %b2 : tensor<4x8xbf16> to tensor<8xbf16>)
        -> (tensor<8x4x8xbf16>) {
      %n = nn.layer_norm "ln_1"(%h, %g1_i, %s1_i) : (tensor<8x4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %qkv = nn.linear "qkv"(%n, %wq_i, %bq_i) : (tensor<8x4x8xbf16>, tensor<24x8xbf16>, tensor<24xbf16>) -> tensor<8x4x24xbf16>
      %q, %k, %v = nn.split "split"(%qkv) {groups = 4 : i64} : (tensor<8x4x24xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>)
      %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x4xf32>)
      %p = nn.linear "proj"(%a, %wp_i, %bp_i) : (tensor<8x4x8xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %r = nn.add "residual_1"(%h, %p) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      %1 = nn.linear "fc1"(%r, %w1_i, %b1_i) : (tensor<8x4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<8x4x16xbf16>
      %2 = nn.gelu "act"(%1) : (tensor<8x4x16xbf16>) -> tensor<8x4x16xbf16>
      %3 = nn.linear "fc2"(%2, %w2_i, %b2_i) : (tensor<8x4x16xbf16>, tensor<8x16xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %4 = nn.add "residual_2"(%r, %3) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      nn.yield %4 : tensor<8x4x8xbf16>
    }
    %z = nn.linear "head"(%y, %wh) : (tensor<8x4x8xbf16>, tensor<12x8xbf16>) -> tensor<8x4x12xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xbf16>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @uneven_stages {
    mesh [pp = 3]
    schedule micro_batches = 4 order = "gpipe"
    node "layers[*]" { stages pp }
  }
}

// -----

// Data, tensor and pipeline parallelism with recomputation.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @three_dimensions(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      %g1: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %s1: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wq: tensor<4x24x8xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.weight"},
      %bq: tensor<4x24xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.bias"},
      %wp: tensor<4x8x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.weight"},
      %bp: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.bias"},
      %w1: tensor<4x16x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %b1: tensor<4x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.bias"},
      %w2: tensor<4x8x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %wh: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %e = nn.embedding "embedding"(%ids, %wte) : (tensor<8x4xi32>, tensor<12x8xbf16>) -> tensor<8x4x8xbf16>
    %x = nn.add "position"(%e, %wpe) : (tensor<8x4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x4x8xbf16>
    %y = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4x8xbf16>)
        slice(%g1_i = %g1 : tensor<4x8xbf16> to tensor<8xbf16>,
              %s1_i = %s1 : tensor<4x8xbf16> to tensor<8xbf16>,
              %wq_i = %wq : tensor<4x24x8xbf16> to tensor<24x8xbf16>,
              %bq_i = %bq : tensor<4x24xbf16> to tensor<24xbf16>,
              %wp_i = %wp : tensor<4x8x8xbf16> to tensor<8x8xbf16>,
              %bp_i = %bp : tensor<4x8xbf16> to tensor<8xbf16>,
              %w1_i = %w1 : tensor<4x16x8xbf16> to tensor<16x8xbf16>,
              %b1_i = %b1 : tensor<4x16xbf16> to tensor<16xbf16>,
              %w2_i = %w2 : tensor<4x8x16xbf16> to tensor<8x16xbf16>,
              %b2_i = %b2 : tensor<4x8xbf16> to tensor<8xbf16>)
        -> (tensor<8x4x8xbf16>) {
      %n = nn.layer_norm "ln_1"(%h, %g1_i, %s1_i) : (tensor<8x4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %qkv = nn.linear "qkv"(%n, %wq_i, %bq_i) : (tensor<8x4x8xbf16>, tensor<24x8xbf16>, tensor<24xbf16>) -> tensor<8x4x24xbf16>
      %q, %k, %v = nn.split "split"(%qkv) {groups = 4 : i64} : (tensor<8x4x24xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>)
      %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x4xf32>)
      %p0 = nn.linear "proj"(%a, %wp_i, %bp_i) : (tensor<8x4x8xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %p, %mask = nn.dropout "drop"(%p0) {probability = 0.25 : f64, seed = 7 : i64} : (tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xi8>)
      %r = nn.add "residual_1"(%h, %p) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      %1 = nn.linear "fc1"(%r, %w1_i, %b1_i) : (tensor<8x4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<8x4x16xbf16>
      %2 = nn.gelu "act"(%1) : (tensor<8x4x16xbf16>) -> tensor<8x4x16xbf16>
      %3 = nn.linear "fc2"(%2, %w2_i, %b2_i) : (tensor<8x4x16xbf16>, tensor<8x16xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %4 = nn.add "residual_2"(%r, %3) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      nn.yield %4 : tensor<8x4x8xbf16>
    }
    %z = nn.linear "head"(%y, %wh) : (tensor<8x4x8xbf16>, tensor<12x8xbf16>) -> tensor<8x4x12xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xbf16>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @three_dimensions {
    mesh [dp = 2, pp = 2, tp = 2]
    schedule micro_batches = 2 order = "1f1b"
    split op [batch -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" {
      stages pp
      recompute
      node "qkv" { split op [out -> tp] }
      node "fc1" { split op [out -> tp] }
    }
    node "head" { split op [out -> tp] }
  }
}

// -----

// The same with sharded states.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @three_dimensions_and_sharded_states(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      %g1: tensor<3x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %s1: tensor<3x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wq: tensor<3x24x8xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.weight"},
      %bq: tensor<3x24xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.bias"},
      %wp: tensor<3x8x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.weight"},
      %bp: tensor<3x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.bias"},
      %w1: tensor<3x16x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %b1: tensor<3x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.bias"},
      %w2: tensor<3x8x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<3x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %wh: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %e = nn.embedding "embedding"(%ids, %wte) : (tensor<8x4xi32>, tensor<12x8xbf16>) -> tensor<8x4x8xbf16>
    %x = nn.add "position"(%e, %wpe) : (tensor<8x4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x4x8xbf16>
    %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4x8xbf16>)
        slice(%g1_i = %g1 : tensor<3x8xbf16> to tensor<8xbf16>,
              %s1_i = %s1 : tensor<3x8xbf16> to tensor<8xbf16>,
              %wq_i = %wq : tensor<3x24x8xbf16> to tensor<24x8xbf16>,
              %bq_i = %bq : tensor<3x24xbf16> to tensor<24xbf16>,
              %wp_i = %wp : tensor<3x8x8xbf16> to tensor<8x8xbf16>,
              %bp_i = %bp : tensor<3x8xbf16> to tensor<8xbf16>,
              %w1_i = %w1 : tensor<3x16x8xbf16> to tensor<16x8xbf16>,
              %b1_i = %b1 : tensor<3x16xbf16> to tensor<16xbf16>,
              %w2_i = %w2 : tensor<3x8x16xbf16> to tensor<8x16xbf16>,
              %b2_i = %b2 : tensor<3x8xbf16> to tensor<8xbf16>)
        -> (tensor<8x4x8xbf16>) {
      %n = nn.layer_norm "ln_1"(%h, %g1_i, %s1_i) : (tensor<8x4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %qkv = nn.linear "qkv"(%n, %wq_i, %bq_i) : (tensor<8x4x8xbf16>, tensor<24x8xbf16>, tensor<24xbf16>) -> tensor<8x4x24xbf16>
      %q, %k, %v = nn.split "split"(%qkv) {groups = 4 : i64} : (tensor<8x4x24xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>)
      %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x4xf32>)
      %p = nn.linear "proj"(%a, %wp_i, %bp_i) : (tensor<8x4x8xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %r = nn.add "residual_1"(%h, %p) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      %1 = nn.linear "fc1"(%r, %w1_i, %b1_i) : (tensor<8x4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<8x4x16xbf16>
      %2 = nn.gelu "act"(%1) : (tensor<8x4x16xbf16>) -> tensor<8x4x16xbf16>
      %3 = nn.linear "fc2"(%2, %w2_i, %b2_i) : (tensor<8x4x16xbf16>, tensor<8x16xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %4 = nn.add "residual_2"(%r, %3) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      nn.yield %4 : tensor<8x4x8xbf16>
    }
    %z = nn.linear "head"(%y, %wh) : (tensor<8x4x8xbf16>, tensor<12x8xbf16>) -> tensor<8x4x12xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xbf16>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @three_dimensions_and_sharded_states {
    mesh [dp = 2, pp = 2, tp = 2]
    schedule micro_batches = 2 order = "gpipe"
    split op [batch -> dp]
    split state [0 -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" {
      stages pp
      node "qkv" { split op [out -> tp] }
      node "fc1" { split op [out -> tp] }
    }
    node "head" { split op [out -> tp] }
  }
}

// -----

// One table is both embedding and head: its gradients are summed.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @tied_embeddings(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      %g1: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %s1: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wq: tensor<2x24x8xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.weight"},
      %bq: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].qkv.bias"},
      %wp: tensor<2x8x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.weight"},
      %bp: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].proj.bias"},
      %w1: tensor<2x16x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %b1: tensor<2x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.bias"},
      %w2: tensor<2x8x16xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<2x8xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %e = nn.embedding "embedding"(%ids, %wte) : (tensor<8x4xi32>, tensor<12x8xbf16>) -> tensor<8x4x8xbf16>
    %x = nn.add "position"(%e, %wpe) : (tensor<8x4x8xbf16>, tensor<4x8xbf16>) -> tensor<8x4x8xbf16>
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4x8xbf16>)
        slice(%g1_i = %g1 : tensor<2x8xbf16> to tensor<8xbf16>,
              %s1_i = %s1 : tensor<2x8xbf16> to tensor<8xbf16>,
              %wq_i = %wq : tensor<2x24x8xbf16> to tensor<24x8xbf16>,
              %bq_i = %bq : tensor<2x24xbf16> to tensor<24xbf16>,
              %wp_i = %wp : tensor<2x8x8xbf16> to tensor<8x8xbf16>,
              %bp_i = %bp : tensor<2x8xbf16> to tensor<8xbf16>,
              %w1_i = %w1 : tensor<2x16x8xbf16> to tensor<16x8xbf16>,
              %b1_i = %b1 : tensor<2x16xbf16> to tensor<16xbf16>,
              %w2_i = %w2 : tensor<2x8x16xbf16> to tensor<8x16xbf16>,
              %b2_i = %b2 : tensor<2x8xbf16> to tensor<8xbf16>)
        -> (tensor<8x4x8xbf16>) {
      %n = nn.layer_norm "ln_1"(%h, %g1_i, %s1_i) : (tensor<8x4x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %qkv = nn.linear "qkv"(%n, %wq_i, %bq_i) : (tensor<8x4x8xbf16>, tensor<24x8xbf16>, tensor<24xbf16>) -> tensor<8x4x24xbf16>
      %q, %k, %v = nn.split "split"(%qkv) {groups = 4 : i64} : (tensor<8x4x24xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>)
      %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> (tensor<8x4x8xbf16>, tensor<8x4x4xf32>)
      %p = nn.linear "proj"(%a, %wp_i, %bp_i) : (tensor<8x4x8xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %r = nn.add "residual_1"(%h, %p) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      %1 = nn.linear "fc1"(%r, %w1_i, %b1_i) : (tensor<8x4x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<8x4x16xbf16>
      %2 = nn.gelu "act"(%1) : (tensor<8x4x16xbf16>) -> tensor<8x4x16xbf16>
      %3 = nn.linear "fc2"(%2, %w2_i, %b2_i) : (tensor<8x4x16xbf16>, tensor<8x16xbf16>, tensor<8xbf16>) -> tensor<8x4x8xbf16>
      %4 = nn.add "residual_2"(%r, %3) : (tensor<8x4x8xbf16>, tensor<8x4x8xbf16>) -> tensor<8x4x8xbf16>
      nn.yield %4 : tensor<8x4x8xbf16>
    }
    %z = nn.linear "head"(%y, %wte) : (tensor<8x4x8xbf16>, tensor<12x8xbf16>) -> tensor<8x4x12xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xbf16>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tied_embeddings {
    mesh [dp = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" {
      
      node "qkv" { split op [out -> tp] }
      node "fc1" { split op [out -> tp] }
    }
    node "head" { split op [out -> tp] }
  }
}

// -----

// A repeat that starts from an input, cut where the tree treats layers
// differently.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @ranges_of_layers(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].up.weight"},
      %b: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].down.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %y = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x8xf32>)
        slice(%p = %a : tensor<4x12x8xf32> to tensor<12x8xf32>, %q = %b : tensor<4x8x12xf32> to tensor<8x12xf32>) -> (tensor<8x8xf32>) {
      %1 = nn.linear "up"(%h, %p) : (tensor<8x8xf32>, tensor<12x8xf32>) -> tensor<8x12xf32>
      %2 = nn.relu "act"(%1) : (tensor<8x12xf32>) -> tensor<8x12xf32>
      %3 = nn.linear "down"(%2, %q) : (tensor<8x12xf32>, tensor<8x12xf32>) -> tensor<8x8xf32>
      nn.yield %3 : tensor<8x8xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @ranges_of_layers {
    mesh [dp = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "layers[0:3].up" { split op [out -> tp] }
    node "layers[3].up" { split op [in -> tp] }
  }
}

// -----

// A pipeline of layers that start from an input.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @pipeline_from_an_input(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].up.weight"},
      %b: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].down.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %y = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x8xf32>)
        slice(%p = %a : tensor<4x12x8xf32> to tensor<12x8xf32>, %q = %b : tensor<4x8x12xf32> to tensor<8x12xf32>) -> (tensor<8x8xf32>) {
      %1 = nn.linear "up"(%h, %p) : (tensor<8x8xf32>, tensor<12x8xf32>) -> tensor<8x12xf32>
      %2 = nn.relu "act"(%1) : (tensor<8x12xf32>) -> tensor<8x12xf32>
      %3 = nn.linear "down"(%2, %q) : (tensor<8x12xf32>, tensor<8x12xf32>) -> tensor<8x8xf32>
      nn.yield %3 : tensor<8x8xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @pipeline_from_an_input {
    mesh [pp = 2, dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "layers[*]" { stages pp recompute }
  }
}

// -----

// A convolutional network: filters are split, then channels are summed.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @convolution(
      %x: tensor<8x2x6x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<4x2x3x3xf32> {nn.role = "parameter", nn.path = "conv1.weight"},
      %b1: tensor<4xf32> {nn.role = "parameter", nn.path = "conv1.bias"},
      %w2: tensor<4x4x3x3xf32> {nn.role = "parameter", nn.path = "conv2.weight"},
      %b2: tensor<4xf32> {nn.role = "parameter", nn.path = "conv2.bias"},
      %wo: tensor<6x36xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.conv2d "conv1"(%x, %w1, %b1) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x2x6x6xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>) -> tensor<8x4x6x6xf32>
    %1 = nn.pool2d "pool1" max(%0) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x4x6x6xf32>) -> tensor<8x4x6x6xf32>
    %2 = nn.conv2d "conv2"(%1, %w2, %b2) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x4x6x6xf32>, tensor<4x4x3x3xf32>, tensor<4xf32>) -> tensor<8x4x6x6xf32>
    %3 = nn.relu "act"(%2) : (tensor<8x4x6x6xf32>) -> tensor<8x4x6x6xf32>
    %4 = nn.pool2d "pool2" average(%3) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x4x6x6xf32>) -> tensor<8x4x3x3xf32>
    %5 = nn.reshape "flatten"(%4) : (tensor<8x4x3x3xf32>) -> tensor<8x36xf32>
    %6 = nn.linear "fc"(%5, %wo) : (tensor<8x36xf32>, tensor<6x36xf32>) -> tensor<8x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%6, %t) : (tensor<8x6xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @convolution {
    mesh [dp = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "conv1" { split op [out -> tp] }
    node "conv2" { split op [in -> tp] }
  }
}

// -----

// A model in linalg.

#rows = affine_map<(d0, d1) -> (d0, d1)>
#scalar = affine_map<(d0, d1) -> ()>

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @structured_operations(
      %x: tensor<8x6xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<8x4xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<6x12xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<12x4xf32> {nn.role = "parameter", nn.path = "fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<8x12xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x12xf32>) -> tensor<8x12xf32>
    %h = linalg.matmul ins(%x, %w1 : tensor<8x6xf32>, tensor<6x12xf32>)
                       outs(%z0 : tensor<8x12xf32>) -> tensor<8x12xf32> loc("fc1")
    %e1 = tensor.empty() : tensor<8x12xf32>
    %a = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%h : tensor<8x12xf32>) outs(%e1 : tensor<8x12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.maximumf %in, %zero : f32
      linalg.yield %m : f32
    } -> tensor<8x12xf32> loc("relu")
    %e2 = tensor.empty() : tensor<8x4xf32>
    %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x4xf32>) -> tensor<8x4xf32>
    %p = linalg.matmul ins(%a, %w2 : tensor<8x12xf32>, tensor<12x4xf32>)
                       outs(%z2 : tensor<8x4xf32>) -> tensor<8x4xf32> loc("fc2")
    %e3 = tensor.empty() : tensor<f32>
    %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<f32>) -> tensor<f32>
    %loss = linalg.generic {indexing_maps = [#rows, #rows, #scalar], iterator_types = ["reduction", "reduction"]}
        ins(%p, %target : tensor<8x4xf32>, tensor<8x4xf32>) outs(%z3 : tensor<f32>) {
    ^bb0(%in: f32, %t: f32, %sum: f32):
      %d = arith.subf %in, %t : f32
      %s = arith.mulf %d, %d : f32
      %n = arith.addf %sum, %s : f32
      linalg.yield %n : f32
    } -> tensor<f32> loc("loss")
    return %loss : tensor<f32>
  }
  strategy.tree @s for @structured_operations {
    mesh [dp = 2, tp = 4]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "fc1" { split op [d1 -> tp] }
    node "fc2" { split op [d2 -> tp] }
  }
}

// -----

// A forward-only program: its results are compared.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @forward_only(
      %x: tensor<8x6xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<10x6xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<8x10xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x6xf32>, tensor<10x6xf32>) -> tensor<8x10xf32>
    return %0 : tensor<8x10xf32>
  }
  strategy.tree @s for @forward_only {
    mesh [dp = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "fc" { split op [in -> tp] }
  }
}

// -----

// A partial sum that has been reduced on its way to another stage, for its first
// reader there, is whole for an addition that follows.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @partial_sum_arrives_reduced(
      %ids: tensor<8xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %e = nn.embedding "embedding"(%ids, %wte) : (tensor<8xi32>, tensor<12x8xf32>) -> tensor<8x8xf32>
    %0 = nn.gelu "act"(%e) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = nn.linear "fc"(%0, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = nn.add "residual"(%e, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @partial_sum_arrives_reduced {
    mesh [pp = 2, tp = 2]
    node "embedding" {
      at [pp = 0]
      split op [vocab -> tp]
    }
    node "act" {
      at [pp = 1]
      split op [hidden -> []]
    }
    node "fc" {
      at [pp = 1]
      split op [in -> tp]
    }
  }
}

// -----

// Layers that are written out before a repeat of the same name, which is cut.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @repeat_after_a_layer(
      %x: tensor<4x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "layers[0].fc.weight"},
      %ws: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "layers[0].fc"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = nn.repeat "layers" first 1 count 2 carry(%h = %0 : tensor<4x4xf32>)
        slice(%v = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %2 = nn.linear "fc"(%h, %v) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      nn.yield %2 : tensor<4x4xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @repeat_after_a_layer {
    mesh [pp = 2]
    node "layers[*]" { stages pp }
  }
}

// -----

// One axis, used whole, in parts, and in parts in another order; weight and
// state differ too.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @parts_of_an_axis(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @parts_of_an_axis {
    mesh [d = 8]
    split op [batch -> d]
    node "fc1" { split op [batch -> d:(4)2, out -> d:(1)4] }
    node "fc2" {
      split op [batch -> [], in -> d:(2)4]
      split state [0 -> [d:(4)2, d:(1)2]]
    }
  }
}

// -----

// The pipeline lies along the major part of the axis, the batch along the rest.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @a_pipeline_along_a_part(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @a_pipeline_along_a_part {
    mesh [d = 8]
    schedule micro_batches = 2
    split op [batch -> d:(2)4]
    node "fc1" { at [d:(1)2 = 0] }
    node "act" { at [d:(1)2 = 0] }
    node "fc2" { at [d:(1)2 = 1] }
    node "loss" { at [d:(1)2 = 1] }
  }
}

// -----

// The parts are the same and other ranks hold them: permutes.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @axes_in_another_order(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @axes_in_another_order {
    mesh [a = 2, b = 2]
    split op [batch -> [a, b]]
    node "fc1" { split weight [0 -> a] split state [0 -> b] }
    node "fc2" { split op [batch -> [b, a]] }
  }
}

// -----

// Stages in different nodes exchange slices, forward and backward.

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @transfers_in_slices(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<12xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<12x8xf32>, tensor<12xf32>) -> tensor<8x12xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2 = nn.linear "fc2"(%1, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @transfers_in_slices {
    mesh [pp = 2, tp = 8]
    scatter_gather
    node "fc1" { at [pp = 0] split op [in -> tp] }
    node "act" { at [pp = 0] }
    node "fc2" { at [pp = 1] split op [in -> tp] }
    node "loss" { at [pp = 1] }
  }
}

// -----

// The output of a model that is not trained is whole: the sum over the devices
// that split `in` runs before the return.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @forward_only(%x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
                          %w: tensor<4x16xf32> {nn.role = "parameter", nn.path = "w"}) -> tensor<8x4xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @forward_only {
    mesh [tp = 2, dp = 2]
    schedule micro_batches = 2 order = "1f1b"
    split op [batch -> dp]
    node "fc" { split op [in -> tp] }
  }
}
