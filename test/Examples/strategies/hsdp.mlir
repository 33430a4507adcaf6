// The model has 3 layers, hidden 32, feed-forward 64, vocabulary 64, sequences of
// 16 tokens, in f32. Per layer qkv has 96 x 32 = 12288 bytes, proj 4096, fc1 and
// fc2 8192 each, and four norm vectors 128 each: 33280. The embedding and the head
// have 8192 each, positions 2048, the last norm 2 x 128. All together 118528.

// RUN: proteus-opt %examples/strategies/hsdp.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/hsdp.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// Layers written out give the same figures.
// RUN: proteus-opt %examples/strategies/hsdp.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json

// RIGHT: lowering is right

// CHECK:     dist.section forward {
// CHECK:       dist.fused_gather {{.*}} over {shard} {{.*}} for parameter
// CHECK-NOT:   over {{{[^}]*}}replica
// CHECK:     dist.section backward {
// CHECK:       dist.fused_reduce reduce_scatter sum {{.*}} over {shard} {{.*}} for gradient
// CHECK-NOT:   over {{{[^}]*}}replica
// CHECK:     dist.section update once {
// CHECK:       dist.fused_reduce all_reduce sum {{.*}} over {replica}
// CHECK-NOT:   dist.{{all_|reduce|fused}}
//
// Within a group of four as ZeRO, stage 3. Between the groups a quarter of the
// 118528 bytes of gradients, in buckets of at least 16384: the first has the head,
// the last norm, layer 2, and a part of layer 1, whose gradients are ready together.
// VOLUME-DAG: all_gather over shard: 1 x 10240
// VOLUME-DAG: all_gather over shard: 1 x 8320
// VOLUME-DAG: all_gather over shard: 1 x 8448
// VOLUME-DAG: all_gather over shard: 3 x 33024
// VOLUME-DAG: all_gather over shard: 3 x 33280
// VOLUME-DAG: all_reduce over replica: 1 x 12928
// VOLUME-DAG: all_reduce over replica: 1 x 16704
// VOLUME-DAG: reduce_scatter over shard: 1 x 10240
// VOLUME-DAG: reduce_scatter over shard: 1 x 8448
// VOLUME-DAG: reduce_scatter over shard: 3 x 33280
// 3/4 x (225920 + 118528) + 2 x 1/2 x 29632.
// VOLUME:     moved: 287968 bytes
