// A shared expert beside many small routed ones: the shared one needs no collective,
// the routed ones 4 all-to-alls per layer and micro-batch.

// RUN: proteus-opt %examples/strategies/moe-deepseek-shared.mlir --lower-strategy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not="= dist.all" --implicit-check-not="= dist.reduce" --implicit-check-not="= dist.slice" --implicit-check-not="= dist.fused"
// RUN: proteus-opt %t.mlir --simulate=report=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: proteus-opt %examples/strategies/moe-deepseek-shared.mlir --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// RIGHT: lowering is right

// CHECK:     dist.section forward {
// CHECK:       nn.repeat "layers" count 2
// CHECK:         nn.linear "moe.shared.fc2"
// CHECK-NEXT:    nn.linear "moe.gate"
// CHECK-NEXT:    nn.moe_route "moe.route"
// CHECK-NEXT:    nn.moe_dispatch "moe.dispatch"
// CHECK-NEXT:    dist.all_to_all {{.*}} from 1 to 0 over {ep} for activation
// CHECK-NEXT:    nn.expert_linear "moe.experts.fc1"
// CHECK:         nn.expert_linear "moe.experts.fc2"
// CHECK-NEXT:    dist.all_to_all {{.*}} from 0 to 1 over {ep} for activation
// CHECK-NEXT:    nn.moe_combine "moe.combine"
// CHECK-NEXT:    nn.add "moe.sum"
// CHECK:     dist.section backward {
// CHECK:       nn.repeat "layers" count 2 reverse
// CHECK:         dist.all_to_all {{.*}} from 1 to 0 over {ep} for activation
// CHECK-NEXT:    nn.expert_linear_dgrad "moe.experts.fc2"
// CHECK:         nn.expert_linear_wgrad "moe.experts.fc1"
// CHECK-NEXT:    dist.all_to_all {{.*}} from 0 to 1 over {ep} for activation
// CHECK-NEXT:    nn.moe_combine "moe.dispatch"
// CHECK:     dist.section update once {
// CHECK:       dist.fused_reduce all_reduce sum {{.*}} over {ep}

// 16 experts x 16 groups x 6 slots x 32 x 4 bytes over 2 micro-batches and 8
// devices: 12288 bytes, 16 times per device.
// REPORT:      "collectives": [
// REPORT-NEXT:   {
// REPORT-NEXT:     "kind": "all_to_all",
// REPORT-NEXT:     "axes": "ep",
// REPORT-NEXT:     "group_size": 8,
// REPORT-NEXT:     "bytes": 12288,
// REPORT-NEXT:     "count": 16,
// REPORT-NEXT:     "count_per_device": 16,

// All gradients but those of the routed experts: 2 x 64 x 32 of embedding and head,
// and per layer 4 x 32 of the norms, (96 + 32) x 32 of attention, 2 x 32 x 32 of the
// shared expert, 16 x 32 of the router: 4096 + 2 x 6784 = 17664 numbers.
// REPORT:          "kind": "all_reduce",
// REPORT-NEXT:     "axes": "ep",
// REPORT-NEXT:     "group_size": 8,
// REPORT-NEXT:     "bytes": 70656,
// REPORT-NEXT:     "count": 1,
// REPORT-NEXT:     "count_per_device": 1,
// REPORT-NEXT:     "time_s": {{.*}}
// REPORT-NEXT:   }
// REPORT-NEXT: ]
