// Operations of linalg under tensor and data parallelism. What the figures have
// to be is derived in Inputs/check_report.py.

// RUN: proteus-opt %examples/linalg-mlp.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.fused_reduce"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// Derived by hand from the datasheet, without what runs beside it.
// RUN: proteus-opt %t.mlir --simulate="kernels=roofline overlap=off report=%t-alone.json" -o /dev/null
// RUN: python3 %S/Inputs/check_report.py linalg %t-alone.json

// Clean-up changes nothing: neither the text nor the figures.
// RUN: proteus-opt %examples/linalg-mlp.mlir --lower-strategy --canonicalize --cse -o %t-clean.mlir
// RUN: diff %t.mlir %t-clean.mlir
// RUN: proteus-opt %t-clean.mlir --simulate=report=%t-clean.json -o /dev/null
// RUN: diff %t.json %t-clean.json

// The flat form and every rank on its own give the same figures.
// RUN: proteus-opt %examples/linalg-mlp.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/check_report.py same %t.json %t-ranks.json

// One all-reduce, behind fc2 in the forward pass. The input needs no gradient,
// so there is none in the backward pass.
// CHECK:     dist.section forward {
// CHECK:       %[[P:.+]] = linalg.matmul ins({{.*}}tensor<4096x256xf32
// CHECK-NEXT:  %[[WHOLE:.+]] = dist.all_reduce sum %[[P]] over {tp} for activation {proteus.path = "fc2"}
// CHECK:     dist.section backward {
// CHECK:     %[[R:.+]]:2 = dist.section update once {
// CHECK-NEXT:  %[[G:.+]]:2 = dist.fused_reduce all_reduce sum {{.*}} over {dp} stacked [false, false] buckets {{\[\[}}0[0:1]], [1[0:1]]] for gradient
// CHECK-NEXT:  nn.sgd "fc1.weight"(%{{.+}}, %[[G]]#1)
// CHECK-NEXT:  nn.sgd "fc2.weight"(%{{.+}}, %[[G]]#0)
