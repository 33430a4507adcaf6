// What every operation costs, as remarks.

// RUN: proteus-opt %examples/mlp-dp.mlir --lower-strategy --simulate=kernels=roofline --remarks-filter=proteus-simulate -o %t-with.mlir 2>&1 | FileCheck %s

// Whoever asks for none, or for others, gets none, and the same module.
// RUN: proteus-opt %examples/mlp-dp.mlir --lower-strategy --simulate=kernels=roofline -o %t-without.mlir 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: proteus-opt %examples/mlp-dp.mlir --lower-strategy --simulate=kernels=roofline --remarks-filter=other -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: diff %t-with.mlir %t-without.mlir
// NONE-NOT: remark

// 2 x 512 x 1024 x 4096 operations at 19.5 TFLOP/s and 1.5 us.
// CHECK-DAG: nn.linear | Category:proteus-simulate | Function=mlp | BoundBy=flops, Count=1, Path=fc1, TimeUs=221.755
// 512 x 4096 x 4 bytes read and written at 2039 GB/s and 1.5 us.
// CHECK-DAG: nn.relu | Category:proteus-simulate | Function=mlp | BoundBy=memory, Count=1, Path=act, TimeUs=9.728
