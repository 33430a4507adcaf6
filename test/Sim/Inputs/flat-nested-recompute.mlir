module attributes {proteus.cluster = "dgx-a100:6"} {
func.func @gpt(
%x: tensor<16x8x24xbf16> {nn.role = "input", nn.path = "x"},
%labels: tensor<16x8xi32> {nn.role = "input", nn.path = "labels"},
%ln1_g: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
%ln1_b: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
%wqkv: tensor<2x72x24xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
%bqkv: tensor<2x72xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
%wproj: tensor<2x24x24xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
%bproj: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
%ln2_g: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
%ln2_b: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
%wfc1: tensor<2x96x24xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
%bfc1: tensor<2x96xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.bias"},
%wfc2: tensor<2x24x96xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
%bfc2: tensor<2x24xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.bias"},
%lnf_g: tensor<24xbf16> {nn.role = "parameter", nn.path = "ln_f.scale"},
%lnf_b: tensor<24xbf16> {nn.role = "parameter", nn.path = "ln_f.shift"},
%whead: tensor<64x24xbf16> {nn.role = "parameter", nn.path = "head.weight"}) -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32, master = f32>} {
%y = nn.repeat "layers" count 2 carry(%h = %x : tensor<16x8x24xbf16>) slice(%ln1_g_i = %ln1_g : tensor<2x24xbf16> to tensor<24xbf16>,
%ln1_b_i = %ln1_b : tensor<2x24xbf16> to tensor<24xbf16>,
%wqkv_i = %wqkv : tensor<2x72x24xbf16> to tensor<72x24xbf16>,
%bqkv_i = %bqkv : tensor<2x72xbf16> to tensor<72xbf16>,
%wproj_i = %wproj : tensor<2x24x24xbf16> to tensor<24x24xbf16>,
%bproj_i = %bproj : tensor<2x24xbf16> to tensor<24xbf16>,
%ln2_g_i = %ln2_g : tensor<2x24xbf16> to tensor<24xbf16>,
%ln2_b_i = %ln2_b : tensor<2x24xbf16> to tensor<24xbf16>,
%wfc1_i = %wfc1 : tensor<2x96x24xbf16> to tensor<96x24xbf16>,
%bfc1_i = %bfc1 : tensor<2x96xbf16> to tensor<96xbf16>,
%wfc2_i = %wfc2 : tensor<2x24x96xbf16> to tensor<24x96xbf16>,
%bfc2_i = %bfc2 : tensor<2x24xbf16> to tensor<24xbf16>) -> (tensor<16x8x24xbf16>) {
%n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<16x8x24xbf16>, tensor<24xbf16>, tensor<24xbf16>) -> tensor<16x8x24xbf16>
%qkv = nn.linear "attention.qkv"(%n1, %wqkv_i, %bqkv_i) : (tensor<16x8x24xbf16>, tensor<72x24xbf16>, tensor<72xbf16>) -> tensor<16x8x72xbf16>
%q, %k, %v = nn.split "attention.split"(%qkv) {groups = 6 : i64} : (tensor<16x8x72xbf16>) -> (tensor<16x8x24xbf16>, tensor<16x8x24xbf16>, tensor<16x8x24xbf16>)
%a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 6 : i64, causal} : (tensor<16x8x24xbf16>, tensor<16x8x24xbf16>, tensor<16x8x24xbf16>) -> (tensor<16x8x24xbf16>, tensor<16x6x8xf32>)
%p = nn.linear "attention.proj"(%a, %wproj_i, %bproj_i) : (tensor<16x8x24xbf16>, tensor<24x24xbf16>, tensor<24xbf16>) -> tensor<16x8x24xbf16>
%r1 = nn.add "residual_1"(%h, %p) : (tensor<16x8x24xbf16>, tensor<16x8x24xbf16>) -> tensor<16x8x24xbf16>
%n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<16x8x24xbf16>, tensor<24xbf16>, tensor<24xbf16>) -> tensor<16x8x24xbf16>
%f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i, %bfc1_i) : (tensor<16x8x24xbf16>, tensor<96x24xbf16>, tensor<96xbf16>) -> tensor<16x8x96xbf16>
%g = nn.gelu "mlp.act"(%f1) : (tensor<16x8x96xbf16>) -> tensor<16x8x96xbf16>
%f2 = nn.linear "mlp.fc2"(%g, %wfc2_i, %bfc2_i) : (tensor<16x8x96xbf16>, tensor<24x96xbf16>, tensor<24xbf16>) -> tensor<16x8x24xbf16>
%r2 = nn.add "residual_2"(%r1, %f2) : (tensor<16x8x24xbf16>, tensor<16x8x24xbf16>) -> tensor<16x8x24xbf16>
nn.yield %r2 : tensor<16x8x24xbf16> }
%n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<16x8x24xbf16>, tensor<24xbf16>, tensor<24xbf16>) -> tensor<16x8x24xbf16>
%logits = nn.linear "head"(%n, %whead) : (tensor<16x8x24xbf16>, tensor<64x24xbf16>) -> tensor<16x8x64xbf16>
%loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<16x8x64xbf16>, tensor<16x8xi32>) -> (tensor<f32>, tensor<16x8xf32>)
return %loss : tensor<f32> }
strategy.tree @s for @gpt {
mesh [tp = 4, pp = 1, dp = 2]
node "layers[*]" {
recompute
node "attention.qkv" { split op [out -> tp] recompute }
}
}
}