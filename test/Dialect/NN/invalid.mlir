// RUN: proteus-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

//===----------------------------------------------------------------------===//
// The iteration space
//===----------------------------------------------------------------------===//

// Shapes are static.
func.func @f(%x: tensor<?x16xf32>) {
  // expected-error@+1 {{'nn.relu' op operand #0 must be statically shaped tensor of floating-point values, but got 'tensor<?x16xf32>'}}
  %0 = nn.relu "act"(%x) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

// Sizes can be computed with: 2^57 elements are too many,
func.func @f() {
  // expected-error@+1 {{'tensor<536870912x268435456xf32>' has more than 2^56 elements; sizes and times of such tensors can't be computed}}
  %0 = nn.fill "zero"() {value = 0.0 : f64} : () -> tensor<536870912x268435456xf32>
  return
}

// -----

// also where their number is beyond 64 bits; 2^56 are not.
func.func @f(%x: tensor<268435456x268435456xf32>, %y: tensor<4294967296x4294967296xf32>) {
  %0 = nn.relu "act"(%x) : (tensor<268435456x268435456xf32>) -> tensor<268435456x268435456xf32>
  // expected-error@+1 {{'tensor<4294967296x4294967296xf32>' has more than 2^56 elements; sizes and times of such tensors can't be computed}}
  %1 = nn.relu "act"(%y) : (tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

// No dimension is empty.
func.func @f(%x: tensor<0x16xf32>) {
  // expected-error@+1 {{'nn.relu' op operand 0: dimension 0 must not be empty}}
  %0 = nn.relu "act"(%x) : (tensor<0x16xf32>) -> tensor<0x16xf32>
  return
}

// -----

// An empty tensor has no factors.
func.func @f(%x: tensor<0x16xf32>) {
  // expected-error@+1 {{'nn.reshape' op operand 0: dimension 0 must not be empty}}
  %0 = nn.reshape "r"(%x) : (tensor<0x16xf32>) -> tensor<16x0xf32>
  return
}

// -----

// An operand has the rank that its iterators give it.
func.func @f(%x: tensor<8x128xf32>, %w: tensor<256xf32>) {
  // expected-error@+1 {{'nn.linear' op operand 1 must have rank 2, got 1}}
  %0 = nn.linear "fc"(%x, %w) : (tensor<8x128xf32>, tensor<256xf32>) -> tensor<8x256xf32>
  return
}

// -----

// A dimension has the size of its iterator.
func.func @f(%x: tensor<8x128xf32>, %w: tensor<256x64xf32>) {
  // expected-error@+1 {{'nn.linear' op operand 1: dimension 1 (in) has size 64, expected 128}}
  %0 = nn.linear "fc"(%x, %w) : (tensor<8x128xf32>, tensor<256x64xf32>) -> tensor<8x256xf32>
  return
}

// -----

// So do the dimensions of a result.
func.func @f(%x: tensor<8x128xf32>) {
  // expected-error@+1 {{'nn.gelu' op result 0: dimension 1 (hidden) has size 64, expected 128}}
  %0 = nn.gelu "act"(%x) : (tensor<8x128xf32>) -> tensor<8x64xf32>
  return
}

// -----

// A fused dimension has the product of the sizes of its iterators.
func.func @f(%q: tensor<1x4x8xf32>, %k: tensor<1x4x6xf32>) {
  // expected-error@+1 {{'nn.attention' op operand 1: dimension 2 (head x dim) has size 6, expected 8}}
  %0, %1 = nn.attention "core"(%q, %k, %k) {heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Matrix operations
//===----------------------------------------------------------------------===//

// Both operands of a product have the same rank.
func.func @f(%a: tensor<2x4x4xf32>, %b: tensor<4x4xf32>) {
  // expected-error@+1 {{'nn.matmul' op operands must have the same rank of at least 2, got 3 and 2}}
  %0 = nn.matmul "m"(%a, %b) : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

// The same leading dimensions too.
func.func @f(%a: tensor<2x4x4xf32>, %b: tensor<3x4x4xf32>) {
  // expected-error@+1 {{'nn.matmul' op operand 1: dimension 0 (batch) has size 3, expected 2}}
  %0 = nn.matmul "m"(%a, %b) : (tensor<2x4x4xf32>, tensor<3x4x4xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

// A kernel is square or not, but it has two dimensions.
func.func @f(%x: tensor<8x4x8x8xf32>, %w: tensor<16x4x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op weight must have rank 4, got 3}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x4x8x8xf32>, tensor<16x4x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// An image has four dimensions.
func.func @f(%x: tensor<8x4x8xf32>, %w: tensor<16x4x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op image and output must have rank 4, got 3 and 4}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x4x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// A stride has two entries.
func.func @f(%x: tensor<8x4x8x8xf32>, %w: tensor<16x4x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op 'stride' must have 2 entries, got 1}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1>, padding = array<i64: 1, 1>} : (tensor<8x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// A stride is positive.
func.func @f(%x: tensor<8x4x8x8xf32>, %w: tensor<16x4x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op 'stride' must be at least 1, got 0}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1, 0>, padding = array<i64: 1, 1>} : (tensor<8x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// A dilation spreads the kernel in both directions,
func.func @f(%x: tensor<8x4x8x8xf32>, %w: tensor<16x4x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op 'dilation' must have 2 entries of at least 1}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 0>} : (tensor<8x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// so that it reaches further.
func.func @f(%x: tensor<8x4x8x8xf32>, %w: tensor<16x4x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op output dimension 2 has size 8, expected 6 = (8 + 2 * 1 - 5) / 1 + 1}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 2, 2>} : (tensor<8x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// Groups have as many channels each,
func.func @f(%x: tensor<8x4x8x8xf32>, %w: tensor<16x1x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op 'groups' must divide the channels of image and output, got 3 and 4}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 3 : i64} : (tensor<8x4x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// of which the weight has those of one group.
func.func @f(%x: tensor<8x4x8x8xf32>, %w: tensor<16x4x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op operand 1: dimension 1 (in) has size 4, expected 2}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 2 : i64} : (tensor<8x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// but not beyond every tensor.
func.func @f(%x: tensor<8x4x8x8xf32>, %w: tensor<16x4x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op 'dilation' 4611686018427387904 gives the kernel more than 2^56 positions}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 4611686018427387904>} : (tensor<8x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// Sizes of a window have a limit, so that their sums don't overflow.
func.func @f(%x: tensor<8x4x8x8xf32>) {
  // expected-error@+1 {{'nn.pool2d' op 'padding' must be at most 2^56, got 4611686018427387904}}
  %0 = nn.pool2d "p" max(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 4611686018427387904, 0>} : (tensor<8x4x8x8xf32>) -> tensor<8x4x4x4xf32>
  return
}

// -----

// A padding is not negative.
func.func @f(%x: tensor<8x4x8x8xf32>) {
  // expected-error@+1 {{'nn.pool2d' op 'padding' must be at least 0, got -1}}
  %0 = nn.pool2d "p" max(%x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: -1, 0>} : (tensor<8x4x8x8xf32>) -> tensor<8x4x4x4xf32>
  return
}

// -----

// A window fits the padded image.
func.func @f(%x: tensor<8x4x8x8xf32>) {
  // expected-error@+1 {{'nn.pool2d' op the kernel of size 11 is larger than the padded image of size 10}}
  %0 = nn.pool2d "p" average(%x) {kernel = array<i64: 2, 11>, stride = array<i64: 2, 2>, padding = array<i64: 0, 1>} : (tensor<8x4x8x8xf32>) -> tensor<8x4x4x4xf32>
  return
}

// -----

// The size of the output follows from the window.
func.func @f(%x: tensor<8x4x8x8xf32>, %w: tensor<16x4x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d' op output dimension 3 has size 8, expected 4 = (8 + 2 * 1 - 3) / 2 + 1}}
  %0 = nn.conv2d "c"(%x, %w) {stride = array<i64: 1, 2>, padding = array<i64: 1, 1>} : (tensor<8x4x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x16x8x8xf32>
  return
}

// -----

// The gradient of an image has the size that gives the output.
func.func @f(%dy: tensor<8x16x8x8xf32>, %w: tensor<16x4x3x3xf32>) {
  // expected-error@+1 {{'nn.conv2d_dgrad' op output dimension 2 has size 8, expected 7 = (7 + 2 * 1 - 3) / 1 + 1}}
  %0 = nn.conv2d_dgrad "c"(%dy, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x4x7x8xf32>
  return
}

// -----

// The gradient of a kernel has the size that gives the output.
func.func @f(%dy: tensor<8x16x8x8xf32>, %x: tensor<8x4x8x8xf32>) {
  // expected-error@+1 {{'nn.conv2d_wgrad' op output dimension 2 has size 8, expected 6 = (8 + 2 * 1 - 5) / 1 + 1}}
  %0 = nn.conv2d_wgrad "c"(%dy, %x) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<8x4x8x8xf32>) -> tensor<16x4x5x5xf32>
  return
}

// -----

// So has the gradient of a pooling.
func.func @f(%dy: tensor<8x4x3x4xf32>, %x: tensor<8x4x8x8xf32>) {
  // expected-error@+1 {{'nn.pool2d_grad' op output dimension 2 has size 3, expected 4 = (8 + 2 * 0 - 2) / 2 + 1}}
  %0 = nn.pool2d_grad "p" max(%dy, %x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x4x3x4xf32>, tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32>
  return
}

// -----

// Query heads share key heads evenly.
func.func @f(%q: tensor<1x4x12xf32>, %k: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'nn.attention' op 'kv_heads' must divide 'heads', got 4 and 6}}
  %0, %1 = nn.attention "core"(%q, %k, %k) {heads = 6 : i64, kv_heads = 4 : i64} : (tensor<1x4x12xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x12xf32>, tensor<1x6x4xf32>)
  return
}

// -----

// Values have as many heads as keys.
func.func @f(%q: tensor<1x4x8xf32>, %k: tensor<1x4x4xf32>, %v: tensor<1x4x5xf32>) {
  // expected-error@+1 {{'nn.attention' op the value's last dimension, 5, is not a multiple of the number of key heads, 2}}
  %0, %1 = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, kv_heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<1x4x4xf32>, tensor<1x4x5xf32>) -> (tensor<1x4x10xf32>, tensor<1x4x4xf32>)
  return
}

// -----

// The result is as wide as the values are.
func.func @f(%q: tensor<1x4x8xf32>, %v: tensor<1x4x6xf32>) {
  // expected-error@+1 {{'nn.attention' op result 0: dimension 2 (head x group x value_dim) has size 8, expected 6}}
  %0, %1 = nn.attention "core"(%q, %q, %v) {heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x6xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  return
}

// -----

// A value is a sequence.
func.func @f(%q: tensor<1x4x8xf32>, %v: tensor<4x8xf32>) {
  // expected-error@+1 {{'nn.attention' op value must have rank 3, got 2}}
  %0, %1 = nn.attention "core"(%q, %q, %v) {heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  return
}

// -----

// A query is a sequence.
func.func @f(%q: tensor<4x8xf32>) {
  // expected-error@+1 {{'nn.attention' op query must have rank 3, got 2}}
  %0, %1 = nn.attention "core"(%q, %q, %q) {heads = 2 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4xf32>)
  return
}

// -----

// Heads are equally wide.
func.func @f(%q: tensor<1x4x8xf32>, %lse: tensor<1x3x4xf32>) {
  // expected-error@+1 {{'nn.attention_grad' op 'heads' must divide the query's last dimension, got 3 and 8}}
  %0:3 = nn.attention_grad "core"(%q, %q, %q, %q, %q, %lse) {heads = 3 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x3x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// Memory-bound operations and views
//===----------------------------------------------------------------------===//

// The right operand of a sum is repeated, not the left.
func.func @f(%a: tensor<4xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{'nn.add' op the right operand may lack dimensions of the left, not the other way round; got ranks 1 and 2}}
  %0 = nn.add "a"(%a, %b) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Not everything is dropped.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'nn.dropout' op 'probability' must be at least 0 and below 1, got 1.000000e+00}}
  %0, %1 = nn.dropout "d"(%x) {probability = 1.0 : f64, seed = 1 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi8>)
  return
}

// -----

// A reshape keeps all elements.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.reshape' op operand has 4 elements, result has 2}}
  %0 = nn.reshape "r"(%x) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// A cut has pieces.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'nn.split' op needs at least one piece}}
  nn.split "s"(%x) : (tensor<2x4xf32>) -> ()
  return
}

// -----

// A scalar has no dimension to cut.
func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'nn.split' op can't cut a tensor of rank 0}}
  %0 = nn.split "s"(%x) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// Pieces have the rank of the whole.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'nn.split' op pieces must have rank 2, got 1}}
  %0 = nn.split "s"(%x) : (tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----

// Pieces have the element type of the whole.
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'nn.concat' op pieces must have the element type 'bf16'}}
  %0 = nn.concat "c"(%x, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xbf16>
  return
}

// -----

// Groups are equally wide.
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'nn.split' op 'groups' must divide the last dimension of every piece, got 3 and 4}}
  %0, %1 = nn.split "s"(%x) {groups = 3 : i64} : (tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

// Pieces make up the whole.
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'nn.split' op the last dimensions of the pieces add up to 6, expected 8}}
  %0, %1 = nn.split "s"(%x) : (tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>)
  return
}

// -----

// Kept dimensions are in order.
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'nn.reduce_sum' op 'keep' must be increasing and below the rank 2}}
  %0 = nn.reduce_sum "s"(%x) {keep = array<i64: 1, 0>} : (tensor<2x8xf32>) -> tensor<8x2xf32>
  return
}

// -----

// Kept dimensions exist.
func.func @f(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'nn.reduce_sum' op 'keep' must be increasing and below the rank 2}}
  %0 = nn.reduce_sum "s"(%x) {keep = array<i64: 2>} : (tensor<2x8xf32>) -> tensor<8xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

// Momentum needs a velocity.
func.func @f(%w: tensor<4xf32>) {
  // expected-error@+1 {{'nn.sgd' op needs 1 states after the gradient, got 0}}
  %0 = nn.sgd "w"(%w, %w) {momentum} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Everything but the gradient has a new value.
func.func @f(%w: tensor<4xf32>) {
  // expected-error@+1 {{'nn.adam' op needs one result per operand but the gradient, 3 in all, got 1}}
  %0 = nn.adam "w"(%w, %w, %w, %w) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

// A repeat runs at least once.
func.func @f() {
  // expected-error@+1 {{'nn.repeat' op 'count' must be at least 1, got 0}}
  nn.repeat "layers" count 0 -> () {
    nn.yield
  }
  return
}

// -----

// Iterations are numbered from zero.
func.func @f() {
  // expected-error@+1 {{'nn.repeat' op 'first' must not be negative, got -1}}
  nn.repeat "layers" first -1 count 2 -> () {
    nn.yield
  }
  return
}

// -----

// A body has an argument for each operand.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.repeat' op body must have one argument per operand, 1 in all, got 0}}
  %0 = "nn.repeat"(%x) <{count = 2 : i64, operandSegmentSizes = array<i32: 1, 0>, path = "layers"}> ({
    "nn.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// A body ends in nn.yield.
func.func @f() {
  // expected-error@+1 {{'nn.repeat' op body must end in nn.yield}}
  nn.repeat "layers" count 2 -> () {
    "test.end"() : () -> ()
  }
  return
}

// -----

// A body is not empty.
func.func @f() {
  // expected-error@+1 {{body must end in nn.yield}}
  nn.repeat "layers" count 2 -> () {
  }
  return
}

// -----

// What is carried is yielded.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.repeat' op yields 0 values, expected 1 of which 1 carried}}
  %0 = nn.repeat "layers" count 2 carry(%h = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    nn.yield
  }
  return
}

// -----

// A carried value keeps its type.
func.func @f(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error@+1 {{'nn.repeat' op carried value 0 has type 'tensor<4xf32>' in the body but 'tensor<8xf32>' outside or where it is yielded}}
  %0 = nn.repeat "layers" count 2 carry(%h = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    nn.yield %y : tensor<8xf32>
  }
  return
}

// -----

// A carried value is a tensor.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.repeat' op carried value 0 has type 'f32' in the body but 'tensor<4xf32>' outside or where it is yielded}}
  %0 = "nn.repeat"(%x) <{count = 2 : i64, operandSegmentSizes = array<i32: 1, 0>, path = "layers"}> ({
  ^bb0(%h: f32):
    "nn.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// There is a slice for each iteration.
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{'nn.repeat' op sliced operand 0 of type 'tensor<3x4xf32>' must be 2 slices of 'tensor<4xf32>'}}
  nn.repeat "layers" count 2 slice(%s = %x : tensor<3x4xf32> to tensor<4xf32>) -> () {
    nn.yield
  }
  return
}

// -----

// A stacked result has a slice for each iteration.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.repeat' op stacked result 0 of type 'tensor<4xf32>' must be 2 slices of 'tensor<4xf32>'}}
  %0 = nn.repeat "layers" count 2 -> (tensor<4xf32>) {
    nn.yield %x : tensor<4xf32>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

// A body ends in nn.yield.
func.func @f() {
  // expected-error@+1 {{'nn.recompute' op body must end in nn.yield}}
  nn.recompute "layers" () -> () {
    "test.end"() : () -> ()
  }
  return
}

// -----

// A body sees the operands.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.recompute' op body arguments must have the types of the operands}}
  "nn.recompute"(%x) <{path = "layers"}> ({
  ^bb0(%h: tensor<8xf32>):
    "nn.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

// A body yields the results.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'nn.recompute' op yielded values must have the types of the results}}
  %0 = nn.recompute "layers" (%h = %x : tensor<4xf32>) -> (tensor<8xf32>) {
    nn.yield %h : tensor<4xf32>
  }
  return
}

// -----

// A body sees nothing else.
func.func @f(%x: tensor<4xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  %0 = nn.recompute "layers" () -> (tensor<4xf32>) {
    // expected-error@+1 {{'nn.yield' op using value defined outside the region}}
    nn.yield %x : tensor<4xf32>
  }
  return
}

// -----

// nn.yield ends a body of the dialect.
func.func @f() {
  // expected-error@+1 {{'nn.yield' op expects parent op to be one of 'nn.repeat, nn.recompute'}}
  nn.yield
}

// -----

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// Types of a training step are float types.
// expected-error@+1 {{'gradient' must be a float type, got 'i32'}}
func.func private @f() attributes {nn.training = #nn.training<optimizer = sgd, gradient = i32>}

// -----

// A training step is described by the attribute of the dialect.
// expected-error@+1 {{'func.func' op 'nn.training' must be a #nn.training attribute}}
func.func private @f() attributes {nn.training = "adam"}

// -----

// A training step belongs to a function.
// expected-error@+1 {{'builtin.module' op may not carry 'nn.training', which belongs to the function that holds the model}}
module attributes {nn.training = #nn.training<optimizer = sgd>} {
}

// -----

// Operations carry no other attribute of the dialect.
// expected-error@+1 {{'func.func' op has the unknown attribute 'nn.trainig'; operations may carry 'nn.training'}}
func.func private @f() attributes {nn.trainig = #nn.training<optimizer = sgd>}

// -----

// Roles are known.
// expected-error@+1 {{'func.func' op argument 0: 'nn.role' must be "input", "parameter", "state" or "master", got "weight"}}
func.func private @f(tensor<4xf32> {nn.role = "weight"})

// -----

// Paths are not empty.
// expected-error@+1 {{'func.func' op argument 1: 'nn.path' must be a non-empty string}}
func.func private @f(tensor<4xf32>, tensor<4xf32> {nn.path = ""})

// -----

// Arguments carry no other attribute of the dialect.
// expected-error@+1 {{'func.func' op argument 0 has the unknown attribute 'nn.name'; known are 'nn.role' and 'nn.path'}}
func.func private @f(tensor<4xf32> {nn.name = "x"})

// -----

// Results carry no other attribute of the dialect.
// expected-error@+1 {{'func.func' op result 0 has the unknown attribute 'nn.role'; known are 'nn.updates' and 'nn.result'}}
func.func private @f() -> (tensor<4xf32> {nn.role = "state"})

// -----

// A result replaces an argument that exists.
// expected-error@+1 {{'func.func' op result 0: 'nn.updates' must be the number of an argument below 1, got 1 : i64}}
func.func private @f(tensor<4xf32>) -> (tensor<4xf32> {nn.updates = 1 : i64})

// -----

func.func @half_a_state(%q: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'nn.attention_block' op the results so far must have the types of the results}}
  %0:2 = nn.attention_block "core"(%q, %q, %q, %q) {heads = 2 : i64, blocks = 4 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @no_blocks(%q: tensor<1x4x8xf32>) {
  // expected-error@+1 {{'nn.attention_block' op 'blocks' must be positive, got 0}}
  %0:2 = nn.attention_block "core"(%q, %q, %q) {heads = 2 : i64, blocks = 0 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  return
}
