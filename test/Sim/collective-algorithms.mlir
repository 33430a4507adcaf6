// The algorithm and the protocol of an all-reduce follow from machine, group and
// size. Remarks name them, with the time that the row of docs/collectives.md gives.

// RUN: rm -rf %t && mkdir %t
// RUN: sed -e 's/dp = 4/dp = 8/' -e 's/1000x1000/16x16/' %S/Inputs/all-reduce.mlir > %t/8-tiny.mlir
// RUN: sed -e 's/dp = 4/dp = 8/' %S/Inputs/all-reduce.mlir > %t/8-small.mlir
// RUN: sed -e 's/dp = 4/dp = 8/' -e 's/1000x1000/10000x10000/' %S/Inputs/all-reduce.mlir > %t/8-large.mlir
// RUN: sed -e 's/dp = 8/dp = 2/' %t/8-tiny.mlir > %t/2-tiny.mlir
// RUN: sed -e 's/dp = 8/dp = 2/' %t/8-large.mlir > %t/2-large.mlir
// RUN: sed -e 's/dp = 8/dp = 16/' %t/8-tiny.mlir > %t/16-tiny.mlir
// RUN: sed -e 's/dp = 8/dp = 16/' %t/8-small.mlir > %t/16-small.mlir
// RUN: sed -e 's/dp = 8/dp = 16/' %t/8-large.mlir > %t/16-large.mlir

// A switch that adds costs 55 us, and then less than a ring: 55 + v + 2.3 sqrt(v) with
// v = 400 MB x 9/8 / (0.84 x 370.8 GB/s).
// RUN: proteus-opt %t/8-large.mlir --simulate=cluster=dgx-h100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=SWITCH
// SWITCH: dist.all_reduce {{.*}}Algorithm="in-switch, Simple", Bytes=400000000, Collective="all_reduce over dp", Count=1, {{.*}}TimeUs=1587.175
// Small ones are done before that: 23 + 14 x 0.9 + w + sqrt(w) with
// w = 4 MB x 14.37/8 / (0.97 x 370.8 GB/s).
// RUN: proteus-opt %t/8-small.mlir --simulate=cluster=dgx-h100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=RING
// RING: Algorithm="ring, Simple", Bytes=4000000, {{.*}}TimeUs=60.046
// Two devices have less to send in a ring, whatever the size: 23 + 2 x 0.9 + w + sqrt(w),
// w = 400 MB x 2.37/2 / (0.97 x 370.8 GB/s).
// RUN: proteus-opt %t/2-large.mlir --simulate=cluster=dgx-h100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=PAIR
// PAIR: Algorithm="ring, Simple", Bytes=400000000, {{.*}}TimeUs=1378.955
// Tiny ones have the protocol with the lowest latency, 11 + 2 x 2.9 + w / 0.31.
// RUN: proteus-opt %t/2-tiny.mlir --simulate=cluster=dgx-h100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=LL128
// LL128: Algorithm="ring, LL128", Bytes=1024, {{.*}}TimeUs=16.811

// Across nodes: switches add, and trees connect them: 55 + 2 x (20.9 + 1) + v + 2.3
// sqrt(v), v as above. Smaller ones go through trees of devices, at 0.51 x 370.8 GB/s:
// 8.4 + 2 x (7 x 4 + 14 + 1) + w, and tiny ones 11 + 2 x (7 x 2.9 + 8.5 + 1) + w / 0.31.
// RUN: proteus-opt %t/16-large.mlir --simulate=cluster=dgx-h100:2 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=SWITCHES
// SWITCHES: Algorithm="in-switch tree, Simple", Bytes=400000000, {{.*}}TimeUs=1630.975
// RUN: proteus-opt %t/16-small.mlir --simulate=cluster=dgx-h100:2 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=TREE
// TREE: Algorithm="tree, Simple", Bytes=4000000, {{.*}}TimeUs=115.552
// RUN: proteus-opt %t/16-tiny.mlir --simulate=cluster=dgx-h100:2 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOWTREE
// LOWTREE: Algorithm="tree, LL128", Bytes=1024, {{.*}}TimeUs=70.617

// Switches of the generation before do not add: 28 + 14 x 2.6 + w + 2.5 sqrt(w) with
// w = 400 MB x 14.34/8 / 240 GB/s; tiny ones 9 + 14 x 2.3 + w / 0.1.
// RUN: proteus-opt %t/8-large.mlir --simulate=cluster=dgx-a100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=AMPERE
// AMPERE: Algorithm="ring, Simple", Bytes=400000000, {{.*}}TimeUs=3188.545
// RUN: proteus-opt %t/8-tiny.mlir --simulate=cluster=dgx-a100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=AMPERETINY
// AMPERETINY: Algorithm="ring, LL128", Bytes=1024, {{.*}}TimeUs=41.276

// Without NVLink the low-latency protocol is LL: 6.6 + 14 x 1 + w / 0.5, and Simple
// takes 8.4 + 14 x 5.7 + w. PCIe 4.0 x8 has 12 GB/s.
// RUN: proteus-opt %t/8-tiny.mlir --simulate=cluster=pcie-cloud --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=PCIETINY
// PCIETINY: Algorithm="ring, LL", Bytes=1024, {{.*}}TimeUs=20.899
// RUN: proteus-opt %t/8-small.mlir --simulate=cluster=pcie-cloud --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=PCIE
// PCIE: Algorithm="ring, Simple", Bytes=4000000, {{.*}}TimeUs=671.533
