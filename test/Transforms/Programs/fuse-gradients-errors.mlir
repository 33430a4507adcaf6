// RUN: not proteus-opt %s --fuse-gradients=bucket-size=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not proteus-opt %s --fuse-gradients=first-bucket-size=-4 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not proteus-opt %s --fuse-gradients=bucket-size=many 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not proteus-opt %s --fuse-gradients=bucket=1 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// Zero is not a size but leaves the choice to the tree or the default.
// RUN: proteus-opt %s --fuse-gradients="bucket-size=0 first-bucket-size=0" -o /dev/null

// NEGATIVE: fuse-gradients-errors.mlir:[[#@LINE+7]]:1: error: 'dist.program' op bucket sizes must not be negative, got -1 and 0
// FIRST: fuse-gradients-errors.mlir:[[#@LINE+6]]:1: error: 'dist.program' op bucket sizes must not be negative, got 0 and -4
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
