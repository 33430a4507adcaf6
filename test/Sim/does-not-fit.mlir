// A model that does not fit: the verdict, who holds the memory, and what would
// help. Adam in mixed precision takes 18 bytes per parameter: 2 for the parameter,
// 4 for its gradient, 8 for the moments, 4 for the master copy. 536.9 million
// parameters in four layers take 9.66 GB.

// RUN: proteus-opt %s --lower-strategy --simulate="report=%t.json summary=true" -o %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: FileCheck %s --check-prefix=MODULE --input-file=%t.mlir
// RUN: proteus-opt %s --lower-strategy --simulate="channel-mib=0 report=%t-0.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=CHANNELS --input-file=%t-0.json
// RUN: proteus-opt %s --lower-strategy --simulate="bucket-copies=true report=%t-1.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=BUCKETS --input-file=%t-1.json
// RUN: not proteus-opt %s --lower-strategy --simulate=channels=-1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK:       peak memory (stage 0, after
// CHECK-NEXT:  owner memory (GB) memory (GiB) share (%)
// CHECK-NEXT:  parameters 1.07
// CHECK-NEXT:  gradients 2.15
// CHECK-NEXT:  optimizer_state 4.29
// CHECK-NEXT:  master_weights 2.15
// CHECK-NEXT:  activations
// CHECK:       allocated
// CHECK-NEXT:  reserved, not allocated
// CHECK-NEXT:  framework 1.06
// CHECK-NEXT:  communication library 0.35
// CHECK-NEXT:  needed
// CHECK-NEXT:  80 % interval: 10.0 to 12.3 GB (9.3 to 11.4 GiB)
// CHECK-NEXT:  does not fit: 11.1 of 7.8 GB (10.3 of 7.3 GiB), 3.3 GB too much at 'loss' in stage 0
// CHECK-NEXT:  biggest owners: optimizer_state 4.3 GB, gradients 2.1 GB, master_weights 2.1 GB
// CHECK:       remedies (estimates, each applied alone)
// CHECK-NEXT:  change saves (GB) enough
// CHECK-NEXT:  optimizer state in host memory 6.4 yes
// CHECK-NEXT:  2 pipeline stages instead of 1 4.8 yes
// CHECK-NEXT:  tensor parallel degree 2 instead of 1 4.8 yes
// CHECK-NEXT:  ZeRO 3: optimizer state, gradients and parameters divided among 2 ranks 4.8 yes
// CHECK-NEXT:  ZeRO 2: optimizer state and gradients divided among 2 ranks 4.3 yes
// CHECK-NEXT:  ZeRO 1: optimizer state divided among 2 ranks 3.2 no
// Activations are no help here.
// CHECK-NOT:   micro-batches
// CHECK-NOT:   recompute
// CHECK:       communication (time

// REPORT:      "fits": false
// REPORT:      "memory": {
// REPORT-NEXT:   "class": "stage 0"
// REPORT:        "capacity_bytes": 7800000000
// REPORT:        "framework_bytes": 1060000000
// REPORT-NEXT:   "communication_library_bytes": 352321536
// REPORT:        "first_failure": {
// REPORT:        "owners": [
// REPORT-NEXT:     {
// REPORT-NEXT:       "owner": "optimizer_state"
// REPORT-NEXT:       "bytes": 4294967296
// REPORT:        "knobs": [
// REPORT:            "knob": "offload_optimizer"
// REPORT:            "saving_bytes": 6442450944
// REPORT-NEXT:       "enough": true

// MODULE: proteus.fits = false

// CHANNELS: "communication_library_bytes": 0

// BUCKETS: "owner": "gradient_buckets"
// BUCKETS-NEXT: "bytes": 2147483648

// ERROR: error: channels must be from 0 to 1048576, got -1

module attributes {proteus.cluster = {
    name = "two small devices",
    device = {name = "small", peak_tflops = {f32 = 10.0, bf16 = 100.0}, memory_gb = 7.8, memory_bandwidth_gbps = 1000.0},
    nodes = 1, devices_per_node = 2,
    intra_node = {bandwidth_gbps = 100.0, latency_us = 1.0},
    inter_node = {bandwidth_gbps = 10.0, latency_us = 5.0}}} {
  func.func @mlp(
      %x: tensor<64x8192xbf16> {nn.role = "input", nn.path = "x"},
      %labels: tensor<64xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<4x8192x8192xbf16> {nn.role = "parameter", nn.path = "layers[*].fc1.weight"},
      %w2: tensor<4x8192x8192xbf16> {nn.role = "parameter", nn.path = "layers[*].fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<64x8192xbf16>)
        slice(%u = %w1 : tensor<4x8192x8192xbf16> to tensor<8192x8192xbf16>,
              %v = %w2 : tensor<4x8192x8192xbf16> to tensor<8192x8192xbf16>)
        -> (tensor<64x8192xbf16>) {
      %0 = nn.linear "fc1"(%h, %u) : (tensor<64x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x8192xbf16>
      %1 = nn.relu "act"(%0) : (tensor<64x8192xbf16>) -> tensor<64x8192xbf16>
      %2 = nn.linear "fc2"(%1, %v) : (tensor<64x8192xbf16>, tensor<8192x8192xbf16>) -> tensor<64x8192xbf16>
      nn.yield %2 : tensor<64x8192xbf16>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : (tensor<64x8192xbf16>, tensor<64xi32>) -> (tensor<f32>, tensor<64xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @s for @mlp {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}
