// RUN: proteus-opt %s -split-input-file -verify-diagnostics

// The right operand of a product may lack leading dimensions, not the left.
func.func @f(%a: tensor<16xf32>, %b: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.mul' op the right operand may lack dimensions of the left, not the other way round; got ranks 1 and 2}}
  %0 = nn.mul "m"(%a, %b) : (tensor<16xf32>, tensor<8x16xf32>) -> tensor<16xf32>
  return
}

// -----

// Trailing dimensions agree.
func.func @f(%a: tensor<8x16xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{'nn.mul' op operand 1: dimension 0 (hidden) has size 8, expected 16}}
  %0 = nn.mul "m"(%a, %b) : (tensor<8x16xf32>, tensor<8xf32>) -> tensor<8x16xf32>
  return
}

// -----

// Gate and up have one shape.
func.func @f(%a: tensor<8x16xf32>, %b: tensor<8x8xf32>) {
  // expected-error@+1 {{'nn.swiglu' op operand 1: dimension 1 (hidden) has size 8, expected 16}}
  %0 = nn.swiglu "m"(%a, %b) : (tensor<8x16xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  return
}

// -----

// A rotation needs batch, sequence and heads,
func.func @f(%a: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.rope' op operand must have rank 3, got 2}}
  %0 = nn.rope "r"(%a) {heads = 2 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// turns pairs,
func.func @f(%a: tensor<8x4x6xf32>) {
  // expected-error@+1 {{'nn.rope' op 'heads' must divide the last dimension into heads of an even size, got 2 and 6}}
  %0 = nn.rope "r"(%a) {heads = 2 : i64} : (tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
  return
}

// -----

// and has a positive base.
func.func @f(%a: tensor<8x4x8xf32>) {
  // expected-error@+1 {{'nn.rope' op 'base' must be positive, got 0.000000e+00}}
  %0 = nn.rope "r"(%a) {heads = 2 : i64, base = 0.0 : f64} : (tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
  return
}

// -----

// Scores have queries and keys.
func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{'nn.causal_mask' op operand must have at least 2 dimensions, got 1}}
  %0 = nn.causal_mask "m"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// Kept dimensions are in order.
func.func @f(%a: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.broadcast' op 'keep' must be increasing and below the rank 3}}
  %0 = nn.broadcast "b"(%a) {keep = array<i64: 2, 0>} : (tensor<8x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

// The operand has the kept dimensions.
func.func @f(%a: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.broadcast' op operand 0: dimension 1 (seq) has size 16, expected 4}}
  %0 = nn.broadcast "b"(%a) {keep = array<i64: 0, 1>} : (tensor<8x16xf32>) -> tensor<8x4x16xf32>
  return
}

// -----

// A permutation holds every dimension once.
func.func @f(%a: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.transpose' op 'permutation' must hold each of the 2 dimensions of the operand once}}
  %0 = nn.transpose "t"(%a) {permutation = array<i64: 0, 0>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// The result has the permuted shape.
func.func @f(%a: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.transpose' op result 0: dimension 0 (hidden) has size 8, expected 16}}
  %0 = nn.transpose "t"(%a) {permutation = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// A softmax has rows.
func.func @f(%a: tensor<f32>) {
  // expected-error@+1 {{'nn.softmax' op operand must have at least 1 dimension}}
  %0 = nn.softmax "s"(%a) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// The scale has the size of the rows.
func.func @f(%a: tensor<8x16xf32>, %g: tensor<8xf32>) {
  // expected-error@+1 {{'nn.rms_norm' op operand 1: dimension 0 (hidden) has size 8, expected 16}}
  %0 = nn.rms_norm "n"(%a, %g) : (tensor<8x16xf32>, tensor<8xf32>) -> tensor<8x16xf32>
  return
}

// -----

// Batches have two dimensions or four.
func.func @f(%a: tensor<8x4x16xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'nn.batch_norm' op input must be [batch, channel] or [batch, channel, height, width], got rank 3}}
  %0:3 = nn.batch_norm "n"(%a, %g, %g) : (tensor<8x4x16xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4x16xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

// Groups have equal size.
func.func @f(%a: tensor<8x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'nn.batch_norm' op 'groups' must divide the batch, got 3 and 8}}
  %0:3 = nn.batch_norm "n"(%a, %g, %g) {groups = 3 : i64} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  return
}

// -----

// Statistics are per group,
func.func @f(%a: tensor<8x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'nn.batch_norm' op result 1: dimension 0 (batch) has size 4, expected 2}}
  %0:3 = nn.batch_norm "n"(%a, %g, %g) {groups = 2 : i64} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  return
}

// -----

// also where there is one.
func.func @f(%a: tensor<8x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'nn.batch_norm' op mean must have 1 rows, got 4}}
  %0:3 = nn.batch_norm "n"(%a, %g, %g) : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  return
}

// -----

// Sums are two rows.
func.func @f(%a: tensor<8x4xf32>) {
  // expected-error@+1 {{'nn.batch_norm_sums' op sums must have 2 rows, got 3}}
  %0 = nn.batch_norm_sums "n"(%a) : (tensor<8x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// Something was counted.
func.func @f(%a: tensor<2x4xf32>) {
  // expected-error@+1 {{attribute 'count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0:2 = nn.batch_norm_statistics "n"(%a) {count = 0 : i64} : (tensor<2x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

// Statistics are read from two rows.
func.func @f(%a: tensor<1x4xf32>) {
  // expected-error@+1 {{'nn.batch_norm_statistics' op sums must have 2 rows, got 1}}
  %0:2 = nn.batch_norm_statistics "n"(%a) {count = 8 : i64} : (tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

// Stacked tables have indices for each.
func.func @f(%i: tensor<8x4xi32>, %t: tensor<3x100x16xf32>) {
  // expected-error@+1 {{'nn.embedding_bag' op indices and table must both have rank 2 (one table) or 3 (stacked tables), got 2 and 3}}
  %0 = nn.embedding_bag "e"(%i, %t) : (tensor<8x4xi32>, tensor<3x100x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @update_of_another_type(%t: tensor<100x16xf32>, %g: tensor<8x16xf32>, %i: tensor<8x4xi32>) {
  // expected-error@+1 {{'nn.embedding_bag_update' op the result must have the type of the table, got 'tensor<100x16xbf16>' and 'tensor<100x16xf32>'}}
  %0 = nn.embedding_bag_update "e"(%t, %g, %i) : (tensor<100x16xf32>, tensor<8x16xf32>, tensor<8x4xi32>) -> tensor<100x16xbf16>
  return
}

// -----

// There are pairs of features.
func.func @f(%x: tensor<8x1x16xf32>) {
  // expected-error@+1 {{'nn.interaction' op input must be [batch, features, dim] with at least 2 features, got 'tensor<8x1x16xf32>'}}
  %0 = nn.interaction "i"(%x) : (tensor<8x1x16xf32>) -> tensor<8x1xf32>
  return
}

// -----

// Every pair has a product.
func.func @f(%x: tensor<8x4x16xf32>) {
  // expected-error@+1 {{'nn.interaction' op result 0: dimension 1 (pair) has size 16, expected 6}}
  %0 = nn.interaction "i"(%x) : (tensor<8x4x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// A loss compares equal shapes.
func.func @f(%x: tensor<8x4xf32>, %t: tensor<8x2xf32>) {
  // expected-error@+1 {{'nn.mse_loss' op operand 1: dimension 1 (hidden) has size 2, expected 4}}
  %0 = nn.mse_loss "l"(%x, %t) : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<f32>
  return
}

// -----

// Every iterator has a size and a kind.
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op 'iterators', 'sizes' and 'kinds' must have the same length, got 2, 1 and 2}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "h"], sizes = array<i64: 8>, kinds = ["parallel", "parallel"], indexing = [["b", "h"], ["b", "h"]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// Names are words,
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op iterator name 'b h' must be letters, digits and underscores}}
  %0 = nn.generic "g"(%x) {iterators = ["b h", "h"], sizes = array<i64: 8, 16>, kinds = ["parallel", "parallel"], indexing = [["b", "h"], ["b", "h"]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// and differ.
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op iterator 'b' is listed twice}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "b"], sizes = array<i64: 8, 16>, kinds = ["parallel", "parallel"], indexing = [["b", "h"], ["b", "h"]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// Iterators run.
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op iterator 'h' must have a positive size, got 0}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "h"], sizes = array<i64: 8, 0>, kinds = ["parallel", "parallel"], indexing = [["b", "h"], ["b", "h"]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// Kinds are known.
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op iterator 'h' has the unknown kind 'mean'; known are parallel, sum, max and opaque}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "h"], sizes = array<i64: 8, 16>, kinds = ["parallel", "mean"], indexing = [["b", "h"], ["b", "h"]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// Every tensor is indexed,
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op 'indexing' needs an entry per operand and result, 2 in all, got 1}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "h"], sizes = array<i64: 8, 16>, kinds = ["parallel", "parallel"], indexing = [["b", "h"]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// by iterators that exist,
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op 'indexing' names 'c', which is no iterator}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "h"], sizes = array<i64: 8, 16>, kinds = ["parallel", "parallel"], indexing = [["b", "c"], ["b", "h"]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// in every dimension,
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op operand 0 must have rank 1, got 2}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "h"], sizes = array<i64: 8, 16>, kinds = ["parallel", "parallel"], indexing = [["b"], ["b", "h"]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// of the right size.
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op operand 0: dimension 1 (b) has size 16, expected 8}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "h"], sizes = array<i64: 8, 16>, kinds = ["parallel", "parallel"], indexing = [["b", "b"], ["b", "h"]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// Independent parts have results of their own.
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op iterator 'h' is parallel but does not index result 0; make it a sum, a maximum or opaque}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "h"], sizes = array<i64: 8, 16>, kinds = ["parallel", "parallel"], indexing = [["b", "h"], ["b", ""]], flops = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// Costs are not negative.
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.generic' op 'bytes' must not be negative, got -1.000000e+00}}
  %0 = nn.generic "g"(%x) {iterators = ["b", "h"], sizes = array<i64: 8, 16>, kinds = ["parallel", "parallel"], indexing = [["b", "h"], ["b", "h"]], flops = 1.0 : f64, bytes = -1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// A layer of long short-term memory has four gates per unit,
func.func @f(%x: tensor<8x5x48xf32>, %w: tensor<48x16xf32>) {
  // expected-error@+1 {{'nn.lstm' op there are four gates per hidden unit, got 48 gates and 16 units}}
  %h, %g, %c = nn.lstm "l"(%x, %w) : (tensor<8x5x48xf32>, tensor<48x16xf32>) -> (tensor<8x5x16xf32>, tensor<8x5x48xf32>, tensor<8x5x16xf32>)
  return
}

// -----

// and goes through a time.
func.func @f(%dx: tensor<8x64xf32>, %h: tensor<8x16xf32>) {
  // expected-error@+1 {{'nn.lstm_wgrad' op gates and states must have rank 3, got 2 and 2}}
  %dw = nn.lstm_wgrad "l"(%dx, %h) : (tensor<8x64xf32>, tensor<8x16xf32>) -> tensor<64x16xf32>
  return
}
