// What runs beside communication, in closed form.
//
// Two devices of 1000 GB/s and 1000 TFLOPS without overheads. Additions of 12 MB take
// 12 us; products of 4096 x 4096 x 4096 take 2 * 4096^3 / 1e15 s = 137.438953472 us. An
// all-reduce of 4 MB takes S = 2 * 1 us of latency and 4 MB at 100 GB/s.

// RUN: rm -rf %t && split-file %s %t

// The sum waits for nothing; the third addition waits for it.
// RUN: proteus-opt %t/sum.mlir --simulate="cluster=%t/two.json overlap=off report=%t/async.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/async.json "max(12 + 12, 2 + 40) + 12"
// Now it waits for the first addition, and the second one for it.
// RUN: sed 's/MODE/none/' %t/blocking.mlir | proteus-opt --simulate="cluster=%t/two.json overlap=off report=%t/none.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/none.json "12 + 2 + 40 + 12 + 12"
// RUN: sed 's/MODE/async/' %t/blocking.mlir | proteus-opt --simulate="cluster=%t/two.json overlap=off report=%t/named.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/named.json "max(12 + 12, 2 + 40) + 12"

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
  dist.program @sum mesh #mesh (%x: !whole {nn.role = "input", nn.path = "x"}, %p: !partial {nn.role = "input", nn.path = "p"}) -> !whole attributes {proteus.overlap = {tensor = "MODE"}} {
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
