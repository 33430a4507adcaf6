// RUN: split-file %s %t
// RUN: proteus-opt %t/layers.mlir %{to-fuse-gradients} \
// RUN:   | FileCheck %t/layers.mlir --check-prefixes=LAYERS,DEFAULT
// RUN: proteus-opt %t/layers.mlir %{before-fuse-gradients} --fuse-gradients="first-bucket-size=4096 bucket-size=2048" \
// RUN:   | FileCheck %t/layers.mlir --check-prefixes=LAYERS,SIZES
// RUN: proteus-opt %t/layers.mlir %{before-fuse-gradients} --fuse-gradients="first-bucket-size=1 bucket-size=1" \
// RUN:   | FileCheck %t/layers.mlir --check-prefixes=LAYERS,SINGLE
// RUN: proteus-opt %t/layers.mlir %{before-fuse-gradients} --fuse-gradients="first-bucket-size=1 bucket-size=3000" \
// RUN:   | FileCheck %t/layers.mlir --check-prefixes=LAYERS,REACHED
// RUN: proteus-opt %t/input.mlir %{before-fuse-gradients} --fuse-gradients="first-bucket-size=1 bucket-size=2048" \
// RUN:   | FileCheck %t/input.mlir
// RUN: proteus-opt %t/tree.mlir -split-input-file %{to-fuse-gradients} \
// RUN:   | FileCheck %t/tree.mlir
// RUN: proteus-opt %t/tree.mlir -split-input-file %{before-fuse-gradients} --fuse-gradients="first-bucket-size=1 bucket-size=1" \
// RUN:   | FileCheck %t/tree.mlir --check-prefix=OPTION
// RUN: proteus-opt %t/tree.mlir -split-input-file --mlir-disable-threading %{before-fuse-gradients} --fuse-gradients="first-bucket-size=1 bucket-size=1" \
// RUN:   | FileCheck %t/tree.mlir --check-prefix=OPTION
// Zero leaves the choice to the tree, and each option stands on its own.
// RUN: proteus-opt %t/tree.mlir -split-input-file %{before-fuse-gradients} --fuse-gradients="first-bucket-size=0 bucket-size=0" \
// RUN:   | FileCheck %t/tree.mlir
// RUN: proteus-opt %t/tree.mlir -split-input-file %{before-fuse-gradients} --fuse-gradients="bucket-size=1" \
// RUN:   | FileCheck %t/tree.mlir --check-prefix=SIZE
// RUN: proteus-opt %t/tree.mlir -split-input-file %{before-fuse-gradients} --fuse-gradients="first-bucket-size=4096" \
// RUN:   | FileCheck %t/tree.mlir --check-prefix=FIRST
// RUN: proteus-opt %t/type.mlir -split-input-file %{to-fuse-gradients} \
// RUN:   | FileCheck %t/type.mlir

//--- layers.mlir

// A first linear and four layers, written once, of 16 x 16 floats (1024 bytes)
// each, and a head of 64 x 16 (4096 bytes). The backward pass computes the head
// first, then the layers from the last to the first: a bucket holds ranges of
// the layers.

// LAYERS-LABEL: dist.program @m
// LAYERS:         %[[B:.+]]:3 = dist.section backward {
// LAYERS:           %[[HEAD:.+]] = nn.linear_wgrad "head"
// LAYERS:           %[[STACK:.+]]:2 = nn.repeat "layers" count 4 reverse
// LAYERS:           %[[IN:.+]] = nn.linear_wgrad "in"
// LAYERS:           dist.yield %[[HEAD]], %[[STACK]]#1, %[[IN]]
// LAYERS:         dist.section update once {
// LAYERS-NEXT:      %[[R:.+]]:3 = dist.fused_reduce all_reduce sum %[[B]]#0, %[[B]]#1, %[[B]]#2 over {dp} stacked [false, true, false]
// All of it is less than the 1 MiB at which the first bucket closes.
// DEFAULT-SAME:     buckets {{\[\[}}0[0:1], 1[0:4], 2[0:1]]] for gradient
// The head fills the first bucket, pairs of layers the others; the first linear
// is left.
// SIZES-SAME:       buckets {{\[\[}}0[0:1]], [1[2:4]], [1[0:2]], [2[0:1]]] for gradient
// SINGLE-SAME:      buckets {{\[\[}}0[0:1]], [1[3:4]], [1[2:3]], [1[1:2]], [1[0:1]], [2[0:1]]] for gradient
// A bucket closes when it has reached its size, so three layers make 3000 bytes.
// REACHED-SAME:     buckets {{\[\[}}0[0:1]], [1[1:4]], [1[0:1], 2[0:1]]] for gradient
// The updates read the reduced gradients.
// LAYERS-NOT:       dist.all_reduce
// LAYERS:           nn.sgd "in.weight"(%{{.+}}, %[[R]]#2)
// LAYERS:           nn.repeat "layers" count 4 slice({{.*}} = %[[R]]#1
// LAYERS:           nn.sgd "head.weight"(%{{.+}}, %[[R]]#0)
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @m(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %wi: tensor<16x16xf32> {nn.role = "parameter", nn.path = "in.weight"},
      %ws: tensor<4x16x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
      %wh: tensor<64x16xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %i = nn.linear "in"(%x, %wi) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %y = nn.repeat "layers" count 4
        carry(%h = %i : tensor<32x16xf32>)
        slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>)
        -> (tensor<32x16xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
      %1 = nn.relu "act"(%0) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      nn.yield %1 : tensor<32x16xf32>
    }
    %2 = nn.linear "head"(%y, %wh) : (tensor<32x16xf32>, tensor<64x16xf32>) -> tensor<32x64xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<32x64xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @m {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

//--- input.mlir

// Layers that read an input of the model: the first needs no gradient of its
// operand and stands alone, so there are two stacks. Three layers are ready from
// the last to the second, then the first.

// CHECK-LABEL: dist.program @m
// CHECK:         %[[B:.+]]:2 = dist.section backward {
// CHECK:           %[[REST:.+]]:2 = nn.repeat "layers" first 1 count 3 reverse
// CHECK:           %[[FIRST:.+]] = nn.repeat "layers" count 1 reverse
// CHECK:           dist.yield %[[REST]]#1, %[[FIRST]]
// CHECK:         dist.section update once {
// CHECK-NEXT:      dist.fused_reduce all_reduce sum %[[B]]#0, %[[B]]#1 over {dp} stacked [true, true] buckets {{\[\[}}0[2:3]], [0[0:2]], [1[0:1]]] for gradient
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @m(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %ws: tensor<4x16x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<32x16xf32>)
        slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>)
        -> (tensor<32x16xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
      nn.yield %0 : tensor<32x16xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @m {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

//--- tree.mlir

// Two linears of 1024 bytes each; the backward pass computes the second first.
// The tree gives the sizes; options replace them.

// CHECK-LABEL:  dist.program @both_sizes
// CHECK:        dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1]]] for gradient
// OPTION-LABEL: dist.program @both_sizes
// OPTION:       dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1]]] for gradient
// SIZE-LABEL:   dist.program @both_sizes
// SIZE:         dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1]]] for gradient
// FIRST-LABEL:  dist.program @both_sizes
// FIRST:        dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1], 1[0:1]]] for gradient
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @both_sizes(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %1 = nn.linear "fc2"(%0, %w2) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @both_sizes {
    mesh [dp = 2]
    bucket size = 4096 first = 1024
    split op [batch -> dp]
  }
}

// -----

// Without `first`, the first bucket is like the others.

// CHECK-LABEL:  dist.program @size_only
// CHECK:        dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1], 1[0:1]]] for gradient
// OPTION-LABEL: dist.program @size_only
// OPTION:       dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1]]] for gradient
// The first bucket keeps the size that the tree gives to all.
// SIZE-LABEL:   dist.program @size_only
// SIZE:         dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1], 1[0:1]]] for gradient
// FIRST-LABEL:  dist.program @size_only
// FIRST:        dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1], 1[0:1]]] for gradient
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @size_only(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %1 = nn.linear "fc2"(%0, %w2) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%1, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @size_only {
    mesh [dp = 2]
    bucket size = 2048
    split op [batch -> dp]
  }
}

// -----

// Without `size`, all that follows the first bucket is one bucket.

// CHECK-LABEL:  dist.program @first_only
// CHECK:        dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1], 2[0:1]]] for gradient
// OPTION-LABEL: dist.program @first_only
// OPTION:       dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1]], [2[0:1]]] for gradient
// SIZE-LABEL:   dist.program @first_only
// SIZE:         dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1]], [2[0:1]]] for gradient
// FIRST-LABEL:  dist.program @first_only
// FIRST:        dist.fused_reduce {{.*}} buckets {{\[\[}}0[0:1], 1[0:1], 2[0:1]]] for gradient
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @first_only(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %w3: tensor<16x16xf32> {nn.role = "parameter", nn.path = "fc3.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %1 = nn.linear "fc2"(%0, %w2) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %2 = nn.linear "fc3"(%1, %w3) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<32x16xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @first_only {
    mesh [dp = 2]
    bucket first = 1024
    split op [batch -> dp]
  }
}

//--- type.mlir

// Gradients accumulate in one type and may travel in another.

// CHECK-LABEL: dist.program @travels_in_bf16
// CHECK:       dist.fused_reduce all_reduce sum %{{.+}} over {dp} stacked [false] buckets {{\[\[}}0[0:1]]] as bf16 for gradient : (tensor<16x16xf32,
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @travels_in_bf16(
      %x: tensor<32x16xbf16> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<16x16xbf16> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32, reduction = bf16>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<32x16xbf16>, tensor<16x16xbf16>) -> tensor<32x16xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<32x16xbf16>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @travels_in_bf16 {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

// -----

// The type in which they are is not worth a word.

// CHECK-LABEL: dist.program @travels_as_it_is
// CHECK:       dist.fused_reduce all_reduce sum %{{.+}} over {dp} stacked [false] buckets {{\[\[}}0[0:1]]] for gradient : (tensor<16x16xf32,
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @travels_as_it_is(
      %x: tensor<32x16xbf16> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<16x16xbf16> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32, reduction = f32>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<32x16xbf16>, tensor<16x16xbf16>) -> tensor<32x16xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<32x16xbf16>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @travels_as_it_is {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}
