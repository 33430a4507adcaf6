// fidelity=paper on the machines of the original release: an all-reduce takes the
// published latency + volume / bandwidth. The figures are those of
// validation/reference/communicators.json; the formulas say where they come from: a
// base of 8.4 us, 9.6 us for each step between nodes, 5.7 us (PCIe) or 3.4 us (NVLink)
// for each inside, all that 1.9 times if it is long; rings that have 2 (n - 1) / n
// times the volume to send.

// RUN: rm -rf %t && split-file %s %t
// RUN: cp %S/../../validation/reference/topologies/*.xml %t
// RUN: sed -e 's/dp = 4/dp = 16/' %S/Inputs/all-reduce.mlir > %t/16.mlir
// RUN: sed -e 's/1000x1000/16x16/' %t/16.mlir > %t/16-1KiB.mlir
// RUN: sed -e 's/dp = 4/dp = 2], devices = [0, 8/' %S/Inputs/all-reduce.mlir > %t/near.mlir
// RUN: sed -e 's/dp = 4/dp = 2], devices = [4, 12/' %S/Inputs/all-reduce.mlir > %t/far.mlir

// Two nodes of eight GTX 1080: rings of 6 GB/s through both sockets (3.2 GB/s, 355.68 us;
// 187.2 us for 1 KiB).
// RUN: proteus-opt %t/16.mlir --simulate="fidelity=paper cluster=%t/gtx1080.json report=%t/r1.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r1.json "1.9 * (8.4 + 28 * 5.7 + 2 * 9.6) + ring(4 * MB, 16, 6 * GBps)"
// RUN: proteus-opt %t/16-1KiB.mlir --simulate="fidelity=paper cluster=%t/gtx1080.json report=%t/r2.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r2.json "8.4 + 28 * 5.7 + 2 * 9.6 + ring(1024, 16, 6 * GBps)"
// One device of each: 7 GB/s from the socket with the NIC, 6 GB/s from the other.
// RUN: proteus-opt %t/near.mlir --simulate="fidelity=paper cluster=%t/gtx1080.json report=%t/r3.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r3.json "1.9 * (8.4 + 2 * 9.6) + ring(4 * MB, 2, 7 * GBps)"
// RUN: proteus-opt %t/far.mlir --simulate="fidelity=paper cluster=%t/gtx1080.json report=%t/r4.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r4.json "1.9 * (8.4 + 2 * 9.6) + ring(4 * MB, 2, 6 * GBps)"

// Two nodes of eight V100 on NVLink: 10 GB/s with one port per node, 20 GB/s with two
// (5.3333 and 10.6667 GB/s, 233.32 us).
// RUN: sed -e 's/gtx1080_1ib/dgx1_v100_1ib/' %t/gtx1080.json > %t/one-port.json
// RUN: proteus-opt %t/16.mlir --simulate="fidelity=paper cluster=%t/one-port.json report=%t/r5.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r5.json "1.9 * (8.4 + 28 * 3.4 + 2 * 9.6) + ring(4 * MB, 16, 10 * GBps)"
// RUN: sed -e 's/gtx1080_1ib/dgx1_v100_2ib/' %t/gtx1080.json > %t/two-ports.json
// RUN: proteus-opt %t/16.mlir --simulate="fidelity=paper cluster=%t/two-ports.json report=%t/r6.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r6.json "1.9 * (8.4 + 28 * 3.4 + 2 * 9.6) + ring(4 * MB, 16, 20 * GBps)"

//--- gtx1080.json
{"n_node": 2, "n_gpu_per_node": 8, "gpu_gflops": 8900, "gpu_memory": 8000,
 "gpu_memory_bw": 320, "gpu_to_gpu": 12, "inter_node": 7, "topology": "gtx1080_1ib.xml"}
