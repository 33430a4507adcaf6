// The rules of the original on our event loop give the times that the formulas of
// docs/reference.md say: Inputs/check_paper.py computes them.

// RUN: rm -rf %t && split-file %s %t

// Data-parallel training; the first bucket of gradients runs beside kernels.
// RUN: proteus-opt %t/mlp.mlir --lower-strategy --simulate="fidelity=paper report=%t/titan.json" -o /dev/null
// RUN: python3 %S/Inputs/check_paper.py mlp titanxp-pcie 0.3 %t/titan.json
// RUN: proteus-opt %t/mlp.mlir --lower-strategy --simulate="fidelity=paper fold=none report=%t/titan-none.json" -o /dev/null
// RUN: python3 %S/Inputs/check_paper.py mlp titanxp-pcie 0.3 %t/titan-none.json
// RUN: proteus-opt %t/mlp.mlir --lower-strategy=cluster=dgx1-v100 --simulate="fidelity=paper report=%t/volta.json" -o /dev/null
// RUN: python3 %S/Inputs/check_paper.py mlp dgx1-v100 0.1 %t/volta.json
// RUN: proteus-opt %t/mlp.mlir --lower-strategy --simulate="fidelity=paper overlap=off report=%t/off.json" -o /dev/null
// RUN: python3 %S/Inputs/check_paper.py mlp titanxp-pcie 0 %t/off.json
// RUN: proteus-opt %t/mlp.mlir --lower-strategy --simulate="fidelity=paper overlap-factor=0.5 report=%t/half.json" -o /dev/null
// RUN: python3 %S/Inputs/check_paper.py mlp titanxp-pcie 0.5 %t/half.json

// Two pairs on the same ways up from their switches, with and without sharing.
// RUN: proteus-opt %t/pairs.mlir --simulate="fidelity=paper report=%t/pairs.json" -o /dev/null
// RUN: python3 %S/Inputs/check_paper.py pairs 2 %t/pairs.json
// RUN: proteus-opt %t/pairs.mlir --simulate="fidelity=paper share=off report=%t/pairs-off.json" -o /dev/null
// RUN: python3 %S/Inputs/check_paper.py pairs 1 %t/pairs-off.json

// Messages between stages.
// RUN: proteus-opt %t/pipeline.mlir --simulate="fidelity=paper report=%t/pipeline.json" -o /dev/null
// RUN: python3 %S/Inputs/check_paper.py pipeline %t/pipeline.json

// RUN: not proteus-opt %t/pairs.mlir --simulate="fidelity=paper cluster=dgx-h100" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: fidelity=paper cannot run on the cluster 'dgx-h100': its devices are connected by NVSwitches, for which the reference has no rules; use fidelity=flow
// UNKNOWN-NOT: error:

//--- mlp.mlir

module attributes {proteus.cluster = "titanxp-pcie"} {
  func.func @mlp(
      %x: tensor<8192x1024xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8192xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<4096x1024xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %b1: tensor<4096xf32> {nn.role = "parameter", nn.path = "fc1.bias"},
      %w2: tensor<512x4096xf32> {nn.role = "parameter", nn.path = "fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc1"(%x, %w1, %b1) : (tensor<8192x1024xf32>, tensor<4096x1024xf32>, tensor<4096xf32>) -> tensor<8192x4096xf32>
    %1 = nn.relu "act"(%0) : (tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
    %2 = nn.linear "fc2"(%1, %w2) : (tensor<8192x4096xf32>, tensor<512x4096xf32>) -> tensor<8192x512xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<8192x512xf32>, tensor<8192xi32>) -> (tensor<f32>, tensor<8192xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @mlp {
    mesh [dp = 8]
    split op [batch -> dp]
  }
}

//--- pairs.mlir

#mesh = #dist.mesh<[ring = 2, other = 2]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {ring}]>
#l = #dist.layout<#mesh, [{}, {}]>
module attributes {proteus.cluster = "titanxp-pcie"} {
  dist.program @reduce mesh #mesh (%x: tensor<1000x1000xf32, #p> {nn.role = "input", nn.path = "x"})
      -> tensor<1000x1000xf32, #l> {
    %f = dist.section forward {
      %0 = dist.all_reduce sum %x over {ring} for activation : tensor<1000x1000xf32, #p> -> tensor<1000x1000xf32, #l>
      dist.yield %0 : tensor<1000x1000xf32, #l>
    }
    dist.return %f : tensor<1000x1000xf32, #l>
  }
  dist.schedule @schedule programs [@reduce] order [[F0]]
}

//--- pipeline.mlir

#mesh = #dist.mesh<[pp = 2], micro = 2>
#x0 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 1]>
module attributes {proteus.cluster = "titanxp-pcie"} {
  dist.program @stage0 mesh #mesh at [pp = 0] (%x: tensor<2000x1000xf32, #x0> {nn.role = "input", nn.path = "x"}) {
    %f = dist.section forward {
      %0 = nn.relu "a"(%x) : (tensor<2000x1000xf32, #x0>) -> tensor<2000x1000xf32, #x0>
      dist.send %0 to stage 1 tag 0 : tensor<2000x1000xf32, #x0>
      dist.yield %0 : tensor<2000x1000xf32, #x0>
    }
    dist.section backward {
      %0 = dist.recv from stage 1 tag 1 : tensor<2000x1000xf32, #x0>
      %1 = nn.relu_grad "a"(%0, %f) : (tensor<2000x1000xf32, #x0>, tensor<2000x1000xf32, #x0>) -> tensor<2000x1000xf32, #x0>
      dist.yield
    }
    dist.return
  }
  dist.program @stage1 mesh #mesh at [pp = 1] () {
    %f = dist.section forward {
      %0 = dist.recv from stage 0 tag 0 : tensor<2000x1000xf32, #x1>
      %1 = nn.relu "b"(%0) : (tensor<2000x1000xf32, #x1>) -> tensor<2000x1000xf32, #x1>
      dist.yield %1 : tensor<2000x1000xf32, #x1>
    }
    dist.section backward {
      %0 = nn.relu_grad "b"(%f, %f) : (tensor<2000x1000xf32, #x1>, tensor<2000x1000xf32, #x1>) -> tensor<2000x1000xf32, #x1>
      dist.send %0 to stage 0 tag 1 : tensor<2000x1000xf32, #x1>
      dist.yield
    }
    dist.return
  }
  dist.schedule @schedule programs [@stage0, @stage1] order [
    [F0, F1, B0, B1],
    [F0, F1, B0, B1 ]
  ]
}
