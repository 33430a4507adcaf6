// What the layers keep for the backward pass goes to the host and comes back.

// RUN: proteus-opt %examples/strategies/offload-activations.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json | FileCheck %s --check-prefix=VOLUME
// RUN: proteus-opt %examples/strategies/offload-activations.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: sed "/offload activation/d" %examples/strategies/offload-activations.mlir > %t-device.mlir
// RUN: proteus-opt %t-device.mlir --lower-strategy --simulate=report=%t-device.json -o /dev/null
// RUN: python3 %S/Inputs/volumes.py %t.json %t-device.json | FileCheck %s --check-prefix=LESS

// RIGHT: lowering is right

// CHECK:     dist.section forward {
// CHECK:       nn.repeat "layers" count 3
// CHECK:         nn.linear "attention.qkv"
// CHECK:         dist.offload {{.*}} for activation
// CHECK:         nn.yield
// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" count 3 reverse
// CHECK:         dist.fetch {{.*}} for activation
// CHECK:         nn.linear_wgrad "mlp.fc2"
//
// LESS:   device memory ratio: 0.9
// VOLUME: host memory: {{[1-9]}}
