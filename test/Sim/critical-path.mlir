// The critical path of a pipeline leads through its slow stage.
//
// Three stages, four micro-batches of 4 MB. An activation moves 8 MB at 1000 GB/s: 8
// us. A matrix product takes 2 x 1000^3 / 1e12 FLOP/s: 2000 us. A message takes 1 us and
// 4 MB at 1000 GB/s: 5 us.

// RUN: rm -rf %t && split-file %s %t

// The slow stage in the middle: the first micro-batch reaches it, it computes all
// four, and the last one leaves it: 8 + 5 + 4 x 2000 + 5 + 8 us.
// RUN: proteus-opt %t/pipeline.mlir --simulate="critical-path report=%t/middle.json" -o /dev/null
// RUN: python3 %S/Inputs/check_views.py path %t/middle.json nn.linear=8000 "send_recv over stage 0 -> 1=5" "send_recv over stage 1 -> 2=5" nn.relu=8 nn.gelu=8

// A slow way to the second stage, which is in another node: 1 us and 4 MB at 1 GB/s,
// four times. The products are done in between.
// RUN: sed -e 's/pp = 3\]/pp = 3], devices = [0, 3, 4]/' %t/pipeline.mlir > %t/nodes.mlir
// RUN: proteus-opt %t/nodes.mlir --simulate="critical-path report=%t/link.json" -o /dev/null
// RUN: python3 %S/Inputs/check_views.py path %t/link.json "send_recv over stage 0 -> 1=16004" nn.linear=2000 "send_recv over stage 1 -> 2=5" nn.relu=8 nn.gelu=8

// The host is so slow that nothing else matters: it launches kernels one by one, on
// stage 1 a receive, a product and a send for each micro-batch, and the last send is
// followed by the end of stage 2.
// RUN: sed -e 's/"launch_latency_us": 0/"launch_latency_us": 5000/' %t/cluster.json > %t/slow-host.json
// RUN: sed -e 's/cluster.json/slow-host.json/' %t/pipeline.mlir > %t/slow-host.mlir
// RUN: proteus-opt %t/slow-host.mlir --simulate="critical-path report=%t/host.json" -o /dev/null
// RUN: python3 %S/Inputs/check_views.py path %t/host.json "host launch=60000" "send_recv over stage 1 -> 2=5" nn.gelu=8

// A host that waits for messages launches nothing ahead of them. Stage 1 receives the first
// when stage 0 has launched two tasks, the next ones 15005 us after each other, and launches
// two tasks before the last message to stage 2, which launches one behind it.
// RUN: proteus-opt %t/slow-host.mlir --simulate="critical-path stack=%t/waits.json report=%t/waits-r.json" -o /dev/null
// RUN: python3 %S/Inputs/check_views.py path %t/waits-r.json "host launch=70000" "send_recv over stage 0 -> 1=20" "send_recv over stage 1 -> 2=5" nn.gelu=8

//--- waits.json
{"name": "waits", "host": {"waits_for_messages": true}}

//--- cluster.json
{"name": "line",
 "device": {"name": "device", "peak_tflops": {"f32": 1}, "memory_gb": 16, "memory_bandwidth_gbps": 1000,
            "launch_latency_us": 0},
 "nodes": 2, "devices_per_node": 3,
 "intra_node": {"bandwidth_gbps": 1000, "latency_us": 1},
 "inter_node": {"bandwidth_gbps": 1, "latency_us": 1}}

//--- pipeline.mlir

#mesh = #dist.mesh<[pp = 3], micro = 4>
#x0 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 0]>
#x1 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 1]>
#w1 = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
#x2 = #dist.layout<#mesh, [{micro}, {}], at = [pp = 2]>
!x0 = tensor<4000x1000xf32, #x0>
!x1 = tensor<4000x1000xf32, #x1>
!w1 = tensor<1000x1000xf32, #w1>
!x2 = tensor<4000x1000xf32, #x2>
module attributes {proteus.cluster = "cluster.json"} {
  dist.program @stage0 mesh #mesh at [pp = 0] (%x: !x0 {nn.role = "input", nn.path = "x"}) {
    dist.section forward {
      %0 = nn.relu "first"(%x) : (!x0) -> !x0
      dist.send %0 to stage 1 tag 0 : !x0
      dist.yield
    }
    dist.return
  }
  dist.program @stage1 mesh #mesh at [pp = 1] (%w: !w1 {nn.role = "parameter", nn.path = "w"}) {
    dist.section forward {
      %0 = dist.recv from stage 0 tag 0 : !x1
      %1 = nn.linear "slow"(%0, %w) : (!x1, !w1) -> !x1
      dist.send %1 to stage 2 tag 1 : !x1
      dist.yield
    }
    dist.return
  }
  dist.program @stage2 mesh #mesh at [pp = 2] () {
    dist.section forward {
      %0 = dist.recv from stage 1 tag 1 : !x2
      %1 = nn.gelu "last"(%0) : (!x2) -> !x2
      dist.yield
    }
    dist.return
  }
  dist.schedule @schedule programs [@stage0, @stage1, @stage2] order [
    [F0, F1, F2, F3],
    [F0, F1, F2, F3],
    [F0, F1, F2, F3]
  ]
}
