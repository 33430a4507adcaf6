// RUN: proteus-opt %s | proteus-opt | FileCheck %s
// RUN: proteus-opt --mlir-print-op-generic %s | proteus-opt | FileCheck %s

// Blocks that are cut as one list of elements.

#mesh = #dist.mesh<[dp = 3, tp = 2], micro = 2>
#columns = #dist.layout<#mesh, [{}, {tp}]>
#summand = #dist.layout<#mesh, [{}, {tp}], partial = [sum {dp}]>
// CHECK-DAG: #[[FLAT:.*]] = #dist.layout<#{{.*}}, [{}, {tp}], flat = {dp}>
#flat = #dist.layout<#mesh, [{}, {tp}], flat = {dp} granule 1>
// CHECK-DAG: #[[ROWS:.*]] = #dist.layout<#{{.*}}, [{}, {}, {}], flat = {dp} leading 1 granule 4>
#rows = #dist.layout<#mesh, [{}, {}, {}], flat = {dp} leading 1 granule 4>
#stack = #dist.layout<#mesh, [{}, {}, {}]>

// CHECK-LABEL: func.func @flat
func.func @flat(%gradient: tensor<7x4xf32, #summand>, %layers: tensor<2x7x4xf32, #rows>) {
  // CHECK: dist.reduce_scatter sum %{{.*}} flat over {dp} for gradient : {{.*}} -> tensor<7x4xf32, #[[FLAT]]>
  %0 = dist.reduce_scatter sum %gradient flat over {dp} for gradient : tensor<7x4xf32, #summand> -> tensor<7x4xf32, #flat>
  // CHECK: nn.add "update"{{.*}} -> tensor<7x4xf32, #[[FLAT]]>
  %1 = nn.add "update"(%0, %0) : (tensor<7x4xf32, #flat>, tensor<7x4xf32, #flat>) -> tensor<7x4xf32, #flat>
  // CHECK: dist.all_gather %{{.*}} flat over {dp} for parameter
  %2 = dist.all_gather %1 flat over {dp} for parameter : tensor<7x4xf32, #flat> -> tensor<7x4xf32, #columns>
  // CHECK: dist.slice %{{.*}} flat over {dp} : {{.*}} -> tensor<7x4xf32, #[[FLAT]]>
  %3 = dist.slice %2 flat over {dp} : tensor<7x4xf32, #columns> -> tensor<7x4xf32, #flat>
  // CHECK: dist.all_gather %{{.*}} flat over {dp} : tensor<2x7x4xf32, #[[ROWS]]>
  %4 = dist.all_gather %layers flat over {dp} : tensor<2x7x4xf32, #rows> -> tensor<2x7x4xf32, #stack>
  return
}
