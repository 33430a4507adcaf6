// GPT with 1.5 billion parameters (48 layers, 1600 wide, 16 heads) in single
// precision on 64 V100 in 8 nodes: data parallel, one sequence per GPU.
//
//   proteus-opt --lower-strategy --simulate=summary examples/gpt-1.5b-dp64.mlir

module attributes {proteus.cluster = "dgx1-v100:8"} {
  func.func @gpt(
      %ids: tensor<64x1024xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<64x1024xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<50304x1600xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<1024x1600xf32> {nn.role = "parameter", nn.path = "position.weight"},
      // One slice per layer.
      %ln1_g: tensor<48x1600xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %ln1_b: tensor<48x1600xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wqkv: tensor<48x4800x1600xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %bqkv: tensor<48x4800xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
      %wproj: tensor<48x1600x1600xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %bproj: tensor<48x1600xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
      %ln2_g: tensor<48x1600xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %ln2_b: tensor<48x1600xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %wfc1: tensor<48x6400x1600xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
      %bfc1: tensor<48x6400xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.bias"},
      %wfc2: tensor<48x1600x6400xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
      %bfc2: tensor<48x1600xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.bias"},
      %lnf_g: tensor<1600xf32> {nn.role = "parameter", nn.path = "ln_f.scale"},
      %lnf_b: tensor<1600xf32> {nn.role = "parameter", nn.path = "ln_f.shift"},
      %whead: tensor<50304x1600xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %tokens = nn.embedding "embedding"(%ids, %wte) : (tensor<64x1024xi32>, tensor<50304x1600xf32>) -> tensor<64x1024x1600xf32>
    %x = nn.add "position"(%tokens, %wpe) : (tensor<64x1024x1600xf32>, tensor<1024x1600xf32>) -> tensor<64x1024x1600xf32>

    %y = nn.repeat "layers" count 48
        carry(%h = %x : tensor<64x1024x1600xf32>)
        slice(%ln1_g_i = %ln1_g : tensor<48x1600xf32> to tensor<1600xf32>,
              %ln1_b_i = %ln1_b : tensor<48x1600xf32> to tensor<1600xf32>,
              %wqkv_i = %wqkv : tensor<48x4800x1600xf32> to tensor<4800x1600xf32>,
              %bqkv_i = %bqkv : tensor<48x4800xf32> to tensor<4800xf32>,
              %wproj_i = %wproj : tensor<48x1600x1600xf32> to tensor<1600x1600xf32>,
              %bproj_i = %bproj : tensor<48x1600xf32> to tensor<1600xf32>,
              %ln2_g_i = %ln2_g : tensor<48x1600xf32> to tensor<1600xf32>,
              %ln2_b_i = %ln2_b : tensor<48x1600xf32> to tensor<1600xf32>,
              %wfc1_i = %wfc1 : tensor<48x6400x1600xf32> to tensor<6400x1600xf32>,
              %bfc1_i = %bfc1 : tensor<48x6400xf32> to tensor<6400xf32>,
              %wfc2_i = %wfc2 : tensor<48x1600x6400xf32> to tensor<1600x6400xf32>,
              %bfc2_i = %bfc2 : tensor<48x1600xf32> to tensor<1600xf32>)
        -> (tensor<64x1024x1600xf32>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<64x1024x1600xf32>, tensor<1600xf32>, tensor<1600xf32>) -> tensor<64x1024x1600xf32>
      %qkv = nn.linear "attention.qkv"(%n1, %wqkv_i, %bqkv_i) : (tensor<64x1024x1600xf32>, tensor<4800x1600xf32>, tensor<4800xf32>) -> tensor<64x1024x4800xf32>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 16 : i64} : (tensor<64x1024x4800xf32>) -> (tensor<64x1024x1600xf32>, tensor<64x1024x1600xf32>, tensor<64x1024x1600xf32>)
      %a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 16 : i64, causal} : (tensor<64x1024x1600xf32>, tensor<64x1024x1600xf32>, tensor<64x1024x1600xf32>) -> (tensor<64x1024x1600xf32>, tensor<64x16x1024xf32>)
      %p = nn.linear "attention.proj"(%a, %wproj_i, %bproj_i) : (tensor<64x1024x1600xf32>, tensor<1600x1600xf32>, tensor<1600xf32>) -> tensor<64x1024x1600xf32>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<64x1024x1600xf32>, tensor<64x1024x1600xf32>) -> tensor<64x1024x1600xf32>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<64x1024x1600xf32>, tensor<1600xf32>, tensor<1600xf32>) -> tensor<64x1024x1600xf32>
      %f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i, %bfc1_i) : (tensor<64x1024x1600xf32>, tensor<6400x1600xf32>, tensor<6400xf32>) -> tensor<64x1024x6400xf32>
      %g = nn.gelu "mlp.act"(%f1) : (tensor<64x1024x6400xf32>) -> tensor<64x1024x6400xf32>
      %f2 = nn.linear "mlp.fc2"(%g, %wfc2_i, %bfc2_i) : (tensor<64x1024x6400xf32>, tensor<1600x6400xf32>, tensor<1600xf32>) -> tensor<64x1024x1600xf32>
      %r2 = nn.add "residual_2"(%r1, %f2) : (tensor<64x1024x1600xf32>, tensor<64x1024x1600xf32>) -> tensor<64x1024x1600xf32>
      nn.yield %r2 : tensor<64x1024x1600xf32>
    }

    %n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<64x1024x1600xf32>, tensor<1600xf32>, tensor<1600xf32>) -> tensor<64x1024x1600xf32>
    %logits = nn.linear "head"(%n, %whead) : (tensor<64x1024x1600xf32>, tensor<50304x1600xf32>) -> tensor<64x1024x50304xf32>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<64x1024x50304xf32>, tensor<64x1024xi32>) -> (tensor<f32>, tensor<64x1024xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @dp64 for @gpt {
    mesh [dp = 64]
    split op [batch -> dp]
  }
}
