// Gradients of layers within layers are stacks of stacks: a bucket waits for them, as it does
// where the layers are written out.

// RUN: proteus-opt %s --lower-strategy --simulate=summary -o /dev/null 2>&1 | grep "iteration time" > %t.repeated
// RUN: proteus-opt %s --unroll-repeats --lower-strategy --simulate=summary -o /dev/null 2>&1 | grep "iteration time" > %t.written
// RUN: diff %t.repeated %t.written

module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @model(
      %a0: tensor<8x1xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<5x4xbf16> {nn.role = "parameter", nn.path = "bag.weight"},
      %a2: tensor<1x1x4x4xbf16> {nn.role = "parameter", nn.path = "layers[*].blocks[*].fc.weight"},
      %a3: tensor<4xbf16> {nn.role = "parameter", nn.path = "ln_f.scale"},
      %a4: tensor<4xbf16> {nn.role = "parameter", nn.path = "ln_f.shift"},
      %a5: tensor<5x4xbf16> {nn.role = "parameter", nn.path = "head.weight"},
      %a6: tensor<8xi32> {nn.role = "input", nn.path = "labels"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, master = f32>} {
    %v0 = nn.embedding_bag "bag"(%a0, %a1) : (tensor<8x1xi32>, tensor<5x4xbf16>) -> tensor<8x4xbf16>
    %v2 = nn.repeat "layers" count 1 carry(%v1 = %v0 : tensor<8x4xbf16>)
        slice(%v5 = %a2 : tensor<1x1x4x4xbf16> to tensor<1x4x4xbf16>)
        -> (tensor<8x4xbf16>) {
      %v4 = nn.repeat "blocks" count 1 carry(%v3 = %v1 : tensor<8x4xbf16>)
        slice(%v6 = %v5 : tensor<1x4x4xbf16> to tensor<4x4xbf16>)
        -> (tensor<8x4xbf16>) {
        %v7 = nn.linear "fc"(%v3, %v6) : (tensor<8x4xbf16>, tensor<4x4xbf16>) -> tensor<8x4xbf16>
        %v8 = nn.gelu "act"(%v7) : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
        %v9 = nn.add "residual"(%v3, %v8) : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<8x4xbf16>
        nn.yield %v9 : tensor<8x4xbf16>
      }
      nn.yield %v4 : tensor<8x4xbf16>
    }
    %v10 = nn.layer_norm "ln_f"(%v2, %a3, %a4) : (tensor<8x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<8x4xbf16>
    %v11 = nn.linear "head"(%v10, %a5) : (tensor<8x4xbf16>, tensor<5x4xbf16>) -> tensor<8x5xbf16>
    %v12, %v13 = nn.cross_entropy "loss"(%v11, %a6) : (tensor<8x5xbf16>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %v12 : tensor<f32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 2, y = 4, z = 1]
    split op [batch -> [y, x]]
    split state [0 -> x]
  }
}
