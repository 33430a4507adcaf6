// The model has 3 layers, hidden 32, feed-forward 64, vocabulary 64, sequences of
// 16 tokens, in f32. Per layer qkv has 96 x 32 = 12288 bytes, proj 4096, fc1 and
// fc2 8192 each, and four norm vectors 128 each: 33280. The embedding and the head
// have 8192 each, positions 2048, the last norm 2 x 128. All together 118528.

// RUN: proteus-opt %examples/strategies/offload-parameters.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/offload-parameters.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// CHECK:     dist.section forward {
// CHECK:       nn.repeat "layers" count 3
// CHECK:         %[[PART:.*]] = dist.fetch {{.*}} for parameter {{.*}} : tensor<96x32xf32
// CHECK-NEXT:    %[[W:.*]] = dist.all_gather %[[PART]] dim 0 over {dp} for parameter
// CHECK-NEXT:    nn.linear "attention.qkv"(%{{.*}}, %[[W]])
// CHECK:     dist.section backward {
// CHECK:         %[[PART:.*]] = dist.fetch {{.*}} for parameter {{.*}} : tensor<32x64xf32
// CHECK-NEXT:    %[[W:.*]] = dist.all_gather %[[PART]] dim 0 over {dp} for parameter
// CHECK-NEXT:    nn.linear_dgrad "mlp.fc2"(%{{.*}}, %[[W]]
// CHECK:     dist.section update once {
// CHECK:         nn.adam
// CHECK:         dist.offload {{.*}} for parameter
//
// Parameters and two states of 118528 bytes, of which a device keeps a quarter. What
// is communicated is what ZeRO, stage 3, communicates.
// VOLUME: moved: 258336 bytes
// VOLUME: host memory: 88896 bytes
