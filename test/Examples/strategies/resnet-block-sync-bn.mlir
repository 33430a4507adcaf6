// Batch normalisation over all replicas exchanges its sums; per replica, nothing.

// RUN: proteus-opt %examples/strategies/resnet-block-sync-bn.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.fused"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/resnet-block-sync-bn.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: lowering is right

// CHECK:      dist.section forward {
// CHECK:        nn.batch_norm_sums "bn1"
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {dp} for activation {{.*}} : tensor<2x16xf32
// CHECK-NEXT:   nn.batch_norm_statistics "bn1"(%{{.*}}) {count = 512 : i64}
// CHECK-NEXT:   nn.batch_norm_apply "bn1"
// CHECK:        nn.batch_norm "bn2"
// CHECK:      dist.section backward {
// CHECK:        nn.batch_norm_grad "bn2"
// CHECK:        nn.batch_norm_grad_sums "bn1"
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {dp} for activation {{.*}} : tensor<16xf32
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {dp} for activation {{.*}} : tensor<16xf32
// CHECK-NEXT:   nn.batch_norm_input_grad "bn1"
// CHECK:      dist.section update once {
// CHECK:        dist.fused_reduce all_reduce sum {{.*}} over {dp}

// Gradients of scale and shift of bn1: 16 x 4 bytes each.
// REPORT-DAG: "bytes": 64,
// Both sums of bn1: 2 x 16 x 4 bytes.
// REPORT-DAG: "bytes": 128,
// All other gradients: (2 x 16 x 16 x 3 x 3 + 2 x 16 + 10 x 16 + 10) x 4 bytes.
// REPORT-DAG: "bytes": 19240,
