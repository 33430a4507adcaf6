// Tied embeddings: both stages hold the table and add up its gradients.

// RUN: proteus-opt %examples/strategies/tied-embeddings.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t.json | FileCheck %s --check-prefix=LIST
// RUN: proteus-opt %examples/strategies/tied-embeddings.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// Layers written out, and every rank by itself, give the same figures.
// RUN: proteus-opt %examples/strategies/tied-embeddings.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// CHECK:      dist.program @gpt_stage0
// CHECK-SAME:   nn.path = "embedding.weight", nn.role = "parameter"
// CHECK-SAME:   nn.path = "embedding.weight.first_moment", nn.role = "state"
// CHECK:      dist.section update once {
// CHECK:        %[[G0:.*]]:13 = dist.fused_reduce all_reduce sum {{.*}} over {dp}
// CHECK:        %[[S0:.*]] = dist.stage_reduce %[[G0]]#12 over stages [0, 1] tag 0 for gradient
// CHECK:        nn.adam "embedding.weight"(%{{[a-z0-9]+}}, %[[S0]],
// CHECK:      dist.program @gpt_stage1
// CHECK-SAME:   nn.path = "embedding.weight", nn.role = "parameter"
// CHECK:      dist.section update once {
// CHECK:        %[[G1:.*]]:15 = dist.fused_reduce all_reduce sum {{.*}} over {dp}
// CHECK:        %[[S1:.*]] = dist.stage_reduce %[[G1]]#0 over stages [0, 1] tag 0 for gradient
// CHECK:        nn.adam "embedding.weight"(%{{[a-z0-9]+}}, %[[S1]],

// Over tp, per micro-batch of 2 sequences and data-parallel rank, 16 tokens of 32
// numbers: two forward and two backward per layer, and the sum of the embedding
// (stage 0) or of the gradient of the head's input (stage 1); 2 micro-batches. The
// loss exchanges three numbers per token.
// LIST:      all_reduce over tp: 4096 bytes, 10 per device
// LIST-NEXT: all_reduce over tp: 128 bytes, 6 per device
// Over dp the parameters of a layer, split over tp where they can be: layer norms
// 128, qkv (96 * 32 + 96) / 2, proj 32 * 32 / 2 + 32, fc1 (128 * 32 + 128) / 2,
// fc2 128 * 32 / 2 + 32, together 6448; half the table, 64 * 32 / 2; on the last
// stage the final norm, 64. Times 4 bytes.
// LIST-NEXT: all_reduce over dp: 30144 bytes, 1 per device
// LIST-NEXT: all_reduce over dp: 29888 bytes, 1 per device
// Half the table, once.
// LIST-NEXT: all_reduce over stages 0 1: 4096 bytes, 1 per device
// LIST-NEXT: send_recv over stage 0 -> 1: 4096 bytes, 2 per device
// LIST-NEXT: send_recv over stage 1 -> 0: 4096 bytes, 2 per device
// LIST-NEXT: stage 0
