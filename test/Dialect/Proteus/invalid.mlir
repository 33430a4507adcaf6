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

// What a product computes in is a floating-point type.
// expected-error@+1 {{'proteus.compute' must be a floating-point type, got i8}}
func.func private @f() attributes {proteus.compute = i8}

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

// expected-error@+1 {{'proteus.exchange' must be array<i64: i, k> with 0 <= i < k, got array<i64: 2, 2>}}
func.func private @f() attributes {proteus.exchange = array<i64: 2, 2>}

// -----

// expected-error@+1 {{'proteus.pieces' must be an i64 and at least 1, got 0 : i64}}
func.func private @f() attributes {proteus.pieces = 0}
