// What runs beside communication, in closed form.
//
// Two devices of 1000 GB/s and 1000 TFLOPS without overheads. Additions move 12 MB: 12 us.
// An all-reduce of 4 MB takes 2 us of latency and 4 MB at 100 GB/s, a gathering half of
// both, a message 1 us and all 4 MB.

// RUN: rm -rf %t && split-file %s %t

// The sum waits for nothing; the third addition waits for it.
// RUN: proteus-opt %t/sum.mlir --simulate="cluster=%t/two.json overlap=off report=%t/async.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/async.json "max(12 + 12, 2 + 40) + 12"
// Now it waits for the first addition, and the second one for it.
// RUN: sed 's/MODE/none/' %t/blocking.mlir | proteus-opt --simulate="cluster=%t/two.json overlap=off report=%t/none.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/none.json "12 + 2 + 40 + 12 + 12"
// RUN: sed 's/MODE/async/' %t/blocking.mlir | proteus-opt --simulate="cluster=%t/two.json overlap=off report=%t/named.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/named.json "max(12 + 12, 2 + 40) + 12"

// A message of 4 MB leaves behind the addition of every micro-batch; the next addition
// runs beside it, or waits for it. The second stage adds when it is there.
// RUN: sed 's/MODE/true/' %t/messages.mlir | proteus-opt --simulate="cluster=%t/two.json overlap=off report=%t/beside.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/beside.json "12 + 3 * (1 + 40) + 12"
// RUN: sed 's/MODE/false/' %t/messages.mlir | proteus-opt --simulate="cluster=%t/two.json overlap=off report=%t/behind.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/behind.json "3 * (12 + 1 + 40) + 12"
// RUN: sed 's/MODE/false/' %t/messages.mlir | proteus-opt --simulate="cluster=%t/two.json overlap=off fold=none report=%t/behind-none.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/behind-none.json "3 * (12 + 1 + 40) + 12"

// A parameter of 4 MB in two parts is gathered with every micro-batch, the next time beside
// the addition that reads it, or once.
// RUN: sed 's/ONCE//' %t/gather.mlir | proteus-opt --simulate="cluster=%t/two.json overlap=off report=%t/each.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/each.json "3 * (1 + 20) + 12"
// RUN: sed 's/ONCE/{proteus.once}/' %t/gather.mlir | proteus-opt --simulate="cluster=%t/two.json overlap=off report=%t/once.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/once.json "1 + 20 + 3 * 12"
// It takes 4 MB all the time, its part included.
// RUN: FileCheck %s --input-file=%t/once.json --check-prefix=MEMORY
// MEMORY: "parameters": 4000000

// Rows of 32 MB are gathered for a product of 128 us by its 128 GFLOP, 320 us by its bytes:
// in one piece, or in four of which each reads the whole weight. The first one is the
// device's own; each of the others brings a third of the 16 MB beside products.
// RUN: proteus-opt %t/product.mlir --simulate="cluster=%t/two.json overlap=off report=%t/whole.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/whole.json "1 + 32 * MB / 2 / (100 * GBps) + max(128, 32 + 32 + 256)"
// RUN: proteus-opt %t/product.mlir --pass-pipeline="builtin.module(dist.program(chunk-products{chunks=4}),simulate{cluster=%t/two.json overlap=off report=%t/chunks.json})" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/chunks.json "4 * max(32, 8 + 32 + 64)"
// Over links of a tenth products wait for them.
// RUN: sed 's/"bandwidth_gbps": 100,/"bandwidth_gbps": 10,/' %t/two.json > %t/slow.json
// RUN: proteus-opt %t/product.mlir --pass-pipeline="builtin.module(dist.program(chunk-products{chunks=5}),simulate{cluster=%t/slow.json overlap=off report=%t/waits.json})" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/waits.json "4 * (1 + 4 * MB / (10 * GBps)) + (6.4 + 32 + 51.2)"
// If nothing is said there are as many chunks as members.
// RUN: sed 's/{nn.role = "parameter", nn.path = "w"}) -> tensor<8000x8000xf32, #whole>/& attributes {step = #dist.step<overlap = <tensor = chunked>>}/' %t/product.mlir | proteus-opt --pass-pipeline="builtin.module(dist.program(chunk-products),simulate{cluster=%t/two.json overlap=off report=%t/members.json})" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/members.json "2 * (16 + 32 + 128)"

// Rows of a sum of 256 MB are scattered: in one piece, or in two. Half of it moves beside
// the chunk that the device keeps; then it adds up the two parts of its rows.
// RUN: proteus-opt %t/scatter.mlir --simulate="cluster=%t/two.json overlap=off report=%t/sum.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/sum.json "16 + 16 + 256 + 1 + 128 * MB / (100 * GBps)"
// RUN: proteus-opt %t/scatter.mlir --pass-pipeline="builtin.module(dist.program(chunk-products{chunks=2}),simulate{cluster=%t/two.json overlap=off report=%t/sums.json})" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/sums.json "8 + 16 + 128 + 1 + 128 * MB / (100 * GBps) + 256 + 128"

// RUN: not proteus-opt %t/product.mlir --pass-pipeline="builtin.module(dist.program(chunk-products{chunks=1}))" 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: chunks must be at least 2, got 1
// RUN: proteus-opt %t/product.mlir --pass-pipeline="builtin.module(dist.program(chunk-products{chunks=3}))" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNEVEN
// UNEVEN: 1 of its collectives run in one piece: chunks do not divide their rows on a device

//--- messages.mlir
#mesh = #dist.mesh<[pp = 2], micro = 3>
#first = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
#second = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
!first = tensor<1000x1000xf32, #first>
!second = tensor<1000x1000xf32, #second>
module {
  dist.program @one mesh #mesh at [pp = 0] (%x: !first {nn.role = "input", nn.path = "x"}) attributes {step = #dist.step<overlap = <messages = MODE>>} {
    dist.section forward {
      %0 = nn.add "a"(%x, %x) : (!first, !first) -> !first
      dist.send %0 to stage 1 tag 0 for activation : !first
      dist.yield
    }
    dist.return
  }
  dist.program @two mesh #mesh at [pp = 1] () -> !second {
    %f = dist.section forward {
      %0 = dist.recv from stage 0 tag 0 for activation : !second
      %1 = nn.add "b"(%0, %0) : (!second, !second) -> !second
      dist.yield %1 : !second
    }
    dist.return %f : !second
  }
  dist.schedule @schedule programs [@one, @two] order [[F0, F1, F2], [F0, F1, F2]]
}

//--- gather.mlir
#mesh = #dist.mesh<[dp = 2], micro = 3>
#whole = #dist.layout<#mesh, [{}, {}]>
#rows = #dist.layout<#mesh, [{dp}, {}]>
!whole = tensor<1000x1000xf32, #whole>
!rows = tensor<1000x1000xf32, #rows>
module {
  dist.program @gather mesh #mesh (%x: !whole {nn.role = "input", nn.path = "x"}, %w: !rows {nn.role = "parameter", nn.path = "w"}) -> !whole {
    %f = dist.section forward {
      %0 = dist.all_gather %w dim 0 over {dp} for parameter ONCE : !rows -> !whole
      %1 = nn.add "a"(%x, %0) : (!whole, !whole) -> !whole
      dist.yield %1 : !whole
    }
    dist.return %f : !whole
  }
  dist.schedule @schedule programs [@gather] order [[F0, F1, F2]]
}

//--- product.mlir
#mesh = #dist.mesh<[tp = 2]>
#whole = #dist.layout<#mesh, [{}, {}]>
#rows = #dist.layout<#mesh, [{tp}, {}]>
module {
  dist.program @product mesh #mesh (%x: tensor<8000x1000xf32, #rows> {nn.role = "input", nn.path = "x"}, %w: tensor<8000x1000xf32, #whole> {nn.role = "parameter", nn.path = "w"}) -> tensor<8000x8000xf32, #whole> {
    %f = dist.section forward {
      %0 = dist.all_gather %x dim 0 over {tp} for activation : tensor<8000x1000xf32, #rows> -> tensor<8000x1000xf32, #whole>
      %1 = nn.linear "fc"(%0, %w) : (tensor<8000x1000xf32, #whole>, tensor<8000x1000xf32, #whole>) -> tensor<8000x8000xf32, #whole>
      dist.yield %1 : tensor<8000x8000xf32, #whole>
    }
    dist.return %f : tensor<8000x8000xf32, #whole>
  }
  dist.schedule @schedule programs [@product] order [[F0]]
}

//--- scatter.mlir
#mesh = #dist.mesh<[tp = 2]>
#inner = #dist.layout<#mesh, [{}, {tp}]>
#rows = #dist.layout<#mesh, [{tp}, {}]>
#pending = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
module {
  dist.program @product mesh #mesh (%x: tensor<8000x1000xf32, #inner> {nn.role = "input", nn.path = "x"}, %w: tensor<8000x1000xf32, #inner> {nn.role = "parameter", nn.path = "w"}) -> tensor<8000x8000xf32, #rows> {
    %f = dist.section forward {
      %0 = nn.linear "fc"(%x, %w) : (tensor<8000x1000xf32, #inner>, tensor<8000x1000xf32, #inner>) -> tensor<8000x8000xf32, #pending>
      %1 = dist.reduce_scatter sum %0 dim 0 over {tp} for activation : tensor<8000x8000xf32, #pending> -> tensor<8000x8000xf32, #rows>
      dist.yield %1 : tensor<8000x8000xf32, #rows>
    }
    dist.return %f : tensor<8000x8000xf32, #rows>
  }
  dist.schedule @schedule programs [@product] order [[F0]]
}

//--- two.json
{
  "name": "two",
  "devices_per_node": 2,
  "nodes": 1,
  "device": {"name": "d", "peak_tflops": {"f32": 1000}, "memory_gib": 80,
             "memory_reserve_gb": 1, "memory_bandwidth_gbps": 1000},
  "intra_node": {"bandwidth_gbps": 100, "latency_us": 1},
  "inter_node": {"bandwidth_gbps": 10, "latency_us": 1}
}

//--- sum.mlir
#mesh = #dist.mesh<[tp = 2]>
#whole = #dist.layout<#mesh, [{}, {}]>
#partial = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
!whole = tensor<1000x1000xf32, #whole>
!partial = tensor<1000x1000xf32, #partial>
module {
  dist.program @sum mesh #mesh (%x: !whole {nn.role = "input", nn.path = "x"}, %p: !partial {nn.role = "input", nn.path = "p"}) -> !whole {
    %f = dist.section forward {
      %0 = nn.add "a"(%x, %x) : (!whole, !whole) -> !whole
      %1 = dist.all_reduce sum %p over {tp} for activation : !partial -> !whole
      %2 = nn.add "b"(%0, %x) : (!whole, !whole) -> !whole
      %3 = nn.add "c"(%1, %2) : (!whole, !whole) -> !whole
      dist.yield %3 : !whole
    }
    dist.return %f : !whole
  }
  dist.schedule @schedule programs [@sum] order [[F0]]
}

//--- blocking.mlir
#mesh = #dist.mesh<[tp = 2]>
#whole = #dist.layout<#mesh, [{}, {}]>
#partial = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
!whole = tensor<1000x1000xf32, #whole>
!partial = tensor<1000x1000xf32, #partial>
module {
  dist.program @sum mesh #mesh (%x: !whole {nn.role = "input", nn.path = "x"}, %p: !partial {nn.role = "input", nn.path = "p"}) -> !whole attributes {step = #dist.step<overlap = <tensor = MODE>>} {
    %f = dist.section forward {
      %0 = nn.add "a"(%x, %x) : (!whole, !whole) -> !whole
      %1 = dist.all_reduce sum %p over {tp} for activation : !partial -> !whole
      %2 = nn.add "b"(%0, %x) : (!whole, !whole) -> !whole
      %3 = nn.add "c"(%1, %2) : (!whole, !whole) -> !whole
      dist.yield %3 : !whole
    }
    dist.return %f : !whole
  }
  dist.schedule @schedule programs [@sum] order [[F0]]
}
