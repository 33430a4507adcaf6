// Context parallelism by all-to-all: four forward, four backward. What the
// backward pass reads was kept as the forward pass has read it.

// RUN: proteus-opt %examples/strategies/cp-ulysses.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.shift"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/cp-ulysses.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// The flat form and every rank on its own have the same figures.
// RUN: proteus-opt %examples/strategies/cp-ulysses.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// CHECK-DAG: #[[SEQ:.*]] = #dist.layout<#mesh, [{dp}, {cp}, {}]>
// CHECK-DAG: #[[HEADS:.*]] = #dist.layout<#mesh, [{dp}, {}, {cp}]>

// CHECK:     dist.section forward {
// CHECK:         nn.split "attention.split"
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 1 to 2 over {cp} for activation {{.*}} : tensor<8x16x32xf32, #[[SEQ]]> -> tensor<8x16x32xf32, #[[HEADS]]>
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 1 to 2 over {cp}
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 1 to 2 over {cp}
// CHECK-NEXT:    nn.attention "attention.core"
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 2 to 1 over {cp} for activation {{.*}} : tensor<8x16x32xf32, #[[HEADS]]> -> tensor<8x16x32xf32, #[[SEQ]]>

// CHECK:     dist.section backward {
// CHECK:         dist.all_to_all %{{.*}} from 1 to 2 over {cp}
// CHECK-NEXT:    nn.attention_grad "attention.core"
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 2 to 1 over {cp}
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 2 to 1 over {cp}
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 2 to 1 over {cp}
// CHECK:     dist.section update once {

// What a device holds of one tensor: 8 x 16 x 32 x 4 bytes over dp = 2 and cp = 4,
// 2048 bytes. 8 per layer, 2 layers.
// REPORT:          "kind": "all_to_all",
// REPORT-NEXT:     "axes": "cp",
// REPORT-NEXT:     "group_size": 4,
// REPORT-NEXT:     "bytes": 2048,
// REPORT-NEXT:     "count": 32,
// REPORT-NEXT:     "count_per_device": 16,
