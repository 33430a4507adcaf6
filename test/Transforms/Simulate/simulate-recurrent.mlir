// RUN: proteus-opt %s --lower-strategy --simulate=kernels=roofline --remarks-filter='proteus.*' -o /dev/null 2>&1 | FileCheck %s

// A step of a recurrent layer reads its weight again. Per device: 4 x 50 x 4096
// gates in, 4 x 50 x (1024 + 4096 + 1024) results, and 50 times a weight of
// 4096 x 1024 and a bias of 4096, in f32, at 2039 GB/s. The gradient of the
// weight is one product for all times: 2 x 4 x 50 x 4096 x 1024 operations at
// 19.5 TFLOP/s. A launch takes 1.5 us.

// CHECK-DAG: nn.lstm | {{.*}} BoundBy=memory, Count=1, Path=lstm.recurrent, TimeUs=490.827
// CHECK-DAG: nn.lstm_grad | {{.*}} BoundBy=memory, Count=1, Path=lstm.recurrent, TimeUs=490.426
// CHECK-DAG: nn.lstm_wgrad | {{.*}} BoundBy=flops, Count=1, Path=lstm.recurrent, TimeUs=87.537
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @lstm(
      %x: tensor<32x50x1024xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<32x50x1024xf32> {nn.role = "input", nn.path = "target"},
      %wx: tensor<4096x1024xf32> {nn.role = "parameter", nn.path = "lstm.input.weight"},
      %wh: tensor<4096x1024xf32> {nn.role = "parameter", nn.path = "lstm.recurrent.weight"},
      %b: tensor<4096xf32> {nn.role = "parameter", nn.path = "lstm.recurrent.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "lstm.input"(%x, %wx) : (tensor<32x50x1024xf32>, tensor<4096x1024xf32>) -> tensor<32x50x4096xf32>
    %1, %gates, %cells = nn.lstm "lstm.recurrent"(%0, %wh, %b) : (tensor<32x50x4096xf32>, tensor<4096x1024xf32>, tensor<4096xf32>) -> (tensor<32x50x1024xf32>, tensor<32x50x4096xf32>, tensor<32x50x1024xf32>)
    %loss = nn.mse_loss "loss"(%1, %target) : (tensor<32x50x1024xf32>, tensor<32x50x1024xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @lstm {
    mesh [dp = 8]
    split op [batch -> dp]
  }
}
