// With tf32, matrix units take single precision at their TF32 rate: a product that the
// units bound is 8 times faster on an A100 (156 against 19.5 TFLOP/s), less what a kernel
// needs beside its work; one on a device without TF32 is as fast as before.

// RUN: proteus-opt %s --lower-strategy --simulate="kernels=roofline report=%t-f32.json" -o /dev/null
// RUN: proteus-opt %s --lower-strategy --simulate="kernels=roofline tf32 report=%t-tf32.json" -o /dev/null
// RUN: python3 -c "import json, sys; a, b = (json.load(open(f))['breakdown']['compute'] for f in sys.argv[1:]); assert 7.5 < a / b < 8, a / b" %t-f32.json %t-tf32.json
// Fitted models have an efficiency for each.
// RUN: proteus-opt %s --lower-strategy --simulate=report=%t-fitted-f32.json -o /dev/null
// RUN: proteus-opt %s --lower-strategy --simulate="tf32 report=%t-fitted-tf32.json" -o /dev/null
// RUN: python3 -c "import json, sys; a, b = (json.load(open(f))['breakdown']['compute'] for f in sys.argv[1:]); assert 4 < a / b < 12, a / b" %t-fitted-f32.json %t-fitted-tf32.json
// RUN: proteus-opt %s --lower-strategy=cluster=dgx1-v100 --simulate=report=%t-v100.json -o /dev/null
// RUN: proteus-opt %s --lower-strategy=cluster=dgx1-v100 --simulate="tf32 report=%t-same.json" -o /dev/null
// RUN: diff %t-v100.json %t-same.json

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @product(
      %x: tensor<8192x8192xf32> {nn.role = "input", nn.path = "x"},
      %y: tensor<8192x8192xf32> {nn.role = "input", nn.path = "y"},
      %w: tensor<8192x8192xf32> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
    %loss = nn.mse_loss "loss"(%0, %y) : (tensor<8192x8192xf32>, tensor<8192x8192xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @product {
    mesh [dp = 1]
    split op [batch -> dp]
  }
}
