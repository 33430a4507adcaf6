// RUN: proteus-opt %s -split-input-file --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %s -split-input-file --unroll-repeats --check-lowering="seed=7 tolerance=1e-12" -verify-diagnostics -o /dev/null

// A mixture of experts under many strategies, executed before and after the
// lowering, layers repeated and written out.

// Token groups over dp.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @groups_are_split(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @groups_are_split {
    mesh [dp = 4]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}

// -----

// Experts over ep, tokens over dp and ep: all-to-alls.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @experts_over_ep(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @experts_over_ep {
    mesh [dp = 2, ep = 2]
    schedule micro_batches = 2
    split op [batch -> [dp, ep]]
    node "layers[*].experts" { split op [batch -> dp, expert -> ep] }
  }
}

// -----

// The same without a repeat.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @experts_over_ep_written_out(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<4x6xf32> {nn.role = "parameter", nn.path = "gate.weight"},
      %fc1: tensor<4x8x6xf32> {nn.role = "parameter", nn.path = "experts.fc1.weight"},
      %fc2: tensor<4x6x8xf32> {nn.role = "parameter", nn.path = "experts.fc2.weight"},
      %bias: tensor<4x8xf32> {nn.role = "parameter", nn.path = "experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %l = nn.linear "gate"(%x0, %gate) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
    %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
    %d = nn.moe_dispatch "dispatch"(%x0, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
    %f1 = nn.expert_linear "experts.fc1"(%d, %fc1, %bias) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
    %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
    %f2 = nn.expert_linear "experts.fc2"(%g, %fc2) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
    %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
    %y = nn.add "residual"(%x0, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @experts_over_ep_written_out {
    mesh [dp = 2, ep = 2]
    split op [batch -> [dp, ep]]
    node "experts" { split op [batch -> dp, expert -> ep] }
  }
}

// -----

// All devices are one group of experts.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @experts_over_all(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @experts_over_all {
    mesh [ep = 4]
    split op [batch -> ep]
    node "layers[*].experts" { split op [batch -> [], expert -> ep] }
  }
}

// -----

// Tokens are replicated over ep: each device takes those of its experts, and the
// combination is a sum over ep.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @tokens_are_replicated(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tokens_are_replicated {
    mesh [dp = 2, ep = 2]
    split op [batch -> dp]
    node "layers[*]" {
      node "dispatch" { split op [expert -> ep] }
      node "combine" { split op [expert -> ep] }
    }
  }
}

// -----

// Experts that do not divide evenly: 5 over 2.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @uneven_experts(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x5x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x5x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x5x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x5x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x5x6xf32> to tensor<5x6xf32>,
              %fc1_i = %fc1 : tensor<2x5x8x6xf32> to tensor<5x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x5x6x8xf32> to tensor<5x6x8xf32>,
              %bias_i = %bias : tensor<2x5x8xf32> to tensor<5x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<5x6xf32>) -> tensor<8x4x5xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x5xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<5x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<5x8x2x6xf32>, tensor<5x8x6xf32>, tensor<5x8xf32>) -> tensor<5x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<5x8x2x8xf32>) -> tensor<5x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<5x8x2x8xf32>, tensor<5x6x8xf32>) -> tensor<5x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<5x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @uneven_experts {
    mesh [dp = 2, ep = 2]
    split op [batch -> [dp, ep]]
    node "layers[*].experts" { split op [batch -> dp, expert -> ep] }
  }
}

// -----

// Several samples in a group; most tokens are dropped.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @large_groups(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 0.4 : f64} : (tensor<8x4x4xf32>) -> (tensor<8x4x3xf32>, tensor<8x4x3xi32>, tensor<8x4x3xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x3xi32>, tensor<8x4x3xi32>) -> tensor<4x4x3x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x3x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x3x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x3x8xf32>) -> tensor<4x4x3x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x3x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x3x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x3x6xf32>, tensor<8x4x3xi32>, tensor<8x4x3xi32>, tensor<8x4x3xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @large_groups {
    mesh [dp = 2, ep = 2]
    split op [batch -> [dp, ep]]
    node "layers[*].experts" { split op [batch -> dp, expert -> ep] }
  }
}

// -----

// Slots are split.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @slots_are_split(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @slots_are_split {
    mesh [dp = 2, a = 2]
    split op [batch -> dp]
    node "layers[*]" {
      node "dispatch" { split op [slot -> a] }
      node "experts.fc1" { split op [slot -> a] }
      node "combine" { split op [slot -> a] }
    }
  }
}

// -----

// Hidden is split around the experts, whose matrices sum over it.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @hidden_is_split(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @hidden_is_split {
    mesh [dp = 2, a = 2]
    split op [batch -> dp]
    node "layers[*]" {
      node "dispatch" { split op [hidden -> a] }
      node "combine" { split op [hidden -> a] }
    }
  }
}

// -----

// Tensor parallel experts: columns, then rows, with a bias.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @experts_with_tensor_parallelism(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @experts_with_tensor_parallelism {
    mesh [dp = 1, ep = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> [dp, ep]]
    node "layers[*].experts" {
      split op [batch -> dp, expert -> ep]
      node "fc1" { split op [out -> tp] }
    }
  }
}

// -----

// Rows, then columns.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @rows_then_columns(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @rows_then_columns {
    mesh [ep = 2, tp = 2]
    split op [batch -> ep]
    node "layers[*].experts" {
      split op [batch -> [], expert -> ep]
      node "fc1" { split op [in -> tp] }
      node "fc2" { split op [out -> tp] }
    }
  }
}

// -----

// Tokens over tp as well: what the tensor parallel experts need is gathered.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @tokens_over_tp(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tokens_over_tp {
    mesh [ep = 2, tp = 2]
    split op [batch -> [ep, tp]]
    node "layers[*].experts" {
      split op [batch -> [], expert -> ep]
      node "fc1" { split op [out -> tp] }
    }
  }
}

// -----

// Sequences are split around the mixture.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @sequences_are_split(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sequences_are_split {
    mesh [dp = 2, sp = 2]
    split op [batch -> dp]
    node "stem" { split op [seq -> sp] }
    node "layers[*]" {
      node "combine" { split op [seq -> sp] }
      node "gate" { split op [seq -> sp] }
    }
  }
}

// -----

// Recomputed.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @experts_are_recomputed(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @experts_are_recomputed {
    mesh [dp = 2, ep = 2]
    schedule micro_batches = 2
    split op [batch -> [dp, ep]]
    node "layers[*]" {
      recompute
      node "experts" { split op [batch -> dp, expert -> ep] }
    }
  }
}

// -----

// Over pipeline stages.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @experts_in_stages(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @experts_in_stages {
    mesh [pp = 2, dp = 1, ep = 2]
    schedule micro_batches = 2 order = "1f1b"
    split op [batch -> [dp, ep]]
    node "layers[*]" {
      stages pp
      node "experts" { split op [batch -> dp, expert -> ep] }
    }
  }
}

// -----

// Sharded parameters and states.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @experts_with_sharded_parameters(
      %x: tensor<8x4x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<8x4x6xf32>, tensor<6x6xf32>) -> tensor<8x4x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<8x4x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<8x4x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<8x4x6xf32>, tensor<4x6xf32>) -> tensor<8x4x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<8x4x4xf32>) -> (tensor<8x4x2xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<8x4x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>) -> tensor<4x8x2x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x8x2x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x8x2x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x8x2x8xf32>) -> tensor<4x8x2x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x8x2x8xf32>, tensor<4x6x8xf32>) -> tensor<4x8x2x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x8x2x6xf32>, tensor<8x4x2xi32>, tensor<8x4x2xi32>, tensor<8x4x2xf32>) -> tensor<8x4x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<8x4x6xf32>, tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
      nn.yield %r : tensor<8x4x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x6xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @experts_with_sharded_parameters {
    mesh [dp = 2, ep = 2]
    split op [batch -> [dp, ep]]
    split weight [0 -> dp]
    split state [0 -> dp]
    node "layers[*].experts" {
      split op [batch -> dp, expert -> ep]
      split weight [0 -> ep, 1 -> dp]
      split state [0 -> ep, 1 -> dp]
    }
  }
}
