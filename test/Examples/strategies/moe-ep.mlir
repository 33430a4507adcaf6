// Expert parallelism: 4 all-to-alls per layer and micro-batch, and gradients of
// experts that are reduced over their replicas only.

// RUN: proteus-opt %examples/strategies/moe-ep.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/moe-ep.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// The flat form and every rank on its own give the same figures.
// RUN: proteus-opt %examples/strategies/moe-ep.mlir --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-flat.json
// RUN: proteus-opt %t.mlir --simulate="fold=none report=%t-ranks.json" -o /dev/null
// RUN: python3 %S/../Inputs/check_report.py same %t.json %t-ranks.json

// Tokens in the slots of the experts, split by groups as the batch is, and by
// experts with the groups over dp alone.
// CHECK-DAG: #[[TOKENS:.*]] = #dist.layout<#mesh, [{}, {micro, dp, ep}, {}, {}]>
// CHECK-DAG: #[[EXPERTS:.*]] = #dist.layout<#mesh, [{ep}, {micro, dp}, {}, {}]>

// CHECK:     dist.section forward {
// CHECK:       nn.repeat "layers" count 2
// CHECK:         nn.moe_route "moe.route"
// CHECK-NEXT:    nn.moe_dispatch "moe.dispatch"
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 1 to 0 over {ep} for activation {{.*}} : tensor<8x16x5x32xf32, #[[TOKENS]]> -> tensor<8x16x5x32xf32, #[[EXPERTS]]>
// CHECK-NEXT:    nn.expert_linear "moe.experts.fc1"
// CHECK-NEXT:    nn.gelu "moe.experts.act"
// CHECK-NEXT:    nn.expert_linear "moe.experts.fc2"
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 0 to 1 over {ep} for activation {{.*}} : tensor<8x16x5x32xf32, #[[EXPERTS]]> -> tensor<8x16x5x32xf32, #[[TOKENS]]>
// CHECK-NEXT:    nn.moe_combine "moe.combine"

// What the backward pass reads of the tokens was saved behind the all-to-alls, so
// that it moves gradients only.
// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" count 2 reverse
// CHECK-NEXT:    nn.moe_dispatch "moe.combine"
// CHECK-NEXT:    nn.moe_gate_grad "moe.combine"
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 1 to 0 over {ep} for activation {{.*}} : tensor<8x16x5x32xf32, #[[TOKENS]]> -> tensor<8x16x5x32xf32, #[[EXPERTS]]>
// CHECK-NEXT:    nn.expert_linear_dgrad "moe.experts.fc2"
// CHECK-NEXT:    nn.expert_linear_wgrad "moe.experts.fc2"
// CHECK-NEXT:    nn.gelu_grad "moe.experts.act"
// CHECK-NEXT:    nn.expert_linear_dgrad "moe.experts.fc1"
// CHECK-NEXT:    nn.expert_linear_wgrad "moe.experts.fc1"
// CHECK-NEXT:    dist.all_to_all %{{.*}} from 0 to 1 over {ep} for activation {{.*}} : tensor<8x16x5x32xf32, #[[EXPERTS]]> -> tensor<8x16x5x32xf32, #[[TOKENS]]>
// CHECK-NEXT:    nn.moe_combine "moe.dispatch"
// CHECK-NEXT:    nn.moe_route_grad "moe.route"

// The matrices of the experts over dp, everything else over both axes.
// CHECK:     dist.section update once {
// CHECK:       dist.fused_reduce all_reduce sum %{{[0-9]+}}, %{{[0-9]+}} over {dp} stacked [true, true]
// CHECK:       dist.fused_reduce all_reduce sum {{.*}} over {dp, ep}

// 8 experts x 16 groups x 5 slots x 32 x 4 bytes = 81920 bytes are spread over 2
// micro-batches x 8 devices: 5120 bytes per device. 4 per layer and micro-batch, 2
// layers, 2 micro-batches: 16 per device, in 2 groups (one per replica).
// REPORT:      "collectives": [
// REPORT-NEXT:   {
// REPORT-NEXT:     "kind": "all_to_all",
// REPORT-NEXT:     "axes": "ep",
// REPORT-NEXT:     "group_size": 4,
// REPORT-NEXT:     "bytes": 5120,
// REPORT-NEXT:     "count": 32,
// REPORT-NEXT:     "count_per_device": 16,

// Gradients that all devices share, 4 bytes each: embedding and head 2 x 64 x 32,
// and per layer 4 x 32 of the norms, (96 + 32) x 32 of attention, 8 x 32 of the
// router: 4096 + 2 x 4480 = 13056 numbers.
// REPORT:          "kind": "all_reduce",
// REPORT-NEXT:     "axes": "dp,ep",
// REPORT-NEXT:     "group_size": 8,
// REPORT-NEXT:     "bytes": 52224,
// REPORT-NEXT:     "count": 1,

// 2 of 8 experts per device, 2 x 64 x 32 numbers each, 2 layers: 16384 numbers, in 4
// groups (one per position on ep).
// REPORT:          "kind": "all_reduce",
// REPORT-NEXT:     "axes": "dp",
// REPORT-NEXT:     "group_size": 2,
// REPORT-NEXT:     "bytes": 65536,
// REPORT-NEXT:     "count": 4,
// REPORT-NEXT:     "count_per_device": 1,
// REPORT-NEXT:     "time_s": {{.*}}
// REPORT-NEXT:   }
// REPORT-NEXT: ]
