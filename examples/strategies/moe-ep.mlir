// Expert parallelism: a transformer whose feed-forward blocks are mixtures of 8
// experts, of which each token uses 2 (as in Mixtral), on one DGX A100.
//
// The batch is split over all 8 devices (dp x ep): attention, the router and all
// other layers are data parallel. The experts are split over ep, 2 on each of 4
// devices, and there are 2 replicas of them (dp). A token therefore has to reach the
// devices of its experts and come back:
//
//   forward    nn.moe_dispatch  -> all-to-all over ep -> experts
//              experts          -> all-to-all over ep -> nn.moe_combine
//   backward   the same two ways, in the opposite order
//
// 4 all-to-alls per layer and micro-batch. Gradients of the experts are reduced over
// dp only, since no two devices of an ep group hold the same expert; all other
// gradients over dp and ep.
//
// Slots at the experts are given away per group of tokens. Each sample is a group of
// its own here, so that neither the devices nor the micro-batches change the result.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/moe-ep.mlir

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
  strategy.tree @dp2_ep4 for @moe {
    mesh [dp = 2, ep = 4]
    schedule micro_batches = 2
    split op [batch -> [dp, ep]]
    node "layers[*].moe.experts" { split op [batch -> dp, expert -> ep] }
  }
}
