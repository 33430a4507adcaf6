// Attention written out needs the collectives of fused attention, no more.

// RUN: proteus-opt %examples/strategies/unfused-attention-tp.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.fused"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/unfused-attention-tp.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: lowering is right

// CHECK:      dist.section forward {
// CHECK:        nn.repeat "layers" count 2 carry
// CHECK:          nn.matmul "attention.scores"
// CHECK:          nn.causal_mask "attention.mask"
// CHECK:          nn.softmax "attention.softmax"
// CHECK:          nn.linear "attention.proj"
// CHECK-NEXT:     dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:          nn.linear "mlp.fc2"
// CHECK-NEXT:     dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:      dist.section backward {
// CHECK:        nn.repeat "layers" count 2 reverse
// CHECK:          nn.linear_dgrad "mlp.fc1"
// CHECK:          dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:          nn.softmax_grad "attention.softmax"
// CHECK:          dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:      dist.section update once {
// CHECK:        dist.fused_reduce all_reduce sum {{.*}} over {dp}

// The hidden state on a device: 8 / 2 samples x 16 tokens x 32 x 4 bytes, four times
// in each of two layers.
// REPORT: "axes": "tp",
// REPORT-NEXT: "group_size": 4,
// REPORT-NEXT: "bytes": 8192,
// REPORT-NEXT: "count": 16,
// REPORT-NEXT: "count_per_device": 8,
// Gradients on a device: per layer (4 x 32 x 32 + 2 x 64 x 32) / 4 and two norms of
// 2 x 32; the first linear, 32 x 24. (2 x (2048 + 128) + 768) x 4 bytes.
// REPORT: "axes": "dp",
// REPORT-NEXT: "group_size": 2,
// REPORT-NEXT: "bytes": 20480,
// REPORT-NEXT: "count": 4,
// REPORT-NEXT: "count_per_device": 1,
