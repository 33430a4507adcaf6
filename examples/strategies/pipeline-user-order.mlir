// An order of one's own: what each stage runs is listed item by item, with the
// letter of the work (F forward, B backward, I gradient of the input, W gradients of
// parameters) and the micro-batch. Before anything is simulated the lists are
// checked: every item once, in causal order, at most `max_ongoing` micro-batches in
// flight, and no stages that wait for each other.
//
// This one is 1F1B on the first stage; the second computes the gradients of its
// parameters when the first has work to do. Communication is that of 1F1B.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/pipeline-user-order.mlir
//   proteus-opt --check-lowering examples/strategies/pipeline-user-order.mlir

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

  strategy.tree @user_order for @gpt {
    mesh [pp = 2]
    schedule micro_batches = 4 order = "explicit" max_ongoing = 3
    order stage 0 [F0, F1, B0, F2, B1, F3, B2, B3]
    order stage 1 [F0, I0, F1, I1, W0, F2, I2, W1, F3, I3, W2, W3]
    node "embedding" { at [pp = 0] }
    node "layers[*]" { stages pp }
    node "head" { at [pp = 1] }
  }
}
