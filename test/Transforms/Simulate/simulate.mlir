// RUN: rm -rf %t && split-file %s %t && mkdir %t/clusters
// RUN: cp %S/Inputs/tiny-cluster.json %t/clusters/tiny.json

// The cluster `tiny`: kernels run at 1 TFLOP/s or 1000 GB/s, whichever is
// slower, plus 1 us; links move 100 GB/s after 1 us within a node of two devices
// and 10 GB/s after 10 us between nodes; a device has 20 MB.

// A path is relative to the file that names it, not to where the tool runs.
// RUN: proteus-opt %t/one.mlir --simulate="report=%t/one.json trace=%t/one-trace.json" | FileCheck %t/one.mlir
// RUN: python3 -m json.tool %t/one.json | FileCheck %t/one.mlir --check-prefix=REPORT
// RUN: python3 -m json.tool %t/one-trace.json | FileCheck %t/one.mlir --check-prefix=TRACE
// RUN: proteus-opt %t/one.mlir --simulate=summary -o /dev/null | FileCheck %t/one.mlir --check-prefix=SUMMARY
// The same cluster, written into the module, gives the same report.
// RUN: proteus-opt %t/inline.mlir --simulate=report=%t/inline.json -o /dev/null
// RUN: diff %t/one.json %t/inline.json
// An option replaces the attribute and is written back.
// RUN: proteus-opt %t/one.mlir --simulate=cluster=dgx-a100:2 | FileCheck %t/one.mlir --check-prefix=PRESET
// RUN: proteus-opt %t/one.mlir --simulate="cluster=%S/Inputs/tiny-cluster.json report=%t/absolute.json" -o /dev/null
// RUN: diff %t/one.json %t/absolute.json
// RUN: sed -e 's|proteus.cluster = "clusters/tiny.json"||' %t/one.mlir > %t/none.mlir
// RUN: proteus-opt %t/none.mlir --simulate="cluster=clusters/tiny.json" | FileCheck %t/one.mlir

// RUN: proteus-opt %t/all-reduce.mlir --simulate=report=%t/node.json -o /dev/null
// RUN: python3 -m json.tool %t/node.json | FileCheck %t/all-reduce.mlir --check-prefix=NODE
// RUN: sed -e 's/ring = 2/ring = 2], devices = [0, 2/' %t/all-reduce.mlir > %t/across.mlir
// RUN: proteus-opt %t/across.mlir --simulate=report=%t/across.json -o /dev/null
// RUN: python3 -m json.tool %t/across.json | FileCheck %t/all-reduce.mlir --check-prefix=ACROSS
// RUN: sed -e 's/ring = 2/ring = 4/' %t/all-reduce.mlir > %t/all.mlir
// RUN: proteus-opt %t/all.mlir --simulate=report=%t/all.json -o /dev/null
// RUN: python3 -m json.tool %t/all.json | FileCheck %t/all-reduce.mlir --check-prefix=ALL

// RUN: proteus-opt %t/pipeline.mlir --simulate="report=%t/pipeline.json trace=%t/pipeline-trace.json" | FileCheck %t/pipeline.mlir
// RUN: python3 -m json.tool %t/pipeline.json | FileCheck %t/pipeline.mlir --check-prefix=GPIPE
// RUN: python3 -m json.tool %t/pipeline-trace.json /dev/null
// RUN: sed -e 's/F0, F1, B0, B1 ]/F0, B0, F1, B1]/' %t/pipeline.mlir > %t/1f1b.mlir
// RUN: proteus-opt %t/1f1b.mlir --simulate=report=%t/1f1b.json -o /dev/null
// RUN: python3 -m json.tool %t/1f1b.json | FileCheck %t/pipeline.mlir --check-prefix=ALTERNATE
// RUN: proteus-opt %t/pipeline.mlir --simulate=summary -o /dev/null | FileCheck %t/pipeline.mlir --check-prefix=VERDICT

// Every rank on its own gives the same figures.
// RUN: proteus-opt %t/fold.mlir --simulate=report=%t/fold.json -o /dev/null
// RUN: python3 -m json.tool %t/fold.json | FileCheck %t/fold.mlir --check-prefixes=FOLD,RANKS
// RUN: proteus-opt %t/fold.mlir --simulate="fold=none report=%t/fold-none.json" -o /dev/null
// RUN: python3 -m json.tool %t/fold-none.json | FileCheck %t/fold.mlir --check-prefixes=FOLD,NONE
// RUN: not proteus-opt %t/fold.mlir --simulate=fold=some -o /dev/null 2>&1 | FileCheck %t/fold.mlir --check-prefix=SOME

// RUN: proteus-opt %t/wire.mlir --simulate=report=%t/wire.json -o /dev/null
// RUN: python3 -m json.tool %t/wire.json | FileCheck %t/wire.mlir --check-prefix=FULL
// RUN: sed -e 's/for gradient/as bf16 for gradient/' %t/wire.mlir > %t/half.mlir
// RUN: proteus-opt %t/half.mlir --simulate=report=%t/half.json -o /dev/null
// RUN: python3 -m json.tool %t/half.json | FileCheck %t/wire.mlir --check-prefix=HALF
// RUN: proteus-opt %t/training.mlir --lower-strategy --simulate=report=%t/training.json | FileCheck %t/training.mlir
// RUN: python3 -m json.tool %t/training.json | FileCheck %t/training.mlir --check-prefix=REPORT

//--- one.mlir

// One kernel reads and writes 4 MB: 8 us at 1000 GB/s (its 10^6 operations take
// less), plus 1 us. Input and output are held: 8 MB. The allocator cuts them from
// a segment of 20 MiB.

// CHECK:      module attributes {proteus.cluster = "clusters/tiny.json", proteus.fits = true,
// CHECK-SAME: proteus.iteration_time_ms = {{0\.00900000[0-9]*|9\.000000e-03}} : f64,
// CHECK-SAME: proteus.peak_memory_mb = 8.000000e+00 : f64,
// CHECK-SAME: proteus.samples_per_second = 111111111.1{{[0-9]*}} : f64}

// PRESET: module attributes {proteus.cluster = "dgx-a100:2"

// REPORT:      "schema": "proteus-report/1"
// REPORT:      "model": "one"
// REPORT:      "cluster": "tiny"
// REPORT:      "iteration_time_s": 9e-06
// REPORT-NEXT: "iteration_time_ps": 9000000
// REPORT:      "tokens_per_s": null
// REPORT:      "devices": 1
// REPORT-NEXT: "simulated_devices": 1
// REPORT-NEXT: "global_batch": 1000
// REPORT-NEXT: "micro_batches": 1
// REPORT-NEXT: "compute_type": "f32"
// REPORT-NEXT: "peak_memory_bytes": 8000000
// REPORT-NEXT: "peak_reserved_memory_bytes": 20971520
// REPORT:      "memory_capacity_bytes": 22000000
// REPORT-NEXT: "peak_host_memory_bytes": 0
// REPORT-NEXT: "fits": true
// REPORT:      "breakdown": {
// REPORT-NEXT:   "compute": 9e-06
// REPORT:      "collectives": []
// REPORT-NEXT: "buckets": []
// REPORT:      "tasks": 1

// TRACE:      "traceEvents": [
// TRACE:      "ph": "X"
// TRACE-NEXT: "pid": 0
// TRACE-NEXT: "tid": 0
// TRACE-NEXT: "ts": 0.0
// TRACE-NEXT: "dur": 9.0
// TRACE-NEXT: "name": "act"
// TRACE-NEXT: "cat": "forward"

// SUMMARY: model                     one
// SUMMARY: cluster                   tiny
// SUMMARY: iteration time (ms)       0.009
// SUMMARY: throughput (samples/s)    111111111.11

#mesh = #dist.mesh<[dp = 1]>
#l = #dist.layout<#mesh, [{}, {}]>
module attributes {proteus.cluster = "clusters/tiny.json"} {
  dist.program @one mesh #mesh (%x: tensor<1000x1000xf32, #l> {nn.role = "input", nn.path = "x"})
      -> tensor<1000x1000xf32, #l> {
    %f = dist.section forward {
      %0 = nn.relu "act"(%x) : (tensor<1000x1000xf32, #l>) -> tensor<1000x1000xf32, #l>
      dist.yield %0 : tensor<1000x1000xf32, #l>
    }
    dist.return %f : tensor<1000x1000xf32, #l>
  }
  dist.schedule @schedule programs [@one] order [[F0]]
}

//--- inline.mlir

#mesh = #dist.mesh<[dp = 1]>
#l = #dist.layout<#mesh, [{}, {}]>
module attributes {proteus.cluster = {
    name = "tiny",
    device = {
      name = "tiny-device", peak_tflops = {f32 = 1 : i64},
      memory_gb = 0.022 : f64, memory_reserve_gb = 0 : i64, memory_bandwidth_gbps = 1000 : i64,
      launch_latency_us = 0 : i64, kernel_overhead_us = 1.0 : f64
    },
    nodes = 2 : i64, devices_per_node = 2 : i64,
    intra_node = {bandwidth_gbps = 100 : i64, latency_us = 1 : i64},
    inter_node = {bandwidth_gbps = 10 : i64, latency_us = 10 : i64}}} {
  dist.program @one mesh #mesh (%x: tensor<1000x1000xf32, #l> {nn.role = "input", nn.path = "x"})
      -> tensor<1000x1000xf32, #l> {
    %f = dist.section forward {
      %0 = nn.relu "act"(%x) : (tensor<1000x1000xf32, #l>) -> tensor<1000x1000xf32, #l>
      dist.yield %0 : tensor<1000x1000xf32, #l>
    }
    dist.return %f : tensor<1000x1000xf32, #l>
  }
  dist.schedule @schedule programs [@one] order [[F0]]
}

//--- all-reduce.mlir

// A ring of n devices takes 2 (n - 1) steps that move one n-th of the 4 MB.
// Two devices of a node: 2 (4 MB / 2 / 100 GB/s + 1 us) = 2 (20 + 1) us.
// NODE:        "iteration_time_ps": 42000000
// NODE:        "devices": 2
// NODE:        "simulated_devices": 1
// NODE:        "exposed_communication": 4.2e-05
// NODE:        "collectives": [
// NODE:        "kind": "all_reduce"
// NODE-NEXT:   "axes": "ring"
// NODE-NEXT:   "group_size": 2
// NODE-NEXT:   "bytes": 4000000
// NODE-NEXT:   "count": 1
// NODE-NEXT:   "count_per_device": 1
// NODE-NEXT:   "time_s": 4.2e-05
// Two devices of two nodes: 2 (4 MB / 2 / 10 GB/s + 10 us) = 2 (200 + 10) us.
// ACROSS:      "iteration_time_ps": 420000000
// ACROSS:      "group_size": 2
// All four devices, in 6 steps of a ring, two of them between the nodes. Each node
// sends through the NICs of both its devices:
// 6 (4 MB / 4 / 20 GB/s) + 4 x 1 us + 2 x 10 us = 324 us.
// ALL:         "iteration_time_ps": 324000000
// ALL:         "devices": 4
// ALL-NEXT:    "simulated_devices": 1
// ALL:         "group_size": 4

#mesh = #dist.mesh<[ring = 2]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {ring}]>
#l = #dist.layout<#mesh, [{}, {}]>
module attributes {proteus.cluster = "clusters/tiny.json"} {
  dist.program @reduce mesh #mesh (%x: tensor<1000x1000xf32, #p> {nn.role = "input", nn.path = "x"})
      -> tensor<1000x1000xf32, #l> {
    %f = dist.section forward {
      %0 = dist.all_reduce sum %x over {ring} for activation : tensor<1000x1000xf32, #p> -> tensor<1000x1000xf32, #l>
      dist.yield %0 : tensor<1000x1000xf32, #l>
    }
    dist.return %f : tensor<1000x1000xf32, #l>
  }
  dist.schedule @schedule programs [@reduce] order [[F0]]
}

//--- pipeline.mlir

// Two stages in one node, two micro-batches of 4 MB each. A forward kernel takes
// 9 us as above; a gradient kernel reads 8 MB and writes 4 MB, 13 us; a message
// takes 4 MB / 100 GB/s + 1 us = 41 us. All forwards first:
//   stage 0: F0 0-9, F1 9-18; messages 9-50 and 50-91
//   stage 1: F0 50-59, F1 91-100, B0 100-113, B1 113-126; messages 113-154, 154-195
//   stage 0: B0 154-167, B1 195-208
// GPIPE:     "iteration_time_ps": 208000000
// GPIPE:     "simulated_devices": 2
// The last backward kernel holds the input, two activations, both received
// gradients and its result, 4 MB each; a device has 22 MB.
// GPIPE:     "peak_memory_bytes": 24000000
// GPIPE:     "fits": false
// GPIPE:     "name": "stage 0"
// GPIPE:     "busy_s": 4.4e-05
// GPIPE:     "name": "stage 1"
// GPIPE:     "busy_s": 4.4e-05
// GPIPE:     "axes": "stage 0 -> 1"
// GPIPE:     "bytes": 4000000
// GPIPE-NEXT: "count": 2
// GPIPE-NEXT: "count_per_device": 2
// GPIPE:     "axes": "stage 1 -> 0"
// GPIPE:     "count": 2
// CHECK:     proteus.fits = false
// CHECK-SAME: proteus.iteration_time_ms = 2.080000e-01 : f64
// CHECK-SAME: proteus.peak_memory_mb = 2.400000e+01 : f64
// VERDICT:   does not fit: 0.1 of 0.0 GB

// With the gradient of the first micro-batch before the second forward:
//   stage 1: F0 50-59, B0 59-72, F1 91-100, B1 100-113; messages 72-113, 113-154
//   stage 0: B0 113-126, B1 154-167
// ALTERNATE: "iteration_time_ps": 167000000

#mesh = #dist.mesh<[pp = 2], micro = 2>
#x0 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 1]>
module attributes {proteus.cluster = "clusters/tiny.json"} {
  dist.program @stage0 mesh #mesh at [pp = 0] (%x: tensor<2000x1000xf32, #x0> {nn.role = "input", nn.path = "x"}) {
    %f = dist.section forward {
      %0 = nn.relu "a"(%x) : (tensor<2000x1000xf32, #x0>) -> tensor<2000x1000xf32, #x0>
      dist.send %0 to stage 1 tag 0 : tensor<2000x1000xf32, #x0>
      dist.yield %0 : tensor<2000x1000xf32, #x0>
    }
    dist.section backward {
      %0 = dist.recv from stage 1 tag 1 : tensor<2000x1000xf32, #x0>
      %1 = nn.relu_grad "a"(%0, %f) : (tensor<2000x1000xf32, #x0>, tensor<2000x1000xf32, #x0>) -> tensor<2000x1000xf32, #x0>
      dist.yield
    }
    dist.return
  }
  dist.program @stage1 mesh #mesh at [pp = 1] () {
    %f = dist.section forward {
      %0 = dist.recv from stage 0 tag 0 : tensor<2000x1000xf32, #x1>
      %1 = nn.relu "b"(%0) : (tensor<2000x1000xf32, #x1>) -> tensor<2000x1000xf32, #x1>
      dist.yield %1 : tensor<2000x1000xf32, #x1>
    }
    dist.section backward {
      %0 = nn.relu_grad "b"(%f, %f) : (tensor<2000x1000xf32, #x1>, tensor<2000x1000xf32, #x1>) -> tensor<2000x1000xf32, #x1>
      dist.send %0 to stage 0 tag 1 : tensor<2000x1000xf32, #x1>
      dist.yield
    }
    dist.return
  }
  dist.schedule @schedule programs [@stage0, @stage1] order [
    [F0, F1, B0, B1],
    [F0, F1, B0, B1 ]
  ]
}

//--- fold.mlir

// Four stages of six devices on three nodes of eight. Devices 0 and 1 send
// within their node, devices 2 to 5 to the next one: their messages take
// 4 MiB / (0.92 x 25 GB/s) + 14.5 us + 0.75 x 14 us + 1 us (see docs/collectives.md),
// and 2.5 us pass before the first. Ranks that send over
// different links differ although their columns of four stages look alike.
// FOLD:  "iteration_time_ps": 210861044
// FOLD:  "devices": 24
// RANKS-NEXT: "simulated_devices": 6
// NONE-NEXT:  "simulated_devices": 24
// FOLD:  "kind": "send_recv"
// FOLD-NEXT: "axes": "stage 0 -> 1"
// FOLD-NEXT: "group_size": 2
// FOLD-NEXT: "bytes": 4194304
// FOLD-NEXT: "count": 6
// SOME:  Cannot find option named 'some'

#mesh = #dist.mesh<[pp = 4, dp = 6]>
#x0 = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
module attributes {proteus.cluster = "dgx-a100:3"} {
  dist.program @s0 mesh #mesh at [pp = 0] (%x: tensor<1024x1024xf32, #x0> {nn.role = "input", nn.path = "x"}) {
    dist.section forward {
      dist.send %x to stage 1 tag 0 : tensor<1024x1024xf32, #x0>
      dist.yield
    }
    dist.return
  }
  dist.program @s1 mesh #mesh at [pp = 1] () {
    dist.section forward {
      %0 = dist.recv from stage 0 tag 0 : tensor<1024x1024xf32, #x1>
      dist.yield
    }
    dist.return
  }
  dist.program @s2 mesh #mesh at [pp = 2] () {
    dist.section forward { dist.yield }
    dist.return
  }
  dist.program @s3 mesh #mesh at [pp = 3] () {
    dist.section forward { dist.yield }
    dist.return
  }
  dist.schedule @schedule programs [@s0, @s1, @s2, @s3] order [[F0], [F0], [F0], [F0]]
}

//--- wire.mlir

// A gradient of 4 MB is reduced over two devices of a node: the kernel takes
// 4 + 4 MB / 1000 GB/s + 1 us = 9 us, the reduction 2 (4 MB / 2 / 100 GB/s + 1 us)
// = 42 us. In bf16 it moves half as much: 2 (2 MB / 2 / 100 GB/s + 1 us) = 22 us.
// FULL: "iteration_time_ps": 51000000
// FULL: "kind": "all_reduce"
// FULL: "bytes": 4000000
// FULL: "buckets": [
// FULL: "bytes": 4000000
// HALF: "iteration_time_ps": 31000000
// HALF: "kind": "all_reduce"
// HALF: "bytes": 2000000
// HALF: "buckets": [
// HALF: "bytes": 2000000

#mesh = #dist.mesh<[dp = 2]>
#p = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#l = #dist.layout<#mesh, [{}, {}]>
module attributes {proteus.cluster = "clusters/tiny.json"} {
  dist.program @reduce mesh #mesh (%x: tensor<1000x1000xf32, #p> {nn.role = "input", nn.path = "x"})
      -> tensor<1000x1000xf32, #l> {
    %g = dist.section backward {
      %0 = nn.cast "g"(%x) : (tensor<1000x1000xf32, #p>) -> tensor<1000x1000xf32, #p>
      dist.yield %0 : tensor<1000x1000xf32, #p>
    }
    %u = dist.section update once {
      %0 = dist.fused_reduce all_reduce sum %g over {dp} stacked [false] buckets [[0[0:1]]] for gradient : (tensor<1000x1000xf32, #p>) -> tensor<1000x1000xf32, #l>
      dist.yield %0 : tensor<1000x1000xf32, #l>
    }
    dist.return %u : tensor<1000x1000xf32, #l>
  }
  dist.schedule @schedule programs [@reduce] order [[B0, U]]
}

//--- training.mlir

// The type of the reduction comes from the training: gradients of 256 x 256 in
// f32 travel in bf16, 2 bytes each.
// CHECK: dist.fused_reduce all_reduce sum {{.*}} as bf16 for gradient
// REPORT: "kind": "all_reduce"
// REPORT: "bytes": 131072
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @m(
      %x: tensor<32x256xbf16> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<256x256xbf16> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd, gradient = f32, reduction = bf16>} {
    %0 = nn.linear "fc"(%x, %w) : (tensor<32x256xbf16>, tensor<256x256xbf16>) -> tensor<32x256xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<32x256xbf16>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @m {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}
