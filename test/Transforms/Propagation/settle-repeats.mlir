// RUN: proteus-opt %s -split-input-file --settle-repeats | FileCheck %s --implicit-check-not=nn.repeat

// Every repeat must be expected below: any other one is an error.

#mesh = #dist.mesh<[tp = 2]>

// The body leaves the carried value split over tp, but finds it whole: the first
// iteration becomes a repeat of its own. Stacks are cut as the layers are, with
// the layers in their paths. Other iterations find what they leave, so they stay
// together.

// CHECK-LABEL: func.func @first_iteration_differs(
// CHECK-SAME:    tensor<8x8xf32>,
// CHECK-SAME:    tensor<1x8x8xf32> {nn.path = "layers[0:1].w"}
// CHECK-SAME:    tensor<3x8x8xf32> {nn.path = "layers[1:4].w"}
// CHECK:         %[[IN:.*]] = nn.gelu "in"
// CHECK-NEXT:    %[[FIRST:.*]] = nn.repeat "layers" count 1 carry(%{{.*}} = %[[IN]] : tensor<8x8xf32>) slice(%{{.*}} = %arg1 :
// CHECK-NEXT:      nn.linear "fc"
// CHECK:         %[[REST:.*]] = nn.repeat "layers" first 1 count 3 carry(%{{.*}} = %[[FIRST]] : tensor<8x8xf32>) slice(%{{.*}} = %arg2 :
// CHECK-NEXT:      nn.linear "fc"
// CHECK:         return %[[REST]]
func.func @first_iteration_differs(%x: tensor<8x8xf32>, %ws: tensor<4x8x8xf32> {nn.path = "layers[*].w"}) -> tensor<8x8xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> []]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = nn.repeat "layers" count 4 carry(%h = %0 : tensor<8x8xf32>) slice(%w = %ws : tensor<4x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %2 = nn.linear "fc"(%h, %w) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    nn.yield %2 : tensor<8x8xf32>
  }
  return %1 : tensor<8x8xf32>
}

// A body that leaves the carried value as it finds it stays in one piece.

// CHECK-LABEL: func.func @all_alike(
// CHECK:         nn.repeat "layers" count 4
func.func @all_alike(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = nn.repeat "layers" count 4 carry(%h = %0 : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %2 = nn.gelu "act"(%h) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    nn.yield %2 : tensor<8x8xf32>
  }
  return %1 : tensor<8x8xf32>
}

// A single iteration may leave the carried value in another layout.

// CHECK-LABEL: func.func @single_iteration(
// CHECK:         nn.repeat "layers" count 1
func.func @single_iteration(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> []]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = nn.repeat "layers" count 1 carry(%h = %0 : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %2 = nn.gelu "act"(%h) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    nn.yield %2 : tensor<8x8xf32>
  }
  return %1 : tensor<8x8xf32>
}

// The layout that leaves one repeat enters the next: only once "a" is cut is it
// known that "b" is settled, and that "c" is not.

// CHECK-LABEL: func.func @one_after_the_other(
// CHECK:         %[[A0:.*]] = nn.repeat "a" count 1
// CHECK:         %[[A:.*]] = nn.repeat "a" first 1 count 2 carry(%{{.*}} = %[[A0]] :
// CHECK:         %[[B:.*]] = nn.repeat "b" count 3 carry(%{{.*}} = %[[A]] :
// CHECK:         %[[C0:.*]] = nn.repeat "c" count 1 carry(%{{.*}} = %[[B]] :
// CHECK:         %[[C:.*]] = nn.repeat "c" first 1 count 2 carry(%{{.*}} = %[[C0]] :
func.func @one_after_the_other(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> [], hidden -> []]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = nn.repeat "a" count 3 carry(%h = %0 : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %1 = nn.gelu "act"(%h) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    nn.yield %1 : tensor<8x8xf32>
  }
  %b = nn.repeat "b" count 3 carry(%h = %a : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %1 = nn.gelu "act"(%h) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    nn.yield %1 : tensor<8x8xf32>
  }
  %c = nn.repeat "c" count 3 carry(%h = %b : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %1 = nn.gelu "act"(%h) {strategy.op = #strategy.partition<[batch -> [], hidden -> tp]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    nn.yield %1 : tensor<8x8xf32>
  }
  return %c : tensor<8x8xf32>
}

// The layout changes in every iteration: no number of iterations peeled would
// settle the rest, so at most one is.

// CHECK-LABEL: func.func @every_iteration_differs(
// CHECK:         nn.repeat "layers" count 1
// CHECK:         nn.repeat "layers" first 1 count 5
func.func @every_iteration_differs(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = nn.repeat "layers" count 6 carry(%h = %0 : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %2 = nn.transpose "turn"(%h) {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    nn.yield %2 : tensor<8x8xf32>
  }
  return %1 : tensor<8x8xf32>
}

// The first iteration of a reversed repeat is its last layer.

// CHECK-LABEL: func.func @reversed(
// CHECK-SAME:    tensor<3x8xf32> {nn.path = "layers[0:3].b"}
// CHECK-SAME:    tensor<1x8xf32> {nn.path = "layers[3:4].b"}
// CHECK:         %[[LAST:.*]] = nn.repeat "layers" first 3 count 1 reverse carry(%{{.*}} = %{{.*}} : tensor<8x8xf32>) slice(%{{.*}} = %arg2 :
// CHECK:         nn.repeat "layers" count 3 reverse carry(%{{.*}} = %[[LAST]] : tensor<8x8xf32>) slice(%{{.*}} = %arg1 :
func.func @reversed(%x: tensor<8x8xf32>, %bs: tensor<4x8xf32> {nn.path = "layers[*].b"}) -> tensor<8x8xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> []]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = nn.repeat "layers" count 4 reverse carry(%h = %0 : tensor<8x8xf32>) slice(%b = %bs : tensor<4x8xf32> to tensor<8xf32>) -> (tensor<8x8xf32>) {
    %2 = nn.add "bias"(%h, %b) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    nn.yield %2 : tensor<8x8xf32>
  }
  return %1 : tensor<8x8xf32>
}

// A function without a mesh belongs to no strategy and stays as it is.

// CHECK-LABEL: func.func @helper(
// CHECK:         nn.repeat "layers" count 4
func.func @helper(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = nn.gelu "in"(%x) {strategy.op = #strategy.partition<[batch -> []]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = nn.repeat "layers" count 4 carry(%h = %0 : tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %2 = nn.gelu "act"(%h) {strategy.op = #strategy.partition<[batch -> tp]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    nn.yield %2 : tensor<8x8xf32>
  }
  return %1 : tensor<8x8xf32>
}
