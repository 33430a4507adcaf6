// Eight devices: eight-way data parallel convolutions, a classifier that is split
// two ways by the batch and four ways by its outputs. The volumes in the comments
// are per device and follow from the sizes of the model: 16 images, 64 features,
// 32 hidden units, 12 classes, f32.

// RUN: proteus-opt %examples/strategies/layer-wise-splits.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %examples/strategies/layer-wise-splits.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all_" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.fused_reduce" --implicit-check-not="= dist.permute"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --input-file=%t.json --check-prefix=BYTES

// RIGHT: remark: lowering is right

// The axis is cut where the classifier uses parts of it.
// CHECK-DAG: #[[MESH:[a-z0-9]+]] = #dist.mesh<[d_0 = 2, d_1 = 4]>
// CHECK-DAG: #[[ALL:[a-z0-9]+]] = #dist.layout<#[[MESH]], [{d_0, d_1}, {}]>
// CHECK-DAG: #[[HALF:[a-z0-9]+]] = #dist.layout<#[[MESH]], [{d_0}, {}]>
// CHECK-DAG: #[[TILE:[a-z0-9]+]] = #dist.layout<#[[MESH]], [{d_0}, {d_1}]>

// CHECK:     dist.section forward
// Half of the batch, all features: 8 x 64 x 4 = 2048 bytes after the gather.
// CHECK:       = dist.all_gather %{{.+}} dim 0 over {d_1} for activation {{.*}} : tensor<16x64xf32, #[[ALL]]> -> tensor<16x64xf32, #[[HALF]]>
// CHECK:       nn.linear "classifier.fc1"
// Half of the batch, all hidden units: 8 x 32 x 4 = 1024 bytes.
// CHECK:       = dist.all_gather %{{.+}} dim 1 over {d_1} for activation {{.*}} : tensor<16x32xf32, #[[TILE]]> -> tensor<16x32xf32, #[[HALF]]>
// CHECK:       nn.linear "classifier.fc2"
// From a quarter of the classes to a quarter of the samples: 8 x 3 x 4 = 96
// bytes.
// CHECK:       = dist.all_to_all %{{.+}} from 1 to 0 over {d_1} for activation {{.*}} : tensor<16x12xf32, #[[TILE]]> -> tensor<16x12xf32, #[[ALL]]>
// CHECK:       nn.cross_entropy "loss"

// Activations are kept in parts and gathered again where weight gradients need
// them. The logits are kept as the loss reads them, which is no larger.
// CHECK:     dist.section backward
// CHECK:       = dist.all_to_all %{{.+}} from 0 to 1 over {d_1}
// CHECK:       nn.linear_dgrad "classifier.fc2"
// CHECK:       = dist.all_gather %{{.+}} dim 1 over {d_1}
// CHECK:       nn.linear_wgrad "classifier.fc2"
// CHECK:       = dist.all_gather %{{.+}} dim 0 over {d_1}
// The gradients of what fc2 and fc1 read are sums over their outputs.
// CHECK:       = dist.reduce_scatter sum %{{.+}} dim 1 over {d_1}
// CHECK:       nn.linear_dgrad "classifier.fc1"
// CHECK:       = dist.all_gather %{{.+}} dim 0 over {d_1}
// CHECK:       nn.linear_wgrad "classifier.fc1"
// CHECK:       = dist.reduce_scatter sum %{{.+}} dim 0 over {d_1}

// Weights of the classifier are summed over the halves, those of the
// convolutions over all.
// CHECK:     dist.section update
// CHECK:       = dist.fused_reduce all_reduce sum {{.*}} over {d_0}
// CHECK:       = dist.fused_reduce all_reduce sum {{.*}} over {d_0, d_1}
// The bias of fc2 is computed by all, and a quarter of it is kept.
// CHECK:       = dist.slice %{{.+}} dim 0 over {d_1}
// CHECK:       = dist.all_reduce sum %{{.+}} over {d_0}

// The gradients of fc1 (8 x 64 + 8 elements) and of the weight of fc2 (3 x 32),
// a quarter each, are one bucket: 616 x 4 bytes between two devices. Those of
// the convolutions are 8 x 27 + 8 + 16 x 72 + 16 elements: 5568 bytes between
// eight.
// BYTES-DAG: "bytes": 2464
// BYTES-DAG: "bytes": 5568
