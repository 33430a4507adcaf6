// RUN: proteus-opt %s -split-input-file -verify-diagnostics --propagate-strategy=explain

// A remark gives the reason for every axis: the tree, an operand or a reader.
#mesh = #dist.mesh<[dp = 2, tp = 2]>
func.func @reasons(%x: tensor<8x4xf32>, %w1: tensor<6x4xf32>, %w2: tensor<4x6xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) attributes {strategy.mesh = #mesh} {
  // expected-remark@+1 {{batch over {dp} for its reader 'fc1'}}
  %0 = nn.gelu "before"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{batch over {dp} from the tree; out over {tp} from the tree}}
  %1 = nn.linear "fc1"(%0, %w1) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  // expected-remark@+1 {{batch over {dp} like operand 0; in over {tp} like operand 0}}
  %2 = nn.linear "fc2"(%1, %w2) : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{whole on every device}}
  %3 = nn.gelu "alone"(%w1) {strategy.op = #strategy.partition<[batch -> [], hidden -> []]>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %2, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Two operands of an addition disagree: the first wins.
#mesh = #dist.mesh<[a = 2, b = 2]>
func.func @operands_disagree(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  // expected-remark@+1 {{batch over {a} from the tree}}
  %0 = nn.gelu "left"(%x) {strategy.op = #strategy.partition<[batch -> a]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{batch over {b} from the tree}}
  %1 = nn.relu "right"(%x) {strategy.op = #strategy.partition<[batch -> b]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark@+2 {{batch over {a} like operand 0}}
  // expected-remark@+1 {{operand 1 is split over {b} along 'batch', but operand 0 comes first with {a}: operand 1 is converted; set the iterator in the tree to decide otherwise}}
  %2 = nn.add "sum"(%0, %1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Where the tree decides there is no conflict.
#mesh = #dist.mesh<[a = 2, b = 2]>
func.func @tree_decides(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  // expected-remark@+1 {{batch over {a} from the tree}}
  %0 = nn.gelu "left"(%x) {strategy.op = #strategy.partition<[batch -> a]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{batch over {b} from the tree}}
  %1 = nn.relu "right"(%x) {strategy.op = #strategy.partition<[batch -> b]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{batch over {b} from the tree}}
  %2 = nn.add "sum"(%0, %1) {strategy.op = #strategy.partition<[batch -> b]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Gradients repeat the conflicts of their forward operations, so there is no
// remark about them. Nor is the storage of an argument a conflict.
#mesh = #dist.mesh<[a = 2, b = 2]>
func.func @no_conflict(%x: tensor<8x4xf32>, %w: tensor<4x4xf32> {nn.role = "parameter", strategy.weight = [["b"], []]}) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  // expected-remark@+1 {{batch over {a} from the tree}}
  %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[batch -> a, out -> []]>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{batch over {b} from the tree}}
  %1 = nn.relu_grad "right"(%x, %x) {strategy.op = #strategy.partition<[batch -> b]>, strategy.phase = #strategy.phase<backward>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark@+1 {{batch over {a} like operand 0}}
  %2 = nn.add "sum"(%0, %1) {strategy.phase = #strategy.phase<backward>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Axes spread into a repeat and out of it.
#mesh = #dist.mesh<[dp = 2]>
func.func @through_repeats(%x: tensor<8x4xf32>, %ws: tensor<3x4x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  // expected-remark@+1 {{batch over {dp} from the tree}}
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.repeat "layers" count 3 carry(%h = %0 : tensor<8x4xf32>) slice(%w = %ws : tensor<3x4x4xf32> to tensor<4x4xf32>) -> (tensor<8x4xf32>) {
    // expected-remark@+1 {{batch over {dp} like operand 0}}
    %2 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %2 : tensor<8x4xf32>
  }
  // expected-remark@+1 {{batch over {dp} like operand 0}}
  %3 = nn.relu "out"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// -----

// A number about a gradient follows the update, which reads the gradient as well.
#mesh = #dist.mesh<[dp = 2]>
func.func @observer(%g: tensor<6x4xf32>, %w: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {strategy.mesh = #mesh} {
  // expected-remark@+1 {{d0 over {dp} for its reader 'sum'}}
  %0 = nn.square_sum "norm"(%g) {strategy.phase = #strategy.phase<update>} : (tensor<6x4xf32>) -> tensor<f32>
  // expected-remark@+1 {{batch over {dp} from the tree}}
  %1 = nn.add "sum"(%g, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<update>} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}
