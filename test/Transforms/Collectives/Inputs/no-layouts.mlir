// A function with a mesh whose arguments have no layouts: the passes between
// match-strategy and the one that is run were left out.
#mesh = #dist.mesh<[dp = 2]>
func.func @model(%x: tensor<8x16xf32>) -> tensor<8x16xf32>
    attributes {strategy.mesh = #mesh} {
  return %x : tensor<8x16xf32>
}
