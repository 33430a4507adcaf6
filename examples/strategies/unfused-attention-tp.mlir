// Attention written out, as a framework without a fused kernel launches it, under
// tensor parallelism: four devices hold one head each, and the batch is split over
// two such groups.
//
// The strategy names the three projections and the first linear of the MLP; the rest
// follows along the data flow. A split of the projections' columns is a split of
// heads: the reshape cuts [heads x dim], the transposition moves the heads, and
// the products, the mask, the softmax and the dropout treat every head by itself. So
// the scores, batch x heads x seq x seq, are never exchanged, and the collectives are
// those of fused attention: two all-reduces of the hidden state per layer in each
// direction, and the reduction of the gradients over dp. What differs is memory:
// the scores are kept for the backward pass.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/unfused-attention-tp.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @encoder(
      %x: tensor<8x16x24xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<8x16x32xf32> {nn.role = "input", nn.path = "target"},
      %win: tensor<32x24xf32> {nn.role = "parameter", nn.path = "in.weight"},
      %ln1_g: tensor<2x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %ln1_b: tensor<2x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wq: tensor<2x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.q.weight"},
      %wk: tensor<2x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.k.weight"},
      %wv: tensor<2x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.v.weight"},
      %wo: tensor<2x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %ln2_g: tensor<2x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %ln2_b: tensor<2x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %w1: tensor<2x64x32xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
      %w2: tensor<2x32x64xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %in = nn.linear "in"(%x, %win) : (tensor<8x16x24xf32>, tensor<32x24xf32>) -> tensor<8x16x32xf32>
    %y = nn.repeat "layers" count 2
        carry(%h = %in : tensor<8x16x32xf32>)
        slice(%ln1_g_i = %ln1_g : tensor<2x32xf32> to tensor<32xf32>,
              %ln1_b_i = %ln1_b : tensor<2x32xf32> to tensor<32xf32>,
              %wq_i = %wq : tensor<2x32x32xf32> to tensor<32x32xf32>,
              %wk_i = %wk : tensor<2x32x32xf32> to tensor<32x32xf32>,
              %wv_i = %wv : tensor<2x32x32xf32> to tensor<32x32xf32>,
              %wo_i = %wo : tensor<2x32x32xf32> to tensor<32x32xf32>,
              %ln2_g_i = %ln2_g : tensor<2x32xf32> to tensor<32xf32>,
              %ln2_b_i = %ln2_b : tensor<2x32xf32> to tensor<32xf32>,
              %w1_i = %w1 : tensor<2x64x32xf32> to tensor<64x32xf32>,
              %w2_i = %w2 : tensor<2x32x64xf32> to tensor<32x64xf32>)
        -> (tensor<8x16x32xf32>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
      %q = nn.linear "attention.q"(%n1, %wq_i) : (tensor<8x16x32xf32>, tensor<32x32xf32>) -> tensor<8x16x32xf32>
      %q_4 = nn.reshape "attention.q_heads"(%q) : (tensor<8x16x32xf32>) -> tensor<8x16x4x8xf32>
      %q_t = nn.transpose "attention.q_transpose"(%q_4) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x16x4x8xf32>) -> tensor<8x4x16x8xf32>
      %k = nn.linear "attention.k"(%n1, %wk_i) : (tensor<8x16x32xf32>, tensor<32x32xf32>) -> tensor<8x16x32xf32>
      %k_4 = nn.reshape "attention.k_heads"(%k) : (tensor<8x16x32xf32>) -> tensor<8x16x4x8xf32>
      %k_t = nn.transpose "attention.k_transpose"(%k_4) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x16x4x8xf32>) -> tensor<8x4x16x8xf32>
      %v = nn.linear "attention.v"(%n1, %wv_i) : (tensor<8x16x32xf32>, tensor<32x32xf32>) -> tensor<8x16x32xf32>
      %v_4 = nn.reshape "attention.v_heads"(%v) : (tensor<8x16x32xf32>) -> tensor<8x16x4x8xf32>
      %v_t = nn.transpose "attention.v_transpose"(%v_4) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x16x4x8xf32>) -> tensor<8x4x16x8xf32>
      %scores = nn.matmul "attention.scores"(%q_t, %k_t) {transpose_b} : (tensor<8x4x16x8xf32>, tensor<8x4x16x8xf32>) -> tensor<8x4x16x16xf32>
      %scaled = nn.scale "attention.scale"(%scores) {factor = 0.35355339059327379 : f64} : (tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
      %masked = nn.causal_mask "attention.mask"(%scaled) : (tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
      %weights = nn.softmax "attention.softmax"(%masked) : (tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
      %kept, %dropped = nn.dropout "attention.dropout"(%weights) {probability = 0.1 : f64, seed = 3 : i64} : (tensor<8x4x16x16xf32>) -> (tensor<8x4x16x16xf32>, tensor<8x4x16x16xi8>)
      %context = nn.matmul "attention.context"(%kept, %v_t) : (tensor<8x4x16x16xf32>, tensor<8x4x16x8xf32>) -> tensor<8x4x16x8xf32>
      %context_t = nn.transpose "attention.merge"(%context) {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x4x16x8xf32>) -> tensor<8x16x4x8xf32>
      %context_3 = nn.reshape "attention.flatten"(%context_t) : (tensor<8x16x4x8xf32>) -> tensor<8x16x32xf32>
      %p = nn.linear "attention.proj"(%context_3, %wo_i) : (tensor<8x16x32xf32>, tensor<32x32xf32>) -> tensor<8x16x32xf32>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
      %f1 = nn.linear "mlp.fc1"(%n2, %w1_i) : (tensor<8x16x32xf32>, tensor<64x32xf32>) -> tensor<8x16x64xf32>
      %g = nn.gelu "mlp.act"(%f1) : (tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
      %f2 = nn.linear "mlp.fc2"(%g, %w2_i) : (tensor<8x16x64xf32>, tensor<32x64xf32>) -> tensor<8x16x32xf32>
      %r2 = nn.add "residual_2"(%r1, %f2) : (tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
      nn.yield %r2 : tensor<8x16x32xf32>
    }
    %loss = nn.mse_loss "loss"(%y, %target) : (tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }

  strategy.tree @tp4_dp2 for @encoder {
    mesh [dp = 2, tp = 4]
    split op [batch -> dp]
    node "layers[*]" {
      node "attention.q" { split op [out -> tp] }
      node "attention.k" { split op [out -> tp] }
      node "attention.v" { split op [out -> tp] }
      node "mlp.fc1" { split op [out -> tp] }
    }
  }
}
