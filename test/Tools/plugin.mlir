// The pipeline runs inside Debian's own mlir-opt, and gives the same figures as
// proteus-opt.
// RUN: mlir-opt --load-dialect-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(lower-strategy,simulate)' \
// RUN:   %examples/mlp-dp.mlir -o %t.plugin.mlir
// RUN: proteus-opt --lower-strategy --simulate %examples/mlp-dp.mlir -o %t.own.mlir
// RUN: diff %t.plugin.mlir %t.own.mlir
// RUN: FileCheck %s < %t.plugin.mlir

// CHECK: module attributes {{.*}}proteus.iteration_time_ms
// CHECK: dist.schedule
