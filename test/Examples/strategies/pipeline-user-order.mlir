// An order of one's own: the items of the tree and the update.

// RUN: proteus-opt %examples/strategies/pipeline-user-order.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t.json | FileCheck %s --check-prefix=LIST
// RUN: proteus-opt %examples/strategies/pipeline-user-order.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// CHECK:      dist.program @gpt_stage0
// CHECK:      dist.section backward {
// CHECK:      dist.program @gpt_stage1
// CHECK:      dist.section input_gradient {
// CHECK:      dist.section weight_gradient {
// CHECK:      order [
// CHECK-NEXT:   [F0, F1, B0, F2, B1, F3, B2, B3, U],
// CHECK-NEXT:   [F0, I0, F1, I1, W0, F2, I2, W1, F3, I3, W2, W3, U]

// LIST:      send_recv over stage 0 -> 1: 4096 bytes, 4 per device
// LIST-NEXT: send_recv over stage 1 -> 0: 4096 bytes, 4 per device
// LIST-NEXT: stage 0
