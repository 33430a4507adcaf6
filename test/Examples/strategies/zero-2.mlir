// The model has 3 layers, hidden 32, feed-forward 64, vocabulary 64, sequences of
// 16 tokens, in f32. Per layer qkv has 96 x 32 = 12288 bytes, proj 4096, fc1 and
// fc2 8192 each, and four norm vectors 128 each: 33280. The embedding and the head
// have 8192 each, positions 2048, the last norm 2 x 128. All together 118528.

// RUN: proteus-opt %examples/strategies/zero-2.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/zero-2.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %examples/strategies/data-parallel.mlir --lower-strategy --simulate=report=%t-dp.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json %t-dp.json | FileCheck %s --check-prefix=SAME
// RUN: sed "s/bucket size/schedule micro_batches = 2 bucket size/" %examples/strategies/zero-2.mlir > %t-micro.mlir
// RUN: proteus-opt %t-micro.mlir --lower-strategy --simulate=report=%t-micro.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t-micro.json | FileCheck %s --check-prefix=TWICE
// RUN: proteus-opt %t-micro.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// Gradients are scattered in the backward pass, layer by layer.
// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" count 3 reverse
// CHECK:         nn.linear_wgrad "mlp.fc2"
// CHECK:         dist.fused_reduce reduce_scatter sum {{.*}} over {dp} {{.*}} for gradient
// CHECK:     dist.section update once {
// CHECK-NOT:   reduce_scatter
// CHECK:       dist.fused_gather {{.*}} over {dp}
//
// Per layer one of 33280 bytes; the head with the last norm, the embedding with
// positions: 118528 bytes.
// VOLUME-DAG: all_gather over dp: 1 x 16640
// VOLUME-DAG: all_gather over dp: 1 x 21248
// VOLUME-DAG: all_gather over dp: 1 x 23296
// VOLUME-DAG: all_gather over dp: 1 x 24576
// VOLUME-DAG: all_gather over dp: 2 x 16384
// VOLUME-DAG: reduce_scatter over dp: 1 x 10240
// VOLUME-DAG: reduce_scatter over dp: 1 x 8448
// VOLUME-DAG: reduce_scatter over dp: 3 x 33280
// VOLUME:     moved: 177792 bytes
// SAME:       moved ratio: 1.0000
//
// With two micro-batches all of it is scattered twice, and gathered once: one and a
// half times as much. The stored gradients are a quarter of 118528 bytes.
// TWICE:      moved: 266688 bytes
// TWICE:      gradients: 29632 bytes
