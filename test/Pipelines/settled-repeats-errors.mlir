// RUN: proteus-opt %s -split-input-file -verify-diagnostics %{to-settle-repeats}
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s %{to-settle-repeats}

// Another operation reads the stack too, so the first iteration can't be a repeat
// of its own.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @not_splittable(
      %x: tensor<8x8xf32> {nn.role = "input"},
      %w: tensor<4x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].w"}) -> (tensor<8x8xf32>, tensor<4x8x8xf32>) {
    %0 = nn.gelu "in"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // expected-remark@+1 {{a carried value leaves an iteration in another layout than it has at the start, and is converted back at the end of each iteration: the first iteration can't be treated apart, because its sliced operands must be function arguments that nothing else reads}}
    %1 = nn.repeat "layers" count 4 carry(%h = %0 : tensor<8x8xf32>)
        slice(%wi = %w : tensor<4x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x8xf32>) {
      %2 = nn.linear "fc"(%h, %wi) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      nn.yield %2 : tensor<8x8xf32>
    }
    %3 = nn.gelu "other"(%w) : (tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
    return %1, %3 : tensor<8x8xf32>, tensor<4x8x8xf32>
  }
  strategy.tree @s for @not_splittable {
    mesh [tp = 2]
    node "in" { split op [batch -> [], hidden -> []] }
    node "layers[*].fc" { split op [batch -> tp] }
  }
}

// -----

// Storage that can't be is reported here already.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'func.func' op dimension 0 of 'fc.weight' has size 3 and can't be split into 4 parts over {dp}}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<3x4xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<8x3xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
    return %0 : tensor<8x3xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 4]
    split weight [0 -> dp]
  }
}
