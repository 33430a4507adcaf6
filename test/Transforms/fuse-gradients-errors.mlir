// RUN: not proteus-opt %s --fuse-gradients=bucket-size=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not proteus-opt %s --fuse-gradients=first-bucket-size=-4 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not proteus-opt %s --fuse-gradients=bucket-size=many 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not proteus-opt %s --fuse-gradients=bucket=1 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// ZERO: fuse-gradients-errors.mlir:[[#@LINE+7]]:1: error: 'dist.program' op bucket sizes must be at least 1 byte, got 0 and 1048576
// NEGATIVE: fuse-gradients-errors.mlir:[[#@LINE+6]]:1: error: 'dist.program' op bucket sizes must be at least 1 byte, got 26214400 and -4
// WORD: 'many' value invalid for long argument
// UNKNOWN: no such option bucket

#mesh = #dist.mesh<[dp = 2]>
#w = #dist.layout<#mesh, [{}, {}]>
dist.program @model mesh #mesh (%w: tensor<16x8xf32, #w>) -> tensor<16x8xf32, #w> {
  %u = dist.section update once {
    dist.yield %w : tensor<16x8xf32, #w>
  }
  dist.return %u : tensor<16x8xf32, #w>
}
