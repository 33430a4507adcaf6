// AlexNet (61.1 M parameters) on one DGX-1 with 8 V100, data parallel with 128
// images per GPU.
//
//   proteus-opt --lower-strategy --simulate examples/alexnet-dp.mlir

module attributes {proteus.cluster = "dgx1-v100"} {
  func.func @alexnet(
      %x: tensor<1024x3x224x224xf32> {nn.role = "input", nn.path = "images"},
      %labels: tensor<1024xi32> {nn.role = "input", nn.path = "labels"},
      %c0_w: tensor<64x3x11x11xf32> {nn.role = "parameter", nn.path = "features.conv1.weight"},
      %c0_b: tensor<64xf32> {nn.role = "parameter", nn.path = "features.conv1.bias"},
      %c2_w: tensor<192x64x5x5xf32> {nn.role = "parameter", nn.path = "features.conv2.weight"},
      %c2_b: tensor<192xf32> {nn.role = "parameter", nn.path = "features.conv2.bias"},
      %c4_w: tensor<384x192x3x3xf32> {nn.role = "parameter", nn.path = "features.conv3.weight"},
      %c4_b: tensor<384xf32> {nn.role = "parameter", nn.path = "features.conv3.bias"},
      %c5_w: tensor<256x384x3x3xf32> {nn.role = "parameter", nn.path = "features.conv4.weight"},
      %c5_b: tensor<256xf32> {nn.role = "parameter", nn.path = "features.conv4.bias"},
      %c6_w: tensor<256x256x3x3xf32> {nn.role = "parameter", nn.path = "features.conv5.weight"},
      %c6_b: tensor<256xf32> {nn.role = "parameter", nn.path = "features.conv5.bias"},
      %f9_w: tensor<4096x9216xf32> {nn.role = "parameter", nn.path = "classifier.fc6.weight"},
      %f9_b: tensor<4096xf32> {nn.role = "parameter", nn.path = "classifier.fc6.bias"},
      %f11_w: tensor<4096x4096xf32> {nn.role = "parameter", nn.path = "classifier.fc7.weight"},
      %f11_b: tensor<4096xf32> {nn.role = "parameter", nn.path = "classifier.fc7.bias"},
      %f12_w: tensor<1000x4096xf32> {nn.role = "parameter", nn.path = "classifier.fc8.weight"},
      %f12_b: tensor<1000xf32> {nn.role = "parameter", nn.path = "classifier.fc8.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %c0 = nn.conv2d "features.conv1"(%x, %c0_w, %c0_b) {stride = array<i64: 4, 4>, padding = array<i64: 2, 2>} : (tensor<1024x3x224x224xf32>, tensor<64x3x11x11xf32>, tensor<64xf32>) -> tensor<1024x64x55x55xf32>
    %c0r = nn.relu "features.conv1_act"(%c0) : (tensor<1024x64x55x55xf32>) -> tensor<1024x64x55x55xf32>
    %p1 = nn.pool2d "features.pool1" max(%c0r) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<1024x64x55x55xf32>) -> tensor<1024x64x27x27xf32>
    %c2 = nn.conv2d "features.conv2"(%p1, %c2_w, %c2_b) {stride = array<i64: 1, 1>, padding = array<i64: 2, 2>} : (tensor<1024x64x27x27xf32>, tensor<192x64x5x5xf32>, tensor<192xf32>) -> tensor<1024x192x27x27xf32>
    %c2r = nn.relu "features.conv2_act"(%c2) : (tensor<1024x192x27x27xf32>) -> tensor<1024x192x27x27xf32>
    %p3 = nn.pool2d "features.pool2" max(%c2r) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<1024x192x27x27xf32>) -> tensor<1024x192x13x13xf32>
    %c4 = nn.conv2d "features.conv3"(%p3, %c4_w, %c4_b) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<1024x192x13x13xf32>, tensor<384x192x3x3xf32>, tensor<384xf32>) -> tensor<1024x384x13x13xf32>
    %c4r = nn.relu "features.conv3_act"(%c4) : (tensor<1024x384x13x13xf32>) -> tensor<1024x384x13x13xf32>
    %c5 = nn.conv2d "features.conv4"(%c4r, %c5_w, %c5_b) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<1024x384x13x13xf32>, tensor<256x384x3x3xf32>, tensor<256xf32>) -> tensor<1024x256x13x13xf32>
    %c5r = nn.relu "features.conv4_act"(%c5) : (tensor<1024x256x13x13xf32>) -> tensor<1024x256x13x13xf32>
    %c6 = nn.conv2d "features.conv5"(%c5r, %c6_w, %c6_b) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<1024x256x13x13xf32>, tensor<256x256x3x3xf32>, tensor<256xf32>) -> tensor<1024x256x13x13xf32>
    %c6r = nn.relu "features.conv5_act"(%c6) : (tensor<1024x256x13x13xf32>) -> tensor<1024x256x13x13xf32>
    %p7 = nn.pool2d "features.pool5" max(%c6r) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<1024x256x13x13xf32>) -> tensor<1024x256x6x6xf32>
    %flat = nn.reshape "flatten"(%p7) : (tensor<1024x256x6x6xf32>) -> tensor<1024x9216xf32>
    %d8, %d8m = nn.dropout "classifier.drop6"(%flat) {probability = 0.5 : f64, seed = 1 : i64} : (tensor<1024x9216xf32>) -> (tensor<1024x9216xf32>, tensor<1024x9216xi8>)
    %f9 = nn.linear "classifier.fc6"(%d8, %f9_w, %f9_b) : (tensor<1024x9216xf32>, tensor<4096x9216xf32>, tensor<4096xf32>) -> tensor<1024x4096xf32>
    %f9r = nn.relu "classifier.fc6_act"(%f9) : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %d10, %d10m = nn.dropout "classifier.drop7"(%f9r) {probability = 0.5 : f64, seed = 2 : i64} : (tensor<1024x4096xf32>) -> (tensor<1024x4096xf32>, tensor<1024x4096xi8>)
    %f11 = nn.linear "classifier.fc7"(%d10, %f11_w, %f11_b) : (tensor<1024x4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>) -> tensor<1024x4096xf32>
    %f11r = nn.relu "classifier.fc7_act"(%f11) : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %f12 = nn.linear "classifier.fc8"(%f11r, %f12_w, %f12_b) : (tensor<1024x4096xf32>, tensor<1000x4096xf32>, tensor<1000xf32>) -> tensor<1024x1000xf32>
    %loss, %lse = nn.cross_entropy "loss"(%f12, %labels) : (tensor<1024x1000xf32>, tensor<1024xi32>) -> (tensor<f32>, tensor<1024xf32>)
    return %loss : tensor<f32>
  }

  // The tree is all it takes: convolutions and linears follow the batch.
  strategy.tree @data_parallel for @alexnet {
    mesh [dp = 8]
    split op [batch -> dp]
  }
}
