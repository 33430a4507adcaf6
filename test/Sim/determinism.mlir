// The same input gives the same bytes: the module, the report and the trace of two
// runs, of a run without threads, and of a module that was written and read back.

// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --lower-strategy --simulate="report=%t-1.json trace=%t-1-trace.json" -o %t-1.mlir
// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --lower-strategy --simulate="report=%t-2.json trace=%t-2-trace.json" -o %t-2.mlir
// RUN: diff %t-1.mlir %t-2.mlir
// RUN: cmp %t-1.json %t-2.json
// RUN: cmp %t-1-trace.json %t-2-trace.json
// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --mlir-disable-threading --lower-strategy --simulate="report=%t-3.json trace=%t-3-trace.json" -o %t-3.mlir
// RUN: diff %t-1.mlir %t-3.mlir
// RUN: cmp %t-1.json %t-3.json
// RUN: cmp %t-1-trace.json %t-3-trace.json
// RUN: proteus-opt %t-1.mlir --simulate="report=%t-4.json trace=%t-4-trace.json" -o /dev/null
// RUN: cmp %t-1.json %t-4.json
// RUN: cmp %t-1-trace.json %t-4-trace.json

// Programs of stages are lowered at the same time, by as many threads as there are
// cores: the module, the report and the trace are those of one thread.
// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --lower-strategy --simulate="report=%t-5.json trace=%t-5-trace.json" -o %t-5.mlir
// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --lower-strategy --simulate="report=%t-6.json trace=%t-6-trace.json" -o %t-6.mlir
// RUN: diff %t-5.mlir %t-6.mlir
// RUN: cmp %t-5.json %t-6.json
// RUN: cmp %t-5-trace.json %t-6-trace.json
// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --mlir-disable-threading --lower-strategy --simulate="report=%t-7.json trace=%t-7-trace.json" -o %t-7.mlir
// RUN: diff %t-5.mlir %t-7.mlir
// RUN: cmp %t-5.json %t-7.json
// RUN: cmp %t-5-trace.json %t-7-trace.json

// Remarks come in the same order.
// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --lower-strategy --simulate --remarks-filter=proteus-simulate -o /dev/null 2> %t-8.txt
// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --mlir-disable-threading --lower-strategy --simulate --remarks-filter=proteus-simulate -o /dev/null 2> %t-9.txt
// RUN: diff %t-8.txt %t-9.txt

// Eight stages on 1024 devices.
// RUN: proteus-opt %examples/gpt3-175b-1024.mlir --lower-strategy --simulate=report=%t-10.json -o %t-10.mlir
// RUN: proteus-opt %examples/gpt3-175b-1024.mlir --mlir-disable-threading --lower-strategy --simulate=report=%t-11.json -o %t-11.mlir
// RUN: diff %t-10.mlir %t-11.mlir
// RUN: cmp %t-10.json %t-11.json
// RUN: proteus-opt %t-10.mlir --simulate=report=%t-12.json -o /dev/null
// RUN: cmp %t-10.json %t-12.json
