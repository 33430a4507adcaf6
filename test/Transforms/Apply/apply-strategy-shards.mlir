// RUN: proteus-opt %s --apply-strategy="dp=3 zero=1" | FileCheck %s --check-prefix=STATES --implicit-check-not="split state"
// RUN: proteus-opt %s --apply-strategy="dp=3 zero=1" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %s --apply-strategy="dp=3 zero=3 zero-shards=rows" | FileCheck %s --check-prefix=ROWS
// RUN: proteus-opt %s --apply-strategy="dp=3 zero=3 zero-shards=rows" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %s --apply-strategy="dp=3 tp=2 zero=3 zero-persist=8 reductions-in-flight=1" | FileCheck %s --check-prefix=SMALL
// RUN: proteus-opt %s --apply-strategy="dp=3 tp=2 zero=3 zero-persist=8 reductions-in-flight=1" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %s --apply-strategy="dp=3 tp=2 zero=3 zero-persist=8" --lower-strategy | FileCheck %s --check-prefix=LOWERED

// ZeRO cuts every parameter into equal lists of elements, whatever its dimensions. The
// tree says so once.

// STATES: mesh [dp = 3]
// STATES: split state [flat -> dp]
// RIGHT: lowering is right

// ROWS:      split weight [flat_rows -> dp]
// ROWS-NEXT: split gradient [flat_rows -> dp]
// ROWS-NEXT: split state [flat_rows -> dp]

// Parameters with few elements stay whole, but not their gradients and states.
// SMALL-DAG:  split weight [flat -> dp]
// SMALL-DAG:  overlap reductions = 1
// SMALL:      node "norm" {
// SMALL-NEXT:   split weight [flat -> []]
// SMALL-NEXT: }
// LOWERED-DAG: #[[WHOLE:.*]] = #dist.layout<#{{[a-z0-9_]*}}, [{}]>
// LOWERED-DAG: #[[CUT:.*]] = #dist.layout<#{{[a-z0-9_]*}}, [{tp}, {}], flat = {dp}>
// LOWERED:     dist.program
// LOWERED-SAME: tensor<8xf32, #[[WHOLE]]> {nn.path = "norm.scale
// LOWERED-SAME: tensor<10x8xf32, #[[CUT]]> {nn.path = "fc1.weight"

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @mlp(%x: tensor<6x8xf32> {nn.role = "input", nn.path = "x"},
                 %labels: tensor<6xi32> {nn.role = "input", nn.path = "labels"},
                 %scale: tensor<8xf32> {nn.role = "parameter", nn.path = "norm.scale"},
                 %w1: tensor<10x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
                 %w2: tensor<5x10xf32> {nn.role = "parameter", nn.path = "fc2.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = adam>} {
    %n = nn.rms_norm "norm"(%x, %scale) : (tensor<6x8xf32>, tensor<8xf32>) -> tensor<6x8xf32>
    %0 = nn.linear "fc1"(%n, %w1) : (tensor<6x8xf32>, tensor<10x8xf32>) -> tensor<6x10xf32>
    %1 = nn.linear "fc2"(%0, %w2) : (tensor<6x10xf32>, tensor<5x10xf32>) -> tensor<6x5xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<6x5xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<6xf32>)
    return %loss : tensor<f32>
  }
}
