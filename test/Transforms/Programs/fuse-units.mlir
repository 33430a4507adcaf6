// RUN: proteus-opt %s -split-input-file --fuse-units | FileCheck %s

#mesh = #dist.mesh<[dp = 2]>
#shard = #dist.layout<#mesh, [{dp}]>
#flat = #dist.layout<#mesh, [{}], flat = {dp}>
#whole = #dist.layout<#mesh, [{}]>
#sum = #dist.layout<#mesh, [{}], partial = [sum {dp}]>

// The gathers of a layer become one, at the first of them. Another layer has its
// own, and so have the modules after the layers.
// CHECK-LABEL: dist.program @gathers
// CHECK:      %[[A:.*]]:2 = dist.fused_gather %arg0, %arg1 over {dp} stacked [false, false] buckets {{.*}}0[0:1], 1[0:1]{{.*}} for parameter {proteus.path = "layers[0].parameters", proteus.prefetch = 2 : i64}
// CHECK-NEXT: nn.relu "layers[0].a"(%[[A]]#0)
// CHECK-NEXT: nn.relu "layers[0].b"(%[[A]]#1)
// CHECK-NEXT: dist.all_gather %arg0
// CHECK-NEXT: nn.relu "layers[1].a"
// CHECK-NEXT: dist.all_gather %arg1
// CHECK-NEXT: nn.relu "head"
dist.program @gathers mesh #mesh (%a: tensor<8xf32, #flat>, %b: tensor<8xf32, #flat>)
    -> (tensor<8xf32, #whole>) {
  %r = dist.section forward {
    %0 = dist.all_gather %a flat over {dp} for parameter {proteus.path = "layers[0].a", proteus.prefetch = 2 : i64} : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %1 = nn.relu "layers[0].a"(%0) : (tensor<8xf32, #whole>) -> tensor<8xf32, #whole>
    %2 = dist.all_gather %b flat over {dp} for parameter {proteus.path = "layers[0].b", proteus.prefetch = 2 : i64} : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %3 = nn.relu "layers[0].b"(%2) : (tensor<8xf32, #whole>) -> tensor<8xf32, #whole>
    %4 = dist.all_gather %a flat over {dp} for parameter {proteus.path = "layers[1].a"} : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %5 = nn.relu "layers[1].a"(%4) : (tensor<8xf32, #whole>) -> tensor<8xf32, #whole>
    %6 = dist.all_gather %b flat over {dp} for parameter {proteus.path = "head"} : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %7 = nn.relu "head"(%6) : (tensor<8xf32, #whole>) -> tensor<8xf32, #whole>
    dist.yield %7 : tensor<8xf32, #whole>
  }
  dist.return %r : tensor<8xf32, #whole>
}

// -----

#mesh = #dist.mesh<[dp = 2]>
#flat = #dist.layout<#mesh, [{}], flat = {dp}>
#whole = #dist.layout<#mesh, [{}]>

// Activations, parameters that are gathered once, and a parameter that is computed
// between the gathers stay as they are.
// CHECK-LABEL: dist.program @others
// CHECK-NOT:   dist.fused_gather
dist.program @others mesh #mesh (%a: tensor<8xf32, #flat>, %b: tensor<8xf32, #flat>)
    -> (tensor<8xf32, #whole>) {
  %r = dist.section forward {
    %0 = dist.all_gather %a flat over {dp} for activation : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %1 = dist.all_gather %b flat over {dp} for activation : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %2 = nn.add "x"(%0, %1) : (tensor<8xf32, #whole>, tensor<8xf32, #whole>) -> tensor<8xf32, #whole>
    %3 = dist.all_gather %a flat over {dp} for parameter {proteus.once} : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %4 = dist.all_gather %b flat over {dp} for parameter {proteus.once} : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %5 = nn.add "y"(%3, %4) : (tensor<8xf32, #whole>, tensor<8xf32, #whole>) -> tensor<8xf32, #whole>
    %6 = dist.all_gather %a flat over {dp} for parameter : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %7 = nn.relu "z"(%b) : (tensor<8xf32, #flat>) -> tensor<8xf32, #flat>
    %8 = dist.all_gather %7 flat over {dp} for parameter : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %9 = nn.add "u"(%6, %8) : (tensor<8xf32, #whole>, tensor<8xf32, #whole>) -> tensor<8xf32, #whole>
    %10 = nn.add "v"(%5, %9) : (tensor<8xf32, #whole>, tensor<8xf32, #whole>) -> tensor<8xf32, #whole>
    dist.yield %10 : tensor<8xf32, #whole>
  }
  dist.return %r : tensor<8xf32, #whole>
}

// -----

#mesh = #dist.mesh<[dp = 2]>
#flat = #dist.layout<#mesh, [{}], flat = {dp}>
#sum = #dist.layout<#mesh, [{}], partial = [sum {dp}]>

// Gradients of a layer are scattered by one collective, after the last of them.
// CHECK-LABEL: dist.program @scatters
// CHECK:      nn.relu "layers[0].a"
// CHECK-NEXT: nn.relu "layers[0].b"
// CHECK-NEXT: %[[S:.*]]:2 = dist.fused_reduce reduce_scatter sum
// CHECK-SAME:   for gradient {proteus.path = "layers[0].gradients"}
// CHECK-NEXT: dist.yield %[[S]]#0, %[[S]]#1
dist.program @scatters mesh #mesh (%g: tensor<8xf32, #sum>)
    -> (tensor<8xf32, #flat>, tensor<8xf32, #flat>) {
  %r:2 = dist.section backward {
    %0 = nn.relu "layers[0].a"(%g) : (tensor<8xf32, #sum>) -> tensor<8xf32, #sum>
    %1 = dist.reduce_scatter sum %0 flat over {dp} for gradient {proteus.path = "layers[0].a"} : tensor<8xf32, #sum> -> tensor<8xf32, #flat>
    %2 = nn.relu "layers[0].b"(%g) : (tensor<8xf32, #sum>) -> tensor<8xf32, #sum>
    %3 = dist.reduce_scatter sum %2 flat over {dp} for gradient {proteus.path = "layers[0].b"} : tensor<8xf32, #sum> -> tensor<8xf32, #flat>
    dist.yield %1, %3 : tensor<8xf32, #flat>, tensor<8xf32, #flat>
  }
  dist.return %r#0, %r#1 : tensor<8xf32, #flat>, tensor<8xf32, #flat>
}

// -----

#mesh = #dist.mesh<[dp = 2]>
#flat = #dist.layout<#mesh, [{}], flat = {dp}>
#whole = #dist.layout<#mesh, [{}]>

// A step that gathers each parameter by itself has no units.
// CHECK-LABEL: dist.program @per_parameter
// CHECK-NOT:   dist.fused_gather
dist.program @per_parameter mesh #mesh (%a: tensor<8xf32, #flat>, %b: tensor<8xf32, #flat>)
    -> (tensor<8xf32, #whole>) attributes {
      step = #dist.step<buckets = <gather_per_parameter = true>>} {
  %r = dist.section forward {
    %0 = dist.all_gather %a flat over {dp} for parameter : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %1 = dist.all_gather %b flat over {dp} for parameter : tensor<8xf32, #flat> -> tensor<8xf32, #whole>
    %2 = nn.add "x"(%0, %1) : (tensor<8xf32, #whole>, tensor<8xf32, #whole>) -> tensor<8xf32, #whole>
    dist.yield %2 : tensor<8xf32, #whole>
  }
  dist.return %r : tensor<8xf32, #whole>
}
