// RUN: proteus-opt %s -split-input-file -verify-diagnostics --propagate-strategy
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s --propagate-strategy

//===----------------------------------------------------------------------===//
// Partitions of operations
//===----------------------------------------------------------------------===//

// An axis splits one iterator of an operation. That holds for each of several
// axes.
#mesh = #dist.mesh<[dp = 2, tp = 2]>
func.func @one_iterator_per_axis(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.linear' op axis 'dp' splits both 'batch' and 'out'; an axis may split one iterator of an operation}}
  %0 = nn.linear "a"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp, out -> dp]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  // expected-error@+1 {{'nn.linear' op axis 'dp' splits both 'batch' and 'in'; an axis may split one iterator of an operation}}
  %1 = nn.linear "b"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp, in -> [tp, dp]]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}

// -----

// An opaque iterator is not split, even if the operation can be decomposed.
#mesh = #dist.mesh<[dp = 2]>
func.func @opaque_decomposable(%x: tensor<8x4xf32>, %g: tensor<4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.batch_norm' op iterator 'member' can't be split (over {dp})}}
  %0, %m, %i = nn.batch_norm "norm"(%x, %g, %g) {groups = 2 : i64, strategy.op = #strategy.partition<[member -> dp]>} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return %0 : tensor<8x4xf32>
}

// -----

// An opaque iterator is not split, nor is a log-sum-exp of an operation that
// can't be decomposed.
#mesh = #dist.mesh<[tp = 2]>
func.func @opaque(%x: tensor<8x4xf32>, %g: tensor<4xf32>, %q: tensor<2x4x8xf32>) -> (tensor<8x4xf32>, tensor<2x4x8xf32>) attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.layer_norm' op iterator 'hidden' can't be split (over {tp}): the operation needs it whole; split another iterator}}
  %0 = nn.layer_norm "norm"(%x, %g, %g) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  // expected-error@+1 {{'nn.attention' op iterator 'key' can't be split (over {tp})}}
  %o, %lse = nn.attention "core"(%q, %q, %q) {heads = 2 : i64, strategy.op = #strategy.partition<[key -> tp]>} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x2x4xf32>)
  return %0, %o : tensor<8x4xf32>, tensor<2x4x8xf32>
}

// -----

// Every part has an element; the parts over several axes multiply.
#mesh = #dist.mesh<[a = 2, b = 4]>
func.func @more_parts_than_elements(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>) -> tensor<8x6xf32> attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.linear' op iterator 'out' has size 6 and can't be split into 8 parts over {a, b}; use fewer devices there, or split another iterator}}
  %0 = nn.linear "fc"(%x, %w) {strategy.op = #strategy.partition<[out -> [a, b]]>} : (tensor<8x4xf32>, tensor<6x4xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// Every device has an expert, and token groups stay whole: a split of the batch
// is one of the groups.
#mesh = #dist.mesh<[ep = 4]>
func.func @experts(%x: tensor<2x8x3x4xf32>, %w: tensor<2x6x4xf32>, %l: tensor<8x4xf32>) -> (tensor<2x8x3x6xf32>, tensor<8x2xf32>) attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.expert_linear' op iterator 'expert' has size 2 and can't be split into 4 parts over {ep}}}
  %0 = nn.expert_linear "experts"(%x, %w) {strategy.op = #strategy.partition<[expert -> ep]>} : (tensor<2x8x3x4xf32>, tensor<2x6x4xf32>) -> tensor<2x8x3x6xf32>
  // expected-error@+1 {{'nn.moe_route' op iterator 'group' has size 2 and can't be split into 4 parts over {ep}}}
  %g, %e, %s = nn.moe_route "route"(%l) {groups = 2 : i64, capacity_factor = 1.0 : f64, strategy.op = #strategy.partition<[group -> ep]>} : (tensor<8x4xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>, tensor<8x2xi32>)
  return %0, %g : tensor<2x8x3x6xf32>, tensor<8x2xf32>
}

// -----

// Parts of a dimension that several iterators share are equal, and the minor part
// of such a dimension is not contiguous.
#mesh = #dist.mesh<[four = 4, two = 2]>
func.func @fused_dimensions(%q: tensor<2x4x12xf32>, %r: tensor<2x4x16xf32>, %k: tensor<2x4x8xf32>) -> (tensor<2x4x12xf32>, tensor<2x4x16xf32>) attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.attention' op iterator 'head' of size 6 is part of a fused dimension and can't be split into 4 unequal parts over {four}}}
  %o, %lse = nn.attention "a"(%q, %q, %q) {heads = 6 : i64, strategy.op = #strategy.partition<[head -> four]>} : (tensor<2x4x12xf32>, tensor<2x4x12xf32>, tensor<2x4x12xf32>) -> (tensor<2x4x12xf32>, tensor<2x6x4xf32>)
  // expected-error@+1 {{'nn.attention' op iterator 'group' is a minor part of a fused dimension of the result and can't be split}}
  %p, %lse2 = nn.attention "b"(%r, %k, %k) {heads = 4 : i64, kv_heads = 2 : i64, strategy.op = #strategy.partition<[group -> two]>} : (tensor<2x4x16xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x16xf32>, tensor<2x4x4xf32>)
  return %o, %p : tensor<2x4x12xf32>, tensor<2x4x16xf32>
}

// -----

// All offenders are listed, in the bodies of repeats as well. The same mistake is
// reported once, with the number of other operations.
#mesh = #dist.mesh<[tp = 8]>
func.func @all_offenders(%x: tensor<8x4xf32>, %g: tensor<4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  // expected-error@+2 {{'nn.gelu' op iterator 'hidden' has size 4 and can't be split into 8 parts over {tp}}}
  // expected-note@+1 {{and in 1 other operations}}
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.repeat "layers" count 2 carry(%h = %0 : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
    // expected-error@+1 {{'nn.layer_norm' op iterator 'hidden' can't be split (over {tp})}}
    %2 = nn.layer_norm "norm"(%h, %g, %g) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %3 = nn.gelu "b"(%2) {strategy.op = #strategy.partition<[hidden -> tp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %3 : tensor<8x4xf32>
  }
  return %1 : tensor<8x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Rings and zigzags
//===----------------------------------------------------------------------===//

// Only the keys of an attention go round a ring. Without queries to visit, a ring
// is the same work everywhere. An axis can't split keys by heads and by blocks.
#mesh = #dist.mesh<[cp = 2]>
func.func @rings(%q: tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xf32>) attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.attention' op the parts of iterator 'seq' can't go round a ring: only those of the keys of an attention can; drop 'ring'}}
  %0, %l0 = nn.attention "a"(%q, %q, %q) {heads = 2 : i64, strategy.op = #strategy.partition<[seq -> ring cp]>} : (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x2x8xf32>)
  // expected-error@+1 {{'nn.attention' op the parts of iterator 'key' go round a ring over axis 'cp', which splits nothing else; split 'seq' over it as well}}
  %1, %l1 = nn.attention "b"(%q, %q, %q) {heads = 2 : i64, strategy.op = #strategy.partition<[seq -> [], key -> ring cp]>} : (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x2x8xf32>)
  // expected-error@+1 {{'nn.attention' op axis 'cp' splits both 'head' and 'key'; an axis may split one iterator of an operation}}
  %2, %l2 = nn.attention "c"(%q, %q, %q) {heads = 2 : i64, strategy.op = #strategy.partition<[head -> cp, key -> ring cp]>} : (tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x2x8xf32>)
  return %0, %1, %2 : tensor<8x8x8xf32>, tensor<8x8x8xf32>, tensor<8x8x8xf32>
}

// -----

// A zigzag has chunks of one size.
#mesh = #dist.mesh<[cp = 2]>
func.func @zigzag(%x: tensor<8x6x8xf32>) -> tensor<8x6x8xf32> attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.gelu' op iterator 'seq' of size 6 can't be split in a zigzag over {cp}: that needs 4 equal chunks; change its size, or use contiguous parts}}
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[seq -> zigzag cp]>} : (tensor<8x6x8xf32>) -> tensor<8x6x8xf32>
  return %0 : tensor<8x6x8xf32>
}

// -----

// Micro-batches come in order.
#mesh = #dist.mesh<[dp = 2], micro = 2>
func.func @zigzag_of_the_batch(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.gelu' op iterator 'batch' can't be split in a zigzag: micro-batches cut it in order; use one micro-batch, or contiguous parts}}
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[batch -> zigzag dp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Micro-batches
//===----------------------------------------------------------------------===//

// Micro-batches are equal, and so are the parts of a micro-batch. Every device
// has a sample of each.
#mesh = #dist.mesh<[dp = 2], micro = 4>
func.func @unequal_micro_batches(%x: tensor<6x4xf32> {nn.role = "input"}, %y: tensor<12x4xf32> {nn.role = "input"}, %z: tensor<4x4xf32> {nn.role = "input"})
    -> (tensor<6x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>) attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.gelu' op iterator 'batch' of size 6 can't be cut into 4 equal parts: micro-batches times devices over {micro}; change the batch or the micro-batches}}
  %0 = nn.gelu "a"(%x) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  // expected-error@+1 {{'nn.gelu' op iterator 'batch' of size 12 can't be cut into 8 equal parts: micro-batches times devices over {micro, dp}; change the batch or the micro-batches}}
  %1 = nn.gelu "b"(%y) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<12x4xf32>) -> tensor<12x4xf32>
  // expected-error@+1 {{'nn.gelu' op iterator 'batch' has size 4 and can't be split into 8 parts over {micro, dp}}}
  %2 = nn.gelu "c"(%z) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<6x4xf32>, tensor<12x4xf32>, tensor<4x4xf32>
}

// -----

// Statistics of the whole batch can't be computed from one micro-batch, nor those
// of two groups by four devices.
#mesh = #dist.mesh<[dp = 2], micro = 2>
func.func @statistics(%x: tensor<8x4xf32> {nn.role = "input"}, %g: tensor<4xf32> {nn.role = "parameter"}) -> (tensor<8x4xf32>, tensor<8x4xf32>) attributes {strategy.mesh = #mesh} {
  // expected-error@+1 {{'nn.batch_norm' op iterator 'batch' is reduced within the operation and can't span micro-batches; use one micro-batch, or statistic groups that are a multiple of micro-batches times devices}}
  %0, %m, %i = nn.batch_norm "norm"(%x, %g, %g) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  // expected-error@+1 {{'nn.batch_norm' op iterator 'batch' has size 2 and can't be split into 4 parts over {micro, dp}}}
  %1, %n, %j = nn.batch_norm "norm"(%x, %g, %g) {groups = 2 : i64, strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Storage of arguments
//===----------------------------------------------------------------------===//

// A parameter is stored in at most as many parts as it has elements.
#mesh = #dist.mesh<[dp = 4]>
// expected-error@+1 {{'func.func' op dimension 0 of 'fc.weight' has size 3 and can't be split into 4 parts over {dp}}}
func.func @parts_of_a_parameter(%w: tensor<3x4xf32> {nn.role = "parameter", nn.path = "fc.weight", strategy.weight = [["dp"], []]}) -> tensor<3x4xf32> attributes {strategy.mesh = #mesh} {
  return %w : tensor<3x4xf32>
}

// -----

// So is its state,
#mesh = #dist.mesh<[dp = 4, tp = 2]>
// expected-error@+1 {{'func.func' op dimension 1 of 'fc.weight.velocity' has size 4 and can't be split into 8 parts over {dp, tp}}}
func.func @parts_of_a_state(%v: tensor<6x4xf32> {nn.role = "state", nn.path = "fc.weight.velocity", strategy.state = [[], ["dp", "tp"]]}) -> tensor<6x4xf32> attributes {strategy.mesh = #mesh} {
  return %v : tensor<6x4xf32>
}

// -----

// and its gradient.
#mesh = #dist.mesh<[dp = 4]>
// expected-error@+1 {{'func.func' op dimension 0 of 'fc.weight' has size 3 and can't be split into 4 parts over {dp}}}
func.func @parts_of_a_gradient(%w: tensor<3x4xf32> {nn.role = "parameter", nn.path = "fc.weight", strategy.gradient = [["dp"], []]}) -> tensor<3x4xf32> attributes {strategy.mesh = #mesh} {
  return %w : tensor<3x4xf32>
}

// -----

// An axis splits one dimension of a stored tensor.
#mesh = #dist.mesh<[dp = 2]>
// expected-error@+1 {{'func.func' op axis 'dp' splits 'in.weight' twice: dimension 1 and a dimension before it; an axis may split a tensor once}}
func.func @one_dimension_per_axis(%w: tensor<16x16xf32> {nn.role = "parameter", nn.path = "in.weight", strategy.weight = [["dp"], ["dp"]]}) -> tensor<16x16xf32> attributes {strategy.mesh = #mesh} {
  return %w : tensor<16x16xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Axes over which nothing is split
//===----------------------------------------------------------------------===//

// A strategy that splits nothing is a mistake; the operations are named.
#mesh = #dist.mesh<[dp = 2, tp = 2]>
// expected-error@+2 {{'func.func' op the strategy splits no operation, so every one of the 4 devices would do all the work; set a partition, such as 'split op [batch -> dp]'}}
// expected-note@+1 {{operations without a setting: 'a', 'layers[*].b'}}
func.func @nothing_is_split(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.gelu "a"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.repeat "layers" count 2 carry(%h = %0 : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
    %2 = nn.gelu "b"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %2 : tensor<8x4xf32>
  }
  return %1 : tensor<8x4xf32>
}

// -----

// An unused axis gets a warning. The axis of the pipeline is not split but used,
// and so is an axis at whose coordinate an operation runs; one of size one is idle
// by intention.
#mesh = #dist.mesh<[pp = 2, dp = 2, place = 2, one = 1, tp = 2]>
// expected-warning@+1 {{nothing is split over axis 'tp' of size 2: its devices all do the same work; split an iterator over it or leave it out of the mesh}}
func.func @unused_axis(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh, strategy.pipeline_axis = "pp"} {
  %0 = nn.gelu "a"(%x) {strategy.op = #strategy.partition<[batch -> dp]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.gelu "b"(%0) {strategy.op = #strategy.partition<[batch -> dp]>, strategy.place = [#strategy.coordinate<place = 1>]} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// An axis that splits nothing but the storage of an argument is used.
#mesh = #dist.mesh<[dp = 2, tp = 2]>
func.func @used_by_storage(%x: tensor<8x4xf32>, %w: tensor<4x4xf32> {strategy.weight = [["tp"], []]}) -> tensor<8x4xf32> attributes {strategy.mesh = #mesh} {
  %0 = nn.linear "a"(%x, %w) {strategy.op = #strategy.partition<[batch -> dp, out -> [], in -> []]>} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
