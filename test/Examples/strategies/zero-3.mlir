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
// CHECK:         dist.all_gather {{.*}} dim 0 over {dp} for parameter {{.*}} : tensor<96x32xf32
// CHECK-NEXT:    nn.linear "attention.qkv"
// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" count 3 reverse
// CHECK:         dist.all_gather {{.*}} dim 0 over {dp} for parameter {{.*}} : tensor<32x64xf32
// CHECK-NEXT:    nn.linear_dgrad "mlp.fc2"
// CHECK:         dist.reduce_scatter sum {{.*}} dim 0 over {dp} for gradient
// CHECK:     dist.section update once {
// CHECK-NOT:   dist.{{all_|reduce|fused}}
//
// The matrices of the layers and the head are gathered twice, 12288 and 4096 bytes
// 6 times for 3 layers; of 8192 bytes 2 x (2 x 3 + 1), and the embedding once, as
// its gradient does not read it. Norms read their scale twice and their shift once:
// 3 x 7. Gradients are scattered once: 3 for what is gathered 6 times, that is, one
// and a half times the bytes of data parallelism.
// VOLUME-DAG: all_gather over dp: 1 x 2048
// VOLUME-DAG: all_gather over dp: 15 x 8192
// VOLUME-DAG: all_gather over dp: 21 x 128
// VOLUME-DAG: all_gather over dp: 6 x 12288
// VOLUME-DAG: all_gather over dp: 6 x 4096
// VOLUME-DAG: reduce_scatter over dp: 1 x 2048
// VOLUME-DAG: reduce_scatter over dp: 14 x 128
// VOLUME-DAG: reduce_scatter over dp: 3 x 12288
// VOLUME-DAG: reduce_scatter over dp: 3 x 4096
// VOLUME-DAG: reduce_scatter over dp: 8 x 8192
// 3/4 x (225920 + 118528), of which 1.5 x 177792 = 266688 minus what the backward
// pass does not read: 3/4 x (8192 + 2048 + 7 x 128).
// VOLUME:     moved: 258336 bytes
//
// A recomputed layer is gathered as often: the recomputation and the gradients
// behind it share what is gathered, now the shifts of norms too.
// RECOMPUTE-DAG: all_gather over dp: 6 x 12288
// RECOMPUTE-DAG: all_gather over dp: 6 x 4096
// RECOMPUTE-DAG: all_gather over dp: 15 x 8192
// RECOMPUTE-DAG: all_gather over dp: 27 x 128
