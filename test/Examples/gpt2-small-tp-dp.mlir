// Tensor and data parallelism over layers that are written once. What the
// figures have to be is derived in Inputs/check_report.py.

// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// Derived by hand without what runs beside it.
// RUN: proteus-opt %t.mlir --simulate="overlap=off report=%t-alone.json" -o /dev/null
// RUN: python3 %S/Inputs/check_report.py gpt2 %t-alone.json

// Clean-up changes nothing: neither the text nor the figures.
// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --lower-strategy --canonicalize --cse -o %t-clean.mlir
// RUN: diff %t.mlir %t-clean.mlir
// RUN: proteus-opt %t-clean.mlir --simulate=report=%t-clean.json -o /dev/null
// RUN: diff %t.json %t-clean.json

// The flat form and every rank on its own give the same figures.
// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --unroll-repeats --lower-strategy -o %t-flat.mlir
// RUN: not grep nn.repeat %t-flat.mlir
// RUN: proteus-opt %t-flat.mlir --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/check_report.py same %t.json %t-ranks.json

// CHECK:     dist.section forward {
// CHECK:       nn.embedding "embedding"
// CHECK-NEXT:  dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:       nn.repeat "layers" count 12
// CHECK:         nn.linear "attention.proj"
// CHECK-NEXT:    dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:         nn.linear "mlp.fc2"
// CHECK-NEXT:    dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:       nn.row_max "loss"
// CHECK-NEXT:  dist.all_reduce max {{.*}} over {tp} for activation
// CHECK:       nn.row_exp_sum "loss"
// CHECK-NEXT:  dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK-NEXT:  dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:     dist.section backward {
// CHECK:       nn.linear_dgrad "head"
// CHECK:       dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:       nn.repeat "layers" count 12 reverse
// CHECK:         nn.linear_dgrad "mlp.fc1"
// CHECK:         dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:         nn.linear_dgrad "attention.qkv"
// CHECK:         dist.all_reduce sum {{.*}} over {tp} for activation
// CHECK:     dist.section update once {
// CHECK:       dist.fused_reduce all_reduce sum {{.*}} over {dp}
