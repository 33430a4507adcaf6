// Modules are recomputed by themselves, and with them the all-reduce that ends
// them: one more for each of three feed-forward blocks, and for each of two
// attentions.

// RUN: proteus-opt %examples/strategies/recompute-node.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/recompute-node.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" first 1 count 2 reverse
// CHECK:         nn.recompute "layers[*].mlp"
// CHECK:         nn.recompute "layers[*].attention"
// CHECK:       nn.repeat "layers" count 1 reverse
// CHECK:         nn.recompute "layers[*].mlp"
// CHECK-NOT:     nn.recompute
// CHECK:     dist.section update
//
// An activation of a micro-batch has 4 x 16 x 32 x 4 = 8192 bytes. Per
// micro-batch: 3 layers x 4 + 3 + 2, one behind the embedding, one in front of the
// head in the backward pass.
// VOLUME:     all_reduce over tp: 38 x 8192
// The loss over a split vocabulary exchanges a maximum and two sums per token:
// 4 x 16 x 4 = 256 bytes, three times per micro-batch.
// VOLUME-NEXT: all_reduce over tp: 6 x 256
// VOLUME-NEXT: moved: 469248 bytes
