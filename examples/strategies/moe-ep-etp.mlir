// Expert parallelism with tensor parallelism inside the experts, on one DGX A100:
// data parallel 2 x expert parallel 2 x tensor parallel 2.
//
// The batch is split over dp and ep. Attention is split by heads over tp (Megatron).
// The 8 experts are split over ep, and the two matrices of each expert over tp, the
// first by columns, the second by rows. Each layer and micro-batch then needs
//
//   forward    all-reduce over tp behind the attention projection
//              all-to-all over ep from nn.moe_dispatch to the experts
//              all-to-all over ep from the experts to nn.moe_combine, between the
//              reduce-scatter and the all-gather over tp of a sum: the second matrix
//              of an expert gives partial sums
//   backward   all-to-all over ep of the gradient of the experts' output
//              all-to-all over ep of the gradient of their input, again between
//              the halves of a sum over tp: each device has the share of its columns
//              all-reduce over tp of the gradient of the input of attention
//
// A sum in two halves with the all-to-all in between moves half the bytes over ep
// than an all-reduce before or behind it; the planner finds it by the costs.
//
// Gradients of the experts are reduced over dp, all others over dp and ep.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/moe-ep-etp.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @moe(
      %ids: tensor<16x16xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<16x16xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<64x32xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      // One slice per layer.
      %ln1_g: tensor<2x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %ln1_b: tensor<2x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wqkv: tensor<2x96x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %wproj: tensor<2x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %ln2_g: tensor<2x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %ln2_b: tensor<2x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %wgate: tensor<2x8x32xf32> {nn.role = "parameter", nn.path = "layers[*].moe.gate.weight"},
      %wfc1: tensor<2x8x64x32xf32> {nn.role = "parameter", nn.path = "layers[*].moe.experts.fc1.weight"},
      %wfc2: tensor<2x8x32x64xf32> {nn.role = "parameter", nn.path = "layers[*].moe.experts.fc2.weight"},
      %whead: tensor<64x32xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %x = nn.embedding "embedding"(%ids, %wte) : (tensor<16x16xi32>, tensor<64x32xf32>) -> tensor<16x16x32xf32>

    %y = nn.repeat "layers" count 2
        carry(%h = %x : tensor<16x16x32xf32>)
        slice(%ln1_g_i = %ln1_g : tensor<2x32xf32> to tensor<32xf32>,
              %ln1_b_i = %ln1_b : tensor<2x32xf32> to tensor<32xf32>,
              %wqkv_i = %wqkv : tensor<2x96x32xf32> to tensor<96x32xf32>,
              %wproj_i = %wproj : tensor<2x32x32xf32> to tensor<32x32xf32>,
              %ln2_g_i = %ln2_g : tensor<2x32xf32> to tensor<32xf32>,
              %ln2_b_i = %ln2_b : tensor<2x32xf32> to tensor<32xf32>,
              %wgate_i = %wgate : tensor<2x8x32xf32> to tensor<8x32xf32>,
              %wfc1_i = %wfc1 : tensor<2x8x64x32xf32> to tensor<8x64x32xf32>,
              %wfc2_i = %wfc2 : tensor<2x8x32x64xf32> to tensor<8x32x64xf32>)
        -> (tensor<16x16x32xf32>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<16x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<16x16x32xf32>
      %qkv = nn.linear "attention.qkv"(%n1, %wqkv_i) : (tensor<16x16x32xf32>, tensor<96x32xf32>) -> tensor<16x16x96xf32>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 4 : i64} : (tensor<16x16x96xf32>) -> (tensor<16x16x32xf32>, tensor<16x16x32xf32>, tensor<16x16x32xf32>)
      %a, %alse = nn.attention "attention.core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<16x16x32xf32>, tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> (tensor<16x16x32xf32>, tensor<16x4x16xf32>)
      %p = nn.linear "attention.proj"(%a, %wproj_i) : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<16x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<16x16x32xf32>

      // 16 groups of 16 tokens; an expert has 1.25 * 16 * 2 / 8 = 5 slots per group.
      %logits = nn.linear "moe.gate"(%n2, %wgate_i) : (tensor<16x16x32xf32>, tensor<8x32xf32>) -> tensor<16x16x8xf32>
      %gates, %chosen, %slots = nn.moe_route "moe.route"(%logits) {groups = 16 : i64, capacity_factor = 1.25 : f64, normalize} : (tensor<16x16x8xf32>) -> (tensor<16x16x2xf32>, tensor<16x16x2xi32>, tensor<16x16x2xi32>)
      %d = nn.moe_dispatch "moe.dispatch"(%n2, %chosen, %slots) : (tensor<16x16x32xf32>, tensor<16x16x2xi32>, tensor<16x16x2xi32>) -> tensor<8x16x5x32xf32>
      %f1 = nn.expert_linear "moe.experts.fc1"(%d, %wfc1_i) : (tensor<8x16x5x32xf32>, tensor<8x64x32xf32>) -> tensor<8x16x5x64xf32>
      %g = nn.gelu "moe.experts.act"(%f1) : (tensor<8x16x5x64xf32>) -> tensor<8x16x5x64xf32>
      %f2 = nn.expert_linear "moe.experts.fc2"(%g, %wfc2_i) : (tensor<8x16x5x64xf32>, tensor<8x32x64xf32>) -> tensor<8x16x5x32xf32>
      %m = nn.moe_combine "moe.combine"(%f2, %chosen, %slots, %gates) : (tensor<8x16x5x32xf32>, tensor<16x16x2xi32>, tensor<16x16x2xi32>, tensor<16x16x2xf32>) -> tensor<16x16x32xf32>

      %r2 = nn.add "residual_2"(%r1, %m) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
      nn.yield %r2 : tensor<16x16x32xf32>
    }

    %out = nn.linear "head"(%y, %whead) : (tensor<16x16x32xf32>, tensor<64x32xf32>) -> tensor<16x16x64xf32>
    %loss, %lse = nn.cross_entropy "loss"(%out, %labels) : (tensor<16x16x64xf32>, tensor<16x16xi32>) -> (tensor<f32>, tensor<16x16xf32>)
    return %loss : tensor<f32>
  }

  // In the experts, the batch stays split over dp alone: ep has taken the experts.
  // The second matrix follows the first.
  strategy.tree @dp2_ep2_tp2 for @moe {
    mesh [dp = 2, ep = 2, tp = 2]
    schedule micro_batches = 2
    split op [batch -> [dp, ep]]
    node "layers[*]" {
      node "attention.qkv" { split op [out -> tp] }
      node "moe.experts" {
        split op [batch -> dp, expert -> ep]
        node "fc1" { split op [out -> tp] }
      }
    }
  }
}
