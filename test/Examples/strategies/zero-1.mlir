// The model has 3 layers, hidden 32, feed-forward 64, vocabulary 64, sequences of
// 16 tokens, in f32. Per layer qkv has 96 x 32 = 12288 bytes, proj 4096, fc1 and
// fc2 8192 each, and four norm vectors 128 each: 33280. The embedding and the head
// have 8192 each, positions 2048, the last norm 2 x 128. All together 118528.

// RUN: proteus-opt %examples/strategies/zero-1.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/zero-1.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %examples/strategies/data-parallel.mlir --lower-strategy --simulate=report=%t-dp.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json %t-dp.json | FileCheck %s --check-prefix=SAME

// RIGHT: lowering is right

// CHECK:     dist.section forward {
// CHECK-NOT:   dist.{{all|reduce|fused}}
// CHECK:     dist.section backward {
// CHECK-NOT:   dist.{{all|reduce|fused}}
// CHECK:     dist.section update once {
// CHECK:       dist.fused_reduce reduce_scatter sum {{.*}} over {dp}
// CHECK:       nn.repeat "layers" count 3
// CHECK:         nn.adam
// CHECK-NOT:     dist.all_gather
// CHECK:       dist.fused_gather {{.*}} over {dp}
// CHECK-NOT:   dist.{{all|reduce|fused}}
//
// Buckets of at least 16384 bytes: 118528 scattered and 118528 gathered. Either is
// half an all-reduce, so together a device sends what it sends under data
// parallelism.
// VOLUME-DAG: all_gather over dp: 2 x 16384
// VOLUME-DAG: all_gather over dp: 1 x 16640
// VOLUME-DAG: all_gather over dp: 1 x 21248
// VOLUME-DAG: all_gather over dp: 1 x 23296
// VOLUME-DAG: all_gather over dp: 1 x 24576
// VOLUME-DAG: reduce_scatter over dp: 1 x 10496
// VOLUME-DAG: reduce_scatter over dp: 1 x 24832
// VOLUME-DAG: reduce_scatter over dp: 5 x 16640
// VOLUME-NOT: over
// VOLUME:     moved: 177792 bytes
// SAME:       moved ratio: 1.0000
