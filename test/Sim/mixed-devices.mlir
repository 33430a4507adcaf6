// Devices of two types: the slower one sets the pace, and who has the faster one
// waits.
//
// A kernel reads and writes 4 MB, then the results are summed. A fast device moves
// 1000 GB/s (8 us), a slow one 250 GB/s (32 us).

// RUN: rm -rf %t && split-file %s %t
// RUN: sed -e '/kind/s/"kind": "slow"/"kind": "fast"/' %t/mixed.json > %t/fast.json
// RUN: sed -e '/kind/s/"kind": "fast"/"kind": "slow"/' %t/mixed.json > %t/slow.json

// The sum goes round a ring of four, through both NICs of each node: six steps, of which
// two are between nodes, longer by 1.4 because of its size.
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/fast.json report=%t/r-fast.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r-fast.json "8 + 1.4 * (8.4 + 4 * 3.4 + 2 * 14) + 1.5 * 4 * MB / (2 * 0.92 * 12.5 * GBps)"
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/slow.json report=%t/r-slow.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r-slow.json "32 + 1.4 * (8.4 + 4 * 3.4 + 2 * 14) + 1.5 * 4 * MB / (2 * 0.92 * 12.5 * GBps)"
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/mixed.json report=%t/r-mixed.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r-mixed.json "32 + 1.4 * (8.4 + 4 * 3.4 + 2 * 14) + 1.5 * 4 * MB / (2 * 0.92 * 12.5 * GBps)"
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/mixed.json fold=none report=%t/r-none.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r-none.json "32 + 1.4 * (8.4 + 4 * 3.4 + 2 * 14) + 1.5 * 4 * MB / (2 * 0.92 * 12.5 * GBps)"

// RUN: FileCheck %s --input-file=%t/r-mixed.json
// CHECK: "devices": 4
// CHECK: "simulated_devices": 2
// The slow ones compute most.
// CHECK: "breakdown": {
// CHECK-NEXT: "compute": 3.2e-05
// CHECK: "stages": [
// CHECK: "ranks": 2
// CHECK-NEXT: "representative": 0
// CHECK: "busy_s": 8e-06
// CHECK: "ranks": 2
// CHECK-NEXT: "representative": 2
// CHECK: "busy_s": 3.2e-05

//--- step.mlir

#mesh = #dist.mesh<[dp = 4]>
#partial = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#whole = #dist.layout<#mesh, [{}, {}]>
!partial = tensor<1000x1000xf32, #partial>
!whole = tensor<1000x1000xf32, #whole>
module {
  dist.program @step mesh #mesh (%x: !partial {nn.role = "input", nn.path = "x"}) -> !whole {
    %f = dist.section forward {
      %0 = nn.cast "copy"(%x) : (!partial) -> !partial
      %1 = dist.all_reduce sum %0 over {dp} for activation : !partial -> !whole
      dist.yield %1 : !whole
    }
    dist.return %f : !whole
  }
  dist.schedule @schedule programs [@step] order [[F0]]
}

//--- mixed.json
{"name": "mixed",
 "devices": [
   {"name": "fast", "peak_tflops": {"f32": 40}, "memory_gb": 16, "memory_bandwidth_gbps": 1000},
   {"name": "slow", "peak_tflops": {"f32": 10}, "memory_gb": 16, "memory_bandwidth_gbps": 250}],
 "node_kinds": {
   "fast": {"devices": [{"type": "fast", "count": 2}],
     "nvlink": {"switched_links": 1, "link_gbps": 100}, "nics": {"count": 2, "speed_gbit": 100}},
   "slow": {"devices": [{"type": "slow", "count": 2}],
     "nvlink": {"switched_links": 1, "link_gbps": 100}, "nics": {"count": 2, "speed_gbit": 100}}},
 "nodes": [
   {"kind": "fast", "count": 1},
   {"kind": "slow", "count": 1}]}
