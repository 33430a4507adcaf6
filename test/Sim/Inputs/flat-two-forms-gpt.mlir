module attributes {proteus.cluster = "dgx-a100:4"} {
func.func @gpt(
%ids: tensor<24x8xi32> {nn.role = "input", nn.path = "ids"},
%wte: tensor<64x48xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
%wpe: tensor<8x48xbf16> {nn.role = "parameter", nn.path = "position.weight"},
%labels: tensor<24x8xi32> {nn.role = "input", nn.path = "labels"},
%ln1_g: tensor<3x48xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
%ln1_b: tensor<3x48xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
%wqkv: tensor<3x144x48xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
%bqkv: tensor<3x144xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
%wproj: tensor<3x48x48xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
%bproj: tensor<3x48xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
%ln2_g: tensor<3x48xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
%ln2_b: tensor<3x48xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
%wfc1: tensor<3x192x48xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
%bfc1: tensor<3x192xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.bias"},
%wfc2: tensor<3x48x192xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
%bfc2: tensor<3x48xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.bias"},
%lnf_g: tensor<48xbf16> {nn.role = "parameter", nn.path = "ln_f.scale"},
%lnf_b: tensor<48xbf16> {nn.role = "parameter", nn.path = "ln_f.shift"},
%whead: tensor<64x48xbf16> {nn.role = "parameter", nn.path = "head.weight"}) -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, gradient = f32, master = f32>} {
%tokens = nn.embedding "embedding"(%ids, %wte) : (tensor<24x8xi32>, tensor<64x48xbf16>) -> tensor<24x8x48xbf16>
%x = nn.add "position"(%tokens, %wpe) : (tensor<24x8x48xbf16>, tensor<8x48xbf16>) -> tensor<24x8x48xbf16>
%y = nn.repeat "layers" count 3 carry(%h = %x : tensor<24x8x48xbf16>) slice(%ln1_g_i = %ln1_g : tensor<3x48xbf16> to tensor<48xbf16>,
%ln1_b_i = %ln1_b : tensor<3x48xbf16> to tensor<48xbf16>,
%wqkv_i = %wqkv : tensor<3x144x48xbf16> to tensor<144x48xbf16>,
%bqkv_i = %bqkv : tensor<3x144xbf16> to tensor<144xbf16>,
%wproj_i = %wproj : tensor<3x48x48xbf16> to tensor<48x48xbf16>,
%bproj_i = %bproj : tensor<3x48xbf16> to tensor<48xbf16>,
%ln2_g_i = %ln2_g : tensor<3x48xbf16> to tensor<48xbf16>,
%ln2_b_i = %ln2_b : tensor<3x48xbf16> to tensor<48xbf16>,
%wfc1_i = %wfc1 : tensor<3x192x48xbf16> to tensor<192x48xbf16>,
%bfc1_i = %bfc1 : tensor<3x192xbf16> to tensor<192xbf16>,
%wfc2_i = %wfc2 : tensor<3x48x192xbf16> to tensor<48x192xbf16>,
%bfc2_i = %bfc2 : tensor<3x48xbf16> to tensor<48xbf16>) -> (tensor<24x8x48xbf16>) {
%n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<24x8x48xbf16>, tensor<48xbf16>, tensor<48xbf16>) -> tensor<24x8x48xbf16>
%qkv = nn.linear "attention.qkv"(%n1, %wqkv_i, %bqkv_i) : (tensor<24x8x48xbf16>, tensor<144x48xbf16>, tensor<144xbf16>) -> tensor<24x8x144xbf16>
%q, %k, %v = nn.split "attention.split"(%qkv) {groups = 4 : i64} : (tensor<24x8x144xbf16>) -> (tensor<24x8x48xbf16>, tensor<24x8x48xbf16>, tensor<24x8x48xbf16>)
%a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<24x8x48xbf16>, tensor<24x8x48xbf16>, tensor<24x8x48xbf16>) -> (tensor<24x8x48xbf16>, tensor<24x4x8xf32>)
%p = nn.linear "attention.proj"(%a, %wproj_i, %bproj_i) : (tensor<24x8x48xbf16>, tensor<48x48xbf16>, tensor<48xbf16>) -> tensor<24x8x48xbf16>
%r1 = nn.add "residual_1"(%h, %p) : (tensor<24x8x48xbf16>, tensor<24x8x48xbf16>) -> tensor<24x8x48xbf16>
%n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<24x8x48xbf16>, tensor<48xbf16>, tensor<48xbf16>) -> tensor<24x8x48xbf16>
%f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i, %bfc1_i) : (tensor<24x8x48xbf16>, tensor<192x48xbf16>, tensor<192xbf16>) -> tensor<24x8x192xbf16>
%g = nn.gelu "mlp.act"(%f1) : (tensor<24x8x192xbf16>) -> tensor<24x8x192xbf16>
%f2 = nn.linear "mlp.fc2"(%g, %wfc2_i, %bfc2_i) : (tensor<24x8x192xbf16>, tensor<48x192xbf16>, tensor<48xbf16>) -> tensor<24x8x48xbf16>
%r2 = nn.add "residual_2"(%r1, %f2) : (tensor<24x8x48xbf16>, tensor<24x8x48xbf16>) -> tensor<24x8x48xbf16>
nn.yield %r2 : tensor<24x8x48xbf16> }
%n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<24x8x48xbf16>, tensor<48xbf16>, tensor<48xbf16>) -> tensor<24x8x48xbf16>
%logits = nn.linear "head"(%n, %whead) : (tensor<24x8x48xbf16>, tensor<64x48xbf16>) -> tensor<24x8x64xbf16>
%loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<24x8x64xbf16>, tensor<24x8xi32>) -> (tensor<f32>, tensor<24x8xf32>)
return %loss : tensor<f32> }
strategy.tree @s for @gpt {
mesh [dp = 2, tp = 3, pp = 1]
node "layers[*]" {
node "attention.proj" { split op [in -> tp] }
}
}
}