// Expert parallelism with tensor parallel experts: 4 all-to-alls per layer and
// micro-batch, the all-reduces of Megatron in attention, and their halves around
// the all-to-alls of the experts.

// RUN: proteus-opt %examples/strategies/moe-ep-etp.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/moe-ep-etp.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// The first matrix of the experts is split by columns, the second by rows.
// CHECK-DAG: #[[COLUMNS:.*]] = #dist.layout<#mesh, [{ep}, {tp}, {}]>
// CHECK-DAG: #[[ROWS:.*]] = #dist.layout<#mesh, [{ep}, {}, {tp}]>

// CHECK:     dist.section forward {
// CHECK:       nn.repeat "layers" count 2
// CHECK:         nn.linear "attention.proj"
// CHECK-NEXT:    dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:         nn.moe_dispatch "moe.dispatch"
// CHECK-NEXT:    dist.all_to_all {{.*}} from 1 to 0 over {ep} for activation
// CHECK-NEXT:    nn.expert_linear "moe.experts.fc1"(%{{.*}}, %{{.*}}) : ({{.*}}, tensor<8x64x32xf32, #[[COLUMNS]]>)
// CHECK:         nn.expert_linear "moe.experts.fc2"(%{{.*}}, %{{.*}}) : ({{.*}}, tensor<8x32x64xf32, #[[ROWS]]>)
// Between the halves of a sum over tp, the all-to-all moves half as much.
// CHECK-NEXT:    = dist.reduce_scatter sum {{.*}} dim 3 over {tp} for activation
// CHECK-NEXT:    = dist.all_to_all {{.*}} from 0 to 1 over {ep} for activation
// CHECK-NEXT:    = dist.all_gather {{.*}} dim 3 over {tp} for activation
// CHECK-NEXT:    nn.moe_combine "moe.combine"
// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" count 2 reverse
// CHECK:         dist.all_to_all {{.*}} from 1 to 0 over {ep} for activation
// CHECK-NEXT:    nn.expert_linear_dgrad "moe.experts.fc2"
// CHECK:         nn.expert_linear_wgrad "moe.experts.fc1"
// CHECK-NEXT:    = dist.reduce_scatter sum {{.*}} dim 3 over {tp} for activation
// CHECK-NEXT:    = dist.all_to_all {{.*}} from 0 to 1 over {ep} for activation
// CHECK-NEXT:    = dist.all_gather {{.*}} dim 3 over {tp} for activation
// CHECK-NEXT:    nn.moe_combine "moe.dispatch"
// CHECK:         nn.linear_dgrad "attention.qkv"
// CHECK:         dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:     dist.section update once {
// CHECK:       dist.fused_reduce all_reduce sum %{{[0-9]+}}, %{{[0-9]+}} over {dp} stacked [true, true]
// CHECK:       dist.fused_reduce all_reduce sum {{.*}} over {dp, ep}

// 8 x 16 x 5 x 32 x 4 bytes over 2 micro-batches, dp = 2 and ep = 2: 10240 bytes.
// 4 per layer and micro-batch: 16 per device, in 4 groups; half of them carry the
// half that a device of tp has after the reduce-scatter.
// REPORT-DAG: "kind": "all_to_all",{{[[:space:]]+}}"axes": "ep",{{[[:space:]]+}}"group_size": 2,{{[[:space:]]+}}"bytes": 10240,{{[[:space:]]+}}"count": 32,{{[[:space:]]+}}"count_per_device": 8,
// REPORT-DAG: "kind": "all_to_all",{{[[:space:]]+}}"axes": "ep",{{[[:space:]]+}}"group_size": 2,{{[[:space:]]+}}"bytes": 5120,{{[[:space:]]+}}"count": 32,{{[[:space:]]+}}"count_per_device": 8,
// The sums of the experts are 2 per layer and micro-batch; those of attention have
// 16 x 16 x 32 x 4 / 8 = 4096 bytes.
// REPORT-DAG: "kind": "reduce_scatter",{{[[:space:]]+}}"axes": "tp",{{[[:space:]]+}}"group_size": 2,{{[[:space:]]+}}"bytes": 10240,{{[[:space:]]+}}"count": 32,{{[[:space:]]+}}"count_per_device": 8,
// REPORT-DAG: "kind": "all_gather",{{[[:space:]]+}}"axes": "tp",{{[[:space:]]+}}"group_size": 2,{{[[:space:]]+}}"bytes": 10240,{{[[:space:]]+}}"count": 32,{{[[:space:]]+}}"count_per_device": 8,
// REPORT-DAG: "kind": "all_reduce",{{[[:space:]]+}}"axes": "tp",{{[[:space:]]+}}"group_size": 2,{{[[:space:]]+}}"bytes": 4096,{{[[:space:]]+}}"count": 32,{{[[:space:]]+}}"count_per_device": 8,
// 4 of 8 experts per device, half of each: as much as 2 whole ones, 2 layers.
// REPORT-DAG: "kind": "all_reduce",{{[[:space:]]+}}"axes": "dp",{{[[:space:]]+}}"group_size": 2,{{[[:space:]]+}}"bytes": 65536,{{[[:space:]]+}}"count": 4,{{[[:space:]]+}}"count_per_device": 1,
// Of what was 13056 numbers without tensor parallelism, attention has half its
// 2 x 4096: 8960 numbers.
// REPORT-DAG: "kind": "all_reduce",{{[[:space:]]+}}"axes": "dp,ep",{{[[:space:]]+}}"group_size": 4,{{[[:space:]]+}}"bytes": 35840,{{[[:space:]]+}}"count": 2,{{[[:space:]]+}}"count_per_device": 1,
