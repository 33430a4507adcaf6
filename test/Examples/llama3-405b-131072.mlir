// The largest example: what is simulated does not grow with the replicas.

// RUN: proteus-opt %examples/llama3-405b-131072.mlir --lower-strategy --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --input-file=%t.json
// CHECK: "devices": 131072
// CHECK: "simulated_devices": 32
// CHECK: "fits": true
