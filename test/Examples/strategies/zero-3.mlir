// The model has 3 layers, hidden 32, feed-forward 64, vocabulary 64, sequences of
// 16 tokens, in f32. Per layer qkv has 96 x 32 = 12288 bytes, proj 4096, fc1 and
// fc2 8192 each, and four norm vectors 128 each: 33280. The embedding and the head
// have 8192 each, positions 2048, the last norm 2 x 128. All together 118528.

// RUN: proteus-opt %examples/strategies/zero-3.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/zero-3.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: sed "s/mesh \\[dp = 4\\]/mesh [dp = 4] node \"layers[*]\" { recompute }/" %examples/strategies/zero-3.mlir > %t-recompute.mlir
// RUN: proteus-opt %t-recompute.mlir --lower-strategy --simulate=report=%t-recompute.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t-recompute.json | FileCheck %s --check-prefix=RECOMPUTE
// RUN: proteus-opt %t-recompute.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// CHECK:     dist.section forward {
// CHECK:       nn.repeat "layers" count 3
// CHECK:         dist.fused_gather {{.*}} over {dp} {{.*}} for parameter
// CHECK-NEXT:    nn.layer_norm "ln_1"
// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" count 3 reverse
// CHECK:         dist.fused_gather {{.*}} over {dp} {{.*}} for parameter
// CHECK-NEXT:    nn.linear_dgrad "mlp.fc2"
// CHECK:         dist.fused_reduce reduce_scatter sum {{.*}} over {dp} {{.*}} for gradient
// CHECK:     dist.section update once {
// CHECK-NOT:   dist.{{all_|reduce|fused}}
//
// One gather and one reduce-scatter per layer: 33280 bytes, of which the backward pass
// does not read the shifts of two norms, 256. Embedding and positions are another unit,
// 10240, which the backward pass does not read, and so are norm and head: 8448, and
// 8320 without the shift. Gradients are scattered once: one and a half times the bytes
// of data parallelism.
// VOLUME-DAG: all_gather over dp: 1 x 10240
// VOLUME-DAG: all_gather over dp: 1 x 8320
// VOLUME-DAG: all_gather over dp: 1 x 8448
// VOLUME-DAG: all_gather over dp: 3 x 33024
// VOLUME-DAG: all_gather over dp: 3 x 33280
// VOLUME-DAG: reduce_scatter over dp: 1 x 10240
// VOLUME-DAG: reduce_scatter over dp: 1 x 8448
// VOLUME-DAG: reduce_scatter over dp: 3 x 33280
// 3/4 x (225920 + 118528), of which 1.5 x 177792 = 266688 minus what the backward
// pass does not read: 3/4 x (8192 + 2048 + 7 x 128).
// VOLUME:     moved: 258336 bytes
//
// A recomputed layer is gathered as often: the recomputation and the gradients
// after it share what is gathered, now the shifts of norms too.
// RECOMPUTE-DAG: all_gather over dp: 1 x 10240
// RECOMPUTE-DAG: all_gather over dp: 1 x 8320
// RECOMPUTE-DAG: all_gather over dp: 1 x 8448
// RECOMPUTE-DAG: all_gather over dp: 6 x 33280
