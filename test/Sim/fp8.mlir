// A product that says so takes its factors in fp8: twice the rate of bf16 on an H100,
// less what it takes to convert them: once both, in the forward pass, and once the
// gradient that arrives, in the backward pass. Memory holds the same tensors as before.

// RUN: sed -e 's/{proteus.compute = f8E4M3FN}//' %s > %t-bf16.mlir
// RUN: proteus-opt %s --lower-strategy --simulate=report=%t-f8.json -o /dev/null
// RUN: proteus-opt %t-bf16.mlir --lower-strategy --simulate=report=%t-bf16.json -o /dev/null
// RUN: python3 %S/Inputs/check_fp8.py %t-bf16.json %t-f8.json

// A device without a rate for it can't.
// RUN: not proteus-opt %s --lower-strategy=cluster=dgx-a100 --simulate -o /dev/null 2>&1 | FileCheck %s
// CHECK: error: 'nn.linear' op computes in f8, which the device 'A100-SXM4-80GB' has no peak rate for; use another precision or device

module attributes {proteus.cluster = "dgx-h100"} {
  func.func @product(
      %x: tensor<8192x8192xbf16> {nn.role = "parameter", nn.path = "x"},
      %y: tensor<8192x8192xbf16> {nn.role = "input", nn.path = "y"},
      %w: tensor<8192x8192xbf16> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc"(%x, %w) {proteus.compute = f8E4M3FN} : (tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
    %loss = nn.mse_loss "loss"(%0, %y) : (tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @product {
    mesh [dp = 1]
    split op [batch -> dp]
  }
}
