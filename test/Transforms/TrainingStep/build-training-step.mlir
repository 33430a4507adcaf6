// RUN: proteus-opt %s --build-training-step | FileCheck %s

#sgd = #nn.training<optimizer = sgd>

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

// The loss is followed by the new parameters, which say what they replace. The
// gradient of the loss is one. Every operation says its phase.

// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x3xf32> {nn.role = "input"}
// CHECK-SAME:    %[[L:[a-z0-9]+]]: tensor<4xi32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<6x3xf32>
// CHECK-SAME:    -> (tensor<f32>, tensor<6x3xf32> {nn.updates = 2 : i64})
// CHECK-NEXT:    %[[Y:.*]] = nn.linear "fc"(%[[X]], %[[W]]) {strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:    %[[LOSS:.*]], %[[LSE:.*]] = nn.cross_entropy "loss"(%[[Y]], %[[L]]) {strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:    %[[ONE:.*]] = nn.fill "loss"() {strategy.phase = #strategy.phase<backward>, value = 1.000000e+00 : f64} : () -> tensor<f32>
// CHECK-NEXT:    %[[DY:.*]] = nn.cross_entropy_grad "loss"(%[[ONE]], %[[Y]], %[[L]], %[[LSE]]) {strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:    %[[DW:.*]] = nn.linear_wgrad "fc"(%[[DY]], %[[X]]) {strategy.phase = #strategy.phase<backward>} : (tensor<4x6xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
// CHECK-NEXT:    %[[NEW:.*]] = nn.sgd "fc.weight"(%[[W]], %[[DW]]) {strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:    return %[[LOSS]], %[[NEW]]
func.func @step(
    %x: tensor<4x3xf32> {nn.role = "input"},
    %labels: tensor<4xi32> {nn.role = "input"},
    %w: tensor<6x3xf32> {nn.role = "parameter", nn.path = "fc.weight"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.linear "fc"(%x, %w) : (tensor<4x3xf32>, tensor<6x3xf32>) -> tensor<4x6xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x6xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A function without nn.training is a forward-only program and stays as it is.

// CHECK-LABEL: func.func @forward_only(
// CHECK-SAME:    -> tensor<f32> {
// CHECK-NEXT:    nn.linear "fc"(%{{.*}}, %{{.*}}) :
// CHECK-NEXT:    nn.cross_entropy "loss"(%{{.*}}, %{{.*}}) :
// CHECK-NEXT:    return %{{.*}} : tensor<f32>
func.func @forward_only(
    %x: tensor<4x3xf32> {nn.role = "input"},
    %labels: tensor<4xi32> {nn.role = "input"},
    %w: tensor<6x3xf32> {nn.role = "parameter"}) -> tensor<f32> {
  %y = nn.linear "fc"(%x, %w) : (tensor<4x3xf32>, tensor<6x3xf32>) -> tensor<4x6xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x6xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Gradients and updates inherit stage and partition of their operation; an
// update is where its parameter is.

// CHECK-LABEL: func.func @annotations_are_inherited(
// CHECK:         nn.fill "loss"() {strategy.phase = #strategy.phase<backward>, strategy.stage = 1 : i64
// CHECK:         nn.cross_entropy_grad "loss"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<backward>, strategy.stage = 1 : i64}
// CHECK:         nn.linear_wgrad "fc"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>, strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64}
// CHECK:         nn.sgd "fc.weight"({{.*}}) {strategy.phase = #strategy.phase<update>, strategy.stage = 0 : i64}
func.func @annotations_are_inherited(
    %x: tensor<4x3xf32> {nn.role = "input"},
    %labels: tensor<4xi32> {nn.role = "input"},
    %w: tensor<6x3xf32> {nn.role = "parameter", nn.path = "fc.weight", strategy.stage = 0 : i64})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp, out -> tp]>, strategy.stage = 0 : i64} : (tensor<4x3xf32>, tensor<6x3xf32>) -> tensor<4x6xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.stage = 1 : i64} : (tensor<4x6xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// What does not depend on a parameter gets no gradient: there is no dgrad of
// the first layer, nor a gradient of the activation in front of it.

// CHECK-LABEL: func.func @no_gradient_of_inputs(
// CHECK:         %[[H:.*]] = nn.relu "act"
// CHECK-NOT:     _dgrad
// CHECK-NOT:     relu_grad
// CHECK:         nn.linear_wgrad "fc"(%{{.*}}, %[[H]])
func.func @no_gradient_of_inputs(
    %x: tensor<4x3xf32> {nn.role = "input"},
    %labels: tensor<4xi32> {nn.role = "input"},
    %w: tensor<6x3xf32> {nn.role = "parameter"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %h = nn.relu "act"(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %y = nn.linear "fc"(%h, %w) : (tensor<4x3xf32>, tensor<6x3xf32>) -> tensor<4x6xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x6xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A value that two operations read gets the sum of both gradients, as does a
// parameter.

// CHECK-LABEL: func.func @fan_out_adds_gradients(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<4x3xf32>
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<4xi32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<3x3xf32>
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad "loss"
// CHECK-NEXT:    %[[DH:.*]] = nn.linear_dgrad "b"(%[[DY]], %[[W]])
// CHECK-NEXT:    %[[SUM:.*]] = nn.add "b"(%[[DY]], %[[DH]])
// CHECK-NEXT:    %[[DW2:.*]] = nn.linear_wgrad "b"(%[[DY]], %{{.*}})
// CHECK-NEXT:    %[[DW1:.*]] = nn.linear_wgrad "a"(%[[SUM]], %{{.*}})
// CHECK-NEXT:    %[[DW:.*]] = nn.add "a"(%[[DW2]], %[[DW1]])
// CHECK-NEXT:    nn.sgd "w"(%[[W]], %[[DW]])
func.func @fan_out_adds_gradients(
    %x: tensor<4x3xf32> {nn.role = "input"},
    %labels: tensor<4xi32> {nn.role = "input"},
    %w: tensor<3x3xf32> {nn.role = "parameter", nn.path = "w"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %h = nn.linear "a"(%x, %w) : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %g = nn.linear "b"(%h, %w) : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %y = nn.add "residual"(%g, %h) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x3xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A sum of gradients is not the operation whose gradient comes last: it has its
// stage, but takes its partition from what it sums up.

// CHECK-LABEL: func.func @sums_inherit_no_partition(
// CHECK:         nn.linear_dgrad "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64}
// CHECK-NEXT:    nn.add "b"({{.*}}) {strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64}
// CHECK-NEXT:    nn.linear_wgrad "b"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64}
// CHECK-NEXT:    nn.linear_wgrad "a"({{.*}}) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64}
// CHECK-NEXT:    nn.add "a"({{.*}}) {strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64}
func.func @sums_inherit_no_partition(
    %x: tensor<4x3xf32> {nn.role = "input"},
    %labels: tensor<4xi32> {nn.role = "input"},
    %w: tensor<3x3xf32> {nn.role = "parameter", nn.path = "w", strategy.stage = 0 : i64})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %h = nn.linear "a"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.stage = 0 : i64} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %g = nn.linear "b"(%h, %w) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.stage = 0 : i64} : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %y = nn.add "residual"(%g, %h) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.stage = 0 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.stage = 0 : i64} : (tensor<4x3xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

//===----------------------------------------------------------------------===//
// Gradients, operation by operation
//===----------------------------------------------------------------------===//

// With bias: its gradient sums over all rows.

// CHECK-LABEL: func.func @linear_with_bias(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<2x4x3xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<6x3xf32>
// CHECK:         %[[X:.*]] = nn.gelu "act"
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad "loss"
// CHECK-NEXT:    %[[DX:.*]] = nn.linear_dgrad "fc"(%[[DY]], %[[W]]) {{.*}} : (tensor<2x4x6xf32>, tensor<6x3xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:    %[[DW:.*]] = nn.linear_wgrad "fc"(%[[DY]], %[[X]]) {{.*}} : (tensor<2x4x6xf32>, tensor<2x4x3xf32>) -> tensor<6x3xf32>
// CHECK-NEXT:    %[[DB:.*]] = nn.reduce_sum "fc"(%[[DY]]) {keep = array<i64: 2>, {{.*}}} : (tensor<2x4x6xf32>) -> tensor<6xf32>
// CHECK-NEXT:    nn.gelu_grad "act"(%[[DX]], %{{.*}})
// CHECK:         nn.sgd "w"(%[[W]], %[[DW]])
// CHECK:         nn.sgd "b"(%{{.*}}, %[[DB]])
func.func @linear_with_bias(
    %p: tensor<2x4x3xf32> {nn.role = "parameter", nn.path = "p"},
    %w: tensor<6x3xf32> {nn.role = "parameter", nn.path = "w"},
    %b: tensor<6xf32> {nn.role = "parameter", nn.path = "b"},
    %labels: tensor<2x4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %x = nn.gelu "act"(%p) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %y = nn.linear "fc"(%x, %w, %b) : (tensor<2x4x3xf32>, tensor<6x3xf32>, tensor<6xf32>) -> tensor<2x4x6xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<2x4x6xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
  return %loss : tensor<f32>
}

// C = A B: dA = dC Bᵀ, dB = Aᵀ dC. A gradient is split as the operation is, by
// the roles of its iterators, not by their names: the columns of dA are the sum
// of C.

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3x4xf32>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2x4x5xf32>
// CHECK:         %[[DC:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DA:.*]] = nn.matmul "mm"(%[[DC]], %[[B]]) {strategy.op = #strategy.partition<[m -> a, n -> c, k -> b, batch -> l]>, strategy.phase = #strategy.phase<backward>, transpose_b} : (tensor<2x3x5xf32>, tensor<2x4x5xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %[[DB:.*]] = nn.matmul "mm"(%[[A]], %[[DC]]) {strategy.op = #strategy.partition<[m -> c, n -> b, k -> a, batch -> l]>, strategy.phase = #strategy.phase<backward>, transpose_a} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT:    nn.sgd "a"(%[[A]], %[[DA]])
// CHECK-NEXT:    nn.sgd "b"(%[[B]], %[[DB]])
func.func @matmul(
    %a: tensor<2x3x4xf32> {nn.role = "parameter", nn.path = "a"},
    %b: tensor<2x4x5xf32> {nn.role = "parameter", nn.path = "b"},
    %labels: tensor<2x3xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %c = nn.matmul "mm"(%a, %b) {strategy.op = #strategy.partition<[batch -> l, m -> a, n -> b, k -> c]>} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %loss, %lse = nn.cross_entropy "loss"(%c, %labels) : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<2x3xf32>)
  return %loss : tensor<f32>
}

// C = Aᵀ B: dA = B dCᵀ, dB = A dC.

// CHECK-LABEL: func.func @matmul_transposed_a(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x4x3xf32>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2x4x5xf32>
// CHECK:         %[[DC:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DA:.*]] = nn.matmul "mm"(%[[B]], %[[DC]]) {strategy.op = #strategy.partition<[m -> c, n -> a, k -> b, batch -> l]>, strategy.phase = #strategy.phase<backward>, transpose_b} : (tensor<2x4x5xf32>, tensor<2x3x5xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:    %[[DB:.*]] = nn.matmul "mm"(%[[A]], %[[DC]]) {strategy.op = #strategy.partition<[m -> c, n -> b, k -> a, batch -> l]>, strategy.phase = #strategy.phase<backward>} : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT:    nn.sgd "a"(%[[A]], %[[DA]])
// CHECK-NEXT:    nn.sgd "b"(%[[B]], %[[DB]])
func.func @matmul_transposed_a(
    %a: tensor<2x4x3xf32> {nn.role = "parameter", nn.path = "a"},
    %b: tensor<2x4x5xf32> {nn.role = "parameter", nn.path = "b"},
    %labels: tensor<2x3xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %c = nn.matmul "mm"(%a, %b) {strategy.op = #strategy.partition<[batch -> l, m -> a, n -> b, k -> c]>, transpose_a} : (tensor<2x4x3xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %loss, %lse = nn.cross_entropy "loss"(%c, %labels) : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<2x3xf32>)
  return %loss : tensor<f32>
}

// C = A Bᵀ: dA = dC B, dB = dCᵀ A.

// CHECK-LABEL: func.func @matmul_transposed_b(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3x4xf32>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2x5x4xf32>
// CHECK:         %[[DC:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DA:.*]] = nn.matmul "mm"(%[[DC]], %[[B]]) {strategy.op = #strategy.partition<[m -> a, n -> c, k -> b, batch -> l]>, strategy.phase = #strategy.phase<backward>} : (tensor<2x3x5xf32>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %[[DB:.*]] = nn.matmul "mm"(%[[DC]], %[[A]]) {strategy.op = #strategy.partition<[m -> b, n -> c, k -> a, batch -> l]>, strategy.phase = #strategy.phase<backward>, transpose_a} : (tensor<2x3x5xf32>, tensor<2x3x4xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT:    nn.sgd "a"(%[[A]], %[[DA]])
// CHECK-NEXT:    nn.sgd "b"(%[[B]], %[[DB]])
func.func @matmul_transposed_b(
    %a: tensor<2x3x4xf32> {nn.role = "parameter", nn.path = "a"},
    %b: tensor<2x5x4xf32> {nn.role = "parameter", nn.path = "b"},
    %labels: tensor<2x3xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %c = nn.matmul "mm"(%a, %b) {strategy.op = #strategy.partition<[batch -> l, m -> a, n -> b, k -> c]>, transpose_b} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %loss, %lse = nn.cross_entropy "loss"(%c, %labels) : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<2x3xf32>)
  return %loss : tensor<f32>
}

// C = Aᵀ Bᵀ: dA = Bᵀ dCᵀ, dB = dCᵀ Aᵀ.

// CHECK-LABEL: func.func @matmul_transposed_both(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x4x3xf32>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<2x5x4xf32>
// CHECK:         %[[DC:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DA:.*]] = nn.matmul "mm"(%[[B]], %[[DC]]) {strategy.op = #strategy.partition<[m -> c, n -> a, k -> b, batch -> l]>, strategy.phase = #strategy.phase<backward>, transpose_a, transpose_b} : (tensor<2x5x4xf32>, tensor<2x3x5xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT:    %[[DB:.*]] = nn.matmul "mm"(%[[DC]], %[[A]]) {strategy.op = #strategy.partition<[m -> b, n -> c, k -> a, batch -> l]>, strategy.phase = #strategy.phase<backward>, transpose_a, transpose_b} : (tensor<2x3x5xf32>, tensor<2x4x3xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT:    nn.sgd "a"(%[[A]], %[[DA]])
// CHECK-NEXT:    nn.sgd "b"(%[[B]], %[[DB]])
func.func @matmul_transposed_both(
    %a: tensor<2x4x3xf32> {nn.role = "parameter", nn.path = "a"},
    %b: tensor<2x5x4xf32> {nn.role = "parameter", nn.path = "b"},
    %labels: tensor<2x3xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %c = nn.matmul "mm"(%a, %b) {strategy.op = #strategy.partition<[batch -> l, m -> a, n -> b, k -> c]>, transpose_a, transpose_b} : (tensor<2x4x3xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  %loss, %lse = nn.cross_entropy "loss"(%c, %labels) : (tensor<2x3x5xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<2x3xf32>)
  return %loss : tensor<f32>
}

// The gradients of a convolution have its stride and padding; that of the bias
// sums over all but the channels.

// CHECK-LABEL: func.func @conv2d(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x8x8xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<6x3x3x3xf32>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<6xf32>
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DX:.*]] = nn.conv2d_dgrad "conv"(%[[DY]], %[[W]]) {padding = array<i64: 1, 1>, {{.*}}stride = array<i64: 2, 2>} : (tensor<2x6x4x4xf32>, tensor<6x3x3x3xf32>) -> tensor<2x3x8x8xf32>
// CHECK-NEXT:    %[[DW:.*]] = nn.conv2d_wgrad "conv"(%[[DY]], %[[X]]) {padding = array<i64: 1, 1>, {{.*}}stride = array<i64: 2, 2>} : (tensor<2x6x4x4xf32>, tensor<2x3x8x8xf32>) -> tensor<6x3x3x3xf32>
// CHECK-NEXT:    %[[DB:.*]] = nn.reduce_sum "conv"(%[[DY]]) {keep = array<i64: 1>, {{.*}}} : (tensor<2x6x4x4xf32>) -> tensor<6xf32>
// CHECK-NEXT:    nn.sgd "x"(%[[X]], %[[DX]])
// CHECK-NEXT:    nn.sgd "w"(%[[W]], %[[DW]])
// CHECK-NEXT:    nn.sgd "b"(%[[B]], %[[DB]])
func.func @conv2d(
    %x: tensor<2x3x8x8xf32> {nn.role = "parameter", nn.path = "x"},
    %w: tensor<6x3x3x3xf32> {nn.role = "parameter", nn.path = "w"},
    %b: tensor<6xf32> {nn.role = "parameter", nn.path = "b"},
    %labels: tensor<2x6x4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.conv2d "conv"(%x, %w, %b) {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<6x3x3x3xf32>, tensor<6xf32>) -> tensor<2x6x4x4xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<2x6x4x4xf32>, tensor<2x6x4xi32>) -> (tensor<f32>, tensor<2x6x4xf32>)
  return %loss : tensor<f32>
}

// Attention: one operation for all three gradients, which reads query, key,
// value, result and log-sum-exp, with the heads and the mask of the forward
// operation. Fewer key heads make smaller key gradients.

// CHECK-LABEL: func.func @attention(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<2x5x8xf32>
// CHECK-SAME:    %[[K:[a-z0-9]+]]: tensor<2x5x4xf32>
// CHECK-SAME:    %[[V:[a-z0-9]+]]: tensor<2x5x4xf32>
// CHECK:         %[[O:.*]], %[[LSE:.*]] = nn.attention "core"
// CHECK:         %[[DO:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = nn.attention_grad "core"(%[[DO]], %[[Q]], %[[K]], %[[V]], %[[O]], %[[LSE]])
// CHECK-SAME:      {causal, heads = 4 : i64, kv_heads = 2 : i64,
// CHECK-SAME:      -> (tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>)
// CHECK-NEXT:    nn.sgd "q"(%[[Q]], %[[DQ]])
// CHECK-NEXT:    nn.sgd "k"(%[[K]], %[[DK]])
// CHECK-NEXT:    nn.sgd "v"(%[[V]], %[[DV]])
func.func @attention(
    %q: tensor<2x5x8xf32> {nn.role = "parameter", nn.path = "q"},
    %k: tensor<2x5x4xf32> {nn.role = "parameter", nn.path = "k"},
    %v: tensor<2x5x4xf32> {nn.role = "parameter", nn.path = "v"},
    %labels: tensor<2x5xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %o, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, kv_heads = 2 : i64, causal} : (tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> (tensor<2x5x8xf32>, tensor<2x4x5xf32>)
  %loss, %lse = nn.cross_entropy "loss"(%o, %labels) : (tensor<2x5x8xf32>, tensor<2x5xi32>) -> (tensor<f32>, tensor<2x5xf32>)
  return %loss : tensor<f32>
}

// CHECK-LABEL: func.func @embedding(
// CHECK-SAME:    %[[IDS:[a-z0-9]+]]: tensor<2x5xi32>
// CHECK-SAME:    %[[T:[a-z0-9]+]]: tensor<10x8xf32>
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DT:.*]] = nn.embedding_grad "wte"(%[[DY]], %[[IDS]]) {{.*}} : (tensor<2x5x8xf32>, tensor<2x5xi32>) -> tensor<10x8xf32>
// CHECK-NEXT:    nn.sgd "table"(%[[T]], %[[DT]])
func.func @embedding(
    %ids: tensor<2x5xi32> {nn.role = "input"},
    %table: tensor<10x8xf32> {nn.role = "parameter", nn.path = "table"},
    %labels: tensor<2x5xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.embedding "wte"(%ids, %table) : (tensor<2x5xi32>, tensor<10x8xf32>) -> tensor<2x5x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<2x5x8xf32>, tensor<2x5xi32>) -> (tensor<f32>, tensor<2x5xf32>)
  return %loss : tensor<f32>
}

// CHECK-LABEL: func.func @layer_norm(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[G:[a-z0-9]+]]: tensor<8xf32>
// CHECK-SAME:    %[[B:[a-z0-9]+]]: tensor<8xf32>
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DX:.*]], %[[DG:.*]], %[[DB:.*]] = nn.layer_norm_grad "ln"(%[[DY]], %[[X]], %[[G]])
// CHECK-NEXT:    nn.sgd "x"(%[[X]], %[[DX]])
// CHECK-NEXT:    nn.sgd "scale"(%[[G]], %[[DG]])
// CHECK-NEXT:    nn.sgd "shift"(%[[B]], %[[DB]])
func.func @layer_norm(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %g: tensor<8xf32> {nn.role = "parameter", nn.path = "scale"},
    %b: tensor<8xf32> {nn.role = "parameter", nn.path = "shift"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.layer_norm "ln"(%x, %g, %b) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// The gradient of relu reads the result, so that the operand need not be kept;
// that of gelu reads the operand.

// CHECK-LABEL: func.func @relu_reads_result_gelu_reads_operand(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:         %[[G:.*]] = nn.gelu "gelu"(%[[X]])
// CHECK:         %[[R:.*]] = nn.relu "relu"(%[[G]])
// CHECK:         %[[DR:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DG:.*]] = nn.relu_grad "relu"(%[[DR]], %[[R]])
// CHECK-NEXT:    %[[DX:.*]] = nn.gelu_grad "gelu"(%[[DG]], %[[X]])
// CHECK-NEXT:    nn.sgd "x"(%[[X]], %[[DX]])
func.func @relu_reads_result_gelu_reads_operand(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %g = nn.gelu "gelu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = nn.relu "relu"(%g) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%r, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// The gradient of a sum goes to both operands; where the right one was repeated
// it is summed over the dimensions that it lacks.

// CHECK-LABEL: func.func @add(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4x8xf32>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<2x4x8xf32>
// CHECK-SAME:    %[[P:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:         %[[D:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DP:.*]] = nn.reduce_sum "position"(%[[D]]) {keep = array<i64: 1, 2>, {{.*}}} : (tensor<2x4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    nn.sgd "x"(%[[X]], %[[D]])
// CHECK-NEXT:    nn.sgd "y"(%[[Y]], %[[D]])
// CHECK-NEXT:    nn.sgd "p"(%[[P]], %[[DP]])
func.func @add(
    %x: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %y: tensor<2x4x8xf32> {nn.role = "parameter", nn.path = "y"},
    %p: tensor<4x8xf32> {nn.role = "parameter", nn.path = "p"},
    %labels: tensor<2x4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %0 = nn.add "residual"(%x, %y) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = nn.add "position"(%0, %p) : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<2x4x8xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
  return %loss : tensor<f32>
}

// A value that is added to itself gets its gradient twice.

// CHECK-LABEL: func.func @add_to_itself(
// CHECK:         %[[D:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[TWICE:.*]] = nn.add "double"(%[[D]], %[[D]])
// CHECK-NEXT:    nn.sgd "x"(%{{.*}}, %[[TWICE]])
func.func @add_to_itself(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.add "double"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// CHECK-LABEL: func.func @dropout(
// CHECK:         %{{.*}}, %[[MASK:.*]] = nn.dropout "drop"
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DX:.*]] = nn.dropout_grad "drop"(%[[DY]], %[[MASK]]) {probability = 2.500000e-01 : f64, {{.*}}} : (tensor<4x8xf32>, tensor<4x8xi8>) -> tensor<4x8xf32>
// CHECK-NEXT:    nn.sgd "x"(%{{.*}}, %[[DX]])
func.func @dropout(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y, %mask = nn.dropout "drop"(%x) {probability = 0.25 : f64, seed = 7 : i64} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi8>)
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// CHECK-LABEL: func.func @pool2d(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x9x9xf32>
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DX:.*]] = nn.pool2d_grad "pool" max(%[[DY]], %[[X]]) {kernel = array<i64: 3, 3>, padding = array<i64: 1, 1>, {{.*}}stride = array<i64: 2, 2>} : (tensor<2x3x5x5xf32>, tensor<2x3x9x9xf32>) -> tensor<2x3x9x9xf32>
// CHECK-NEXT:    nn.sgd "x"(%[[X]], %[[DX]])
func.func @pool2d(
    %x: tensor<2x3x9x9xf32> {nn.role = "parameter", nn.path = "x"},
    %labels: tensor<2x3x5xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.pool2d "pool" max(%x) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<2x3x9x9xf32>) -> tensor<2x3x5x5xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<2x3x5x5xf32>, tensor<2x3x5xi32>) -> (tensor<f32>, tensor<2x3x5xf32>)
  return %loss : tensor<f32>
}

// CHECK-LABEL: func.func @reshape(
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[DX:.*]] = nn.reshape "flat"(%[[DY]]) {{.*}} : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    nn.sgd "x"(%{{.*}}, %[[DX]])
func.func @reshape(
    %x: tensor<2x3x4xf32> {nn.role = "parameter", nn.path = "x"},
    %labels: tensor<2xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.reshape "flat"(%x) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<2x12xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>)
  return %loss : tensor<f32>
}

// The gradient of a split joins those of the pieces in the same groups; a piece
// that nothing reads counts as zero.

// CHECK-LABEL: func.func @split_becomes_concat(
// CHECK:         %[[D:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[D0:.*]] = nn.relu_grad "act"(%[[D]], %{{.*}})
// CHECK-NEXT:    %[[ZERO:.*]] = nn.fill "cut"() {{{.*}}value = 0.000000e+00 : f64} : () -> tensor<4x6xf32>
// CHECK-NEXT:    %[[DX:.*]] = nn.concat "cut"(%[[D0]], %[[D]], %[[ZERO]]) {groups = 2 : i64, {{.*}}} : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x18xf32>
// CHECK-NEXT:    nn.sgd "x"(%{{.*}}, %[[DX]])
func.func @split_becomes_concat(
    %x: tensor<4x18xf32> {nn.role = "parameter", nn.path = "x"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %a, %b, %c = nn.split "cut"(%x) {groups = 2 : i64} : (tensor<4x18xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
  %r = nn.relu "act"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = nn.add "sum"(%r, %b) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x6xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// CHECK-LABEL: func.func @cast(
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad {{.*}} -> tensor<4x8xf32>
// CHECK-NEXT:    %[[DX:.*]] = nn.cast "up"(%[[DY]]) {{.*}} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-NEXT:    nn.sgd "x"(%{{.*}}, %[[DX]])
func.func @cast(
    %x: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "x"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.cast "up"(%x) : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

//===----------------------------------------------------------------------===//
// Optimizers and element types
//===----------------------------------------------------------------------===//

// Momentum has one state. States become arguments behind all others, and are
// returned behind the parameter they belong to.

// CHECK-LABEL: func.func @momentum(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x8xf32> {nn.path = "w", nn.role = "parameter"}
// CHECK-SAME:    %[[U:[a-z0-9]+]]: tensor<8xf32> {nn.path = "u", nn.role = "parameter"}
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<4xi32>
// CHECK-SAME:    %[[WV:[a-z0-9]+]]: tensor<4x8xf32> {nn.path = "w.velocity", nn.role = "state"}
// CHECK-SAME:    %[[UV:[a-z0-9]+]]: tensor<8xf32> {nn.path = "u.velocity", nn.role = "state"}
// CHECK-SAME:    -> (tensor<f32>, tensor<4x8xf32> {nn.updates = 0 : i64}, tensor<4x8xf32> {nn.updates = 3 : i64}, tensor<8xf32> {nn.updates = 1 : i64}, tensor<8xf32> {nn.updates = 4 : i64})
// CHECK:         %[[NW:.*]]:2 = nn.sgd "w"(%[[W]], %{{.*}}, %[[WV]]) {momentum, {{.*}}}
// CHECK:         %[[NU:.*]]:2 = nn.sgd "u"(%[[U]], %{{.*}}, %[[UV]]) {momentum, {{.*}}}
// CHECK:         return %{{.*}}, %[[NW]]#0, %[[NW]]#1, %[[NU]]#0, %[[NU]]#1
func.func @momentum(
    %w: tensor<4x8xf32> {nn.role = "parameter", nn.path = "w"},
    %u: tensor<8xf32> {nn.role = "parameter", nn.path = "u"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
  %y = nn.add "add"(%w, %u) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Adam has two.

// CHECK-LABEL: func.func @adam(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[M:[a-z0-9]+]]: tensor<4x8xf32> {nn.path = "w.first_moment", nn.role = "state"}
// CHECK-SAME:    %[[V:[a-z0-9]+]]: tensor<4x8xf32> {nn.path = "w.second_moment", nn.role = "state"}
// CHECK-SAME:    -> (tensor<f32>, tensor<4x8xf32> {nn.updates = 0 : i64}, tensor<4x8xf32> {nn.updates = 2 : i64}, tensor<4x8xf32> {nn.updates = 3 : i64})
// CHECK:         %[[NEW:.*]]:3 = nn.adam "w"(%[[W]], %{{.*}}, %[[M]], %[[V]]) {strategy.phase = #strategy.phase<update>}
// CHECK:         return %{{.*}}, %[[NEW]]#0, %[[NEW]]#1, %[[NEW]]#2
func.func @adam(
    %w: tensor<4x8xf32> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
  %loss, %lse = nn.cross_entropy "loss"(%w, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Clipping and loss scaling: numbers about all gradients give one factor, which
// the updates of single parameters and of layers apply. The gradient of the loss
// starts from the scale.

// CHECK-LABEL: func.func @clip_and_loss_scale(
// CHECK:         nn.fill "loss"() {{.*}}value = 8.000000e+00 : f64
// CHECK:         %[[DB:.*]] = nn.reduce_sum "b"
// CHECK:         %[[S0:.*]] = nn.repeat "layers" count 3 slice(%[[DWI:.*]] = %[[DW:.*]] : tensor<3x8x8xf32> to tensor<8x8xf32>) -> tensor<3xf32>
// CHECK-NEXT:      nn.square_sum "fc.weight"(%[[DWI]]) {strategy.phase = #strategy.phase<update>} : (tensor<8x8xf32>) -> tensor<f32>
// CHECK:         %[[S1:.*]] = nn.square_sum "b"(%[[DB]])
// CHECK:         %[[S:.*]] = nn.total "gradients"(%[[S0]], %[[S1]]) {strategy.phase = #strategy.phase<update>}
// CHECK:         %[[O0:.*]] = nn.repeat "layers" count 3 slice(%{{.*}} = %[[DW]] : tensor<3x8x8xf32> to tensor<8x8xf32>) -> tensor<3xf32>
// CHECK-NEXT:      nn.overflow "fc.weight"
// CHECK:         %[[O1:.*]] = nn.overflow "b"(%[[DB]])
// CHECK:         %[[O:.*]] = nn.total "gradients"(%[[O0]], %[[O1]]) {max, strategy.phase = #strategy.phase<update>}
// CHECK:         %[[F:.*]] = nn.update_factor "gradients"(%[[S]], %[[O]]) {clip = 5.000000e-01 : f64, loss_scale = 8.000000e+00 : f64, strategy.phase = #strategy.phase<update>}
// CHECK:         nn.repeat "layers" count 3 slice(
// CHECK-NEXT:      nn.sgd "fc.weight"(%{{.*}}, %{{.*}}, %[[F]]) {scaled, strategy.phase = #strategy.phase<update>}
// CHECK:         nn.sgd "b"(%{{.*}}, %[[DB]], %[[F]]) {scaled, strategy.phase = #strategy.phase<update>}
func.func @clip_and_loss_scale(
    %x: tensor<4x8xf32> {nn.role = "input", nn.path = "x"},
    %w: tensor<3x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
    %b: tensor<8xf32> {nn.role = "parameter", nn.path = "b"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, clip = 0.5, loss_scale = 8.0>} {
  %0 = nn.add "b"(%x, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = nn.repeat "layers" count 3
      carry(%h = %0 : tensor<4x8xf32>)
      slice(%w_i = %w : tensor<3x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>) {
    %1 = nn.linear "fc"(%h, %w_i) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    nn.yield %1 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Only copies of a tied parameter count once: two parameters with one name do not.

// CHECK-LABEL: func.func @clip_equal_names(
// CHECK:         nn.square_sum "w"
// CHECK:         nn.square_sum "w"
func.func @clip_equal_names(
    %x: tensor<4x8xf32> {nn.role = "input"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w"},
    %v: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, clip = 0.5>} {
  %0 = nn.linear "a"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.linear "b"(%0, %v) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A master copy is one state more, and the other states have its type. The
// gradients of parameters have the type that is asked for, those of activations
// the type of the activation.

// CHECK-LABEL: func.func @master_and_gradient_type(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<8x3xbf16>
// CHECK-SAME:    %[[M:[a-z0-9]+]]: tensor<8x3xf32> {nn.path = "w.first_moment"
// CHECK-SAME:    %[[V:[a-z0-9]+]]: tensor<8x3xf32> {nn.path = "w.second_moment"
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<8x3xf32> {nn.path = "w.master"
// CHECK:         %[[D:.*]] = nn.relu_grad "act"({{.*}} -> tensor<4x8xbf16>
// CHECK-NEXT:    %[[DW:.*]] = nn.linear_wgrad "fc"(%[[D]], %{{.*}} : (tensor<4x8xbf16>, tensor<4x3xbf16>) -> tensor<8x3xf32>
// CHECK-NEXT:    nn.adam "w"(%[[W]], %[[DW]], %[[M]], %[[V]], %[[C]]) {master, {{.*}}} : (tensor<8x3xbf16>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>) -> (tensor<8x3xbf16>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>)
func.func @master_and_gradient_type(
    %x: tensor<4x3xbf16> {nn.role = "input"},
    %w: tensor<8x3xbf16> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
  %h = nn.linear "fc"(%x, %w) : (tensor<4x3xbf16>, tensor<8x3xbf16>) -> tensor<4x8xbf16>
  %y = nn.relu "act"(%h) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A gradient that no kernel of the parameter produces is converted: the gradient
// of a sum is that of its result.

// CHECK-LABEL: func.func @gradient_type_without_a_kernel(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xbf16>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x8xbf16>
// CHECK:         %[[D:.*]] = nn.cross_entropy_grad {{.*}} -> tensor<4x8xbf16>
// CHECK-NEXT:    %[[DW:.*]] = nn.cast "shift"(%[[D]]) {strategy.phase = #strategy.phase<backward>} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT:    nn.sgd "w"(%[[W]], %[[DW]]) {{.*}} : (tensor<4x8xbf16>, tensor<4x8xf32>) -> tensor<4x8xbf16>
func.func @gradient_type_without_a_kernel(
    %x: tensor<4x8xbf16> {nn.role = "input"},
    %w: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32>} {
  %y = nn.add "shift"(%x, %w) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// It is before it meets one that a kernel produces.

// CHECK-LABEL: func.func @gradient_type_of_a_sum(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x4xbf16>
// CHECK:         %[[D:.*]] = nn.cross_entropy_grad {{.*}} -> tensor<4x4xbf16>
// CHECK-NEXT:    %[[D0:.*]] = nn.cast "shift"(%[[D]]) {{.*}} : (tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[D1:.*]] = nn.linear_wgrad "fc"(%[[D]], %[[X]]) {{.*}} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[DW:.*]] = nn.add "fc"(%[[D0]], %[[D1]]) {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    nn.sgd "w"(%{{.*}}, %[[DW]])
func.func @gradient_type_of_a_sum(
    %x: tensor<4x4xbf16> {nn.role = "input"},
    %w: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32>} {
  %h = nn.linear "fc"(%x, %w) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %y = nn.add "shift"(%h, %w) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x4xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// What a repeat carries has the type of activations; the parameter that it
// starts from gets its gradient converted behind the repeat.

// CHECK-LABEL: func.func @gradient_type_behind_a_repeat(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x4xbf16>
// CHECK:         %[[D:.*]] = nn.repeat "layers" count 2 reverse carry(%{{.*}} : tensor<4x4xbf16>) {{.*}} -> tensor<4x4xbf16>
// CHECK:         %[[DW:.*]] = nn.cast "layers"(%[[D]]) {{.*}} : (tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK-NEXT:    nn.sgd "w"(%[[W]], %[[DW]])
func.func @gradient_type_behind_a_repeat(
    %w: tensor<4x4xbf16> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32>} {
  %y = nn.repeat "layers" count 2 carry(%h = %w : tensor<4x4xbf16>) -> (tensor<4x4xbf16>) {
    %0 = nn.relu "act"(%h) : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
    nn.yield %0 : tensor<4x4xbf16>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x4xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// SGD may have a master copy alone.

// CHECK-LABEL: func.func @master_of_sgd(
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x8xbf16>
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<4x8xf32> {nn.path = "w.master", nn.role = "master"}
// CHECK:         nn.sgd "w"(%[[W]], %{{.*}}, %[[C]]) {master, strategy.phase = #strategy.phase<update>} : (tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x8xf32>) -> (tensor<4x8xbf16>, tensor<4x8xf32>)
func.func @master_of_sgd(
    %w: tensor<4x8xbf16> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, master = f32>} {
  %loss, %lse = nn.cross_entropy "loss"(%w, %labels) : (tensor<4x8xbf16>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// The compute type replaces the type of inputs, parameters and activations, in
// bodies as well; the loss, log-sum-exps and integers keep theirs.

// CHECK-LABEL: func.func @compute_type(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<2x4x8xbf16>
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<3x8x8xbf16>
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<4x8xbf16>
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<2x4xi32>
// CHECK-SAME:    -> (tensor<f32>, tensor<3x8x8xbf16> {nn.updates = 1 : i64}, tensor<4x8xbf16> {nn.updates = 2 : i64})
// CHECK:         nn.attention {{.*}} -> (tensor<2x4x8xbf16>, tensor<2x2x4xf32>)
// CHECK:         nn.repeat "layers" count 3 carry(%{{.*}} : tensor<2x4x8xbf16>) slice(%{{.*}} : tensor<3x8x8xbf16> to tensor<8x8xbf16>)
// CHECK-NEXT:      nn.linear {{.*}} : (tensor<2x4x8xbf16>, tensor<8x8xbf16>) -> tensor<2x4x8xbf16>
// CHECK:         nn.cross_entropy {{.*}} : (tensor<2x4x8xbf16>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
// CHECK:         nn.cross_entropy_grad {{.*}} -> tensor<2x4x8xbf16>
func.func @compute_type(
    %x: tensor<2x4x8xf32> {nn.role = "input"},
    %ws: tensor<3x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].w"},
    %p: tensor<4x8xf32> {nn.role = "parameter", nn.path = "p"},
    %labels: tensor<2x4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, compute = bf16>} {
  %a, %rows = nn.attention "core"(%x, %x, %x) {heads = 2 : i64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x2x4xf32>)
  %b = nn.add "position"(%a, %p) : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %y = nn.repeat "layers" count 3
      carry(%h = %b : tensor<2x4x8xf32>)
      slice(%w = %ws : tensor<3x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<2x4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    nn.yield %0 : tensor<2x4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<2x4x8xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
  return %loss : tensor<f32>
}

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

// The backward repeat runs in reverse and carries the gradient. The forward
// repeat stacks what it reads: of each layer the operand of the linear and the
// result of the relu, not the result of the linear. Weights are sliced again,
// their gradients stacked, and updated layer by layer.

// CHECK-LABEL: func.func @repeat(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[WS:[a-z0-9]+]]: tensor<3x8x8xf32>
// CHECK-SAME:    -> (tensor<f32>, tensor<4x8xf32> {nn.updates = 0 : i64}, tensor<3x8x8xf32> {nn.updates = 1 : i64})
// CHECK-NEXT:    %[[Y:.*]]:3 = nn.repeat "layers" count 3
// CHECK-SAME:      carry(%[[H:.*]] = %[[X]] : tensor<4x8xf32>)
// CHECK-SAME:      slice(%[[W:.*]] = %[[WS]] : tensor<3x8x8xf32> to tensor<8x8xf32>)
// CHECK-SAME:      -> (tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) attributes {strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:      %[[LINEAR:.*]] = nn.linear "fc"(%[[H]], %[[W]]) {strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:      %[[RELU:.*]] = nn.relu "act"(%[[LINEAR]]) {strategy.phase = #strategy.phase<forward>}
// CHECK-NEXT:      nn.yield %[[RELU]], %[[RELU]], %[[H]]
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad "loss"(%{{.*}}, %[[Y]]#0,
// CHECK-NEXT:    %[[D:.*]]:2 = nn.repeat "layers" count 3 reverse
// CHECK-SAME:      carry(%[[DH:.*]] = %[[DY]] : tensor<4x8xf32>)
// CHECK-SAME:      slice(%[[WI:.*]] = %[[WS]] : tensor<3x8x8xf32> to tensor<8x8xf32>, %[[RI:.*]] = %[[Y]]#1 : tensor<3x4x8xf32> to tensor<4x8xf32>, %[[HI:.*]] = %[[Y]]#2 : tensor<3x4x8xf32> to tensor<4x8xf32>)
// CHECK-SAME:      -> (tensor<4x8xf32>, tensor<3x8x8xf32>) attributes {strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:      %[[DL:.*]] = nn.relu_grad "act"(%[[DH]], %[[RI]]) {strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:      %[[DX:.*]] = nn.linear_dgrad "fc"(%[[DL]], %[[WI]]) {strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:      %[[DW:.*]] = nn.linear_wgrad "fc"(%[[DL]], %[[HI]]) {strategy.phase = #strategy.phase<backward>}
// CHECK-NEXT:      nn.yield %[[DX]], %[[DW]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[NX:.*]] = nn.sgd "x"(%[[X]], %[[D]]#0)
// CHECK-NEXT:    %[[NEW:.*]] = nn.repeat "layers" count 3
// CHECK-SAME:      slice(%[[P:.*]] = %[[WS]] : tensor<3x8x8xf32> to tensor<8x8xf32>, %[[G:.*]] = %[[D]]#1 : tensor<3x8x8xf32> to tensor<8x8xf32>)
// CHECK-SAME:      attributes {strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:      %[[NP:.*]] = nn.sgd "fc.weight"(%[[P]], %[[G]]) {strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:      nn.yield %[[NP]]
// CHECK:         return %{{.*}}, %[[NX]], %[[NEW]]
func.func @repeat(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %ws: tensor<3x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" count 3
      carry(%h = %x : tensor<4x8xf32>)
      slice(%w = %ws : tensor<3x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = nn.relu "act"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nn.yield %1 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// The first iteration of a repeat that starts from an input hands no gradient on.
// It becomes a repeat of its own, with arguments of its own, and its backward
// pass has no gradient of the operand, as if the layers were written out.

// CHECK-LABEL: func.func @repeat_from_an_input(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[W0:[a-z0-9]+]]: tensor<1x8x8xf32> {nn.path = "layers[0:1].fc.weight", nn.role = "parameter"}
// CHECK-SAME:    %[[W1:[a-z0-9]+]]: tensor<2x8x8xf32> {nn.path = "layers[1:3].fc.weight", nn.role = "parameter"}
// CHECK-SAME:    -> (tensor<f32>, tensor<1x8x8xf32> {nn.updates = 1 : i64}, tensor<2x8x8xf32> {nn.updates = 2 : i64})
// CHECK-NEXT:    %[[Y0:.*]]:2 = nn.repeat "layers" count 1 carry(%{{.*}} = %[[X]] : tensor<4x8xf32>) slice(%{{.*}} = %[[W0]] :
// CHECK:         %[[Y1:.*]]:2 = nn.repeat "layers" first 1 count 2 carry(%{{.*}} = %[[Y0]]#0 : tensor<4x8xf32>) slice(%{{.*}} = %[[W1]] :
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad "loss"(%{{.*}}, %[[Y1]]#0,
// CHECK-NEXT:    %[[D1:.*]]:2 = nn.repeat "layers" first 1 count 2 reverse carry(%{{.*}} = %[[DY]] : tensor<4x8xf32>)
// CHECK-NEXT:      nn.linear_dgrad "fc"
// CHECK-NEXT:      nn.linear_wgrad "fc"
// CHECK-NEXT:      nn.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[D0:.*]] = nn.repeat "layers" count 1 reverse slice(%[[H:.*]] = %[[Y0]]#1 : tensor<1x4x8xf32> to tensor<4x8xf32>) -> tensor<1x8x8xf32>
// CHECK-NEXT:      %[[DW:.*]] = nn.linear_wgrad "fc"(%[[D1]]#0, %[[H]])
// CHECK-NEXT:      nn.yield %[[DW]] : tensor<8x8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[N0:.*]] = nn.repeat "layers" count 1 slice(%{{.*}} = %[[W0]] : {{.*}}, %{{.*}} = %[[D0]] :
// CHECK:         %[[N1:.*]] = nn.repeat "layers" first 1 count 2 slice(%{{.*}} = %[[W1]] : {{.*}}, %{{.*}} = %[[D1]]#1 :
// CHECK:         return %{{.*}}, %[[N0]], %[[N1]]
func.func @repeat_from_an_input(
    %x: tensor<4x8xf32> {nn.role = "input"},
    %ws: tensor<3x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" count 3
      carry(%h = %x : tensor<4x8xf32>)
      slice(%w = %ws : tensor<3x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// The pieces of an argument without a path say which layers they hold.

// CHECK-LABEL: func.func @first_iteration_without_a_path(
// CHECK-SAME:    tensor<1x8x8xf32> {nn.path = "arg1[0:1]", nn.role = "parameter"}
// CHECK-SAME:    tensor<2x8x8xf32> {nn.path = "arg1[1:3]", nn.role = "parameter"}
func.func @first_iteration_without_a_path(
    %x: tensor<4x8xf32> {nn.role = "input"},
    %ws: tensor<3x8x8xf32> {nn.role = "parameter"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" count 3
      carry(%h = %x : tensor<4x8xf32>)
      slice(%w = %ws : tensor<3x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A value that the body hands on twice gets the sum of both gradients.

// CHECK-LABEL: func.func @yielded_twice(
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    nn.repeat "layers" count 2 reverse
// CHECK-SAME:      carry(%[[A:[a-z0-9]+]] = %[[DY]] : tensor<4x8xf32>, %[[B:[a-z0-9]+]] = %[[DY]] : tensor<4x8xf32>)
// CHECK-NEXT:      %[[D:.*]] = nn.add "layers"(%[[A]], %[[B]])
// CHECK-NEXT:      %[[DH:.*]] = nn.linear_dgrad "fc"(%[[D]], %{{.*}})
// CHECK-NEXT:      %[[DW:.*]] = nn.linear_wgrad "fc"(%[[D]], %{{.*}})
// CHECK-NEXT:      %[[ZERO:.*]] = nn.fill "zero"
// CHECK-NEXT:      nn.yield %[[DH]], %[[ZERO]], %[[DW]]
func.func @yielded_twice(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %ws: tensor<2x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y:2 = nn.repeat "layers" count 2
      carry(%h = %x : tensor<4x8xf32>, %g = %x : tensor<4x8xf32>)
      slice(%w = %ws : tensor<2x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    nn.yield %0, %0 : tensor<4x8xf32>, tensor<4x8xf32>
  }
  %s = nn.add "sum"(%y#0, %y#1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%s, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Parameters of a repeat in a repeat are stacked twice: their gradients are as
// well, and a repeat in a repeat updates them layer by layer.

// CHECK-LABEL: func.func @doubly_stacked_parameters(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[WS:[a-z0-9]+]]: tensor<2x3x8x8xf32>
// CHECK-SAME:    %[[VS:[a-z0-9]+]]: tensor<2x3x8x8xf32> {nn.path = "outer[*].inner[*].fc.weight.velocity", nn.role = "state"}
// CHECK:         %[[D:.*]]:2 = nn.repeat "outer" count 2 reverse {{.*}} -> (tensor<4x8xf32>, tensor<2x3x8x8xf32>)
// CHECK-NEXT:      nn.repeat "inner" count 3 reverse {{.*}} -> (tensor<4x8xf32>, tensor<3x8x8xf32>)
// CHECK:         %[[NEW:.*]]:2 = nn.repeat "outer" count 2
// CHECK-SAME:      slice(%[[PO:[a-z0-9]+]] = %[[WS]] : tensor<2x3x8x8xf32> to tensor<3x8x8xf32>, %[[GO:[a-z0-9]+]] = %[[D]]#1 : tensor<2x3x8x8xf32> to tensor<3x8x8xf32>, %[[VO:[a-z0-9]+]] = %[[VS]] : tensor<2x3x8x8xf32> to tensor<3x8x8xf32>)
// CHECK-SAME:      attributes {strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:      %[[INNER:.*]]:2 = nn.repeat "inner" count 3
// CHECK-SAME:        slice(%[[P:[a-z0-9]+]] = %[[PO]] : tensor<3x8x8xf32> to tensor<8x8xf32>, %[[G:[a-z0-9]+]] = %[[GO]] : tensor<3x8x8xf32> to tensor<8x8xf32>, %[[V:[a-z0-9]+]] = %[[VO]] : tensor<3x8x8xf32> to tensor<8x8xf32>)
// CHECK-SAME:        attributes {strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:        %[[N:.*]]:2 = nn.sgd "fc.weight"(%[[P]], %[[G]], %[[V]]) {momentum, strategy.phase = #strategy.phase<update>}
// CHECK-NEXT:        nn.yield %[[N]]#0, %[[N]]#1
// CHECK-NEXT:      }
// CHECK-NEXT:      nn.yield %[[INNER]]#0, %[[INNER]]#1
// CHECK:         return %{{.*}}, %[[NEW]]#0, %[[NEW]]#1
func.func @doubly_stacked_parameters(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %ws: tensor<2x3x8x8xf32> {nn.role = "parameter", nn.path = "outer[*].inner[*].fc.weight"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
  %y = nn.repeat "outer" count 2
      carry(%h = %x : tensor<4x8xf32>)
      slice(%wi = %ws : tensor<2x3x8x8xf32> to tensor<3x8x8xf32>)
      -> (tensor<4x8xf32>) {
    %z = nn.repeat "inner" count 3
        carry(%g = %h : tensor<4x8xf32>)
        slice(%w = %wi : tensor<3x8x8xf32> to tensor<8x8xf32>)
        -> (tensor<4x8xf32>) {
      %0 = nn.linear "fc"(%g, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      nn.yield %0 : tensor<4x8xf32>
    }
    nn.yield %z : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A parameter that the body reads from outside gets the sum over all
// iterations: the backward repeat carries it, starting from zero.

// CHECK-LABEL: func.func @captured_parameter(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK:         %[[Y:.*]]:2 = nn.repeat "layers" count 3
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad
// CHECK-NEXT:    %[[ZERO:.*]] = nn.fill "zero"() {{{.*}}value = 0.000000e+00 : f64} : () -> tensor<8x8xf32>
// CHECK-NEXT:    %[[D:.*]]:2 = nn.repeat "layers" count 3 reverse
// CHECK-SAME:      carry(%[[DH:.*]] = %[[DY]] : tensor<4x8xf32>, %[[SUM:.*]] = %[[ZERO]] : tensor<8x8xf32>)
// CHECK-SAME:      slice(%[[HI:.*]] = %[[Y]]#1 : tensor<3x4x8xf32> to tensor<4x8xf32>)
// CHECK-NEXT:      %[[DX:.*]] = nn.linear_dgrad "fc"(%[[DH]], %[[W]])
// CHECK-NEXT:      %[[DW:.*]] = nn.linear_wgrad "fc"(%[[DH]], %[[HI]])
// CHECK-NEXT:      %[[NEXT:.*]] = nn.add "fc"(%[[SUM]], %[[DW]])
// CHECK-NEXT:      nn.yield %[[DX]], %[[NEXT]]
// CHECK-NEXT:    }
// CHECK-NEXT:    nn.sgd "x"(%[[X]], %[[D]]#0)
// CHECK-NEXT:    nn.sgd "w"(%[[W]], %[[D]]#1)
func.func @captured_parameter(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A second repeat that reads the parameter goes on with the sum of the first, as
// layers that are written out do. No addition follows the repeats.

// CHECK-LABEL: func.func @captured_by_two_repeats(
// CHECK:         %[[ZERO:.*]] = nn.fill "zero"() {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT:    %[[LATE:.*]]:2 = nn.repeat "layers" first 2 count 3 reverse carry({{.*}} : tensor<4x8xf32>, %{{.*}} = %[[ZERO]] : tensor<8x8xf32>)
// CHECK:         %[[EARLY:.*]]:2 = nn.repeat "layers" count 2 reverse carry(%{{.*}} = %[[LATE]]#0 : tensor<4x8xf32>, %{{.*}} = %[[LATE]]#1 : tensor<8x8xf32>)
// CHECK:         nn.sgd "x"(%{{.*}}, %[[EARLY]]#0)
// CHECK-NEXT:    nn.sgd "w"(%{{.*}}, %[[EARLY]]#1)
func.func @captured_by_two_repeats(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  }
  %z = nn.repeat "layers" first 2 count 3 carry(%h = %y : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%z, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Two virtual stages that read one parameter compute one gradient each. The
// update adds them, so that their backward passes may run in any order.

// CHECK-LABEL: func.func @parameter_of_two_chunks(
// CHECK:         %[[LATE:.*]] = nn.linear_wgrad "c"
// CHECK:         %[[EARLY:.*]] = nn.linear_wgrad "a"
// CHECK-NEXT:    %[[SUM:.*]] = nn.add "w"(%[[LATE]], %[[EARLY]]) {strategy.phase = #strategy.phase<update>, strategy.stage = 0 : i64}
// CHECK-NEXT:    nn.sgd "w"(%{{.*}}, %[[SUM]])
func.func @parameter_of_two_chunks(
    %x: tensor<4x8xf32> {nn.role = "input"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w", strategy.stage = 0 : i64},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %0 = nn.linear "a"(%x, %w) {strategy.stage = 0 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.relu "b"(%0) {strategy.stage = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = nn.linear "c"(%1, %w) {strategy.stage = 2 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%2, %labels) {strategy.stage = 3 : i64} : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// The states of a stacked parameter are stacked as well, and sliced by its
// update. The pieces of a repeat that starts later keep their place.

// CHECK-LABEL: func.func @states_of_stacked_parameters(
// CHECK-SAME:    %[[WS:[a-z0-9]+]]: tensor<3x8x8xf32>
// CHECK-SAME:    %[[VS:[a-z0-9]+]]: tensor<3x8x8xf32> {nn.path = "layers[*].fc.weight.velocity", nn.role = "state"}
// CHECK-SAME:    -> (tensor<f32>, {{.*}}, tensor<3x8x8xf32> {nn.updates = 1 : i64}, tensor<3x8x8xf32> {nn.updates = 4 : i64})
// CHECK:         nn.repeat "layers" first 2 count 3 reverse
// CHECK:         %[[NEW:.*]]:2 = nn.repeat "layers" first 2 count 3
// CHECK-SAME:      slice(%[[P:.*]] = %[[WS]] : {{.*}}, %[[G:.*]] = %{{.*}} : {{.*}}, %[[V:.*]] = %[[VS]] :
// CHECK-NEXT:      %[[UPDATED:.*]]:2 = nn.sgd "fc.weight"(%[[P]], %[[G]], %[[V]]) {momentum,
// CHECK-NEXT:      nn.yield %[[UPDATED]]#0, %[[UPDATED]]#1
// CHECK:         return %{{.*}}, %{{.*}}, %{{.*}}, %[[NEW]]#0, %[[NEW]]#1
func.func @states_of_stacked_parameters(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %ws: tensor<3x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
  %y = nn.repeat "layers" first 2 count 3
      carry(%h = %x : tensor<4x8xf32>)
      slice(%w = %ws : tensor<3x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A piece of a repeat that was cut names its layers in the paths of its
// parameters; inside the repeat paths are relative to the layer.

// CHECK-LABEL: func.func @paths_in_a_piece(
// CHECK:         nn.repeat "layers" first 2 count 3 slice
// CHECK-NEXT:      nn.sgd "fc.weight"
func.func @paths_in_a_piece(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %ws: tensor<3x8x8xf32> {nn.role = "parameter", nn.path = "layers[2:5].fc.weight"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" first 2 count 3
      carry(%h = %x : tensor<4x8xf32>)
      slice(%w = %ws : tensor<3x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Results that the forward repeat stacks may have gradients, which the backward
// repeat slices.

// CHECK-LABEL: func.func @gradient_of_stacked_results(
// CHECK:         %[[DS:.*]] = nn.cross_entropy_grad {{.*}} -> tensor<3x4x8xf32>
// CHECK:         nn.repeat "layers" count 3 reverse
// CHECK-SAME:      carry(%[[DH:[a-z0-9]+]] = %{{[a-z0-9]+}} : tensor<4x8xf32>)
// CHECK-SAME:      slice(%[[DSI:[a-z0-9]+]] = %[[DS]] : tensor<3x4x8xf32> to tensor<4x8xf32>
// CHECK-NEXT:      %[[D0:.*]] = nn.relu_grad "act"(%[[DH]], %{{.*}})
// CHECK-NEXT:      %[[D1:.*]] = nn.add "act"(%[[DSI]], %[[D0]])
// CHECK-NEXT:      nn.linear_dgrad "fc"(%[[D1]],
func.func @gradient_of_stacked_results(
    %x: tensor<4x8xf32> {nn.role = "input"},
    %ws: tensor<3x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
    %labels: tensor<3x4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y, %s = nn.repeat "layers" count 3
      carry(%h = %x : tensor<4x8xf32>)
      slice(%w = %ws : tensor<3x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>, tensor<3x4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = nn.relu "act"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nn.yield %1, %0 : tensor<4x8xf32>, tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%s, %labels) : (tensor<3x4x8xf32>, tensor<3x4xi32>) -> (tensor<f32>, tensor<3x4xf32>)
  return %loss : tensor<f32>
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

// A group keeps its inputs only: its gradients read the second execution, which
// runs the whole module, what leaves it included.

// CHECK-LABEL: func.func @recompute(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK:         %[[FIRST:.*]] = nn.gelu "block.act"
// CHECK:         %[[DY:.*]] = nn.cross_entropy_grad "loss"(%{{.*}}, %[[FIRST]],
// CHECK-NEXT:    %[[AGAIN:.*]]:2 = nn.recompute "block" (%[[XI:.*]] = %[[X]] : tensor<4x8xf32>, %[[WI:.*]] = %[[W]] : tensor<8x8xf32>)
// CHECK-NEXT:      %[[L:.*]] = nn.linear "block.fc"(%[[XI]], %[[WI]]) {strategy.phase = #strategy.phase<backward>
// CHECK-NEXT:      %[[G:.*]] = nn.gelu "block.act"(%[[L]]) {strategy.phase = #strategy.phase<backward>
// CHECK-NEXT:      nn.yield %[[G]], %[[L]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[DL:.*]] = nn.gelu_grad "block.act"(%[[DY]], %[[AGAIN]]#1)
// CHECK-NEXT:    nn.linear_wgrad "block.fc"(%[[DL]], %[[X]])
func.func @recompute(
    %x: tensor<4x8xf32> {nn.role = "input"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %0 = nn.linear "block.fc"(%x, %w) {strategy.recompute = "block"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.gelu "block.act"(%0) {strategy.recompute = "block"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A group reads an input in the layout in which its first reader keeps it.

// CHECK-LABEL: func.func @recompute_from_kept(
// CHECK:         %[[A:.*]] = nn.gelu "a"
// CHECK:         %[[KEPT:.*]] = nn.keep "block.fc"(%[[A]]) {strategy.op = #strategy.partition<[batch -> dp]>
// CHECK:         nn.recompute "block" (%{{.*}} = %[[KEPT]] : tensor<4x8xf32>,
func.func @recompute_from_kept(
    %x: tensor<4x8xf32> {nn.role = "input"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w"},
    %v: tensor<8x8xf32> {nn.role = "parameter", nn.path = "v"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %0 = nn.linear "in"(%x, %v) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.gelu "a"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = nn.linear "block.fc"(%1, %w) {strategy.recompute = "block", strategy.inputs = [[0, #strategy.partition<[0 -> dp]>]]} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = nn.gelu "block.act"(%2) {strategy.recompute = "block"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = nn.add "block.sum"(%3, %1) {strategy.recompute = "block"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%4, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Groups are recomputed one by one, last first, each from what the forward pass
// of the others left.

// CHECK-LABEL: func.func @two_groups(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK:         nn.linear "block[0].fc"
// CHECK:         %[[A:.*]] = nn.gelu "block[0].act"
// CHECK:         nn.linear "block[1].fc"
// CHECK:         nn.gelu "block[1].act"
// CHECK:         nn.recompute "block[1]" (%{{.*}} = %[[A]] : tensor<4x8xf32>,
// CHECK:         nn.gelu_grad "block[1].act"
// CHECK:         nn.linear_dgrad "block[1].fc"
// CHECK:         nn.linear_wgrad "block[1].fc"(%{{.*}}, %[[A]])
// CHECK:         nn.recompute "block[0]" (%{{.*}} = %[[X]] : tensor<4x8xf32>,
// CHECK:         nn.gelu_grad "block[0].act"
// CHECK:         nn.linear_wgrad "block[0].fc"(%{{.*}}, %[[X]])
func.func @two_groups(
    %x: tensor<4x8xf32> {nn.role = "input"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "w"},
    %v: tensor<8x8xf32> {nn.role = "parameter", nn.path = "v"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %0 = nn.linear "block[0].fc"(%x, %w) {strategy.recompute = "block[0]"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.gelu "block[0].act"(%0) {strategy.recompute = "block[0]"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = nn.linear "block[1].fc"(%1, %v) {strategy.recompute = "block[1]"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = nn.gelu "block[1].act"(%2) {strategy.recompute = "block[1]"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%3, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Groups within a layer are recomputed one by one as well: the forward pass
// stacks what each of them starts from.

// CHECK-LABEL: func.func @two_groups_in_a_repeat(
// CHECK:         %[[Y:.*]]:3 = nn.repeat "layers" count 2 carry(%[[H:[a-z0-9]+]] = %{{.*}} : tensor<4x8xf32>)
// CHECK:           %[[M:.*]] = nn.gelu "a.act"
// CHECK:           nn.yield %{{[a-z0-9]+}}, %[[M]], %[[H]]
// CHECK:         nn.repeat "layers" count 2 reverse
// CHECK-SAME:      %[[MI:[a-z0-9]+]] = %[[Y]]#1 : tensor<2x4x8xf32> to tensor<4x8xf32>, %[[HI:[a-z0-9]+]] = %[[Y]]#2 : tensor<2x4x8xf32> to tensor<4x8xf32>)
// CHECK-NEXT:      nn.recompute "layers[*].b" (%{{.*}} = %[[MI]] : tensor<4x8xf32>, %{{.*}} : tensor<8x8xf32>)
// CHECK-NEXT:        nn.linear "b.fc"
// CHECK-NEXT:        nn.gelu "b.act"
// CHECK-NEXT:        nn.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      nn.gelu_grad "b.act"
// CHECK-NEXT:      nn.linear_dgrad "b.fc"
// CHECK-NEXT:      nn.linear_wgrad "b.fc"(%{{.*}}, %[[MI]])
// CHECK-NEXT:      nn.recompute "layers[*].a" (%{{.*}} = %[[HI]] : tensor<4x8xf32>, %{{.*}} : tensor<8x8xf32>)
// CHECK-NEXT:        nn.linear "a.fc"
// CHECK-NEXT:        nn.gelu "a.act"
// CHECK-NEXT:        nn.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      nn.gelu_grad "a.act"
// CHECK-NEXT:      nn.linear_dgrad "a.fc"
// CHECK-NEXT:      nn.linear_wgrad "a.fc"(%{{.*}}, %[[HI]])
func.func @two_groups_in_a_repeat(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %as: tensor<2x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].a.fc.weight"},
    %bs: tensor<2x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].b.fc.weight"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" count 2
      carry(%h = %x : tensor<4x8xf32>)
      slice(%a = %as : tensor<2x8x8xf32> to tensor<8x8xf32>, %b = %bs : tensor<2x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>) {
    %0 = nn.linear "a.fc"(%h, %a) {strategy.recompute = "layers[*].a"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = nn.gelu "a.act"(%0) {strategy.recompute = "layers[*].a"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = nn.linear "b.fc"(%1, %b) {strategy.recompute = "layers[*].b"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %3 = nn.gelu "b.act"(%2) {strategy.recompute = "layers[*].b"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nn.yield %3 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// In a repeat the forward pass stacks the carried value only. The backward body
// recomputes the whole layer, its result included, before the gradients.

// CHECK-LABEL: func.func @recompute_in_a_repeat(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME:    %[[WS:[a-z0-9]+]]: tensor<3x8x8xf32>
// CHECK:         %[[Y:.*]]:2 = nn.repeat "layers" count 3 carry(%[[H:.*]] = %[[X]] : tensor<4x8xf32>)
// CHECK-SAME:      -> (tensor<4x8xf32>, tensor<3x4x8xf32>) attributes
// CHECK:           %[[OUT:.*]] = nn.add "residual"
// CHECK-NEXT:      nn.yield %[[OUT]], %[[H]]
// CHECK:         nn.repeat "layers" count 3 reverse
// CHECK-SAME:      carry(%[[DH:[a-z0-9]+]] = %{{[a-z0-9]+}} : tensor<4x8xf32>)
// CHECK-SAME:      slice(%[[WI:.*]] = %[[WS]] : tensor<3x8x8xf32> to tensor<8x8xf32>, %[[HI:.*]] = %[[Y]]#1 : tensor<3x4x8xf32> to tensor<4x8xf32>)
// CHECK-NEXT:      %[[AGAIN:.*]]:2 = nn.recompute "layers[*]" (%[[HR:.*]] = %[[HI]] : tensor<4x8xf32>, %[[WR:.*]] = %[[WI]] : tensor<8x8xf32>)
// CHECK-NEXT:        %[[L:.*]] = nn.linear "fc"(%[[HR]], %[[WR]])
// CHECK-NEXT:        %[[G:.*]] = nn.gelu "act"(%[[L]])
// CHECK-NEXT:        %[[R:.*]] = nn.add "residual"(%[[HR]], %[[G]])
// CHECK-NEXT:        nn.yield %[[R]], %[[L]]
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[DL:.*]] = nn.gelu_grad "act"(%[[DH]], %[[AGAIN]]#1)
// CHECK-NEXT:      %[[DX:.*]] = nn.linear_dgrad "fc"(%[[DL]], %[[WI]])
// CHECK-NEXT:      %[[SUM:.*]] = nn.add "fc"(%[[DH]], %[[DX]])
// CHECK-NEXT:      %[[DW:.*]] = nn.linear_wgrad "fc"(%[[DL]], %[[HI]])
// CHECK-NEXT:      nn.yield %[[SUM]], %[[DW]]
func.func @recompute_in_a_repeat(
    %x: tensor<4x8xf32> {nn.role = "parameter", nn.path = "x"},
    %ws: tensor<3x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" count 3
      carry(%h = %x : tensor<4x8xf32>)
      slice(%w = %ws : tensor<3x8x8xf32> to tensor<8x8xf32>)
      -> (tensor<4x8xf32>) {
    %0 = nn.linear "fc"(%h, %w) {strategy.recompute = "layers[*]"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %1 = nn.gelu "act"(%0) {strategy.recompute = "layers[*]"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = nn.add "residual"(%h, %1) {strategy.recompute = "layers[*]"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    nn.yield %2 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A slice that is added has the carried gradient as its own.

// CHECK-LABEL: func.func @added_slice(
// CHECK:         nn.repeat "layers" first 1 count 1 reverse carry(%[[DY:.*]] = %
// CHECK:           nn.yield %[[DY]], %[[DY]] : tensor<4x4xf32>, tensor<4x4xf32>
func.func @added_slice(
    %x: tensor<4x4xf32> {nn.role = "input"}, %l: tensor<4xi32> {nn.role = "input"},
    %w: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].p"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<4x4xf32>) slice(%wi = %w : tensor<2x4x4xf32> to tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %0 = nn.add "add"(%h, %wi) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    nn.yield %0 : tensor<4x4xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %l) : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A parameter that is the loss has the gradient one, in the type of gradients.

// CHECK-LABEL: func.func @parameter_as_loss(
// CHECK:         %[[ONE:.*]] = nn.fill
// CHECK:         %[[G:.*]] = nn.cast "loss"(%[[ONE]]) {{.*}} : (tensor<bf16>) -> tensor<f32>
// CHECK:         nn.sgd "w"(%{{.*}}, %[[G]])
func.func @parameter_as_loss(%w: tensor<bf16> {nn.role = "parameter", nn.path = "w"})
    -> tensor<bf16> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32>} {
  return %w : tensor<bf16>
}

// A repeat that runs in reverse starts with its last iteration: that one is
// peeled, and feeds the others.

// CHECK-LABEL: func.func @reversed_from_an_input(
// CHECK:         %[[FIRST:.*]]:{{.*}} = nn.repeat "layers" first 2 count 1 reverse carry(%{{.*}} = %{{.*}} : tensor<4x4xf32>)
// CHECK:         nn.repeat "layers" count 2 reverse carry(%{{.*}} = %[[FIRST]]#0 : tensor<4x4xf32>)
func.func @reversed_from_an_input(
    %x: tensor<4x4xf32> {nn.role = "input"}, %l: tensor<4xi32> {nn.role = "input"},
    %w: tensor<3x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %y = nn.repeat "layers" count 3 reverse carry(%h = %x : tensor<4x4xf32>) slice(%wi = %w : tensor<3x4x4xf32> to tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %z = nn.linear "fc"(%h, %wi) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    nn.yield %z : tensor<4x4xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %l) : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

//===----------------------------------------------------------------------===//
// Updates of single rows
//===----------------------------------------------------------------------===//

// There is no gradient of the size of the table, no state and no second copy, and the
// table stays in its own type. The factor of the gradient is the rate.

// CHECK-LABEL: func.func @row_updates(
// CHECK-SAME:    %[[IDS:[a-z0-9]+]]: tensor<4x2xi32>
// CHECK-SAME:    %[[T:[a-z0-9]+]]: tensor<100x8xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<6x8xbf16>
// CHECK-SAME:    nn.path = "w.first_moment"
// CHECK-SAME:    nn.path = "w.second_moment"
// CHECK-SAME:    nn.path = "w.master"
// CHECK-SAME:    -> (tensor<f32>, tensor<100x8xf32> {nn.updates = 2 : i64}, tensor<6x8xbf16> {nn.updates = 3 : i64}
// CHECK:         nn.embedding_bag "bag"(%[[IDS]], %[[T]]) {row_updates, strategy.phase = #strategy.phase<forward>} : (tensor<4x2xi32>, tensor<100x8xf32>) -> tensor<4x8xbf16>
// CHECK:         %[[DX:.*]] = nn.linear_dgrad "fc"
// CHECK-NOT:     embedding_bag_grad
// CHECK:         %[[NEW:.*]] = nn.embedding_bag_update "t"(%[[T]], %[[DX]], %[[IDS]]) {strategy.phase = #strategy.phase<update>} : (tensor<100x8xf32>, tensor<4x8xbf16>, tensor<4x2xi32>) -> tensor<100x8xf32>
// CHECK:         nn.adam "w"
// CHECK:         return %{{[^,]*}}, %[[NEW]],
func.func @row_updates(%ids: tensor<4x2xi32> {nn.role = "input"}, %labels: tensor<4xi32> {nn.role = "input"},
                       %t: tensor<100x8xf32> {nn.role = "parameter", nn.path = "t"},
                       %w: tensor<6x8xf32> {nn.role = "parameter", nn.path = "w"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = adam, compute = bf16, gradient = f32, master = f32>} {
  %x = nn.embedding_bag "bag"(%ids, %t) {row_updates} : (tensor<4x2xi32>, tensor<100x8xf32>) -> tensor<4x8xf32>
  %y = nn.linear "fc"(%x, %w) : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x6xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Gradients of a product compute as the product does, other operations do not.

// CHECK-LABEL: func.func @narrow_products(
// CHECK:         nn.linear "fc"({{.*}}) {proteus.compute = f8E4M3FN, strategy.phase = #strategy.phase<forward>}
// CHECK:         nn.relu_grad "act"({{.*}}) {strategy.phase = #strategy.phase<backward>}
// CHECK:         nn.linear_dgrad "fc"({{.*}}) {proteus.compute = f8E4M3FN, strategy.phase = #strategy.phase<backward>}
// CHECK:         nn.linear_wgrad "fc"({{.*}}) {proteus.compute = f8E4M3FN, strategy.phase = #strategy.phase<backward>}
// CHECK:         nn.reduce_sum "fc"({{.*}}) {keep = array<i64: 1>, strategy.phase = #strategy.phase<backward>}
func.func @narrow_products(%x: tensor<4x8xf32> {nn.role = "parameter"}, %w: tensor<6x8xf32> {nn.role = "parameter"},
                           %b: tensor<6xf32> {nn.role = "parameter"}, %labels: tensor<4xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  %h = nn.linear "fc"(%x, %w, %b) {proteus.compute = f8E4M3FN} : (tensor<4x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %y = nn.relu "act"(%h) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x6xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// A copy of a zero from outside belongs to the recomputed layer, as in the body of
// a repeat.

// CHECK-LABEL: func.func @zeros_of_a_recomputed_layer(
// CHECK:         nn.fill "positions"
// CHECK:         nn.recompute "layers[0]"
// CHECK-NEXT:      nn.fill "layers[0].positions"
// CHECK-NEXT:      nn.linear "layers[0].fc"
func.func @zeros_of_a_recomputed_layer(
    %x: tensor<4x8xf32> {nn.role = "input"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "layers[0].fc.weight"},
    %labels: tensor<4xi32> {nn.role = "input"})
    -> tensor<f32> attributes {nn.training = #sgd} {
  %p = nn.fill "positions"() {value = 0.0 : f64} : () -> tensor<4x8xf32>
  %0 = nn.linear "layers[0].fc"(%x, %w) {strategy.recompute = "layers[0]"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = nn.add "layers[0].add"(%0, %p) {strategy.recompute = "layers[0]"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = nn.gelu "layers[0].act"(%1) {strategy.recompute = "layers[0]"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%2, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}
