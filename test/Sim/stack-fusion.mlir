// Neighbours in one kernel, in closed form.
//
// A device of 1000 GB/s without overheads; images of 1 MB in f16, so that each pass over
// one takes 1 us. Alone: normalisation 2, addition 3, relu 2; backward: relu 3,
// normalisation 3, addition 3. Scale, shift and statistics are 12 and 14 bytes.

// RUN: rm -rf %t && split-file %s %t
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json report=%t/plain.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/plain.json "7 + 9 + 26e-6"

// The sum is not written before the relu, which does not read it. The relu of the backward
// pass is read by two: it stays.
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/elementwise.json report=%t/elementwise-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/elementwise-r.json "(2 + 2 + 1) + 9 + 26e-6"

// Nor is the normalised image; the gradient of the relu is written for the addition, which
// comes later, and not read by the normalisation.
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/norms.json report=%t/norms-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/norms-r.json "(1 + 1 + 1) + 3 + 2 + 3 + 26e-6"

// Norms are fused only where channels are last; where they are first, normalisation reads
// its operands twice.
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/first.json report=%t/first-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/first-r.json "(3 + 2 + 1) + 3 + 5 + 3 + 12e-6 * 3 / 2 + 14e-6 * 5 / 3"
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/half.json report=%t/half-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/half-r.json "(1 + 1 + 1) + 3 + 2 + 3 + 26e-6"

// Operations of another module are not fused.
// RUN: sed 's/"act"/"other.act"/' %t/step.mlir > %t/apart.mlir
// RUN: proteus-opt %t/apart.mlir --simulate="cluster=%t/one.json stack=%t/elementwise.json report=%t/apart-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/apart-r.json "7 + 9 + 26e-6"

// RUN: not proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/wrong.json" -o /dev/null 2>&1 | FileCheck %s
// CHECK: expected one of channels_last, channels_first, half_channels_last, got 'last' at kernels.images

//--- elementwise.json
{"name": "t", "kernels": {"fused_neighbours": "elementwise"}}
//--- norms.json
{"name": "t", "kernels": {"fused_neighbours": "norms"}}
//--- first.json
{"name": "t", "kernels": {"fused_neighbours": "norms", "images": "channels_first"}}
//--- half.json
{"name": "t", "kernels": {"fused_neighbours": "norms", "images": "half_channels_last"}}
//--- wrong.json
{"name": "t", "kernels": {"images": "last"}}

//--- one.json
{
  "name": "one",
  "devices_per_node": 1,
  "nodes": 1,
  "device": {"name": "d", "peak_tflops": {"f16": 1000, "f32": 1000}, "memory_gib": 80,
             "memory_bandwidth_gbps": 1000},
  "intra_node": {"bandwidth_gbps": 100, "latency_us": 1},
  "inter_node": {"bandwidth_gbps": 10, "latency_us": 1}
}

//--- step.mlir
#mesh = #dist.mesh<[dp = 1]>
#image = #dist.layout<#mesh, [{}, {}, {}, {}]>
#one = #dist.layout<#mesh, [{}]>
#two = #dist.layout<#mesh, [{}, {}]>
!image = tensor<50x1x100x100xf16, #image>
!scale = tensor<1xf16, #one>
!sums = tensor<1x1xf32, #two>
module {
  dist.program @block mesh #mesh (%x: !image {nn.role = "input", nn.path = "x"},
      %shortcut: !image {nn.role = "input", nn.path = "shortcut"},
      %later: !image {nn.role = "input", nn.path = "later"},
      %g: !scale {nn.role = "input", nn.path = "g"}) -> (!image, !image) {
    %f:3 = dist.section forward {
      %n, %mean, %inverse = nn.batch_norm "bn"(%x, %g, %g) {groups = 1 : i64} : (!image, !scale, !scale) -> (!image, !sums, !sums)
      %s = nn.add "sum"(%n, %shortcut) : (!image, !image) -> !image
      %y = nn.relu "act"(%s) : (!image) -> !image
      dist.yield %y, %mean, %inverse : !image, !sums, !sums
    }
    %b:2 = dist.section backward {
      %dy = nn.relu_grad "act"(%later, %f#0) : (!image, !image) -> !image
      %dx, %dg, %db = nn.batch_norm_grad "bn"(%dy, %x, %f#1, %f#2, %g) {groups = 1 : i64} : (!image, !image, !sums, !sums, !scale) -> (!image, !scale, !scale)
      %total = nn.add "sum"(%dx, %dy) : (!image, !image) -> !image
      dist.yield %total, %dx : !image, !image
    }
    dist.return %b#0, %b#1 : !image, !image
  }
  dist.schedule @schedule programs [@block] order [[F0, B0]]
}
