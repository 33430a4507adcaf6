// RUN: not proteus-opt %s --chunk-products=chunks=-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not proteus-opt %s --chunk-products=chunks=1 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not proteus-opt %s --chunk-products=chunks=many 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not proteus-opt %s --chunk-products=chunk=2 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// Zero leaves the choice to the program, which asks for three; the option replaces
// that, and cuts programs that ask for nothing.
// RUN: proteus-opt %s --chunk-products=chunks=0 | FileCheck %s --check-prefix=PROGRAM
// RUN: proteus-opt %s --chunk-products=chunks=2 | FileCheck %s --check-prefix=OPTION

// NEGATIVE: chunk-products-errors.mlir:[[#@LINE+14]]:1: error: 'dist.program' op chunks must be at least 2, got -2
// ONE: chunk-products-errors.mlir:[[#@LINE+13]]:1: error: 'dist.program' op chunks must be at least 2, got 1
// WORD: 'many' value invalid for long argument
// UNKNOWN: no such option chunk

// PROGRAM-COUNT-3: dist.chunk %{{.+}} dim 0 index {{[0-2]}} of 3
// PROGRAM-NOT:     dist.chunk
// OPTION-COUNT-2:  dist.chunk %{{.+}} dim 0 index {{[01]}} of 2
// OPTION:          dist.program @nothing
// OPTION-COUNT-2:  dist.chunk %{{.+}} dim 0 index {{[01]}} of 2

#mesh = #dist.mesh<[tp = 2]>
#rows = #dist.layout<#mesh, [{tp}, {}]>
#whole = #dist.layout<#mesh, [{}, {}]>
dist.program @three mesh #mesh (%x: tensor<12x8xf32, #rows>, %w: tensor<4x8xf32, #whole>) -> tensor<12x4xf32, #whole> attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 3>>} {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 0 over {tp} : tensor<12x8xf32, #rows> -> tensor<12x8xf32, #whole>
    %1 = nn.linear "fc"(%0, %w) : (tensor<12x8xf32, #whole>, tensor<4x8xf32, #whole>) -> tensor<12x4xf32, #whole>
    dist.yield %1 : tensor<12x4xf32, #whole>
  }
  dist.return %f : tensor<12x4xf32, #whole>
}
dist.program @nothing mesh #mesh (%x: tensor<12x8xf32, #rows>, %w: tensor<4x8xf32, #whole>) -> tensor<12x4xf32, #whole> {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 0 over {tp} : tensor<12x8xf32, #rows> -> tensor<12x8xf32, #whole>
    %1 = nn.linear "fc"(%0, %w) : (tensor<12x8xf32, #whole>, tensor<4x8xf32, #whole>) -> tensor<12x4xf32, #whole>
    dist.yield %1 : tensor<12x4xf32, #whole>
  }
  dist.return %f : tensor<12x4xf32, #whole>
}
