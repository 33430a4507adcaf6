// RUN: proteus-opt %s -split-input-file | proteus-opt -split-input-file | FileCheck %s
// RUN: proteus-opt %s -split-input-file --mlir-print-op-generic | proteus-opt -split-input-file | FileCheck %s

// A module with a preset and results; operations and arguments with paths.

// CHECK:       module attributes {
// CHECK-SAME:    proteus.cluster = "dgx-a100:128"
// CHECK-SAME:    proteus.fits = true
// CHECK-SAME:    proteus.iteration_time_ms = 1.250000e+01 : f64
// CHECK-SAME:    proteus.peak_memory_mb = 0.000000e+00 : f64
// CHECK-SAME:    proteus.samples_per_second = 8.000000e+01 : f64
module attributes {
  proteus.cluster = "dgx-a100:128",
  proteus.iteration_time_ms = 12.5 : f64,
  proteus.samples_per_second = 80.0 : f64,
  proteus.peak_memory_mb = 0.0 : f64,
  proteus.fits = true
} {
  // CHECK:      func.func @model(%{{.*}}: i32 {proteus.path = "embedding.weight"})
  // CHECK-SAME:   attributes {proteus.path = "model"}
  // CHECK:        return {proteus.path = "layers[3].attention.qkv"}
  func.func @model(%w: i32 {proteus.path = "embedding.weight"}) attributes {proteus.path = "model"} {
    return {proteus.path = "layers[3].attention.qkv"}
  }
}

// -----

// A cluster described in place.

// CHECK:      module attributes {proteus.cluster = {devices = 8 : i64}}
module attributes {proteus.cluster = {devices = 8}} {
}

// -----

// Products with a narrow type; one of several in a call.

// CHECK: nn.linear "fc"({{.*}}) {proteus.compute = f8E4M3FN, proteus.pieces = 2 : i64}
// CHECK: linalg.matmul {proteus.compute = f8E4M3FN}
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.linear "fc"(%x, %w) {proteus.compute = f8E4M3FN, proteus.pieces = 2} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.matmul {proteus.compute = f8E4M3FN} ins(%0, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
