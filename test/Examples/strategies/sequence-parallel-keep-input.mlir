// Sequence parallelism with and without the gathered inputs kept.

// RUN: proteus-opt %examples/strategies/sequence-parallel-keep-input.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/sequence-parallel-keep-input.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: sed "/split input 0/d" %examples/strategies/sequence-parallel-keep-input.mlir > %t-again.mlir
// RUN: proteus-opt %t-again.mlir --lower-strategy --simulate=report=%t-again.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t-again.json | FileCheck %s --check-prefix=AGAIN
// RUN: python3 %S/Inputs/volumes.py %t-again.json %t.json | FileCheck %s --check-prefix=LESS
// RUN: proteus-opt %t-again.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// CHECK:     dist.section forward {
// CHECK:       nn.repeat "layers" count 3
// CHECK:         dist.all_gather {{.*}} dim 1 over {tp} for activation
// CHECK-NEXT:    nn.linear "attention.qkv"
// CHECK:         nn.keep "attention.qkv"
// CHECK:         nn.linear "attention.proj"
// CHECK-NEXT:    dist.reduce_scatter sum {{.*}} dim 1 over {tp} for activation
// CHECK-NEXT:    nn.keep "attention.proj"
// CHECK:     dist.section backward {
//
// An activation has 8 x 16 x 32 x 4 = 16384 bytes. Gathered per layer: the inputs of
// qkv and fc1 in the forward pass, the gradients of the outputs of proj and fc2 in
// the backward pass; besides the input of the head, twice, and the gradient of the
// embedding: 3 x 4 + 3. Scattered: the outputs of proj and fc2, the gradients of the
// inputs of qkv and fc1, the embedding and the gradient of the input of the head.
// VOLUME-DAG: all_gather over tp: 15 x 16384
// VOLUME-DAG: reduce_scatter over tp: 14 x 16384
// VOLUME:     moved
//
// Without the kept inputs two more per layer are gathered, for the weight gradients
// of qkv and fc1, and the inputs take less memory.
// AGAIN-DAG: all_gather over tp: 21 x 16384
// AGAIN-DAG: reduce_scatter over tp: 14 x 16384
// LESS:      moved ratio: 1.20
// LESS:      device memory ratio: 0.{{[89]}}
