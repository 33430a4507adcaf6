// RUN: proteus-opt %s -split-input-file -verify-diagnostics --lower-strategy
// RUN: not proteus-opt %S/Inputs/incomplete-schedule.mlir --schedule-pipeline 2>&1 | FileCheck %s

// The pass has no diagnostics of its own: what it can't order is refused before
// it, and an order that is written down is checked where it stands.

// CHECK: incomplete-schedule.mlir:9:1: error: 'dist.schedule' op order of @stage0: B1 is missing

// Interleaved stages can't be ordered.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"}) -> tensor<8x16xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{virtual_stages = 2 can't be lowered yet; use one chunk per stage}}
    schedule micro_batches = 4 virtual_stages = 2
    node "a" { at [pp = 0] }
  }
}

// -----

// A limit of no micro-batches would never start.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func private @f()
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{'strategy.schedule' op max_ongoing = 0 is too small; it must be at least 1}}
    schedule micro_batches = 4 max_ongoing = 0
  }
}
