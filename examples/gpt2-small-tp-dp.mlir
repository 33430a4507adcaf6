// GPT-2 small (12 layers, 124 M parameters and an untied head) on one DGX A100:
// tensor parallel over 4 GPUs, data parallel over 2.
//
//   proteus-opt --lower-strategy --simulate examples/gpt2-small-tp-dp.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @gpt2(
      %ids: tensor<32x1024xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<32x1024xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<50304x768xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<1024x768xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      // One slice per layer.
      %ln1_g: tensor<12x768xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %ln1_b: tensor<12x768xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wqkv: tensor<12x2304x768xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %bqkv: tensor<12x2304xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
      %wproj: tensor<12x768x768xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %bproj: tensor<12x768xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
      %ln2_g: tensor<12x768xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %ln2_b: tensor<12x768xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %wfc1: tensor<12x3072x768xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
      %bfc1: tensor<12x3072xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.bias"},
      %wfc2: tensor<12x768x3072xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
      %bfc2: tensor<12x768xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.bias"},
      %lnf_g: tensor<768xbf16> {nn.role = "parameter", nn.path = "ln_f.scale"},
      %lnf_b: tensor<768xbf16> {nn.role = "parameter", nn.path = "ln_f.shift"},
      %whead: tensor<50304x768xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %tokens = nn.embedding "embedding"(%ids, %wte) : (tensor<32x1024xi32>, tensor<50304x768xbf16>) -> tensor<32x1024x768xbf16>
    %x = nn.add "position"(%tokens, %wpe) : (tensor<32x1024x768xbf16>, tensor<1024x768xbf16>) -> tensor<32x1024x768xbf16>

    %y = nn.repeat "layers" count 12
        carry(%h = %x : tensor<32x1024x768xbf16>)
        slice(%ln1_g_i = %ln1_g : tensor<12x768xbf16> to tensor<768xbf16>,
              %ln1_b_i = %ln1_b : tensor<12x768xbf16> to tensor<768xbf16>,
              %wqkv_i = %wqkv : tensor<12x2304x768xbf16> to tensor<2304x768xbf16>,
              %bqkv_i = %bqkv : tensor<12x2304xbf16> to tensor<2304xbf16>,
              %wproj_i = %wproj : tensor<12x768x768xbf16> to tensor<768x768xbf16>,
              %bproj_i = %bproj : tensor<12x768xbf16> to tensor<768xbf16>,
              %ln2_g_i = %ln2_g : tensor<12x768xbf16> to tensor<768xbf16>,
              %ln2_b_i = %ln2_b : tensor<12x768xbf16> to tensor<768xbf16>,
              %wfc1_i = %wfc1 : tensor<12x3072x768xbf16> to tensor<3072x768xbf16>,
              %bfc1_i = %bfc1 : tensor<12x3072xbf16> to tensor<3072xbf16>,
              %wfc2_i = %wfc2 : tensor<12x768x3072xbf16> to tensor<768x3072xbf16>,
              %bfc2_i = %bfc2 : tensor<12x768xbf16> to tensor<768xbf16>)
        -> (tensor<32x1024x768xbf16>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<32x1024x768xbf16>, tensor<768xbf16>, tensor<768xbf16>) -> tensor<32x1024x768xbf16>
      %qkv = nn.linear "attention.qkv"(%n1, %wqkv_i, %bqkv_i) : (tensor<32x1024x768xbf16>, tensor<2304x768xbf16>, tensor<2304xbf16>) -> tensor<32x1024x2304xbf16>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 12 : i64} : (tensor<32x1024x2304xbf16>) -> (tensor<32x1024x768xbf16>, tensor<32x1024x768xbf16>, tensor<32x1024x768xbf16>)
      %a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 12 : i64, causal} : (tensor<32x1024x768xbf16>, tensor<32x1024x768xbf16>, tensor<32x1024x768xbf16>) -> (tensor<32x1024x768xbf16>, tensor<32x12x1024xf32>)
      %p = nn.linear "attention.proj"(%a, %wproj_i, %bproj_i) : (tensor<32x1024x768xbf16>, tensor<768x768xbf16>, tensor<768xbf16>) -> tensor<32x1024x768xbf16>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<32x1024x768xbf16>, tensor<32x1024x768xbf16>) -> tensor<32x1024x768xbf16>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<32x1024x768xbf16>, tensor<768xbf16>, tensor<768xbf16>) -> tensor<32x1024x768xbf16>
      %f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i, %bfc1_i) : (tensor<32x1024x768xbf16>, tensor<3072x768xbf16>, tensor<3072xbf16>) -> tensor<32x1024x3072xbf16>
      %g = nn.gelu "mlp.act"(%f1) : (tensor<32x1024x3072xbf16>) -> tensor<32x1024x3072xbf16>
      %f2 = nn.linear "mlp.fc2"(%g, %wfc2_i, %bfc2_i) : (tensor<32x1024x3072xbf16>, tensor<768x3072xbf16>, tensor<768xbf16>) -> tensor<32x1024x768xbf16>
      %r2 = nn.add "residual_2"(%r1, %f2) : (tensor<32x1024x768xbf16>, tensor<32x1024x768xbf16>) -> tensor<32x1024x768xbf16>
      nn.yield %r2 : tensor<32x1024x768xbf16>
    }

    %n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<32x1024x768xbf16>, tensor<768xbf16>, tensor<768xbf16>) -> tensor<32x1024x768xbf16>
    %logits = nn.linear "head"(%n, %whead) : (tensor<32x1024x768xbf16>, tensor<50304x768xbf16>) -> tensor<32x1024x50304xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<32x1024x50304xbf16>, tensor<32x1024xi32>) -> (tensor<f32>, tensor<32x1024xf32>)
    return %loss : tensor<f32>
  }

  // Megatron-style tensor parallelism: the first linear of each block is split
  // by columns, the second by rows, attention by heads; two all-reduces per
  // layer and direction follow from it. The batch is split over dp.
  strategy.tree @tp4_dp2 for @gpt2 {
    mesh [dp = 2, tp = 4]
    split op [batch -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" {
      node "attention.qkv" { split op [out -> tp] }
      node "mlp.fc1" { split op [out -> tp] }
    }
    node "head" { split op [out -> tp] }
  }
}
