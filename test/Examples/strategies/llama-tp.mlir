// Tensor parallel Llama: four all-reduces per layer and micro-batch.

// RUN: proteus-opt %examples/strategies/llama-tp.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.fused"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/llama-tp.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: lowering is right

// The preset writes a tree that gives the same program.
// RUN: proteus-opt %examples/strategies/llama-tp.mlir --apply-strategy="dp=4 tp=2 micro-batches=2 name=@preset" --lower-strategy="strategy=@preset" -o %t-preset.mlir
// RUN: diff %t.mlir %t-preset.mlir

// Forward: the embedding, two per layer, and what the loss needs of every row.
// CHECK:      dist.section forward {
// CHECK:        nn.embedding "embedding"
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:        nn.repeat "layers" count 3 carry
// CHECK:          nn.rms_norm "norm_1"
// CHECK:          nn.rope "attention.rope_q"
// CHECK:          nn.rope "attention.rope_k"
// CHECK:          nn.attention "attention.core"
// CHECK:          nn.linear "attention.proj"
// CHECK-NEXT:     dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:          nn.rms_norm "norm_2"
// CHECK:          nn.swiglu "mlp.act"
// CHECK:          nn.linear "mlp.down"
// CHECK-NEXT:     dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:        nn.row_max "loss"
// CHECK-NEXT:   dist.all_reduce max {{.*}} over {tp} for activation
// CHECK:        nn.row_exp_sum "loss"
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {tp} for activation

// Backward: the head, and two per layer. The gradients of gate and up, and those of
// query, key and value, are added while they are partial.
// CHECK:      dist.section backward {
// CHECK:        nn.linear_dgrad "head"
// CHECK:        dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:        nn.repeat "layers" count 3 reverse
// CHECK:          nn.swiglu_grad "mlp.act"
// CHECK:          dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:          nn.rms_norm_grad "norm_2"
// CHECK:          nn.attention_grad "attention.core"
// CHECK:          nn.rope "attention.rope_{{[qk]}}"{{.*}}inverse
// CHECK:          dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:          nn.rms_norm_grad "norm_1"
// CHECK:      dist.section update once {
// CHECK:        dist.fused_reduce all_reduce sum {{.*}} over {dp}

// The hidden state of a micro-batch on a device: 8 samples / (2 micro-batches x 4
// replicas) x 16 tokens x 32 x 2 bytes = 1024 bytes. Per micro-batch one for the
// embedding, 4 x 3 for the layers, one for the head: 14, that is 28 in two.
// REPORT: "axes": "tp",
// REPORT-NEXT: "group_size": 2,
// REPORT-NEXT: "bytes": 1024,
// REPORT-NEXT: "count": 112,
// REPORT-NEXT: "count_per_device": 28,
// A number per row of the loss: 16 x 4 bytes; maximum, sum and label.
// REPORT: "axes": "tp",
// REPORT-NEXT: "group_size": 2,
// REPORT-NEXT: "bytes": 64,
// REPORT-NEXT: "count": 24,
// REPORT-NEXT: "count_per_device": 6,
// Gradients in f32, halves of what tp splits: embedding and head 2 x 64 x 32 / 2 =
// 2048; per layer (32 x 32 + 2 x 16 x 32 + 32 x 32 + 3 x 48 x 32) / 2 = 3840 and
// two norms of 32; the last norm 32. (2048 + 3 x (3840 + 64) + 32) x 4 bytes.
// REPORT: "axes": "dp",
// REPORT-NEXT: "group_size": 4,
// REPORT-NEXT: "bytes": 55168,
// REPORT-NEXT: "count": 2,
// REPORT-NEXT: "count_per_device": 1,
