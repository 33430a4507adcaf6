// The same input gives the same bytes: the report and the trace of two runs, of
// a run without threads, and of a module that was written and read back.

// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --lower-strategy --simulate="report=%t-1.json trace=%t-1-trace.json" -o %t-1.mlir
// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --lower-strategy --simulate="report=%t-2.json trace=%t-2-trace.json" -o %t-2.mlir
// RUN: diff %t-1.mlir %t-2.mlir
// RUN: cmp %t-1.json %t-2.json
// RUN: cmp %t-1-trace.json %t-2-trace.json
// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --mlir-disable-threading --lower-strategy --simulate="report=%t-3.json trace=%t-3-trace.json" -o /dev/null
// RUN: cmp %t-1.json %t-3.json
// RUN: cmp %t-1-trace.json %t-3-trace.json
// RUN: proteus-opt %t-1.mlir --simulate="report=%t-4.json trace=%t-4-trace.json" -o /dev/null
// RUN: cmp %t-1.json %t-4.json
// RUN: cmp %t-1-trace.json %t-4-trace.json

// A pipeline, where stages run at the same time.
// RUN: proteus-opt %examples/gpt3-175b-1024.mlir --lower-strategy -o %t-5.mlir
// RUN: proteus-opt %t-5.mlir --simulate=report=%t-5.json -o /dev/null
// RUN: proteus-opt %t-5.mlir --simulate=report=%t-6.json -o /dev/null
// RUN: cmp %t-5.json %t-6.json
