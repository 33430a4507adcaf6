// RUN: proteus-opt %s -split-input-file -verify-diagnostics | proteus-opt -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @one_factor_for_all_gradients
// CHECK-SAME:    #nn.training<optimizer = adam, clip = 1.000000e+00 : f64, loss_scale = 1.024000e+03 : f64>
func.func @one_factor_for_all_gradients(%g: tensor<4x4xf32>, %h: tensor<4xf32>, %w: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>)
    attributes {nn.training = #nn.training<optimizer = adam, clip = 1.0, loss_scale = 1024.0>} {
  // CHECK: nn.square_sum "a"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<f32>
  %0 = nn.square_sum "a"(%g) : (tensor<4x4xf32>) -> tensor<f32>
  %1 = nn.square_sum "b"(%h) : (tensor<4xf32>) -> tensor<f32>
  // CHECK: nn.total "gradients"(%{{.*}}, %{{.*}}) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %squares = nn.total "gradients"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: nn.overflow "a"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<f32>
  %2 = nn.overflow "a"(%g) : (tensor<4x4xf32>) -> tensor<f32>
  // CHECK: nn.total "gradients"(%{{.*}}) {max} : (tensor<f32>) -> tensor<f32>
  %overflow = nn.total "gradients"(%2) {max} : (tensor<f32>) -> tensor<f32>
  // CHECK: nn.update_factor "gradients"(%{{.*}}, %{{.*}}) {clip = 1.000000e+00 : f64, loss_scale = 1.024000e+03 : f64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %f = nn.update_factor "gradients"(%squares, %overflow) {clip = 1.0 : f64, loss_scale = 1024.0 : f64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: nn.sgd "w"(%{{.*}}, %{{.*}}, %{{.*}}) {scaled}
  %3 = nn.sgd "w"(%w, %h, %f) {scaled} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: nn.adam "w"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {scaled}
  %4:3 = nn.adam "w"(%w, %h, %m, %v, %f) {scaled} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

// expected-error@+1 {{'clip' must be positive, got 0}}
func.func @f() attributes {nn.training = #nn.training<optimizer = sgd, clip = 0.0>} {
  return
}

// -----

// expected-error@+1 {{'loss_scale' must be positive, got -1}}
func.func @f() attributes {nn.training = #nn.training<optimizer = sgd, loss_scale = -1.0>} {
  return
}

// -----

func.func @f(%s: tensor<f32>) {
  // expected-error@+1 {{needs 'clip' or 'loss_scale'}}
  %f = nn.update_factor "gradients"(%s) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%s: tensor<f32>) {
  // expected-error@+1 {{needs one operand for each of 'clip' and 'loss_scale', 1 in all, got 2}}
  %f = nn.update_factor "gradients"(%s, %s) {clip = 1.0 : f64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%s: tensor<f32>) {
  // expected-error@+1 {{'clip' and 'loss_scale' must be positive, got 0}}
  %f = nn.update_factor "gradients"(%s) {clip = 0.0 : f64} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%w: tensor<4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{is scaled and needs a factor after the gradient}}
  %0 = nn.sgd "w"(%w, %g) {scaled} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%w: tensor<4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{the factor of the gradient must be a scalar, got 'tensor<4xf32>'}}
  %0 = nn.sgd "w"(%w, %g, %g) {scaled} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%w: tensor<4xf32>, %g: tensor<4xf32>, %f: tensor<f32>) {
  // expected-error@+1 {{needs one result per operand but the gradient and the factor, 1 in all, got 2}}
  %0:2 = nn.sgd "w"(%w, %g, %f) {scaled} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
