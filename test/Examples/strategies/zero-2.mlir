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
// CHECK:         dist.reduce_scatter sum {{.*}} dim 0 over {dp} for gradient
// CHECK:     dist.section update once {
// CHECK-NOT:   reduce_scatter
// CHECK:       dist.fused_gather {{.*}} over {dp}
//
// Per layer one of each matrix, two of 8192 bytes, and four norm vectors; the head
// and the embedding, positions, the last norm: 118528 bytes.
// VOLUME-DAG: reduce_scatter over dp: 1 x 2048
// VOLUME-DAG: reduce_scatter over dp: 14 x 128
// VOLUME-DAG: reduce_scatter over dp: 3 x 12288
// VOLUME-DAG: reduce_scatter over dp: 3 x 4096
// VOLUME-DAG: reduce_scatter over dp: 8 x 8192
// VOLUME:     moved: 177792 bytes
// SAME:       moved ratio: 1.0000
//
// With two micro-batches all of it is scattered twice, and gathered once: one and a
// half times as much. The stored gradients are a quarter of 118528 bytes.
// TWICE:      moved: 266688 bytes
// TWICE:      gradients: 29632 bytes
