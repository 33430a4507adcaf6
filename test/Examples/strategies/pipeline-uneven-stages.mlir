// Uneven stages: one, three and one layers.

// RUN: proteus-opt %examples/strategies/pipeline-uneven-stages.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/list_collectives.py %t.json | FileCheck %s --check-prefix=LIST
// RUN: proteus-opt %examples/strategies/pipeline-uneven-stages.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// CHECK:      dist.program @gpt_stage0
// CHECK:      dist.section forward {
// CHECK:        nn.embedding "embedding"
// CHECK:        nn.repeat "layers" count 1
// CHECK:      dist.program @gpt_stage1
// CHECK:      dist.section forward {
// CHECK:        nn.repeat "layers" first 1 count 3
// CHECK:      dist.program @gpt_stage2
// CHECK:      dist.section forward {
// CHECK:        nn.repeat "layers" first 4 count 1
// CHECK:        nn.linear "head"

// 8 / 4 sequences of 16 tokens, 32 numbers of 4 bytes each.
// LIST:      send_recv over stage 0 -> 1: 4096 bytes, 4 per device
// LIST-NEXT: send_recv over stage 1 -> 0: 4096 bytes, 4 per device
// LIST-NEXT: send_recv over stage 1 -> 2: 4096 bytes, 4 per device
// LIST-NEXT: send_recv over stage 2 -> 1: 4096 bytes, 4 per device
// LIST-NEXT: stage 0
