// Full recomputation: six all-reduces per layer and micro-batch.

// RUN: proteus-opt %examples/strategies/recompute-full.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/recompute-full.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %examples/strategies/tensor-parallel.mlir --lower-strategy --simulate=report=%t-keep.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json %t-keep.json | FileCheck %s --check-prefix=LESS

// RIGHT: lowering is right

// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" count 3 reverse
// CHECK:         nn.recompute "layers[*]"
// CHECK:           nn.linear "attention.proj"
// CHECK-NEXT:      dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:           nn.linear "mlp.fc2"
// CHECK-NEXT:      dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:         nn.linear_dgrad "mlp.fc1"
// CHECK:         dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:         nn.linear_dgrad "attention.qkv"
// CHECK:         dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK-NOT:     dist.{{all|reduce}}
// CHECK:         nn.yield
//
// An activation of a micro-batch has 4 x 16 x 32 x 4 = 8192 bytes. Per
// micro-batch: 3 layers x 6, one behind the embedding, one in front of the head in
// the backward pass.
// VOLUME:     all_reduce over tp: 40 x 8192
// The loss over a split vocabulary exchanges a maximum and two sums per token:
// 4 x 16 x 4 = 256 bytes, three times per micro-batch.
// VOLUME-NEXT: all_reduce over tp: 6 x 256
// VOLUME-NEXT: moved: 493824 bytes
//
// Activations take less memory than without recomputation.
// LESS: device memory ratio: 0.{{[67]}}
