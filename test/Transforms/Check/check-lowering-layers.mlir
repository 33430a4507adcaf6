// RUN: proteus-opt %s -split-input-file --check-lowering -verify-diagnostics=only-expected -o /dev/null
// RUN: proteus-opt %s -split-input-file --check-lowering="seed=7" -verify-diagnostics=only-expected -o /dev/null

// Every iterator of the operations that layers are written with is split, most
// into unequal parts.

// Activations, split unevenly both ways.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @activations(
      %x: tensor<6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<6x10xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "w1"},
      %w2: tensor<10x10xf32> {nn.role = "parameter", nn.path = "w2"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<6x8xf32>, tensor<10x8xf32>) -> tensor<6x10xf32>
    %1 = nn.silu "silu"(%0) : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %2 = nn.tanh "tanh"(%1) : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %3 = nn.sigmoid "sigmoid"(%2) : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %4 = nn.linear "fc2"(%3, %w2) : (tensor<6x10xf32>, tensor<10x10xf32>) -> tensor<6x10xf32>
    %loss = nn.mse_loss "loss"(%4, %target) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @activations {
    mesh [a = 4, b = 2]
    node "silu" { split op [batch -> a, hidden -> b] }
    node "tanh" { split op [batch -> b, hidden -> a] }
    node "sigmoid" { split op [hidden -> [a, b]] }
    node "loss" { split op [batch -> a, hidden -> b] }
  }
}

// -----

// Products: the repeated operand is split with the dimension it has, and its
// gradient is summed over the others.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @products(
      %x: tensor<6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<6x10xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "w1"},
      %w2: tensor<10x10xf32> {nn.role = "parameter", nn.path = "w2"},
      %g: tensor<10xf32> {nn.role = "parameter", nn.path = "g"},
      %u: tensor<10x8xf32> {nn.role = "parameter", nn.path = "u"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<6x8xf32>, tensor<10x8xf32>) -> tensor<6x10xf32>
    %1 = nn.mul "mul"(%0, %g) : (tensor<6x10xf32>, tensor<10xf32>) -> tensor<6x10xf32>
    %2 = nn.linear "up"(%x, %u) : (tensor<6x8xf32>, tensor<10x8xf32>) -> tensor<6x10xf32>
    %3 = nn.swiglu "swiglu"(%1, %2) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
    %4 = nn.mul "square"(%3, %1) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<6x10xf32>
    %5 = nn.linear "fc2"(%4, %w2) : (tensor<6x10xf32>, tensor<10x10xf32>) -> tensor<6x10xf32>
    %loss = nn.mse_loss "loss"(%5, %target) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @products {
    mesh [a = 4, b = 2]
    node "mul" { split op [batch -> a, hidden -> b] }
    node "swiglu" { split op [batch -> b, hidden -> a] }
    node "square" { split op [batch -> a] }
    node "loss" { split op [hidden -> a] }
  }
}

// -----

// Partial sums pass through a product with a constant.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @scaled_partial_sums(
      %x: tensor<6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<6x10xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "w1"},
      %w2: tensor<10x10xf32> {nn.role = "parameter", nn.path = "w2"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<6x8xf32>, tensor<10x8xf32>) -> tensor<6x10xf32>
    %1 = nn.scale "scale"(%0) {factor = 0.5 : f64} : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %2 = nn.silu "act"(%1) : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %3 = nn.linear "fc2"(%2, %w2) : (tensor<6x10xf32>, tensor<10x10xf32>) -> tensor<6x10xf32>
    %loss = nn.mse_loss "loss"(%3, %target) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @scaled_partial_sums {
    mesh [tp = 3, dp = 2]
    split op [batch -> dp]
    node "fc1" { split op [in -> tp] }
    node "act" { split op [hidden -> tp] }
  }
}

// -----

// Rotations know their place in a sequence that is split unevenly, per head.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @rotary_embedding(
      %x: tensor<4x6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<4x6x8xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<24x8xf32> {nn.role = "parameter", nn.path = "w1"},
      %w2: tensor<8x24xf32> {nn.role = "parameter", nn.path = "w2"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "q"(%x, %w1) : (tensor<4x6x8xf32>, tensor<24x8xf32>) -> tensor<4x6x24xf32>
    %1 = nn.rope "rope"(%0) {heads = 4 : i64, base = 100.0 : f64} : (tensor<4x6x24xf32>) -> tensor<4x6x24xf32>
    %2 = nn.linear "proj"(%1, %w2) : (tensor<4x6x24xf32>, tensor<8x24xf32>) -> tensor<4x6x8xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @rotary_embedding {
    mesh [dp = 2, cp = 4, tp = 2]
    split op [batch -> dp]
    node "rope" { split op [seq -> cp, head -> tp] }
  }
}

// -----

// Partial sums pass through a rotation.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @rotated_partial_sums(
      %x: tensor<4x6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<4x6x8xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<24x8xf32> {nn.role = "parameter", nn.path = "w1"},
      %w2: tensor<8x24xf32> {nn.role = "parameter", nn.path = "w2"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "q"(%x, %w1) : (tensor<4x6x8xf32>, tensor<24x8xf32>) -> tensor<4x6x24xf32>
    %1 = nn.rope "rope"(%0) {heads = 4 : i64} : (tensor<4x6x24xf32>) -> tensor<4x6x24xf32>
    %2 = nn.linear "proj"(%1, %w2) : (tensor<4x6x24xf32>, tensor<8x24xf32>) -> tensor<4x6x8xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @rotated_partial_sums {
    mesh [dp = 2, tp = 3]
    split op [seq -> dp]
    node "q" { split op [in -> tp] }
  }
}

// -----

// A softmax whose rows are split unevenly: maximum and sum are reduced, and the
// dot product of the gradient.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @softmax_of_split_rows(
      %x: tensor<6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<6x10xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "w1"},
      %w2: tensor<10x10xf32> {nn.role = "parameter", nn.path = "w2"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<6x8xf32>, tensor<10x8xf32>) -> tensor<6x10xf32>
    %1 = nn.softmax "softmax"(%0) : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %2 = nn.linear "fc2"(%1, %w2) : (tensor<6x10xf32>, tensor<10x10xf32>) -> tensor<6x10xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @softmax_of_split_rows {
    mesh [dp = 2, tp = 3]
    split op [batch -> dp]
    node "softmax" { split op [vocab -> tp] }
  }
}

// -----

// Attention written out, split by heads.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @unfused_attention_heads(
      %x: tensor<2x6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<2x6x8xf32> {nn.role = "input", nn.path = "target"},
      %wq: tensor<16x8xf32> {nn.role = "parameter", nn.path = "wq"},
      %wk: tensor<16x8xf32> {nn.role = "parameter", nn.path = "wk"},
      %wv: tensor<16x8xf32> {nn.role = "parameter", nn.path = "wv"},
      %wo: tensor<8x16xf32> {nn.role = "parameter", nn.path = "wo"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %q0 = nn.linear "q"(%x, %wq) : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
    %q1 = nn.reshape "q_heads"(%q0) : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
    %q2 = nn.transpose "q_transpose"(%q1) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
    %k0 = nn.linear "k"(%x, %wk) : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
    %k1 = nn.reshape "k_heads"(%k0) : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
    %k2 = nn.transpose "k_transpose"(%k1) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
    %v0 = nn.linear "v"(%x, %wv) : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
    %v1 = nn.reshape "v_heads"(%v0) : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
    %v2 = nn.transpose "v_transpose"(%v1) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
    %s = nn.matmul "scores"(%q2, %k2) {transpose_b} : (tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>) -> tensor<2x4x6x6xf32>
    %s1 = nn.scale "scale"(%s) {factor = 0.5 : f64} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %s2 = nn.causal_mask "mask"(%s1) : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %s3 = nn.softmax "softmax"(%s2) : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %c = nn.matmul "context"(%s3, %v2) : (tensor<2x4x6x6xf32>, tensor<2x4x6x4xf32>) -> tensor<2x4x6x4xf32>
    %c1 = nn.transpose "merge"(%c) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x4xf32>) -> tensor<2x6x4x4xf32>
    %c2 = nn.reshape "flat"(%c1) : (tensor<2x6x4x4xf32>) -> tensor<2x6x16xf32>
    %y = nn.linear "proj"(%c2, %wo) : (tensor<2x6x16xf32>, tensor<8x16xf32>) -> tensor<2x6x8xf32>
    %loss = nn.mse_loss "loss"(%y, %target) : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @unfused_attention_heads {
    mesh [dp = 2, tp = 4]
    split op [batch -> dp]
    node "q" { split op [out -> tp] }
    node "k" { split op [out -> tp] }
    node "v" { split op [out -> tp] }
  }
}

// -----

// The same with queries and keys split, unevenly: masks know their place.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @unfused_attention_positions(
      %x: tensor<2x6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<2x6x8xf32> {nn.role = "input", nn.path = "target"},
      %wq: tensor<16x8xf32> {nn.role = "parameter", nn.path = "wq"},
      %wk: tensor<16x8xf32> {nn.role = "parameter", nn.path = "wk"},
      %wv: tensor<16x8xf32> {nn.role = "parameter", nn.path = "wv"},
      %wo: tensor<8x16xf32> {nn.role = "parameter", nn.path = "wo"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %q0 = nn.linear "q"(%x, %wq) : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
    %q1 = nn.reshape "q_heads"(%q0) : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
    %q2 = nn.transpose "q_transpose"(%q1) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
    %k0 = nn.linear "k"(%x, %wk) : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
    %k1 = nn.reshape "k_heads"(%k0) : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
    %k2 = nn.transpose "k_transpose"(%k1) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
    %v0 = nn.linear "v"(%x, %wv) : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
    %v1 = nn.reshape "v_heads"(%v0) : (tensor<2x6x16xf32>) -> tensor<2x6x4x4xf32>
    %v2 = nn.transpose "v_transpose"(%v1) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x4x4xf32>) -> tensor<2x4x6x4xf32>
    %s = nn.matmul "scores"(%q2, %k2) {transpose_b} : (tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>) -> tensor<2x4x6x6xf32>
    %s1 = nn.scale "scale"(%s) {factor = 0.5 : f64} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %s2 = nn.causal_mask "mask"(%s1) : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %s3 = nn.softmax "softmax"(%s2) : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
    %c = nn.matmul "context"(%s3, %v2) : (tensor<2x4x6x6xf32>, tensor<2x4x6x4xf32>) -> tensor<2x4x6x4xf32>
    %c1 = nn.transpose "merge"(%c) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x6x4xf32>) -> tensor<2x6x4x4xf32>
    %c2 = nn.reshape "flat"(%c1) : (tensor<2x6x4x4xf32>) -> tensor<2x6x16xf32>
    %y = nn.linear "proj"(%c2, %wo) : (tensor<2x6x16xf32>, tensor<8x16xf32>) -> tensor<2x6x8xf32>
    %loss = nn.mse_loss "loss"(%y, %target) : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @unfused_attention_positions {
    mesh [a = 4, b = 2]
    node "scores" { split op [m -> a, n -> b] }
    node "mask" { split op [seq -> a, key -> b] }
    node "softmax" { split op [height -> b, vocab -> a] }
    node "context" { split op [m -> b, k -> a] }
  }
}

// -----

// Every dimension of a transposition is split.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @transposed(
      %x: tensor<6x4x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<5x6x4xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<5x8xf32> {nn.role = "parameter", nn.path = "w1"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w1) : (tensor<6x4x8xf32>, tensor<5x8xf32>) -> tensor<6x4x5xf32>
    %1 = nn.transpose "t"(%0) {permutation = array<i64: 2, 0, 1>} : (tensor<6x4x5xf32>) -> tensor<5x6x4xf32>
    %2 = nn.tanh "act"(%1) : (tensor<5x6x4xf32>) -> tensor<5x6x4xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<5x6x4xf32>, tensor<5x6x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @transposed {
    mesh [a = 4, b = 2, c = 2]
    node "t" { split op [batch -> a, seq -> b, hidden -> c] }
    node "act" { split op [batch -> b, seq -> c, hidden -> a] }
  }
}

// -----

// Pieces are joined within groups that are split; a piece is a parameter.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @joined(
      %x: tensor<6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<6x12xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w1"},
      %p: tensor<6x4xf32> {nn.role = "parameter", nn.path = "p"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w1) : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
    %1 = nn.concat "concat"(%0, %p) {groups = 4 : i64} : (tensor<6x8xf32>, tensor<6x4xf32>) -> tensor<6x12xf32>
    %2 = nn.tanh "act"(%1) : (tensor<6x12xf32>) -> tensor<6x12xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<6x12xf32>, tensor<6x12xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @joined {
    mesh [dp = 3, tp = 4]
    node "concat" { split op [head -> tp, batch -> dp] }
    node "fc" { split op [batch -> dp] }
  }
}

// -----

// Sums over split dimensions, and their inverse.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @summed_and_repeated(
      %x: tensor<6x5x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<6x5x10xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "w1"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w1) : (tensor<6x5x8xf32>, tensor<10x8xf32>) -> tensor<6x5x10xf32>
    %1 = nn.reduce_sum "sum"(%0) {keep = array<i64: 0, 2>} : (tensor<6x5x10xf32>) -> tensor<6x10xf32>
    %2 = nn.tanh "act"(%1) : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %3 = nn.broadcast "repeat"(%2) {keep = array<i64: 0, 2>} : (tensor<6x10xf32>) -> tensor<6x5x10xf32>
    %4 = nn.mul "mul"(%3, %0) : (tensor<6x5x10xf32>, tensor<6x5x10xf32>) -> tensor<6x5x10xf32>
    %loss = nn.mse_loss "loss"(%4, %target) : (tensor<6x5x10xf32>, tensor<6x5x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @summed_and_repeated {
    mesh [a = 4, b = 3, c = 2]
    node "sum" { split op [batch -> a, seq -> b, hidden -> c] }
    node "repeat" { split op [batch -> b, seq -> a, hidden -> c] }
  }
}

// -----

// A sum over positions only, of which no more is read than their number.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @sums_in_a_row(
      %x: tensor<6x5x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<6xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "w1"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w1) : (tensor<6x5x8xf32>, tensor<10x8xf32>) -> tensor<6x5x10xf32>
    %1 = nn.reduce_sum "sum"(%0) {keep = array<i64: 0>} : (tensor<6x5x10xf32>) -> tensor<6xf32>
    %2 = nn.sigmoid "act"(%1) : (tensor<6xf32>) -> tensor<6xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<6xf32>, tensor<6xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sums_in_a_row {
    mesh [dp = 2, b = 3, c = 2]
    schedule micro_batches = 3
    split op [batch -> dp]
    node "sum" { split op [seq -> b, hidden -> c] }
  }
}

// -----

// Rows of an RMS normalisation are independent; the scale sums over them.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @rms_norm(
      %x: tensor<4x6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<4x6x8xf32> {nn.role = "input", nn.path = "target"},
      %g: tensor<8xf32> {nn.role = "parameter", nn.path = "g"},
      %w1: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w1"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w1) : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32>
    %1 = nn.rms_norm "norm"(%0, %g) : (tensor<4x6x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32>
    %loss = nn.mse_loss "loss"(%1, %target) : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @rms_norm {
    mesh [dp = 2, cp = 4]
    schedule micro_batches = 2
    split op [batch -> dp, seq -> cp]
  }
}

// -----

// Synchronised batch normalisation: one group over all devices, in unequal
// parts, with the channels split as well.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @synchronised_batch_norm(
      %x: tensor<6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<6x10xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "w1"},
      %w2: tensor<10x10xf32> {nn.role = "parameter", nn.path = "w2"},
      %ng: tensor<10xf32> {nn.role = "parameter", nn.path = "ng"},
      %nb: tensor<10xf32> {nn.role = "parameter", nn.path = "nb"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<6x8xf32>, tensor<10x8xf32>) -> tensor<6x10xf32>
    %1, %mean, %inverse = nn.batch_norm "norm"(%0, %ng, %nb) {groups = 1 : i64} : (tensor<6x10xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<6x10xf32>, tensor<1x10xf32>, tensor<1x10xf32>)
    %2 = nn.linear "fc2"(%1, %w2) : (tensor<6x10xf32>, tensor<10x10xf32>) -> tensor<6x10xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @synchronised_batch_norm {
    mesh [dp = 4, tp = 2]
    split op [batch -> dp]
    node "norm" { split op [channel -> tp] }
  }
}

// -----

// The same on images.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @synchronised_batch_norm_of_images(
      %x: tensor<4x3x6x6xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<4x144xf32> {nn.role = "input", nn.path = "target"},
      %w: tensor<4x3x3x3xf32> {nn.role = "parameter", nn.path = "w"},
      %ng: tensor<4xf32> {nn.role = "parameter", nn.path = "ng"},
      %nb: tensor<4xf32> {nn.role = "parameter", nn.path = "nb"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.conv2d "conv"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<4x3x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<4x4x6x6xf32>
    %1, %mean, %inverse = nn.batch_norm "norm"(%0, %ng, %nb) {groups = 1 : i64} : (tensor<4x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4x6x6xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
    %2 = nn.relu "act"(%1) : (tensor<4x4x6x6xf32>) -> tensor<4x4x6x6xf32>
    %3 = nn.reshape "flat"(%2) : (tensor<4x4x6x6xf32>) -> tensor<4x144xf32>
    %loss = nn.mse_loss "loss"(%3, %target) : (tensor<4x144xf32>, tensor<4x144xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @synchronised_batch_norm_of_images {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "conv" { split op [out -> tp] }
  }
}

// -----

// Statistics per micro-batch and replica: nothing is exchanged for them.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @batch_norm_per_replica(
      %x: tensor<4x3x6x6xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<4x144xf32> {nn.role = "input", nn.path = "target"},
      %w: tensor<4x3x3x3xf32> {nn.role = "parameter", nn.path = "w"},
      %ng: tensor<4xf32> {nn.role = "parameter", nn.path = "ng"},
      %nb: tensor<4xf32> {nn.role = "parameter", nn.path = "nb"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.conv2d "conv"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<4x3x6x6xf32>, tensor<4x3x3x3xf32>) -> tensor<4x4x6x6xf32>
    %1, %mean, %inverse = nn.batch_norm "norm"(%0, %ng, %nb) {groups = 4 : i64} : (tensor<4x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4x6x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
    %2 = nn.relu "act"(%1) : (tensor<4x4x6x6xf32>) -> tensor<4x4x6x6xf32>
    %3 = nn.reshape "flat"(%2) : (tensor<4x4x6x6xf32>) -> tensor<4x144xf32>
    %loss = nn.mse_loss "loss"(%3, %target) : (tensor<4x144xf32>, tensor<4x144xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @batch_norm_per_replica {
    mesh [dp = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "conv" { split op [out -> tp] }
  }
}

// -----

// Bags of rows: a split of the rows gives partial sums.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @bags_over_rows(
      %ids: tensor<6x3xi32> {nn.role = "input", nn.path = "ids"},
      %target: tensor<6x10xf32> {nn.role = "input", nn.path = "target"},
      %t: tensor<7x10xf32> {nn.role = "parameter", nn.path = "t"},
      %w2: tensor<10x10xf32> {nn.role = "parameter", nn.path = "w2"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.embedding_bag "bag"(%ids, %t) : (tensor<6x3xi32>, tensor<7x10xf32>) -> tensor<6x10xf32>
    %1 = nn.linear "fc"(%0, %w2) : (tensor<6x10xf32>, tensor<10x10xf32>) -> tensor<6x10xf32>
    %loss = nn.mse_loss "loss"(%1, %target) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @bags_over_rows {
    mesh [dp = 2, a = 4, b = 2]
    split op [batch -> dp]
    node "bag" { split op [vocab -> a, hidden -> b] }
  }
}

// -----

// Stacked tables over devices, the rest over samples.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @tables_over_devices(
      %ids: tensor<6x5x3xi32> {nn.role = "input", nn.path = "ids"},
      %target: tensor<6x10xf32> {nn.role = "input", nn.path = "target"},
      %t: tensor<5x7x4xf32> {nn.role = "parameter", nn.path = "t"},
      %w2: tensor<10x10xf32> {nn.role = "parameter", nn.path = "w2"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.embedding_bag "bag"(%ids, %t) : (tensor<6x5x3xi32>, tensor<5x7x4xf32>) -> tensor<6x5x4xf32>
    %1 = nn.interaction "interaction"(%0) : (tensor<6x5x4xf32>) -> tensor<6x10xf32>
    %2 = nn.linear "fc"(%1, %w2) : (tensor<6x10xf32>, tensor<10x10xf32>) -> tensor<6x10xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tables_over_devices {
    mesh [d = 4]
    split op [batch -> d]
    node "bag" { split op [batch -> [], table -> d] }
  }
}

// -----

// Dot products over split vectors are partial sums.

module attributes {proteus.cluster = "dgx-a100:3"} {
  // expected-remark @below {{lowering is right}}
  func.func @interaction_over_vectors(
      %x: tensor<6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<6x10xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<35x8xf32> {nn.role = "parameter", nn.path = "w1"},
      %w2: tensor<10x10xf32> {nn.role = "parameter", nn.path = "w2"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<6x8xf32>, tensor<35x8xf32>) -> tensor<6x35xf32>
    %1 = nn.reshape "features"(%0) : (tensor<6x35xf32>) -> tensor<6x5x7xf32>
    %2 = nn.interaction "interaction"(%1) : (tensor<6x5x7xf32>) -> tensor<6x10xf32>
    %3 = nn.linear "fc2"(%2, %w2) : (tensor<6x10xf32>, tensor<10x10xf32>) -> tensor<6x10xf32>
    %loss = nn.mse_loss "loss"(%3, %target) : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @interaction_over_vectors {
    mesh [dp = 4, tp = 2]
    split op [batch -> dp]
    node "interaction" { split op [dim -> tp] }
  }
}

// -----

// The width of a head is a minor part of what the reshape makes of it: the split
// ends there.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @split_that_a_reshape_ends(
      %x: tensor<4x6x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<4x6x8xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w1"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc"(%x, %w1) : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32>
    %1 = nn.reshape "heads"(%0) : (tensor<4x6x8xf32>) -> tensor<4x6x2x4xf32>
    %2 = nn.tanh "act"(%1) : (tensor<4x6x2x4xf32>) -> tensor<4x6x2x4xf32>
    %3 = nn.reshape "flat"(%2) : (tensor<4x6x2x4xf32>) -> tensor<4x6x8xf32>
    %loss = nn.mse_loss "loss"(%3, %target) : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @split_that_a_reshape_ends {
    mesh [tp = 4]
    node "act" { split op [width -> tp] }
  }
}

// -----

// A parameter that all iterations read: its gradient is summed up over iterations,
// micro-batches and devices.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @captured(
      %x: tensor<12x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<12xi32> {nn.role = "input", nn.path = "labels"},
      %shared: tensor<4x4xf32> {nn.role = "parameter", nn.path = "shared.weight"},
      %head: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<12x4xf32>) -> (tensor<12x4xf32>) {
      %0 = nn.linear "shared"(%h, %shared) : (tensor<12x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
      %1 = nn.gelu "act"(%0) : (tensor<12x4xf32>) -> tensor<12x4xf32>
      %2 = nn.add "residual"(%h, %1) : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x4xf32>
      nn.yield %2 : tensor<12x4xf32>
    }
    %z = nn.linear "head"(%y, %head) : (tensor<12x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%z, %labels) : (tensor<12x4xf32>, tensor<12xi32>) -> (tensor<f32>, tensor<12xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @captured {
    mesh [dp = 2, tp = 2]
    schedule micro_batches = 3
    split op [batch -> dp]
    node "layers[*].shared" { split op [batch -> dp, out -> tp] }
  }
}

// -----

// The same with a single iteration.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @captured_once(
      %x: tensor<12x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<12xi32> {nn.role = "input", nn.path = "labels"},
      %shared: tensor<4x4xf32> {nn.role = "parameter", nn.path = "shared.weight"},
      %head: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %y = nn.repeat "layers" count 1 carry(%h = %x : tensor<12x4xf32>) -> (tensor<12x4xf32>) {
      %0 = nn.linear "shared"(%h, %shared) : (tensor<12x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
      %1 = nn.gelu "act"(%0) : (tensor<12x4xf32>) -> tensor<12x4xf32>
      %2 = nn.add "residual"(%h, %1) : (tensor<12x4xf32>, tensor<12x4xf32>) -> tensor<12x4xf32>
      nn.yield %2 : tensor<12x4xf32>
    }
    %z = nn.linear "head"(%y, %head) : (tensor<12x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%z, %labels) : (tensor<12x4xf32>, tensor<12xi32>) -> (tensor<f32>, tensor<12xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @captured_once {
    mesh [dp = 2, tp = 2]
    schedule micro_batches = 3
    split op [batch -> dp]
    node "layers[*].shared" { split op [batch -> dp, out -> tp] }
  }
}

// -----

// The gradient of a bias in front of a batch normalisation is zero: what is left of
// it in both programs is rounding.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @bias_without_effect(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<8x10xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<10xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<10x10xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %ng: tensor<10xf32> {nn.role = "parameter", nn.path = "norm.weight"},
      %nb: tensor<10xf32> {nn.role = "parameter", nn.path = "norm.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8x8xf32>, tensor<10x8xf32>, tensor<10xf32>) -> tensor<8x10xf32>
    %1, %mean, %inverse = nn.batch_norm "norm"(%0, %ng, %nb) {groups = 1 : i64} : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<8x10xf32>, tensor<1x10xf32>, tensor<1x10xf32>)
    %2 = nn.linear "fc2"(%1, %w2) : (tensor<8x10xf32>, tensor<10x10xf32>) -> tensor<8x10xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @bias_without_effect {
    mesh [dp = 4]
    split op [batch -> dp]
  }
}

// -----

// Groups of channels are split over devices; the bias goes with them.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @grouped(
      %x: tensor<8x3x6x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<8x3x1x1xf32> {nn.role = "parameter", nn.path = "conv1.weight"},
      %w2: tensor<12x2x3x3xf32> {nn.role = "parameter", nn.path = "conv2.weight"},
      %b2: tensor<12xf32> {nn.role = "parameter", nn.path = "conv2.bias"},
      %w3: tensor<4x12x1x1xf32> {nn.role = "parameter", nn.path = "conv3.weight"},
      %wo: tensor<6x144xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.conv2d "conv1"(%x, %w1) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<8x3x6x6xf32>, tensor<8x3x1x1xf32>) -> tensor<8x8x6x6xf32>
    %1 = nn.conv2d "conv2"(%0, %w2, %b2) {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 4 : i64} : (tensor<8x8x6x6xf32>, tensor<12x2x3x3xf32>, tensor<12xf32>) -> tensor<8x12x6x6xf32>
    %2 = nn.relu "act"(%1) : (tensor<8x12x6x6xf32>) -> tensor<8x12x6x6xf32>
    %3 = nn.conv2d "conv3"(%2, %w3) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<8x12x6x6xf32>, tensor<4x12x1x1xf32>) -> tensor<8x4x6x6xf32>
    %4 = nn.reshape "flatten"(%3) : (tensor<8x4x6x6xf32>) -> tensor<8x144xf32>
    %5 = nn.linear "fc"(%4, %wo) : (tensor<8x144xf32>, tensor<6x144xf32>) -> tensor<8x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%5, %t) : (tensor<8x6xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @grouped {
    mesh [dp = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "conv2" { split op [group -> tp] }
    node "conv3" { split op [in -> tp] }
  }
}

// -----

// The batch of a recurrent layer is split, unevenly; its weight is summed.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @recurrent(
      %x: tensor<10x4x3xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<10x4x5xf32> {nn.role = "input", nn.path = "target"},
      %wx: tensor<20x3xf32> {nn.role = "parameter", nn.path = "lstm.input"},
      %wh: tensor<20x5xf32> {nn.role = "parameter", nn.path = "lstm.recurrent"},
      %b: tensor<20xf32> {nn.role = "parameter", nn.path = "lstm.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "lstm.input"(%x, %wx) : (tensor<10x4x3xf32>, tensor<20x3xf32>) -> tensor<10x4x20xf32>
    %1, %gates, %cells = nn.lstm "lstm"(%0, %wh, %b) : (tensor<10x4x20xf32>, tensor<20x5xf32>, tensor<20xf32>) -> (tensor<10x4x5xf32>, tensor<10x4x20xf32>, tensor<10x4x5xf32>)
    %2 = nn.linear "second.input"(%1, %wh) : (tensor<10x4x5xf32>, tensor<20x5xf32>) -> tensor<10x4x20xf32>
    %3, %gates2, %cells2 = nn.lstm "second"(%2, %wh) {reverse} : (tensor<10x4x20xf32>, tensor<20x5xf32>) -> (tensor<10x4x5xf32>, tensor<10x4x20xf32>, tensor<10x4x5xf32>)
    %loss = nn.mse_loss "loss"(%3, %target) : (tensor<10x4x5xf32>, tensor<10x4x5xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @recurrent {
    mesh [dp = 4]
    split op [batch -> dp]
  }
}

// -----

// A piece that nothing reads: its gradient is zeroes, which no input reaches,
// and still a part of every micro-batch.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @unread(
      %x: tensor<8x6xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<8x4xf32> {nn.role = "input", nn.path = "target"},
      %w: tensor<10x6xf32> {nn.role = "parameter", nn.path = "w"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x6xf32>, tensor<10x6xf32>) -> tensor<8x10xf32>
    %1, %2 = nn.split "split"(%0) : (tensor<8x10xf32>) -> (tensor<8x4xf32>, tensor<8x6xf32>)
    %loss = nn.mse_loss "loss"(%1, %target) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @unread {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}

// -----

// Layers that all read one value of outside, under micro-batches: its gradient
// is a sum that starts from zeroes. The layers are on two stages.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @captured(
      %x: tensor<8x6xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<8x6xf32> {nn.role = "input", nn.path = "target"},
      %w: tensor<6x6xf32> {nn.role = "parameter", nn.path = "w"},
      %ws: tensor<4x6x6xf32> {nn.role = "parameter", nn.path = "layers[*].w"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %memory = nn.linear "memory"(%x, %w) : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %y = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x6xf32>)
        slice(%wi = %ws : tensor<4x6x6xf32> to tensor<6x6xf32>) -> (tensor<8x6xf32>) {
      %0 = nn.linear "fc"(%h, %wi) : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
      %1 = nn.mul "mul"(%0, %memory) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
      nn.yield %1 : tensor<8x6xf32>
    }
    %loss = nn.mse_loss "loss"(%y, %target) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @captured {
    mesh [dp = 2, pp = 2]
    schedule micro_batches = 2 order = "1f1b"
    split op [batch -> dp]
    node "layers[*]" { stages pp }
  }
}

// -----

// A table that is repeated for every sample, forward.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @repeated_table(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<8x4x5xf32> {nn.role = "input", nn.path = "target"},
      %table: tensor<5x6xf32> {nn.role = "parameter", nn.path = "table"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.broadcast "repeat"(%table) {keep = array<i64: 1, 2>} : (tensor<5x6xf32>) -> tensor<8x5x6xf32>
    %1 = nn.matmul "product"(%x, %0) {transpose_b} : (tensor<8x4x6xf32>, tensor<8x5x6xf32>) -> tensor<8x4x5xf32>
    %loss = nn.mse_loss "loss"(%1, %target) : (tensor<8x4x5xf32>, tensor<8x4x5xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @repeated_table {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}
