// Options replace the sizes of the program, each on its own; zero is no size.
//
// RUN: proteus-opt %s --fuse-gradients | FileCheck %s --check-prefixes=CHECK,PROGRAM
// RUN: proteus-opt %s --fuse-gradients="first-bucket-size=0 bucket-size=0" | FileCheck %s --check-prefixes=CHECK,PROGRAM
// RUN: proteus-opt %s --fuse-gradients="first-bucket-size=4096 bucket-size=2048" | FileCheck %s --check-prefixes=CHECK,SIZES
// RUN: proteus-opt %s --fuse-gradients="first-bucket-size=1 bucket-size=1" | FileCheck %s --check-prefixes=CHECK,SINGLE
// RUN: proteus-opt %s --fuse-gradients="first-bucket-size=1 bucket-size=3000" | FileCheck %s --check-prefixes=CHECK,REACHED
// RUN: proteus-opt %s --fuse-gradients="bucket-size=1" | FileCheck %s --check-prefixes=CHECK,SIZE
// RUN: proteus-opt %s --fuse-gradients="first-bucket-size=8192" | FileCheck %s --check-prefixes=CHECK,FIRST
// Programs are independent: threads do not change the result.
// RUN: proteus-opt %s --mlir-disable-threading --fuse-gradients="first-bucket-size=1 bucket-size=1" | FileCheck %s --check-prefixes=CHECK,SINGLE

#mesh = #dist.mesh<[dp = 2]>
#x = #dist.layout<#mesh, [{dp}, {}]>
#w = #dist.layout<#mesh, [{}, {}]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#ws = #dist.layout<#mesh, [{}, {}, {}]>
#ps = #dist.layout<#mesh, [{}, {}, {}], partial = [sum {dp}]>

// A head of 4096 bytes, four layers and a first product of 1024 bytes each. A
// bucket closes when it has reached its size.

// CHECK-LABEL:  dist.program @no_sizes
// CHECK:          dist.fused_reduce all_reduce sum %{{.+}} over {dp} stacked [false, true, false]
// PROGRAM-SAME:     buckets {{\[\[}}0[0:1], 1[0:4], 2[0:1]]] for gradient :
// SIZES-SAME:       buckets {{\[\[}}0[0:1]], [1[2:4]], [1[0:2]], [2[0:1]]] for gradient :
// SINGLE-SAME:      buckets {{\[\[}}0[0:1]], [1[3:4]], [1[2:3]], [1[1:2]], [1[0:1]], [2[0:1]]] for gradient :
// REACHED-SAME:     buckets {{\[\[}}0[0:1]], [1[1:4]], [1[0:1], 2[0:1]]] for gradient :
// SIZE-SAME:        buckets {{\[\[}}0[0:1], 1[0:4], 2[0:1]]] for gradient :
// FIRST-SAME:       buckets {{\[\[}}0[0:1], 1[0:4]], [2[0:1]]] for gradient :
dist.program @no_sizes mesh #mesh (%x: tensor<8x16xf32, #x>, %y: tensor<8x64xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<4x16x16xf32, #ws>, tensor<64x16xf32, #w>) {
  %g:3 = dist.section backward {
    %0 = nn.linear_wgrad "head"(%y, %x) : (tensor<8x64xf32, #x>, tensor<8x16xf32, #x>) -> tensor<64x16xf32, #p>
    %1 = nn.repeat "layers" count 4 reverse -> (tensor<4x16x16xf32, #ps>) {
      %3 = nn.linear_wgrad "fc"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
      nn.yield %3 : tensor<16x16xf32, #p>
    }
    %2 = nn.linear_wgrad "in"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0, %1, %2 : tensor<64x16xf32, #p>, tensor<4x16x16xf32, #ps>, tensor<16x16xf32, #p>
  }
  %u:3 = dist.section update once {
    %a = dist.all_reduce sum %g#2 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<4x16x16xf32, #ps> -> tensor<4x16x16xf32, #ws>
    %c = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<64x16xf32, #p> -> tensor<64x16xf32, #w>
    dist.yield %a, %b, %c : tensor<16x16xf32, #w>, tensor<4x16x16xf32, #ws>, tensor<64x16xf32, #w>
  }
  dist.return %u#0, %u#1, %u#2 : tensor<16x16xf32, #w>, tensor<4x16x16xf32, #ws>, tensor<64x16xf32, #w>
}

// Three gradients of 1024 bytes in a program that gives one size: without an
// option for the first bucket it keeps that size.

// CHECK-LABEL:  dist.program @one_size
// CHECK:          dist.fused_reduce all_reduce sum %{{.+}} over {dp} stacked [false, false, false]
// PROGRAM-SAME:     buckets {{\[\[}}0[0:1], 1[0:1]], [2[0:1]]] for gradient :
// SIZES-SAME:       buckets {{\[\[}}0[0:1], 1[0:1], 2[0:1]]] for gradient :
// SINGLE-SAME:      buckets {{\[\[}}0[0:1]], [1[0:1]], [2[0:1]]] for gradient :
// REACHED-SAME:     buckets {{\[\[}}0[0:1]], [1[0:1], 2[0:1]]] for gradient :
// SIZE-SAME:        buckets {{\[\[}}0[0:1], 1[0:1]], [2[0:1]]] for gradient :
// FIRST-SAME:       buckets {{\[\[}}0[0:1], 1[0:1], 2[0:1]]] for gradient :
dist.program @one_size mesh #mesh (%p: tensor<16x16xf32, #p>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <size = 2048>>} {
  %g:3 = dist.section backward {
    dist.yield %p, %p, %p : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
  }
  %u:3 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %c = dist.all_reduce sum %g#2 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b, %c : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1, %u#2 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}
