// RUN: proteus-opt %s -split-input-file --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %s -split-input-file --unroll-repeats --check-lowering="seed=7 tolerance=1e-12" -verify-diagnostics -o /dev/null

// The norm of all gradients and the check of the loss scale, under strategies that
// shard, replicate and cut. The norm is far above the limit, so that every element
// that counts twice or not at all changes all parameters.

// Data parallel: every device has all gradients and nothing is summed.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @data_parallel(
      %x: tensor<4x2x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<4x2x6xf32>, tensor<6x6xf32>) -> tensor<4x2x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<4x2x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<4x2x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<4x2x6xf32>, tensor<4x6xf32>) -> tensor<4x2x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<4x2x4xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<4x2x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<4x4x1x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x1x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x1x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x1x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x1x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x1x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>, tensor<4x2x2xf32>) -> tensor<4x2x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<4x2x6xf32>, tensor<4x2x6xf32>) -> tensor<4x2x6xf32>
      nn.yield %r : tensor<4x2x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x2x6xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @data_parallel {
    mesh [dp = 4]
    split op [batch -> dp]
  }
}

// -----

// Sharded states: each device has a part of every gradient.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @sharded_states(
      %x: tensor<4x2x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<4x2x6xf32>, tensor<6x6xf32>) -> tensor<4x2x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<4x2x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<4x2x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<4x2x6xf32>, tensor<4x6xf32>) -> tensor<4x2x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<4x2x4xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<4x2x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<4x4x1x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x1x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x1x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x1x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x1x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x1x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>, tensor<4x2x2xf32>) -> tensor<4x2x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<4x2x6xf32>, tensor<4x2x6xf32>) -> tensor<4x2x6xf32>
      nn.yield %r : tensor<4x2x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x2x6xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sharded_states {
    mesh [dp = 4]
    split op [batch -> dp]
    split state [0 -> dp]
  }
}

// -----

// Sharded parameters and micro-batches; the norm is of the sum over them.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @sharded_parameters(
      %x: tensor<4x2x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, master = f32, clip = 0.01, loss_scale = 64.0>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<4x2x6xf32>, tensor<6x6xf32>) -> tensor<4x2x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<4x2x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<4x2x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<4x2x6xf32>, tensor<4x6xf32>) -> tensor<4x2x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<4x2x4xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<4x2x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<4x4x1x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x1x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x1x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x1x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x1x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x1x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>, tensor<4x2x2xf32>) -> tensor<4x2x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<4x2x6xf32>, tensor<4x2x6xf32>) -> tensor<4x2x6xf32>
      nn.yield %r : tensor<4x2x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x2x6xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @sharded_parameters {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    split weight [0 -> dp]
    split state [0 -> dp]
  }
}

// -----

// Tensor parallel: some gradients are sharded, others are replicas.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @tensor_parallel(
      %x: tensor<4x2x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<4x2x6xf32>, tensor<6x6xf32>) -> tensor<4x2x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<4x2x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<4x2x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<4x2x6xf32>, tensor<4x6xf32>) -> tensor<4x2x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<4x2x4xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<4x2x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<4x4x1x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x1x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x1x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x1x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x1x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x1x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>, tensor<4x2x2xf32>) -> tensor<4x2x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<4x2x6xf32>, tensor<4x2x6xf32>) -> tensor<4x2x6xf32>
      nn.yield %r : tensor<4x2x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x2x6xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tensor_parallel {
    mesh [tp = 2, dp = 2]
    split op [batch -> dp]
    node "stem" { split op [out -> tp] }
    node "layers[*].experts.fc1" { split op [out -> tp] }
  }
}

// -----

// Expert parallel: gradients of experts differ over ep, the others do not.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @expert_parallel(
      %x: tensor<4x2x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, master = f32, clip = 0.01, loss_scale = 64.0>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<4x2x6xf32>, tensor<6x6xf32>) -> tensor<4x2x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<4x2x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<4x2x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<4x2x6xf32>, tensor<4x6xf32>) -> tensor<4x2x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<4x2x4xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<4x2x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<4x4x1x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x1x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x1x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x1x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x1x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x1x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>, tensor<4x2x2xf32>) -> tensor<4x2x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<4x2x6xf32>, tensor<4x2x6xf32>) -> tensor<4x2x6xf32>
      nn.yield %r : tensor<4x2x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x2x6xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @expert_parallel {
    mesh [dp = 2, ep = 2]
    split op [batch -> [dp, ep]]
    node "layers[*].experts" { split op [batch -> dp, expert -> ep] }
  }
}

// -----

// Stages hand their part of the norm on and get the factor back.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @stages(
      %x: tensor<4x2x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, master = f32, clip = 0.01, loss_scale = 64.0>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<4x2x6xf32>, tensor<6x6xf32>) -> tensor<4x2x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<4x2x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<4x2x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<4x2x6xf32>, tensor<4x6xf32>) -> tensor<4x2x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<4x2x4xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<4x2x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<4x4x1x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x1x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x1x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x1x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x1x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x1x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>, tensor<4x2x2xf32>) -> tensor<4x2x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<4x2x6xf32>, tensor<4x2x6xf32>) -> tensor<4x2x6xf32>
      nn.yield %r : tensor<4x2x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x2x6xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @stages {
    mesh [pp = 2, dp = 2]
    schedule micro_batches = 2 order = "1f1b"
    split op [batch -> dp]
    node "layers[*]" { stages pp }
  }
}

// -----

// Three stages with sharded states.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @three_stages(
      %x: tensor<4x2x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<3x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<3x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<3x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<3x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<4x2x6xf32>, tensor<6x6xf32>) -> tensor<4x2x6xf32>
    %y = nn.repeat "layers" count 3
        carry(%h = %x0 : tensor<4x2x6xf32>)
        slice(%gate_i = %gate : tensor<3x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<3x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<3x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<3x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<4x2x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<4x2x6xf32>, tensor<4x6xf32>) -> tensor<4x2x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<4x2x4xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<4x2x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<4x4x1x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x1x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x1x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x1x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x1x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x1x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>, tensor<4x2x2xf32>) -> tensor<4x2x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<4x2x6xf32>, tensor<4x2x6xf32>) -> tensor<4x2x6xf32>
      nn.yield %r : tensor<4x2x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x2x6xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @three_stages {
    mesh [pp = 3, dp = 2]
    schedule micro_batches = 2 order = "gpipe"
    split op [batch -> dp]
    split state [0 -> dp]
    node "layers[*]" { stages pp }
  }
}

// -----

// The loss scale alone.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @loss_scale(
      %x: tensor<4x2x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, loss_scale = 64.0>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<4x2x6xf32>, tensor<6x6xf32>) -> tensor<4x2x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<4x2x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<4x2x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<4x2x6xf32>, tensor<4x6xf32>) -> tensor<4x2x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<4x2x4xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<4x2x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<4x4x1x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x1x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x1x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x1x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x1x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x1x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>, tensor<4x2x2xf32>) -> tensor<4x2x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<4x2x6xf32>, tensor<4x2x6xf32>) -> tensor<4x2x6xf32>
      nn.yield %r : tensor<4x2x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x2x6xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @loss_scale {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "stem" { split op [out -> tp] }
  }
}

// -----

// Nothing is split, everything in one stage after the other.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @stages_alone(
      %x: tensor<4x2x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %stem: tensor<6x6xf32> {nn.role = "parameter", nn.path = "stem.weight"},
      %gate: tensor<2x4x6xf32> {nn.role = "parameter", nn.path = "layers[*].gate.weight"},
      %fc1: tensor<2x4x8x6xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.weight"},
      %fc2: tensor<2x4x6x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc2.weight"},
      %bias: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "layers[*].experts.fc1.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %x0 = nn.linear "stem"(%x, %stem) : (tensor<4x2x6xf32>, tensor<6x6xf32>) -> tensor<4x2x6xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %x0 : tensor<4x2x6xf32>)
        slice(%gate_i = %gate : tensor<2x4x6xf32> to tensor<4x6xf32>,
              %fc1_i = %fc1 : tensor<2x4x8x6xf32> to tensor<4x8x6xf32>,
              %fc2_i = %fc2 : tensor<2x4x6x8xf32> to tensor<4x6x8xf32>,
              %bias_i = %bias : tensor<2x4x8xf32> to tensor<4x8xf32>)
        -> (tensor<4x2x6xf32>) {
      %l = nn.linear "gate"(%h, %gate_i) : (tensor<4x2x6xf32>, tensor<4x6xf32>) -> tensor<4x2x4xf32>
      %p, %e, %s = nn.moe_route "route"(%l) {groups = 4 : i64, capacity_factor = 1.0 : f64, normalize} : (tensor<4x2x4xf32>) -> (tensor<4x2x2xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>)
      %d = nn.moe_dispatch "dispatch"(%h, %e, %s) : (tensor<4x2x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<4x4x1x6xf32>
      %f1 = nn.expert_linear "experts.fc1"(%d, %fc1_i, %bias_i) : (tensor<4x4x1x6xf32>, tensor<4x8x6xf32>, tensor<4x8xf32>) -> tensor<4x4x1x8xf32>
      %g = nn.gelu "experts.act"(%f1) : (tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
      %f2 = nn.expert_linear "experts.fc2"(%g, %fc2_i) : (tensor<4x4x1x8xf32>, tensor<4x6x8xf32>) -> tensor<4x4x1x6xf32>
      %c = nn.moe_combine "combine"(%f2, %e, %s, %p) : (tensor<4x4x1x6xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>, tensor<4x2x2xf32>) -> tensor<4x2x6xf32>
      %r = nn.add "residual"(%h, %c) : (tensor<4x2x6xf32>, tensor<4x2x6xf32>) -> tensor<4x2x6xf32>
      nn.yield %r : tensor<4x2x6xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<4x2x6xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @stages_alone {
    mesh [pp = 2]
    node "layers[*]" { stages pp }
  }
}

// -----

// A parameter on two stages: its gradient is the sum of both, and counts once.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @tied(
      %ids: tensor<8xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %table: tensor<10x6xf32> {nn.role = "parameter", nn.path = "table.weight"},
      %w: tensor<6x6xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01>} {
    %0 = nn.embedding "embedding"(%ids, %table) : (tensor<8xi32>, tensor<10x6xf32>) -> tensor<8x6xf32>
    %1 = nn.linear "fc"(%0, %w) : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %2 = nn.linear "head"(%1, %table) : (tensor<8x6xf32>, tensor<10x6xf32>) -> tensor<8x10xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %labels) : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tied {
    mesh [pp = 2, dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "embedding" { at [pp = 0] }
    node "fc" { at [pp = 0] }
    node "head" { at [pp = 1] }
    node "loss" { at [pp = 1] }
  }
}

// -----

// So in the check of the loss scale.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @tied_scaled(
      %ids: tensor<8xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %table: tensor<10x6xf32> {nn.role = "parameter", nn.path = "table.weight"},
      %w: tensor<6x6xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum, clip = 0.01, loss_scale = 64.0>} {
    %0 = nn.embedding "embedding"(%ids, %table) : (tensor<8xi32>, tensor<10x6xf32>) -> tensor<8x6xf32>
    %1 = nn.linear "fc"(%0, %w) : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
    %2 = nn.linear "head"(%1, %table) : (tensor<8x6xf32>, tensor<10x6xf32>) -> tensor<8x10xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %labels) : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @tied_scaled {
    mesh [pp = 2, dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "embedding" { at [pp = 0] }
    node "fc" { at [pp = 0] }
    node "head" { at [pp = 1] }
    node "loss" { at [pp = 1] }
  }
}
