module attributes {proteus.cluster = "dgx-a100:6"} {
func.func @gpt(
%ids: tensor<24x8xi32> {nn.role = "input", nn.path = "ids"},
%wte: tensor<96x24xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
%wpe: tensor<8x24xf32> {nn.role = "parameter", nn.path = "position.weight"},
%labels: tensor<24x8xi32> {nn.role = "input", nn.path = "labels"},
%ln1_g: tensor<5x24xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
%ln1_b: tensor<5x24xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
%wqkv: tensor<5x72x24xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
%bqkv: tensor<5x72xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
%wproj: tensor<5x24x24xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
%bproj: tensor<5x24xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
%ln2_g: tensor<5x24xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
%ln2_b: tensor<5x24xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
%wfc1: tensor<5x96x24xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
%bfc1: tensor<5x96xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.bias"},
%wfc2: tensor<5x24x96xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
%bfc2: tensor<5x24xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.bias"},
%lnf_g: tensor<24xf32> {nn.role = "parameter", nn.path = "ln_f.scale"},
%lnf_b: tensor<24xf32> {nn.role = "parameter", nn.path = "ln_f.shift"},
%whead: tensor<96x24xf32> {nn.role = "parameter", nn.path = "head.weight"}) -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum, reduction = bf16>} {
%tokens = nn.embedding "embedding"(%ids, %wte) : (tensor<24x8xi32>, tensor<96x24xf32>) -> tensor<24x8x24xf32>
%x = nn.add "position"(%tokens, %wpe) : (tensor<24x8x24xf32>, tensor<8x24xf32>) -> tensor<24x8x24xf32>
%y = nn.repeat "layers" count 5 carry(%h = %x : tensor<24x8x24xf32>) slice(%ln1_g_i = %ln1_g : tensor<5x24xf32> to tensor<24xf32>,
%ln1_b_i = %ln1_b : tensor<5x24xf32> to tensor<24xf32>,
%wqkv_i = %wqkv : tensor<5x72x24xf32> to tensor<72x24xf32>,
%bqkv_i = %bqkv : tensor<5x72xf32> to tensor<72xf32>,
%wproj_i = %wproj : tensor<5x24x24xf32> to tensor<24x24xf32>,
%bproj_i = %bproj : tensor<5x24xf32> to tensor<24xf32>,
%ln2_g_i = %ln2_g : tensor<5x24xf32> to tensor<24xf32>,
%ln2_b_i = %ln2_b : tensor<5x24xf32> to tensor<24xf32>,
%wfc1_i = %wfc1 : tensor<5x96x24xf32> to tensor<96x24xf32>,
%bfc1_i = %bfc1 : tensor<5x96xf32> to tensor<96xf32>,
%wfc2_i = %wfc2 : tensor<5x24x96xf32> to tensor<24x96xf32>,
%bfc2_i = %bfc2 : tensor<5x24xf32> to tensor<24xf32>) -> (tensor<24x8x24xf32>) {
%n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<24x8x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<24x8x24xf32>
%qkv = nn.linear "attention.qkv"(%n1, %wqkv_i, %bqkv_i) : (tensor<24x8x24xf32>, tensor<72x24xf32>, tensor<72xf32>) -> tensor<24x8x72xf32>
%q, %k, %v = nn.split "attention.split"(%qkv) {groups = 6 : i64} : (tensor<24x8x72xf32>) -> (tensor<24x8x24xf32>, tensor<24x8x24xf32>, tensor<24x8x24xf32>)
%a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 6 : i64, causal} : (tensor<24x8x24xf32>, tensor<24x8x24xf32>, tensor<24x8x24xf32>) -> (tensor<24x8x24xf32>, tensor<24x6x8xf32>)
%p = nn.linear "attention.proj"(%a, %wproj_i, %bproj_i) : (tensor<24x8x24xf32>, tensor<24x24xf32>, tensor<24xf32>) -> tensor<24x8x24xf32>
%r1 = nn.add "residual_1"(%h, %p) : (tensor<24x8x24xf32>, tensor<24x8x24xf32>) -> tensor<24x8x24xf32>
%n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<24x8x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<24x8x24xf32>
%f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i, %bfc1_i) : (tensor<24x8x24xf32>, tensor<96x24xf32>, tensor<96xf32>) -> tensor<24x8x96xf32>
%g = nn.gelu "mlp.act"(%f1) : (tensor<24x8x96xf32>) -> tensor<24x8x96xf32>
%f2 = nn.linear "mlp.fc2"(%g, %wfc2_i, %bfc2_i) : (tensor<24x8x96xf32>, tensor<24x96xf32>, tensor<24xf32>) -> tensor<24x8x24xf32>
%r2 = nn.add "residual_2"(%r1, %f2) : (tensor<24x8x24xf32>, tensor<24x8x24xf32>) -> tensor<24x8x24xf32>
nn.yield %r2 : tensor<24x8x24xf32> }
%n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<24x8x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<24x8x24xf32>
%logits = nn.linear "head"(%n, %whead) : (tensor<24x8x24xf32>, tensor<96x24xf32>) -> tensor<24x8x96xf32>
%loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<24x8x96xf32>, tensor<24x8xi32>) -> (tensor<f32>, tensor<24x8xf32>)
return %loss : tensor<f32> }
strategy.tree @s for @gpt {
mesh [tp = 1, dp = 2, pp = 2]
node "layers[*]" {
stages pp
node "mlp.fc2" { split op [in -> tp] }
node "ln_2" { split op [seq -> tp] }
}
}
}