// What a software stack adds, in closed form.
//
// A device of 1000 GB/s without overheads runs three additions of 12 MB each (12 us),
// one after the other: 36 us.

// RUN: rm -rf %t && split-file %s %t
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json report=%t/plain.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/plain.json "36"

// Bytes that are moved twice take twice as long; other classes do not matter.
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/traffic.json report=%t/traffic-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/traffic-r.json "72"
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/other.json report=%t/other-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/other-r.json "36"

// Products at twice the rate, on the generation that the stack names only: 2 * 10^12
// operations at 1000 TFLOP/s.
// RUN: proteus-opt %t/product.mlir --simulate="cluster=%t/one.json report=%t/product-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/product-r.json "2000"
// RUN: proteus-opt %t/product.mlir --simulate="cluster=%t/one.json stack=%t/rate.json report=%t/rate-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/rate-r.json "1000"
// RUN: proteus-opt %t/product.mlir --simulate="cluster=%t/one.json stack=%t/volta.json report=%t/volta-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/volta-r.json "2000"

// A gap at each kernel, and one between steps.
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/gaps.json report=%t/gaps-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/gaps-r.json "36 + 3 * 5 + 100"
// RUN: FileCheck %s --input-file=%t/gaps-r.json --check-prefix=GAPS
// GAPS: "between_steps": 0.0001

// A fast host is waited for once; a slow one sets the pace.
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/fast.json report=%t/fast-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/fast-r.json "10 + 36"
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/slow.json report=%t/slow-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/slow-r.json "3 * 20 + 12"
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/slow.json cuda-graphs report=%t/graph-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/graph-r.json "36"
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/slow.json fold=none report=%t/none-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/none-r.json "3 * 20 + 12"

// A gradient of 4 MB in f32, from operands of 2 MB each in bf16, in two micro-batches. A
// product that adds to the sum itself writes it (8 us, bound by memory). With a kernel of
// its own for the sum, the product writes 2 MB (6 us), which are read and added to 4 MB
// (10 us), and the host launches twice as many kernels.
// RUN: proteus-opt %t/gradient.mlir --simulate="cluster=%t/one.json report=%t/gradient-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/gradient-r.json "2 * 8"
// RUN: proteus-opt %t/gradient.mlir --simulate="cluster=%t/one.json stack=%t/adds.json report=%t/adds-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/adds-r.json "2 * (6 + 10)"
// RUN: proteus-opt %t/gradient.mlir --simulate="cluster=%t/one.json stack=%t/slow-adds.json report=%t/slow-adds-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/slow-adds-r.json "2 * 2 * 20 + 16"

// Memory beyond tensors is part of what the framework needs.
// RUN: proteus-opt %t/step.mlir --simulate="cluster=%t/one.json stack=%t/memory.json report=%t/memory-r.json" -o /dev/null
// RUN: FileCheck %s --input-file=%t/memory-r.json --check-prefix=MEMORY
// MEMORY: "framework_bytes": 3000000000

//--- traffic.json
{"name": "t", "kernels": {"traffic": {"elementwise": 2}}}
//--- other.json
{"name": "t", "kernels": {"traffic": {"norm": 2, "loss": 3, "softmax": 4}}}
//--- rate.json
{"name": "t", "kernels": {"product_rate": {"ampere": 2}, "attention_rate": {"ampere": 5}}}
//--- volta.json
{"name": "t", "kernels": {"product_rate": {"volta": 2}}}
//--- gaps.json
{"name": "t", "gaps": {"kernel_us": 5, "step_us": 100}}
//--- fast.json
{"name": "t", "host": {"kernel_us": 10, "collective_us": 1000}}
//--- slow.json
{"name": "t", "host": {"kernel_us": 20}}
//--- adds.json
{"name": "t", "kernels": {"separate_accumulation": true}}
//--- slow-adds.json
{"name": "t", "kernels": {"separate_accumulation": true}, "host": {"kernel_us": 20}}
//--- memory.json
{"name": "t", "memory": {"reserved_gb": 2}}

//--- one.json
{
  "name": "one",
  "devices_per_node": 1,
  "nodes": 1,
  "device": {"name": "d", "architecture": "ampere", "peak_tflops": {"f32": 1000, "bf16": 1000}, "memory_gib": 80,
             "memory_reserve_gb": 1, "memory_bandwidth_gbps": 1000},
  "intra_node": {"bandwidth_gbps": 100, "latency_us": 1},
  "inter_node": {"bandwidth_gbps": 10, "latency_us": 1}
}

//--- step.mlir
#mesh = #dist.mesh<[dp = 1]>
#whole = #dist.layout<#mesh, [{}, {}]>
!whole = tensor<1000x1000xf32, #whole>
module {
  dist.program @adds mesh #mesh (%x: !whole {nn.role = "input", nn.path = "x"}) -> !whole {
    %f = dist.section forward {
      %0 = nn.add "a"(%x, %x) : (!whole, !whole) -> !whole
      %1 = nn.add "b"(%0, %x) : (!whole, !whole) -> !whole
      %2 = nn.add "c"(%1, %x) : (!whole, !whole) -> !whole
      dist.yield %2 : !whole
    }
    dist.return %f : !whole
  }
  dist.schedule @schedule programs [@adds] order [[F0]]
}

//--- product.mlir
#mesh = #dist.mesh<[dp = 1]>
#whole = #dist.layout<#mesh, [{}, {}]>
!whole = tensor<10000x10000xf32, #whole>
module {
  dist.program @product mesh #mesh (%x: !whole {nn.role = "input", nn.path = "x"}) -> !whole {
    %f = dist.section forward {
      %0 = nn.linear "a"(%x, %x) : (!whole, !whole) -> !whole
      dist.yield %0 : !whole
    }
    dist.return %f : !whole
  }
  dist.schedule @schedule programs [@product] order [[F0]]
}

//--- gradient.mlir
#mesh = #dist.mesh<[dp = 1], micro = 2>
#rows = #dist.layout<#mesh, [{micro}, {}]>
#sum = #dist.layout<#mesh, [{}, {}], partial = [sum {micro}]>
!rows = tensor<2000x1000xbf16, #rows>
!sum = tensor<1000x1000xf32, #sum>
module {
  dist.program @gradient mesh #mesh (%x: !rows {nn.role = "input", nn.path = "x"}) -> !sum {
    %f = dist.section forward {
      %0 = nn.linear_wgrad "a"(%x, %x) : (!rows, !rows) -> !sum
      dist.yield %0 : !sum
    }
    dist.return %f : !sum
  }
  dist.schedule @schedule programs [@gradient] order [[F0, F1]]
}
