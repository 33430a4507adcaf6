// Zero bubble (ZB-H1): a backward pass has two parts, the gradient of a stage's
// input, for which the stage in front waits, and the gradients of its parameters,
// for which nobody waits. The first (I) runs as the backward pass does in 1F1B, the
// second (W) fills the time in which a stage would idle. Where forward and both
// gradients take the same time F = I = W, the idle time is (p - 1) (F + I - W), a
// third of that of 1F1B, and no stage holds more than p micro-batches, as many as the
// first one in 1F1B.
//
// What W needs of a layer (its input and the gradient of its output) is kept until W
// has run. Communication is that of 1F1B. The first stage has nobody in front: its
// backward pass is not split.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/pipeline-zero-bubble.mlir
//   proteus-opt --check-lowering examples/strategies/pipeline-zero-bubble.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @gpt(
      %ids: tensor<8x16xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<8x16xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<64x32xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %ln1_g: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %ln1_b: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wqkv: tensor<4x96x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %bqkv: tensor<4x96xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
      %wproj: tensor<4x32x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %bproj: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
      %ln2_g: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %ln2_b: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %wfc1: tensor<4x128x32xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
      %bfc1: tensor<4x128xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.bias"},
      %wfc2: tensor<4x32x128xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
      %bfc2: tensor<4x32xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.bias"},
      %lnf_g: tensor<32xf32> {nn.role = "parameter", nn.path = "ln_f.scale"},
      %lnf_b: tensor<32xf32> {nn.role = "parameter", nn.path = "ln_f.shift"},
      %whead: tensor<64x32xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %x = nn.embedding "embedding"(%ids, %wte) : (tensor<8x16xi32>, tensor<64x32xf32>) -> tensor<8x16x32xf32>
    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<8x16x32xf32>)
        slice(%ln1_g_i = %ln1_g : tensor<4x32xf32> to tensor<32xf32>,
              %ln1_b_i = %ln1_b : tensor<4x32xf32> to tensor<32xf32>,
              %wqkv_i = %wqkv : tensor<4x96x32xf32> to tensor<96x32xf32>,
              %bqkv_i = %bqkv : tensor<4x96xf32> to tensor<96xf32>,
              %wproj_i = %wproj : tensor<4x32x32xf32> to tensor<32x32xf32>,
              %bproj_i = %bproj : tensor<4x32xf32> to tensor<32xf32>,
              %ln2_g_i = %ln2_g : tensor<4x32xf32> to tensor<32xf32>,
              %ln2_b_i = %ln2_b : tensor<4x32xf32> to tensor<32xf32>,
              %wfc1_i = %wfc1 : tensor<4x128x32xf32> to tensor<128x32xf32>,
              %bfc1_i = %bfc1 : tensor<4x128xf32> to tensor<128xf32>,
              %wfc2_i = %wfc2 : tensor<4x32x128xf32> to tensor<32x128xf32>,
              %bfc2_i = %bfc2 : tensor<4x32xf32> to tensor<32xf32>)
        -> (tensor<8x16x32xf32>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
      %qkv = nn.linear "attention.qkv"(%n1, %wqkv_i, %bqkv_i) : (tensor<8x16x32xf32>, tensor<96x32xf32>, tensor<96xf32>) -> tensor<8x16x96xf32>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 4 : i64} : (tensor<8x16x96xf32>) -> (tensor<8x16x32xf32>, tensor<8x16x32xf32>, tensor<8x16x32xf32>)
      %a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x16x32xf32>, tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> (tensor<8x16x32xf32>, tensor<8x4x16xf32>)
      %p = nn.linear "attention.proj"(%a, %wproj_i, %bproj_i) : (tensor<8x16x32xf32>, tensor<32x32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
      %f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i, %bfc1_i) : (tensor<8x16x32xf32>, tensor<128x32xf32>, tensor<128xf32>) -> tensor<8x16x128xf32>
      %g = nn.gelu "mlp.act"(%f1) : (tensor<8x16x128xf32>) -> tensor<8x16x128xf32>
      %f2 = nn.linear "mlp.fc2"(%g, %wfc2_i, %bfc2_i) : (tensor<8x16x128xf32>, tensor<32x128xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
      %r2 = nn.add "residual_2"(%r1, %f2) : (tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
      nn.yield %r2 : tensor<8x16x32xf32>
    }
    %n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<8x16x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
    %logits = nn.linear "head"(%n, %whead) : (tensor<8x16x32xf32>, tensor<64x32xf32>) -> tensor<8x16x64xf32>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x16x64xf32>, tensor<8x16xi32>) -> (tensor<f32>, tensor<8x16xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @zero_bubble for @gpt {
    mesh [pp = 4]
    schedule micro_batches = 8 order = "zero-bubble"
    node "embedding" { at [pp = 0] }
    node "layers[*]" { stages pp }
    node "head" { at [pp = 3] }
  }
}
