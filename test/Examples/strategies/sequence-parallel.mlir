// Sequence parallelism: reduce-scatters and all-gathers in the place of
// all-reduces, and the inputs of column-parallel linears gathered again.

// RUN: proteus-opt %examples/strategies/sequence-parallel.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.shift"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/sequence-parallel.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// The flat form and every rank on its own have the same figures.
// RUN: proteus-opt %examples/strategies/sequence-parallel.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// RIGHT: lowering is right

// The rest of a layer is split along the sequence, the linears are not.
// CHECK-DAG: #[[PARTS:.*]] = #dist.layout<#mesh, [{dp}, {tp}, {}]>
// CHECK-DAG: #[[WHOLE:.*]] = #dist.layout<#mesh, [{dp}, {}, {}]>
// CHECK-DAG: #[[TERMS:.*]] = #dist.layout<#mesh, [{dp}, {}, {}], partial = [sum {tp}]>

// CHECK:     dist.section forward {
// CHECK:       nn.repeat "layers" count 2
// CHECK:         nn.layer_norm "ln_1"
// CHECK-NEXT:    dist.all_gather %{{.*}} dim 1 over {tp} for activation {{.*}} : tensor<8x16x32xf32, #[[PARTS]]> -> tensor<8x16x32xf32, #[[WHOLE]]>
// CHECK-NEXT:    nn.linear "attention.qkv"
// CHECK:         nn.linear "attention.proj"
// CHECK-NEXT:    dist.reduce_scatter sum %{{.*}} dim 1 over {tp} for activation {{.*}} : tensor<8x16x32xf32, #[[TERMS]]> -> tensor<8x16x32xf32, #[[PARTS]]>
// CHECK-NEXT:    nn.dropout "dropout"
// CHECK:         nn.layer_norm "ln_2"
// CHECK-NEXT:    dist.all_gather %{{.*}} dim 1 over {tp}
// CHECK-NEXT:    nn.linear "mlp.fc1"
// CHECK:         nn.linear "mlp.fc2"
// CHECK-NEXT:    dist.reduce_scatter sum %{{.*}} dim 1 over {tp}
// CHECK-NEXT:    nn.add "residual_2"

// Mirrored; and each gather of an input once more for the weight gradient.
// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" count 2 reverse
// CHECK:         dist.all_gather %{{.*}} dim 1 over {tp} {{.*}}"mlp.fc2"
// CHECK:         nn.linear_dgrad "mlp.fc2"
// CHECK:         dist.all_gather %{{.*}} dim 1 over {tp} {{.*}}"mlp.fc1"
// CHECK-NEXT:    nn.linear_wgrad "mlp.fc1"
// CHECK:         dist.reduce_scatter sum %{{.*}} dim 1 over {tp} {{.*}}"mlp.fc1"
// CHECK:         dist.all_gather %{{.*}} dim 1 over {tp} {{.*}}"dropout"
// CHECK:         nn.linear_dgrad "attention.proj"
// CHECK:         dist.all_gather %{{.*}} dim 1 over {tp} {{.*}}"attention.qkv"
// CHECK-NEXT:    nn.linear_wgrad "attention.qkv"
// CHECK:         dist.reduce_scatter sum %{{.*}} dim 1 over {tp} {{.*}}"attention.qkv"
// CHECK:     dist.section update once {

// 8 x 16 x 32 x 4 bytes over dp = 2: 8192 bytes per device, as for each of the 4
// all-reduces per layer of tensor parallelism. In their place 4 reduce-scatters
// and 4 all-gathers, and 2 all-gathers for weight gradients; 2 layers.
// REPORT:          "kind": "all_gather",
// REPORT-NEXT:     "axes": "tp",
// REPORT-NEXT:     "group_size": 4,
// REPORT-NEXT:     "bytes": 8192,
// REPORT-NEXT:     "count": 24,
// REPORT-NEXT:     "count_per_device": 12,
// REPORT:          "kind": "reduce_scatter",
// REPORT-NEXT:     "axes": "tp",
// REPORT-NEXT:     "group_size": 4,
// REPORT-NEXT:     "bytes": 8192,
// REPORT-NEXT:     "count": 16,
// REPORT-NEXT:     "count_per_device": 8,
