// Rings that all go up to the spine are as much slower as the spine is
// oversubscribed.
//
// Six nodes of one device, two below each leaf switch. Two rings of three devices,
// {0, 2, 4} and {1, 3, 5}, pass a leaf switch with every step. The way up has the
// bandwidth of both NICs, divided by the oversubscription: alone a ring has half of
// that oversubscription, and with the other one all of it.
//
// A NIC has b = 0.92 x 12.5 GB/s; four steps of 14 us after 8.4 us, and 1.4 times as
// long because the all-reduce is long (docs/collectives.md).

// RUN: rm -rf %t && split-file %s %t
// RUN: sed -e 's/dp = 4/dp = 3, other = 2/' %S/Inputs/all-reduce.mlir > %t/two.mlir
// RUN: sed -e 's/dp = 4/dp = 3], devices = [0, 2, 4/' %S/Inputs/all-reduce.mlir > %t/one.mlir
// RUN: sed -e 's/"oversubscription": 1/"oversubscription": 2/' %t/1to1.json > %t/2to1.json
// RUN: sed -e 's/"oversubscription": 1/"oversubscription": 4/' %t/1to1.json > %t/4to1.json

// RUN: proteus-opt %t/two.mlir --simulate="cluster=%t/1to1.json report=%t/1.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/1.json "1.4 * (8.4 + 4 * 14) + (4 + extra('pcie')) / 3 * 4 * MB / (0.92 * 12.5 * GBps)"
// RUN: proteus-opt %t/two.mlir --simulate="cluster=%t/2to1.json report=%t/2.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/2.json "1.4 * (8.4 + 4 * 14) + 2 * ring(4 * MB, 3, 0.92 * 12.5 * GBps)"
// RUN: proteus-opt %t/two.mlir --simulate="cluster=%t/4to1.json report=%t/4.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/4.json "1.4 * (8.4 + 4 * 14) + 4 * ring(4 * MB, 3, 0.92 * 12.5 * GBps)"

// Alone, or as if alone.
// RUN: proteus-opt %t/one.mlir --simulate="cluster=%t/4to1.json report=%t/one.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/one.json "1.4 * (8.4 + 4 * 14) + 2 * (4 + extra('pcie')) / 3 * 4 * MB / (0.92 * 12.5 * GBps)"
// RUN: proteus-opt %t/two.mlir --simulate="cluster=%t/4to1.json share=off report=%t/off.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/off.json "1.4 * (8.4 + 4 * 14) + 2 * (4 + extra('pcie')) / 3 * 4 * MB / (0.92 * 12.5 * GBps)"

// The report says where it was: on the ways up and down of three leaf switches, as
// long as the rings run, and nowhere in the nodes.
// RUN: FileCheck %s --input-file=%t/4.json
// CHECK:      "links": [
// CHECK:          "name": "node 0: nic 0 out"
// CHECK-NEXT:     "count": 12
// CHECK-NEXT:     "capacity": 11500000000
// CHECK-NEXT:     "bytes": 5333334
// CHECK-NEXT:     "utilization": 0.238
// CHECK-NEXT:     "contended_s": 0.0
// CHECK:          "name": "leaf 0 up"
// CHECK-NEXT:     "count": 6
// CHECK-NEXT:     "capacity": 5750000000
// CHECK-NEXT:     "bytes": 10666668
// CHECK-NEXT:     "utilization": 0.953
// CHECK-NEXT:     "contended_s": 0.001855

//--- 1to1.json
{"name": "oversubscribed",
 "device": {"name": "small", "peak_tflops": {"f32": 10}, "memory_gb": 16, "memory_bandwidth_gbps": 500},
 "node": {"devices": 1, "nics": {"count": 1, "speed_gbit": 100}},
 "nodes": 6,
 "fabric": {"levels": [{"name": "leaf", "span": 2, "oversubscription": 1}, {"name": "spine"}]}}
