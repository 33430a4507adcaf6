// Context parallelism by all-gather: keys and values are gathered, their
// gradients reduce-scattered.

// RUN: proteus-opt %examples/strategies/cp-all-gather.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.shift"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/cp-all-gather.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// The flat form and every rank on its own have the same figures.
// RUN: proteus-opt %examples/strategies/cp-all-gather.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// CHECK-DAG: #[[PARTS:.*]] = #dist.layout<#mesh, [{dp}, {cp}, {}]>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<#mesh, [{dp}, {}, {}]>
// CHECK-DAG: #[[TERMS:.*]] = #dist.layout<#mesh, [{dp}, {}, {}], partial = [sum {cp}]>

// CHECK:     dist.section forward {
// CHECK:         nn.split "attention.split"
// CHECK-NEXT:    %[[K:.*]] = dist.all_gather %{{.*}} dim 1 over {cp} for activation {{.*}} : tensor<8x16x32xf32, #[[PARTS]]> -> tensor<8x16x32xf32, #[[WHOLE]]>
// CHECK-NEXT:    %[[V:.*]] = dist.all_gather %{{.*}} dim 1 over {cp}
// CHECK-NEXT:    nn.attention "attention.core"(%{{.*}}, %[[K]], %[[V]])

// CHECK:     dist.section backward {
// CHECK:         dist.all_gather %{{.*}} dim 1 over {cp}
// CHECK-NEXT:    dist.all_gather %{{.*}} dim 1 over {cp}
// CHECK-NEXT:    nn.attention_grad "attention.core"
// CHECK-NEXT:    dist.reduce_scatter sum %{{.*}} dim 1 over {cp} for activation {{.*}} : tensor<8x16x32xf32, #[[TERMS]]> -> tensor<8x16x32xf32, #[[PARTS]]>
// CHECK-NEXT:    dist.reduce_scatter sum %{{.*}} dim 1 over {cp}
// CHECK:     dist.section update once {

// Keys of all positions: 8 x 16 x 32 x 4 bytes over dp = 2, 8192 bytes; values the
// same. Both are gathered forward and backward, 4 per layer; 2 layers. Their
// gradients: 2 per layer.
// REPORT:          "kind": "all_gather",
// REPORT-NEXT:     "axes": "cp",
// REPORT-NEXT:     "group_size": 4,
// REPORT-NEXT:     "bytes": 8192,
// REPORT-NEXT:     "count": 16,
// REPORT-NEXT:     "count_per_device": 8,
// REPORT:          "kind": "reduce_scatter",
// REPORT-NEXT:     "axes": "cp",
// REPORT-NEXT:     "group_size": 4,
// REPORT-NEXT:     "bytes": 8192,
// REPORT-NEXT:     "count": 8,
// REPORT-NEXT:     "count_per_device": 4,
