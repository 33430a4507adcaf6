module attributes {proteus.cluster = "dgx1-v100:4"} {
func.func @gpt(
%x: tensor<16x8x48xf32> {nn.role = "input", nn.path = "x"},
%labels: tensor<16x8xi32> {nn.role = "input", nn.path = "labels"},
%ln1_g: tensor<3x48xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
%ln1_b: tensor<3x48xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
%wqkv: tensor<3x144x48xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
%bqkv: tensor<3x144xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
%wproj: tensor<3x48x48xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
%bproj: tensor<3x48xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
%ln2_g: tensor<3x48xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
%ln2_b: tensor<3x48xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
%wfc1: tensor<3x192x48xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
%bfc1: tensor<3x192xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.bias"},
%wfc2: tensor<3x48x192xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
%bfc2: tensor<3x48xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.bias"},
%lnf_g: tensor<48xf32> {nn.role = "parameter", nn.path = "ln_f.scale"},
%lnf_b: tensor<48xf32> {nn.role = "parameter", nn.path = "ln_f.shift"},
%whead: tensor<64x48xf32> {nn.role = "parameter", nn.path = "head.weight"}) -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
%y = nn.repeat "layers" count 3 carry(%h = %x : tensor<16x8x48xf32>) slice(%ln1_g_i = %ln1_g : tensor<3x48xf32> to tensor<48xf32>,
%ln1_b_i = %ln1_b : tensor<3x48xf32> to tensor<48xf32>,
%wqkv_i = %wqkv : tensor<3x144x48xf32> to tensor<144x48xf32>,
%bqkv_i = %bqkv : tensor<3x144xf32> to tensor<144xf32>,
%wproj_i = %wproj : tensor<3x48x48xf32> to tensor<48x48xf32>,
%bproj_i = %bproj : tensor<3x48xf32> to tensor<48xf32>,
%ln2_g_i = %ln2_g : tensor<3x48xf32> to tensor<48xf32>,
%ln2_b_i = %ln2_b : tensor<3x48xf32> to tensor<48xf32>,
%wfc1_i = %wfc1 : tensor<3x192x48xf32> to tensor<192x48xf32>,
%bfc1_i = %bfc1 : tensor<3x192xf32> to tensor<192xf32>,
%wfc2_i = %wfc2 : tensor<3x48x192xf32> to tensor<48x192xf32>,
%bfc2_i = %bfc2 : tensor<3x48xf32> to tensor<48xf32>) -> (tensor<16x8x48xf32>) {
%n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<16x8x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<16x8x48xf32>
%qkv = nn.linear "attention.qkv"(%n1, %wqkv_i, %bqkv_i) : (tensor<16x8x48xf32>, tensor<144x48xf32>, tensor<144xf32>) -> tensor<16x8x144xf32>
%q, %k, %v = nn.split "attention.split"(%qkv) {groups = 12 : i64} : (tensor<16x8x144xf32>) -> (tensor<16x8x48xf32>, tensor<16x8x48xf32>, tensor<16x8x48xf32>)
%a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 12 : i64, causal} : (tensor<16x8x48xf32>, tensor<16x8x48xf32>, tensor<16x8x48xf32>) -> (tensor<16x8x48xf32>, tensor<16x12x8xf32>)
%p = nn.linear "attention.proj"(%a, %wproj_i, %bproj_i) : (tensor<16x8x48xf32>, tensor<48x48xf32>, tensor<48xf32>) -> tensor<16x8x48xf32>
%r1 = nn.add "residual_1"(%h, %p) : (tensor<16x8x48xf32>, tensor<16x8x48xf32>) -> tensor<16x8x48xf32>
%n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<16x8x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<16x8x48xf32>
%f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i, %bfc1_i) : (tensor<16x8x48xf32>, tensor<192x48xf32>, tensor<192xf32>) -> tensor<16x8x192xf32>
%g = nn.gelu "mlp.act"(%f1) : (tensor<16x8x192xf32>) -> tensor<16x8x192xf32>
%f2 = nn.linear "mlp.fc2"(%g, %wfc2_i, %bfc2_i) : (tensor<16x8x192xf32>, tensor<48x192xf32>, tensor<48xf32>) -> tensor<16x8x48xf32>
%r2 = nn.add "residual_2"(%r1, %f2) : (tensor<16x8x48xf32>, tensor<16x8x48xf32>) -> tensor<16x8x48xf32>
nn.yield %r2 : tensor<16x8x48xf32> }
%n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<16x8x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<16x8x48xf32>
%logits = nn.linear "head"(%n, %whead) : (tensor<16x8x48xf32>, tensor<64x48xf32>) -> tensor<16x8x64xf32>
%loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<16x8x64xf32>, tensor<16x8xi32>) -> (tensor<f32>, tensor<16x8xf32>)
return %loss : tensor<f32> }
strategy.tree @s for @gpt {
mesh [pp = 1, tp = 1, dp = 3]
split state [0 -> dp]
node "layers[0]" {
node "mlp.fc1" { split op [out -> tp] }
}
}
}