// RUN: not proteus-opt %s -split-input-file --check-lowering -o /dev/null 2>&1 | FileCheck %s

// Gradients are compared with derivatives of the model. Those of a step with
// clipping and a loss scale are the gradients before clipping, divided by the
// scale. Layers are split off, and one of two parameters is read by all layers.

// CHECK: remark: lowering is right: {{.*}} tensors agree, largest relative difference {{[^;]*}}; its gradients agree with derivatives, relative difference {{[0-9.]+}}e-1{{[5-9]$}}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @scaled(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %ws: tensor<3x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].w"},
      %b: tensor<4xf32> {nn.role = "parameter", nn.path = "shared"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, master = f32, clip = 0.01, loss_scale = 64.0>} {
    %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4xf32>)
        slice(%w = %ws : tensor<3x4x4xf32> to tensor<4x4xf32>) -> (tensor<8x4xf32>) {
      %0 = nn.linear "fc"(%h, %w, %b) : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
      %1 = nn.relu "act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @scaled {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// The update of rows has no gradient of the whole table. It is what the update
// has subtracted, divided by the rate.

// CHECK: remark: lowering is right: {{.*}}; its gradients agree with derivatives, relative difference {{(0\.0e\+00|[0-9.]+e-1[4-9])$}}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @rows(
      %ids: tensor<8x2xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %table: tensor<6x4xf32> {nn.role = "parameter", nn.path = "bag.table"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.embedding_bag "bag"(%ids, %table) {row_updates} : (tensor<8x2xi32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "head"(%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @rows {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// After an overflow there is nothing to compare: the updates change nothing.

// CHECK: remark: lowering is right: {{.*}}; its gradients are not finite and are not compared with derivatives{{$}}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @overflow(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, loss_scale = 1.0e308>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.scale "scale"(%0) {factor = 1.0e3 : f64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @overflow {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// A model that is not trained has no gradients.

// CHECK: remark: lowering is right: 32 values of 1 tensors agree, largest relative difference {{[^;]*$}}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @forward(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<8x4xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @forward {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// Operations that only training steps contain have no derivatives.

// CHECK: error: 'nn.relu_grad' op can't be evaluated on dual numbers: the interpreter can't compute the derivative of this operation
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @gradient_op(
      %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.relu_grad "g"(%x, %x) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "fc"(%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @gradient_op {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}
