// What the engine makes of the depth is tested in Transforms/Simulate/simulate-prefetch.mlir.

// RUN: proteus-opt %examples/strategies/fsdp-prefetch.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/fsdp-prefetch.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: sed "s/depth = 2/depth = 2 reshard_after_forward = false/" %examples/strategies/fsdp-prefetch.mlir > %t-kept.mlir
// RUN: proteus-opt %t-kept.mlir --lower-strategy --simulate=report=%t-kept.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t-kept.json | FileCheck %s --check-prefix=KEPT
// RUN: proteus-opt %t-kept.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// CHECK:     dist.section forward {
// CHECK:       nn.repeat "layers" count 6
// CHECK:         dist.fused_gather {{.*}} over {dp} {{.*}} for parameter {{{.*}}proteus.prefetch = 2 : i64}
// CHECK-NEXT:    nn.layer_norm "ln_1"
// CHECK:     dist.section backward {
// CHECK:         dist.fused_gather {{.*}} over {dp} {{.*}} for parameter {{{.*}}proteus.prefetch = 2 : i64}
// CHECK:     dist.section update once {
// CHECK-NOT:   dist.{{all_|reduce|fused}}
//
// The layers: forward and backward each gather 33280 bytes per layer, but for the
// two shifts of the norms in the backward pass.
// VOLUME-DAG: all_gather over dp: 1 x 10240
// VOLUME-DAG: all_gather over dp: 1 x 8320
// VOLUME-DAG: all_gather over dp: 1 x 8448
// VOLUME-DAG: all_gather over dp: 6 x 33024
// VOLUME-DAG: all_gather over dp: 6 x 33280
// VOLUME-DAG: reduce_scatter over dp: 1 x 10240
// VOLUME-DAG: reduce_scatter over dp: 1 x 8448
// VOLUME-DAG: reduce_scatter over dp: 6 x 33280
// VOLUME:     moved: 482400 bytes
//
// Kept after the forward pass, parameters are gathered once.
// KEPT-DAG:   all_gather over dp: 1 x 10240
// KEPT-DAG:   all_gather over dp: 1 x 8448
// KEPT-DAG:   all_gather over dp: 6 x 33280
