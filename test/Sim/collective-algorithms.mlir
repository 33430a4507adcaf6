// The algorithm and the protocol of an all-reduce follow from machine, group and
// size. Remarks name them, with the time that the row of docs/collectives.md gives
// for the constants of clusters/communication.

// RUN: rm -rf %t && mkdir %t
// RUN: sed -e 's/dp = 4/dp = 8/' -e 's/1000x1000/16x16/' %S/Inputs/all-reduce.mlir > %t/8-tiny.mlir
// RUN: sed -e 's/dp = 4/dp = 8/' %S/Inputs/all-reduce.mlir > %t/8-small.mlir
// RUN: sed -e 's/dp = 4/dp = 8/' -e 's/1000x1000/10000x10000/' %S/Inputs/all-reduce.mlir > %t/8-large.mlir
// RUN: sed -e 's/dp = 8/dp = 2/' %t/8-tiny.mlir > %t/2-tiny.mlir
// RUN: sed -e 's/dp = 8/dp = 2/' %t/8-large.mlir > %t/2-large.mlir
// RUN: sed -e 's/dp = 8/dp = 16/' %t/8-tiny.mlir > %t/16-tiny.mlir
// RUN: sed -e 's/dp = 8/dp = 16/' %t/8-small.mlir > %t/16-small.mlir
// RUN: sed -e 's/dp = 8/dp = 16/' %t/8-large.mlir > %t/16-large.mlir
// RUN: sed -e 's/dp = 8/dp = 32/' %t/8-tiny.mlir > %t/32-tiny.mlir

// A switch that adds costs 34 us, and then less than a ring: 34 + v + 4.31 sqrt(v) with
// v = 400 MB x 9/8 / (0.849 x 370.8 GB/s).
// RUN: proteus-opt %t/8-large.mlir --simulate=cluster=dgx-h100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=SWITCH
// SWITCH: dist.all_reduce {{.*}}Algorithm="in-switch, Simple", Bytes=400000000, Collective="all_reduce over dp", Count=1, {{.*}}TimeUs=1626.389
// The same for 4 MB.
// RUN: proteus-opt %t/8-small.mlir --simulate=cluster=dgx-h100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: Algorithm="in-switch, Simple", Bytes=4000000, {{.*}}TimeUs=64.590
// Two devices have less to send in a ring, whatever the size: 22.7 + 2 x 2.14 + w +
// 0.971 sqrt(w), w = 400 MB x 2.3/2 / (0.919 x 370.8 GB/s).
// RUN: proteus-opt %t/2-large.mlir --simulate=cluster=dgx-h100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=PAIR
// PAIR: Algorithm="ring, Simple", Bytes=400000000, {{.*}}TimeUs=1412.559
// Tiny ones have the protocol with the lowest latency, 10 + 2 x 4.22 + w / 0.389.
// RUN: proteus-opt %t/2-tiny.mlir --simulate=cluster=dgx-h100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=LL128
// LL128: Algorithm="ring, LL128", Bytes=1024, {{.*}}TimeUs=18.449

// Across nodes: switches add, and trees connect them: 34 + 2 x (20.9 + 1) + v + 4.31
// sqrt(v), v as above.
// RUN: proteus-opt %t/16-large.mlir --simulate=cluster=dgx-h100:2 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=SWITCHES
// SWITCHES: Algorithm="in-switch tree, Simple", Bytes=400000000, {{.*}}TimeUs=1670.189
// RUN: proteus-opt %t/16-small.mlir --simulate=cluster=dgx-h100:2 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=SMALLSWITCHES
// SMALLSWITCHES: Algorithm="in-switch tree, Simple", Bytes=4000000, {{.*}}TimeUs=108.390

// Switches of the generation before do not add: 35.3 + 14 x 2 + w + 2.04 sqrt(w) with
// w = 400 MB x 14.377/8 / (0.999 x 240 GB/s); tiny ones 34.3 + 14 x 0.547 + w / 0.101.
// RUN: proteus-opt %t/8-large.mlir --simulate=cluster=dgx-a100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=AMPERE
// AMPERE: Algorithm="ring, Simple", Bytes=400000000, {{.*}}TimeUs=3173.209
// RUN: proteus-opt %t/8-tiny.mlir --simulate=cluster=dgx-a100 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=AMPERETINY
// AMPERETINY: Algorithm="ring, LL128", Bytes=1024, {{.*}}TimeUs=42.034
// Across nodes small ones go through trees of devices, at 0.51 x 240 GB/s: 8.4 + 2 x
// (7 x 4 + 14 + 1) + w, and tiny ones, on four nodes, 34.3 + 2 x (7 x 0.547 + 2 x (8.5 +
// 1)) + w / 0.101 at 4 x 23 GB/s.
// RUN: proteus-opt %t/16-small.mlir --simulate=cluster=dgx-a100:2 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=TREE
// TREE: Algorithm="tree, Simple", Bytes=4000000, {{.*}}TimeUs=127.080
// RUN: proteus-opt %t/32-tiny.mlir --simulate=cluster=dgx-a100:4 --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOWTREE
// LOWTREE: Algorithm="tree, LL128", Bytes=1024, {{.*}}TimeUs=80.068

// Without NVLink the low-latency protocol is LL: 10 + 14 x 2.55 + w / 0.506, and
// Simple takes 33.1 + 14 x 2 + w: the figures of pcie.json. PCIe 4.0 x8 has 12 GB/s.
// RUN: proteus-opt %t/8-tiny.mlir --simulate=cluster=pcie-cloud --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=PCIETINY
// PCIETINY: Algorithm="ring, LL", Bytes=1024, {{.*}}TimeUs=45.974
// RUN: proteus-opt %t/8-small.mlir --simulate=cluster=pcie-cloud --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=PCIE
// PCIE: Algorithm="ring, Simple", Bytes=4000000, {{.*}}TimeUs=644.433
