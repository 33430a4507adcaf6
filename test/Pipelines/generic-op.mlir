// An operation that states its own iterators and cost takes part in everything but
// execution. Here it states what nn.linear does: gradients, partitions, collectives
// and time must be those of nn.linear.

// RUN: proteus-opt %s --lower-strategy="strategy=@stated_tree" -o %t-stated.mlir
// RUN: FileCheck %s --input-file=%t-stated.mlir
// RUN: proteus-opt %s --lower-strategy="strategy=@named_tree" -o %t-named.mlir
// RUN: grep -o "dist[.].*" %t-stated.mlir | grep -v "program\|schedule" | sed "s/%[a-z0-9_]*//g" > %t-stated.dist
// RUN: grep -o "dist[.].*" %t-named.mlir | grep -v "program\|schedule" | sed "s/%[a-z0-9_]*//g" > %t-named.dist
// RUN: diff %t-stated.dist %t-named.dist
// RUN: proteus-opt %t-stated.mlir --simulate="kernels=roofline report=%t-stated.json" -o /dev/null
// RUN: proteus-opt %t-named.mlir --simulate="kernels=roofline report=%t-named.json" -o /dev/null
// RUN: sed '/"model"/d; /"job": {/,/^  },/d; /"compute_by_op"/,/\]/d' %t-stated.json > %t-stated.figures
// RUN: sed '/"model"/d; /"job": {/,/^  },/d; /"compute_by_op"/,/\]/d' %t-named.json > %t-named.figures
// RUN: diff %t-stated.figures %t-named.figures

// The gradient of an operand sums over the iterators that do not index it.

// CHECK:      dist.section forward {
// CHECK:        nn.generic "fc1"
// CHECK:        nn.generic "fc2"
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:      dist.section backward {
// CHECK:        nn.generic "fc2"({{.*}}kinds = ["parallel", "sum", "parallel"], matrix, multilinear
// CHECK:        nn.generic "fc2"({{.*}}kinds = ["sum", "parallel", "parallel"], matrix, multilinear

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @stated(
      %x: tensor<64x128xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<64x128xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<256x128xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<128x256xf32> {nn.role = "parameter", nn.path = "fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.generic "fc1"(%x, %w1) {iterators = ["batch", "out", "in"], sizes = array<i64: 64, 256, 128>, kinds = ["parallel", "parallel", "sum"],
        indexing = [["batch", "in"], ["out", "in"], ["batch", "out"]], flops = 2.0 : f64, gradient_flops = 2.0 : f64, matrix, multilinear} : (tensor<64x128xf32>, tensor<256x128xf32>) -> tensor<64x256xf32>
    %1 = nn.gelu "act"(%0) : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %2 = nn.generic "fc2"(%1, %w2) {iterators = ["batch", "out", "in"], sizes = array<i64: 64, 128, 256>, kinds = ["parallel", "parallel", "sum"],
        indexing = [["batch", "in"], ["out", "in"], ["batch", "out"]], flops = 2.0 : f64, gradient_flops = 2.0 : f64, matrix, multilinear} : (tensor<64x256xf32>, tensor<128x256xf32>) -> tensor<64x128xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @stated_tree for @stated {
    mesh [dp = 2, tp = 4]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "fc1" { split op [out -> tp] }
  }

  func.func @named(
      %x: tensor<64x128xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<64x128xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<256x128xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<128x256xf32> {nn.role = "parameter", nn.path = "fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<64x128xf32>, tensor<256x128xf32>) -> tensor<64x256xf32>
    %1 = nn.gelu "act"(%0) : (tensor<64x256xf32>) -> tensor<64x256xf32>
    %2 = nn.linear "fc2"(%1, %w2) : (tensor<64x256xf32>, tensor<128x256xf32>) -> tensor<64x128xf32>
    %loss = nn.mse_loss "loss"(%2, %target) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @named_tree for @named {
    mesh [dp = 2, tp = 4]
    schedule micro_batches = 2
    split op [batch -> dp]
    node "fc1" { split op [out -> tp] }
  }
}
