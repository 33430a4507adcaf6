// GPT-3 on 1024 devices: tensor, pipeline and data parallelism with
// recomputation. What the figures have to be is derived in
// Inputs/check_report.py: operations, parameters, every collective by kind,
// group, size and number, activations per stage, and bounds of the times.

// RUN: proteus-opt %examples/gpt3-175b-1024.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// Derived by hand without what runs beside it.
// RUN: proteus-opt %t.mlir --simulate="overlap=off report=%t-alone.json" -o /dev/null
// RUN: python3 %S/Inputs/check_report.py gpt3 %t-alone.json

// Clean-up changes nothing: neither the text nor the figures.
// RUN: proteus-opt %examples/gpt3-175b-1024.mlir --lower-strategy --canonicalize --cse -o %t-clean.mlir
// RUN: diff %t.mlir %t-clean.mlir
// RUN: proteus-opt %t-clean.mlir --simulate=report=%t-clean.json -o /dev/null
// RUN: diff %t.json %t-clean.json

// The flat form gives the same figures.
// RUN: proteus-opt %examples/gpt3-175b-1024.mlir --unroll-repeats --lower-strategy -o %t-flat.mlir
// RUN: not grep nn.repeat %t-flat.mlir
// RUN: proteus-opt %t-flat.mlir --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/Inputs/check_report.py same %t.json %t-flat.json

// Eight programs of twelve layers each, written once.
// CHECK:     dist.program @gpt3_stage0 mesh #mesh at [pp = 0]
// CHECK:       nn.repeat "layers" count 12 carry
// CHECK:       nn.recompute "layers[*]"
// CHECK:     dist.program @gpt3_stage7 mesh #mesh at [pp = 7]
// CHECK:       nn.repeat "layers" first 84 count 12 carry
// CHECK:     dist.schedule @schedule
// The first stage runs eight micro-batches ahead, the last none.
// CHECK-NEXT:  [F0, F1, F2, F3, F4, F5, F6, F7, B0, F8, B1,
// CHECK:       [F0, B0, F1, B1,
