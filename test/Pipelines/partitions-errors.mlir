// RUN: proteus-opt %s -split-input-file -verify-diagnostics %{to-propagate-strategy}
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s %{to-propagate-strategy}

// An axis splits one iterator of an operation: the tree and a node use the same.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<6x4xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    // expected-error@+1 {{'nn.linear' op axis 'dp' splits both 'batch' and 'out'; an axis may split one iterator of an operation}}
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    split op [batch -> dp]
    node "fc" { split op [out -> dp] }
  }
}

// -----

// That holds for each of several axes.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<6x4xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    // expected-error@+1 {{'nn.linear' op axis 'dp' splits both 'batch' and 'in'; an axis may split one iterator of an operation}}
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
    node "fc" { split op [in -> [tp, dp]] }
  }
}

// -----

// An opaque iterator is not split.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %g: tensor<4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    // expected-error@+1 {{'nn.layer_norm' op iterator 'hidden' can't be split (over {tp})}}
    %0 = nn.layer_norm "norm"(%x, %g, %g) : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [tp = 2]
    node "norm" { split op [hidden -> tp] }
  }
}

// -----

// Nor is a log-sum-exp of an operation that can't be decomposed.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%q: tensor<2x4x8xf32> {nn.role = "input"}) -> tensor<2x4x8xf32> {
    // expected-error@+1 {{'nn.attention' op iterator 'key' can't be split (over {tp})}}
    %o, %lse = nn.attention "core"(%q, %q, %q) {heads = 2 : i64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x2x4xf32>)
    return %o : tensor<2x4x8xf32>
  }
  strategy.tree @s for @f {
    mesh [tp = 2]
    node "core" { split op [key -> tp] }
  }
}

// -----

// Every part has an element.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<6x4xf32> {nn.role = "parameter"}) -> tensor<8x6xf32> {
    // expected-error@+1 {{'nn.linear' op iterator 'out' has size 6 and can't be split into 8 parts over {a, b}}}
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  strategy.tree @s for @f {
    mesh [a = 2, b = 4]
    node "fc" { split op [out -> [a, b]] }
  }
}

// -----

// Parts of a dimension that several iterators share are equal.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%q: tensor<2x4x12xf32> {nn.role = "input"}) -> tensor<2x4x12xf32> {
    // expected-error@+1 {{'nn.attention' op iterator 'head' of size 6 is part of a fused dimension and can't be split into 4 unequal parts over {tp}}}
    %o, %lse = nn.attention "core"(%q, %q, %q) {heads = 6 : i64} : (tensor<2x4x12xf32>, tensor<2x4x12xf32>, tensor<2x4x12xf32>) -> (tensor<2x4x12xf32>, tensor<2x6x4xf32>)
    return %o : tensor<2x4x12xf32>
  }
  strategy.tree @s for @f {
    mesh [tp = 4]
    node "core" { split op [head -> tp] }
  }
}

// -----

// The minor part of a shared dimension is not contiguous.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%q: tensor<2x4x16xf32> {nn.role = "input"},
               %k: tensor<2x4x8xf32> {nn.role = "input"}) -> tensor<2x4x16xf32> {
    // expected-error@+1 {{'nn.attention' op iterator 'group' is a minor part of a fused dimension of the result and can't be split}}
    %o, %lse = nn.attention "core"(%q, %k, %k) {heads = 4 : i64, kv_heads = 2 : i64} : (tensor<2x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x16xf32>, tensor<2x4x4xf32>)
    return %o : tensor<2x4x16xf32>
  }
  strategy.tree @s for @f {
    mesh [tp = 2]
    node "core" { split op [group -> tp] }
  }
}

// -----

// Micro-batches are equal.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<6x4xf32> {nn.role = "input"}) -> tensor<6x4xf32> {
    // expected-error@+1 {{'nn.gelu' op iterator 'batch' of size 6 can't be cut into 4 equal parts: micro-batches times devices over {micro}; change the batch or the micro-batches}}
    %0 = nn.gelu "a"(%x) : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 1]
    schedule micro_batches = 4
  }
}

// -----

// So are the parts of a micro-batch.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<12x4xf32> {nn.role = "input"}) -> tensor<12x4xf32> {
    // expected-error@+1 {{'nn.gelu' op iterator 'batch' of size 12 can't be cut into 8 equal parts: micro-batches times devices over {micro, dp}; change the batch or the micro-batches}}
    %0 = nn.gelu "a"(%x) : (tensor<12x4xf32>) -> tensor<12x4xf32>
    return %0 : tensor<12x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    schedule micro_batches = 4
    split op [batch -> dp]
  }
}

// -----

// A micro-batch has a sample for every device.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    // expected-error@+1 {{'nn.gelu' op iterator 'batch' has size 8 and can't be split into 16 parts over {micro, dp}}}
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 4]
    schedule micro_batches = 4
    split op [batch -> dp]
  }
}

// -----

// A parameter is stored in at most as many parts as it has elements.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'func.func' op dimension 0 of 'fc.weight' has size 3 and can't be split into 4 parts over {dp}}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<3x4xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<8x3xf32> {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
    return %0 : tensor<8x3xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 4]
    split weight [0 -> dp]
  }
}

// -----

// So are its states.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'func.func' op dimension 1 of 'fc.weight.velocity' has size 4 and can't be split into 8 parts over {dp, tp}}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %labels: tensor<8xi32> {nn.role = "input"},
               %w: tensor<6x4xf32> {nn.role = "parameter", nn.path = "fc.weight"}) -> tensor<f32>
      attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
    %loss, %lse = nn.cross_entropy "loss"(%0, %labels) : (tensor<8x6xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @f {
    mesh [dp = 4, tp = 2]
    split state [1 -> [dp, tp]]
  }
}

// -----

// All offenders are listed, in the bodies of repeats as well.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %g: tensor<4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
    // expected-error@+1 {{'nn.gelu' op iterator 'hidden' has size 4 and can't be split into 8 parts over {tp}}}
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.repeat "layers" count 2 carry(%h = %0 : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      // expected-error@+1 {{'nn.layer_norm' op iterator 'hidden' can't be split (over {tp})}}
      %2 = nn.layer_norm "norm"(%h, %g, %g) : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
      nn.yield %2 : tensor<8x4xf32>
    }
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [tp = 8]
    split op [hidden -> tp]
  }
}

// -----

// An axis splits one dimension of a stored tensor, also if two nodes set them.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+1 {{'func.func' op axis 'dp' splits 'in.weight' twice: dimension 1 and a dimension before it; an axis may split a tensor once}}
  func.func @f(%x: tensor<32x16xf32> {nn.role = "input"}, %w: tensor<16x16xf32> {nn.role = "parameter", nn.path = "in.weight"}) -> tensor<32x16xf32> {
    %0 = nn.linear "in"(%x, %w) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
    return %0 : tensor<32x16xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    split weight [0 -> dp]
    node "in" { split weight [1 -> dp] }
  }
}

// -----

// A strategy that splits nothing is a mistake; the operations are named.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-error@+2 {{'func.func' op the strategy splits no operation, so every one of the 4 devices would do all the work; set a partition, such as 'split op [batch -> dp]'}}
  // expected-note@+1 {{operations without a setting: 'a', 'layers[*].b'}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = nn.repeat "layers" count 2 carry(%h = %0 : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %2 = nn.gelu "b"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %2 : tensor<8x4xf32>
    }
    return %1 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, tp = 2]
  }
}

// -----

// An axis that nothing uses is worth a warning.
module attributes {proteus.cluster = "dgx-a100"} {
  // expected-warning@+1 {{nothing is split over axis 'tp' of size 2: its devices all do the same work; split an iterator over it or leave it out of the mesh}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp]
  }
}

// -----

// Statistics of the whole batch can't be computed from one micro-batch,
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}, %g: tensor<4xf32> {nn.role = "parameter", nn.path = "g"}) -> tensor<8x4xf32> {
    // expected-error@+1 {{'nn.batch_norm' op iterator 'batch' is reduced within the operation and can't span micro-batches; use one micro-batch, or statistic groups that are a multiple of micro-batches times devices}}
    %0, %m, %i = nn.batch_norm "norm"(%x, %g, %g) : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}

// -----

// nor those of two groups by four devices.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}, %g: tensor<4xf32> {nn.role = "parameter", nn.path = "g"}) -> tensor<8x4xf32> {
    // expected-error@+1 {{'nn.batch_norm' op iterator 'batch' has size 2 and can't be split into 4 parts over {micro, dp}}}
    %0, %m, %i = nn.batch_norm "norm"(%x, %g, %g) {groups = 2 : i64} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
    return %0 : tensor<8x4xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
  }
}

// -----

// Only the keys of an attention go round a ring.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%q: tensor<8x8x8xf32> {nn.role = "input"}, %k: tensor<8x8x8xf32> {nn.role = "input"}) -> tensor<8x8x8xf32> {
    // expected-error@+1 {{'nn.attention' op the parts of iterator 'seq' can't go round a ring: only those of the keys of an attention can; drop 'ring'}}
    %0, %1 = nn.attention "core"(%q, %k, %k) {heads = 2 : i64, causal} : (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x2x8xf32>)
    return %0 : tensor<8x8x8xf32>
  }
  strategy.tree @s for @f {
    mesh [cp = 2]
    split op [seq -> ring cp]
  }
}

// -----

// Without queries to visit a ring is the same work everywhere.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%q: tensor<8x8x8xf32> {nn.role = "input"}, %k: tensor<8x8x8xf32> {nn.role = "input"}) -> tensor<8x8x8xf32> {
    // expected-error@+1 {{'nn.attention' op the parts of iterator 'key' go round a ring over axis 'cp', which splits nothing else; split 'seq' over it as well}}
    %0, %1 = nn.attention "core"(%q, %k, %k) {heads = 2 : i64, causal} : (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x2x8xf32>)
    return %0 : tensor<8x8x8xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2, cp = 2]
    split op [batch -> dp, key -> ring cp]
  }
}

// -----

// Keys are held by heads and by blocks: one axis can't do both.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%q: tensor<8x8x8xf32> {nn.role = "input"}, %k: tensor<8x8x8xf32> {nn.role = "input"}) -> tensor<8x8x8xf32> {
    // expected-error@+1 {{'nn.attention' op axis 'cp' splits both 'head' and 'key'; an axis may split one iterator of an operation}}
    %0, %1 = nn.attention "core"(%q, %k, %k) {heads = 2 : i64, causal} : (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x2x8xf32>)
    return %0 : tensor<8x8x8xf32>
  }
  strategy.tree @s for @f {
    mesh [cp = 2]
    split op [head -> cp, key -> ring cp]
  }
}

// -----

// A zigzag has chunks of one size.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%q: tensor<8x6x8xf32> {nn.role = "input"}, %k: tensor<8x6x8xf32> {nn.role = "input"}) -> tensor<8x6x8xf32> {
    // expected-error@+1 {{'nn.attention' op iterator 'seq' of size 6 can't be split in a zigzag over {cp}: that needs 4 equal chunks; change its size, or use contiguous parts}}
    %0, %1 = nn.attention "core"(%q, %k, %k) {heads = 2 : i64, causal} : (tensor<8x6x8xf32>, tensor<8x6x8xf32>, tensor<8x6x8xf32>) -> (tensor<8x6x8xf32>, tensor<8x2x6xf32>)
    return %0 : tensor<8x6x8xf32>
  }
  strategy.tree @s for @f {
    mesh [cp = 2]
    split op [seq -> zigzag cp]
  }
}

// -----

// Micro-batches come in order.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%q: tensor<8x8x8xf32> {nn.role = "input"}, %k: tensor<8x8x8xf32> {nn.role = "input"}) -> tensor<8x8x8xf32> {
    // expected-error@+1 {{'nn.attention' op iterator 'batch' can't be split in a zigzag: micro-batches cut it in order; use one micro-batch, or contiguous parts}}
    %0, %1 = nn.attention "core"(%q, %k, %k) {heads = 2 : i64, causal} : (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x2x8xf32>)
    return %0 : tensor<8x8x8xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    schedule micro_batches = 2
    split op [batch -> zigzag dp]
  }
}

// -----

// Every device has an expert.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<2x8x3x4xf32> {nn.role = "input"},
               %w: tensor<2x6x4xf32> {nn.role = "parameter"}) -> tensor<2x8x3x6xf32> {
    // expected-error@+1 {{'nn.expert_linear' op iterator 'expert' has size 2 and can't be split into 4 parts over {ep}; use fewer devices there, or split another iterator}}
    %0 = nn.expert_linear "experts"(%x, %w) : (tensor<2x8x3x4xf32>, tensor<2x6x4xf32>) -> tensor<2x8x3x6xf32>
    return %0 : tensor<2x8x3x6xf32>
  }
  strategy.tree @s for @f {
    mesh [ep = 4]
    node "experts" { split op [expert -> ep] }
  }
}

// -----

// Token groups stay whole: a split of the batch is one of the groups.
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%l: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x2xf32> {
    // expected-error@+1 {{'nn.moe_route' op iterator 'group' has size 2 and can't be split into 4 parts over {dp}; use fewer devices there, or split another iterator}}
    %g, %e, %s = nn.moe_route "route"(%l) {groups = 2 : i64, capacity_factor = 1.0 : f64} : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>, tensor<8x2xi32>)
    return %g : tensor<8x2xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 4]
    split op [batch -> dp]
  }
}
