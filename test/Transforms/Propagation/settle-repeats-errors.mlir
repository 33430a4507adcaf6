// RUN: proteus-opt %s -split-input-file -verify-diagnostics --settle-repeats
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s --settle-repeats

// A stack that another operation reads too can't be cut, so the first iteration
// can't be a repeat of its own.
#mesh = #dist.mesh<[tp = 2]>
func.func @stack_is_shared(%x: tensor<8x8xf32>, %ws: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<4x8xf32>) attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> []]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark@+1 {{a carried value leaves an iteration in another layout than it has at the start, and is converted back at the end of each iteration: the first iteration can't be treated apart, because its sliced operands must be function arguments that nothing else reads}}
  %1 = nn.repeat "layers" count 4 carry(%h = %0 : tensor<8x8xf32>) slice(%b = %ws : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x8xf32>) {
    %2 = nn.add "bias"(%h, %b) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    nn.yield %2 : tensor<8x8xf32>
  }
  %3 = nn.gelu "other"(%ws) {strategy.op = #strategy.partition<[batch -> []]>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %3 : tensor<8x8xf32>, tensor<4x8xf32>
}

// -----

// Nor can a repeat be cut that stacks results, as the forward pass does once
// gradients exist: this pass comes before.
#mesh = #dist.mesh<[tp = 2]>
func.func @results_are_stacked(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<4x8x8xf32>) attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> []]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark@+1 {{the first iteration can't be treated apart, because it stacks results; carry them instead}}
  %1:2 = nn.repeat "layers" count 4 carry(%h = %0 : tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<4x8x8xf32>) {
    %2 = nn.gelu "act"(%h) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    nn.yield %2, %h : tensor<8x8xf32>, tensor<8x8xf32>
  }
  return %1#0, %1#1 : tensor<8x8xf32>, tensor<4x8x8xf32>
}

// -----

// A storage that can't be is reported here already.
#mesh = #dist.mesh<[dp = 4]>
// expected-error@+1 {{'func.func' op dimension 0 of 'fc.weight' has size 3 and can't be split into 4 parts over {dp}}}
func.func @storage(%w: tensor<3x4xf32> {nn.path = "fc.weight", strategy.weight = [["dp"], []]}) -> tensor<3x4xf32> attributes {strategy.mesh = #mesh} {
  return %w : tensor<3x4xf32>
}
