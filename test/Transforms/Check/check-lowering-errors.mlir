// RUN: proteus-opt %s -split-input-file --check-lowering -verify-diagnostics -o /dev/null
// RUN: not proteus-opt %s --check-lowering="strategy=@absent" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s --check-lowering
// ABSENT: needs one strategy tree, but there is no @absent

// expected-error @below {{needs one strategy tree, but there are 0; choose with strategy=@name}}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @no_tree(%x: tensor<4x4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<4x4xf32> {
    return %x : tensor<4x4xf32>
  }
}

// -----

// A model that has been matched is not the one that the user wrote.

#mesh = #dist.mesh<[dp = 2]>
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error @below {{has been matched with its tree already; run check-lowering on the model as it was written}}
  func.func @matched(%x: tensor<4x4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<4x4xf32>
      attributes {strategy.mesh = #mesh} {
    return %x : tensor<4x4xf32>
  }
  strategy.tree @s for @matched {
    mesh [dp = 2]
  }
}

// -----

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error @below {{argument 0 has no role; add nn.role = "input", "parameter" or "state"}}
  func.func @no_role(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    return %x : tensor<4x4xf32>
  }
  strategy.tree @s for @no_role {
    mesh [dp = 2]
  }
}

// -----

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error @below {{two arguments have the path 'x'; values are matched by path}}
  func.func @one_path_twice(%x: tensor<4x4xf32> {nn.role = "input", nn.path = "x"},
                            %y: tensor<4x4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<4x4xf32> {
    %z = nn.add "sum"(%x, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %z : tensor<4x4xf32>
  }
  strategy.tree @s for @one_path_twice {
    mesh [dp = 2]
  }
}

// -----

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error @below {{is too large to be executed: its step has 1.1e+09 multiplications and additions, at most 1.0e+08 are executed; use smaller sizes of the same shape}}
  func.func @too_large(%x: tensor<1024x1024xf32> {nn.role = "input", nn.path = "x"},
                       %w: tensor<1024x1024xf32> {nn.role = "parameter", nn.path = "w"}) -> tensor<1024x1024xf32> {
    %y = nn.linear "fc"(%x, %w) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %y : tensor<1024x1024xf32>
  }
  strategy.tree @s for @too_large {
    mesh [dp = 2]
  }
}

// -----

module attributes {proteus.cluster = "dgx-a100:16"} {
  // expected-error @below {{is for 128 devices, at most 64 are executed; use a smaller mesh of the same axes}}
  func.func @too_many_devices(%x: tensor<128x4xf32> {nn.role = "input", nn.path = "x"},
                              %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "w"}) -> tensor<128x4xf32> {
    %y = nn.linear "fc"(%x, %w) : (tensor<128x4xf32>, tensor<4x4xf32>) -> tensor<128x4xf32>
    return %y : tensor<128x4xf32>
  }
  strategy.tree @s for @too_many_devices {
    mesh [dp = 128]
    split op [batch -> dp]
  }
}

// -----

// Sizes are checked before any value is created: this table would need 256 TiB.

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error @below {{is too large to be executed: its tensors have 3.5e+13 elements, at most 2.7e+08 are held; use smaller sizes of the same shape}}
  func.func @large_table(%ids: tensor<4xi32> {nn.role = "input", nn.path = "ids"},
                         %table: tensor<1099511627776x32xf32> {nn.role = "parameter", nn.path = "table"}) -> tensor<4x32xf32> {
    %y = nn.embedding "lookup"(%ids, %table) : (tensor<4xi32>, tensor<1099511627776x32xf32>) -> tensor<4x32xf32>
    return %y : tensor<4x32xf32>
  }
  strategy.tree @s for @large_table {
    mesh [dp = 2]
  }
}

// -----

// A replicated tensor is held once per device: 2^23 elements on 64 devices.

module attributes {proteus.cluster = "dgx-a100:8"} {
  // expected-error @below {{is too large to be executed: its tensors have 5.4e+08 elements, at most 2.7e+08 are held; use smaller sizes of the same shape}}
  func.func @replicated_table(%ids: tensor<64xi32> {nn.role = "input", nn.path = "ids"},
                              %table: tensor<262144x32xf32> {nn.role = "parameter", nn.path = "table"}) -> tensor<64x32xf32> {
    %y = nn.embedding "lookup"(%ids, %table) : (tensor<64xi32>, tensor<262144x32xf32>) -> tensor<64x32xf32>
    return %y : tensor<64x32xf32>
  }
  strategy.tree @s for @replicated_table {
    mesh [dp = 64]
    split op [batch -> dp]
  }
}

// -----

// What the lowering itself refuses is reported as it is.

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @refused(%x: tensor<4x4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<4x4xf32> {
    // expected-error @below {{iterator 'batch' has size 4 and can't be split into 8 parts over {dp}}}
    %y = nn.relu "act"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
  strategy.tree @s for @refused {
    mesh [dp = 8]
    split op [batch -> dp]
  }
}

// -----

// An operation that the interpreter does not know is refused by name.

#map = affine_map<(d0) -> (d0)>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @unknown_operation(%x: tensor<4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      // expected-error @below {{'math.cos' op can't be evaluated: the interpreter does not support this operation}}
      %c = math.cos %in : f32
      linalg.yield %c : f32
    } -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  strategy.tree @s for @unknown_operation {
    mesh [dp = 2]
  }
}

// -----

// What states its cost only is refused by name.

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @cost_only(%x: tensor<4x4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<4x4xf32> {
    // expected-error @below {{'nn.generic' op at 'layer.scan' is cost-only: it states iterators and FLOPs, but no values to execute; write it with other operations to check the lowering}}
    %0 = nn.generic "layer.scan"(%x) {iterators = ["batch", "hidden"], sizes = array<i64: 4, 4>,
        kinds = ["parallel", "opaque"], indexing = [["batch", "hidden"], ["batch", "hidden"]],
        flops = 1.0 : f64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
  strategy.tree @s for @cost_only {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}
