// Ring attention: 3 passes of keys and values forward; going backward 3 more, and
// 4 of their gradients, which brings these home.

// RUN: proteus-opt %examples/strategies/cp-ring.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.shift"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/cp-ring.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// The flat form and every rank on its own have the same figures.
// RUN: proteus-opt %examples/strategies/cp-ring.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// Before and after each pass.
// CHECK-DAG: #[[AT0:.*]] = #dist.layout<#mesh, [{dp}, {cp}, {}]>
// CHECK-DAG: #[[AT1:.*]] = #dist.layout<#mesh, [{dp}, {cp} shift 1, {}]>
// CHECK-DAG: #[[AT2:.*]] = #dist.layout<#mesh, [{dp}, {cp} shift 2, {}]>
// CHECK-DAG: #[[AT3:.*]] = #dist.layout<#mesh, [{dp}, {cp} shift 3, {}]>

// CHECK:     dist.section forward {
// CHECK:         %[[Q:.*]]:3 = nn.split "attention.split"
// CHECK-NEXT:    %[[KV1:.*]]:2 = dist.shift %[[Q]]#1, %[[Q]]#2 dim 1 over {cp} for activation {{.*}} -> (tensor<8x16x32xf32, #[[AT1]]>, tensor<8x16x32xf32, #[[AT1]]>)
// CHECK-NEXT:    nn.attention_block "attention.core"(%[[Q]]#0, %[[Q]]#1, %[[Q]]#2)
// CHECK-NEXT:    %[[KV2:.*]]:2 = dist.shift %[[KV1]]#0, %[[KV1]]#1 {{.*}} -> (tensor<8x16x32xf32, #[[AT2]]>
// CHECK-NEXT:    nn.attention_block "attention.core"(%[[Q]]#0, %[[KV1]]#0, %[[KV1]]#1, %{{.*}}, %{{.*}})
// CHECK-NEXT:    %[[KV3:.*]]:2 = dist.shift %[[KV2]]#0, %[[KV2]]#1 {{.*}} -> (tensor<8x16x32xf32, #[[AT3]]>
// CHECK-NEXT:    nn.attention_block "attention.core"(%[[Q]]#0, %[[KV2]]#0, %[[KV2]]#1, %{{.*}}, %{{.*}})
// CHECK-NEXT:    nn.attention_block "attention.core"(%[[Q]]#0, %[[KV3]]#0, %[[KV3]]#1, %{{.*}}, %{{.*}})
// CHECK-NEXT:    nn.linear "attention.proj"

// CHECK:     dist.section backward {
// CHECK:         %[[KV1:.*]]:2 = dist.shift
// CHECK-NEXT:    %{{.*}}, %[[DK0:.*]], %[[DV0:.*]] = nn.attention_block_grad "attention.core"
// CHECK-NEXT:    %[[KV2:.*]]:2 = dist.shift %[[KV1]]#0, %[[KV1]]#1
// CHECK-NEXT:    %[[G1:.*]]:2 = dist.shift %[[DK0]], %[[DV0]]
// CHECK-NEXT:    nn.attention_block_grad "attention.core"({{.*}}%[[KV1]]#0, %[[KV1]]#1
// CHECK-NEXT:    nn.add "attention.core"(%[[G1]]#0
// CHECK-NEXT:    nn.add "attention.core"(%[[G1]]#1
// CHECK-NEXT:    %[[KV3:.*]]:2 = dist.shift %[[KV2]]#0, %[[KV2]]#1
// CHECK-NEXT:    dist.shift
// CHECK-NEXT:    nn.attention_block_grad "attention.core"({{.*}}%[[KV2]]#0, %[[KV2]]#1
// CHECK-NEXT:    nn.add
// CHECK-NEXT:    nn.add
// CHECK-NEXT:    dist.shift
// CHECK-NEXT:    nn.attention_block_grad "attention.core"({{.*}}%[[KV3]]#0, %[[KV3]]#1
// CHECK-NEXT:    nn.add
// CHECK-NEXT:    nn.add
// CHECK-NEXT:    dist.shift {{.*}} : (tensor<8x16x32xf32, #[[AT3]]>, tensor<8x16x32xf32, #[[AT3]]>) -> (tensor<8x16x32xf32, #[[AT0]]>, tensor<8x16x32xf32, #[[AT0]]>)
// CHECK:     dist.section update once {

// Queries of device i see i + 1 blocks: four kinds of devices.
// REPORT:      "simulated_devices": 4,

// A block of keys and values: 2 x 8 x 16 x 32 x 4 bytes over dp = 2 and cp = 4, 4096
// bytes; their gradients the same. 3 + 3 + 4 passes per layer, 2 layers.
// REPORT:          "kind": "shift",
// REPORT-NEXT:     "axes": "cp",
// REPORT-NEXT:     "group_size": 4,
// REPORT-NEXT:     "bytes": 4096,
// REPORT-NEXT:     "count": 40,
// REPORT-NEXT:     "count_per_device": 20,
