// RUN: proteus-opt %s -split-input-file -verify-diagnostics \
// RUN:     %{before-propagate-strategy} --propagate-strategy=explain

//===----------------------------------------------------------------------===//
// Where axes come from
//===----------------------------------------------------------------------===//

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @sources(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w1: tensor<6x4xf32> {nn.role = "parameter"},
      %w2: tensor<4x6xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    // expected-remark@+1 {{batch over {dp} from the tree}}
    %a = nn.gelu "before"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-remark@+1 {{batch over {dp} from the tree; out over {tp} from the tree}}
    %0 = nn.linear "fc1"(%a, %w1) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    // expected-remark@+1 {{batch over {dp} from the tree; hidden over {tp} like operand 0}}
    %1 = nn.relu "act"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    // expected-remark@+1 {{batch over {dp} from the tree; in over {tp} like operand 0}}
    %2 = nn.linear "fc2"(%1, %w2) : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>
    // expected-remark@+1 {{batch over {dp} from the tree}}
    %3 = nn.relu "last"(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  strategy.tree @s for @sources {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "fc1" { split op [out -> tp] }
  }
}

// -----

// A producer takes the axes that its reader needs; an operation that no axis reaches
// is whole.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @readers(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<6x4xf32> {nn.role = "parameter"}) -> (tensor<8x6xf32>, tensor<8x4xf32>) {
    // expected-remark@+1 {{hidden over {tp} for its reader 'fc'}}
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-remark@+1 {{in over {tp} from the tree}}
    %1 = nn.linear "fc"(%0, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    // expected-remark@+1 {{whole on every device}}
    %2 = nn.gelu "alone"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1, %2 : tensor<8x6xf32>, tensor<8x4xf32>
  }
  strategy.tree @s for @readers {
    mesh [tp = 2]
    node "fc" { split op [in -> tp] }
    node "alone" { split op [batch -> [], hidden -> []] }
  }
}

// -----

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

// Two operands of an addition disagree: the first wins.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @operands_disagree(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    // expected-remark@+1 {{batch over {a} from the tree}}
    %0 = nn.gelu "left"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-remark@+1 {{batch over {b} from the tree}}
    %1 = nn.relu "right"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-remark@+2 {{batch over {a} like operand 0}}
    // expected-remark@+1 {{operand 1 is split over {b} along 'batch', but operand 0 comes first with {a}: operand 1 is converted; set the iterator in the tree to decide otherwise}}
    %2 = nn.add "sum"(%0, %1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @operands_disagree {
    mesh [a = 2, b = 2]
    node "left" { split op [batch -> a] }
    node "right" { split op [batch -> b] }
  }
}

// -----

// Where the tree decides there is no conflict.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @tree_decides(
      %x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    // expected-remark@+1 {{batch over {a} from the tree}}
    %0 = nn.gelu "left"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-remark@+1 {{batch over {b} from the tree}}
    %1 = nn.relu "right"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-remark@+1 {{batch over {b} from the tree}}
    %2 = nn.add "sum"(%0, %1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
  strategy.tree @s for @tree_decides {
    mesh [a = 2, b = 2]
    node "left" { split op [batch -> a] }
    node "right" { split op [batch -> b] }
    node "sum" { split op [batch -> b] }
  }
}

// -----

//===----------------------------------------------------------------------===//
// Through repeats
//===----------------------------------------------------------------------===//

// The axes of a value that enters a repeat spread inside it, and after it.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @through_repeats(
      %x: tensor<8x4xf32> {nn.role = "input"},
      %w: tensor<3x4x4xf32> {nn.role = "parameter", nn.path = "layers[*].w"}) -> tensor<8x4xf32> {
    // expected-remark@+1 {{batch over {dp} from the tree}}
    %0 = nn.gelu "in"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.repeat "layers" count 3 carry(%h = %0 : tensor<8x4xf32>)
        slice(%wi = %w : tensor<3x4x4xf32> to tensor<4x4xf32>) -> (tensor<8x4xf32>) {
      // expected-remark@+1 {{batch over {dp} like operand 0}}
      %2 = nn.linear "fc"(%h, %wi) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
      nn.yield %2 : tensor<8x4xf32>
    }
    // expected-remark@+1 {{batch over {dp} like operand 0}}
    %3 = nn.relu "out"(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32>
  }
  strategy.tree @s for @through_repeats {
    mesh [dp = 2]
    node "in" { split op [batch -> dp] }
  }
}
