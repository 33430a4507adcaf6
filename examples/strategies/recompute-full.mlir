// Full recomputation under tensor parallelism: a layer keeps its input only, and
// runs its forward pass again in front of its backward pass. The two all-reduces of
// the forward pass are repeated as well, which makes six per layer and micro-batch
// instead of four.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/recompute-full.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @gpt(
      %ids: tensor<8x16xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<8x16xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<64x32xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<16x32xf32> {nn.role = "parameter", nn.path = "position.weight"},
      %ln1_g: tensor<3x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %ln1_b: tensor<3x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wqkv: tensor<3x96x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %wproj: tensor<3x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %ln2_g: tensor<3x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %ln2_b: tensor<3x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %wfc1: tensor<3x64x32xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
      %wfc2: tensor<3x32x64xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
      %lnf_g: tensor<32xf32> {nn.role = "parameter", nn.path = "ln_f.scale"},
      %lnf_b: tensor<32xf32> {nn.role = "parameter", nn.path = "ln_f.shift"},
      %whead: tensor<64x32xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %tokens = nn.embedding "embedding"(%ids, %wte) : (tensor<8x16xi32>, tensor<64x32xf32>) -> tensor<8x16x32xf32>
    %x = nn.add "position"(%tokens, %wpe) : (tensor<8x16x32xf32>, tensor<16x32xf32>) -> tensor<8x16x32xf32>
    %y = nn.repeat "layers" count 3
        carry(%h = %x : tensor<8x16x32xf32>)
        slice(%ln1_g_i = %ln1_g : tensor<3x32xf32> to tensor<32xf32>,
              %ln1_b_i = %ln1_b : tensor<3x32xf32> to tensor<32xf32>,
              %wqkv_i = %wqkv : tensor<3x96x32xf32> to tensor<96x32xf32>,
              %wproj_i = %wproj : tensor<3x32x32xf32> to tensor<32x32xf32>,
              %ln2_g_i = %ln2_g : tensor<3x32xf32> to tensor<32xf32>,
              %ln2_b_i = %ln2_b : tensor<3x32xf32> to tensor<32xf32>,
              %wfc1_i = %wfc1 : tensor<3x64x32xf32> to tensor<64x32xf32>,
              %wfc2_i = %wfc2 : tensor<3x32x64xf32> to tensor<32x64xf32>)
        -> (tensor<8x16x32xf32>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
      %qkv = nn.linear "attention.qkv"(%n1, %wqkv_i) : (tensor<8x16x32xf32>, tensor<96x32xf32>) -> tensor<8x16x96xf32>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 4 : i64} : (tensor<8x16x96xf32>) -> (tensor<8x16x32xf32>, tensor<8x16x32xf32>, tensor<8x16x32xf32>)
      %a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x16x32xf32>, tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> (tensor<8x16x32xf32>, tensor<8x4x16xf32>)
      %p = nn.linear "attention.proj"(%a, %wproj_i) : (tensor<8x16x32xf32>, tensor<32x32xf32>) -> tensor<8x16x32xf32>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
      %f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i) : (tensor<8x16x32xf32>, tensor<64x32xf32>) -> tensor<8x16x64xf32>
      %g = nn.gelu "mlp.act"(%f1) : (tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
      %f2 = nn.linear "mlp.fc2"(%g, %wfc2_i) : (tensor<8x16x64xf32>, tensor<32x64xf32>) -> tensor<8x16x32xf32>
      %r2 = nn.add "residual_2"(%r1, %f2) : (tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
      nn.yield %r2 : tensor<8x16x32xf32>
    }
    %n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
    %logits = nn.linear "head"(%n, %whead) : (tensor<8x16x32xf32>, tensor<64x32xf32>) -> tensor<8x16x64xf32>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x16x64xf32>, tensor<8x16xi32>) -> (tensor<f32>, tensor<8x16xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @recompute_full for @gpt {
    mesh [tp = 4]
    schedule micro_batches = 2
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" {
      recompute
      node "attention.qkv" { split op [out -> tp] }
      node "mlp.fc1" { split op [out -> tp] }
    }
    node "head" { split op [out -> tp] }
  }
}
