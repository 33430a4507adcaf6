// RUN: proteus-opt %s | proteus-opt | FileCheck %s
// RUN: proteus-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: proteus-opt %s --mlir-print-op-generic | proteus-opt | FileCheck %s
// RUN: proteus-opt %s --emit-bytecode | proteus-opt | FileCheck %s

// A model: roles and paths on arguments, the training step on the function.

// CHECK-LABEL: func.func @model(
// CHECK-SAME:    %{{.*}}: tensor<64x784xf32> {nn.path = "x", nn.role = "input"}
// CHECK-SAME:    %{{.*}}: tensor<10x784xf32> {nn.path = "fc.weight", nn.role = "parameter"}
// CHECK-SAME:    %{{.*}}: tensor<64xi32> {nn.path = "labels", nn.role = "input"}
// CHECK-SAME:    attributes {nn.training = #nn.training<optimizer = adam, compute = bf16, gradient = f32, reduction = bf16, master = f32>}
func.func @model(
    %x: tensor<64x784xf32> {nn.role = "input", nn.path = "x"},
    %w: tensor<10x784xf32> {nn.role = "parameter", nn.path = "fc.weight"},
    %t: tensor<64xi32> {nn.role = "input", nn.path = "labels"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam,
        compute = bf16, gradient = f32, reduction = bf16, master = f32>} {
  // CHECK: nn.linear "fc"(%{{.*}}, %{{.*}}) : (tensor<64x784xf32>, tensor<10x784xf32>) -> tensor<64x10xf32>
  // GENERIC: "nn.linear"(%{{.*}}, %{{.*}}) <{path = "fc"}> : (tensor<64x784xf32>, tensor<10x784xf32>) -> tensor<64x10xf32>
  %y = nn.linear "fc"(%x, %w) : (tensor<64x784xf32>, tensor<10x784xf32>) -> tensor<64x10xf32>
  // CHECK: %{{.*}}, %{{.*}} = nn.cross_entropy "loss"(%{{.*}}, %{{.*}}) : (tensor<64x10xf32>, tensor<64xi32>) -> (tensor<f32>, tensor<64xf32>)
  // GENERIC: "nn.cross_entropy"(%{{.*}}, %{{.*}}) <{path = "loss"}>
  %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<64x10xf32>, tensor<64xi32>) -> (tensor<f32>, tensor<64xf32>)
  return %loss : tensor<f32>
}

// A step: results say which argument they replace.

// CHECK-LABEL: func.func @step(
// CHECK-SAME:    {nn.role = "state"}
// CHECK-SAME:    -> (tensor<4xf32> {nn.updates = 0 : i64})
func.func @step(%m: tensor<4xf32> {nn.role = "state"})
    -> (tensor<4xf32> {nn.updates = 0 : i64}) {
  return %m : tensor<4xf32>
}

// CHECK-LABEL: func.func @matrix_operations
// GENERIC:     sym_name = "matrix_operations"
func.func @matrix_operations(
    %x: tensor<8x128xf32>, %w: tensor<256x128xf32>, %b: tensor<256xf32>,
    %a: tensor<8x64x32xf32>, %i: tensor<8x3x224x224xf32>,
    %k: tensor<64x3x11x11xf32>, %kb: tensor<64xf32>, %kg: tensor<6x1x3x3xf32>,
    %q: tensor<8x16x96xbf16>, %kv: tensor<8x32x24xbf16>) {
  // CHECK: nn.linear "mlp.fc1"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<8x128xf32>, tensor<256x128xf32>, tensor<256xf32>) -> tensor<8x256xf32>
  %0 = nn.linear "mlp.fc1"(%x, %w, %b) : (tensor<8x128xf32>, tensor<256x128xf32>, tensor<256xf32>) -> tensor<8x256xf32>
  // CHECK: nn.matmul "scores"(%{{.*}}, %{{.*}}) {transpose_b} : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x64x64xf32>
  // GENERIC: "nn.matmul"(%{{.*}}, %{{.*}}) <{path = "scores", transpose_b}>
  %1 = nn.matmul "scores"(%a, %a) {transpose_b} : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x64x64xf32>
  // CHECK: nn.matmul "outer"(%{{.*}}, %{{.*}}) {transpose_a} : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x32x32xf32>
  %2 = nn.matmul "outer"(%a, %a) {transpose_a} : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x32x32xf32>
  // CHECK: nn.conv2d "features.0"(%{{.*}}, %{{.*}}, %{{.*}}) {padding = array<i64: 2, 2>, stride = array<i64: 4, 4>}
  // GENERIC: "nn.conv2d"({{.*}}) <{dilation = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 2, 2>, path = "features.0", stride = array<i64: 4, 4>}>
  %3 = nn.conv2d "features.0"(%i, %k, %kb) {stride = array<i64: 4, 4>, padding = array<i64: 2, 2>} : (tensor<8x3x224x224xf32>, tensor<64x3x11x11xf32>, tensor<64xf32>) -> tensor<8x64x55x55xf32>
  // CHECK: nn.conv2d "grouped"(%{{.*}}, %{{.*}}) {dilation = array<i64: 2, 2>, groups = 3 : i64, padding = array<i64: 2, 2>, stride = array<i64: 1, 1>}
  %g = nn.conv2d "grouped"(%i, %kg) {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 3 : i64} : (tensor<8x3x224x224xf32>, tensor<6x1x3x3xf32>) -> tensor<8x6x224x224xf32>
  // CHECK: nn.attention "core"(%{{.*}}, %{{.*}}, %{{.*}}) {causal, heads = 12 : i64, kv_heads = 3 : i64}
  // GENERIC: "nn.attention"({{.*}}) <{causal, heads = 12 : i64, kv_heads = 3 : i64, path = "core"}>
  %o, %lse = nn.attention "core"(%q, %kv, %kv) {heads = 12 : i64, kv_heads = 3 : i64, causal} : (tensor<8x16x96xbf16>, tensor<8x32x24xbf16>, tensor<8x32x24xbf16>) -> (tensor<8x16x96xbf16>, tensor<8x12x16xf32>)
  return
}

// CHECK-LABEL: func.func @memory_bound_operations
func.func @memory_bound_operations(
    %ids: tensor<8x16xi32>, %table: tensor<100x32xbf16>, %x: tensor<8x16x32xbf16>,
    %g: tensor<32xbf16>, %pos: tensor<16x32xbf16>, %i: tensor<8x4x8x8xf32>) {
  // CHECK: nn.embedding "embedding"(%{{.*}}, %{{.*}}) : (tensor<8x16xi32>, tensor<100x32xbf16>) -> tensor<8x16x32xbf16>
  // GENERIC: "nn.embedding"(%{{.*}}, %{{.*}}) <{path = "embedding"}>
  %0 = nn.embedding "embedding"(%ids, %table) : (tensor<8x16xi32>, tensor<100x32xbf16>) -> tensor<8x16x32xbf16>
  // CHECK: nn.layer_norm "ln_1"(%{{.*}}, %{{.*}}, %{{.*}}) :
  // GENERIC: "nn.layer_norm"
  %1 = nn.layer_norm "ln_1"(%x, %g, %g) : (tensor<8x16x32xbf16>, tensor<32xbf16>, tensor<32xbf16>) -> tensor<8x16x32xbf16>
  // CHECK: nn.relu "act"(%{{.*}}) :
  // GENERIC: "nn.relu"
  %2 = nn.relu "act"(%x) : (tensor<8x16x32xbf16>) -> tensor<8x16x32xbf16>
  // CHECK: nn.gelu "mlp.act"(%{{.*}}) :
  // GENERIC: "nn.gelu"
  %3 = nn.gelu "mlp.act"(%x) : (tensor<8x16x32xbf16>) -> tensor<8x16x32xbf16>
  // CHECK: nn.add "residual"(%{{.*}}, %{{.*}}) : (tensor<8x16x32xbf16>, tensor<8x16x32xbf16>)
  // GENERIC: "nn.add"
  %4 = nn.add "residual"(%x, %x) : (tensor<8x16x32xbf16>, tensor<8x16x32xbf16>) -> tensor<8x16x32xbf16>
  // CHECK: nn.add "position"(%{{.*}}, %{{.*}}) : (tensor<8x16x32xbf16>, tensor<16x32xbf16>)
  %5 = nn.add "position"(%x, %pos) : (tensor<8x16x32xbf16>, tensor<16x32xbf16>) -> tensor<8x16x32xbf16>
  // CHECK: nn.dropout "drop"(%{{.*}}) {probability = 1.000000e-01 : f64, seed = 7 : i64} : (tensor<8x16x32xbf16>) -> (tensor<8x16x32xbf16>, tensor<8x16x32xi8>)
  // GENERIC: "nn.dropout"(%{{.*}}) <{path = "drop", probability = 1.000000e-01 : f64, seed = 7 : i64}>
  %6, %mask = nn.dropout "drop"(%x) {probability = 0.1 : f64, seed = 7 : i64} : (tensor<8x16x32xbf16>) -> (tensor<8x16x32xbf16>, tensor<8x16x32xi8>)
  // CHECK: nn.pool2d "pool" max(%{{.*}}) {kernel = array<i64: 2, 2>, padding = array<i64: 0, 0>, stride = array<i64: 2, 2>}
  // GENERIC: "nn.pool2d"(%{{.*}}) <{kernel = array<i64: 2, 2>, kind = 0 : i32
  %7 = nn.pool2d "pool" max(%i) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x4x8x8xf32>) -> tensor<8x4x4x4xf32>
  // CHECK: nn.pool2d "mean" average(%{{.*}})
  %8 = nn.pool2d "mean" average(%i) {kernel = array<i64: 8, 8>, stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<8x4x8x8xf32>) -> tensor<8x4x1x1xf32>
  // CHECK: nn.cast "half"(%{{.*}}) : (tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xbf16>
  // GENERIC: "nn.cast"
  %9 = nn.cast "half"(%i) : (tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xbf16>
  return
}

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<8x256x6x6xf32>, %qkv: tensor<8x4x72xf32>) {
  // CHECK: nn.reshape "flatten"(%{{.*}}) : (tensor<8x256x6x6xf32>) -> tensor<8x9216xf32>
  // GENERIC: "nn.reshape"
  %0 = nn.reshape "flatten"(%x) : (tensor<8x256x6x6xf32>) -> tensor<8x9216xf32>
  // CHECK: nn.split "qkv_split"(%{{.*}}) {groups = 12 : i64} : (tensor<8x4x72xf32>) -> (tensor<8x4x24xf32>, tensor<8x4x24xf32>, tensor<8x4x24xf32>)
  // GENERIC: "nn.split"(%{{.*}}) <{groups = 12 : i64, path = "qkv_split"}>
  %q, %k, %v = nn.split "qkv_split"(%qkv) {groups = 12 : i64} : (tensor<8x4x72xf32>) -> (tensor<8x4x24xf32>, tensor<8x4x24xf32>, tensor<8x4x24xf32>)
  // CHECK: nn.concat "qkv_split"(%{{.*}}, %{{.*}}, %{{.*}}) {groups = 12 : i64}
  // GENERIC: "nn.concat"
  %1 = nn.concat "qkv_split"(%q, %k, %v) {groups = 12 : i64} : (tensor<8x4x24xf32>, tensor<8x4x24xf32>, tensor<8x4x24xf32>) -> tensor<8x4x72xf32>
  // One group is the default and is not printed.
  // CHECK: nn.split "halves"(%{{.*}}) : (tensor<8x4x72xf32>) -> (tensor<8x4x40xf32>, tensor<8x4x32xf32>)
  %2, %3 = nn.split "halves"(%qkv) : (tensor<8x4x72xf32>) -> (tensor<8x4x40xf32>, tensor<8x4x32xf32>)
  return
}

// CHECK-LABEL: func.func @pieces_of_a_decomposed_cross_entropy
func.func @pieces_of_a_decomposed_cross_entropy(%logits: tensor<8x10xf32>, %labels: tensor<8xi32>) {
  // CHECK: nn.row_max "loss"(%{{.*}}) : (tensor<8x10xf32>) -> tensor<8xf32>
  // GENERIC: "nn.row_max"
  %max = nn.row_max "loss"(%logits) : (tensor<8x10xf32>) -> tensor<8xf32>
  // CHECK: nn.row_exp_sum "loss"(%{{.*}}, %{{.*}}, %{{.*}}) :
  // GENERIC: "nn.row_exp_sum"
  %sum, %picked = nn.row_exp_sum "loss"(%logits, %labels, %max) : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK: nn.row_loss "loss"(%{{.*}}, %{{.*}}, %{{.*}}) :
  // GENERIC: "nn.row_loss"
  %loss, %lse = nn.row_loss "loss"(%max, %sum, %picked) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)
  return
}

// CHECK-LABEL: func.func @gradients
func.func @gradients(
    %dy: tensor<8x256xf32>, %w: tensor<256x128xf32>, %x: tensor<8x128xf32>,
    %di: tensor<8x16x8x8xf32>, %k: tensor<16x4x3x3xf32>, %i: tensor<8x4x8x8xf32>,
    %q: tensor<1x4x8xf32>, %lse: tensor<1x2x4xf32>,
    %dt: tensor<8x4x16xf32>, %ids: tensor<8x4xi32>, %s: tensor<128xf32>,
    %mask: tensor<8x128xi8>, %dp: tensor<8x4x4x4xf32>,
    %one: tensor<f32>, %labels: tensor<8xi32>, %rows: tensor<8xf32>) {
  // CHECK: nn.linear_dgrad "fc"(%{{.*}}, %{{.*}}) :
  // GENERIC: "nn.linear_dgrad"
  %0 = nn.linear_dgrad "fc"(%dy, %w) : (tensor<8x256xf32>, tensor<256x128xf32>) -> tensor<8x128xf32>
  // CHECK: nn.linear_wgrad "fc"(%{{.*}}, %{{.*}}) :
  // GENERIC: "nn.linear_wgrad"
  %1 = nn.linear_wgrad "fc"(%dy, %x) : (tensor<8x256xf32>, tensor<8x128xf32>) -> tensor<256x128xf32>
  // CHECK: nn.reduce_sum "fc"(%{{.*}}) {keep = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<256xf32>
  // GENERIC: "nn.reduce_sum"
  %2 = nn.reduce_sum "fc"(%dy) {keep = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<256xf32>
  // CHECK: nn.conv2d_dgrad "c"(%{{.*}}, %{{.*}}) {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>}
  // GENERIC: "nn.conv2d_dgrad"
  %3 = nn.conv2d_dgrad "c"(%di, %k) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x4x8x8xf32>
  // CHECK: nn.conv2d_wgrad "c"(%{{.*}}, %{{.*}}) {padding = array<i64: 1, 1>, stride = array<i64: 1, 1>}
  // GENERIC: "nn.conv2d_wgrad"
  %4 = nn.conv2d_wgrad "c"(%di, %i) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<8x4x8x8xf32>) -> tensor<16x4x3x3xf32>
  // CHECK: nn.attention_grad "core"({{.*}}) {heads = 2 : i64}
  // GENERIC: "nn.attention_grad"
  %dq, %dk, %dv = nn.attention_grad "core"(%q, %q, %q, %q, %q, %lse) {heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
  // CHECK: nn.embedding_grad "embedding"(%{{.*}}, %{{.*}}) : (tensor<8x4x16xf32>, tensor<8x4xi32>) -> tensor<100x16xf32>
  // GENERIC: "nn.embedding_grad"
  %5 = nn.embedding_grad "embedding"(%dt, %ids) : (tensor<8x4x16xf32>, tensor<8x4xi32>) -> tensor<100x16xf32>
  // CHECK: nn.layer_norm_grad "ln"(%{{.*}}, %{{.*}}, %{{.*}}) :
  // GENERIC: "nn.layer_norm_grad"
  %dx, %dg, %db = nn.layer_norm_grad "ln"(%x, %x, %s) : (tensor<8x128xf32>, tensor<8x128xf32>, tensor<128xf32>) -> (tensor<8x128xf32>, tensor<128xf32>, tensor<128xf32>)
  // CHECK: nn.relu_grad "act"(%{{.*}}, %{{.*}}) :
  // GENERIC: "nn.relu_grad"
  %6 = nn.relu_grad "act"(%x, %x) : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x128xf32>
  // CHECK: nn.gelu_grad "act"(%{{.*}}, %{{.*}}) :
  // GENERIC: "nn.gelu_grad"
  %7 = nn.gelu_grad "act"(%x, %x) : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x128xf32>
  // CHECK: nn.dropout_grad "drop"(%{{.*}}, %{{.*}}) {probability = 1.000000e-01 : f64} :
  // GENERIC: "nn.dropout_grad"
  %8 = nn.dropout_grad "drop"(%x, %mask) {probability = 0.1 : f64} : (tensor<8x128xf32>, tensor<8x128xi8>) -> tensor<8x128xf32>
  // CHECK: nn.pool2d_grad "pool" max(%{{.*}}, %{{.*}}) {kernel = array<i64: 2, 2>, padding = array<i64: 0, 0>, stride = array<i64: 2, 2>}
  // GENERIC: "nn.pool2d_grad"
  %9 = nn.pool2d_grad "pool" max(%dp, %i) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x4x4x4xf32>, tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32>
  // CHECK: nn.cross_entropy_grad "loss"({{.*}}) : (tensor<f32>, tensor<8x128xf32>, tensor<8xi32>, tensor<8xf32>) -> tensor<8x128xf32>
  // GENERIC: "nn.cross_entropy_grad"
  %10 = nn.cross_entropy_grad "loss"(%one, %x, %labels, %rows) : (tensor<f32>, tensor<8x128xf32>, tensor<8xi32>, tensor<8xf32>) -> tensor<8x128xf32>
  return
}

// CHECK-LABEL: func.func @updates
func.func @updates(%w: tensor<4x4xbf16>, %g: tensor<4x4xf32>, %m: tensor<4x4xf32>) {
  // The default learning rate is not printed.
  // CHECK: nn.sgd "fc.weight"(%{{.*}}, %{{.*}}) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // GENERIC: "nn.sgd"(%{{.*}}, %{{.*}}) <{learning_rate = 1.000000e-02 : f64, path = "fc.weight"}>
  %0 = nn.sgd "fc.weight"(%m, %g) {learning_rate = 0.01 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: nn.sgd "fc.weight"({{.*}}) {learning_rate = 5.000000e-01 : f64, master, momentum} :
  %1:3 = nn.sgd "fc.weight"(%w, %g, %m, %m) {momentum, master, learning_rate = 0.5 : f64} : (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>)
  // CHECK: nn.adam "fc.weight"({{.*}}) :
  // GENERIC: "nn.adam"
  %2:3 = nn.adam "fc.weight"(%m, %g, %m, %m) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  // CHECK: nn.adam "fc.weight"({{.*}}) {master} :
  %3:4 = nn.adam "fc.weight"(%w, %g, %m, %m, %m) {master} : (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  // CHECK: nn.fill "loss"() {value = 1.000000e+00 : f64} : () -> tensor<f32>
  // GENERIC: "nn.fill"() <{path = "loss", value = 1.000000e+00 : f64}>
  %4 = nn.fill "loss"() {value = 1.0 : f64} : () -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @layers_are_written_once
// CHECK-SAME:    (%[[X:.*]]: tensor<8x64xf32>, %[[WS:.*]]: tensor<12x64x64xf32>)
func.func @layers_are_written_once(%x: tensor<8x64xf32>, %ws: tensor<12x64x64xf32>)
    -> tensor<8x64xf32> {
  // CHECK:      nn.repeat "layers" count 12 carry(%[[H:.*]] = %[[X]] : tensor<8x64xf32>) slice(%[[W:.*]] = %[[WS]] : tensor<12x64x64xf32> to tensor<64x64xf32>) -> (tensor<8x64xf32>, tensor<12x8x64xf32>) {
  // CHECK-NEXT:   %[[Z:.*]] = nn.linear "fc"(%[[H]], %[[W]])
  // CHECK-NEXT:   nn.yield %[[Z]], %[[H]] : tensor<8x64xf32>, tensor<8x64xf32>
  // CHECK-NEXT: }
  // GENERIC: "nn.repeat"(%{{.*}}, %{{.*}}) <{count = 12 : i64, first = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, path = "layers"}>
  // GENERIC: "nn.yield"
  %y:2 = nn.repeat "layers" count 12
      carry(%h = %x : tensor<8x64xf32>)
      slice(%w = %ws : tensor<12x64x64xf32> to tensor<64x64xf32>)
      -> (tensor<8x64xf32>, tensor<12x8x64xf32>) {
    %z = nn.linear "fc"(%h, %w) : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    nn.yield %z, %h : tensor<8x64xf32>, tensor<8x64xf32>
  }
  return %y#0 : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @repeats_have_a_range_and_a_direction
func.func @repeats_have_a_range_and_a_direction(%x: tensor<8x64xf32>, %ws: tensor<2x8x64xf32>) {
  // CHECK: nn.repeat "layers" first 12 count 2 reverse carry(%{{.*}} = %{{.*}} : tensor<8x64xf32>) -> tensor<8x64xf32> attributes {strategy.stage = 1 : i64} {
  %0 = nn.repeat "layers" first 12 count 2 reverse
      carry(%h = %x : tensor<8x64xf32>)
      -> (tensor<8x64xf32>) attributes {strategy.stage = 1 : i64} {
    nn.yield %h : tensor<8x64xf32>
  }
  // A repeat need not carry anything.
  // CHECK: nn.repeat "maps" count 2 slice(%{{.*}} = %{{.*}} : tensor<2x8x64xf32> to tensor<8x64xf32>) -> tensor<2x8x64xf32> {
  %1 = nn.repeat "maps" count 2
      slice(%s = %ws : tensor<2x8x64xf32> to tensor<8x64xf32>)
      -> (tensor<2x8x64xf32>) {
    %r = nn.relu "act"(%s) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    nn.yield %r : tensor<8x64xf32>
  }
  // CHECK: nn.repeat "nothing" count 1 -> () {
  // CHECK-NEXT: nn.yield
  nn.repeat "nothing" count 1 -> () {
    nn.yield
  }
  return
}

// CHECK-LABEL: func.func @work_is_done_a_second_time
// CHECK-SAME:    (%[[X:.*]]: tensor<8x64xf32>)
func.func @work_is_done_a_second_time(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // CHECK:      nn.recompute "layers[0]" (%[[H:.*]] = %[[X]] : tensor<8x64xf32>) -> tensor<8x64xf32> {
  // CHECK-NEXT:   %[[Y:.*]] = nn.relu "act"(%[[H]])
  // CHECK-NEXT:   nn.yield %[[Y]]
  // CHECK-NEXT: }
  // GENERIC: "nn.recompute"(%{{.*}}) <{path = "layers[0]"}>
  %r = nn.recompute "layers[0]" (%h = %x : tensor<8x64xf32>) -> (tensor<8x64xf32>) {
    %y = nn.relu "act"(%h) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    nn.yield %y : tensor<8x64xf32>
  }
  return %r : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @keep
func.func @keep(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: nn.keep "mlp.fc1"(%{{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = nn.keep "mlp.fc1"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @attention_blocks
func.func @attention_blocks(%q: tensor<1x4x8xf32>, %lse: tensor<1x2x4xf32>) {
  // CHECK: nn.attention_block "core"(%{{.*}}, %{{.*}}, %{{.*}}) {blocks = 4 : i64, causal, heads = 2 : i64}
  %0:2 = nn.attention_block "core"(%q, %q, %q) {heads = 2 : i64, causal, blocks = 4 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  %1:2 = nn.attention_block "core"(%q, %q, %q, %0#0, %0#1) {heads = 2 : i64, blocks = 4 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  // CHECK: nn.attention_block_grad "core"
  %2:3 = nn.attention_block_grad "core"(%q, %q, %q, %q, %q, %lse) {heads = 2 : i64, blocks = 4 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
  return
}
