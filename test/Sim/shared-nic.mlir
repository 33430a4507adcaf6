// Two rings through the same NICs take twice as long as one.
//
// Three nodes of two devices that share one NIC. The data-parallel groups {0, 2, 4}
// and {1, 3, 5} reduce at the same time; b = 0.92 x 12.5 GB/s for both.

// RUN: rm -rf %t && split-file %s %t
// RUN: sed -e 's/dp = 4/dp = 3, tp = 2/' %S/Inputs/all-reduce.mlir > %t/two.mlir
// RUN: sed -e 's/dp = 4/dp = 3], devices = [0, 2, 4/' %S/Inputs/all-reduce.mlir > %t/one.mlir

// RUN: proteus-opt %t/one.mlir --simulate="cluster=%t/nodes.json report=%t/one.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/one.json "1.4 * (8.4 + 4 * 14) + ring(4 * MB, 3, 0.92 * 12.5 * GBps)"
// RUN: proteus-opt %t/two.mlir --simulate="cluster=%t/nodes.json report=%t/two.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/two.json "1.4 * (8.4 + 4 * 14) + 2 * ring(4 * MB, 3, 0.92 * 12.5 * GBps)"
// RUN: proteus-opt %t/two.mlir --simulate="cluster=%t/nodes.json share=off report=%t/off.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/off.json "1.4 * (8.4 + 4 * 14) + ring(4 * MB, 3, 0.92 * 12.5 * GBps)"

// With a NIC for each device nobody waits.
// RUN: sed -e 's/"count": 1/"count": 2/' %t/nodes.json > %t/own.json
// RUN: proteus-opt %t/two.mlir --simulate="cluster=%t/own.json report=%t/own-nic.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/own-nic.json "1.4 * (8.4 + 4 * 14) + ring(4 * MB, 3, 0.92 * 12.5 * GBps)"

// Both rings are one class of ranks, whose NICs carry the bytes of both, out and in
// on three nodes.
// RUN: FileCheck %s --input-file=%t/two.json
// CHECK: "simulated_devices": 1
// CHECK: "name": "node 0: nic 0 out"
// CHECK-NEXT: "count": 6
// CHECK-NEXT: "capacity": 11500000000
// CHECK-NEXT: "bytes": 10666668

//--- nodes.json
{"name": "shared NIC",
 "device": {"name": "small", "peak_tflops": {"f32": 10}, "memory_gb": 16, "memory_bandwidth_gbps": 500},
 "node": {"devices": 2, "nvlink": {"switched_links": 1, "link_gbps": 100}, "nics": {"count": 1, "speed_gbit": 100}},
 "nodes": 3}
