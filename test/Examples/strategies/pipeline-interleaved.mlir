// Interleaved chunks: sections per chunk, messages that wrap around, one order per
// stage.

// RUN: proteus-opt %examples/strategies/pipeline-interleaved.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t.json | FileCheck %s --check-prefix=LIST
// RUN: proteus-opt %examples/strategies/pipeline-interleaved.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// Layers written out, and every rank by itself, give the same figures.
// RUN: proteus-opt %examples/strategies/pipeline-interleaved.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// Chunk 0 of stage 0 is layer 0, chunk 1 is layer 2, which comes from stage 1.
// CHECK:      dist.program @gpt_stage0
// CHECK:      dist.section forward {
// CHECK:        nn.repeat "layers" count 1
// CHECK:        dist.send {{.*}} to stage 1 tag [[A:[0-9]+]]
// CHECK:      dist.section forward chunk 1 {
// CHECK:        dist.recv from stage 1 tag [[B:[0-9]+]]
// CHECK:        nn.repeat "layers" first 2 count 1
// CHECK:        dist.send {{.*}} to stage 1 tag [[C:[0-9]+]]
// CHECK:      dist.section backward chunk 1 {
// CHECK:        dist.recv from stage 1 tag [[D:[0-9]+]]
// CHECK:        dist.send {{.*}} to stage 1 tag [[E:[0-9]+]]
// CHECK:      dist.section backward {
// CHECK:        dist.recv from stage 1 tag [[F:[0-9]+]]
// CHECK:      dist.program @gpt_stage1
// CHECK:      dist.section forward {
// CHECK:        dist.recv from stage 0 tag [[A]]
// CHECK:        dist.send {{.*}} to stage 0 tag [[B]]
// CHECK:      dist.section forward chunk 1 {
// CHECK:        dist.recv from stage 0 tag [[C]]
// CHECK:      dist.section backward chunk 1 {
// CHECK:        dist.send {{.*}} to stage 0 tag [[D]]
// CHECK:      dist.section backward {
// CHECK:        dist.recv from stage 0 tag [[E]]
// CHECK:        dist.send {{.*}} to stage 0 tag [[F]]
// CHECK:      order [
// CHECK-NEXT:   [F0, F1, F0.1, F1.1, F2, B0.1, F3, B1.1, F2.1, B0, F3.1, B1, B2.1, B3.1, B2, B3, U],
// CHECK-NEXT:   [F0, F1, F0.1, B0.1, F1.1, B1.1, F2, B0, F3, B1, F2.1, B2.1, F3.1, B3.1, B2, B3, U]

// Three borders instead of one: 0 -> 1, 1 -> 0, 0 -> 1 forward and back again, for
// each of 4 micro-batches of 2 sequences of 16 tokens, 32 numbers of 4 bytes each.
// LIST:      send_recv over stage 0 -> 1: 4096 bytes, 12 per device
// LIST-NEXT: send_recv over stage 1 -> 0: 4096 bytes, 12 per device
// LIST-NEXT: stage 0
