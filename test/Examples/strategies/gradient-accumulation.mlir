// Gradient accumulation: one reduction per step.

// RUN: proteus-opt %examples/strategies/gradient-accumulation.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t.json | FileCheck %s --check-prefix=LIST
// RUN: proteus-opt %examples/strategies/gradient-accumulation.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// CHECK:      dist.program @gpt
// CHECK:      dist.section update once {
// CHECK:        dist.accumulate
// CHECK:        dist.fused_reduce all_reduce sum {{.*}} over {dp}
// CHECK:      order [
// CHECK-NEXT:   [F0, B0, F1, B1, F2, B2, F3, B3, U]

// All parameters once, 4 bytes each: two layers of 128 (norms) + 96 * 32 + 96 +
// 32 * 32 + 32 + 128 * 32 + 128 + 128 * 32 + 32 = 12704, the table and the head of
// 64 * 32, the final norm of 64: 29568 numbers.
// LIST:      all_reduce over dp: 118272 bytes, 1 per device
// LIST-NEXT: stage 0
