// RUN: proteus-opt %s -split-input-file -verify-diagnostics

// A cluster is a string or a dictionary.
// expected-error@+1 {{'proteus.cluster' must be a string or a dictionary, got 8 : i64}}
module attributes {proteus.cluster = 8 : i64} {
}

// -----

// A cluster has a name.
// expected-error@+1 {{'proteus.cluster' is an empty string; name a preset, such as "dgx-a100:1", or a file}}
module attributes {proteus.cluster = ""} {
}

// -----

// A cluster belongs to a module.
// expected-error@+1 {{'proteus.cluster' belongs to a builtin.module, not to 'func.func'}}
func.func private @f() attributes {proteus.cluster = "dgx-a100:1"}

// -----

// A path is a string.
// expected-error@+1 {{'proteus.path' must be a string, got 3 : i64}}
func.func private @f() attributes {proteus.path = 3 : i64}

// -----

// A path is a concrete one.
// expected-error@+1 {{'proteus.path' is the malformed path "layers[*]": expected an index at position 7, found '*'}}
func.func private @f() attributes {proteus.path = "layers[*]"}

// -----

// iteration_time_ms is a number.
// expected-error@+1 {{'proteus.iteration_time_ms' must be an f64, got 1 : i64}}
module attributes {proteus.iteration_time_ms = 1 : i64} {
}

// -----

// samples_per_second is a number.
// expected-error@+1 {{'proteus.samples_per_second' must be an f64, got 1 : i64}}
module attributes {proteus.samples_per_second = 1 : i64} {
}

// -----

// peak_memory_mb is a number.
// expected-error@+1 {{'proteus.peak_memory_mb' must be an f64, got 1 : i64}}
module attributes {proteus.peak_memory_mb = 1 : i64} {
}

// -----

// A result has double precision.
// expected-error@+1 {{'proteus.iteration_time_ms' must be an f64, got 1.000000e+00 : f32}}
module attributes {proteus.iteration_time_ms = 1.0 : f32} {
}

// -----

// A result is not negative.
// expected-error@+1 {{'proteus.samples_per_second' must be finite and not negative, got -1.000000e+00 : f64}}
module attributes {proteus.samples_per_second = -1.0 : f64} {
}

// -----

// A result is finite.
// expected-error@+1 {{'proteus.peak_memory_mb' must be finite and not negative, got 0x7FF0000000000000 : f64}}
module attributes {proteus.peak_memory_mb = 0x7FF0000000000000 : f64} {
}

// -----

// A result is a number, not the lack of one.
// expected-error@+1 {{'proteus.peak_memory_mb' must be finite and not negative, got 0x7FF8000000000000 : f64}}
module attributes {proteus.peak_memory_mb = 0x7FF8000000000000 : f64} {
}

// -----

// A product computes in a floating-point type.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  // expected-error@+1 {{'proteus.compute' must be a floating-point type, got i8}}
  %0 = nn.linear "fc"(%x, %w) {proteus.compute = i8} : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// A function is no product.
// expected-error@+1 {{'proteus.compute' belongs to a matrix product, not to 'func.func'}}
func.func private @f() attributes {proteus.compute = f8E4M3FN}

// -----

// An activation function is no product.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'proteus.pieces' belongs to a matrix product, not to 'nn.relu'}}
  %0 = nn.relu "r"(%x) {proteus.pieces = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A product gathers nothing.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  // expected-error@+1 {{'proteus.once' belongs to an operation that gathers a parameter, not to 'nn.linear'}}
  %0 = nn.linear "fc"(%x, %w) {proteus.once} : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// An element-wise operation of linalg is no product.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'proteus.compute' belongs to a matrix product, not to 'linalg.exp'}}
  %0 = linalg.exp {proteus.compute = f8E4M3FN} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Operations of other dialects gather nothing.
// expected-error@+1 {{'proteus.prefetch' belongs to an operation that gathers or fetches a parameter, not to 'func.func'}}
func.func private @f() attributes {proteus.prefetch = 1 : i64}

// -----

// An argument is no collective.
// expected-error@+1 {{'proteus.exchange' belongs to an all-gather, reduce-scatter or all-reduce, not to argument 0 of 'func.func'}}
func.func private @f(i32 {proteus.exchange = array<i64: 0, 1>})

// -----

// Whether it fits is true or false.
// expected-error@+1 {{'proteus.fits' must be true or false, got "yes"}}
module attributes {proteus.fits = "yes"} {
}

// -----

// iteration_time_ms belongs to a module.
// expected-error@+1 {{'proteus.iteration_time_ms' belongs to a builtin.module, not to 'func.func'}}
func.func private @f() attributes {proteus.iteration_time_ms = 1.0}

// -----

// samples_per_second belongs to a module.
// expected-error@+1 {{'proteus.samples_per_second' belongs to a builtin.module, not to 'func.func'}}
func.func private @f() attributes {proteus.samples_per_second = 1.0}

// -----

// peak_memory_mb belongs to a module.
// expected-error@+1 {{'proteus.peak_memory_mb' belongs to a builtin.module, not to 'func.func'}}
func.func private @f() attributes {proteus.peak_memory_mb = 1.0}

// -----

// fits belongs to a module.
// expected-error@+1 {{'proteus.fits' belongs to a builtin.module, not to 'func.func'}}
func.func private @f() attributes {proteus.fits = true}

// -----

// There are no other attributes.
// expected-error@+1 {{unknown attribute 'proteus.clusters'; the attributes of the proteus dialect are proteus.cluster, proteus.compute, proteus.exchange, proteus.fits, proteus.iteration_time_ms, proteus.once, proteus.path, proteus.peak_memory_mb, proteus.pieces, proteus.prefetch, proteus.samples_per_second}}
module attributes {proteus.clusters = "x"} {
}

// -----

// There are no other attributes of arguments.
// expected-error@+1 {{unknown attribute 'proteus.role'; the attributes of the proteus dialect are proteus.cluster, proteus.compute, proteus.exchange, proteus.fits, proteus.iteration_time_ms, proteus.once, proteus.path, proteus.peak_memory_mb, proteus.pieces, proteus.prefetch, proteus.samples_per_second}}
func.func private @f(i32 {proteus.role = "x"})

// -----

// An argument has no attribute of a module.
// expected-error@+1 {{'proteus.fits' belongs to a builtin.module, not to argument 1 of 'func.func'}}
func.func private @f(i32, i32 {proteus.fits = true})

// -----

// The path of an argument is well-formed.
// expected-error@+1 {{'proteus.path' is the malformed path "": expected a name at position 0, found the end of the path}}
func.func private @f(i32 {proteus.path = ""})

// -----

// There are no other attributes of results.
// expected-error@+1 {{unknown attribute 'proteus.role'; the attributes of the proteus dialect are proteus.cluster, proteus.compute, proteus.exchange, proteus.fits, proteus.iteration_time_ms, proteus.once, proteus.path, proteus.peak_memory_mb, proteus.pieces, proteus.prefetch, proteus.samples_per_second}}
func.func private @f() -> (i32 {proteus.role = "x"})

// -----

// A result has no path.
// expected-error@+1 {{'proteus.path' belongs to an operation or an argument, not to result 0 of 'func.func'}}
func.func private @f() -> (i32 {proteus.path = "a"})

// -----

// A result has no attribute of a module.
// expected-error@+1 {{'proteus.fits' belongs to a builtin.module, not to result 0 of 'func.func'}}
func.func private @f() -> (i32 {proteus.fits = true})

// -----

#mesh = #dist.mesh<[tp = 2]>
#part = #dist.layout<#mesh, [{tp}]>
#whole = #dist.layout<#mesh, [{}]>
// The first number of an exchange is less than the second.
func.func @f(%x: tensor<4xf32, #part>) -> tensor<4xf32, #whole> {
  // expected-error@+1 {{'proteus.exchange' must be array<i64: i, k> with 0 <= i < k, got array<i64: 2, 2>}}
  %0 = dist.all_gather %x dim 0 over {tp} {proteus.exchange = array<i64: 2, 2>} : tensor<4xf32, #part> -> tensor<4xf32, #whole>
  return %0 : tensor<4xf32, #whole>
}

// -----

#mesh = #dist.mesh<[tp = 2]>
#part = #dist.layout<#mesh, [{tp}]>
#whole = #dist.layout<#mesh, [{}]>
// A collective is not a product.
func.func @f(%x: tensor<4xf32, #part>) -> tensor<4xf32, #whole> {
  // expected-error@+1 {{'proteus.pieces' belongs to a matrix product, not to 'dist.all_gather'}}
  %0 = dist.all_gather %x dim 0 over {tp} {proteus.pieces = 2 : i64} : tensor<4xf32, #part> -> tensor<4xf32, #whole>
  return %0 : tensor<4xf32, #whole>
}

// -----

// The number of pieces is positive.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  // expected-error@+1 {{'proteus.pieces' must be an i64 and at least 1, got 0 : i64}}
  %0 = nn.linear "fc"(%x, %w) {proteus.pieces = 0} : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
