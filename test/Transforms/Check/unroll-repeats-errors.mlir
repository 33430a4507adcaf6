// RUN: proteus-opt %s -split-input-file -verify-diagnostics --unroll-repeats
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s --unroll-repeats

// What is sliced is an argument, not a value that is computed.
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
             %ws: tensor<2x4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
  %r = nn.relu "weights"(%ws) : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  // expected-error@+1 {{'nn.repeat' op can't be unrolled: a sliced operand must be a function argument that only repeats slice}}
  %y = nn.repeat "layers" count 2
      carry(%h = %x : tensor<8x4xf32>)
      slice(%w = %r : tensor<2x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// -----

// Nothing else reads the argument as a whole.
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
             %ws: tensor<2x4x4xf32> {nn.role = "parameter"}) -> (tensor<8x4xf32>, tensor<2x4x4xf32>) {
  // expected-error@+1 {{'nn.repeat' op can't be unrolled: a sliced operand must be a function argument that only repeats slice}}
  %y = nn.repeat "layers" count 2
      carry(%h = %x : tensor<8x4xf32>)
      slice(%w = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %y, %ws : tensor<8x4xf32>, tensor<2x4x4xf32>
}

// -----

// That holds for a repeat that carries it.
func.func @f(%x: tensor<2x4xf32> {nn.role = "input"},
             %ws: tensor<2x4xf32> {nn.role = "parameter"}) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // expected-error@+1 {{'nn.repeat' op can't be unrolled: a sliced operand must be a function argument that only repeats slice}}
  %y = nn.repeat "layers" count 2
      carry(%h = %x : tensor<2x4xf32>)
      slice(%w = %ws : tensor<2x4xf32> to tensor<4xf32>)
      -> (tensor<2x4xf32>) {
    %0 = nn.add "shift"(%h, %w) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    nn.yield %0 : tensor<2x4xf32>
  }
  %z = nn.repeat "whole" count 2 carry(%h = %ws : tensor<2x4xf32>) -> (tensor<2x4xf32>) {
    %0 = nn.relu "act"(%h) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    nn.yield %0 : tensor<2x4xf32>
  }
  return %y, %z : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// A stack that is read as a whole has no flat form,
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<2x8x4xf32> {
  // expected-error@+1 {{'nn.repeat' op can't be unrolled: its stacked results are read; unroll a model before its training step is built}}
  %y, %s = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<2x8x4xf32>) {
    %0 = nn.relu "act"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %0, %0 : tensor<8x4xf32>, tensor<8x4xf32>
  }
  return %s : tensor<2x8x4xf32>
}

// -----

// and neither has one that another repeat slices: unroll a model before its
// training step is built.
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  // expected-error@+1 {{'nn.repeat' op can't be unrolled: its stacked results are read; unroll a model before its training step is built}}
  %y, %s = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<2x8x4xf32>) {
    %0 = nn.relu "act"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %0, %h : tensor<8x4xf32>, tensor<8x4xf32>
  }
  %z = nn.repeat "layers" count 2 reverse
      carry(%g = %y : tensor<8x4xf32>)
      slice(%h = %s : tensor<2x8x4xf32> to tensor<8x4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.add "act"(%g, %h) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %z : tensor<8x4xf32>
}
