// The same eight devices, split differently for different layers.
//
// A convolution has few weights and large activations: it is split eight ways
// by the batch, and only its small gradients travel. A classifier has large
// weights and small activations: it is split two ways by the batch and four
// ways by its outputs, so that a device holds a quarter of the weights and the
// gradients of a quarter travel, and only between two devices. The mesh is one
// axis of eight; the classifier uses it in parts: `d:(1)2` is the half a device
// is in, `d:(2)4` its place in the half.
//
// What has to be communicated:
//  - between the parts of the model the batch goes from eight parts to two: an
//    all-gather within each half forward; backward the gradient, a sum over the
//    outputs of fc1, goes back by a reduce-scatter;
//  - between fc1 and fc2 each device has a quarter of fc1's outputs and needs
//    all of them: fc2 splits its outputs, so they are gathered, and their
//    gradient is reduced and scattered;
//  - the loss needs all classes of a sample or its share of the batch: the
//    logits go from a split by classes to a split by samples, an all-to-all;
//  - gradients: those of the convolutions are summed over all eight devices,
//    those of the classifier over the two halves.
//
//   proteus-opt --check-lowering examples/strategies/layer-wise-splits.mlir
//   proteus-opt --lower-strategy --simulate examples/strategies/layer-wise-splits.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @cnn(
      %x: tensor<16x3x8x8xf32> {nn.role = "input", nn.path = "images"},
      %labels: tensor<16xi32> {nn.role = "input", nn.path = "labels"},
      %c1_w: tensor<8x3x3x3xf32> {nn.role = "parameter", nn.path = "features.conv1.weight"},
      %c1_b: tensor<8xf32> {nn.role = "parameter", nn.path = "features.conv1.bias"},
      %c2_w: tensor<16x8x3x3xf32> {nn.role = "parameter", nn.path = "features.conv2.weight"},
      %c2_b: tensor<16xf32> {nn.role = "parameter", nn.path = "features.conv2.bias"},
      %f1_w: tensor<32x64xf32> {nn.role = "parameter", nn.path = "classifier.fc1.weight"},
      %f1_b: tensor<32xf32> {nn.role = "parameter", nn.path = "classifier.fc1.bias"},
      %f2_w: tensor<12x32xf32> {nn.role = "parameter", nn.path = "classifier.fc2.weight"},
      %f2_b: tensor<12xf32> {nn.role = "parameter", nn.path = "classifier.fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %c1 = nn.conv2d "features.conv1"(%x, %c1_w, %c1_b) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<16x3x8x8xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<16x8x8x8xf32>
    %r1 = nn.relu "features.act1"(%c1) : (tensor<16x8x8x8xf32>) -> tensor<16x8x8x8xf32>
    %p1 = nn.pool2d "features.pool1" max(%r1) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<16x8x8x8xf32>) -> tensor<16x8x4x4xf32>
    %c2 = nn.conv2d "features.conv2"(%p1, %c2_w, %c2_b) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<16x8x4x4xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>) -> tensor<16x16x4x4xf32>
    %r2 = nn.relu "features.act2"(%c2) : (tensor<16x16x4x4xf32>) -> tensor<16x16x4x4xf32>
    %p2 = nn.pool2d "features.pool2" max(%r2) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<16x16x4x4xf32>) -> tensor<16x16x2x2xf32>
    %flat = nn.reshape "flatten"(%p2) : (tensor<16x16x2x2xf32>) -> tensor<16x64xf32>
    %f1 = nn.linear "classifier.fc1"(%flat, %f1_w, %f1_b) : (tensor<16x64xf32>, tensor<32x64xf32>, tensor<32xf32>) -> tensor<16x32xf32>
    %a1 = nn.relu "classifier.act1"(%f1) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %f2 = nn.linear "classifier.fc2"(%a1, %f2_w, %f2_b) : (tensor<16x32xf32>, tensor<12x32xf32>, tensor<12xf32>) -> tensor<16x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%f2, %labels) : (tensor<16x12xf32>, tensor<16xi32>) -> (tensor<f32>, tensor<16xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @layer_wise for @cnn {
    mesh [d = 8]
    split op [batch -> d]
    node "classifier" {
      split op [batch -> d:(1)2]
      node "fc1" { split op [out -> d:(2)4] }
      node "fc2" { split op [out -> d:(2)4] }
    }
  }
}
