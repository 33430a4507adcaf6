// 1F1B: the messages of GPipe, and less in flight on later stages.

// RUN: proteus-opt %examples/strategies/pipeline-1f1b.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: proteus-opt %t.mlir --simulate="kernels=roofline report=%t-list.json" -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t-list.json | FileCheck %s --check-prefix=LIST
// RUN: proteus-opt %examples/strategies/pipeline-1f1b.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// Layers written out, and every rank by itself, give the same figures.
// RUN: proteus-opt %examples/strategies/pipeline-1f1b.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// CHECK:      dist.program @gpt_stage3
// CHECK:      order [
// CHECK-NEXT:   [F0, F1, F2, F3, B0, F4, B1, F5, B2, F6, B3, F7, B4, B5, B6, B7, U],
// CHECK-NEXT:   [F0, F1, F2, B0, F3, B1, F4, B2, F5, B3, F6, B4, F7, B5, B6, B7, U],
// CHECK-NEXT:   [F0, F1, B0, F2, B1, F3, B2, F4, B3, F5, B4, F6, B5, F7, B6, B7, U],
// CHECK-NEXT:   [F0, B0, F1, B1, F2, B2, F3, B3, F4, B4, F5, B5, F6, B6, F7, B7, U]

// One sequence of 16 tokens, 32 numbers of 4 bytes each, per micro-batch.
// LIST:      send_recv over stage 0 -> 1: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 1 -> 0: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 1 -> 2: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 2 -> 1: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 2 -> 3: 2048 bytes, 8 per device
// LIST-NEXT: send_recv over stage 3 -> 2: 2048 bytes, 8 per device
// Of every micro-batch in flight stage 1 holds the input of its layer and what the
// gradients of the layer read; it has three of them, stage 2 two.
// LIST:      stage 1: 101120 bytes of activations
// LIST-NEXT: stage 2: 70144 bytes of activations
