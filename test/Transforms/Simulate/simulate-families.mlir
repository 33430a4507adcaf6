// What a rank computes is known by its shape: a profile that has exactly these kernels
// gives every one of them its time. Sizes are those of one of two devices.

// RUN: proteus-opt %s --lower-strategy --simulate="overlap=off profile=%S/Inputs/families.csv" --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s

// CHECK-DAG: nn.conv2d |{{.*}} Path=conv, TimeUs=1001.000
// CHECK-DAG: nn.conv2d_wgrad |{{.*}} Path=conv, TimeUs=1002.000
// CHECK-DAG: nn.conv2d |{{.*}} Path=grouped, TimeUs=1003.000
// CHECK-DAG: nn.conv2d_dgrad |{{.*}} Path=grouped, TimeUs=1004.000
// CHECK-DAG: nn.conv2d_wgrad |{{.*}} Path=grouped, TimeUs=1005.000
// CHECK-DAG: nn.attention |{{.*}} Path=attention, TimeUs=1006.000
// CHECK-DAG: nn.attention_grad |{{.*}} Path=attention, TimeUs=1007.000
// CHECK-DAG: nn.matmul |{{.*}} Path=scores, TimeUs=1008.000
// CHECK-DAG: nn.expert_linear |{{.*}} Path=experts, TimeUs=1009.000
// CHECK-DAG: nn.expert_linear_dgrad |{{.*}} Path=experts, TimeUs=1010.000
// CHECK-DAG: nn.expert_linear_wgrad |{{.*}} Path=experts, TimeUs=1011.000
// CHECK-DAG: nn.layer_norm |{{.*}} Path=norm, TimeUs=1012.000
// CHECK-DAG: nn.softmax |{{.*}} Path=softmax, TimeUs=1013.000
// CHECK-DAG: nn.linear_wgrad |{{.*}} Path=linear, TimeUs=1014.000
// CHECK-DAG: nn.linear_dgrad |{{.*}} Path=linear, TimeUs=1015.000
// CHECK-DAG: nn.sgd |{{.*}} Path=linear.weight, TimeUs=1016.000

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @families(
      %image: tensor<8x3x32x32xbf16> {nn.role = "input", nn.path = "image"},
      %tokens: tensor<8x64x96xbf16> {nn.role = "input", nn.path = "tokens"},
      %target: tensor<8x64x96xbf16> {nn.role = "input", nn.path = "target"},
      %pixels: tensor<8x16x8x8xbf16> {nn.role = "input", nn.path = "pixels"},
      %routed: tensor<4x8x16x96xbf16> {nn.role = "parameter", nn.path = "routed"},
      %goal: tensor<4x8x16x80xbf16> {nn.role = "parameter", nn.path = "goal"},
      %wc: tensor<16x3x3x3xbf16> {nn.role = "parameter", nn.path = "conv.weight"},
      %wg: tensor<16x4x3x3xbf16> {nn.role = "parameter", nn.path = "grouped.weight"},
      %we: tensor<4x80x96xbf16> {nn.role = "parameter", nn.path = "experts.weight"},
      %wl: tensor<96x96xbf16> {nn.role = "parameter", nn.path = "linear.weight"},
      %g: tensor<96xbf16> {nn.role = "parameter", nn.path = "norm.scale"},
      %b: tensor<96xbf16> {nn.role = "parameter", nn.path = "norm.shift"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %c = nn.conv2d "conv"(%image, %wc) {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>} : (tensor<8x3x32x32xbf16>, tensor<16x3x3x3xbf16>) -> tensor<8x16x16x16xbf16>
    %d = nn.conv2d "grouped"(%c, %wg) {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, groups = 4 : i64} : (tensor<8x16x16x16xbf16>, tensor<16x4x3x3xbf16>) -> tensor<8x16x8x8xbf16>
    %l1 = nn.mse_loss "loss.image"(%d, %pixels) : (tensor<8x16x8x8xbf16>, tensor<8x16x8x8xbf16>) -> tensor<f32>
    %n = nn.layer_norm "norm"(%tokens, %g, %b) : (tensor<8x64x96xbf16>, tensor<96xbf16>, tensor<96xbf16>) -> tensor<8x64x96xbf16>
    %q = nn.linear "linear"(%n, %wl) : (tensor<8x64x96xbf16>, tensor<96x96xbf16>) -> tensor<8x64x96xbf16>
    %a, %lse = nn.attention "attention"(%q, %n, %n) {heads = 6 : i64, causal} : (tensor<8x64x96xbf16>, tensor<8x64x96xbf16>, tensor<8x64x96xbf16>) -> (tensor<8x64x96xbf16>, tensor<8x6x64xf32>)
    %s = nn.matmul "scores"(%a, %n) {transpose_b} : (tensor<8x64x96xbf16>, tensor<8x64x96xbf16>) -> tensor<8x64x64xbf16>
    %p = nn.softmax "softmax"(%s) : (tensor<8x64x64xbf16>) -> tensor<8x64x64xbf16>
    %o = nn.matmul "values"(%p, %n) : (tensor<8x64x64xbf16>, tensor<8x64x96xbf16>) -> tensor<8x64x96xbf16>
    %l2 = nn.mse_loss "loss.tokens"(%o, %target) : (tensor<8x64x96xbf16>, tensor<8x64x96xbf16>) -> tensor<f32>
    %e = nn.expert_linear "experts"(%routed, %we) : (tensor<4x8x16x96xbf16>, tensor<4x80x96xbf16>) -> tensor<4x8x16x80xbf16>
    %l3 = nn.mse_loss "loss.experts"(%e, %goal) : (tensor<4x8x16x80xbf16>, tensor<4x8x16x80xbf16>) -> tensor<f32>
    %l12 = nn.add "sum.1"(%l1, %l2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %loss = nn.add "sum.2"(%l12, %l3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @families {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}
