// GPT-3 175B on 1024 A100: tensor parallel over the 8 GPUs of a node, a pipeline
// of 8 stages with 12 layers each, data parallel over 16. The global batch of
// 1536 sequences is 96 micro-batches of one sequence per pipeline. Every layer
// keeps its input only and runs its forward pass again before its backward pass.
//
//   proteus-opt --lower-strategy --simulate examples/gpt3-175b-1024.mlir

module attributes {proteus.cluster = "dgx-a100:128"} {
  func.func @gpt3(
      %ids: tensor<1536x2048xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<1536x2048xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<51200x12288xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<2048x12288xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      // One slice per layer.
      %ln1_g: tensor<96x12288xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %ln1_b: tensor<96x12288xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wqkv: tensor<96x36864x12288xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %bqkv: tensor<96x36864xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
      %wproj: tensor<96x12288x12288xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %bproj: tensor<96x12288xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
      %ln2_g: tensor<96x12288xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %ln2_b: tensor<96x12288xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %wfc1: tensor<96x49152x12288xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
      %bfc1: tensor<96x49152xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.bias"},
      %wfc2: tensor<96x12288x49152xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
      %bfc2: tensor<96x12288xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.bias"},
      %lnf_g: tensor<12288xbf16> {nn.role = "parameter", nn.path = "ln_f.scale"},
      %lnf_b: tensor<12288xbf16> {nn.role = "parameter", nn.path = "ln_f.shift"},
      %whead: tensor<51200x12288xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %tokens = nn.embedding "embedding"(%ids, %wte) : (tensor<1536x2048xi32>, tensor<51200x12288xbf16>) -> tensor<1536x2048x12288xbf16>
    %x = nn.add "position"(%tokens, %wpe) : (tensor<1536x2048x12288xbf16>, tensor<2048x12288xbf16>) -> tensor<1536x2048x12288xbf16>

    %y = nn.repeat "layers" count 96
        carry(%h = %x : tensor<1536x2048x12288xbf16>)
        slice(%ln1_g_i = %ln1_g : tensor<96x12288xbf16> to tensor<12288xbf16>,
              %ln1_b_i = %ln1_b : tensor<96x12288xbf16> to tensor<12288xbf16>,
              %wqkv_i = %wqkv : tensor<96x36864x12288xbf16> to tensor<36864x12288xbf16>,
              %bqkv_i = %bqkv : tensor<96x36864xbf16> to tensor<36864xbf16>,
              %wproj_i = %wproj : tensor<96x12288x12288xbf16> to tensor<12288x12288xbf16>,
              %bproj_i = %bproj : tensor<96x12288xbf16> to tensor<12288xbf16>,
              %ln2_g_i = %ln2_g : tensor<96x12288xbf16> to tensor<12288xbf16>,
              %ln2_b_i = %ln2_b : tensor<96x12288xbf16> to tensor<12288xbf16>,
              %wfc1_i = %wfc1 : tensor<96x49152x12288xbf16> to tensor<49152x12288xbf16>,
              %bfc1_i = %bfc1 : tensor<96x49152xbf16> to tensor<49152xbf16>,
              %wfc2_i = %wfc2 : tensor<96x12288x49152xbf16> to tensor<12288x49152xbf16>,
              %bfc2_i = %bfc2 : tensor<96x12288xbf16> to tensor<12288xbf16>)
        -> (tensor<1536x2048x12288xbf16>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<1536x2048x12288xbf16>, tensor<12288xbf16>, tensor<12288xbf16>) -> tensor<1536x2048x12288xbf16>
      %qkv = nn.linear "attention.qkv"(%n1, %wqkv_i, %bqkv_i) : (tensor<1536x2048x12288xbf16>, tensor<36864x12288xbf16>, tensor<36864xbf16>) -> tensor<1536x2048x36864xbf16>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 96 : i64} : (tensor<1536x2048x36864xbf16>) -> (tensor<1536x2048x12288xbf16>, tensor<1536x2048x12288xbf16>, tensor<1536x2048x12288xbf16>)
      %a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 96 : i64, causal} : (tensor<1536x2048x12288xbf16>, tensor<1536x2048x12288xbf16>, tensor<1536x2048x12288xbf16>) -> (tensor<1536x2048x12288xbf16>, tensor<1536x96x2048xf32>)
      %p = nn.linear "attention.proj"(%a, %wproj_i, %bproj_i) : (tensor<1536x2048x12288xbf16>, tensor<12288x12288xbf16>, tensor<12288xbf16>) -> tensor<1536x2048x12288xbf16>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<1536x2048x12288xbf16>, tensor<1536x2048x12288xbf16>) -> tensor<1536x2048x12288xbf16>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<1536x2048x12288xbf16>, tensor<12288xbf16>, tensor<12288xbf16>) -> tensor<1536x2048x12288xbf16>
      %f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i, %bfc1_i) : (tensor<1536x2048x12288xbf16>, tensor<49152x12288xbf16>, tensor<49152xbf16>) -> tensor<1536x2048x49152xbf16>
      %g = nn.gelu "mlp.act"(%f1) : (tensor<1536x2048x49152xbf16>) -> tensor<1536x2048x49152xbf16>
      %f2 = nn.linear "mlp.fc2"(%g, %wfc2_i, %bfc2_i) : (tensor<1536x2048x49152xbf16>, tensor<12288x49152xbf16>, tensor<12288xbf16>) -> tensor<1536x2048x12288xbf16>
      %r2 = nn.add "residual_2"(%r1, %f2) : (tensor<1536x2048x12288xbf16>, tensor<1536x2048x12288xbf16>) -> tensor<1536x2048x12288xbf16>
      nn.yield %r2 : tensor<1536x2048x12288xbf16>
    }

    %n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<1536x2048x12288xbf16>, tensor<12288xbf16>, tensor<12288xbf16>) -> tensor<1536x2048x12288xbf16>
    %logits = nn.linear "head"(%n, %whead) : (tensor<1536x2048x12288xbf16>, tensor<51200x12288xbf16>) -> tensor<1536x2048x51200xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<1536x2048x51200xbf16>, tensor<1536x2048xi32>) -> (tensor<f32>, tensor<1536x2048xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @tp8_pp8_dp16 for @gpt3 {
    mesh [dp = 16, pp = 8, tp = 8]
    schedule micro_batches = 96 order = "1f1b"
    split op [batch -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "layers[*]" {
      stages pp
      recompute
      node "attention.qkv" { split op [out -> tp] }
      node "mlp.fc1" { split op [out -> tp] }
    }
    node "head" { split op [out -> tp] }
  }
}
