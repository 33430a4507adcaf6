// RUN: proteus-opt %s --cse --canonicalize | FileCheck %s

// What is recomputed is not replaced by the first execution.

// CHECK-LABEL: func.func @recomputation_survives
func.func @recomputation_survives(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  // CHECK-COUNT-2: nn.relu
  %y = nn.relu "act"(%x) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = nn.recompute "act" (%h = %x : tensor<8x64xf32>) -> (tensor<8x64xf32>) {
    %z = nn.relu "act"(%h) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    nn.yield %z : tensor<8x64xf32>
  }
  return %y, %r : tensor<8x64xf32>, tensor<8x64xf32>
}

// Kernels are pure: what nobody reads goes, what is the same is computed once.

// CHECK-LABEL: func.func @pure_work_is_shared
func.func @pure_work_is_shared(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  // CHECK:     %[[Y:.*]] = nn.relu "act"
  // CHECK-NOT: nn.
  // CHECK:     return %[[Y]], %[[Y]]
  %y = nn.relu "act"(%x) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %z = nn.relu "act"(%x) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %dead = nn.gelu "act"(%x) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %y, %z : tensor<8x64xf32>, tensor<8x64xf32>
}
