// RUN: proteus-opt %s -verify-diagnostics --split-stages
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s --split-stages

// Layouts decide what a stage holds: the pass does not guess them.
#mesh = #dist.mesh<[dp = 2]>
// expected-error@+1 {{'func.func' op has arguments without a layout; run insert-collectives first}}
func.func @model(%x: tensor<8x16xf32>) -> tensor<8x16xf32>
    attributes {strategy.mesh = #mesh} {
  return %x : tensor<8x16xf32>
}
