// Convolutions under data parallelism. What the figures have to be is derived in
// Inputs/check_report.py: products, parameters, buckets, bounds of the times.

// RUN: proteus-opt %examples/alexnet-dp.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.fused_reduce"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// Derived by hand from the datasheet, without what runs beside it.
// RUN: proteus-opt %t.mlir --simulate="kernels=roofline overlap=off report=%t-alone.json" -o /dev/null
// RUN: python3 %S/Inputs/check_report.py alexnet %t-alone.json

// Clean-up changes nothing: neither the text nor the figures.
// RUN: proteus-opt %examples/alexnet-dp.mlir --lower-strategy --canonicalize --cse -o %t-clean.mlir
// RUN: diff %t.mlir %t-clean.mlir
// RUN: proteus-opt %t-clean.mlir --simulate=report=%t-clean.json -o /dev/null
// RUN: diff %t.json %t-clean.json

// The flat form and every rank on its own give the same figures.
// RUN: proteus-opt %examples/alexnet-dp.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/check_report.py same %t.json %t-ranks.json

// No communication but one reduction of the gradients: fc8, fc7, fc6, then the
// convolutions from the last to the first.
// CHECK:     dist.section forward {
// CHECK:       nn.conv2d "features.conv1"
// CHECK:       nn.linear "classifier.fc8"
// CHECK:     dist.section backward {
// CHECK:       nn.linear_wgrad "classifier.fc8"
// CHECK:       nn.conv2d_dgrad "features.conv2"
// The images need no gradient.
// CHECK-NOT:   nn.conv2d_dgrad "features.conv1"
// CHECK:       nn.conv2d_wgrad "features.conv1"
// CHECK:     dist.section update once {
// CHECK:       = dist.fused_reduce all_reduce sum {{.*}} over {dp}
// CHECK-SAME:  buckets {{\[\[}}0[0:1]], [1[0:1], 2[0:1]], [3[0:1], 4[0:1]], [5[0:1],
// CHECK-SAME:  for gradient
// CHECK:       nn.sgd "features.conv1.weight"
