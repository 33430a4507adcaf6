// The smallest example, from the model to the figures. What the figures have to
// be is derived in Inputs/check_report.py.

// RUN: proteus-opt %examples/mlp-dp.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate="report=%t.json trace=%t-trace.json" -o /dev/null
// Derived by hand from the datasheet, without what runs beside it.
// RUN: proteus-opt %t.mlir --simulate="kernels=roofline overlap=off report=%t-alone.json" -o /dev/null
// RUN: python3 %S/Inputs/check_report.py mlp-dp %t-alone.json
// RUN: python3 -m json.tool %t-trace.json /dev/null

// Clean-up changes nothing: neither the text nor the figures.
// RUN: proteus-opt %examples/mlp-dp.mlir --lower-strategy --canonicalize --cse -o %t-clean.mlir
// RUN: diff %t.mlir %t-clean.mlir
// RUN: proteus-opt %t-clean.mlir --simulate=report=%t-clean.json -o /dev/null
// RUN: diff %t.json %t-clean.json

// The flat form and every rank on its own give the same figures.
// RUN: proteus-opt %examples/mlp-dp.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/check_report.py same %t.json %t-ranks.json

// Every phase shows what it made.
// RUN: proteus-opt %examples/mlp-dp.mlir --lower-strategy --simulate --mlir-print-ir-after-all -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PHASES

// The data-parallel step: no communication but the reduction of the gradients,
// which runs in buckets.
// CHECK:     dist.program @mlp
// CHECK:       dist.section forward {
// CHECK-NOT:     dist.all
// CHECK:       dist.section backward {
// CHECK-NOT:     dist.all
// CHECK:       dist.section update once {
// CHECK:         dist.fused_reduce all_reduce sum {{.*}} over {dp}
// CHECK-SAME:    for gradient
// CHECK-NOT:     dist.all
// CHECK:     dist.schedule @schedule programs [@mlp] order [
// CHECK-NEXT:  [F0, B0, U]

// PHASES:       IR Dump After MatchStrategy (match-strategy)
// PHASES:         nn.linear "fc1"{{.*}} {strategy.op = #strategy.partition<[batch -> dp]>
// PHASES:       IR Dump After BuildTrainingStep (build-training-step)
// PHASES:         nn.linear_wgrad "fc1"
// PHASES:         nn.sgd "fc1.weight"
// PHASES:       IR Dump After PropagateStrategy (propagate-strategy)
// PHASES:         strategy.layout = #dist.layout
// PHASES:       IR Dump After InsertCollectives (insert-collectives)
// PHASES:         dist.all_reduce sum
// PHASES:       IR Dump After SplitStages (split-stages)
// PHASES:         dist.section forward
// PHASES:       IR Dump After FuseGradients (fuse-gradients)
// PHASES:         dist.fused_reduce
// PHASES:       IR Dump After SchedulePipeline (schedule-pipeline)
// PHASES:         dist.schedule @schedule
// PHASES:       IR Dump After Simulate (simulate)
// PHASES:         proteus.iteration_time_ms
