// Tables on single devices, samples over devices: one all-to-all each way.

// RUN: proteus-opt %examples/strategies/dlrm-table-placement.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.fused" --implicit-check-not="= dist.exchange" --implicit-check-not="= dist.gather" --implicit-check-not="= dist.scatter" --implicit-check-not="= dist.broadcast"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t.json | FileCheck %s --check-prefix=LIST
// RUN: FileCheck %s --check-prefix=MEMORY --input-file=%t.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: grep iteration_time_ps %t.json > %t.time
// RUN: grep iteration_time_ps %t-ranks.json | diff %t.time -
// RUN: proteus-opt %examples/strategies/dlrm-table-placement.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: lowering is right

// CHECK-DAG: #[[ON_0:.*]] = #dist.layout<#mesh, [{}, {}], at = [d = 0]>
// CHECK-DAG: #[[ON_3:.*]] = #dist.layout<#mesh, [{}, {}], at = [d = 3]>
// CHECK:      dist.section forward {
// CHECK:        nn.embedding_bag "tables[0]"({{.*}} -> tensor<32x16xf32, #[[ON_0]]>
// CHECK:        nn.embedding_bag "tables[5]"({{.*}} -> tensor<32x16xf32, #[[ON_3]]>
// CHECK-NEXT:   %{{.*}}:6 = dist.exchange {{.*}} over {d} for activation
// CHECK:        nn.interaction "interaction"
// CHECK:      dist.section backward {
// CHECK:        nn.interaction_grad "interaction"
// CHECK:        %{{.*}}:6 = dist.exchange {{.*}} over {d} for activation
// CHECK-NEXT:   nn.embedding_bag_grad "tables[5]"({{.*}} -> tensor<40x16xf32, #[[ON_3]]>
// CHECK:        nn.embedding_bag_grad "tables[0]"({{.*}} -> tensor<400x16xf32, #[[ON_0]]>
// CHECK:      dist.section update once {
// The gradients of the tables (4 to 9) are complete where they are.
// CHECK:        dist.fused_reduce all_reduce sum %1#0, %1#1, %1#2, %1#3, %1#10, %1#11, %1#12, %1#13 over {d}

// The MLPs: (32 x 13 + 32 + 16 x 32 + 16 + 24 x 37 + 24 + 24 + 1) x 4 bytes = 7652.
// The exchanges: the devices with most vectors have two tables, 32 samples x 2 x 16 x
// 4 bytes = 4096; once forward, once backward.
// LIST:      all_to_all over d: 4096 bytes, 2 per device
// LIST-NEXT: all_reduce over d: 7652 bytes, 1 per device
// LIST-NEXT: stage 0:

// The MLPs are everywhere, each table on its device alone: 400, 200, 240 and 100 rows
// of 64 bytes on top of 7652.
// MEMORY: "stages": [
// MEMORY: "parameters": 33252,
// MEMORY: "gradients": 33252,
// MEMORY: "parameters": 20452,
// MEMORY: "parameters": 23012,
// MEMORY: "parameters": 14052,
