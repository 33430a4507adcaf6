// RUN: rm -rf %t && split-file %s %t && mkdir %t/out

// Every run fails with one diagnostic and writes no file, not even a part of
// one.

// RUN: not proteus-opt %t/lowered.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: lowered.mlir:[[#]]:1: error: no cluster is given; set the module attribute proteus.cluster or the option cluster= to a preset ({{.*}}dgx-a100, {{.*}}, with ":n" for n nodes) or a JSON file
// RUN: not proteus-opt %t/lowered.mlir --simulate="cluster=dgx-z9 report=%t/out/r.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: lowered.mlir:[[#]]:1: error: unknown cluster preset 'dgx-z9'; known presets: {{.*}}dgx-a100,
// RUN: not proteus-opt %t/lowered.mlir --simulate="cluster=dgx-a100:none report=%t/out/r.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=NODES
// NODES: error: expected a number of nodes from 1 to {{[0-9]+}} after 'dgx-a100:', got 'none'
// RUN: not proteus-opt %t/lowered.mlir --simulate="cluster=%S/Inputs/malformed.json report=%t/out/r.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=MALFORMED
// MALFORMED: lowered.mlir:[[#]]:1: error: {{.*}}Inputs/malformed.json:5:1: malformed JSON:
// RUN: not proteus-opt %t/lowered.mlir --simulate="cluster=%S/Inputs/negative-bandwidth.json report=%t/out/r.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: {{.*}}Inputs/negative-bandwidth.json: expected a positive number at device.memory_bandwidth_gbps, got -2000
// RUN: not proteus-opt %t/lowered.mlir --simulate="cluster=missing.json report=%t/out/r.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: can't read the cluster file '{{.*}}missing.json': No such file or directory
// RUN: not proteus-opt %t/inline.mlir --simulate=report=%t/out/r.json -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=INLINE
// INLINE: inline.mlir:[[#]]:1: error: an inline cluster may hold dictionaries, arrays, strings, numbers and booleans only
// RUN: not proteus-opt %t/inline-slip.mlir --simulate=report=%t/out/r.json -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=SLIP
// SLIP: inline-slip.mlir:[[#]]:1: error: proteus.cluster: {{.*}}nodez

// RUN: not proteus-opt %t/unlowered.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=UNLOWERED
// UNLOWERED: unlowered.mlir:[[#]]:1: error: expected one dist.schedule, found 0; run lower-strategy first
// RUN: not proteus-opt %t/op.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=OP
// OP: op.mlir:[[#]]:{{[0-9]+}}: error: 'func.call' op can't be simulated: it is neither a kernel nor a collective; run lower-strategy first
// RUN: not proteus-opt %t/large.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: large.mlir:[[#]]:3: error: 'dist.schedule' op its mesh names device 8, but the cluster 'dgx-a100' has 8 devices; use more nodes
// RUN: proteus-opt %t/large.mlir --simulate=cluster=dgx-a100:2 -o /dev/null
// RUN: not proteus-opt %t/host.mlir --simulate="cluster=%S/Inputs/tiny-cluster.json report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: host.mlir:[[#]]:{{[0-9]+}}: error: 'dist.offload' op copies between device and host, but the cluster {{.*}} has no link between them; give it a "host" link with bandwidth_gbps and latency_us
// RUN: proteus-opt %t/host.mlir --simulate=cluster=dgx-a100 -o /dev/null

// The stages take the micro-batches in opposite orders: each waits for the
// other. A deadlock is found, not waited for, and all that wait are named.
// RUN: not proteus-opt %t/deadlock.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>%t/deadlock.txt
// RUN: FileCheck %s --check-prefix=DEADLOCK --input-file=%t/deadlock.txt
// DEADLOCK:     deadlock.mlir:32:3: error: 'dist.schedule' op can't run to its end: the orders of the stages wait for each other
// DEADLOCK:     deadlock.mlir:6:3: note: stage 0 waits before B0
// DEADLOCK:     deadlock.mlir:19:3: note: stage 1 waits before F1
// DEADLOCK-NOT: {{error|note}}:

// Messages with one end, or with two in one stage, or between others than the
// ends.
// RUN: not proteus-opt %t/message.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=MESSAGE
// MESSAGE: message.mlir:7:7: error: 'dist.send' op the message with tag 0 has no other end
// RUN: sed -e 's/dist.send %x to stage 1 tag 0/%%0 = dist.recv from stage 1 tag 0/' %t/message.mlir > %t/receive.mlir
// RUN: not proteus-opt %t/receive.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=RECEIVE
// RECEIVE: receive.mlir:7:{{[0-9]+}}: error: 'dist.recv' op the message with tag 0 has no other end
// RUN: not proteus-opt %t/stays.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=STAYS
// STAYS: stays.mlir:[[#]]:7: error: 'dist.send' op the message with tag 0 stays in stage 0
// RUN: sed -e 's/send %0 to stage 1/send %0 to stage 5/' %t/deadlock.mlir > %t/stage.mlir
// RUN: not proteus-opt %t/stage.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: stage.mlir:9:7: error: 'dist.send' op the message with tag 0 goes to stage 5 but is received by stage 1 from stage 0

// A schedule of some of the stages, and one that takes them for others.
// RUN: sed -e 's/programs \[@stage0, @stage1\]/programs [@stage0]/' -e 's/\[F0, B0, F1, B1\],/[F0, B0, F1, B1]/' -e 's/\[F1, B1, F0, B0\]//' %t/deadlock.mlir > %t/subset.mlir
// RUN: not proteus-opt %t/subset.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=SUBSET
// SUBSET: subset.mlir:6:3: error: 'dist.program' op is at position 0 of 2, but is program 0 of 1; every position of the pipeline axis needs one program, in order
// RUN: sed -e 's/programs \[@stage0, @stage1\]/programs [@stage1, @stage0]/' %t/deadlock.mlir > %t/swapped.mlir
// RUN: not proteus-opt %t/swapped.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: swapped.mlir:19:3: error: 'dist.program' op is at position 1 of 2, but is program 0 of 2
// SWAPPED: swapped.mlir:6:3: error: 'dist.program' op is at position 0 of 2, but is program 1 of 2

// More tasks than memory could hold.
// RUN: not proteus-opt %t/many.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: many.mlir:[[#]]:{{[0-9]+}}: error: 'nn.repeat' op runs 100000000 times; a program of more than 20000000 tasks can't be simulated
// RUN: not proteus-opt %t/nested.mlir --simulate="report=%t/out/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: nested.mlir:[[#]]:{{[0-9]+}}: error: 'nn.repeat' op runs 10000 times in each of 10000 iterations; a program of more than 20000000 tasks can't be simulated

// RUN: not proteus-opt %t/lowered.mlir --simulate="cluster=dgx-a100 report=%t/none/r.json trace=%t/out/t.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: error: {{.*}}none/r.json: cannot write: No such file or directory
// RUN: not proteus-opt %t/lowered.mlir --simulate="cluster=dgx-a100 trace=%t/none/t.json report=%t/out/r.json" -o %t/out/o.mlir 2>&1 | FileCheck %s --check-prefix=TRACE
// TRACE: error: {{.*}}none/t.json: cannot write: No such file or directory

// Nothing has been written in all these runs.
// RUN: ls -A %t/out | FileCheck %s --check-prefix=EMPTY --allow-empty
// EMPTY-NOT: {{.}}

// A file that was there stays as it was.
// RUN: echo kept > %t/out/r.json
// RUN: not proteus-opt %t/deadlock.mlir --simulate=report=%t/out/r.json -o /dev/null 2>/dev/null
// RUN: FileCheck %s --check-prefix=KEPT --input-file=%t/out/r.json
// KEPT: {{^}}kept{{$}}

//--- lowered.mlir

#mesh = #dist.mesh<[dp = 1]>
#l = #dist.layout<#mesh, [{}, {}]>
module {
  dist.program @one mesh #mesh (%x: tensor<8x8xf32, #l> {nn.role = "input", nn.path = "x"}) {
    dist.section forward {
      %0 = nn.relu "act"(%x) : (tensor<8x8xf32, #l>) -> tensor<8x8xf32, #l>
      dist.yield
    }
    dist.return
  }
  dist.schedule @schedule programs [@one] order [[F0]]
}

//--- inline.mlir

module attributes {proteus.cluster = {name = "odd", device = f32}} {
}

//--- inline-slip.mlir

module attributes {proteus.cluster = {
    name = "slip",
    device = {name = "device", peak_tflops = {f32 = 1 : i64}, memory_gb = 1 : i64, memory_bandwidth_gbps = 1000 : i64},
    nodez = 2 : i64, devices_per_node = 2 : i64,
    intra_node = {bandwidth_gbps = 100 : i64, latency_us = 1 : i64},
    inter_node = {bandwidth_gbps = 10 : i64, latency_us = 10 : i64}}} {
}

//--- unlowered.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%x: tensor<8x16xf32> {nn.role = "input", nn.path = "x"}) -> tensor<8x16xf32> {
    %0 = nn.relu "act"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
  strategy.tree @s for @f {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}

//--- op.mlir

#mesh = #dist.mesh<[dp = 1]>
module attributes {proteus.cluster = "dgx-a100"} {
  func.func private @g()
  dist.program @one mesh #mesh () {
    dist.section forward {
      func.call @g() : () -> ()
      dist.yield
    }
    dist.return
  }
  dist.schedule @schedule programs [@one] order [[F0]]
}

//--- large.mlir

#mesh = #dist.mesh<[dp = 9]>
#l = #dist.layout<#mesh, [{}, {}]>
module attributes {proteus.cluster = "dgx-a100"} {
  dist.program @one mesh #mesh (%x: tensor<8x8xf32, #l> {nn.role = "input", nn.path = "x"}) {
    dist.section forward {
      %0 = nn.relu "act"(%x) : (tensor<8x8xf32, #l>) -> tensor<8x8xf32, #l>
      dist.yield
    }
    dist.return
  }
  dist.schedule @schedule programs [@one] order [[F0]]
}

//--- deadlock.mlir

#mesh = #dist.mesh<[pp = 2], micro = 2>
#x0 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 1]>
module attributes {proteus.cluster = "dgx-a100"} {
  dist.program @stage0 mesh #mesh at [pp = 0] (%x: tensor<8x8xf32, #x0> {nn.role = "input", nn.path = "x"}) {
    %f = dist.section forward {
      %0 = nn.relu "a"(%x) : (tensor<8x8xf32, #x0>) -> tensor<8x8xf32, #x0>
      dist.send %0 to stage 1 tag 0 : tensor<8x8xf32, #x0>
      dist.yield %0 : tensor<8x8xf32, #x0>
    }
    dist.section backward {
      %0 = dist.recv from stage 1 tag 1 : tensor<8x8xf32, #x0>
      %1 = nn.relu_grad "a"(%0, %f) : (tensor<8x8xf32, #x0>, tensor<8x8xf32, #x0>) -> tensor<8x8xf32, #x0>
      dist.yield
    }
    dist.return
  }
  dist.program @stage1 mesh #mesh at [pp = 1] () {
    %f = dist.section forward {
      %0 = dist.recv from stage 0 tag 0 : tensor<8x8xf32, #x1>
      %1 = nn.relu "b"(%0) : (tensor<8x8xf32, #x1>) -> tensor<8x8xf32, #x1>
      dist.yield %1 : tensor<8x8xf32, #x1>
    }
    dist.section backward {
      %0 = nn.relu_grad "b"(%f, %f) : (tensor<8x8xf32, #x1>, tensor<8x8xf32, #x1>) -> tensor<8x8xf32, #x1>
      dist.send %0 to stage 0 tag 1 : tensor<8x8xf32, #x1>
      dist.yield
    }
    dist.return
  }
  dist.schedule @schedule programs [@stage0, @stage1] order [
    [F0, B0, F1, B1],
    [F1, B1, F0, B0]
  ]
}

//--- message.mlir

#mesh = #dist.mesh<[pp = 2]>
#x0 = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
module attributes {proteus.cluster = "dgx-a100"} {
  dist.program @stage0 mesh #mesh at [pp = 0] (%x: tensor<8x8xf32, #x0> {nn.role = "input", nn.path = "x"}) {
    dist.section forward {
      dist.send %x to stage 1 tag 0 : tensor<8x8xf32, #x0>
      dist.yield
    }
    dist.return
  }
  dist.program @stage1 mesh #mesh at [pp = 1] () {
    dist.section forward { dist.yield }
    dist.return
  }
  dist.schedule @schedule programs [@stage0, @stage1] order [[F0], [F0]]
}

//--- stays.mlir

#mesh = #dist.mesh<[pp = 2]>
#x0 = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
module attributes {proteus.cluster = "dgx-a100"} {
  dist.program @stage0 mesh #mesh at [pp = 0] (%x: tensor<8x8xf32, #x0> {nn.role = "input", nn.path = "x"}) {
    dist.section forward {
      dist.send %x to stage 0 tag 0 : tensor<8x8xf32, #x0>
      %0 = dist.recv from stage 0 tag 0 : tensor<8x8xf32, #x0>
      dist.yield
    }
    dist.return
  }
  dist.program @stage1 mesh #mesh at [pp = 1] () {
    dist.section forward { dist.yield }
    dist.return
  }
  dist.schedule @schedule programs [@stage0, @stage1] order [[F0], [F0]]
}

//--- many.mlir

#mesh = #dist.mesh<[dp = 1]>
#x = #dist.layout<#mesh, [{}, {}]>
module attributes {proteus.cluster = "dgx-a100"} {
  dist.program @one mesh #mesh (%x: tensor<8x8xf32, #x> {nn.role = "input", nn.path = "x"}) {
    dist.section forward {
      %0 = nn.repeat "layers" count 100000000 carry(%h = %x : tensor<8x8xf32, #x>) -> (tensor<8x8xf32, #x>) {
        %1 = nn.relu "act"(%h) : (tensor<8x8xf32, #x>) -> tensor<8x8xf32, #x>
        nn.yield %1 : tensor<8x8xf32, #x>
      }
      dist.yield
    }
    dist.return
  }
  dist.schedule @schedule programs [@one] order [[F0]]
}

//--- nested.mlir

#mesh = #dist.mesh<[dp = 1]>
#x = #dist.layout<#mesh, [{}, {}]>
module attributes {proteus.cluster = "dgx-a100"} {
  dist.program @one mesh #mesh (%x: tensor<8x8xf32, #x> {nn.role = "input", nn.path = "x"}) {
    dist.section forward {
      %0 = nn.repeat "blocks" count 10000 carry(%h = %x : tensor<8x8xf32, #x>) -> (tensor<8x8xf32, #x>) {
        %1 = nn.repeat "layers" count 10000 carry(%g = %h : tensor<8x8xf32, #x>) -> (tensor<8x8xf32, #x>) {
          %2 = nn.relu "act"(%g) : (tensor<8x8xf32, #x>) -> tensor<8x8xf32, #x>
          nn.yield %2 : tensor<8x8xf32, #x>
        }
        nn.yield %1 : tensor<8x8xf32, #x>
      }
      dist.yield
    }
    dist.return
  }
  dist.schedule @schedule programs [@one] order [[F0]]
}

//--- host.mlir
#mesh = #dist.mesh<[dp = 1]>
#a = #dist.layout<#mesh, [{}]>
#host = #dist.layout<#mesh, [{}], memory = host>
module {
  dist.program @p mesh #mesh (%x: tensor<8xf32, #a>) -> tensor<8xf32, #a> {
    %f = dist.section forward {
      %0 = dist.offload %x : tensor<8xf32, #a> -> tensor<8xf32, #host>
      %1 = dist.fetch %0 : tensor<8xf32, #host> -> tensor<8xf32, #a>
      dist.yield %1 : tensor<8xf32, #a>
    }
    dist.return %f : tensor<8xf32, #a>
  }
  dist.schedule @s programs [@p] order [
    [F0]
  ]
}
