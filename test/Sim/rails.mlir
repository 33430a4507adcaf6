// An all-to-all over r rails takes r times less than over one.
//
// Three nodes of three devices that meet in a switch. Of the eight parts that a device
// sends six leave the node: 6 S / 9 through a NIC of its own, three times that through
// a shared one. NVLink (100 GB/s) has less to do than a NIC (0.92 x 12.5 GB/s).
// Latency: two peers in the node at 2 * 2 * 0.486 us and six elsewhere at 2.4 us, after 8.4 us.

// RUN: rm -rf %t && split-file %s %t
// RUN: proteus-opt %t/exchange.mlir --simulate="cluster=%t/rails.json report=%t/r-rails.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r-rails.json "8.4 + 2 * 2 * 0.486 + 6 * 2.4 + 6 / 9 * 9 * MB / (0.92 * 12.5 * GBps)"
// RUN: FileCheck %s --input-file=%t/r-rails.json
// RUN: sed -e 's/"count": 3/"count": 1/' %t/rails.json > %t/one.json
// RUN: proteus-opt %t/exchange.mlir --simulate="cluster=%t/one.json report=%t/r-one.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r-one.json "8.4 + 2 * 2 * 0.486 + 6 * 2.4 + 3 * 6 / 9 * 9 * MB / (0.92 * 12.5 * GBps)"

// Six of nine MB pass each of nine NICs, out and in. A port of the switch carries the
// parts for the two neighbours, and on their way to other rails or from them four
// more: 2 + 4 of nine.
// CHECK:      "name": "node 0: gpu 0 -> nvswitch"
// CHECK-NEXT: "count": 18
// CHECK:      "bytes": 6000000
// CHECK:      "name": "node 0: nic 0 out"
// CHECK-NEXT: "count": 18
// CHECK-NEXT: "capacity": 11500000000
// CHECK-NEXT: "bytes": 6000000

// Data change to the receiver's rail inside the node, so the leaf switches suffice:
// a spine of a tenth of the bandwidth does not matter.
// RUN: sed -e 's/"span": 4/&, "oversubscription": 10/' %t/rails.json > %t/thin.json
// RUN: proteus-opt %t/exchange.mlir --simulate="cluster=%t/thin.json report=%t/r-thin.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r-thin.json "8.4 + 2 * 2 * 0.486 + 6 * 2.4 + 6 / 9 * 9 * MB / (0.92 * 12.5 * GBps)"

// Without a switch between the devices they can't change: two of three senders
// are on another rail than the receiver, and their 6 x 2/3 parts pass the spine, of
// which a leaf switch has 4 NICs / 10 for three nodes.
// RUN: sed -e 's/"nvlink": {.*gbps": 100}/"pcie": {"cpus": [{"vendor": "amd", "devices": [0, 1, 2], "nics": [0, 1, 2]}]}/' %t/thin.json > %t/no-switch.json
// RUN: proteus-opt %t/exchange.mlir --simulate="cluster=%t/no-switch.json report=%t/r-no-switch.json" -o /dev/null
// RUN: python3 %S/Inputs/check_time.py %t/r-no-switch.json "exchange('pcie', 2, 3 * 4 / 9 * 9 * MB / (4 / 10 * 0.92 * 12.5 * GBps)) + 6 * 2.4"

//--- exchange.mlir

// Each device holds 9 MB.
#mesh = #dist.mesh<[ep = 9]>
#rows = #dist.layout<#mesh, [{ep}, {}]>
#columns = #dist.layout<#mesh, [{}, {ep}]>
!rows = tensor<9000x2250xf32, #rows>
!columns = tensor<9000x2250xf32, #columns>
module {
  dist.program @exchange mesh #mesh (%x: !rows {nn.role = "input", nn.path = "x"}) -> !columns {
    %f = dist.section forward {
      %0 = dist.all_to_all %x from 0 to 1 over {ep} for activation : !rows -> !columns
      dist.yield %0 : !columns
    }
    dist.return %f : !columns
  }
  dist.schedule @schedule programs [@exchange] order [[F0]]
}

//--- rails.json
{"name": "rails",
 "device": {"name": "small", "peak_tflops": {"f32": 10}, "memory_gb": 16, "memory_bandwidth_gbps": 500},
 "node": {"devices": 3, "nvlink": {"switched_links": 1, "link_gbps": 100}, "nics": {"count": 3, "speed_gbit": 100}},
 "nodes": 3,
 "fabric": {"rails": true, "levels": [{"name": "leaf", "span": 4}, {"name": "spine"}]}}
