// Gradient clipping and loss scaling over sharded, replicated and distributed
// gradients: small all-reduces, one per set of axes that gradients are sharded over,
// and messages of one number between the stages.

// RUN: proteus-opt %examples/strategies/grad-clip.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/grad-clip.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// The flat form and every rank on its own give the same figures.
// RUN: proteus-opt %examples/strategies/grad-clip.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// The first stage: one reduction of every gradient serves the norm, the check and
// the update.
// CHECK-LABEL: dist.program @gpt_stage0
// CHECK:     dist.section update once {
// CHECK:       %[[G:[0-9]+]]:9 = dist.fused_reduce reduce_scatter sum {{.*}} over {dp}
// CHECK-NOT:   dist.reduce_scatter
// CHECK:       nn.square_sum "embedding.weight"(%[[G]]#{{[0-9]}})
// CHECK:       nn.repeat "layers" count 2 slice(%[[GI:[a-z0-9]+]] = %[[G]]#{{[0-9]}} : tensor<2x32x64xf32,
// CHECK-NEXT:    nn.square_sum "mlp.fc2.weight"(%[[GI]])
// CHECK:       %[[A:[0-9]+]] = nn.total "gradients"
// CHECK-NEXT:  dist.all_reduce sum %[[A]] over {dp} for gradient
// CHECK-NEXT:  %[[B:[0-9]+]] = nn.total "gradients"
// CHECK-NEXT:  dist.all_reduce sum %[[B]] over {dp, tp} for gradient
// CHECK-NEXT:  %[[SQUARES:.*]] = nn.total "gradients"
// CHECK-NEXT:  dist.send %[[SQUARES]] to stage 1
// CHECK:       dist.all_reduce max {{.*}} over {dp} for gradient
// CHECK:       dist.all_reduce max {{.*}} over {dp, tp} for gradient
// CHECK-NEXT:  %[[CHECKED:.*]] = nn.total "gradients"(%{{.*}}, %{{.*}}) {max}
// CHECK-NEXT:  dist.send %[[CHECKED]] to stage 1
// CHECK:       %[[FACTOR:.*]] = dist.recv from stage 1
// CHECK:       nn.adam "embedding.weight"(%{{.*}}, %[[G]]#{{[0-9]}}, %{{.*}}, %{{.*}}, %[[FACTOR]]) {scaled}
// CHECK:       nn.adam "ln_1.scale"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[FACTOR]]) {scaled}

// The last stage adds its own and has the factor.
// CHECK-LABEL: dist.program @gpt_stage1
// CHECK:       nn.fill "loss"() {value = 1.024000e+03 : f64}
// CHECK:     dist.section update once {
// CHECK:       %[[OTHERS:.*]] = dist.recv from stage 0
// CHECK-NEXT:  %[[SQUARES:.*]] = nn.total "gradients"(%{{.*}}, %{{.*}}, %[[OTHERS]])
// CHECK:       %[[FACTOR:.*]] = nn.update_factor "gradients"(%[[SQUARES]], %{{.*}}) {clip = 2.500000e-01 : f64, loss_scale = 1.024000e+03 : f64}
// CHECK-NEXT:  dist.send %[[FACTOR]] to stage 0

// One number of 4 bytes each: a sum and a maximum per stage, over dp and tp (once per
// stage) and over dp (once per stage and position on tp).
// REPORT-DAG: "kind": "all_reduce",{{[[:space:]]+}}"axes": "dp,tp",{{[[:space:]]+}}"group_size": 4,{{[[:space:]]+}}"bytes": 4,{{[[:space:]]+}}"count": 4,{{[[:space:]]+}}"count_per_device": 2,
// REPORT-DAG: "kind": "all_reduce",{{[[:space:]]+}}"axes": "dp",{{[[:space:]]+}}"group_size": 2,{{[[:space:]]+}}"bytes": 4,{{[[:space:]]+}}"count": 8,{{[[:space:]]+}}"count_per_device": 2,
// Each of the 4 pairs of devices exchanges the two numbers and the factor.
// REPORT-DAG: "axes": "stage 0 -> 1",{{[[:space:]]+}}"group_size": 2,{{[[:space:]]+}}"bytes": 4,{{[[:space:]]+}}"count": 8,{{[[:space:]]+}}"count_per_device": 2,
// REPORT-DAG: "axes": "stage 1 -> 0",{{[[:space:]]+}}"group_size": 2,{{[[:space:]]+}}"bytes": 4,{{[[:space:]]+}}"count": 4,{{[[:space:]]+}}"count_per_device": 1,
