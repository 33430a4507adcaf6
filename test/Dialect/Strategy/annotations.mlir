// Attributes that passes leave for each other are verified: their name, their
// type and their place.
//
// RUN: proteus-opt %s -split-input-file -verify-diagnostics

func.func @valid(%x: tensor<8x4xf32> {strategy.stage = 1 : i64}) -> tensor<8x4xf32>
    attributes {strategy.pipeline_axis = "pp", strategy.step = #dist.step<schedule = <order = gpipe>>} {
  %0 = nn.relu "a"(%x) {strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A slip in a name.
func.func @name(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{the strategy dialect has no attribute 'strategy.phaze'; did you mean 'strategy.phase'?}}
  %0 = nn.relu "a"(%x) {strategy.phaze = #strategy.phase<backward>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A text in place of a number.
func.func @type(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{'strategy.stage' must have a non-negative i64, got "three"}}
  %0 = nn.relu "a"(%x) {strategy.stage = "three"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A text in place of a phase.
func.func @phase(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{'strategy.phase' must have a #strategy.phase, got "backward"}}
  %0 = nn.relu "a"(%x) {strategy.phase = "backward"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A negative stage.
func.func @negative(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{'strategy.stage' must have a non-negative i64, got -1 : i64}}
  %0 = nn.relu "a"(%x) {strategy.stage = -1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// An attribute of a function on an operation.
func.func @place(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{'strategy.pipeline_axis' belongs to functions, not to 'nn.relu'}}
  %0 = nn.relu "a"(%x) {strategy.pipeline_axis = "pp"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// An attribute of an operation on an argument.
// expected-error@+1 {{'strategy.phase' belongs to operations, not to argument 0 of 'func.func'}}
func.func private @argument(tensor<8x4xf32> {strategy.phase = #strategy.phase<forward>})

// -----

// Nothing belongs to results.
// expected-error@+1 {{'strategy.layout' belongs to arguments, not to result 0 of 'func.func'}}
func.func private @result() -> (tensor<8x4xf32> {strategy.layout = "x"})

// -----

// Nothing belongs to modules.
// expected-error@+1 {{'strategy.stack' belongs to trees, not to 'builtin.module'}}
module attributes {strategy.stack = "megatron-lm"} {
}
