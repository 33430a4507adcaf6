// Zero bubble: two sections of gradients on all stages but the first.

// RUN: proteus-opt %examples/strategies/pipeline-zero-bubble.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t.json | FileCheck %s --check-prefix=LIST
// RUN: proteus-opt %examples/strategies/pipeline-zero-bubble.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// Layers written out, and every rank by itself, give the same figures.
// RUN: proteus-opt %examples/strategies/pipeline-zero-bubble.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// CHECK:      dist.program @gpt_stage0
// CHECK:      dist.section backward {
// CHECK-NOT:  gradient {
// CHECK:      dist.program @gpt_stage1
// What stage 0 waits for, and what the other section needs of it. The gradients of
// a layer norm come together.
// CHECK:      dist.section input_gradient {
// CHECK:        nn.linear_dgrad "mlp.fc2"
// CHECK-NOT:    nn.linear_wgrad
// CHECK:        nn.layer_norm_grad "ln_1"
// CHECK-NOT:    nn.linear_wgrad
// CHECK:        dist.send {{.*}} to stage 0
// CHECK:      dist.section weight_gradient {
// CHECK-NOT:    dist.recv
// CHECK-NOT:    nn.linear_dgrad
// CHECK:        nn.linear_wgrad "mlp.fc2"
// CHECK:        nn.linear_wgrad "mlp.fc1"
// CHECK:        nn.linear_wgrad "attention.proj"
// CHECK:        nn.linear_wgrad "attention.qkv"
// CHECK:      dist.section update once {
// CHECK:      order [
// CHECK-NEXT:   [F0, F1, F2, F3, B0, F4, B1, F5, B2, F6, B3, F7, B4, B5, B6, B7, U],
// CHECK-NEXT:   [F0, F1, F2, I0, F3, I1, W0, F4, I2, W1, F5, I3, W2, F6, I4, W3, F7, I5, W4, I6, W5, I7, W6, W7, U],
// CHECK-NEXT:   [F0, F1, I0, F2, I1, F3, I2, W0, F4, I3, W1, F5, I4, W2, F6, I5, W3, F7, I6, W4, I7, W5, W6, W7, U],
// CHECK-NEXT:   [F0, I0, F1, I1, F2, I2, F3, I3, W0, F4, I4, W1, F5, I5, W2, F6, I6, W3, F7, I7, W4, W5, W6, W7, U]

// LIST:      send_recv over stage 0 -> 1: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 1 -> 0: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 1 -> 2: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 2 -> 1: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 2 -> 3: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 3 -> 2: 2048 bytes, 8 per device
