// RUN: split-file %s %t
// RUN: proteus-opt %t/trees.mlir -split-input-file -verify-diagnostics \
// RUN:     -allow-unregistered-dialect --match-strategy
// RUN: proteus-opt %t/tree-option.mlir -split-input-file -verify-diagnostics \
// RUN:     --match-strategy=strategy=@missing
// RUN: proteus-opt %t/cluster-option.mlir -split-input-file \
// RUN:     -verify-diagnostics --match-strategy=cluster=missing.json
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/trees.mlir -allow-unregistered-dialect --match-strategy
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/tree-option.mlir --match-strategy=strategy=@missing
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/cluster-option.mlir --match-strategy=cluster=missing.json

//--- trees.mlir

// A pattern selects something. Indices are part of a pattern, and the note lists
// what there is to select.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-note@+1 {{the modules of the model are: mlp, head}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "mlp.a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "mlp.b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.relu "head"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.node' op the pattern 'mpl' selects no operation of @f}}
    node "mpl" { split op [batch -> dp] }
  }
}

// -----

// Only the outermost of the nodes that select nothing is reported.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-note@+1 {{the modules of the model are: mlp}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "mlp.a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.node' op the pattern 'mpl' selects no operation of @f}}
    node "mpl" {
      node "a" {
        node "b" { split op [batch -> dp] }
      }
    }
  }
}

// -----

// A nested node is named by its full pattern.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-note@+1 {{the modules of the model are: mlp}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "mlp.a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    node "mlp" {
      // expected-error@+1 {{'strategy.node' op the pattern 'mlp.c' selects no operation of @f}}
      node "c" { split op [batch -> dp] }
    }
  }
}

// -----

// A layer beyond the last one is no layer.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-note@+1 {{the modules of the model are: layers[*]}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %0 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.node' op the pattern 'layers[3]' selects no operation of @f}}
    node "layers[3]" { split op [batch -> dp] }
  }
}

// -----

// The note lists twelve modules.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-note@+1 {{the modules of the model are: a, b, c, d, e, f, g, h, i, j, k, l, ...}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) {
    %a = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %b = nn.relu "b"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %c = nn.relu "c"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %d = nn.relu "d"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %e = nn.relu "e"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %f = nn.relu "f"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %g = nn.relu "g"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %h = nn.relu "h"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %i = nn.relu "i"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %j = nn.relu "j"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %k = nn.relu "k"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %l = nn.relu "l"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %m = nn.relu "m"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.node' op the pattern 'z' selects no operation of @f}}
    node "z" { split op [batch -> dp] }
  }
}

// -----

// An iterator belongs to an operation that the node selects. Opaque iterators
// are not offered.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %g: tensor<4xf32> {nn.role = "parameter"},
               %w: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    %0 = nn.layer_norm "block.norm"(%x, %g, %g) : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %1 = nn.linear "block.fc"(%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = nn.gelu "act"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [tp = 2]
    // expected-error@+2 {{'strategy.node' op no operation it selects has an iterator 'heads'}}
    // expected-note@+1 {{iterators that can be split: batch, out, in}}
    node "block" { split op [heads -> tp] }
  }
}

// -----

// All offenders are listed: the keys of the tree, and those of its nodes.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-note@+1 {{the modules of the model are: a}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  // expected-error@+3 {{'strategy.tree' op no operation it selects has an iterator 'vocab'}}
  // expected-error@+2 {{'strategy.tree' op no operation it selects has an iterator 'out'}}
  // expected-note@+1 {{iterators that can be split: batch, hidden}}
  strategy.tree @s for @f {
    mesh [dp = 2, tp = 2]
    split op [vocab -> dp, out -> tp]
    // expected-error@+1 {{'strategy.node' op the pattern 'b' selects no operation of @f}}
    node "b" { split op [batch -> dp] }
  }
}

// -----

// The devices of the mesh exist.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<32x4xf32> {nn.role = "input"}) -> tensor<32x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<32x4xf32>) -> tensor<32x4xf32>
    return %0 : tensor<32x4xf32>
  }
  strategy.tree @s for @f {
    // expected-error@+1 {{'strategy.mesh' op names device 15, but the cluster 'dgx-a100' has 8 devices (0 to 7); use a smaller mesh or more nodes}}
    mesh [dp = 16]
    split op [batch -> dp]
  }
}

// -----

// So do devices that the mesh lists.
module attributes {proteus.cluster = "dgx-a100:2"} {
  func.func @f(%x: tensor<32x4xf32> {nn.role = "input"}) -> tensor<32x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<32x4xf32>) -> tensor<32x4xf32>
    return %0 : tensor<32x4xf32>
  }
  strategy.tree @s for @f {
    // expected-error@+1 {{'strategy.mesh' op names device 40, but the cluster 'dgx-a100:2' has 16 devices (0 to 15); use a smaller mesh or more nodes}}
    mesh [dp = 2] devices [3, 40]
  }
}

// -----

// There is a cluster.
// expected-error@+1 {{no cluster is given; set the module attribute proteus.cluster or the option cluster= to a preset}}
module {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// The preset is known.
// expected-error@+1 {{unknown cluster preset 'dgx-z900'; known presets: }}
module attributes {proteus.cluster = "dgx-z900:4"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// The number of nodes is a number.
// expected-error@+1 {{after 'dgx-a100:', got 'many'}}
module attributes {proteus.cluster = "dgx-a100:many"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// There is a tree.
// expected-error@+1 {{there is no strategy.tree in the module; write one that splits the model}}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// -----

// Of several trees one is selected.
// expected-error@+1 {{there are 2 strategy trees; select one with strategy=@name}}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  // expected-note@+1 {{there is @one}}
  strategy.tree @one for @f { mesh [dp = 2] }
  // expected-note@+1 {{there is @two}}
  strategy.tree @two for @f { mesh [dp = 4] }
}

// -----

// A model has a body,
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'func.func' op is the model of @s but has no body}}
  func.func private @f(tensor<8x4xf32>) -> tensor<8x4xf32>
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// which is a single block.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'func.func' op a model must be a single block}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    "test.branch"()[^next] : () -> ()
  ^next:
    return %x : tensor<8x4xf32>
  }
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// Arguments of a model are tensors,
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'func.func' op argument 1 must be a tensor of static shape, got 'index'}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}, %n: index) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// of static shape,
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'func.func' op argument 0 must be a tensor of static shape, got 'tensor<?x4xf32>'}}
  func.func @f(%x: tensor<?x4xf32> {nn.role = "input"}) {
    return
  }
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// and of a size that can be computed with.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(
      // expected-error@+1 {{'tensor<4294967296x4294967296xf32>' has more than 2^56 elements; sizes and times of such tensors can't be computed}}
      %x: tensor<4294967296x4294967296xf32> {nn.role = "input"}) {
    return
  }
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// That holds for what operations of other dialects compute.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) {
    // expected-error@+1 {{'tensor<536870912x268435456xf32>' has more than 2^56 elements; sizes and times of such tensors can't be computed}}
    %0 = tensor.empty() : tensor<536870912x268435456xf32>
    return
  }
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// A function is matched once.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'func.func' op was matched with a strategy before}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32>
      attributes {strategy.mesh = #dist.mesh<[dp = 2]>} {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f { mesh [dp = 2] }
}

// -----

// A pipeline lies along one axis: two nodes name different ones.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2, qq = 2]
    // expected-note@+1 {{the pipeline axis is set here}}
    node "a" { at [pp = 0] }
    // expected-error@+1 {{'strategy.at' op places work along the axis 'qq', but the pipeline lies along 'pp'; use one axis for all stages}}
    node "b" { at [qq = 1] }
  }
}

// -----

// A pipeline lies along one axis: `stages` and `at` agree.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a[0]"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "a[1]"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.relu "b"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2, qq = 2]
    // expected-note@+1 {{the pipeline axis is set here}}
    node "b" { at [qq = 1] }
    // expected-error@+1 {{'strategy.stages' op places work along the axis 'pp', but the pipeline lies along 'qq'; use one axis for all stages}}
    node "a[*]" { stages pp }
  }
}

// -----

// One place is one coordinate.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2, qq = 2]
    // expected-error@+2 {{'strategy.at' op places work along the axis 'qq', but the pipeline lies along 'pp'; use one axis for all stages}}
    // expected-note@+1 {{the pipeline axis is set here}}
    node "a" { at [pp = 0, qq = 1] }
  }
}

// -----

// There is a module for every stage.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %0 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %1 = nn.relu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 4]
    // expected-error@+1 {{'strategy.stages' op cuts 3 modules into 4 stages along 'pp'; use an axis of at most that size, or select more modules}}
    node "layers[*]" { stages pp }
  }
}

// -----

// A stage reads results of itself and of the stages before it.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-error@+1 {{'nn.relu' op runs in stage 0 but reads a result of stage 1; stages must follow the order of the model}}
    %1 = nn.relu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    node "a" { at [pp = 1] }
    node "b" { at [pp = 0] }
  }
}

// -----

// A state is in one stage.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<4x4xf32> {nn.role = "state", nn.path = "shared.weight"}) -> tensor<8x4xf32> {
    // expected-error@+1 {{'nn.linear' op reads the state 'shared.weight' in stage 0, but it is also read in stage 1; give every stage its own state}}
    %0 = nn.linear "a"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    // expected-note@+1 {{read here as well}}
    %1 = nn.linear "b"(%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    node "a" { at [pp = 0] }
    node "b" { at [pp = 1] }
  }
}

// -----

// Stages begin between iterations, not within one: `at`
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %0 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      // expected-error@+1 {{'nn.relu' op is placed in stage 1, but another operation of the same iteration of 'layers' in stage 0; stages may begin between iterations only (or write the layers out with --unroll-repeats)}}
      %1 = nn.relu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    node "layers[*].a" { at [pp = 0] }
    node "layers[*].b" { at [pp = 1] }
  }
}

// -----

// and `stages` alike.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %0 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      // expected-error@+1 {{'nn.relu' op is placed in stage 1, but another operation of the same iteration of 'layers' in stage 0; stages may begin between iterations only (or write the layers out with --unroll-repeats)}}
      %1 = nn.relu "b"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 4]
    node "layers[*].*" { stages pp }
  }
}

// -----

// A repeat in a repeat is not cut: neither its first iteration
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "outer" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      // expected-error@+1 {{'nn.repeat' op is inside another repeat, but the strategy treats its iterations differently; write it out}}
      %z = nn.repeat "inner" count 3 carry(%g = %h : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
        %0 = nn.relu "a"(%g) : (tensor<8x4xf32>) -> tensor<8x4xf32>
        nn.yield %0 : tensor<8x4xf32>
      }
      nn.yield %z : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    node "outer[*].inner[0]" { split op [batch -> dp] }
  }
}

// -----

// nor its last one is treated apart from the others.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %y = nn.repeat "outer" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      // expected-error@+1 {{'nn.repeat' op is inside another repeat, but the strategy treats its iterations differently; write it out}}
      %z = nn.repeat "inner" count 3 carry(%g = %h : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
        %0 = nn.relu "a"(%g) : (tensor<8x4xf32>) -> tensor<8x4xf32>
        nn.yield %0 : tensor<8x4xf32>
      }
      nn.yield %z : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    node "outer[*].inner[2]" { split op [batch -> dp] }
  }
}

// -----

// A repeat that stacks results is not cut.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> (tensor<8x4xf32>, tensor<2x8x4xf32>) {
    // expected-error@+1 {{'nn.repeat' op must be cut, because the strategy treats its iterations differently, but it stacks results; carry them instead}}
    %y:2 = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<2x8x4xf32>) {
      %0 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %0, %h : tensor<8x4xf32>, tensor<8x4xf32>
    }
    return %y#0, %y#1 : tensor<8x4xf32>, tensor<2x8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    node "layers[1]" { split op [batch -> dp] }
  }
}

// -----

// A repeat is cut if nothing else reads what it slices.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %ws: tensor<2x4x4xf32> {nn.role = "parameter"}) -> (tensor<8x4xf32>, tensor<2x4x4xf32>) {
    // expected-error@+1 {{'nn.repeat' op must be cut, because the strategy treats its iterations differently, but its sliced operands must be function arguments that nothing else reads}}
    %y = nn.repeat "layers" count 2
        carry(%h = %x : tensor<8x4xf32>)
        slice(%w = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    return %y, %ws : tensor<8x4xf32>, tensor<2x4x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    node "layers[*]" { stages pp }
  }
}

// -----

// A repeat is cut if it slices arguments, not values that are computed.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %ws: tensor<2x4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    %r = nn.relu "weights"(%ws) : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    // expected-error@+1 {{'nn.repeat' op must be cut, because the strategy treats its iterations differently, but its sliced operands must be function arguments that nothing else reads}}
    %y = nn.repeat "layers" count 2
        carry(%h = %x : tensor<8x4xf32>)
        slice(%w = %r : tensor<2x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    return %y : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    node "layers[*]" { stages pp }
  }
}

// -----

// A layout of results concerns one that has the dimension,
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.split' op no first result of the operations it selects has the dimension or iterator of #strategy.part<2 -> dp>}}
    split output [2 -> dp]
  }
}

// -----

// so does one of their gradients,
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.split' op no first result of the operations it selects has the dimension or iterator of #strategy.part<seq -> dp>}}
    split output_gradient [seq -> dp]
  }
}

// -----

// and one of operands, which have to exist.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.split' op no operand of that number of the operations it selects has the dimension or iterator of #strategy.part<0 -> dp>}}
    split input 1 [0 -> dp]
  }
}

// -----

// A layout of gradients concerns a parameter.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.split' op no parameter of the operations it selects has the dimension or iterator of #strategy.part<0 -> dp>}}
    split gradient [0 -> dp]
  }
}

// -----

// What is computed again is not kept for the backward pass.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a.one"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-error@+1 {{'nn.relu' op operand 0 is kept for the backward pass by a split of 'input 0', but it is computed again with 'a'; remove the split or recompute less}}
    %1 = nn.relu "a.two"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    node "a" {
      recompute
      node "two" { split input 0 [batch -> []] }
    }
  }
}

// -----

// Side effects happen once: what has them is not computed again.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func private @log(f32)
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %e = tensor.empty() : tensor<8x4xf32>
    // expected-error@+1 {{'linalg.generic' op has side effects, so it can't be recomputed: they would happen twice; select modules without it}}
    %0 = linalg.generic {indexing_maps = [affine_map<(b, h) -> (b, h)>, affine_map<(b, h) -> (b, h)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      func.call @log(%in) : (f32) -> ()
      linalg.yield %in : f32
    } -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-note@+1 {{it is recomputed because of this}}
    recompute
  }
}

// -----

// A storage setting concerns a parameter: it has the dimension,
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<6x4xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    %0 = nn.linear "a"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, tp = 2]
    // expected-error@+1 {{'strategy.split' op no parameter of the operations it selects has the dimension or iterator of #strategy.part<7 -> tp>}}
    split weight [0 -> dp, 7 -> tp]
  }
}

// -----

// the iterator is one of its own (the batch is not),
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<6x4xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    %0 = nn.linear "a"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.split' op no parameter of the operations it selects has the dimension or iterator of #strategy.part<batch -> dp>}}
    node "a" { split state [batch -> dp] }
  }
}

// -----

// and the operations that the node selects read one. All offenders are listed.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<6x4xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    %0 = nn.linear "a"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %1 = nn.relu "b"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    return %1 : tensor<8x6xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, tp = 2]
    node "b" {
      // expected-error@+1 {{'strategy.split' op no parameter of the operations it selects has the dimension or iterator of #strategy.part<0 -> dp>}}
      split weight [0 -> dp]
      // expected-error@+1 {{'strategy.split' op no parameter of the operations it selects has the dimension or iterator of #strategy.part<hidden -> tp>}}
      split state [hidden -> tp]
    }
  }
}

// -----

// A dimension is named once, by number or by iterator: in one setting,
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<8x6xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, tp = 2]
    // expected-error@+1 {{'strategy.split' op dimension 0 of 'fc.weight' is set twice, by number and by iterator}}
    split weight [out -> dp, 0 -> tp]
  }
}

// -----

// and in two that meet.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<8x6xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, tp = 2]
    split state [1 -> dp]
    // expected-error@+1 {{'strategy.split' op dimension 1 of 'fc.weight' is set twice, by number and by iterator}}
    node "fc" { split state [in -> tp] }
  }
}

// -----

// The number of micro-batches is one that a schedule can list.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.schedule' op micro_batches = 100001 is more than 100000, the most that can be scheduled}}
    schedule micro_batches = 100001
  }
}

// -----

// Chunks are cut along an axis.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    // expected-error@+1 {{'strategy.schedule' op virtual_stages = 2 without stages; cut layers with stages, or leave virtual_stages out}}
    schedule micro_batches = 2 virtual_stages = 2
  }
}

// -----

// Interleaving works on groups of as many micro-batches as there are stages.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{'strategy.schedule' op order "interleaved" does not fit: 3 micro-batches can't be cut into groups of 2, the number of stages; use a multiple of it, or order = "gpipe"}}
    schedule micro_batches = 3 virtual_stages = 2
    node "layers[*]" { stages pp }
  }
}

// -----

// Interleaving has a minimum in flight.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{'strategy.schedule' op order "interleaved" does not fit: max_ongoing = 4 is less than the 5 pairs of chunk and micro-batch that the first stage must have in flight; leave it out}}
    schedule micro_batches = 4 order = "interleaved" max_ongoing = 4 virtual_stages = 2
    node "layers[*]" { stages pp }
  }
}

// -----

// All forwards of GPipe are in flight.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{'strategy.schedule' op order "gpipe" does not fit: max_ongoing = 4 is less than the 8 forwards of a stage with 2 chunks; leave it out}}
    schedule micro_batches = 4 order = "gpipe" max_ongoing = 4 virtual_stages = 2
    node "layers[*]" { stages pp }
  }
}

// -----

// Zero bubble has one chunk.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{'strategy.schedule' op order "zero-bubble" does not fit: it has one chunk per stage, not 2; use order = "interleaved", or list the work with order = "explicit"}}
    schedule micro_batches = 4 order = "zero-bubble" virtual_stages = 2
    node "layers[*]" { stages pp }
  }
}

// -----

// More chunks than layers.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 4 virtual_stages = 3
    // expected-error@+1 {{'strategy.stages' op cuts 4 modules into 2 stages of 3 chunks along 'pp'; use an axis of at most that size, or select more modules}}
    node "layers[*]" { stages pp }
  }
}

// -----

// One number of layers per stage.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{'strategy.stages' op gives 3 numbers of modules for 2 stages along 'pp'; give 2}}
    node "layers[*]" { stages pp of [1, 2, 1] }
  }
}

// -----

// All layers are given away.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{'strategy.stages' op gives numbers of modules that add up to 3, but its node selects 4}}
    node "layers[*]" { stages pp of [1, 2] }
  }
}

// -----

// Behind the last chunk there is no other one.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    // expected-error@+1 {{'nn.relu' op is placed in stage 0 after work of stage 1 in the last of 2 chunks; place it in that stage or a later one, or use more virtual_stages}}
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 4 virtual_stages = 2
    node "layers[*]" { stages pp }
    node "last" { at [pp = 0] }
  }
}

// -----

// Every stage has an order.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    // expected-error@+1 {{'strategy.schedule' op is "explicit", but stage 1 has no order; add order stage 1 [...]}}
    schedule micro_batches = 1 order = "explicit"
    order stage 0 [F0]
    node "layers[*]" { stages pp }
  }
}

// -----

// An order is for a stage that exists.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.relu "last"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 2]
    schedule micro_batches = 1 order = "explicit"
    order stage 0 [F0]
    // expected-error@+1 {{'strategy.order' op lists the work of stage 2, but there are 2 stages}}
    order stage 2 [F0]
    node "layers[*]" { stages pp }
  }
}

// -----

// Stages may not begin between iterations of an inner repeat.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<4x4xf32> {nn.role = "input"}, %w: tensor<2x3x4x4xf32> {nn.role = "parameter", nn.path = "outer[*].inner[*].a.weight"}) -> tensor<4x4xf32> {
    %y = nn.repeat "outer" count 2 carry(%h = %x : tensor<4x4xf32>) slice(%wi = %w : tensor<2x3x4x4xf32> to tensor<3x4x4xf32>) -> (tensor<4x4xf32>) {
      // expected-error@+1 {{'nn.repeat' op is inside another repeat, but the strategy treats its iterations differently; write it out}}
      %z = nn.repeat "inner" count 3 carry(%h2 = %h : tensor<4x4xf32>) slice(%wij = %wi : tensor<3x4x4xf32> to tensor<4x4xf32>) -> (tensor<4x4xf32>) {
        %u = nn.linear "a"(%h2, %wij) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        nn.yield %u : tensor<4x4xf32>
      }
      nn.yield %z : tensor<4x4xf32>
    }
    return %y : tensor<4x4xf32>
  }
  strategy.tree @s for @f {
    mesh [pp = 4]
    node "outer[*].inner[*]" { stages pp }
  }
}

// -----

// An inner iteration is not told apart in a later iteration of the outer repeat
// either.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<4x4xf32> {nn.role = "input"}) -> tensor<4x4xf32> {
    %y = nn.repeat "outer" count 2 carry(%h = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      // expected-error@+1 {{'nn.repeat' op is inside another repeat, but the strategy treats its iterations differently; write it out}}
      %z = nn.repeat "inner" count 3 carry(%h2 = %h : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
        %u = nn.relu "a"(%h2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
        nn.yield %u : tensor<4x4xf32>
      }
      nn.yield %z : tensor<4x4xf32>
    }
    return %y : tensor<4x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    node "outer[1].inner[0]" { split op [batch -> dp] }
  }
}

// -----

// Readers of one parameter agree on its storage.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}, %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "w"}) -> tensor<8x4xf32> {
    %0 = nn.linear "a"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    // expected-error@+1 {{'nn.linear' op stores 'w' as [[], ["tp"]], but another reader stores it as [["dp"], []]; set one storage for all its readers}}
    %1 = nn.linear "b"(%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, tp = 2]
    node "a" { split weight [0 -> dp] }
    node "b" { split weight [1 -> tp] }
  }
}

// -----

// A pipeline lies along one part of an axis.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
               %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "a.weight"})
      -> tensor<8x8xf32> {
    %0 = nn.linear "a"(%x, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  strategy.tree @s for @f {
    mesh [d = 8]
    // expected-note@+1 {{a part is used here}}
    split op [batch -> d:(2)4]
    node "a" {
      // expected-error@+1 {{places work along 'd', of which other settings use parts; a pipeline lies along one axis: give it a sub-axis of its own}}
      at [d = 0]
    }
  }
}

// -----

// A parameter has one place.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @two_places(
      %a: tensor<8xi32> {nn.role = "input", nn.path = "a"},
      %b: tensor<8xi32> {nn.role = "input", nn.path = "b"},
      %table: tensor<10x6xf32> {nn.role = "parameter", nn.path = "table.weight"}) -> tensor<8x6xf32> {
    // expected-note@+1 {{first read here}}
    %0 = nn.embedding "first"(%a, %table) : (tensor<8xi32>, tensor<10x6xf32>) -> tensor<8x6xf32>
    // expected-error@+1 {{reads 'table.weight' at other coordinates than its first reader; give every coordinate its own copy}}
    %1 = nn.embedding "second"(%b, %table) : (tensor<8xi32>, tensor<10x6xf32>) -> tensor<8x6xf32>
    %2 = nn.add "sum"(%0, %1) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    return %2 : tensor<8x6xf32>
  }
  strategy.tree @s for @two_places {
    mesh [dp = 2]
    split op [batch -> dp]
    node "first" { at [dp = 0] }
    node "second" { at [dp = 1] }
  }
}

// -----

// Nothing is gathered where parameters lie as they are used.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @gathers_nothing(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "b"(%1, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @gathers_nothing {
    mesh [dp = 2]
    split op [batch -> dp]
    node "a" { split weight [0 -> dp] }
    node "b" {
      // expected-error@+1 {{'strategy.prefetch' op has no effect: all parameters of the selected operations are stored where they are used, so none is gathered; add split weight or offload weight, or leave it out}}
      prefetch depth = 2
    }
  }
}

// -----

// Every operation has a nearer prefetch.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @always_replaced(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "b"(%1, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @always_replaced {
    mesh [dp = 2]
    split op [batch -> dp]
    split weight [0 -> dp]
    // expected-error@+1 {{'strategy.prefetch' op has no effect: every operation that it selects has a nearer setting of this kind; leave it out}}
    prefetch depth = 2
    node "*" { prefetch depth = 1 }
  }
}

// -----

// An activation function has no parameters.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @no_parameters(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "b"(%1, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @no_parameters {
    mesh [dp = 2]
    split op [batch -> dp]
    node "act" {
      // expected-error@+1 {{'strategy.offload' op has no effect: the selected operations read no parameters; leave out weight and state}}
      offload weight activation
    }
  }
}

// -----

// Plain SGD keeps nothing from step to step.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @no_state(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "b"(%1, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @no_state {
    mesh [dp = 2]
    split op [batch -> dp]
    // expected-error@+1 {{'strategy.offload' op has no effect: the optimizer sgd has no state without master copies; leave out state}}
    offload weight state
  }
}

// -----

// Without training there is no optimizer.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @state_untrained(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "b"(%1, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @state_untrained {
    mesh [dp = 2]
    split op [batch -> dp]
    // expected-error@+1 {{'strategy.offload' op has no effect: the model is not trained, so there is no optimizer state; leave out state}}
    offload state
  }
}

// -----

// Without training nobody reads activations later.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @activation_untrained(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %a: tensor<4x4xf32> {nn.role = "parameter", nn.path = "a.weight"},
      %b: tensor<4x4xf32> {nn.role = "parameter", nn.path = "b.weight"})
      -> tensor<f32> {
    %0 = nn.linear "a"(%x, %a) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = nn.gelu "act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = nn.linear "b"(%1, %b) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @activation_untrained {
    mesh [dp = 2]
    split op [batch -> dp]
    // expected-error@+1 {{'strategy.offload' op has no effect: the model is not trained, so no backward pass reads activations; leave out activation}}
    offload activation
  }
}

//--- tree-option.mlir

// The tree that the option names exists.
// expected-error@+1 {{there is no strategy tree @missing}}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func private @f()
  // expected-note@+1 {{there is @one}}
  strategy.tree @one for @f { mesh [dp = 2] }
  // expected-note@+1 {{there is @two}}
  strategy.tree @two for @f { mesh [dp = 4] }
}

//--- cluster-option.mlir

// The file that the option names exists; it replaces the preset of the module.
// expected-error-re@+1 {{can't read the cluster file '{{.*}}missing.json': No such file or directory}}
module attributes {proteus.cluster = "dgx-a100"} {
  func.func private @f()
  strategy.tree @s for @f { mesh [dp = 2] }
}
