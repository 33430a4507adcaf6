// A residual block with two kinds of batch normalisation, data parallel over four
// devices.
//
// `bn1` has one statistic group: mean and variance are those of the whole batch, as
// if one device had computed them (synchronised batch normalisation). Each device
// sums values and squares of its samples, one all-reduce of both sums completes
// them, and each normalises its own samples. Backward, the gradient of the input needs
// the sum of the gradients and of their product with the normalised values, which
// are the gradients of shift and scale: two all-reduces of a number per channel,
// after which these parameters need no other reduction.
//
// `bn2` has four groups, one per device: every replica normalises with its own
// statistics and exchanges nothing for them (what data parallel frameworks do by
// default). The gradients of its scale and shift are reduced with all others, once per
// step. The two differ in what the model computes, not only in what it costs: the
// groups are part of the model.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/resnet-block-sync-bn.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @block(
      %x: tensor<8x16x8x8xf32> {nn.role = "input", nn.path = "x"},
      %labels: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<16x16x3x3xf32> {nn.role = "parameter", nn.path = "conv1.weight"},
      %g1: tensor<16xf32> {nn.role = "parameter", nn.path = "bn1.scale"},
      %s1: tensor<16xf32> {nn.role = "parameter", nn.path = "bn1.shift"},
      %w2: tensor<16x16x3x3xf32> {nn.role = "parameter", nn.path = "conv2.weight"},
      %g2: tensor<16xf32> {nn.role = "parameter", nn.path = "bn2.scale"},
      %s2: tensor<16xf32> {nn.role = "parameter", nn.path = "bn2.shift"},
      %wc: tensor<10x16xf32> {nn.role = "parameter", nn.path = "classifier.weight"},
      %bc: tensor<10xf32> {nn.role = "parameter", nn.path = "classifier.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %c1 = nn.conv2d "conv1"(%x, %w1) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<8x16x8x8xf32>
    %n1, %mean1, %inverse1 = nn.batch_norm "bn1"(%c1, %g1, %s1) : (tensor<8x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16x8x8xf32>, tensor<1x16xf32>, tensor<1x16xf32>)
    %a1 = nn.relu "act1"(%n1) : (tensor<8x16x8x8xf32>) -> tensor<8x16x8x8xf32>
    %c2 = nn.conv2d "conv2"(%a1, %w2) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<8x16x8x8xf32>
    %n2, %mean2, %inverse2 = nn.batch_norm "bn2"(%c2, %g2, %s2) {groups = 4 : i64} : (tensor<8x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16x8x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>)
    %r = nn.add "residual"(%n2, %x) : (tensor<8x16x8x8xf32>, tensor<8x16x8x8xf32>) -> tensor<8x16x8x8xf32>
    %a2 = nn.relu "act2"(%r) : (tensor<8x16x8x8xf32>) -> tensor<8x16x8x8xf32>
    %p = nn.pool2d "pool" average(%a2) {kernel = array<i64: 8, 8>, stride = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<8x16x8x8xf32>) -> tensor<8x16x1x1xf32>
    %f = nn.reshape "flatten"(%p) : (tensor<8x16x1x1xf32>) -> tensor<8x16xf32>
    %logits = nn.linear "classifier"(%f, %wc, %bc) : (tensor<8x16xf32>, tensor<10x16xf32>, tensor<10xf32>) -> tensor<8x10xf32>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @data_parallel for @block {
    mesh [dp = 4]
    split op [batch -> dp]
  }
}
