// Shared experts beside many small routed ones (as in DeepSeekMoE), expert parallel
// over all 8 devices of a DGX A100.
//
// Every token uses the shared expert, an ordinary feed-forward block that is data
// parallel like attention, and 4 of 16 small routed experts, 2 of which live on each
// device. Gates are the probabilities as they are, not normalised over the chosen
// experts. Per layer and micro-batch there are 4 all-to-alls, 2 forward and 2
// backward; the work of the shared expert does not wait for them. Every device has
// experts of its own, so their gradients are reduced over nothing; all others are
// reduced over ep, which is the data-parallel axis of the rest of the model.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/moe-deepseek-shared.mlir

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
      %wshared1: tensor<2x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].moe.shared.fc1.weight"},
      %wshared2: tensor<2x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].moe.shared.fc2.weight"},
      %wgate: tensor<2x16x32xf32> {nn.role = "parameter", nn.path = "layers[*].moe.gate.weight"},
      %wfc1: tensor<2x16x16x32xf32> {nn.role = "parameter", nn.path = "layers[*].moe.experts.fc1.weight"},
      %wfc2: tensor<2x16x32x16xf32> {nn.role = "parameter", nn.path = "layers[*].moe.experts.fc2.weight"},
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
              %wshared1_i = %wshared1 : tensor<2x32x32xf32> to tensor<32x32xf32>,
              %wshared2_i = %wshared2 : tensor<2x32x32xf32> to tensor<32x32xf32>,
              %wgate_i = %wgate : tensor<2x16x32xf32> to tensor<16x32xf32>,
              %wfc1_i = %wfc1 : tensor<2x16x16x32xf32> to tensor<16x16x32xf32>,
              %wfc2_i = %wfc2 : tensor<2x16x32x16xf32> to tensor<16x32x16xf32>)
        -> (tensor<16x16x32xf32>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<16x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<16x16x32xf32>
      %qkv = nn.linear "attention.qkv"(%n1, %wqkv_i) : (tensor<16x16x32xf32>, tensor<96x32xf32>) -> tensor<16x16x96xf32>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 4 : i64} : (tensor<16x16x96xf32>) -> (tensor<16x16x32xf32>, tensor<16x16x32xf32>, tensor<16x16x32xf32>)
      %a, %alse = nn.attention "attention.core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<16x16x32xf32>, tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> (tensor<16x16x32xf32>, tensor<16x4x16xf32>)
      %p = nn.linear "attention.proj"(%a, %wproj_i) : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<16x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<16x16x32xf32>

      %s1 = nn.linear "moe.shared.fc1"(%n2, %wshared1_i) : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
      %s2 = nn.gelu "moe.shared.act"(%s1) : (tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
      %s3 = nn.linear "moe.shared.fc2"(%s2, %wshared2_i) : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>

      // 16 groups of 16 tokens; an expert has 1.5 * 16 * 4 / 16 = 6 slots per group.
      %logits = nn.linear "moe.gate"(%n2, %wgate_i) : (tensor<16x16x32xf32>, tensor<16x32xf32>) -> tensor<16x16x16xf32>
      %gates, %chosen, %slots = nn.moe_route "moe.route"(%logits) {groups = 16 : i64, capacity_factor = 1.5 : f64} : (tensor<16x16x16xf32>) -> (tensor<16x16x4xf32>, tensor<16x16x4xi32>, tensor<16x16x4xi32>)
      %d = nn.moe_dispatch "moe.dispatch"(%n2, %chosen, %slots) : (tensor<16x16x32xf32>, tensor<16x16x4xi32>, tensor<16x16x4xi32>) -> tensor<16x16x6x32xf32>
      %f1 = nn.expert_linear "moe.experts.fc1"(%d, %wfc1_i) : (tensor<16x16x6x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x6x16xf32>
      %g = nn.gelu "moe.experts.act"(%f1) : (tensor<16x16x6x16xf32>) -> tensor<16x16x6x16xf32>
      %f2 = nn.expert_linear "moe.experts.fc2"(%g, %wfc2_i) : (tensor<16x16x6x16xf32>, tensor<16x32x16xf32>) -> tensor<16x16x6x32xf32>
      %m = nn.moe_combine "moe.combine"(%f2, %chosen, %slots, %gates) : (tensor<16x16x6x32xf32>, tensor<16x16x4xi32>, tensor<16x16x4xi32>, tensor<16x16x4xf32>) -> tensor<16x16x32xf32>

      %ms = nn.add "moe.sum"(%s3, %m) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
      %r2 = nn.add "residual_2"(%r1, %ms) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
      nn.yield %r2 : tensor<16x16x32xf32>
    }

    %out = nn.linear "head"(%y, %whead) : (tensor<16x16x32xf32>, tensor<64x32xf32>) -> tensor<16x16x64xf32>
    %loss, %lse = nn.cross_entropy "loss"(%out, %labels) : (tensor<16x16x64xf32>, tensor<16x16xi32>) -> (tensor<f32>, tensor<16x16xf32>)
    return %loss : tensor<f32>
  }

  // In the experts the batch is not split any more: ep has taken the experts.
  strategy.tree @ep8 for @moe {
    mesh [ep = 8]
    schedule micro_batches = 2
    split op [batch -> ep]
    node "layers[*].moe.experts" { split op [batch -> [], expert -> ep] }
  }
}
