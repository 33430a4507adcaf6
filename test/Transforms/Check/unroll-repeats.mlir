// RUN: split-file %s %t
// RUN: proteus-opt %t/unroll.mlir --unroll-repeats | FileCheck %t/unroll.mlir
// RUN: proteus-opt %t/simulate.mlir --lower-strategy --simulate > %t/both.txt
// RUN: proteus-opt %t/simulate.mlir --unroll-repeats --lower-strategy \
// RUN:     --simulate >> %t/both.txt
// RUN: FileCheck %t/simulate.mlir --input-file=%t/both.txt
// RUN: proteus-opt %t/from-input.mlir --lower-strategy --simulate > %t/input.txt
// RUN: proteus-opt %t/from-input.mlir --unroll-repeats --lower-strategy \
// RUN:     --simulate >> %t/input.txt
// RUN: FileCheck %t/from-input.mlir --input-file=%t/input.txt

//--- unroll.mlir

// Iterations are written out one after the other, with the indices in the paths
// of operations and arguments. Arguments keep their role and their place.

// CHECK-LABEL: func.func @unroll(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x4xf32> {nn.path = "x", nn.role = "input"},
// CHECK-SAME:    %[[W0:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "layers[0].fc.weight", nn.role = "parameter"},
// CHECK-SAME:    %[[W1:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "layers[1].fc.weight", nn.role = "parameter"},
// CHECK-SAME:    %[[B0:[a-z0-9]+]]: tensor<4xf32> {nn.path = "layers[0].fc.bias", nn.role = "parameter"},
// CHECK-SAME:    %[[B1:[a-z0-9]+]]: tensor<4xf32> {nn.path = "layers[1].fc.bias", nn.role = "parameter"},
// CHECK-SAME:    %[[V:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "head.weight", nn.role = "parameter"})
// CHECK-NEXT:    %[[L0:.*]] = nn.linear "layers[0].fc"(%[[X]], %[[W0]], %[[B0]])
// CHECK-NEXT:    %[[A0:.*]] = nn.relu "layers[0].act"(%[[L0]])
// CHECK-NEXT:    %[[L1:.*]] = nn.linear "layers[1].fc"(%[[A0]], %[[W1]], %[[B1]])
// CHECK-NEXT:    %[[A1:.*]] = nn.relu "layers[1].act"(%[[L1]])
// CHECK-NEXT:    %[[Y:.*]] = nn.linear "head"(%[[A1]], %[[V]])
// CHECK-NEXT:    return %[[Y]]
func.func @unroll(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
    %ws: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
    %bs: tensor<2x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.bias"},
    %v: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"}) -> tensor<8x4xf32> {
  %y = nn.repeat "layers" count 2
      carry(%h = %x : tensor<8x4xf32>)
      slice(%w = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>, %b = %bs : tensor<2x4xf32> to tensor<4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w, %b) : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %1 = nn.relu "act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %1 : tensor<8x4xf32>
  }
  %z = nn.linear "head"(%y, %v) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}

// Layers count from `first`.

// CHECK-LABEL: func.func @first(
// CHECK-SAME:    nn.path = "layers[5].fc.weight"
// CHECK-SAME:    nn.path = "layers[6].fc.weight"
// CHECK:         nn.linear "layers[5].fc"
// CHECK:         nn.linear "layers[6].fc"
func.func @first(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
    %ws: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"}) -> tensor<8x4xf32> {
  %y = nn.repeat "layers" first 5 count 2
      carry(%h = %x : tensor<8x4xf32>)
      slice(%w = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// In reverse the last iteration runs first, on the last slice.

// CHECK-LABEL: func.func @reverse(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-SAME:    %[[W0:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "layers[0].fc.weight"
// CHECK-SAME:    %[[W1:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "layers[1].fc.weight"
// CHECK-NEXT:    %[[Y1:.*]] = nn.linear "layers[1].fc"(%[[X]], %[[W1]])
// CHECK-NEXT:    %[[Y0:.*]] = nn.linear "layers[0].fc"(%[[Y1]], %[[W0]])
// CHECK-NEXT:    return %[[Y0]]
func.func @reverse(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
    %ws: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"}) -> tensor<8x4xf32> {
  %y = nn.repeat "layers" count 2 reverse
      carry(%h = %x : tensor<8x4xf32>)
      slice(%w = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Carried values may change places from one iteration to the next.

// CHECK-LABEL: func.func @carried_values_change_places(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-NEXT:    %[[A0:.*]] = nn.relu "layers[0].act"(%[[X]])
// CHECK-NEXT:    %[[A1:.*]] = nn.relu "layers[1].act"(%[[Y]])
// CHECK-NEXT:    %[[A2:.*]] = nn.relu "layers[2].act"(%[[A0]])
// CHECK-NEXT:    return %[[A1]], %[[A2]]
func.func @carried_values_change_places(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
    %y: tensor<8x4xf32> {nn.role = "input", nn.path = "y"}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %z:2 = nn.repeat "layers" count 3
      carry(%a = %x : tensor<8x4xf32>, %b = %y : tensor<8x4xf32>)
      -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    %0 = nn.relu "act"(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %b, %0 : tensor<8x4xf32>, tensor<8x4xf32>
  }
  return %z#0, %z#1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// What the body reads from outside stays one value.

// CHECK-LABEL: func.func @captured(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<8x4xf32>
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "w", nn.role = "parameter"})
// CHECK:         nn.linear "layers[0].fc"(%{{.*}}, %[[W]])
// CHECK:         nn.linear "layers[1].fc"(%{{.*}}, %[[W]])
func.func @captured(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
    %w: tensor<4x4xf32> {nn.role = "parameter", nn.path = "w"}) -> tensor<8x4xf32> {
  %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Two repeats that slice the same argument share its slices.

// CHECK-LABEL: func.func @shared_slices(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-SAME:    %[[W0:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "layers[0].fc.weight"
// CHECK-SAME:    %[[W1:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "layers[1].fc.weight", nn.role = "parameter"})
// CHECK:         nn.linear "layers[0].fc"(%[[X]], %[[W0]])
// CHECK:         nn.linear "layers[1].fc"(%{{.*}}, %[[W1]])
// CHECK:         nn.linear "again[0].fc"(%{{.*}}, %[[W0]])
// CHECK:         nn.linear "again[1].fc"(%{{.*}}, %[[W1]])
func.func @shared_slices(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
    %ws: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"}) -> tensor<8x4xf32> {
  %y = nn.repeat "layers" count 2
      carry(%h = %x : tensor<8x4xf32>)
      slice(%w = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  %z = nn.repeat "again" count 2
      carry(%h = %y : tensor<8x4xf32>)
      slice(%w = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %z : tensor<8x4xf32>
}

// Repeats in repeats: the outer index comes first, in paths and in the order of
// the arguments.

// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x4xf32>
// CHECK-SAME:    %[[W00:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "outer[0].inner[0].fc.weight"
// CHECK-SAME:    %[[W01:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "outer[0].inner[1].fc.weight"
// CHECK-SAME:    %[[W10:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "outer[1].inner[0].fc.weight"
// CHECK-SAME:    %[[W11:[a-z0-9]+]]: tensor<4x4xf32> {nn.path = "outer[1].inner[1].fc.weight"
// CHECK-NEXT:    %[[Y00:.*]] = nn.linear "outer[0].inner[0].fc"(%[[X]], %[[W00]])
// CHECK-NEXT:    %[[Y01:.*]] = nn.linear "outer[0].inner[1].fc"(%[[Y00]], %[[W01]])
// CHECK-NEXT:    %[[Y10:.*]] = nn.linear "outer[1].inner[0].fc"(%[[Y01]], %[[W10]])
// CHECK-NEXT:    %[[Y11:.*]] = nn.linear "outer[1].inner[1].fc"(%[[Y10]], %[[W11]])
// CHECK-NEXT:    return %[[Y11]]
func.func @nested(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
    %ws: tensor<2x2x4x4xf32> {nn.role = "parameter", nn.path = "outer[*].inner[*].fc.weight"}) -> tensor<8x4xf32> {
  %y = nn.repeat "outer" count 2
      carry(%h = %x : tensor<8x4xf32>)
      slice(%wi = %ws : tensor<2x2x4x4xf32> to tensor<2x4x4xf32>)
      -> (tensor<8x4xf32>) {
    %z = nn.repeat "inner" count 2
        carry(%g = %h : tensor<8x4xf32>)
        slice(%w = %wi : tensor<2x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<8x4xf32>) {
      %0 = nn.linear "fc"(%g, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %0 : tensor<8x4xf32>
    }
    nn.yield %z : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// What a repeat stacks and nothing reads is dropped.

// CHECK-LABEL: func.func @unread_stack(
// CHECK-NEXT:    nn.relu "layers[0].act"
// CHECK-NEXT:    %[[Y:.*]] = nn.relu "layers[1].act"
// CHECK-NEXT:    return %[[Y]]
func.func @unread_stack(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<8x4xf32> {
  %y, %s = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<2x8x4xf32>) {
    %0 = nn.relu "act"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %0, %h : tensor<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// A stacked argument whose path has no star gets the index at its end.

// CHECK-LABEL: func.func @path_without_star(
// CHECK-SAME:    nn.path = "weights[0]"
// CHECK-SAME:    nn.path = "weights[1]"
func.func @path_without_star(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
    %ws: tensor<2x4x4xf32> {nn.role = "parameter", nn.path = "weights"}) -> tensor<8x4xf32> {
  %y = nn.repeat "layers" count 2
      carry(%h = %x : tensor<8x4xf32>)
      slice(%w = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// One without a path is named by its number.

// CHECK-LABEL: func.func @no_path(
// CHECK-SAME:    tensor<4x4xf32> {nn.path = "arg1[0]", nn.role = "parameter"}
// CHECK-SAME:    tensor<4x4xf32> {nn.path = "arg1[1]", nn.role = "parameter"}
func.func @no_path(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"},
    %ws: tensor<2x4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
  %y = nn.repeat "layers" count 2
      carry(%h = %x : tensor<8x4xf32>)
      slice(%w = %ws : tensor<2x4x4xf32> to tensor<4x4xf32>)
      -> (tensor<8x4xf32>) {
    %0 = nn.linear "fc"(%h, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Operations of other dialects keep their place in the module tree in an
// attribute.

// CHECK-LABEL: func.func @other_dialects(
// CHECK-NEXT:    math.exp %{{.*}} {proteus.path = "layers[0].exp"}
// CHECK-NEXT:    math.exp %{{.*}} {proteus.path = "layers[1].exp"}
func.func @other_dialects(
    %x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<8x4xf32> {
  %y = nn.repeat "layers" count 2 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
    %0 = math.exp %h {proteus.path = "exp"} : tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// A function without repeats stays as it is.

// CHECK-LABEL: func.func @flat(%{{.*}}: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
// CHECK-NEXT:    nn.relu "act"
// CHECK-NEXT:    return
func.func @flat(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- simulate.mlir

// The flat form simulates exactly like the repeated one: with stages, tensor
// parallelism, micro-batches and recomputation.

// CHECK:      module attributes {
// CHECK-SAME:   proteus.iteration_time_ms = [[TIME:[^,]+]], proteus.peak_memory_mb = [[MEMORY:[^,]+]],
// CHECK:        nn.repeat
// CHECK:      module attributes {
// CHECK-SAME:   proteus.iteration_time_ms = [[TIME]], proteus.peak_memory_mb = [[MEMORY]],
// CHECK-NOT:    nn.repeat
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @model(
      %ids: tensor<64x16xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<64x16xi32> {nn.role = "input", nn.path = "labels"},
      %table: tensor<1024x256xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %w1s: tensor<5x1024x256xf32> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2s: tensor<5x256x1024xf32> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"},
      %head: tensor<1024x256xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %x = nn.embedding "embedding"(%ids, %table) : (tensor<64x16xi32>, tensor<1024x256xf32>) -> tensor<64x16x256xf32>
    %y = nn.repeat "layers" count 5
        carry(%h = %x : tensor<64x16x256xf32>)
        slice(%w1 = %w1s : tensor<5x1024x256xf32> to tensor<1024x256xf32>, %w2 = %w2s : tensor<5x256x1024xf32> to tensor<256x1024xf32>)
        -> (tensor<64x16x256xf32>) {
      %0 = nn.linear "fc1"(%h, %w1) : (tensor<64x16x256xf32>, tensor<1024x256xf32>) -> tensor<64x16x1024xf32>
      %1 = nn.relu "act"(%0) : (tensor<64x16x1024xf32>) -> tensor<64x16x1024xf32>
      %2 = nn.linear "fc2"(%1, %w2) : (tensor<64x16x1024xf32>, tensor<256x1024xf32>) -> tensor<64x16x256xf32>
      %3 = nn.add "residual"(%h, %2) : (tensor<64x16x256xf32>, tensor<64x16x256xf32>) -> tensor<64x16x256xf32>
      nn.yield %3 : tensor<64x16x256xf32>
    }
    %logits = nn.linear "head"(%y, %head) : (tensor<64x16x256xf32>, tensor<1024x256xf32>) -> tensor<64x16x1024xf32>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<64x16x1024xf32>, tensor<64x16xi32>) -> (tensor<f32>, tensor<64x16xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @model {
    mesh [dp = 2, pp = 2, tp = 2]
    schedule micro_batches = 4
    split op [batch -> dp]
    node "layers[*]" {
      stages pp
      node "fc1" { split op [out -> tp] }
    }
    node "layers[0:2]" { recompute }
  }
}

//--- from-input.mlir

// So it does where the layers start from an input: the first of them computes no
// gradient of its operand, in either form.

// CHECK:      module attributes {
// CHECK-SAME:   proteus.iteration_time_ms = [[TIME:[^,]+]], proteus.peak_memory_mb = [[MEMORY:[^,]+]],
// CHECK:        nn.repeat
// CHECK:      module attributes {
// CHECK-SAME:   proteus.iteration_time_ms = [[TIME]], proteus.peak_memory_mb = [[MEMORY]],
// CHECK-NOT:    nn.repeat
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @model(
      %x: tensor<512x1024xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<512xi32> {nn.role = "input", nn.path = "labels"},
      %ws: tensor<4x1024x1024xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<512x1024xf32>)
        slice(%w = %ws : tensor<4x1024x1024xf32> to tensor<1024x1024xf32>)
        -> (tensor<512x1024xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<512x1024xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
      %1 = nn.relu "act"(%0) : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
      nn.yield %1 : tensor<512x1024xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<512x1024xf32>, tensor<512xi32>) -> (tensor<f32>, tensor<512xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @model {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}
