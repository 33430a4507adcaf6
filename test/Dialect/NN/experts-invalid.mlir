// RUN: proteus-opt %s -split-input-file -verify-diagnostics

// Groups are equal.
func.func @f(%x: tensor<6x4xf32>) {
  // expected-error@+1 {{the number of token groups must divide the batch, got 4 groups of a batch of 6}}
  %g, %e, %s = nn.moe_route "r"(%x) {groups = 4 : i64, capacity_factor = 1.0 : f64} : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi32>, tensor<6x2xi32>)
  return
}

// -----

func.func @f(%x: tensor<6xf32>) {
  // expected-error@+1 {{tokens must have rank 2 or more, got 1}}
  %g, %e, %s = nn.moe_route "r"(%x) {groups = 1 : i64, capacity_factor = 1.0 : f64} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xi32>)
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>) {
  // expected-error@+1 {{a result must have the leading dimensions of the tokens 'tensor<6x4xf32>', got 'tensor<5x2xi32>'}}
  %g, %e, %s = nn.moe_route "r"(%x) {groups = 1 : i64, capacity_factor = 1.0 : f64} : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<5x2xi32>, tensor<6x2xi32>)
  return
}

// -----

// There are as many experts as a token chooses.
func.func @f(%x: tensor<6x4xf32>) {
  // expected-error@+1 {{can't choose 5 of 4 experts}}
  %g, %e, %s = nn.moe_route "r"(%x) {groups = 1 : i64, capacity_factor = 1.0 : f64} : (tensor<6x4xf32>) -> (tensor<6x5xf32>, tensor<6x5xi32>, tensor<6x5xi32>)
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>) {
  // expected-error@+1 {{gates, experts and slots must have the same number of choices, got 2 and 1}}
  %g, %e, %s = nn.moe_route "r"(%x) {groups = 1 : i64, capacity_factor = 1.0 : f64} : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x1xi32>, tensor<6x2xi32>)
  return
}

// -----

func.func @f(%x: tensor<6x4xf32>) {
  // expected-error@+1 {{'capacity_factor' must be positive, got 0}}
  %g, %e, %s = nn.moe_route "r"(%x) {groups = 1 : i64, capacity_factor = 0.0 : f64} : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi32>, tensor<6x2xi32>)
  return
}

// -----

func.func @f(%g: tensor<6x2xf32>, %x: tensor<6x4xf32>, %e: tensor<6x3xi32>) {
  // expected-error@+1 {{gradient and experts must have the same shape, got 'tensor<6x2xf32>' and 'tensor<6x3xi32>'}}
  %0 = nn.moe_route_grad "r"(%g, %x, %e) : (tensor<6x2xf32>, tensor<6x4xf32>, tensor<6x3xi32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %e: tensor<6x2xi32>) {
  // expected-error@+1 {{the tensor of the experts must have rank 4, got 3}}
  %0 = nn.moe_dispatch "d"(%x, %e, %e) : (tensor<6x8xf32>, tensor<6x2xi32>, tensor<6x2xi32>) -> tensor<4x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %e: tensor<6x2xi32>, %s: tensor<6x1xi32>) {
  // expected-error@+1 {{experts, slots and gates must have the same shape, got 'tensor<6x2xi32>' and 'tensor<6x1xi32>'}}
  %0 = nn.moe_dispatch "d"(%x, %e, %s) : (tensor<6x8xf32>, tensor<6x2xi32>, tensor<6x1xi32>) -> tensor<4x1x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x1x6x8xf32>, %e: tensor<5x2xi32>) {
  // expected-error@+1 {{experts must have the leading dimensions of the tokens 'tensor<6x8xf32>', got 'tensor<5x2xi32>'}}
  %0 = nn.moe_combine "d"(%x, %e, %e) : (tensor<4x1x6x8xf32>, tensor<5x2xi32>, tensor<5x2xi32>) -> tensor<6x8xf32>
  return
}

// -----

// Tokens were routed to slots that exist: 1.0 * 6 * 2 / 4 = 3 per expert.
func.func @f(%x: tensor<6x8xf32>, %l: tensor<6x4xf32>) {
  // expected-note@+1 {{routed here}}
  %g, %e, %s = nn.moe_route "r"(%l) {groups = 1 : i64, capacity_factor = 1.0 : f64} : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi32>, tensor<6x2xi32>)
  // expected-error@+1 {{has 2 slots, but tokens were routed to 3}}
  %0 = nn.moe_dispatch "d"(%x, %e, %s) : (tensor<6x8xf32>, tensor<6x2xi32>, tensor<6x2xi32>) -> tensor<4x1x2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x1x6x8xf32>, %w: tensor<5x8x8xf32>) {
  // expected-error@+1 {{operand 1: dimension 0 (expert) has size 5, expected 4}}
  %0 = nn.expert_linear "l"(%x, %w) : (tensor<4x1x6x8xf32>, tensor<5x8x8xf32>) -> tensor<4x1x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6x8xf32>, %w: tensor<4x8x8xf32>) {
  // expected-error@+1 {{input must have rank 4, got 3}}
  %0 = nn.expert_linear "l"(%x, %w) : (tensor<4x6x8xf32>, tensor<4x8x8xf32>) -> tensor<4x6x8xf32>
  return
}

// -----

// Neither has an expert more slots than a tensor has elements.
func.func @f(%x: tensor<6x4xf32>) {
  // expected-error@+1 {{'nn.moe_route' op 'capacity_factor' 1.000000e+300 gives each expert more than 2^56 slots}}
  %g, %e, %s = nn.moe_route "r"(%x) {groups = 1 : i64, capacity_factor = 1.0e300 : f64} : (tensor<6x4xf32>) -> (tensor<6x2xf32>, tensor<6x2xi32>, tensor<6x2xi32>)
  return
}
