// The model has 3 layers, hidden 32, feed-forward 64, vocabulary 64, sequences of
// 16 tokens, in f32. Per layer qkv has 96 x 32 = 12288 bytes, proj 4096, fc1 and
// fc2 8192 each, and four norm vectors 128 each: 33280. The embedding and the head
// have 8192 each, positions 2048, the last norm 2 x 128. All together 118528.

// RUN: proteus-opt %examples/strategies/offload-optimizer.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/offload-optimizer.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: sed "/offload state/d" %examples/strategies/offload-optimizer.mlir > %t-device.mlir
// RUN: proteus-opt %t-device.mlir --lower-strategy --simulate=report=%t-device.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json %t-device.json | FileCheck %s --check-prefix=LESS

// RIGHT: lowering is right

// CHECK:     dist.section update once {
// CHECK:       nn.repeat "layers" count 3
// CHECK:         dist.fetch {{.*}} for parameter
// CHECK:         nn.adam
// CHECK:         dist.offload {{.*}} for parameter
// CHECK:         nn.yield
//
// Adam has two states of 118528 bytes, of which a device keeps a quarter.
// VOLUME: host memory: 59264 bytes
// LESS:   device memory ratio: 0.87
