// RUN: proteus-opt %s | proteus-opt | FileCheck %s
// RUN: proteus-opt --mlir-print-op-generic %s | proteus-opt | FileCheck %s

// Parts in a zigzag, and parts that have been passed on.

#ring = #dist.mesh<[cp = 4]>
// CHECK-DAG: #[[OWN:.*]] = #dist.layout<#{{.*}}, [zigzag {cp}, {}]>
#own = #dist.layout<#ring, [zigzag {cp}, {}]>
// CHECK-DAG: #[[NEXT:.*]] = #dist.layout<#{{.*}}, [zigzag {cp} shift 1, {}]>
#next = #dist.layout<#ring, [zigzag {cp} shift 1, {}]>
// CHECK-DAG: #[[LAST:.*]] = #dist.layout<#{{.*}}, [{cp} shift 3, {}]>
#last = #dist.layout<#ring, [{cp} shift 3, {}]>
#home = #dist.layout<#ring, [{cp}, {}]>
#all_of_it = #dist.layout<#ring, [{}, {}]>

// CHECK-LABEL: func.func @rings
func.func @rings(%k: tensor<8x8xf32, #own>, %v: tensor<8x8xf32, #own>, %g: tensor<8x8xf32, #last>) {
  // CHECK: dist.shift %{{.*}}, %{{.*}} dim 0 over {cp} for activation : (tensor<8x8xf32, #[[OWN]]>, tensor<8x8xf32, #[[OWN]]>) -> (tensor<8x8xf32, #[[NEXT]]>, tensor<8x8xf32, #[[NEXT]]>)
  %0:2 = dist.shift %k, %v dim 0 over {cp} for activation : (tensor<8x8xf32, #own>, tensor<8x8xf32, #own>) -> (tensor<8x8xf32, #next>, tensor<8x8xf32, #next>)
  // The last shift brings a part home.
  // CHECK: dist.shift %{{.*}} dim 0 over {cp} : (tensor<8x8xf32, #[[LAST]]>)
  %1 = dist.shift %g dim 0 over {cp} : (tensor<8x8xf32, #last>) -> tensor<8x8xf32, #home>
  // CHECK: dist.all_gather {{.*}} : tensor<8x8xf32, #[[OWN]]>
  %2 = dist.all_gather %k dim 0 over {cp} : tensor<8x8xf32, #own> -> tensor<8x8xf32, #all_of_it>
  // CHECK: dist.slice {{.*}} -> tensor<8x8xf32, #[[OWN]]>
  %3 = dist.slice %2 dim 0 over {cp} : tensor<8x8xf32, #all_of_it> -> tensor<8x8xf32, #own>
  return
}
