// RUN: proteus-opt %s -split-input-file -verify-diagnostics \
// RUN:     -allow-unregistered-dialect --build-training-step
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s -allow-unregistered-dialect --build-training-step

// A model is a single block.
// expected-error@+1 {{'func.func' op a model must be a single block}}
func.func @f(%x: tensor<f32> {nn.role = "parameter"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  "test.branch"()[^next] : () -> ()
^next:
  return %x : tensor<f32>
}

// -----

// Every argument has a role.
// expected-error@+1 {{'func.func' op argument 1 has no role; add nn.role = "input", "parameter" or "state"}}
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %labels: tensor<4xi32>) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  %loss, %lse = nn.cross_entropy "loss"(%w, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// The loss is a scalar,
// expected-error@+1 {{'func.func' op a model to train must return one scalar: the loss}}
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}) -> tensor<4x8xf32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  %0 = nn.relu "a"(%w) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// a number that has a gradient,
// expected-error@+1 {{'func.func' op a model to train must return one scalar: the loss}}
func.func @f(%n: tensor<i32> {nn.role = "input"}) -> tensor<i32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  return %n : tensor<i32>
}

// -----

// and there is one.
// expected-error@+1 {{'func.func' op a model to train must return one scalar: the loss}}
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %labels: tensor<4xi32> {nn.role = "input"}) -> (tensor<f32>, tensor<4xf32>)
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  %loss, %lse = nn.cross_entropy "loss"(%w, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss, %lse : tensor<f32>, tensor<4xf32>
}

// -----

// There is something to train.
// expected-error@+1 {{'func.func' op the loss does not depend on any parameter}}
func.func @f(%x: tensor<4x8xf32> {nn.role = "input"}, %labels: tensor<4xi32> {nn.role = "input"},
             %w: tensor<8xf32> {nn.role = "parameter"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  %0 = nn.add "unused"(%x, %w) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%x, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// Every parameter gets a gradient.
// expected-error@+1 {{'func.func' op parameter 'head.bias' (argument 2) gets no gradient: the loss does not depend on it; remove it or give it the role "input"}}
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter", nn.path = "w"}, %labels: tensor<4xi32> {nn.role = "input"},
             %b: tensor<8xf32> {nn.role = "parameter", nn.path = "head.bias"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  %0 = nn.add "unused"(%w, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%w, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// What lies between a parameter and the loss has a gradient.
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %labels: tensor<4xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  // expected-error@+1 {{'nn.relu_grad' op has no gradient, but the loss depends on it; use differentiable operations between the parameters and the loss}}
  %0 = nn.relu_grad "act"(%w, %w) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// That holds for operations of other dialects,
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %labels: tensor<4xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  // expected-error@+1 {{'test.square' op has no gradient, but the loss depends on it; use differentiable operations between the parameters and the loss}}
  %0 = "test.square"(%w) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// and in the body of a repeat.
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %labels: tensor<4xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  %y = nn.repeat "layers" count 2 carry(%h = %w : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    // expected-error@+1 {{'test.square' op has no gradient, but the loss depends on it; use differentiable operations between the parameters and the loss}}
    %0 = "test.square"(%h) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    nn.yield %0 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// The log-sum-exp of a loss is for its gradient only,
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %labels: tensor<4xi32> {nn.role = "input"},
             %one: tensor<1xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  // expected-error@+1 {{'nn.cross_entropy' op the log-sum-exp is for the gradient only; its own gradient is not defined}}
  %0, %lse = nn.cross_entropy "first"(%w, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  %rows = nn.reshape "rows"(%lse) : (tensor<4xf32>) -> tensor<1x4xf32>
  %loss, %lse2 = nn.cross_entropy "second"(%rows, %one) : (tensor<1x4xf32>, tensor<1xi32>) -> (tensor<f32>, tensor<1xf32>)
  return %loss : tensor<f32>
}

// -----

// and so is that of attention.
func.func @f(%q: tensor<1x4x8xf32> {nn.role = "parameter"}, %labels: tensor<1x2xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  // expected-error@+1 {{'nn.attention' op the log-sum-exp is for the gradient only; its own gradient is not defined}}
  %o, %rows = nn.attention "core"(%q, %q, %q) {heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  %loss, %lse = nn.cross_entropy "loss"(%rows, %labels) : (tensor<1x2x4xf32>, tensor<1x2xi32>) -> (tensor<f32>, tensor<1x2xf32>)
  return %loss : tensor<f32>
}

// -----

// Statistics of a batch normalisation are for its gradient only.
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %g: tensor<8xf32> {nn.role = "parameter"},
             %t: tensor<1x8xf32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  // expected-error@+1 {{'nn.batch_norm' op mean and inverse are for the gradient only; their own gradient is not defined}}
  %0, %mean, %inverse = nn.batch_norm "norm"(%w, %g, %g) : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
  %loss = nn.mse_loss "loss"(%mean, %t) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// An operation that states its cost states that of its gradient too.
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %t: tensor<4x8xf32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  // expected-error@+1 {{'nn.generic' op states no cost of its gradient; add 'gradient_flops'}}
  %0 = nn.generic "scan"(%w) {iterators = ["a", "b"], sizes = array<i64: 4, 8>, kinds = ["parallel", "parallel"],
      indexing = [["a", "b"], ["a", "b"]], flops = 1.0 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = nn.mse_loss "loss"(%0, %t) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Rows of a table that something else reads as well have more than one gradient.
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %ids: tensor<4x2xi32> {nn.role = "input"},
             %labels: tensor<4xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  // expected-error@+1 {{'nn.embedding_bag' op row_updates needs a table that is a parameter of the model and that nothing else reads; leave row_updates out}}
  %0 = nn.embedding_bag "bag"(%ids, %w) {row_updates} : (tensor<4x2xi32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = nn.add "sum"(%0, %w) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%1, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// Tables of layers are slices.
func.func @f(%w: tensor<2x4x8xf32> {nn.role = "parameter"}, %ids: tensor<4x2xi32> {nn.role = "input"},
             %x: tensor<4x8xf32> {nn.role = "input"}, %labels: tensor<4xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>} {
  %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<4x8xf32>) slice(%t = %w : tensor<2x4x8xf32> to tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    // expected-error@+1 {{'nn.embedding_bag' op row_updates needs a table that is a parameter of the model}}
    %0 = nn.embedding_bag "bag"(%ids, %t) {row_updates} : (tensor<4x2xi32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = nn.add "sum"(%0, %h) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    nn.yield %1 : tensor<4x8xf32>
  }
  %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// The norm of a gradient that is never there can't be found.
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %ids: tensor<4x2xi32> {nn.role = "input"},
             %labels: tensor<4xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd, clip = 1.0 : f64>} {
  // expected-error@+1 {{'nn.embedding_bag' op row_updates has no gradient of the whole table that could be measured for clip or loss_scale; leave row_updates or these out}}
  %0 = nn.embedding_bag "bag"(%ids, %w) {row_updates} : (tensor<4x2xi32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// Micro-batches look up one after the other.
#mesh = #dist.mesh<[dp = 2], micro = 3>
func.func @f(%w: tensor<4x8xf32> {nn.role = "parameter"}, %ids: tensor<6x2xi32> {nn.role = "input"},
             %labels: tensor<6xi32> {nn.role = "input"}) -> tensor<f32>
    attributes {nn.training = #nn.training<optimizer = sgd>, strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.embedding_bag' op row_updates needs all lookups of a step at once, but there are 3 micro-batches; use one, or leave row_updates out}}
  %0 = nn.embedding_bag "bag"(%ids, %w) {row_updates} : (tensor<6x2xi32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<6x8xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<6xf32>)
  return %loss : tensor<f32>
}
