// Tables over devices, samples over devices: one all-to-all each way.

// RUN: proteus-opt %examples/strategies/dlrm-table-parallel.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.fused"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/dlrm-table-parallel.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: lowering is right

// CHECK:      dist.section forward {
// CHECK:        nn.embedding_bag "tables"
// CHECK-NEXT:   dist.all_to_all {{.*}} from 1 to 0 over {d} for activation
// CHECK:        nn.interaction "interaction"
// CHECK:      dist.section backward {
// CHECK:        nn.interaction_grad "interaction"
// CHECK:        dist.all_to_all {{.*}} from 0 to 1 over {d} for activation
// CHECK:        nn.embedding_bag_grad "tables"
// CHECK:      dist.section update once {
// The gradient of the tables (the fifth) is complete where it is.
// CHECK:        dist.fused_reduce all_reduce sum %1#0, %1#1, %1#2, %1#3, %1#5, %1#6, %1#7, %1#8 over {d}

// What a device holds of the vectors: 32 samples x 2 tables x 16 x 4 bytes, which are
// 8 samples x 8 tables afterwards.
// REPORT: "kind": "all_to_all",
// REPORT-NEXT: "axes": "d",
// REPORT-NEXT: "group_size": 4,
// REPORT-NEXT: "bytes": 4096,
// REPORT-NEXT: "count": 2,
// The MLPs: (32 x 13 + 32 + 16 x 32 + 16 + 24 x 52 + 24 + 24 + 1) x 4 bytes.
// REPORT: "kind": "all_reduce",
// REPORT-NEXT: "axes": "d",
// REPORT-NEXT: "group_size": 4,
// REPORT-NEXT: "bytes": 9092,
// REPORT-NEXT: "count": 1,
