// RUN: proteus-opt %s -split-input-file -verify-diagnostics --lower-strategy
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s --lower-strategy

// Orders that the tree lists. Messages name the program and the item.

// An item is missing.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.schedule' op order of @f_stage1: B1 is missing}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, B0, B1]
    order stage 1 [F0, B0, F1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// An item is listed twice.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.schedule' op order of @f_stage0: F0 is listed twice}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, F0, B0, B1]
    order stage 1 [F0, B0, F1, B1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// A gradient without its forward.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.schedule' op order of @f_stage1: B1 comes before F1}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, B0, B1]
    order stage 1 [F0, B1, F1, B0]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// A micro-batch that the tree does not have.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.schedule' op order of @f_stage0: F2 is outside the 2 micro-batches of the mesh}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, F2, B0, B1]
    order stage 1 [F0, B0, F1, B1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// A chunk that the stage does not have.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.schedule' op order of @f_stage1: F0.1 names the 'forward' section of chunk 1, which the program does not have}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, B0, B1]
    order stage 1 [F0, F0.1, B0, F1, B1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// No stage comes before the first one, so its gradients are not split: W0 is
// dropped, but stands where it can't.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.program' op order: W0 comes before I0}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, W0, I0, I1, W1]
    order stage 1 [F0, B0, F1, B1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// An item that is dropped, twice.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.program' op order: W0 is listed twice}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, I0, W0, W0, I1, W1]
    order stage 1 [F0, B0, F1, B1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// A backward that is not split takes the place of its input gradient, once.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.schedule' op order of @f_stage0: B0 is listed twice}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, I0, B0, I1, W1]
    order stage 1 [F0, B0, F1, B1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// A split backward has no whole one besides.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.schedule' op order of @f_stage1: B1 names the 'backward' section of chunk 0, which the program does not have}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, B0, B1]
    order stage 1 [F0, I0, W0, F1, B1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// A model that is not trained has no gradients at all.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.schedule' op order of @f_stage0: B0 names the 'backward' section of chunk 0, which the program does not have}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, B0, B1]
    order stage 1 [F0, F1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// A weight gradient before its input gradient.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.schedule' op order of @f_stage1: W0 comes before I0}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, F1, B0, B1]
    order stage 1 [F0, W0, I0, F1, I1, W1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// More in flight than the tree allows.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'dist.program' op order of stage 0 has 2 micro-batches in flight, first with F1, more than max_ongoing = 1}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit" max_ongoing = 1
    order stage 0 [F0, F1, B0, B1]
    order stage 1 [F0, B0, F1, B1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// Stages that wait for each other.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-note@+3 {{stage 0 waits before B0}}
  // expected-note@+2 {{stage 1 waits before F1}}
  // expected-error@+1 {{'dist.schedule' op can't run to its end: the orders of the stages wait for each other}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "b"(%0, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 2 order = "explicit"
    order stage 0 [F0, B0, F1, B1]
    order stage 1 [F0, F1, B0, B1]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// A limit of no micro-batches would never start.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func private @f()
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{'strategy.schedule' op max_ongoing = 0 is too small; it must be at least 1}}
    schedule micro_batches = 4 max_ongoing = 0
  }
}
