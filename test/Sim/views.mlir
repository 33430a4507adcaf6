// What a person sees of a step fits together: parts sum to the whole, with and
// without skipping, and the arrows of a trace lead from task to task.

// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --lower-strategy="cluster=titanxp-pcie" -o %t.mlir
// RUN: proteus-opt %t.mlir --simulate="critical-path report=%t-path.json trace=%t-trace.json" -o /dev/null
// RUN: python3 %S/Inputs/check_views.py report %t-path.json
// RUN: python3 %S/Inputs/check_views.py trace %t-trace.json
// RUN: python3 %S/Inputs/check_views.py both %t-trace.json %t-path.json

// RUN: proteus-opt %t.mlir --simulate="fold=all report=%t-all.json" -o /dev/null
// RUN: proteus-opt %t.mlir --simulate="fold=ranks report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/check_views.py same %t-all.json %t-ranks.json

// Nobody holds a flow back that has its links for itself.
// RUN: proteus-opt %t.mlir --simulate="share=off report=%t-off.json" -o /dev/null
// RUN: python3 %S/Inputs/check_views.py uncontended %t-off.json

// The same bytes again, and without threads.
// RUN: proteus-opt %t.mlir --mlir-disable-threading --simulate="critical-path report=%t-path-2.json trace=%t-trace-2.json" -o /dev/null
// RUN: cmp %t-path.json %t-path-2.json
// RUN: cmp %t-trace.json %t-trace-2.json

// RUN: proteus-opt %t.mlir --simulate="critical-path summary" -o /dev/null | FileCheck %s
// CHECK: time of the slowest device
// CHECK: its kernels {{.*}}time (ms){{.*}}share (%)
// CHECK: its exposed communication
// CHECK: critical path
// CHECK: links (the busiest; contended: time in which the link limits flows)

// Without the option there is none.
// RUN: proteus-opt %t.mlir --simulate=summary -o /dev/null | FileCheck %s --check-prefix=NONE
// NONE-NOT: critical path
