// GPipe: messages between two stages, all forwards first.

// RUN: proteus-opt %examples/strategies/pipeline-gpipe.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t.json | FileCheck %s --check-prefix=LIST
// RUN: proteus-opt %examples/strategies/pipeline-gpipe.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// Layers written out, and every rank by itself, give the same figures.
// RUN: proteus-opt %examples/strategies/pipeline-gpipe.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// CHECK:      dist.program @gpt_stage0
// CHECK:      dist.section forward {
// CHECK:        dist.send {{.*}} to stage 1 tag 0
// CHECK:      dist.section backward {
// CHECK:        dist.recv from stage 1 tag 1
// CHECK:      dist.program @gpt_stage1
// CHECK:        dist.recv from stage 0 tag 0
// CHECK:        dist.send {{.*}} to stage 0 tag 1
// CHECK:      order [
// CHECK-NEXT:   [F0, F1, F2, F3, B0, B1, B2, B3, U],
// CHECK-NEXT:   [F0, F1, F2, F3, B0, B1, B2, B3, U]

// A message is the activation of a micro-batch: 8 / 4 sequences of 16 tokens, 32
// numbers of 4 bytes each.
// LIST:      send_recv over stage 0 -> 1: 4096 bytes, 4 per device
// LIST-NEXT: send_recv over stage 1 -> 0: 4096 bytes, 4 per device
// LIST-NEXT: stage 0
