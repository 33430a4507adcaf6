// What tools may rely on: the fields of a report, their sums, and the attributes of
// the module.

// RUN: proteus-opt %examples/gpt2-small-tp-dp.mlir --lower-strategy --simulate=report=%t-gpt2.json -o %t-gpt2.mlir
// RUN: python3 %S/Inputs/check_contract.py %t-gpt2.json %t-gpt2.mlir
// RUN: FileCheck %s --check-prefix=TOKENS --input-file=%t-gpt2.json
// TOKENS-NOT: "tokens_per_s": null

// No input of tokens.
// RUN: proteus-opt %examples/mlp-dp.mlir --lower-strategy --simulate=report=%t-mlp.json -o %t-mlp.mlir
// RUN: python3 %S/Inputs/check_contract.py %t-mlp.json %t-mlp.mlir
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t-mlp.json
// NONE: "tokens_per_s": null
// NONE-NEXT: "tokens_per_s_per_device": null

// Stages, recomputation, messages, and micro-batches that are skipped.
// RUN: proteus-opt %examples/strategies/hybrid-3d.mlir --lower-strategy --simulate=report=%t-3d.json -o %t-3d.mlir
// RUN: python3 %S/Inputs/check_contract.py %t-3d.json %t-3d.mlir
// RUN: proteus-opt %examples/gpt3-175b-1024.mlir --lower-strategy --simulate=report=%t-gpt3.json -o %t-gpt3.mlir
// RUN: python3 %S/Inputs/check_contract.py %t-gpt3.json %t-gpt3.mlir

// Copies to the host, and ranks that do different work.
// RUN: proteus-opt %examples/strategies/offload-optimizer.mlir --lower-strategy --simulate=report=%t-offload.json -o %t-offload.mlir
// RUN: python3 %S/Inputs/check_contract.py %t-offload.json %t-offload.mlir
// RUN: proteus-opt %examples/strategies/dlrm-table-placement.mlir --lower-strategy --simulate=report=%t-dlrm.json -o %t-dlrm.mlir
// RUN: python3 %S/Inputs/check_contract.py %t-dlrm.json %t-dlrm.mlir
