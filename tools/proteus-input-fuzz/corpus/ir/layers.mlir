
func.func @elementwise(%x: tensor<8x16xf32>, %b: tensor<16xf32>) {
  %0 = nn.silu "act"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = nn.tanh "act"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = nn.sigmoid "gate"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = nn.mul "gated"(%x, %b) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %4 = nn.scale "scores"(%x) {factor = 0.125 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %5 = nn.swiglu "mlp.act"(%x, %x) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %6 = nn.silu_grad "act"(%x, %x) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %7 = nn.tanh_grad "act"(%x, %x) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %8 = nn.sigmoid_grad "gate"(%x, %x) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %9:2 = nn.swiglu_grad "mlp.act"(%x, %x, %x) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  return
}

func.func @sequence(%q: tensor<8x4x24xbf16>, %s: tensor<8x2x4x4xf32>) {
  %0 = nn.rope "rope_q"(%q) {heads = 3 : i64} : (tensor<8x4x24xbf16>) -> tensor<8x4x24xbf16>
  %1 = nn.rope "rope_q"(%q) {heads = 3 : i64, base = 500000.0 : f64, inverse} : (tensor<8x4x24xbf16>) -> tensor<8x4x24xbf16>
  %2 = nn.causal_mask "mask"(%s) : (tensor<8x2x4x4xf32>) -> tensor<8x2x4x4xf32>
  %3 = nn.causal_mask "mask"(%s) {zero} : (tensor<8x2x4x4xf32>) -> tensor<8x2x4x4xf32>
  return
}

func.func @shapes(%x: tensor<8x4x16xf32>, %y: tensor<8x16xf32>) {
  %0 = nn.broadcast "b"(%y) {keep = array<i64: 0, 2>} : (tensor<8x16xf32>) -> tensor<8x4x16xf32>
  %1 = nn.transpose "t"(%x) {permutation = array<i64: 2, 0, 1>} : (tensor<8x4x16xf32>) -> tensor<16x8x4xf32>
  return
}

func.func @softmax(%x: tensor<8x16xf32>, %r: tensor<8xf32>) {
  %0 = nn.softmax "p"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = nn.softmax_grad "p"(%x, %x) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = nn.softmax_sum "p"(%x, %r) : (tensor<8x16xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = nn.softmax_normalize "p"(%x, %r, %r) : (tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x16xf32>
  %4 = nn.softmax_dot "p"(%x, %x) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8xf32>
  %5 = nn.softmax_input_grad "p"(%x, %x, %r) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<8x16xf32>
  return
}

func.func @normalisations(%x: tensor<8x16xf32>, %g: tensor<16xf32>, %s: tensor<1x16xf32>,
                          %t: tensor<2x16xf32>, %i: tensor<8x16x4x4xf32>) {
  %0 = nn.rms_norm "n"(%x, %g) : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %1:2 = nn.rms_norm_grad "n"(%x, %x, %g) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>)
  %2:3 = nn.batch_norm "bn"(%x, %g, %g) : (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>)
  %3:3 = nn.batch_norm "bn"(%i, %g, %g) {groups = 2 : i64} : (tensor<8x16x4x4xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16x4x4xf32>, tensor<2x16xf32>, tensor<2x16xf32>)
  %4:3 = nn.batch_norm_grad "bn"(%x, %x, %t, %t, %g) {groups = 2 : i64} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
  %5 = nn.batch_norm_sums "bn"(%x) : (tensor<8x16xf32>) -> tensor<2x16xf32>
  %6:2 = nn.batch_norm_statistics "bn"(%5) {count = 8 : i64} : (tensor<2x16xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>)
  %7 = nn.batch_norm_apply "bn"(%x, %s, %s, %g, %g) : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %8:2 = nn.batch_norm_grad_sums "bn"(%x, %x, %s, %s) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %9 = nn.batch_norm_input_grad "bn"(%x, %x, %s, %s, %g, %g, %g) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  return
}

func.func @recommender(%i: tensor<8x4xi32>, %t: tensor<100x16xf32>, %j: tensor<8x3x4xi32>,
                       %u: tensor<3x100x16xf32>, %x: tensor<8x5x16xf32>, %d: tensor<8x10xf32>) {
  %0 = nn.embedding_bag "e"(%i, %t) : (tensor<8x4xi32>, tensor<100x16xf32>) -> tensor<8x16xf32>
  %1 = nn.embedding_bag "e"(%j, %u) : (tensor<8x3x4xi32>, tensor<3x100x16xf32>) -> tensor<8x3x16xf32>
  %2 = nn.embedding_bag_grad "e"(%0, %i) : (tensor<8x16xf32>, tensor<8x4xi32>) -> tensor<100x16xf32>
  %rows = nn.embedding_bag "e"(%i, %t) {row_updates} : (tensor<8x4xi32>, tensor<100x16xf32>) -> tensor<8x16xf32>
  %new = nn.embedding_bag_update "e"(%t, %0, %i) : (tensor<100x16xf32>, tensor<8x16xf32>, tensor<8x4xi32>) -> tensor<100x16xf32>
  %3 = nn.interaction "z"(%x) : (tensor<8x5x16xf32>) -> tensor<8x10xf32>
  %4 = nn.interaction_grad "z"(%d, %x) : (tensor<8x10xf32>, tensor<8x5x16xf32>) -> tensor<8x5x16xf32>
  return
}

func.func @loss(%x: tensor<8x16xf32>, %d: tensor<f32>) {
  %0 = nn.mse_loss "loss"(%x, %x) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<f32>
  %1 = nn.mse_loss_grad "loss"(%d, %x, %x) : (tensor<f32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

func.func @recurrent(%x: tensor<8x5x64xf32>, %w: tensor<64x16xf32>, %b: tensor<64xf32>) {
  %h, %g, %c = nn.lstm "l"(%x, %w, %b) {reverse} : (tensor<8x5x64xf32>, tensor<64x16xf32>, tensor<64xf32>) -> (tensor<8x5x16xf32>, tensor<8x5x64xf32>, tensor<8x5x16xf32>)
  %dx = nn.lstm_grad "l"(%h, %w, %g, %c) {reverse} : (tensor<8x5x16xf32>, tensor<64x16xf32>, tensor<8x5x64xf32>, tensor<8x5x16xf32>) -> tensor<8x5x64xf32>
  %dw = nn.lstm_wgrad "l"(%dx, %h) {reverse} : (tensor<8x5x64xf32>, tensor<8x5x16xf32>) -> tensor<64x16xf32>
  return
}

func.func @generic(%x: tensor<8x16x64xf32>, %a: tensor<64x4xf32>) {
  %0 = nn.generic "scan"(%x, %a) {iterators = ["batch", "seq", "hidden", "state"],
      sizes = array<i64: 8, 16, 64, 4>, kinds = ["parallel", "opaque", "parallel", "sum"],
      indexing = [["batch", "seq", "hidden"], ["hidden", "state"], ["batch", "seq", "hidden"]],
      flops = 6.0 : f64, gradient_flops = 9.0 : f64, multilinear}
      : (tensor<8x16x64xf32>, tensor<64x4xf32>) -> tensor<8x16x64xf32>
  return
}
