// RUN: proteus-opt %s -split-input-file --fuse-gradients \
// RUN:   | FileCheck %s --implicit-check-not="= dist.fused" --implicit-check-not="= dist.all" \
// RUN:       --implicit-check-not="= dist.reduce_scatter" --implicit-check-not="buckets = <"

// Every collective must be expected below, and no program keeps the setting
// `buckets`: it is applied. A gradient of 16 x 16 floats has 1024 bytes.

//===----------------------------------------------------------------------===//
// Sizes of buckets
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2]>
#x = #dist.layout<#mesh, [{dp}, {}]>
#w = #dist.layout<#mesh, [{}, {}]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>

// Without a setting the first bucket closes at 1 MiB: both are in it. They are in
// the order in which the backward section computes them, not in that of the
// updates, which read the reduced gradients.

// CHECK-LABEL: dist.program @default
// CHECK:         %[[B:.+]]:2 = dist.section backward {
// CHECK:         dist.section update once {
// CHECK-NEXT:      %[[R:.+]]:2 = dist.fused_reduce all_reduce sum %[[B]]#0, %[[B]]#1 over {dp} stacked [false, false] buckets {{\[\[}}0[0:1], 1[0:1]]] for gradient :
// CHECK-NEXT:      dist.yield %[[R]]#1, %[[R]]#0
dist.program @default mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>) {
  %g:2 = dist.section backward {
    %0 = nn.linear_wgrad "b"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %1 = nn.linear_wgrad "a"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0, %1 : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
  }
  %u:2 = dist.section update once {
    %a = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// The first bucket is closed by the first gradient of three, which has reached its
// size; the other two share one.

// CHECK-LABEL: dist.program @first_and_others
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1], 2[0:1]]] for gradient :
dist.program @first_and_others mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <size = 4096, first = 1024>>} {
  %g:3 = dist.section backward {
    %0 = nn.linear_wgrad "c"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %1 = nn.linear_wgrad "b"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %2 = nn.linear_wgrad "a"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0, %1, %2 : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
  }
  %u:3 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %c = dist.all_reduce sum %g#2 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b, %c : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1, %u#2 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// Without `first` the first bucket is like the others: two gradients reach 2048
// bytes.

// CHECK-LABEL: dist.program @size_only
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} buckets {{\[\[}}0[0:1], 1[0:1]], [2[0:1]]] for gradient :
dist.program @size_only mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <size = 2048>>} {
  %g:3 = dist.section backward {
    %0 = nn.linear_wgrad "c"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %1 = nn.linear_wgrad "b"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %2 = nn.linear_wgrad "a"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0, %1, %2 : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
  }
  %u:3 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %c = dist.all_reduce sum %g#2 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b, %c : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1, %u#2 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// Without `size` all gradients after the first bucket are in one bucket.

// CHECK-LABEL: dist.program @first_only
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1], 2[0:1]]] for gradient :
dist.program @first_only mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <first = 1024>>} {
  %g:3 = dist.section backward {
    %0 = nn.linear_wgrad "c"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %1 = nn.linear_wgrad "b"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %2 = nn.linear_wgrad "a"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0, %1, %2 : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
  }
  %u:3 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %c = dist.all_reduce sum %g#2 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b, %c : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1, %u#2 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// -----

//===----------------------------------------------------------------------===//
// Time of the reduction
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2]>
#x = #dist.layout<#mesh, [{dp}, {}]>
#w = #dist.layout<#mesh, [{}, {}]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>

// After the backward pass: one bucket without a size.

// CHECK-LABEL: dist.program @after_backward
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} buckets {{\[\[}}0[0:1], 1[0:1]]] after_backward for gradient :
dist.program @after_backward mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <reduction = "after-backward">>} {
  %g:2 = dist.section backward {
    %0 = nn.linear_wgrad "b"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %1 = nn.linear_wgrad "a"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0, %1 : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
  }
  %u:2 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// Per parameter: every gradient is a bucket.

// CHECK-LABEL: dist.program @per_parameter
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1]]] for gradient :
dist.program @per_parameter mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <reduction = "per-parameter">>} {
  %g:2 = dist.section backward {
    %0 = nn.linear_wgrad "b"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %1 = nn.linear_wgrad "a"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0, %1 : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
  }
  %u:2 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// Another section may run its last micro-batch at any other time, so a bucket ends
// with its section.

// CHECK-LABEL: dist.program @sections
// CHECK:         %[[B:.+]] = dist.section backward chunk 1 {
// CHECK:         %[[A:.+]] = dist.section backward {
// CHECK:         dist.fused_reduce all_reduce sum %[[B]], %[[A]] {{.*}} buckets {{\[\[}}0[0:1]], [1[0:1]]] for gradient :
dist.program @sections mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>) {
  %1 = dist.section backward chunk 1 {
    %0 = nn.linear_wgrad "b"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0 : tensor<16x16xf32, #p>
  }
  %2 = dist.section backward {
    %0 = nn.linear_wgrad "a"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0 : tensor<16x16xf32, #p>
  }
  %u:2 = dist.section update once {
    %a = dist.all_reduce sum %2 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %1 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// -----

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2]>
#x = #dist.layout<#mesh, [{dp}, {}]>
#w = #dist.layout<#mesh, [{}, {}]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#ws = #dist.layout<#mesh, [{}, {}, {}]>
#ps = #dist.layout<#mesh, [{}, {}, {}], partial = [sum {dp}]>

// A reversed repeat computes the gradients of its layers from the last to the
// first: a bucket holds a range of layers. The first layers are a repeat of their
// own and come last.

// CHECK-LABEL: dist.program @stacks
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} over {dp} stacked [true, true] buckets {{\[\[}}0[1:3]], [0[0:1], 1[1:2]], [1[0:1]]] for gradient :
dist.program @stacks mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<2x16x16xf32, #ws>, tensor<3x16x16xf32, #ws>)
    attributes {step = #dist.step<buckets = <size = 2048>>} {
  %g:2 = dist.section backward {
    %0 = nn.repeat "layers" first 2 count 3 reverse -> (tensor<3x16x16xf32, #ps>) {
      %2 = nn.linear_wgrad "fc"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
      nn.yield %2 : tensor<16x16xf32, #p>
    }
    %1 = nn.repeat "layers" count 2 reverse -> (tensor<2x16x16xf32, #ps>) {
      %2 = nn.linear_wgrad "fc"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
      nn.yield %2 : tensor<16x16xf32, #p>
    }
    dist.yield %0, %1 : tensor<3x16x16xf32, #ps>, tensor<2x16x16xf32, #ps>
  }
  %u:2 = dist.section update once {
    %a = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<2x16x16xf32, #ps> -> tensor<2x16x16xf32, #ws>
    %b = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<3x16x16xf32, #ps> -> tensor<3x16x16xf32, #ws>
    dist.yield %a, %b : tensor<2x16x16xf32, #ws>, tensor<3x16x16xf32, #ws>
  }
  dist.return %u#0, %u#1 : tensor<2x16x16xf32, #ws>, tensor<3x16x16xf32, #ws>
}

// A layer computes several gradients, one after the other, so a bucket of three
// gradients may end within a layer: it holds two layers of one and one of the
// other.

// CHECK-LABEL: dist.program @gradients_of_a_layer
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} over {dp} stacked [true, true] buckets {{\[\[}}0[1:3], 1[2:3]], [1[0:2], 0[0:1]]] for gradient :
dist.program @gradients_of_a_layer mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<3x16x16xf32, #ws>, tensor<3x16x16xf32, #ws>)
    attributes {step = #dist.step<buckets = <size = 3000>>} {
  %g:2 = dist.section backward {
    %0:2 = nn.repeat "layers" count 3 reverse -> (tensor<3x16x16xf32, #ps>, tensor<3x16x16xf32, #ps>) {
      %1 = nn.linear_wgrad "fc2"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
      %2 = nn.linear_wgrad "fc1"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
      nn.yield %2, %1 : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
    }
    dist.yield %0#0, %0#1 : tensor<3x16x16xf32, #ps>, tensor<3x16x16xf32, #ps>
  }
  %u:2 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<3x16x16xf32, #ps> -> tensor<3x16x16xf32, #ws>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<3x16x16xf32, #ps> -> tensor<3x16x16xf32, #ws>
    dist.yield %a, %b : tensor<3x16x16xf32, #ws>, tensor<3x16x16xf32, #ws>
  }
  dist.return %u#0, %u#1 : tensor<3x16x16xf32, #ws>, tensor<3x16x16xf32, #ws>
}

// A sum over layers is ready when the last layer has added to it, before the last
// gradient of that layer.

// CHECK-LABEL: dist.program @sum_over_layers
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} over {dp} stacked [true, false] buckets {{\[\[}}0[1:3], 1[0:1]], [0[0:1]]] for gradient :
dist.program @sum_over_layers mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<3x16x16xf32, #ws>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <size = 3000>>} {
  %g:2 = dist.section backward {
    %zero = nn.fill "zero"() {value = 0.0 : f64} : () -> tensor<16x16xf32, #p>
    %0:2 = nn.repeat "layers" count 3 reverse carry(%s = %zero : tensor<16x16xf32, #p>) -> (tensor<16x16xf32, #p>, tensor<3x16x16xf32, #ps>) {
      %1 = nn.linear_wgrad "shared"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
      %2 = nn.add "shared"(%s, %1) : (tensor<16x16xf32, #p>, tensor<16x16xf32, #p>) -> tensor<16x16xf32, #p>
      %3 = nn.linear_wgrad "fc"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
      nn.yield %2, %3 : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
    }
    dist.yield %0#1, %0#0 : tensor<3x16x16xf32, #ps>, tensor<16x16xf32, #p>
  }
  %u:2 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<3x16x16xf32, #ps> -> tensor<3x16x16xf32, #ws>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b : tensor<3x16x16xf32, #ws>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1 : tensor<3x16x16xf32, #ws>, tensor<16x16xf32, #w>
}

// With `per_layer` a bucket also ends with its layer: a repeated one, one that is
// written out, and the gradients between layers.

// CHECK-LABEL: dist.program @per_layer
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} over {dp} stacked [false, true, false, false] buckets {{\[\[}}0[0:1]], [1[1:2]], [1[0:1]], [2[0:1], 3[0:1]]] for gradient :
dist.program @per_layer mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<2x16x16xf32, #ws>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <per_layer = true>>} {
  %g:4 = dist.section backward {
    %0 = nn.linear_wgrad "head"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %1 = nn.repeat "layers" first 1 count 2 reverse -> (tensor<2x16x16xf32, #ps>) {
      %4 = nn.linear_wgrad "fc"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
      nn.yield %4 : tensor<16x16xf32, #p>
    }
    %2 = nn.linear_wgrad "layers[0].fc2"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %3 = nn.linear_wgrad "layers[0].fc1"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0, %1, %2, %3 : tensor<16x16xf32, #p>, tensor<2x16x16xf32, #ps>, tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
  }
  %u:4 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<2x16x16xf32, #ps> -> tensor<2x16x16xf32, #ws>
    %c = dist.all_reduce sum %g#2 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %d = dist.all_reduce sum %g#3 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b, %c, %d : tensor<16x16xf32, #w>, tensor<2x16x16xf32, #ws>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1, %u#2, %u#3 : tensor<16x16xf32, #w>, tensor<2x16x16xf32, #ws>, tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// With `by_operation` all gradients of an operation are ready after its last
// kernel, and the last of them comes first: the 64 bytes of the bias are in the
// bucket that the weight fills.

// CHECK-LABEL: dist.program @by_operation
// CHECK:         %[[B:.+]]:3 = dist.section backward {
// CHECK:         dist.fused_reduce all_reduce sum %[[B]]#1, %[[B]]#0, %[[B]]#2 over {dp} {{.*}} buckets {{\[\[}}0[0:1], 1[0:1]], [2[0:1]]] for gradient :
#b = #dist.layout<#mesh, [{}]>
#pb = #dist.layout<#mesh, [{}], partial = [sum {dp}]>
dist.program @by_operation mesh #mesh (%x: tensor<8x16xf32, #x>) -> (tensor<16x16xf32, #w>, tensor<16xf32, #b>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <size = 1024, by_operation = true>>} {
  %g:3 = dist.section backward {
    %0 = nn.linear_wgrad "b"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    %1 = nn.reduce_sum "b"(%x) {keep = array<i64: 1>} : (tensor<8x16xf32, #x>) -> tensor<16xf32, #pb>
    %2 = nn.linear_wgrad "a"(%x, %x) : (tensor<8x16xf32, #x>, tensor<8x16xf32, #x>) -> tensor<16x16xf32, #p>
    dist.yield %0, %1, %2 : tensor<16x16xf32, #p>, tensor<16xf32, #pb>, tensor<16x16xf32, #p>
  }
  %u:3 = dist.section update once {
    %a = dist.all_reduce sum %g#0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    %b = dist.all_reduce sum %g#1 over {dp} for gradient : tensor<16xf32, #pb> -> tensor<16xf32, #b>
    %c = dist.all_reduce sum %g#2 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #w>
    dist.yield %a, %b, %c : tensor<16x16xf32, #w>, tensor<16xf32, #b>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1, %u#2 : tensor<16x16xf32, #w>, tensor<16xf32, #b>, tensor<16x16xf32, #w>
}

// -----

//===----------------------------------------------------------------------===//
// Gradients that share buckets
//===----------------------------------------------------------------------===//

// Gradients share a bucket only if they have the kind, the axes and the element
// type in common. Each group has a first bucket of its own: 16 x 8 floats are 512
// bytes.

#mesh = #dist.mesh<[dp = 2, tp = 2], micro = 2>
#x = #dist.layout<#mesh, [{micro, dp}, {}]>
#w = #dist.layout<#mesh, [{}, {}]>
#s = #dist.layout<#mesh, [{dp}, {}]>
#dp = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#both = #dist.layout<#mesh, [{}, {}], partial = [sum {dp, tp}]>
#mdp = #dist.layout<#mesh, [{}, {}], partial = [sum {micro, dp}]>
#mboth = #dist.layout<#mesh, [{}, {}], partial = [sum {micro, dp, tp}]>

// CHECK-LABEL: dist.program @groups
// CHECK:         %[[B:.+]]:5 = dist.section backward
// CHECK:         dist.section update once
// The sums over micro-batches move with the reduction. The first
// operand of the group {dp} in f32 is what the backward section computes first.
// CHECK-DAG:       %[[A:.+]] = dist.accumulate %[[B]]#0
// CHECK-DAG:       %[[C:.+]] = dist.accumulate %[[B]]#2
// CHECK-DAG:       %[[D:.+]] = dist.accumulate %[[B]]#1
// CHECK-DAG:       %[[E:.+]] = dist.accumulate %[[B]]#3
// CHECK-DAG:       %[[F:.+]] = dist.accumulate %[[B]]#4
// CHECK-DAG:       dist.fused_reduce all_reduce sum %[[A]], %[[C]] over {dp} stacked [false, false] buckets {{\[\[}}0[0:1]], [1[0:1]]] for gradient : (tensor<16x8xf32,
// CHECK-DAG:       dist.fused_reduce all_reduce sum %[[D]] over {dp, tp} stacked [false] buckets {{\[\[}}0[0:1]]] for gradient : (tensor<16x8xf32,
// CHECK-DAG:       dist.fused_reduce all_reduce sum %[[E]] over {dp} stacked [false] buckets {{\[\[}}0[0:1]]] for gradient : (tensor<16x8xbf16,
// CHECK-DAG:       dist.fused_reduce reduce_scatter sum %[[F]] over {dp} stacked [false] buckets {{\[\[}}0[0:1]]] for gradient : (tensor<16x8xf32,
// CHECK:           dist.yield
dist.program @groups mesh #mesh (%x: tensor<32x8xf32, #x>, %y: tensor<32x16xf32, #x>, %z: tensor<32x16xf32, #x>, %h: tensor<32x16xbf16, #x>, %i: tensor<32x8xbf16, #x>)
    -> (tensor<16x8xf32, #w>, tensor<16x8xf32, #w>, tensor<16x8xf32, #w>, tensor<16x8xbf16, #w>, tensor<16x8xf32, #s>)
    attributes {step = #dist.step<buckets = <size = 512>>} {
  %g:5 = dist.section backward {
    %0 = nn.linear_wgrad "a"(%y, %x) : (tensor<32x16xf32, #x>, tensor<32x8xf32, #x>) -> tensor<16x8xf32, #mdp>
    %1 = nn.linear_wgrad "b"(%y, %x) : (tensor<32x16xf32, #x>, tensor<32x8xf32, #x>) -> tensor<16x8xf32, #mboth>
    %2 = nn.linear_wgrad "c"(%y, %x) : (tensor<32x16xf32, #x>, tensor<32x8xf32, #x>) -> tensor<16x8xf32, #mdp>
    %3 = nn.linear_wgrad "d"(%h, %i) : (tensor<32x16xbf16, #x>, tensor<32x8xbf16, #x>) -> tensor<16x8xbf16, #mdp>
    %4 = nn.linear_wgrad "e"(%z, %x) : (tensor<32x16xf32, #x>, tensor<32x8xf32, #x>) -> tensor<16x8xf32, #mdp>
    dist.yield %0, %1, %2, %3, %4 : tensor<16x8xf32, #mdp>, tensor<16x8xf32, #mboth>, tensor<16x8xf32, #mdp>, tensor<16x8xbf16, #mdp>, tensor<16x8xf32, #mdp>
  }
  %u:5 = dist.section update once {
    // The order of the updates does not matter.
    %2 = dist.accumulate %g#2 : tensor<16x8xf32, #mdp> -> tensor<16x8xf32, #dp>
    %c = dist.all_reduce sum %2 over {dp} for gradient : tensor<16x8xf32, #dp> -> tensor<16x8xf32, #w>
    %0 = dist.accumulate %g#0 : tensor<16x8xf32, #mdp> -> tensor<16x8xf32, #dp>
    %a = dist.all_reduce sum %0 over {dp} for gradient : tensor<16x8xf32, #dp> -> tensor<16x8xf32, #w>
    %1 = dist.accumulate %g#1 : tensor<16x8xf32, #mboth> -> tensor<16x8xf32, #both>
    %b = dist.all_reduce sum %1 over {dp, tp} for gradient : tensor<16x8xf32, #both> -> tensor<16x8xf32, #w>
    %3 = dist.accumulate %g#3 : tensor<16x8xbf16, #mdp> -> tensor<16x8xbf16, #dp>
    %d = dist.all_reduce sum %3 over {dp} for gradient : tensor<16x8xbf16, #dp> -> tensor<16x8xbf16, #w>
    %4 = dist.accumulate %g#4 : tensor<16x8xf32, #mdp> -> tensor<16x8xf32, #dp>
    %e = dist.reduce_scatter sum %4 dim 0 over {dp} for gradient : tensor<16x8xf32, #dp> -> tensor<16x8xf32, #s>
    dist.yield %a, %b, %c, %d, %e : tensor<16x8xf32, #w>, tensor<16x8xf32, #w>, tensor<16x8xf32, #w>, tensor<16x8xbf16, #w>, tensor<16x8xf32, #s>
  }
  dist.return %u#0, %u#1, %u#2, %u#3, %u#4 : tensor<16x8xf32, #w>, tensor<16x8xf32, #w>, tensor<16x8xf32, #w>, tensor<16x8xbf16, #w>, tensor<16x8xf32, #s>
}

// -----

// A collective for another purpose, and one of a value that the update computes
// itself, stay as they are.

#mesh = #dist.mesh<[dp = 2]>
#w = #dist.layout<#mesh, [{}, {}]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>

// CHECK-LABEL: dist.program @others_stay
// CHECK:           dist.all_reduce sum %{{.+}} over {dp} for activation
// CHECK:           %[[OWN:.+]] = nn.add "own"
// CHECK:           dist.all_reduce sum %[[OWN]] over {dp} for gradient
dist.program @others_stay mesh #mesh (%p: tensor<16x8xf32, #p>) -> (tensor<16x8xf32, #w>, tensor<16x8xf32, #w>) {
  %g = dist.section backward {
    %0 = nn.add "g"(%p, %p) : (tensor<16x8xf32, #p>, tensor<16x8xf32, #p>) -> tensor<16x8xf32, #p>
    dist.yield %0 : tensor<16x8xf32, #p>
  }
  %u:2 = dist.section update once {
    %0 = dist.all_reduce sum %g over {dp} for activation : tensor<16x8xf32, #p> -> tensor<16x8xf32, #w>
    %1 = nn.add "own"(%g, %g) : (tensor<16x8xf32, #p>, tensor<16x8xf32, #p>) -> tensor<16x8xf32, #p>
    %2 = dist.all_reduce sum %1 over {dp} for gradient : tensor<16x8xf32, #p> -> tensor<16x8xf32, #w>
    dist.yield %0, %2 : tensor<16x8xf32, #w>, tensor<16x8xf32, #w>
  }
  dist.return %u#0, %u#1 : tensor<16x8xf32, #w>, tensor<16x8xf32, #w>
}

// A program without an update has no gradients to reduce.

// CHECK-LABEL: dist.program @no_update
// CHECK:         dist.all_reduce sum %{{.+}} over {dp} for gradient
dist.program @no_update mesh #mesh (%p: tensor<16x8xf32, #p>) -> tensor<16x8xf32, #w> {
  %g = dist.section backward {
    %0 = dist.all_reduce sum %p over {dp} for gradient : tensor<16x8xf32, #p> -> tensor<16x8xf32, #w>
    dist.yield %0 : tensor<16x8xf32, #w>
  }
  dist.return %g : tensor<16x8xf32, #w>
}

// -----

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2]>
#w = #dist.layout<#mesh, [{}]>
#p = #dist.layout<#mesh, [{}], partial = [sum {dp}]>

// Gradients accumulate in one type and may travel in another. The type in which
// they accumulate is not printed.

// CHECK-LABEL: dist.program @travels_in_bf16
// CHECK:         dist.fused_reduce all_reduce sum %{{.+}} over {dp} stacked [false] buckets {{\[\[}}0[0:1]]] as bf16 for gradient : (tensor<16xf32,
dist.program @travels_in_bf16 mesh #mesh (%p: tensor<16xf32, #p>) -> tensor<16xf32, #w> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32, reduction = bf16>} {
  %g = dist.section backward {
    dist.yield %p : tensor<16xf32, #p>
  }
  %u = dist.section update once {
    %0 = dist.all_reduce sum %g over {dp} for gradient : tensor<16xf32, #p> -> tensor<16xf32, #w>
    dist.yield %0 : tensor<16xf32, #w>
  }
  dist.return %u : tensor<16xf32, #w>
}
// CHECK-LABEL: dist.program @travels_as_it_is
// CHECK:         dist.fused_reduce all_reduce sum %{{.+}} over {dp} stacked [false] buckets {{\[\[}}0[0:1]]] for gradient : (tensor<16xf32,
dist.program @travels_as_it_is mesh #mesh (%p: tensor<16xf32, #p>) -> tensor<16xf32, #w> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32, reduction = f32>} {
  %g = dist.section backward {
    dist.yield %p : tensor<16xf32, #p>
  }
  %u = dist.section update once {
    %0 = dist.all_reduce sum %g over {dp} for gradient : tensor<16xf32, #p> -> tensor<16xf32, #w>
    dist.yield %0 : tensor<16xf32, #w>
  }
  dist.return %u : tensor<16xf32, #w>
}

// -----

//===----------------------------------------------------------------------===//
// Sharded states
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[dp = 2, group = 2]>
#w = #dist.layout<#mesh, [{}, {}]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#s = #dist.layout<#mesh, [{dp}, {}]>

// Parameters that the update computes in parts are gathered in buckets of their
// own size, in the order of the updates.

// CHECK-LABEL: dist.program @gathers
// CHECK:           dist.fused_reduce reduce_scatter sum %{{.+}}, %{{.+}} over {dp} stacked [false, false] buckets {{\[\[}}0[0:1], 1[0:1]]] for gradient :
// CHECK:           %[[A:.+]] = nn.sgd "a"
// CHECK-NEXT:      %[[B:.+]] = nn.sgd "b"
// CHECK-NEXT:      %[[W:.+]]:2 = dist.fused_gather %[[A]], %[[B]] over {dp} stacked [false, false] buckets {{\[\[}}0[0:1]], [1[0:1]]] for parameter :
// CHECK-NEXT:      dist.yield %[[W]]#0, %[[W]]#1
dist.program @gathers mesh #mesh (%p: tensor<16x16xf32, #p>, %v: tensor<16x16xf32, #s>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <size = 4096, gather = 1024>>} {
  %g:2 = dist.section backward {
    dist.yield %p, %p : tensor<16x16xf32, #p>, tensor<16x16xf32, #p>
  }
  %u:2 = dist.section update once {
    %0 = dist.reduce_scatter sum %g#0 dim 0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #s>
    %1 = nn.sgd "a"(%v, %0) : (tensor<16x16xf32, #s>, tensor<16x16xf32, #s>) -> tensor<16x16xf32, #s>
    %2 = dist.all_gather %1 dim 0 over {dp} for parameter : tensor<16x16xf32, #s> -> tensor<16x16xf32, #w>
    %3 = dist.reduce_scatter sum %g#1 dim 0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #s>
    %4 = nn.sgd "b"(%v, %3) : (tensor<16x16xf32, #s>, tensor<16x16xf32, #s>) -> tensor<16x16xf32, #s>
    %5 = dist.all_gather %4 dim 0 over {dp} for parameter : tensor<16x16xf32, #s> -> tensor<16x16xf32, #w>
    dist.yield %2, %5 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// With `gather_per_parameter` each parameter is gathered by itself, though
// gradients share a bucket.

// CHECK-LABEL: dist.program @gathers_per_parameter
// CHECK:           dist.fused_gather %{{.+}}, %{{.+}} over {dp} stacked [false, false] buckets {{\[\[}}0[0:1]], [1[0:1]]] for parameter :
dist.program @gathers_per_parameter mesh #mesh (%v: tensor<16x16xf32, #s>) -> (tensor<16x16xf32, #w>, tensor<16x16xf32, #w>)
    attributes {step = #dist.step<buckets = <size = 4096, gather_per_parameter = true>>} {
  %u:2 = dist.section update once {
    %1 = nn.sgd "a"(%v, %v) : (tensor<16x16xf32, #s>, tensor<16x16xf32, #s>) -> tensor<16x16xf32, #s>
    %2 = dist.all_gather %1 dim 0 over {dp} for parameter : tensor<16x16xf32, #s> -> tensor<16x16xf32, #w>
    %4 = nn.sgd "b"(%v, %v) : (tensor<16x16xf32, #s>, tensor<16x16xf32, #s>) -> tensor<16x16xf32, #s>
    %5 = dist.all_gather %4 dim 0 over {dp} for parameter : tensor<16x16xf32, #s> -> tensor<16x16xf32, #w>
    dist.yield %2, %5 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
  }
  dist.return %u#0, %u#1 : tensor<16x16xf32, #w>, tensor<16x16xf32, #w>
}

// With `all_reduce` whole gradients are reduced, and the update takes its part.

// CHECK-LABEL: dist.program @whole_gradients
// CHECK:           %[[G:.+]] = dist.fused_reduce all_reduce sum %{{.+}} over {dp} stacked [false] buckets {{\[\[}}0[0:1]]] for gradient :
// CHECK-NEXT:      %[[PART:.+]] = dist.slice %[[G]] dim 0 over {dp} :
// CHECK-NEXT:      nn.sgd "a"(%{{.+}}, %[[PART]])
dist.program @whole_gradients mesh #mesh (%p: tensor<16x16xf32, #p>, %v: tensor<16x16xf32, #s>) -> tensor<16x16xf32, #s>
    attributes {step = #dist.step<buckets = <size = 4096, all_reduce = true>>} {
  %g = dist.section backward {
    dist.yield %p : tensor<16x16xf32, #p>
  }
  %u = dist.section update once {
    %0 = dist.reduce_scatter sum %g dim 0 over {dp} for gradient : tensor<16x16xf32, #p> -> tensor<16x16xf32, #s>
    %1 = nn.sgd "a"(%v, %0) : (tensor<16x16xf32, #s>, tensor<16x16xf32, #s>) -> tensor<16x16xf32, #s>
    dist.yield %1 : tensor<16x16xf32, #s>
  }
  dist.return %u : tensor<16x16xf32, #s>
}

// Gradients that are reduced a second time over other devices, as ZeRO does over
// its groups, are so in the same buckets: the first reduction has the bytes of
// whole gradients, the second would have half.

// CHECK-LABEL: dist.program @reduced_twice
// CHECK:           %[[F:.+]]:3 = dist.fused_reduce reduce_scatter sum %{{.+}} over {dp} {{.*}} buckets {{\[\[}}0[0:1], 1[0:1]], [2[0:1]]] for gradient :
// CHECK-NEXT:      dist.fused_reduce all_reduce sum %[[F]]#0, %[[F]]#1, %[[F]]#2 over {group} {{.*}} buckets {{\[\[}}0[0:1], 1[0:1]], [2[0:1]]] for gradient :
#pp = #dist.layout<#mesh, [{}, {}], partial = [sum {dp, group}]>
#ps = #dist.layout<#mesh, [{dp}, {}], partial = [sum {group}]>
dist.program @reduced_twice mesh #mesh (%p: tensor<16x16xf32, #pp>) -> (tensor<16x16xf32, #s>, tensor<16x16xf32, #s>, tensor<16x16xf32, #s>)
    attributes {step = #dist.step<buckets = <size = 2048>>} {
  %g:3 = dist.section backward {
    dist.yield %p, %p, %p : tensor<16x16xf32, #pp>, tensor<16x16xf32, #pp>, tensor<16x16xf32, #pp>
  }
  %u:3 = dist.section update once {
    %0 = dist.reduce_scatter sum %g#0 dim 0 over {dp} for gradient : tensor<16x16xf32, #pp> -> tensor<16x16xf32, #ps>
    %1 = dist.all_reduce sum %0 over {group} for gradient : tensor<16x16xf32, #ps> -> tensor<16x16xf32, #s>
    %2 = dist.reduce_scatter sum %g#1 dim 0 over {dp} for gradient : tensor<16x16xf32, #pp> -> tensor<16x16xf32, #ps>
    %3 = dist.all_reduce sum %2 over {group} for gradient : tensor<16x16xf32, #ps> -> tensor<16x16xf32, #s>
    %4 = dist.reduce_scatter sum %g#2 dim 0 over {dp} for gradient : tensor<16x16xf32, #pp> -> tensor<16x16xf32, #ps>
    %5 = dist.all_reduce sum %4 over {group} for gradient : tensor<16x16xf32, #ps> -> tensor<16x16xf32, #s>
    dist.yield %1, %3, %5 : tensor<16x16xf32, #s>, tensor<16x16xf32, #s>, tensor<16x16xf32, #s>
  }
  dist.return %u#0, %u#1, %u#2 : tensor<16x16xf32, #s>, tensor<16x16xf32, #s>, tensor<16x16xf32, #s>
}
