
func.func @model(
    %x: tensor<64x784xf32> {nn.role = "input", nn.path = "x"},
    %w: tensor<10x784xf32> {nn.role = "parameter", nn.path = "fc.weight"},
    %t: tensor<64xi32> {nn.role = "input", nn.path = "labels"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam,
        compute = bf16, gradient = f32, reduction = bf16, master = f32>} {
  %y = nn.linear "fc"(%x, %w) : (tensor<64x784xf32>, tensor<10x784xf32>) -> tensor<64x10xf32>
  %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<64x10xf32>, tensor<64xi32>) -> (tensor<f32>, tensor<64xf32>)
  return %loss : tensor<f32>
}

func.func @step(%m: tensor<4xf32> {nn.role = "state"})
    -> (tensor<4xf32> {nn.updates = 0 : i64}) {
  return %m : tensor<4xf32>
}

func.func @matrix_operations(
    %x: tensor<8x128xf32>, %w: tensor<256x128xf32>, %b: tensor<256xf32>,
    %a: tensor<8x64x32xf32>, %i: tensor<8x3x224x224xf32>,
    %k: tensor<64x3x11x11xf32>, %kb: tensor<64xf32>, %kg: tensor<6x1x3x3xf32>,
    %q: tensor<8x16x96xbf16>, %kv: tensor<8x32x24xbf16>) {
  %0 = nn.linear "mlp.fc1"(%x, %w, %b) : (tensor<8x128xf32>, tensor<256x128xf32>, tensor<256xf32>) -> tensor<8x256xf32>
  %1 = nn.matmul "scores"(%a, %a) {transpose_b} : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x64x64xf32>
  %2 = nn.matmul "outer"(%a, %a) {transpose_a} : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x32x32xf32>
  %3 = nn.conv2d "features.0"(%i, %k, %kb) {stride = array<i64: 4, 4>, padding = array<i64: 2, 2>} : (tensor<8x3x224x224xf32>, tensor<64x3x11x11xf32>, tensor<64xf32>) -> tensor<8x64x55x55xf32>
  %g = nn.conv2d "grouped"(%i, %kg) {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 3 : i64} : (tensor<8x3x224x224xf32>, tensor<6x1x3x3xf32>) -> tensor<8x6x224x224xf32>
  %o, %lse = nn.attention "core"(%q, %kv, %kv) {heads = 12 : i64, kv_heads = 3 : i64, causal} : (tensor<8x16x96xbf16>, tensor<8x32x24xbf16>, tensor<8x32x24xbf16>) -> (tensor<8x16x96xbf16>, tensor<8x12x16xf32>)
  return
}

func.func @memory_bound_operations(
    %ids: tensor<8x16xi32>, %table: tensor<100x32xbf16>, %x: tensor<8x16x32xbf16>,
    %g: tensor<32xbf16>, %pos: tensor<16x32xbf16>, %i: tensor<8x4x8x8xf32>) {
  %0 = nn.embedding "embedding"(%ids, %table) : (tensor<8x16xi32>, tensor<100x32xbf16>) -> tensor<8x16x32xbf16>
  %1 = nn.layer_norm "ln_1"(%x, %g, %g) : (tensor<8x16x32xbf16>, tensor<32xbf16>, tensor<32xbf16>) -> tensor<8x16x32xbf16>
  %2 = nn.relu "act"(%x) : (tensor<8x16x32xbf16>) -> tensor<8x16x32xbf16>
  %3 = nn.gelu "mlp.act"(%x) : (tensor<8x16x32xbf16>) -> tensor<8x16x32xbf16>
  %4 = nn.add "residual"(%x, %x) : (tensor<8x16x32xbf16>, tensor<8x16x32xbf16>) -> tensor<8x16x32xbf16>
  %5 = nn.add "position"(%x, %pos) : (tensor<8x16x32xbf16>, tensor<16x32xbf16>) -> tensor<8x16x32xbf16>
  %6, %mask = nn.dropout "drop"(%x) {probability = 0.1 : f64, seed = 7 : i64} : (tensor<8x16x32xbf16>) -> (tensor<8x16x32xbf16>, tensor<8x16x32xi8>)
  %7 = nn.pool2d "pool" max(%i) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x4x8x8xf32>) -> tensor<8x4x4x4xf32>
  %8 = nn.pool2d "mean" average(%i) {kernel = array<i64: 8, 8>, stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<8x4x8x8xf32>) -> tensor<8x4x1x1xf32>
  %9 = nn.cast "half"(%i) : (tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xbf16>
  return
}

func.func @views(%x: tensor<8x256x6x6xf32>, %qkv: tensor<8x4x72xf32>) {
  %0 = nn.reshape "flatten"(%x) : (tensor<8x256x6x6xf32>) -> tensor<8x9216xf32>
  %q, %k, %v = nn.split "qkv_split"(%qkv) {groups = 12 : i64} : (tensor<8x4x72xf32>) -> (tensor<8x4x24xf32>, tensor<8x4x24xf32>, tensor<8x4x24xf32>)
  %1 = nn.concat "qkv_split"(%q, %k, %v) {groups = 12 : i64} : (tensor<8x4x24xf32>, tensor<8x4x24xf32>, tensor<8x4x24xf32>) -> tensor<8x4x72xf32>
  %2, %3 = nn.split "halves"(%qkv) : (tensor<8x4x72xf32>) -> (tensor<8x4x40xf32>, tensor<8x4x32xf32>)
  return
}

func.func @pieces_of_a_decomposed_cross_entropy(%logits: tensor<8x10xf32>, %labels: tensor<8xi32>) {
  %max = nn.row_max "loss"(%logits) : (tensor<8x10xf32>) -> tensor<8xf32>
  %sum, %picked = nn.row_exp_sum "loss"(%logits, %labels, %max) : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %loss, %lse = nn.row_loss "loss"(%max, %sum, %picked) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)
  return
}

func.func @gradients(
    %dy: tensor<8x256xf32>, %w: tensor<256x128xf32>, %x: tensor<8x128xf32>,
    %di: tensor<8x16x8x8xf32>, %k: tensor<16x4x3x3xf32>, %i: tensor<8x4x8x8xf32>,
    %q: tensor<1x4x8xf32>, %lse: tensor<1x2x4xf32>,
    %dt: tensor<8x4x16xf32>, %ids: tensor<8x4xi32>, %s: tensor<128xf32>,
    %mask: tensor<8x128xi8>, %dp: tensor<8x4x4x4xf32>,
    %one: tensor<f32>, %labels: tensor<8xi32>, %rows: tensor<8xf32>) {
  %0 = nn.linear_dgrad "fc"(%dy, %w) : (tensor<8x256xf32>, tensor<256x128xf32>) -> tensor<8x128xf32>
  %1 = nn.linear_wgrad "fc"(%dy, %x) : (tensor<8x256xf32>, tensor<8x128xf32>) -> tensor<256x128xf32>
  %2 = nn.reduce_sum "fc"(%dy) {keep = array<i64: 1>} : (tensor<8x256xf32>) -> tensor<256xf32>
  %3 = nn.conv2d_dgrad "c"(%di, %k) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x4x8x8xf32>
  %4 = nn.conv2d_wgrad "c"(%di, %i) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<8x4x8x8xf32>) -> tensor<16x4x3x3xf32>
  %dq, %dk, %dv = nn.attention_grad "core"(%q, %q, %q, %q, %q, %lse) {heads = 2 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
  %5 = nn.embedding_grad "embedding"(%dt, %ids) : (tensor<8x4x16xf32>, tensor<8x4xi32>) -> tensor<100x16xf32>
  %dx, %dg, %db = nn.layer_norm_grad "ln"(%x, %x, %s) : (tensor<8x128xf32>, tensor<8x128xf32>, tensor<128xf32>) -> (tensor<8x128xf32>, tensor<128xf32>, tensor<128xf32>)
  %6 = nn.relu_grad "act"(%x, %x) : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x128xf32>
  %7 = nn.gelu_grad "act"(%x, %x) : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x128xf32>
  %8 = nn.dropout_grad "drop"(%x, %mask) {probability = 0.1 : f64} : (tensor<8x128xf32>, tensor<8x128xi8>) -> tensor<8x128xf32>
  %9 = nn.pool2d_grad "pool" max(%dp, %i) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x4x4x4xf32>, tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32>
  %10 = nn.cross_entropy_grad "loss"(%one, %x, %labels, %rows) : (tensor<f32>, tensor<8x128xf32>, tensor<8xi32>, tensor<8xf32>) -> tensor<8x128xf32>
  return
}

func.func @updates(%w: tensor<4x4xbf16>, %g: tensor<4x4xf32>, %m: tensor<4x4xf32>) {
  %0 = nn.sgd "fc.weight"(%m, %g) {learning_rate = 0.01 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1:3 = nn.sgd "fc.weight"(%w, %g, %m, %m) {momentum, master, learning_rate = 0.5 : f64} : (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>)
  %2:3 = nn.adam "fc.weight"(%m, %g, %m, %m) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  %3:4 = nn.adam "fc.weight"(%w, %g, %m, %m, %m) {master} : (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  %4 = nn.fill "loss"() {value = 1.0 : f64} : () -> tensor<f32>
  return
}

func.func @layers_are_written_once(%x: tensor<8x64xf32>, %ws: tensor<12x64x64xf32>)
    -> tensor<8x64xf32> {
  %y:2 = nn.repeat "layers" count 12
      carry(%h = %x : tensor<8x64xf32>)
      slice(%w = %ws : tensor<12x64x64xf32> to tensor<64x64xf32>)
      -> (tensor<8x64xf32>, tensor<12x8x64xf32>) {
    %z = nn.linear "fc"(%h, %w) : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    nn.yield %z, %h : tensor<8x64xf32>, tensor<8x64xf32>
  }
  return %y#0 : tensor<8x64xf32>
}

func.func @repeats_have_a_range_and_a_direction(%x: tensor<8x64xf32>, %ws: tensor<2x8x64xf32>) {
  %0 = nn.repeat "layers" first 12 count 2 reverse
      carry(%h = %x : tensor<8x64xf32>)
      -> (tensor<8x64xf32>) attributes {strategy.stage = 1 : i64} {
    nn.yield %h : tensor<8x64xf32>
  }
  %1 = nn.repeat "maps" count 2
      slice(%s = %ws : tensor<2x8x64xf32> to tensor<8x64xf32>)
      -> (tensor<2x8x64xf32>) {
    %r = nn.relu "act"(%s) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    nn.yield %r : tensor<8x64xf32>
  }
  nn.repeat "nothing" count 1 -> () {
    nn.yield
  }
  return
}

func.func @work_is_done_a_second_time(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %r = nn.recompute "layers[0]" (%h = %x : tensor<8x64xf32>) -> (tensor<8x64xf32>) {
    %y = nn.relu "act"(%h) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    nn.yield %y : tensor<8x64xf32>
  }
  return %r : tensor<8x64xf32>
}

func.func @keep(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.keep "mlp.fc1"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

func.func @attention_blocks(%q: tensor<1x4x8xf32>, %lse: tensor<1x2x4xf32>) {
  %0:2 = nn.attention_block "core"(%q, %q, %q) {heads = 2 : i64, causal, blocks = 4 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  %1:2 = nn.attention_block "core"(%q, %q, %q, %0#0, %0#1) {heads = 2 : i64, blocks = 4 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x2x4xf32>)
  %2:3 = nn.attention_block_grad "core"(%q, %q, %q, %q, %q, %lse) {heads = 2 : i64, blocks = 4 : i64} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x2x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
  return
}
