// RUN: proteus-opt %s -split-input-file --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %s -split-input-file --unroll-repeats --check-lowering="seed=7" -verify-diagnostics -o /dev/null

// Pipelines executed before and after the lowering, layers repeated and written
// out.

// Interleaved chunks on two stages.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @interleaved(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @interleaved {
    mesh [pp = 2]
    schedule micro_batches = 4 virtual_stages = 2
    node "layers[*]" { stages pp }
  }
}

// -----

// The chunks of one stage: no messages, values pass from section to section.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @one_stage(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @one_stage {
    mesh [pp = 1]
    schedule micro_batches = 2 order = "interleaved" virtual_stages = 4
    node "layers[*]" { stages pp }
  }
}

// -----

// Interleaved chunks with replicas, split tensors, recomputation and split states.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @interleaved_hybrid(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @interleaved_hybrid {
    mesh [dp = 2, pp = 2, tp = 2]
    schedule micro_batches = 2 order = "interleaved" virtual_stages = 2
    split op [batch -> dp]
    split state [0 -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" {
      stages pp
      recompute
      node "fc1" { split op [out -> tp] }
    }
    node "head" { split op [out -> tp] }
  }
}

// -----

// Parameters that are gathered for every chunk.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @interleaved_gathered(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @interleaved_gathered {
    mesh [dp = 2, pp = 2]
    schedule micro_batches = 2 order = "gpipe" virtual_stages = 2
    split op [batch -> dp]
    split weight [0 -> dp]
    split state [0 -> dp]
    node "layers[*]" { stages pp }
  }
}

// -----

// Stages by hand: layers go round twice.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @round_twice(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @round_twice {
    mesh [pp = 2]
    schedule micro_batches = 4 order = "interleaved" virtual_stages = 2
    node "embedding" { at [pp = 0] }
    node "layers[0]" { at [pp = 0] }
    node "layers[1]" { at [pp = 1] }
    node "layers[2]" { at [pp = 0] }
    node "layers[3]" { at [pp = 1] }
    node "head" { at [pp = 1] }
  }
}

// -----

// Zero bubble: the gradients of parameters run later.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @zero_bubble(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @zero_bubble {
    mesh [pp = 2]
    schedule micro_batches = 4 order = "zero-bubble"
    node "layers[*]" { stages pp }
  }
}

// -----

// Zero bubble with recomputed layers, whose results both parts read.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @zero_bubble_recompute(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @zero_bubble_recompute {
    mesh [dp = 2, pp = 2, tp = 2]
    schedule micro_batches = 2 order = "zero-bubble" max_ongoing = 2
    split op [batch -> dp]
    split weight [0 -> dp]
    split state [0 -> dp]
    node "layers[*]" {
      stages pp
      recompute
      node "fc1" { split op [out -> tp] }
    }
  }
}

// -----

// Orders of one's own: chunks, and gradients in two parts on one stage.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @listed(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @listed {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit" virtual_stages = 2
    order stage 0 [F0, F1, F1.1, F0.1, I1.1, I0.1, B1, W0.1, B0, W1.1]
    order stage 1 [F1, F0, F1.1, B1.1, F0.1, B0.1, I1, I0, W0, W1]
    node "layers[*]" { stages pp }
  }
}

// -----

// Stages of unequal length.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @uneven(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @uneven {
    mesh [pp = 3]
    schedule micro_batches = 2
    node "layers[*]" { stages pp of [1, 1, 2] }
  }
}

// -----

// Chunks of unequal length.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @uneven_chunks(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<5x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<5x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<5x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<5x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<5x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"},
      %h: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 5 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<5x8xf32> to tensor<8xf32>, %si = %s : tensor<5x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<5x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<5x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<5x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %h) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @uneven_chunks {
    mesh [pp = 2]
    schedule micro_batches = 2 virtual_stages = 2
    node "layers[*]" { stages pp of [2, 1, 1, 1] }
  }
}

// -----

// Tied embeddings on the first and the last stage.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @tied(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %e) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tied {
    mesh [pp = 4]
    schedule micro_batches = 4
    node "layers[*]" { stages pp }
  }
}

// -----

// Tied embeddings, split by vocabulary, with replicas and split states.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @tied_hybrid(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %e) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tied_hybrid {
    mesh [dp = 2, pp = 2, tp = 2]
    schedule micro_batches = 2 virtual_stages = 2
    split op [batch -> dp]
    split state [0 -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" { stages pp }
    node "head" { split op [out -> tp] }
  }
}

// -----

// Tied embeddings that the two stages split differently: added as the first one needs them.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @tied_unlike(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, gradient = f32, master = f32>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %e) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tied_unlike {
    mesh [dp = 2, pp = 2, tp = 2]
    schedule micro_batches = 2 order = "zero-bubble"
    split op [batch -> dp]
    node "embedding" { split op [hidden -> tp] }
    node "layers[*]" { stages pp }
    node "head" { split op [out -> tp] }
  }
}

// -----

// Tied embeddings on one stage: nothing special.

module attributes {proteus.cluster = "dgx-a100:4"} {
  // expected-remark @below {{lowering is right}}
  func.func @tied_on_one_stage(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %e: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].norm.shift"},
      %w1: tensor<4x12x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8x12xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding "embedding"(%ids, %e) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %1 = nn.repeat "layers" count 4 carry(%c = %0 : tensor<8x4x8xf32>)
        slice(%gi = %g : tensor<4x8xf32> to tensor<8xf32>, %si = %s : tensor<4x8xf32> to tensor<8xf32>,
              %w1i = %w1 : tensor<4x12x8xf32> to tensor<12x8xf32>, %w2i = %w2 : tensor<4x8x12xf32> to tensor<8x12xf32>,
              %b2i = %b2 : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x4x8xf32>) {
      %2 = nn.layer_norm "norm"(%c, %gi, %si) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %3 = nn.linear "fc1"(%2, %w1i) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
      %4 = nn.gelu "act"(%3) : (tensor<8x4x12xf32>) -> tensor<8x4x12xf32>
      %5 = nn.linear "fc2"(%4, %w2i, %b2i) : (tensor<8x4x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %6 = nn.add "residual"(%c, %5) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %6 : tensor<8x4x8xf32>
    }
    %7 = nn.linear "head"(%1, %e) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%7, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tied_on_one_stage {
    mesh [pp = 2]
    schedule micro_batches = 2
    node "embedding" { at [pp = 0] }
    node "layers[*]" { at [pp = 0] }
    node "head" { at [pp = 0] }
    node "loss" { at [pp = 1] }
  }
}

// -----

// Forward only: the results of the stages are told apart by what they are, not by
// the order of the stages.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @forward_only(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %w1: tensor<8x8xf32> {nn.role = "parameter", nn.path = "first.weight"},
      %w2: tensor<8x8xf32> {nn.role = "parameter", nn.path = "second.weight"})
      -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = nn.linear "first"(%x, %w1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = nn.linear "second"(%0, %w2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = nn.relu "act"(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %2, %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  strategy.tree @s for @forward_only {
    mesh [pp = 2, tp = 2]
    schedule micro_batches = 2
    node "first" {
      at [pp = 0]
      split op [out -> tp]
    }
    node "second" { at [pp = 1] }
  }
}

// -----

// Stages against the order of the text: gradients still go from the last stage
// to the first.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @two_branches(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x8xf32> {nn.role = "input", nn.path = "t"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w0: tensor<8x8xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %w1: tensor<8x8xf32> {nn.role = "parameter", nn.path = "late.weight"},
      %w2: tensor<8x8xf32> {nn.role = "parameter", nn.path = "early.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "stem"(%x, %w0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = nn.linear "late"(%0, %w1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = nn.linear "early"(%0, %w2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = nn.add "join"(%1, %2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%3, %labels) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @two_branches {
    mesh [pp = 3]
    schedule micro_batches = 4
    node "stem" { at [pp = 0] }
    node "early" { at [pp = 1] }
    node "late" { at [pp = 2] }
  }
}

// -----

// A recomputed layer reads a constant that was created on another stage, and
// creates it again.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @recomputed_constant(
      %x: tensor<4x6xf32> {nn.role = "input", nn.path = "x"},
      %y: tensor<4x6xf32> {nn.role = "input", nn.path = "y"},
      %ws: tensor<4x6x6xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %bias = nn.fill "bias"() {value = 0.25 : f64} : () -> tensor<4x6xf32>
    %h = nn.repeat "layers" count 4 carry(%c = %x : tensor<4x6xf32>)
        slice(%w = %ws : tensor<4x6x6xf32> to tensor<6x6xf32>)
        -> (tensor<4x6xf32>) {
      %a = nn.add "shift"(%c, %bias) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      %l = nn.linear "fc"(%a, %w) : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
      %r = nn.gelu "act"(%l) : (tensor<4x6xf32>) -> tensor<4x6xf32>
      nn.yield %r : tensor<4x6xf32>
    }
    %loss = nn.mse_loss "loss"(%h, %y) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @recomputed_constant {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "1f1b"
    split op [batch -> []]
    node "layers[*]" {
      stages pp
      recompute
    }
  }
}

// -----

// The last chunk of each stage reads values of all earlier chunks. A value that
// skips chunks is sent to the first following chunk of its reader's stage, and its
// gradient comes back from there.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @skipped_chunks(
      %x: tensor<4x6xf32> {nn.role = "input", nn.path = "x"},
      %y: tensor<4x6xf32> {nn.role = "input", nn.path = "y"},
      %w0: tensor<6x6xf32> {nn.role = "parameter", nn.path = "parts[0].weight"},
      %w1: tensor<6x6xf32> {nn.role = "parameter", nn.path = "parts[1].weight"},
      %w2: tensor<6x6xf32> {nn.role = "parameter", nn.path = "parts[2].weight"},
      %w3: tensor<6x6xf32> {nn.role = "parameter", nn.path = "parts[3].weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "parts[0]"(%x, %w0) : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
    %1 = nn.linear "parts[1]"(%x, %w1) : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
    %2 = nn.linear "parts[2]"(%0, %w2) : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
    %3 = nn.linear "parts[3]"(%x, %w3) : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
    %a = nn.add "sum.a"(%0, %1) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %b = nn.mul "sum.b"(%a, %2) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %c = nn.add "sum.c"(%b, %3) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %loss = nn.mse_loss "loss"(%c, %y) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @skipped_chunks {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "interleaved" virtual_stages = 2
    split op [batch -> []]
    node "parts[*]" { stages pp }
  }
}
