// Gradient clipping and loss scaling in a hybrid of everything that spreads
// gradients: 2 pipeline stages x 2-way data parallel x 2-way tensor parallel, with
// optimizer states sharded over dp (ZeRO-1), on one DGX A100.
//
// The loss gradient starts from 1024 instead of 1. When all gradients are there,
// every device squares and adds up those elements that its update will use, and looks
// for infinities. An element must count once over the whole mesh, so what is to be
// summed over which devices follows from the layout of each gradient:
//
//   sharded by tp and ZeRO (the matrices)     sum over dp and tp
//   sharded by ZeRO alone (norms, embedding)  sum over dp
//
// That makes two all-reduces of one number per stage, and two more, of the maximum,
// for the check. The stages add up by one message to the next stage; the last one
// knows the norm and sends the factor min(1, clip / norm) / 1024 back. No parameter
// is updated before: this is the synchronisation in front of the optimizer.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/grad-clip.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @gpt(
      %ids: tensor<16x8xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<16x8xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<64x32xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      // One slice per layer.
      %ln1_g: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %ln1_b: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wqkv: tensor<4x96x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %wproj: tensor<4x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %ln2_g: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %ln2_b: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %wfc1: tensor<4x64x32xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
      %wfc2: tensor<4x32x64xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
      %whead: tensor<64x32xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, clip = 0.25, loss_scale = 1024.0>} {
    %x = nn.embedding "embedding"(%ids, %wte) : (tensor<16x8xi32>, tensor<64x32xf32>) -> tensor<16x8x32xf32>

    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<16x8x32xf32>)
        slice(%ln1_g_i = %ln1_g : tensor<4x32xf32> to tensor<32xf32>,
              %ln1_b_i = %ln1_b : tensor<4x32xf32> to tensor<32xf32>,
              %wqkv_i = %wqkv : tensor<4x96x32xf32> to tensor<96x32xf32>,
              %wproj_i = %wproj : tensor<4x32x32xf32> to tensor<32x32xf32>,
              %ln2_g_i = %ln2_g : tensor<4x32xf32> to tensor<32xf32>,
              %ln2_b_i = %ln2_b : tensor<4x32xf32> to tensor<32xf32>,
              %wfc1_i = %wfc1 : tensor<4x64x32xf32> to tensor<64x32xf32>,
              %wfc2_i = %wfc2 : tensor<4x32x64xf32> to tensor<32x64xf32>)
        -> (tensor<16x8x32xf32>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<16x8x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<16x8x32xf32>
      %qkv = nn.linear "attention.qkv"(%n1, %wqkv_i) : (tensor<16x8x32xf32>, tensor<96x32xf32>) -> tensor<16x8x96xf32>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 4 : i64} : (tensor<16x8x96xf32>) -> (tensor<16x8x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>)
      %a, %alse = nn.attention "attention.core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<16x8x32xf32>, tensor<16x8x32xf32>, tensor<16x8x32xf32>) -> (tensor<16x8x32xf32>, tensor<16x4x8xf32>)
      %p = nn.linear "attention.proj"(%a, %wproj_i) : (tensor<16x8x32xf32>, tensor<32x32xf32>) -> tensor<16x8x32xf32>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<16x8x32xf32>, tensor<16x8x32xf32>) -> tensor<16x8x32xf32>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<16x8x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<16x8x32xf32>
      %f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i) : (tensor<16x8x32xf32>, tensor<64x32xf32>) -> tensor<16x8x64xf32>
      %g = nn.gelu "mlp.act"(%f1) : (tensor<16x8x64xf32>) -> tensor<16x8x64xf32>
      %f2 = nn.linear "mlp.fc2"(%g, %wfc2_i) : (tensor<16x8x64xf32>, tensor<32x64xf32>) -> tensor<16x8x32xf32>
      %r2 = nn.add "residual_2"(%r1, %f2) : (tensor<16x8x32xf32>, tensor<16x8x32xf32>) -> tensor<16x8x32xf32>
      nn.yield %r2 : tensor<16x8x32xf32>
    }

    %out = nn.linear "head"(%y, %whead) : (tensor<16x8x32xf32>, tensor<64x32xf32>) -> tensor<16x8x64xf32>
    %loss, %lse = nn.cross_entropy "loss"(%out, %labels) : (tensor<16x8x64xf32>, tensor<16x8xi32>) -> (tensor<f32>, tensor<16x8xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @pp2_dp2_tp2 for @gpt {
    mesh [pp = 2, dp = 2, tp = 2]
    schedule micro_batches = 4
    split op [batch -> dp]
    split state [0 -> dp]
    node "layers[*]" {
      stages pp
      // Tensor parallel matrices: columns, then rows. States are sharded further.
      node "attention.qkv" {
        split op [out -> tp]
        split state [0 -> [tp, dp]]
      }
      node "attention.proj" { split state [0 -> dp, 1 -> tp] }
      node "mlp.fc1" {
        split op [out -> tp]
        split state [0 -> [tp, dp]]
      }
      node "mlp.fc2" { split state [0 -> dp, 1 -> tp] }
    }
  }
}
