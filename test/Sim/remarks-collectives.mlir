// Remarks about communication say what the report says: how often each kind and size
// is executed per device, layers, micro-batches and buckets included.

// Tensor and data parallelism: twelve layers, five buckets of one operation.
// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --lower-strategy --simulate=report=%t-gpt2.json --remarks-filter=proteus-simulate -o /dev/null 2> %t-gpt2.txt
// RUN: python3 %S/Inputs/check_remarks.py %t-gpt2.txt %t-gpt2.json
// RUN: FileCheck %s --input-file=%t-gpt2.txt
// CHECK:     dist.all_reduce | Category:proteus-simulate | Function=gpt2 | Algorithm="ring, Simple", Bytes=25165824, Collective="all_reduce over tp", Count=12, Path=layers[*].attention.proj, TimeUs=241.026
// CHECK-COUNT-5: dist.fused_reduce {{.*}}Collective="all_reduce over dp", Count=1, Path=gpt2.dist.fused_reduce#0
// CHECK-NOT: dist.fused_reduce |

// Four micro-batches through a pipeline with two chunks per stage: messages between
// the stages, in both directions.
// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --lower-strategy --simulate=report=%t-3d.json --remarks-filter=proteus-simulate -o /dev/null 2> %t-3d.txt
// RUN: python3 %S/Inputs/check_remarks.py %t-3d.txt %t-3d.json
// RUN: FileCheck %s --check-prefix=MESSAGES --input-file=%t-3d.txt
// MESSAGES-DAG: dist.send | {{.*}}Algorithm="message, Simple", Bytes=2048, Collective="send_recv over stage 0 -> 1", Count=4
// MESSAGES-DAG: dist.recv | {{.*}}Algorithm="message, Simple", Bytes=2048, Collective="send_recv over stage 1 -> 0", Count=4
// MESSAGES-DAG: dist.all_reduce | {{.*}}Collective="all_reduce over tp", Count=4

// Experts: exchanges.
// RUN: proteus-opt %examples/strategies/moe-ep.mlir --lower-strategy --simulate=report=%t-moe.json --remarks-filter=proteus-simulate -o /dev/null 2> %t-moe.txt
// RUN: python3 %S/Inputs/check_remarks.py %t-moe.txt %t-moe.json
// RUN: FileCheck %s --check-prefix=EXPERTS --input-file=%t-moe.txt
// EXPERTS: dist.all_to_all | {{.*}}Algorithm="pairwise, Simple"
