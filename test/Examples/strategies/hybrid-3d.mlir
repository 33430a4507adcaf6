// Data, tensor and pipeline parallelism with chunks and recomputation.

// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t.json | FileCheck %s --check-prefix=LIST
// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// Layers written out, and every rank by itself, give the same figures.
// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// CHECK:      dist.program @gpt_stage0
// CHECK:      dist.section forward {
// CHECK:        nn.embedding "embedding"
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:        nn.linear "attention.proj"
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:        nn.linear "mlp.fc2"
// CHECK-NEXT:   dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:      dist.section forward chunk 1 {
// CHECK:      dist.section backward chunk 1 {
// CHECK:        nn.recompute "layers[*]"
// CHECK:      dist.section backward {
// CHECK:        nn.recompute "layers[*]"
// CHECK:      dist.section update once {
// CHECK:        dist.fused_reduce all_reduce sum {{.*}} over {dp}
// CHECK:      order [
// CHECK-NEXT:   [F0, F1, F0.1, F1.1, F2, B0.1, F3, B1.1, F2.1, B0, F3.1, B1, B2.1, B3.1, B2, B3, U],

// Over tp, per micro-batch of one sequence and data-parallel rank, 16 tokens of 32
// numbers of 4 bytes: 6 per layer, 2 layers per stage, 4 micro-batches, and one of
// the embedding or of the gradient of the head's input per micro-batch: 52. The loss
// exchanges three numbers per token and micro-batch.
// LIST:      all_reduce over tp: 2048 bytes, 52 per device
// LIST-NEXT: all_reduce over tp: 64 bytes, 12 per device
// Three borders between chunks, forward and backward, 4 micro-batches.
// LIST-NEXT: send_recv over stage 0 -> 1: 2048 bytes, 12 per device
// LIST-NEXT: send_recv over stage 1 -> 0: 2048 bytes, 12 per device
// One bucket per chunk. A layer has 6448 numbers per device (see
// tied-embeddings.mlir), half the table or the head 1024, the final norm 64.
// LIST-NEXT: all_reduce over dp: 30144 bytes, 1 per device
// LIST-NEXT: all_reduce over dp: 29888 bytes, 1 per device
// LIST-NEXT: all_reduce over dp: 25792 bytes, 1 per device
// LIST-NEXT: stage 0
