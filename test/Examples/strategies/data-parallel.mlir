// The model has 3 layers, hidden 32, feed-forward 64, vocabulary 64, sequences of
// 16 tokens, in f32. Per layer qkv has 96 x 32 = 12288 bytes, proj 4096, fc1 and
// fc2 8192 each, and four norm vectors 128 each: 33280. The embedding and the head
// have 8192 each, positions 2048, the last norm 2 x 128. All together 118528.

// RUN: proteus-opt %examples/strategies/data-parallel.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/data-parallel.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// The reduction of the gradients is all there is, after the last micro-batch.
// CHECK:     dist.section forward {
// CHECK-NOT:   dist.{{all|reduce|fused}}
// CHECK:     dist.section backward {
// CHECK-NOT:   dist.{{all|reduce|fused}}
// CHECK:     dist.section update once {
// CHECK:       dist.fused_reduce all_reduce sum {{.*}} over {dp}
// CHECK-NOT:   dist.{{all|reduce|fused}}
//
// A bucket closes when it holds 16384 bytes. The head and the last norm are 8448,
// so the first takes the 8192 of fc2 of the last layer with them, and so on;
// altogether 118528, of which a device sends twice three quarters.
// VOLUME:     all_reduce over dp: 1 x 10496
// VOLUME:     all_reduce over dp: 1 x 24832
// VOLUME:     all_reduce over dp: 5 x 16640
// VOLUME-NOT: over
// VOLUME:     moved: 177792 bytes
