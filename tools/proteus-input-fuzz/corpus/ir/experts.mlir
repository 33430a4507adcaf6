
func.func @tokens_go_to_their_experts_and_back(
    %x: tensor<8x16x32xf32>, %logits: tensor<8x16x4xf32>, %w1: tensor<4x64x32xf32>,
    %b1: tensor<4x64xf32>, %w2: tensor<4x32x64xf32>) -> tensor<8x16x32xf32> {
  %gates, %experts, %slots = nn.moe_route "route"(%logits) {groups = 4 : i64, capacity_factor = 1.25 : f64, normalize} : (tensor<8x16x4xf32>) -> (tensor<8x16x2xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>)
  %d = nn.moe_dispatch "dispatch"(%x, %experts, %slots) : (tensor<8x16x32xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>) -> tensor<4x4x20x32xf32>
  %1 = nn.expert_linear "fc1"(%d, %w1, %b1) : (tensor<4x4x20x32xf32>, tensor<4x64x32xf32>, tensor<4x64xf32>) -> tensor<4x4x20x64xf32>
  %2 = nn.expert_linear "fc2"(%1, %w2) : (tensor<4x4x20x64xf32>, tensor<4x32x64xf32>) -> tensor<4x4x20x32xf32>
  %y = nn.moe_combine "combine"(%2, %experts, %slots, %gates) : (tensor<4x4x20x32xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>, tensor<8x16x2xf32>) -> tensor<8x16x32xf32>
  return %y : tensor<8x16x32xf32>
}

func.func @gradients(
    %dy: tensor<8x16x32xf32>, %logits: tensor<8x16x4xf32>, %gates: tensor<8x16x2xf32>,
    %experts: tensor<8x16x2xi32>, %slots: tensor<8x16x2xi32>, %e: tensor<4x4x20x32xf32>,
    %w: tensor<4x32x64xf32>, %x: tensor<4x4x20x64xf32>) {
  %dg = nn.moe_gate_grad "combine"(%dy, %e, %experts, %slots) : (tensor<8x16x32xf32>, tensor<4x4x20x32xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>) -> tensor<8x16x2xf32>
  %de = nn.moe_dispatch "combine"(%dy, %experts, %slots, %gates) : (tensor<8x16x32xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>, tensor<8x16x2xf32>) -> tensor<4x4x20x32xf32>
  %dx = nn.expert_linear_dgrad "fc2"(%de, %w) : (tensor<4x4x20x32xf32>, tensor<4x32x64xf32>) -> tensor<4x4x20x64xf32>
  %dw = nn.expert_linear_wgrad "fc2"(%de, %x) : (tensor<4x4x20x32xf32>, tensor<4x4x20x64xf32>) -> tensor<4x32x64xf32>
  %dt = nn.moe_combine "dispatch"(%de, %experts, %slots) : (tensor<4x4x20x32xf32>, tensor<8x16x2xi32>, tensor<8x16x2xi32>) -> tensor<8x16x32xf32>
  %dl = nn.moe_route_grad "route"(%dg, %logits, %experts) {normalize} : (tensor<8x16x2xf32>, tensor<8x16x4xf32>, tensor<8x16x2xi32>) -> tensor<8x16x4xf32>
  return
}
