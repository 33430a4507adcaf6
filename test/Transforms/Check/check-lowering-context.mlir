// RUN: proteus-opt %s -split-input-file -verify-diagnostics --check-lowering -o /dev/null
// RUN: proteus-opt %s -split-input-file -verify-diagnostics --unroll-repeats --check-lowering -o /dev/null

// Sequences that are cut over devices, together with what else a strategy may say.

// A ring with shared keys, heads over tp, micro-batches and recomputation.
module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark@+1 {{lowering is right}}
  func.func @f(%ids: tensor<8x8xi32> {nn.role = "input"}, %labels: tensor<8x8xi32> {nn.role = "input"},
               %table: tensor<6x8xf32> {nn.role = "parameter"}, %pos: tensor<8x8xf32> {nn.role = "parameter"},
               %wq: tensor<2x8x8xf32> {nn.role = "parameter"}, %wk: tensor<2x4x8xf32> {nn.role = "parameter"},
               %wv: tensor<2x4x8xf32> {nn.role = "parameter"}, %wo: tensor<2x8x8xf32> {nn.role = "parameter"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %e = nn.embedding "embedding"(%ids, %table) : (tensor<8x8xi32>, tensor<6x8xf32>) -> tensor<8x8x8xf32>
    %x = nn.add "position"(%e, %pos) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x8x8xf32>)
        slice(%q_w = %wq : tensor<2x8x8xf32> to tensor<8x8xf32>, %k_w = %wk : tensor<2x4x8xf32> to tensor<4x8xf32>,
              %v_w = %wv : tensor<2x4x8xf32> to tensor<4x8xf32>, %o_w = %wo : tensor<2x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x8x8xf32>) {
      %q = nn.linear "q"(%h, %q_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %k = nn.linear "k"(%h, %k_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %v = nn.linear "v"(%h, %v_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %a, %lse = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, kv_heads = 2 : i64, causal} : (tensor<8x8x8xf32>, tensor<8x8x4xf32>, tensor<8x8x4xf32>) -> (tensor<8x8x8xf32>, tensor<8x4x8xf32>)
      %o = nn.linear "o"(%a, %o_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %d, %mask = nn.dropout "drop"(%o) {probability = 2.5e-01 : f64, seed = 3 : i64} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8x8xi8>)
      %r = nn.add "residual"(%h, %d) : (tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
      nn.yield %r : tensor<8x8x8xf32>
    }
    %logits = nn.linear "head"(%y, %table) : (tensor<8x8x8xf32>, tensor<6x8xf32>) -> tensor<8x8x6xf32>
    %loss, %l = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x8x6xf32>, tensor<8x8xi32>) -> (tensor<f32>, tensor<8x8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, cp = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> dp, seq -> cp]
    node "layers[*]" {
      recompute
      node "q" { split op [out -> tp] }
      node "k" { split op [out -> tp] }
      node "v" { split op [out -> tp] }
      node "core" { split op [head -> tp, key -> ring cp] }
    }
  }
}

// -----

// A ring over two axes, major last, with zigzag parts.
module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark@+1 {{lowering is right}}
  func.func @f(%ids: tensor<8x8xi32> {nn.role = "input"}, %labels: tensor<8x8xi32> {nn.role = "input"},
               %table: tensor<6x8xf32> {nn.role = "parameter"}, %pos: tensor<8x8xf32> {nn.role = "parameter"},
               %wq: tensor<1x8x8xf32> {nn.role = "parameter"}, %wk: tensor<1x4x8xf32> {nn.role = "parameter"},
               %wv: tensor<1x4x8xf32> {nn.role = "parameter"}, %wo: tensor<1x8x8xf32> {nn.role = "parameter"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %e = nn.embedding "embedding"(%ids, %table) : (tensor<8x8xi32>, tensor<6x8xf32>) -> tensor<8x8x8xf32>
    %x = nn.add "position"(%e, %pos) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
    %y = nn.repeat "layers" count 1 carry(%h = %x : tensor<8x8x8xf32>)
        slice(%q_w = %wq : tensor<1x8x8xf32> to tensor<8x8xf32>, %k_w = %wk : tensor<1x4x8xf32> to tensor<4x8xf32>,
              %v_w = %wv : tensor<1x4x8xf32> to tensor<4x8xf32>, %o_w = %wo : tensor<1x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x8x8xf32>) {
      %q = nn.linear "q"(%h, %q_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %k = nn.linear "k"(%h, %k_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %v = nn.linear "v"(%h, %v_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %a, %lse = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, kv_heads = 2 : i64, causal} : (tensor<8x8x8xf32>, tensor<8x8x4xf32>, tensor<8x8x4xf32>) -> (tensor<8x8x8xf32>, tensor<8x4x8xf32>)
      %o = nn.linear "o"(%a, %o_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %d, %mask = nn.dropout "drop"(%o) {probability = 2.5e-01 : f64, seed = 3 : i64} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8x8xi8>)
      %r = nn.add "residual"(%h, %d) : (tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
      nn.yield %r : tensor<8x8x8xf32>
    }
    %logits = nn.linear "head"(%y, %table) : (tensor<8x8x8xf32>, tensor<6x8xf32>) -> tensor<8x8x6xf32>
    %loss, %l = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x8x6xf32>, tensor<8x8xi32>) -> (tensor<f32>, tensor<8x8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [a = 2, b = 2]
    split op [seq -> zigzag [b, a]]
    node "layers[*].core" { split op [key -> ring zigzag [b, a]] }
  }
}

// -----

// Blocks of unequal sizes go round.
module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark@+1 {{lowering is right}}
  func.func @f(%ids: tensor<8x7xi32> {nn.role = "input"}, %labels: tensor<8x7xi32> {nn.role = "input"},
               %table: tensor<6x8xf32> {nn.role = "parameter"}, %pos: tensor<7x8xf32> {nn.role = "parameter"},
               %wq: tensor<2x8x8xf32> {nn.role = "parameter"}, %wk: tensor<2x4x8xf32> {nn.role = "parameter"},
               %wv: tensor<2x4x8xf32> {nn.role = "parameter"}, %wo: tensor<2x8x8xf32> {nn.role = "parameter"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %e = nn.embedding "embedding"(%ids, %table) : (tensor<8x7xi32>, tensor<6x8xf32>) -> tensor<8x7x8xf32>
    %x = nn.add "position"(%e, %pos) : (tensor<8x7x8xf32>, tensor<7x8xf32>) -> tensor<8x7x8xf32>
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x7x8xf32>)
        slice(%q_w = %wq : tensor<2x8x8xf32> to tensor<8x8xf32>, %k_w = %wk : tensor<2x4x8xf32> to tensor<4x8xf32>,
              %v_w = %wv : tensor<2x4x8xf32> to tensor<4x8xf32>, %o_w = %wo : tensor<2x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x7x8xf32>) {
      %q = nn.linear "q"(%h, %q_w) : (tensor<8x7x8xf32>, tensor<8x8xf32>) -> tensor<8x7x8xf32>
      %k = nn.linear "k"(%h, %k_w) : (tensor<8x7x8xf32>, tensor<4x8xf32>) -> tensor<8x7x4xf32>
      %v = nn.linear "v"(%h, %v_w) : (tensor<8x7x8xf32>, tensor<4x8xf32>) -> tensor<8x7x4xf32>
      %a, %lse = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, kv_heads = 2 : i64, causal} : (tensor<8x7x8xf32>, tensor<8x7x4xf32>, tensor<8x7x4xf32>) -> (tensor<8x7x8xf32>, tensor<8x4x7xf32>)
      %o = nn.linear "o"(%a, %o_w) : (tensor<8x7x8xf32>, tensor<8x8xf32>) -> tensor<8x7x8xf32>
      %d, %mask = nn.dropout "drop"(%o) {probability = 2.5e-01 : f64, seed = 3 : i64} : (tensor<8x7x8xf32>) -> (tensor<8x7x8xf32>, tensor<8x7x8xi8>)
      %r = nn.add "residual"(%h, %d) : (tensor<8x7x8xf32>, tensor<8x7x8xf32>) -> tensor<8x7x8xf32>
      nn.yield %r : tensor<8x7x8xf32>
    }
    %logits = nn.linear "head"(%y, %table) : (tensor<8x7x8xf32>, tensor<6x8xf32>) -> tensor<8x7x6xf32>
    %loss, %l = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x7x6xf32>, tensor<8x7xi32>) -> (tensor<f32>, tensor<8x7xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [cp = 3]
    split op [seq -> cp]
    node "layers[*].core" { split op [key -> ring cp] }
  }
}

// -----

// Zigzag parts whose keys are gathered.
module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark@+1 {{lowering is right}}
  func.func @f(%ids: tensor<8x8xi32> {nn.role = "input"}, %labels: tensor<8x8xi32> {nn.role = "input"},
               %table: tensor<6x8xf32> {nn.role = "parameter"}, %pos: tensor<8x8xf32> {nn.role = "parameter"},
               %wq: tensor<2x8x8xf32> {nn.role = "parameter"}, %wk: tensor<2x4x8xf32> {nn.role = "parameter"},
               %wv: tensor<2x4x8xf32> {nn.role = "parameter"}, %wo: tensor<2x8x8xf32> {nn.role = "parameter"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %e = nn.embedding "embedding"(%ids, %table) : (tensor<8x8xi32>, tensor<6x8xf32>) -> tensor<8x8x8xf32>
    %x = nn.add "position"(%e, %pos) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x8x8xf32>)
        slice(%q_w = %wq : tensor<2x8x8xf32> to tensor<8x8xf32>, %k_w = %wk : tensor<2x4x8xf32> to tensor<4x8xf32>,
              %v_w = %wv : tensor<2x4x8xf32> to tensor<4x8xf32>, %o_w = %wo : tensor<2x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x8x8xf32>) {
      %q = nn.linear "q"(%h, %q_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %k = nn.linear "k"(%h, %k_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %v = nn.linear "v"(%h, %v_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %a, %lse = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, kv_heads = 2 : i64, causal} : (tensor<8x8x8xf32>, tensor<8x8x4xf32>, tensor<8x8x4xf32>) -> (tensor<8x8x8xf32>, tensor<8x4x8xf32>)
      %o = nn.linear "o"(%a, %o_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %d, %mask = nn.dropout "drop"(%o) {probability = 2.5e-01 : f64, seed = 3 : i64} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8x8xi8>)
      %r = nn.add "residual"(%h, %d) : (tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
      nn.yield %r : tensor<8x8x8xf32>
    }
    %logits = nn.linear "head"(%y, %table) : (tensor<8x8x8xf32>, tensor<6x8xf32>) -> tensor<8x8x6xf32>
    %loss, %l = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x8x6xf32>, tensor<8x8xi32>) -> (tensor<f32>, tensor<8x8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, cp = 2]
    split op [batch -> dp, seq -> zigzag cp]
  }
}

// -----

// Zigzag parts turned into whole sequences of some heads.
module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark@+1 {{lowering is right}}
  func.func @f(%ids: tensor<8x8xi32> {nn.role = "input"}, %labels: tensor<8x8xi32> {nn.role = "input"},
               %table: tensor<6x8xf32> {nn.role = "parameter"}, %pos: tensor<8x8xf32> {nn.role = "parameter"},
               %wq: tensor<2x8x8xf32> {nn.role = "parameter"}, %wk: tensor<2x4x8xf32> {nn.role = "parameter"},
               %wv: tensor<2x4x8xf32> {nn.role = "parameter"}, %wo: tensor<2x8x8xf32> {nn.role = "parameter"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %e = nn.embedding "embedding"(%ids, %table) : (tensor<8x8xi32>, tensor<6x8xf32>) -> tensor<8x8x8xf32>
    %x = nn.add "position"(%e, %pos) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x8x8xf32>)
        slice(%q_w = %wq : tensor<2x8x8xf32> to tensor<8x8xf32>, %k_w = %wk : tensor<2x4x8xf32> to tensor<4x8xf32>,
              %v_w = %wv : tensor<2x4x8xf32> to tensor<4x8xf32>, %o_w = %wo : tensor<2x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x8x8xf32>) {
      %q = nn.linear "q"(%h, %q_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %k = nn.linear "k"(%h, %k_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %v = nn.linear "v"(%h, %v_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %a, %lse = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, kv_heads = 2 : i64, causal} : (tensor<8x8x8xf32>, tensor<8x8x4xf32>, tensor<8x8x4xf32>) -> (tensor<8x8x8xf32>, tensor<8x4x8xf32>)
      %o = nn.linear "o"(%a, %o_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %d, %mask = nn.dropout "drop"(%o) {probability = 2.5e-01 : f64, seed = 3 : i64} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8x8xi8>)
      %r = nn.add "residual"(%h, %d) : (tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
      nn.yield %r : tensor<8x8x8xf32>
    }
    %logits = nn.linear "head"(%y, %table) : (tensor<8x8x8xf32>, tensor<6x8xf32>) -> tensor<8x8x6xf32>
    %loss, %l = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x8x6xf32>, tensor<8x8xi32>) -> (tensor<f32>, tensor<8x8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [cp = 2]
    split op [seq -> zigzag cp]
    node "layers[*].core" { split op [seq -> [], head -> cp] }
  }
}

// -----

// A zigzag ring in contiguous surroundings: the parts are dealt out anew.
module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark@+1 {{lowering is right}}
  func.func @f(%ids: tensor<8x8xi32> {nn.role = "input"}, %labels: tensor<8x8xi32> {nn.role = "input"},
               %table: tensor<6x8xf32> {nn.role = "parameter"}, %pos: tensor<8x8xf32> {nn.role = "parameter"},
               %wq: tensor<1x8x8xf32> {nn.role = "parameter"}, %wk: tensor<1x4x8xf32> {nn.role = "parameter"},
               %wv: tensor<1x4x8xf32> {nn.role = "parameter"}, %wo: tensor<1x8x8xf32> {nn.role = "parameter"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %e = nn.embedding "embedding"(%ids, %table) : (tensor<8x8xi32>, tensor<6x8xf32>) -> tensor<8x8x8xf32>
    %x = nn.add "position"(%e, %pos) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
    %y = nn.repeat "layers" count 1 carry(%h = %x : tensor<8x8x8xf32>)
        slice(%q_w = %wq : tensor<1x8x8xf32> to tensor<8x8xf32>, %k_w = %wk : tensor<1x4x8xf32> to tensor<4x8xf32>,
              %v_w = %wv : tensor<1x4x8xf32> to tensor<4x8xf32>, %o_w = %wo : tensor<1x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x8x8xf32>) {
      %q = nn.linear "q"(%h, %q_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %k = nn.linear "k"(%h, %k_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %v = nn.linear "v"(%h, %v_w) : (tensor<8x8x8xf32>, tensor<4x8xf32>) -> tensor<8x8x4xf32>
      %a, %lse = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, kv_heads = 2 : i64, causal} : (tensor<8x8x8xf32>, tensor<8x8x4xf32>, tensor<8x8x4xf32>) -> (tensor<8x8x8xf32>, tensor<8x4x8xf32>)
      %o = nn.linear "o"(%a, %o_w) : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8xf32>
      %d, %mask = nn.dropout "drop"(%o) {probability = 2.5e-01 : f64, seed = 3 : i64} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8x8xi8>)
      %r = nn.add "residual"(%h, %d) : (tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
      nn.yield %r : tensor<8x8x8xf32>
    }
    %logits = nn.linear "head"(%y, %table) : (tensor<8x8x8xf32>, tensor<6x8xf32>) -> tensor<8x8x6xf32>
    %loss, %l = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x8x6xf32>, tensor<8x8xi32>) -> (tensor<f32>, tensor<8x8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [cp = 2]
    split op [seq -> cp]
    node "layers[*].core" { split op [seq -> zigzag cp, key -> ring zigzag cp] }
  }
}
