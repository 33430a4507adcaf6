// RUN: proteus-opt %s | proteus-opt | FileCheck %s
// RUN: proteus-opt --mlir-print-op-generic %s | proteus-opt | FileCheck %s

// CHECK-DAG: #[[MESH:.*]] = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// CHECK-DAG: #dist.mesh<[tp = 2], devices = [0, 4]>
#pair = #dist.mesh<[tp = 2], micro = 1, devices = [0, 4]>
// CHECK-DAG: #[[IOTA:.*]] = #dist.mesh<[tp = 2]>
#iota = #dist.mesh<[tp = 2], devices = [0, 1]>

// CHECK-DAG: #[[HOST:.*]] = #dist.layout<#[[MESH]], [{dp}], memory = host>
#host = #dist.layout<#mesh, [{dp}], memory = host>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<#[[MESH]], [{}, {}]>
#whole = #dist.layout<#mesh, [{}, {}]>
// CHECK-DAG: #[[ROWS:.*]] = #dist.layout<#[[MESH]], [{tp}, {}]>
#rows = #dist.layout<#mesh, [{tp}, {}]>
// CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<#[[MESH]], [{}, {tp}]>
#columns = #dist.layout<#mesh, [{}, {tp}]>
// CHECK-DAG: #[[PARTIAL:.*]] = #dist.layout<#[[MESH]], [{}, {}], partial = [sum {dp, tp}]>
#partial = #dist.layout<#mesh, [{}, {}], partial = [sum {tp, dp}]>
// CHECK-DAG: #[[BOTH:.*]] = #dist.layout<#[[MESH]], [{tp, dp}, {}]>
#both = #dist.layout<#mesh, [{tp, dp}, {}]>
// CHECK-DAG: #[[MAX:.*]] = #dist.layout<#[[MESH]], [{dp}, {}], partial = [max {tp}]>
#max = #dist.layout<#mesh, [{dp}, {}], partial = [max {tp}]>
// CHECK-DAG: #[[DP:.*]] = #dist.layout<#[[MESH]], [{dp}, {}]>
#dp = #dist.layout<#mesh, [{dp}, {}]>
// CHECK-DAG: #[[EACH:.*]] = #dist.layout<#[[MESH]], [{}, {tp}], partial = [sum {micro, dp}, max {pp}]>
#each = #dist.layout<#mesh, [{}, {tp}], partial = [max {pp}, sum {dp, micro}]>
// CHECK-DAG: #[[ALL:.*]] = #dist.layout<#[[MESH]], [{}, {tp}], partial = [sum {dp}, max {pp}]>
#all = #dist.layout<#mesh, [{}, {tp}], partial = [sum {dp}, max {pp}]>
// CHECK-DAG: #[[FIRST:.*]] = #dist.layout<#[[MESH]], [{micro, dp}, {tp}], at = [pp = 0]>
#first = #dist.layout<#mesh, [{micro, dp}, {tp}], at = [pp = 0]>
// CHECK-DAG: #[[SECOND:.*]] = #dist.layout<#[[MESH]], [{micro, dp}, {tp}], at = [pp = 1]>
#second = #dist.layout<#mesh, [{micro, dp}, {tp}], at = [pp = 1]>

// CHECK-LABEL: func.func @meshes_drop_what_says_nothing
func.func @meshes_drop_what_says_nothing() attributes {
    // CHECK-SAME: a = #[[IOTA]]
    a = #iota, b = #pair} {
  return
}

// CHECK-LABEL: func.func @collectives
func.func @collectives(%partial: tensor<8x8xf32, #partial>,
                       %rows: tensor<8x8xf32, #rows>,
                       %max: tensor<8x8xf32, #max>) {
  // CHECK: dist.all_reduce sum %{{.*}} over {dp, tp} for activation : tensor<8x8xf32, #[[PARTIAL]]> -> tensor<8x8xf32, #[[WHOLE]]>
  %0 = dist.all_reduce sum %partial over {dp, tp} for activation
      : tensor<8x8xf32, #partial> -> tensor<8x8xf32, #whole>
  // CHECK: dist.all_reduce max %{{.*}} over {tp} : tensor<8x8xf32, #[[MAX]]> -> tensor<8x8xf32, #[[DP]]>
  %1 = dist.all_reduce max %max over {tp}
      : tensor<8x8xf32, #max> -> tensor<8x8xf32, #dp>
  // CHECK: dist.all_gather %{{.*}} dim 0 over {tp} for parameter : tensor<8x8xf32, #[[ROWS]]> -> tensor<8x8xf32, #[[WHOLE]]>
  %2 = dist.all_gather %rows dim 0 over {tp} for parameter
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #whole>
  // CHECK: dist.reduce_scatter sum %{{.*}} dim 0 over {dp, tp} for gradient : tensor<8x8xf32, #[[PARTIAL]]> -> tensor<8x8xf32, #[[BOTH]]>
  %3 = dist.reduce_scatter sum %partial dim 0 over {dp, tp} for gradient
      : tensor<8x8xf32, #partial> -> tensor<8x8xf32, #both>
  // CHECK: dist.all_to_all %{{.*}} from 0 to 1 over {tp} : tensor<8x8xf32, #[[ROWS]]> -> tensor<8x8xf32, #[[COLUMNS]]>
  %4 = dist.all_to_all %rows from 0 to 1 over {tp}
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #columns>
  // CHECK: dist.slice %{{.*}} dim 1 over {tp} {note = "attributes stay"} : tensor<8x8xf32, #[[WHOLE]]> -> tensor<8x8xf32, #[[COLUMNS]]>
  %5 = dist.slice %0 dim 1 over {tp} {note = "attributes stay"}
      : tensor<8x8xf32, #whole> -> tensor<8x8xf32, #columns>
  return
}

// CHECK-LABEL: func.func @time_and_stages
func.func @time_and_stages(%each: tensor<8x8xf32, #each>,
                           %first: tensor<8x8xf32, #first>) {
  // CHECK: dist.accumulate %{{.*}} : tensor<8x8xf32, #[[EACH]]> -> tensor<8x8xf32, #[[ALL]]>
  %0 = dist.accumulate %each
      : tensor<8x8xf32, #each> -> tensor<8x8xf32, #all>
  // CHECK: dist.transfer %{{.*}} : tensor<8x8xf32, #[[FIRST]]> -> tensor<8x8xf32, #[[SECOND]]>
  %1 = dist.transfer %first
      : tensor<8x8xf32, #first> -> tensor<8x8xf32, #second>
  // CHECK: dist.stage_reduce %{{.*}} over stages [0, 1] tag 3 for gradient : tensor<8x8xf32, #[[FIRST]]>
  %tied = dist.stage_reduce %first over stages [0, 1] tag 3 for gradient : tensor<8x8xf32, #first>
  // CHECK: dist.send %{{.*}} to stage 1 tag 7 for activation : tensor<8x8xf32, #[[FIRST]]>
  dist.send %first to stage 1 tag 7 for activation : tensor<8x8xf32, #first>
  // CHECK: dist.recv from stage 0 tag 7 : tensor<8x8xf32, #[[SECOND]]>
  %2 = dist.recv from stage 0 tag 7 : tensor<8x8xf32, #second>
  return
}

#pw = #dist.layout<#mesh, [{}, {}, {tp}], partial = [sum {dp}]>
#w = #dist.layout<#mesh, [{}, {}, {tp}]>
#ws = #dist.layout<#mesh, [{}, {dp}, {tp}]>
#pb = #dist.layout<#mesh, [{}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}]>
#bs = #dist.layout<#mesh, [{dp}]>

// CHECK-LABEL: func.func @buckets
func.func @buckets(%w: tensor<12x8x8xf32, #pw>, %b: tensor<8xf32, #pb>) {
  // CHECK: dist.fused_reduce all_reduce sum %{{.*}}, %{{.*}} over {dp} stacked [true, false]
  // CHECK-SAME: buckets {{\[\[}}0[6:12], 1[0:1]], [0[0:6]]] for gradient :
  %0:2 = dist.fused_reduce all_reduce sum %w, %b over {dp}
      stacked [true, false] buckets [[0[6:12], 1[0:1]], [0[0:6]]] for gradient
      : (tensor<12x8x8xf32, #pw>, tensor<8xf32, #pb>)
      -> (tensor<12x8x8xf32, #w>, tensor<8xf32, #b>)
  // CHECK: dist.fused_reduce reduce_scatter sum
  %1:2 = dist.fused_reduce reduce_scatter sum %w, %b over {dp}
      stacked [true, false] buckets [[0[0:12], 1[0:1]]]
      : (tensor<12x8x8xf32, #pw>, tensor<8xf32, #pb>)
      -> (tensor<12x8x8xf32, #ws>, tensor<8xf32, #bs>)
  return
}

// CHECK-LABEL: func.func @gathered_buckets
func.func @gathered_buckets(%w: tensor<12x8x8xf32, #ws>, %b: tensor<8xf32, #bs>) {
  // CHECK: dist.fused_gather %{{.*}}, %{{.*}} over {dp} stacked [true, false]
  // CHECK-SAME: buckets {{\[\[}}0[0:6]], [0[6:12], 1[0:1]]] for parameter :
  %0:2 = dist.fused_gather %w, %b over {dp}
      stacked [true, false] buckets [[0[0:6]], [0[6:12], 1[0:1]]] for parameter
      : (tensor<12x8x8xf32, #ws>, tensor<8xf32, #bs>)
      -> (tensor<12x8x8xf32, #w>, tensor<8xf32, #b>)
  return
}

// CHECK-LABEL: func.func @to_the_host_and_back
func.func @to_the_host_and_back(%b: tensor<8xf32, #bs>) {
  // CHECK: %[[H:.*]] = dist.offload %{{.*}} for activation : tensor<8xf32, #{{.*}}> -> tensor<8xf32, #[[HOST]]>
  %0 = dist.offload %b for activation : tensor<8xf32, #bs> -> tensor<8xf32, #host>
  // CHECK: dist.fetch %[[H]] : tensor<8xf32, #[[HOST]]> -> tensor<8xf32, #{{.*}}>
  %1 = dist.fetch %0 : tensor<8xf32, #host> -> tensor<8xf32, #bs>
  return
}

#x0 = #dist.layout<#mesh, [{micro, dp}, {}], at = [pp = 0]>
#w0 = #dist.layout<#mesh, [{}, {tp}], at = [pp = 0]>
#g0 = #dist.layout<#mesh, [{}, {tp}], partial = [sum {micro, dp}], at = [pp = 0]>
#s0 = #dist.layout<#mesh, [{}, {tp}], partial = [sum {dp}], at = [pp = 0]>

// CHECK: dist.program @first mesh #[[MESH]] at [pp = 0]
// CHECK-SAME: (%[[X:.*]]: tensor<8x8xf32, #{{.*}}> {test.role = "input"}, %[[W:.*]]: tensor<8x8xf32, #{{.*}}>) -> (tensor<8x8xf32, #{{.*}}> {test.role = "parameter"})
// CHECK-SAME: attributes {note = "kept"} {
dist.program @first mesh #mesh at [pp = 0]
    (%x: tensor<8x8xf32, #x0> {test.role = "input"}, %w: tensor<8x8xf32, #w0>)
    -> (tensor<8x8xf32, #w0> {test.role = "parameter"})
    attributes {note = "kept"} {
  // CHECK: %[[F:.*]] = dist.section forward {
  %f = dist.section forward {
    dist.send %x to stage 1 tag 0 : tensor<8x8xf32, #x0>
    // CHECK: dist.yield %[[X]] : tensor<8x8xf32, #{{.*}}>
    dist.yield %x : tensor<8x8xf32, #x0>
  }
  // CHECK: dist.section backward attributes {hint = 1 : i64} {
  %g = dist.section backward attributes {hint = 1 : i64} {
    dist.send %f to stage 1 tag 2 : tensor<8x8xf32, #x0>
    %1 = dist.recv from stage 1 tag 1 : tensor<8x8xf32, #g0>
    %2 = dist.accumulate %1 : tensor<8x8xf32, #g0> -> tensor<8x8xf32, #s0>
    dist.yield %2 : tensor<8x8xf32, #s0>
  }
  // CHECK: dist.section update once {
  %u = dist.section update once {
    %0 = dist.all_reduce sum %g over {dp} for gradient
        : tensor<8x8xf32, #s0> -> tensor<8x8xf32, #w0>
    dist.yield %0 : tensor<8x8xf32, #w0>
  }
  // CHECK: dist.return %{{.*}} : tensor<8x8xf32, #{{.*}}>
  dist.return %u : tensor<8x8xf32, #w0>
}

// CHECK: dist.program @second mesh #[[MESH]] at [pp = 1] () {
dist.program @second mesh #mesh at [pp = 1] () {
  // CHECK: dist.section forward {
  dist.section forward chunk 0 { dist.yield }
  // CHECK: dist.section forward chunk 1 {
  dist.section forward chunk 1 { dist.yield }
  // CHECK: dist.section input_gradient chunk 1 {
  dist.section input_gradient chunk 1 { dist.yield }
  dist.section weight_gradient chunk 1 { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// CHECK: dist.program @everywhere mesh #[[MESH]] () {
dist.program @everywhere mesh #mesh () {
  dist.return
}

// CHECK: dist.schedule @s programs [@first, @second] order [
// CHECK-NEXT: [F0, B0, F1, B1, U],
// CHECK-NEXT: [F0, F0.1, I0.1, F1.1, W0.1, I1.1, W1.1, F1, B0, B1]
// CHECK-NEXT: ] {note = 1 : i64}
dist.schedule @s programs [@first, @second] order [
  [F0, B0, F1, B1, U],
  [F0, F0.1, I0.1, F1.1, W0.1, I1.1, W1.1, F1, B0, B1]
] {note = 1 : i64}

// The data attributes by themselves.
// CHECK: a = #dist.order<[F0, B0.1, U]>
// CHECK-SAME: b = #dist.buckets<{{\[\[}}0[0:1]], []]>
func.func private @data() attributes {
  a = #dist.order<[F0, B0.1, U]>, b = #dist.buckets<[[0[0:1]], []]>
}

// CHECK-LABEL: func.func @blocks_change_ranks
func.func @blocks_change_ranks(
    %dp_major: tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>,
    %on_one: tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>>) {
  // CHECK: dist.permute %{{.*}} over {dp, tp} for parameter :
  %0 = dist.permute %dp_major over {dp, tp} for parameter
      : tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>> -> tensor<16xf32, #dist.layout<#mesh, [{tp, dp}]>>
  // CHECK: dist.broadcast %{{.*}} over {tp} :
  %1 = dist.broadcast %on_one over {tp}
      : tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>> -> tensor<16xf32, #dist.layout<#mesh, [{dp}]>>
  // CHECK: dist.scatter %{{.*}} dim 0 over {tp} for activation :
  %2 = dist.scatter %on_one dim 0 over {tp} for activation
      : tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>> -> tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>
  return
}

// CHECK-LABEL: func.func @chunks
func.func @chunks(%rows: tensor<32x4xf32, #dist.layout<#mesh, [{tp}, {}]>>) {
  // CHECK: dist.chunk %{{.*}} dim 0 index 1 of 2 groups 8 :
  %0 = dist.chunk %rows dim 0 index 1 of 2 groups 8
      : tensor<32x4xf32, #dist.layout<#mesh, [{tp}, {}]>> -> tensor<16x4xf32, #dist.layout<#mesh, [{tp}, {}]>>
  // CHECK: dist.join %{{.*}}, %{{.*}} dim 0 groups 8 :
  %1 = dist.join %0, %0 dim 0 groups 8
      : (tensor<16x4xf32, #dist.layout<#mesh, [{tp}, {}]>>, tensor<16x4xf32, #dist.layout<#mesh, [{tp}, {}]>>)
      -> tensor<32x4xf32, #dist.layout<#mesh, [{tp}, {}]>>
  return
}

// CHECK-LABEL: func.func @places
func.func @places(
    %rows: tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>,
    %whole: tensor<16xf32, #dist.layout<#mesh, [{dp}]>>,
    %on_one: tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>>) {
  // CHECK: dist.gather %{{.*}} dim 0 over {tp} for activation :
  %0 = dist.gather %rows dim 0 over {tp} for activation
      : tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>> -> tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 1]>>
  // CHECK: dist.restrict %{{.*}} over {tp} :
  %1 = dist.restrict %whole over {tp}
      : tensor<16xf32, #dist.layout<#mesh, [{dp}]>> -> tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 3]>>
  // CHECK: dist.exchange %{{.*}}, %{{.*}} over {tp} for activation :
  %2:2 = dist.exchange %on_one, %rows over {tp} for activation
      : (tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>>, tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>)
      -> (tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>, tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 0]>>)
  return
}
