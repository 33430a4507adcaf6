// RUN: proteus-opt %s -split-input-file -verify-diagnostics %{to-insert-collectives}
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s %{to-insert-collectives}

// A loss is complete only after the last micro-batch; a later operation can't
// read it in between.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"}) -> tensor<f32> {
    %loss, %lse = nn.cross_entropy "loss"(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    // expected-error@+1 {{'nn.relu' op reads a value that is complete only after the last micro-batch; use one micro-batch, or do not read sums over the batch within the step}}
    %0 = nn.relu "act"(%loss) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}

// -----

// With one micro-batch the same is fine.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"}) -> tensor<f32> {
    %loss, %lse = nn.cross_entropy "loss"(%x, %t) : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    %0 = nn.relu "act"(%loss) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// A parameter does not come in micro-batches.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      // expected-note@+1 {{the operand comes from here}}
      %w: tensor<8x16xf32> {nn.role = "parameter", nn.path = "offset"})
      -> tensor<8x16xf32> {
    // expected-error@+1 {{'nn.add' op needs an operand of layout #dist.layout<#dist.mesh<[dp = 2], micro = 2>, [{micro, dp}, {}]>, but it has #dist.layout<#dist.mesh<[dp = 2], micro = 2>, [{dp}, {}]>: the layouts differ in the time axis 'micro', which takes part in no collective}}
    %0 = nn.add "offset"(%x, %w) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}

// -----

// An operation without an iteration space has no layout.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func private @g(tensor<8x16xf32>) -> tensor<8x16xf32>
  func.func @f(%x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"})
      -> tensor<8x16xf32> {
    %0 = nn.relu "act"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    // expected-error@+1 {{'func.call' op can't be distributed: it has no iteration space; write it with nn or linalg operations}}
    %1 = func.call @g(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %1 : tensor<8x16xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// Every device adds its part of a sum to the initial value: one that is not zero
// would be added several times.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(
      %x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<16x4xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<8x4xf32> {
    %one = arith.constant 1.0 : f32
    %empty = tensor.empty() : tensor<8x4xf32>
    %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-error@+1 {{'linalg.matmul' op computes partial sums, so its initial value must be zero; fill it with 0 and add the value afterwards}}
    %0 = linalg.matmul {proteus.path = "fc"} ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>)
        outs(%ones : tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [tp = 2]
    node "fc" { split op [d2 -> tp] }
  }
}
