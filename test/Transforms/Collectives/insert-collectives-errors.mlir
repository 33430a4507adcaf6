// RUN: proteus-opt %s -split-input-file -verify-diagnostics --insert-collectives
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s --insert-collectives

// Layouts of arguments come from propagate-strategy: the pass does not guess
// them.
#mesh = #dist.mesh<[dp = 2]>
// expected-error@+1 {{'func.func' op argument 1 has no layout; run propagate-strategy first}}
func.func @f(%x: tensor<8x16xf32> {strategy.layout = #dist.layout<#mesh, [{dp}, {}]>}, %y: tensor<8x16xf32>) -> tensor<8x16xf32>
    attributes {strategy.mesh = #mesh} {
  return %x : tensor<8x16xf32>
}

// -----

// Conversions are chosen by the costs of a cluster.
#mesh = #dist.mesh<[dp = 2]>
// expected-error@+1 {{no cluster is given; set the module attribute proteus.cluster}}
module {
  func.func @f(%x: tensor<8x16xf32> {strategy.layout = #dist.layout<#mesh, [{dp}, {}]>}) -> tensor<8x16xf32> attributes {strategy.mesh = #mesh} {
    return %x : tensor<8x16xf32>
  }
}

// -----

// A loss is complete only after the last micro-batch; a later operation can't
// read it in between.
#mesh = #dist.mesh<[dp = 2], micro = 2>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x16xf32> {strategy.layout = #dist.layout<#mesh, [{micro, dp}, {}]>}) -> tensor<16xf32> attributes {strategy.mesh = #mesh} {
    %0 = nn.reduce_sum "sum"(%x) {keep = array<i64: 1>, strategy.op = #strategy.partition<[batch -> [micro, dp]]>} : (tensor<8x16xf32>) -> tensor<16xf32>
    // expected-error@+1 {{'nn.relu' op reads a value that is complete only after the last micro-batch; use one micro-batch, or do not read sums over the batch within the step}}
    %1 = nn.relu "act"(%0) {strategy.op = #strategy.partition<[]>} : (tensor<16xf32>) -> tensor<16xf32>
    return %1 : tensor<16xf32>
  }
}

// -----

// With one micro-batch the same is fine.
#mesh = #dist.mesh<[dp = 2]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x16xf32> {strategy.layout = #dist.layout<#mesh, [{dp}, {}]>}) -> tensor<16xf32> attributes {strategy.mesh = #mesh} {
    %0 = nn.reduce_sum "sum"(%x) {keep = array<i64: 1>, strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x16xf32>) -> tensor<16xf32>
    %1 = nn.relu "act"(%0) {strategy.op = #strategy.partition<[]>} : (tensor<16xf32>) -> tensor<16xf32>
    return %1 : tensor<16xf32>
  }
}

// -----

// A parameter does not come in micro-batches.
#mesh = #dist.mesh<[dp = 2], micro = 2>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(
      %x: tensor<8x16xf32> {strategy.layout = #dist.layout<#mesh, [{micro, dp}, {}]>},
      // expected-note@+1 {{the operand comes from here}}
      %w: tensor<8x16xf32> {nn.role = "parameter", strategy.layout = #dist.layout<#mesh, [{dp}, {}]>}) -> tensor<8x16xf32> attributes {strategy.mesh = #mesh} {
    // expected-error@+1 {{'nn.add' op needs an operand of layout #dist.layout<#dist.mesh<[dp = 2], micro = 2>, [{micro, dp}, {}]>, but it has #dist.layout<#dist.mesh<[dp = 2], micro = 2>, [{dp}, {}]>: the layouts differ in the time axis 'micro', which takes part in no collective}}
    %0 = nn.add "offset"(%x, %w) {strategy.op = #strategy.partition<[batch -> [micro, dp]]>} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}

// -----

// An operation without an iteration space has no layout.
#mesh = #dist.mesh<[dp = 2]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func private @g(tensor<8x16xf32>) -> tensor<8x16xf32>
  func.func @f(%x: tensor<8x16xf32> {strategy.layout = #dist.layout<#mesh, [{dp}, {}]>}) -> tensor<8x16xf32> attributes {strategy.mesh = #mesh} {
    // expected-error@+1 {{'func.call' op can't be distributed: it has no iteration space; write it with nn or linalg operations}}
    %0 = func.call @g(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}

// -----

// Every device adds its part of a sum to the initial value: one that is not zero
// would be added several times.
#mesh = #dist.mesh<[tp = 2]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x16xf32> {strategy.layout = #dist.layout<#mesh, [{}, {tp}]>}, %w: tensor<16x4xf32> {strategy.layout = #dist.layout<#mesh, [{tp}, {}]>})
      -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
    %one = arith.constant 1.0 : f32
    %empty = tensor.empty() : tensor<8x4xf32>
    %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-error@+1 {{'linalg.matmul' op computes partial sums, so its initial value must be zero; fill it with 0 and add the value afterwards}}
    %0 = linalg.matmul {strategy.op = #strategy.partition<[d2 -> tp]>} ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%ones : tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
