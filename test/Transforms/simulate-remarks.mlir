// What every operation costs, as remarks. On the cluster `tiny` kernels run at
// 1 TFLOP/s or 1000 GB/s, whichever is slower, plus 1 us.

// RUN: rm -rf %t && mkdir %t && sed -e 's|CLUSTER|%S/Inputs/tiny-cluster.json|' %s > %t/model.mlir
// RUN: proteus-opt %t/model.mlir --simulate --remarks-filter=proteus-simulate -o %t/with.mlir 2>&1 | FileCheck %s
// RUN: proteus-opt %t/model.mlir --simulate --remarks-filter=proteus-simulate --remark-format=yaml --remarks-output-file=%t/remarks.yaml -o /dev/null
// RUN: FileCheck %s --check-prefix=YAML < %t/remarks.yaml

// Whoever asks for none, or for others, gets none, and the same module.
// RUN: proteus-opt %t/model.mlir --simulate -o %t/without.mlir 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: proteus-opt %t/model.mlir --simulate --remarks-filter=other -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: diff %t/with.mlir %t/without.mlir
// NONE-NOT: remark

// A micro-batch has 2000 rows. 2 x 2000 x 1000 x 1000 operations take 4000 us.
// CHECK-DAG: nn.linear{{.*}}proteus-simulate{{.*}}Path=fc{{.*}}TimeUs=4001.000{{.*}}Count=2{{.*}}BoundBy=flops
// 4 MB are read and 4 MB are written... by each of two micro-batches.
