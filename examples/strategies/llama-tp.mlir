// A Llama-like model, tensor parallel within pairs of devices and data parallel
// over four of them.
//
// Every block is cut as in Megatron: the linears that read the hidden state (query,
// key, value, gate, up) by columns, the ones that write it (proj, down) by rows.
// Attention and rotary embedding then work on their own heads: two key heads, each
// with the two query heads that share it. SwiGLU works on its own columns. What is
// exchanged over tp, per layer and micro-batch:
//
// - forward, the sum of the partial results of proj and of down;
// - backward, the sum of the gradients that query, key and value, and that gate and
//   up, send to the hidden state. Each is one all-reduce: partial gradients are added
//   before they are reduced.
//
// That is four all-reduces of the hidden state. RMSNorm is computed by both devices
// of a pair. The rows of the embedding and the columns of the head are split as well:
// the lookup gives partial sums (one all-reduce), the loss exchanges the maximum,
// the sum of exponentials and the logit of the label of every row, and the gradient
// of the head is one more all-reduce of the hidden state. Over dp, gradients are
// reduced once per step.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/llama-tp.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @llama(
      %ids: tensor<8x16xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<8x16xi32> {nn.role = "input", nn.path = "labels"},
      %table: tensor<64x32xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %norm1: tensor<3x32xbf16> {nn.role = "parameter", nn.path = "layers[*].norm_1.scale"},
      %wq: tensor<3x32x32xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.q.weight"},
      %wk: tensor<3x16x32xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.k.weight"},
      %wv: tensor<3x16x32xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.v.weight"},
      %wo: tensor<3x32x32xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %norm2: tensor<3x32xbf16> {nn.role = "parameter", nn.path = "layers[*].norm_2.scale"},
      %wg: tensor<3x48x32xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.gate.weight"},
      %wu: tensor<3x48x32xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %wd: tensor<3x32x48xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %normf: tensor<32xbf16> {nn.role = "parameter", nn.path = "norm_f.scale"},
      %head: tensor<64x32xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %x = nn.embedding "embedding"(%ids, %table) : (tensor<8x16xi32>, tensor<64x32xbf16>) -> tensor<8x16x32xbf16>

    %y = nn.repeat "layers" count 3
        carry(%h = %x : tensor<8x16x32xbf16>)
        slice(%norm1_i = %norm1 : tensor<3x32xbf16> to tensor<32xbf16>,
              %wq_i = %wq : tensor<3x32x32xbf16> to tensor<32x32xbf16>,
              %wk_i = %wk : tensor<3x16x32xbf16> to tensor<16x32xbf16>,
              %wv_i = %wv : tensor<3x16x32xbf16> to tensor<16x32xbf16>,
              %wo_i = %wo : tensor<3x32x32xbf16> to tensor<32x32xbf16>,
              %norm2_i = %norm2 : tensor<3x32xbf16> to tensor<32xbf16>,
              %wg_i = %wg : tensor<3x48x32xbf16> to tensor<48x32xbf16>,
              %wu_i = %wu : tensor<3x48x32xbf16> to tensor<48x32xbf16>,
              %wd_i = %wd : tensor<3x32x48xbf16> to tensor<32x48xbf16>)
        -> (tensor<8x16x32xbf16>) {
      %n1 = nn.rms_norm "norm_1"(%h, %norm1_i) : (tensor<8x16x32xbf16>, tensor<32xbf16>) -> tensor<8x16x32xbf16>
      %q = nn.linear "attention.q"(%n1, %wq_i) : (tensor<8x16x32xbf16>, tensor<32x32xbf16>) -> tensor<8x16x32xbf16>
      %k = nn.linear "attention.k"(%n1, %wk_i) : (tensor<8x16x32xbf16>, tensor<16x32xbf16>) -> tensor<8x16x16xbf16>
      %v = nn.linear "attention.v"(%n1, %wv_i) : (tensor<8x16x32xbf16>, tensor<16x32xbf16>) -> tensor<8x16x16xbf16>
      %qr = nn.rope "attention.rope_q"(%q) {heads = 4 : i64} : (tensor<8x16x32xbf16>) -> tensor<8x16x32xbf16>
      %kr = nn.rope "attention.rope_k"(%k) {heads = 2 : i64} : (tensor<8x16x16xbf16>) -> tensor<8x16x16xbf16>
      %a, %rows = nn.attention "attention.core"(%qr, %kr, %v) {heads = 4 : i64, kv_heads = 2 : i64, causal} : (tensor<8x16x32xbf16>, tensor<8x16x16xbf16>, tensor<8x16x16xbf16>) -> (tensor<8x16x32xbf16>, tensor<8x4x16xf32>)
      %p = nn.linear "attention.proj"(%a, %wo_i) : (tensor<8x16x32xbf16>, tensor<32x32xbf16>) -> tensor<8x16x32xbf16>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<8x16x32xbf16>, tensor<8x16x32xbf16>) -> tensor<8x16x32xbf16>
      %n2 = nn.rms_norm "norm_2"(%r1, %norm2_i) : (tensor<8x16x32xbf16>, tensor<32xbf16>) -> tensor<8x16x32xbf16>
      %g = nn.linear "mlp.gate"(%n2, %wg_i) : (tensor<8x16x32xbf16>, tensor<48x32xbf16>) -> tensor<8x16x48xbf16>
      %u = nn.linear "mlp.up"(%n2, %wu_i) : (tensor<8x16x32xbf16>, tensor<48x32xbf16>) -> tensor<8x16x48xbf16>
      %z = nn.swiglu "mlp.act"(%g, %u) : (tensor<8x16x48xbf16>, tensor<8x16x48xbf16>) -> tensor<8x16x48xbf16>
      %d = nn.linear "mlp.down"(%z, %wd_i) : (tensor<8x16x48xbf16>, tensor<32x48xbf16>) -> tensor<8x16x32xbf16>
      %r2 = nn.add "residual_2"(%r1, %d) : (tensor<8x16x32xbf16>, tensor<8x16x32xbf16>) -> tensor<8x16x32xbf16>
      nn.yield %r2 : tensor<8x16x32xbf16>
    }

    %n = nn.rms_norm "norm_f"(%y, %normf) : (tensor<8x16x32xbf16>, tensor<32xbf16>) -> tensor<8x16x32xbf16>
    %logits = nn.linear "head"(%n, %head) : (tensor<8x16x32xbf16>, tensor<64x32xbf16>) -> tensor<8x16x64xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x16x64xbf16>, tensor<8x16xi32>) -> (tensor<f32>, tensor<8x16xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @tp2_dp4 for @llama {
    mesh [dp = 4, tp = 2]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" {
      node "attention.q" { split op [out -> tp] }
      node "attention.k" { split op [out -> tp] }
      node "attention.v" { split op [out -> tp] }
      node "mlp.gate" { split op [out -> tp] }
      node "mlp.up" { split op [out -> tp] }
    }
    node "head" { split op [out -> tp] }
  }
}
