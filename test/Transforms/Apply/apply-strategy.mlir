// RUN: split-file %s %t
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=2 pp=2 micro-batches=2 recompute=full zero=1 zero-shards=dimensions" | FileCheck %s --check-prefix=GPT
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=2 pp=2 micro-batches=2 recompute=full zero=1 zero-shards=dimensions" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=2 pp=2 micro-batches=2 recompute=full zero=1 zero-shards=dimensions" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=2 zero=2 zero-shards=dimensions micro-batches=2 offload-state=true" | FileCheck %s --check-prefix=STORED
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=2 zero=2 zero-shards=dimensions micro-batches=2 offload-state=true" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=2 zero=2 zero-shards=dimensions micro-batches=2 offload-state=true" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=4 zero=3 zero-shards=dimensions prefetch=2 reshard-after-forward=false offload-weight=true offload-activation=true" | FileCheck %s --check-prefix=FSDP
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=4 zero=3 zero-shards=dimensions prefetch=2 reshard-after-forward=false offload-weight=true offload-activation=true" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=4 zero=3 zero-shards=dimensions prefetch=2 reshard-after-forward=false offload-weight=true offload-activation=true" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 zero=3 zero-shards=dimensions" | FileCheck %s --check-prefix=SHARDED
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 zero=3 zero-shards=dimensions" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 zero=3 zero-shards=dimensions" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --apply-strategy="dp=2 tp=2 pp=2 micro-batches=2 recompute=full zero=1 zero-shards=dimensions" | FileCheck %s --check-prefix=UNROLLED
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --apply-strategy="dp=2 tp=2 pp=2 micro-batches=2 recompute=full zero=1 zero-shards=dimensions" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --apply-strategy="dp=2 tp=2 pp=2 micro-batches=2 recompute=full zero=1 zero-shards=dimensions" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --apply-strategy="tp=4 pp=4 micro-batches=4 schedule=gpipe" | FileCheck %s --check-prefix=FLAT
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --apply-strategy="tp=4 pp=4 micro-batches=4 schedule=gpipe" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --apply-strategy="tp=4 pp=4 micro-batches=4 schedule=gpipe" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/mlp.mlir --apply-strategy="dp=2 tp=2 zero=1 zero-shards=dimensions" | FileCheck %s --check-prefix=MLP
// RUN: proteus-opt %t/mlp.mlir --apply-strategy="dp=2 tp=2 zero=1 zero-shards=dimensions" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/mlp.mlir --apply-strategy="dp=2 tp=2 zero=1 zero-shards=dimensions" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/mlp.mlir --apply-strategy | FileCheck %s --check-prefix=NONE
// RUN: proteus-opt %t/mlp.mlir --apply-strategy --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/mlp.mlir --apply-strategy --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/cnn.mlir --apply-strategy="dp=4 tp=2 zero=3 zero-shards=dimensions name=@hybrid" | FileCheck %s --check-prefix=CNN
// RUN: proteus-opt %t/cnn.mlir --apply-strategy="dp=4 tp=2 zero=3 zero-shards=dimensions name=@hybrid" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/cnn.mlir --apply-strategy="dp=4 tp=2 zero=3 zero-shards=dimensions name=@hybrid" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/fused.mlir --apply-strategy="dp=2 tp=4 zero=1 zero-shards=dimensions" | FileCheck %s --check-prefix=FUSED
// RUN: proteus-opt %t/fused.mlir --apply-strategy="dp=2 tp=4 zero=1 zero-shards=dimensions" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/fused.mlir --apply-strategy="dp=2 tp=4 zero=1 zero-shards=dimensions" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/grouped.mlir --apply-strategy="dp=2 tp=2 pp=2 zero=1 zero-shards=dimensions" | FileCheck %s --check-prefix=GROUPED
// RUN: proteus-opt %t/grouped.mlir --apply-strategy="dp=2 tp=2 pp=2 zero=1 zero-shards=dimensions" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/grouped.mlir --apply-strategy="dp=2 tp=2 pp=2 zero=1 zero-shards=dimensions" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/tied.mlir --apply-strategy="dp=2 tp=2 zero=3 zero-shards=dimensions" | FileCheck %s --check-prefix=TIED
// RUN: proteus-opt %t/tied.mlir --apply-strategy="dp=2 tp=2 zero=3 zero-shards=dimensions" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/tied.mlir --apply-strategy="dp=2 tp=2 zero=3 zero-shards=dimensions" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/uneven.mlir --apply-strategy="dp=2 tp=3 pp=2 zero=3 zero-shards=dimensions" | FileCheck %s --check-prefix=UNEVEN
// RUN: proteus-opt %t/uneven.mlir --apply-strategy="dp=2 tp=3 pp=2 zero=3 zero-shards=dimensions" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/uneven.mlir --apply-strategy="dp=2 tp=3 pp=2 zero=3 zero-shards=dimensions" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 pp=2 micro-batches=2 virtual-stages=2" | FileCheck %s --check-prefix=CHUNKS
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 pp=2 micro-batches=2 virtual-stages=2" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 pp=2 micro-batches=2 virtual-stages=2" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 pp=4 micro-batches=4 schedule=zero-bubble" | FileCheck %s --check-prefix=ZB
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 pp=4 micro-batches=4 schedule=zero-bubble" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 pp=4 micro-batches=4 schedule=zero-bubble" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 pp=2 micro-batches=2 stage-partition=work" | FileCheck %s --check-prefix=WORK2
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 pp=4 micro-batches=4 zero=1 zero-shards=dimensions stage-partition=work" | FileCheck %s --check-prefix=WORK4
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 pp=4 micro-batches=4 zero=1 zero-shards=dimensions stage-partition=work" --check-lowering -verify-diagnostics -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 pp=4 micro-batches=4 zero=1 zero-shards=dimensions stage-partition=work" --lower-strategy --simulate | FileCheck %s --check-prefix=SIMULATED
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --apply-strategy="tp=2 pp=4 micro-batches=4 zero=1 zero-shards=dimensions stage-partition=work" | FileCheck %s --check-prefix=WORK4

// Trees for small models, and the proof by execution that they are lowered right.

// SIMULATED: proteus.iteration_time_ms

// By work. A layer has 24 * 8 + 8 * 8 + 2 * 16 * 8 = 512, the head 12 * 8 = 96, all
// together 2144. Half of it, 1072, is exceeded by the third layer; quarters, 536,
// 1072 and 1608, by the second, the third and the fourth, so that the last stage has
// the head and the loss alone.

// WORK2: node "layers[*]" {
// WORK2-NEXT: stages pp of [3, 1]
// WORK2-NOT: at [
// WORK4: node "layers[*]" {
// WORK4-NEXT: stages pp of [2, 1, 1, 0]
// WORK4: node "head" {
// WORK4-NEXT: at [pp = 3]
// WORK4-NEXT: split op [out -> tp]
// WORK4: node "loss" {
// WORK4-NEXT: at [pp = 3]

// Several chunks per stage are interleaved.

// CHUNKS: strategy.tree @s for @gpt {
// CHUNKS-NEXT:   mesh [pp = 2, dp = 2]
// CHUNKS-NEXT:   schedule micro_batches = 2 order = "interleaved" virtual_stages = 2
// CHUNKS-NEXT:   split op [batch -> dp]
// CHUNKS-NEXT:   node "layers[*]" {
// CHUNKS-NEXT:     stages pp
// CHUNKS-NEXT:   }

// ZB: strategy.tree @s for @gpt {
// ZB-NEXT:   mesh [pp = 4, tp = 2]
// ZB-NEXT:   schedule micro_batches = 4 order = "zero-bubble"

// Everything at once. Rows keep their split in the state; biases have no rows.

// GPT: strategy.tree @s for @gpt {
// GPT-NEXT:   mesh [pp = 2, dp = 2, tp = 2]
// GPT-NEXT:   schedule micro_batches = 2 order = "1f1b"
// GPT-NEXT:   split op [batch -> dp]
// GPT-NEXT:   node "embedding" {
// GPT-NEXT:     split op [vocab -> tp]
// GPT-NEXT:     split state [vocab -> [tp, dp]]
// GPT-NEXT:   }
// GPT-NEXT:   node "layers[*]" {
// GPT-NEXT:     stages pp
// GPT-NEXT:     recompute
// GPT-NEXT:     node "ln_1" {
// GPT-NEXT:       split state [0 -> dp]
// GPT-NEXT:     }
// GPT-NEXT:     node "attention.qkv" {
// GPT-NEXT:       split op [out -> tp]
// GPT-NEXT:       split state [out -> [tp, dp]]
// GPT-NEXT:     }
// GPT-NEXT:     node "attention.proj" {
// GPT-NEXT:       split state [out -> dp, in -> tp]
// GPT-NEXT:     }
// GPT-NEXT:     node "ln_2" {
// GPT-NEXT:       split state [0 -> dp]
// GPT-NEXT:     }
// GPT-NEXT:     node "mlp.up" {
// GPT-NEXT:       split op [out -> tp]
// GPT-NEXT:       split state [out -> [tp, dp]]
// GPT-NEXT:     }
// GPT-NEXT:     node "mlp.down" {
// GPT-NEXT:       split state [out -> dp, in -> tp]
// GPT-NEXT:     }
// GPT-NEXT:   }
// GPT-NEXT:   node "head" {
// GPT-NEXT:     split op [out -> tp]
// GPT-NEXT:     split state [out -> [tp, dp]]
// GPT-NEXT:   }
// GPT-NEXT: }

// Gradients are split as the states are, which lie on the host.

// STORED: strategy.tree @s for @gpt {
// STORED-NEXT:   mesh [dp = 2, tp = 2]
// STORED-NEXT:   schedule micro_batches = 2 order = "1f1b"
// STORED-NEXT:   split op [batch -> dp]
// STORED-NEXT:   offload state
// STORED-NEXT:   node "embedding" {
// STORED-NEXT:     split op [vocab -> tp]
// STORED-NEXT:     split gradient [vocab -> [tp, dp]]
// STORED-NEXT:     split state [vocab -> [tp, dp]]
// STORED-NEXT:   }

// FSDP: strategy.tree @s for @gpt {
// FSDP-NEXT:   mesh [dp = 4]
// FSDP-NEXT:   split op [batch -> dp]
// FSDP-NEXT:   prefetch depth = 2 reshard_after_forward = false
// FSDP-NEXT:   offload weight activation
// FSDP-NEXT:   node "embedding" {
// FSDP-NEXT:     split weight [0 -> dp]
// FSDP-NEXT:     split gradient [0 -> dp]
// FSDP-NEXT:     split state [0 -> dp]
// FSDP-NEXT:   }

// Parameters are split too.

// SHARDED: strategy.tree @s for @gpt {
// SHARDED-NEXT:   mesh [dp = 2, tp = 4]
// SHARDED-NEXT:   split op [batch -> dp]
// SHARDED-NEXT:   node "embedding" {
// SHARDED-NEXT:     split op [vocab -> tp]
// SHARDED-NEXT:     split weight [vocab -> tp, hidden -> dp]
// SHARDED-NEXT:     split gradient [vocab -> tp, hidden -> dp]
// SHARDED-NEXT:     split state [vocab -> tp, hidden -> dp]
// SHARDED-NEXT:   }
// SHARDED-NEXT:   node "layers[*]" {
// SHARDED-NEXT:     node "ln_1" {
// SHARDED-NEXT:       split weight [0 -> dp]
// SHARDED-NEXT:       split gradient [0 -> dp]
// SHARDED-NEXT:       split state [0 -> dp]
// SHARDED-NEXT:     }
// SHARDED-NEXT:     node "attention.qkv" {
// SHARDED-NEXT:       split op [out -> tp]
// SHARDED-NEXT:       split weight [out -> [tp, dp]]
// SHARDED-NEXT:       split gradient [out -> [tp, dp]]
// SHARDED-NEXT:       split state [out -> [tp, dp]]
// SHARDED-NEXT:     }
// SHARDED-NEXT:     node "attention.proj" {
// SHARDED-NEXT:       split weight [out -> dp, in -> tp]
// SHARDED-NEXT:       split gradient [out -> dp, in -> tp]
// SHARDED-NEXT:       split state [out -> dp, in -> tp]
// SHARDED-NEXT:     }
// SHARDED-NEXT:     node "ln_2" {
// SHARDED-NEXT:       split weight [0 -> dp]
// SHARDED-NEXT:       split gradient [0 -> dp]
// SHARDED-NEXT:       split state [0 -> dp]
// SHARDED-NEXT:     }
// SHARDED-NEXT:     node "mlp.up" {
// SHARDED-NEXT:       split op [out -> tp]
// SHARDED-NEXT:       split weight [out -> [tp, dp]]
// SHARDED-NEXT:       split gradient [out -> [tp, dp]]
// SHARDED-NEXT:       split state [out -> [tp, dp]]
// SHARDED-NEXT:     }
// SHARDED-NEXT:     node "mlp.down" {
// SHARDED-NEXT:       split weight [out -> dp, in -> tp]
// SHARDED-NEXT:       split gradient [out -> dp, in -> tp]
// SHARDED-NEXT:       split state [out -> dp, in -> tp]
// SHARDED-NEXT:     }
// SHARDED-NEXT:   }
// SHARDED-NEXT:   node "head" {
// SHARDED-NEXT:     split op [out -> tp]
// SHARDED-NEXT:     split weight [out -> tp, in -> dp]
// SHARDED-NEXT:     split gradient [out -> tp, in -> dp]
// SHARDED-NEXT:     split state [out -> tp, in -> dp]
// SHARDED-NEXT:   }
// SHARDED-NEXT: }

// Layers that are written out are treated as one.

// UNROLLED: strategy.tree @s for @gpt {
// UNROLLED-NEXT:   mesh [pp = 2, dp = 2, tp = 2]
// UNROLLED-NEXT:   schedule micro_batches = 2 order = "1f1b"
// UNROLLED-NEXT:   split op [batch -> dp]
// UNROLLED-NEXT:   node "embedding" {
// UNROLLED-NEXT:     split op [vocab -> tp]
// UNROLLED-NEXT:     split state [vocab -> [tp, dp]]
// UNROLLED-NEXT:   }
// UNROLLED-NEXT:   node "layers[*]" {
// UNROLLED-NEXT:     stages pp
// UNROLLED-NEXT:     recompute
// UNROLLED-NEXT:     node "ln_1" {
// UNROLLED-NEXT:       split state [0 -> dp]
// UNROLLED-NEXT:     }
// UNROLLED-NEXT:     node "attention.qkv" {
// UNROLLED-NEXT:       split op [out -> tp]
// UNROLLED-NEXT:       split state [out -> [tp, dp]]
// UNROLLED-NEXT:     }
// UNROLLED-NEXT:     node "attention.proj" {
// UNROLLED-NEXT:       split state [out -> dp, in -> tp]
// UNROLLED-NEXT:     }
// UNROLLED-NEXT:     node "ln_2" {
// UNROLLED-NEXT:       split state [0 -> dp]
// UNROLLED-NEXT:     }
// UNROLLED-NEXT:     node "mlp.up" {
// UNROLLED-NEXT:       split op [out -> tp]
// UNROLLED-NEXT:       split state [out -> [tp, dp]]
// UNROLLED-NEXT:     }
// UNROLLED-NEXT:     node "mlp.down" {
// UNROLLED-NEXT:       split state [out -> dp, in -> tp]
// UNROLLED-NEXT:     }
// UNROLLED-NEXT:   }
// UNROLLED-NEXT:   node "head" {
// UNROLLED-NEXT:     split op [out -> tp]
// UNROLLED-NEXT:     split state [out -> [tp, dp]]
// UNROLLED-NEXT:   }
// UNROLLED-NEXT: }

// No data parallelism; one layer per stage.

// FLAT: strategy.tree @s for @gpt {
// FLAT-NEXT:   mesh [pp = 4, tp = 4]
// FLAT-NEXT:   schedule micro_batches = 4 order = "gpipe"
// FLAT-NEXT:   node "embedding" {
// FLAT-NEXT:     split op [vocab -> tp]
// FLAT-NEXT:   }
// FLAT-NEXT:   node "layers[*]" {
// FLAT-NEXT:     stages pp
// FLAT-NEXT:     node "attention.qkv" {
// FLAT-NEXT:       split op [out -> tp]
// FLAT-NEXT:     }
// FLAT-NEXT:     node "mlp.up" {
// FLAT-NEXT:       split op [out -> tp]
// FLAT-NEXT:     }
// FLAT-NEXT:   }
// FLAT-NEXT:   node "head" {
// FLAT-NEXT:     split op [out -> tp]
// FLAT-NEXT:   }
// FLAT-NEXT: }

// Columns, rows, and columns again for the logits. What is too small for both
// axes is split along its other dimension.

// MLP: strategy.tree @s for @mlp {
// MLP-NEXT:   mesh [dp = 2, tp = 2]
// MLP-NEXT:   split op [batch -> dp]
// MLP-NEXT:   node "fc1" {
// MLP-NEXT:     split op [out -> tp]
// MLP-NEXT:     split state [out -> [tp, dp]]
// MLP-NEXT:   }
// MLP-NEXT:   node "fc2" {
// MLP-NEXT:     split state [out -> dp, in -> tp]
// MLP-NEXT:   }
// MLP-NEXT:   node "fc3" {
// MLP-NEXT:     split op [out -> tp]
// MLP-NEXT:     split state [out -> tp, in -> dp]
// MLP-NEXT:   }
// MLP-NEXT: }

// No degrees: a tree to start from.

// NONE: strategy.tree @s for @mlp {
// NONE-NEXT:   mesh [dp = 1]
// NONE-NEXT:   split op [batch -> dp]
// NONE-NEXT: }

// Convolutions follow the batch, the classifier is split.

// CNN: strategy.tree @hybrid for @cnn {
// CNN-NEXT:   mesh [dp = 4, tp = 2]
// CNN-NEXT:   split op [batch -> dp]
// CNN-NEXT:   node "conv" {
// CNN-NEXT:     split weight [0 -> dp]
// CNN-NEXT:     split gradient [0 -> dp]
// CNN-NEXT:     split state [0 -> dp]
// CNN-NEXT:   }
// CNN-NEXT:   node "classifier.fc1" {
// CNN-NEXT:     split op [out -> tp]
// CNN-NEXT:     split weight [out -> [tp, dp]]
// CNN-NEXT:     split gradient [out -> [tp, dp]]
// CNN-NEXT:     split state [out -> [tp, dp]]
// CNN-NEXT:   }
// CNN-NEXT:   node "classifier.fc2" {
// CNN-NEXT:     split weight [out -> dp, in -> tp]
// CNN-NEXT:     split gradient [out -> dp, in -> tp]
// CNN-NEXT:     split state [out -> dp, in -> tp]
// CNN-NEXT:   }
// CNN-NEXT: }

// A fused projection that is not ordered by heads stays whole; the attention
// is told to split.

// FUSED: strategy.tree @s for @fused {
// FUSED-NEXT:   mesh [dp = 2, tp = 4]
// FUSED-NEXT:   split op [batch -> dp]
// FUSED-NEXT:   node "qkv" {
// FUSED-NEXT:     split state [out -> dp]
// FUSED-NEXT:   }
// FUSED-NEXT:   node "core" {
// FUSED-NEXT:     split op [head -> tp]
// FUSED-NEXT:   }
// FUSED-NEXT:   node "proj" {
// FUSED-NEXT:     split state [out -> dp, in -> tp]
// FUSED-NEXT:   }
// FUSED-NEXT: }

// Linears of their own for query, key and value, heads that share keys,
// repeats inside repeats.

// GROUPED: strategy.tree @s for @grouped {
// GROUPED-NEXT:   mesh [pp = 2, dp = 2, tp = 2]
// GROUPED-NEXT:   schedule micro_batches = 1 order = "1f1b"
// GROUPED-NEXT:   split op [batch -> dp]
// GROUPED-NEXT:   node "outer[*]" {
// GROUPED-NEXT:     stages pp
// GROUPED-NEXT:     node "inner[*].q" {
// GROUPED-NEXT:       split op [out -> tp]
// GROUPED-NEXT:       split state [out -> [tp, dp]]
// GROUPED-NEXT:     }
// GROUPED-NEXT:     node "inner[*].k" {
// GROUPED-NEXT:       split op [out -> tp]
// GROUPED-NEXT:       split state [out -> [tp, dp]]
// GROUPED-NEXT:     }
// GROUPED-NEXT:     node "inner[*].v" {
// GROUPED-NEXT:       split op [out -> tp]
// GROUPED-NEXT:       split state [out -> [tp, dp]]
// GROUPED-NEXT:     }
// GROUPED-NEXT:     node "inner[*].proj" {
// GROUPED-NEXT:       split state [out -> dp, in -> tp]
// GROUPED-NEXT:     }
// GROUPED-NEXT:   }
// GROUPED-NEXT: }

// The first reader of a parameter says how it is stored.

// TIED: strategy.tree @s for @tied {
// TIED-NEXT:   mesh [dp = 2, tp = 2]
// TIED-NEXT:   split op [batch -> dp]
// TIED-NEXT:   node "embedding" {
// TIED-NEXT:     split op [vocab -> tp]
// TIED-NEXT:     split weight [vocab -> [tp, dp]]
// TIED-NEXT:     split gradient [vocab -> [tp, dp]]
// TIED-NEXT:     split state [vocab -> [tp, dp]]
// TIED-NEXT:   }
// TIED-NEXT:   node "ln" {
// TIED-NEXT:     split weight [0 -> dp]
// TIED-NEXT:     split gradient [0 -> dp]
// TIED-NEXT:     split state [0 -> dp]
// TIED-NEXT:   }
// TIED-NEXT:   node "head" {
// TIED-NEXT:     split op [out -> tp]
// TIED-NEXT:   }
// TIED-NEXT: }

// Layers that differ are named one by one.

// UNEVEN: strategy.tree @s for @uneven {
// UNEVEN-NEXT:   mesh [pp = 2, dp = 2, tp = 3]
// UNEVEN-NEXT:   schedule micro_batches = 1 order = "1f1b"
// UNEVEN-NEXT:   split op [batch -> dp]
// UNEVEN-NEXT:   node "blocks[*]" {
// UNEVEN-NEXT:     stages pp
// UNEVEN-NEXT:   }
// UNEVEN-NEXT:   node "blocks[0].a" {
// UNEVEN-NEXT:     split op [out -> tp]
// UNEVEN-NEXT:     split weight [out -> [tp, dp]]
// UNEVEN-NEXT:     split gradient [out -> [tp, dp]]
// UNEVEN-NEXT:     split state [out -> [tp, dp]]
// UNEVEN-NEXT:   }
// UNEVEN-NEXT:   node "blocks[1].a" {
// UNEVEN-NEXT:     split weight [out -> dp]
// UNEVEN-NEXT:     split gradient [out -> dp]
// UNEVEN-NEXT:     split state [out -> dp]
// UNEVEN-NEXT:   }
// UNEVEN-NEXT:   node "blocks[0].b" {
// UNEVEN-NEXT:     split weight [out -> dp, in -> tp]
// UNEVEN-NEXT:     split gradient [out -> dp, in -> tp]
// UNEVEN-NEXT:     split state [out -> dp, in -> tp]
// UNEVEN-NEXT:   }
// UNEVEN-NEXT:   node "blocks[1].b" {
// UNEVEN-NEXT:     split weight [out -> dp]
// UNEVEN-NEXT:     split gradient [out -> dp]
// UNEVEN-NEXT:     split state [out -> dp]
// UNEVEN-NEXT:   }
// UNEVEN-NEXT: }

//--- gpt.mlir

// A small GPT; with --unroll-repeats, every layer is written out.
module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @gpt(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %s: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %g2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %s2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %wq: tensor<4x24x8xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %bq: tensor<4x24xf32> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
      %wp: tensor<4x8x8xf32> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %w1: tensor<4x16x8xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %b1: tensor<4x16xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.up.bias"},
      %w2: tensor<4x8x16xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %b2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "layers[*].mlp.down.bias"},
      %wh: tensor<12x8xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %x = nn.embedding "embedding"(%ids, %wte) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %y = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4x8xf32>)
        slice(%g_i = %g : tensor<4x8xf32> to tensor<8xf32>,
              %s_i = %s : tensor<4x8xf32> to tensor<8xf32>,
              %g2_i = %g2 : tensor<4x8xf32> to tensor<8xf32>,
              %s2_i = %s2 : tensor<4x8xf32> to tensor<8xf32>,
              %wq_i = %wq : tensor<4x24x8xf32> to tensor<24x8xf32>,
              %bq_i = %bq : tensor<4x24xf32> to tensor<24xf32>,
              %wp_i = %wp : tensor<4x8x8xf32> to tensor<8x8xf32>,
              %w1_i = %w1 : tensor<4x16x8xf32> to tensor<16x8xf32>,
              %b1_i = %b1 : tensor<4x16xf32> to tensor<16xf32>,
              %w2_i = %w2 : tensor<4x8x16xf32> to tensor<8x16xf32>,
              %b2_i = %b2 : tensor<4x8xf32> to tensor<8xf32>)
        -> (tensor<8x4x8xf32>) {
      %n = nn.layer_norm "ln_1"(%h, %g_i, %s_i) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %qkv = nn.linear "attention.qkv"(%n, %wq_i, %bq_i) : (tensor<8x4x8xf32>, tensor<24x8xf32>, tensor<24xf32>) -> tensor<8x4x24xf32>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 4 : i64} : (tensor<8x4x24xf32>) -> (tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>)
      %a, %rows = nn.attention "attention.core"(%q, %k, %v) {heads = 4 : i64, causal} : (tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> (tensor<8x4x8xf32>, tensor<8x4x4xf32>)
      %p = nn.linear "attention.proj"(%a, %wp_i) : (tensor<8x4x8xf32>, tensor<8x8xf32>) -> tensor<8x4x8xf32>
      %r = nn.add "residual_1"(%h, %p) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      %m = nn.layer_norm "ln_2"(%r, %g2_i, %s2_i) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %f = nn.linear "mlp.up"(%m, %w1_i, %b1_i) : (tensor<8x4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<8x4x16xf32>
      %act = nn.gelu "mlp.act"(%f) : (tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
      %d = nn.linear "mlp.down"(%act, %w2_i, %b2_i) : (tensor<8x4x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
      %o = nn.add "residual_2"(%r, %d) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
      nn.yield %o : tensor<8x4x8xf32>
    }
    %z = nn.linear "head"(%y, %wh) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
}

//--- mlp.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @mlp(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w1: tensor<12x8xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<8x12xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %b2: tensor<8xf32> {nn.role = "parameter", nn.path = "fc2.bias"},
      %w3: tensor<3x8xf32> {nn.role = "parameter", nn.path = "fc3.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<8x8xf32>, tensor<12x8xf32>) -> tensor<8x12xf32>
    %1 = nn.relu "act1"(%0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %2, %mask = nn.dropout "drop"(%1) {probability = 0.1 : f64, seed = 7 : i64} : (tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8x12xi8>)
    %3 = nn.linear "fc2"(%2, %w2, %b2) : (tensor<8x12xf32>, tensor<8x12xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %4 = nn.relu "act2"(%3) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %5 = nn.linear "fc3"(%4, %w3) : (tensor<8x8xf32>, tensor<3x8xf32>) -> tensor<8x3xf32>
    %loss, %lse = nn.cross_entropy "loss"(%5, %t) : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
}

//--- cnn.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @cnn(
      %x: tensor<8x3x6x6xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %k: tensor<4x3x3x3xf32> {nn.role = "parameter", nn.path = "conv.weight"},
      %b: tensor<4xf32> {nn.role = "parameter", nn.path = "conv.bias"},
      %w1: tensor<8x36xf32> {nn.role = "parameter", nn.path = "classifier.fc1.weight"},
      %w2: tensor<4x8xf32> {nn.role = "parameter", nn.path = "classifier.fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.conv2d "conv"(%x, %k, %b) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x3x6x6xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<8x4x6x6xf32>
    %1 = nn.relu "act"(%0) : (tensor<8x4x6x6xf32>) -> tensor<8x4x6x6xf32>
    %2 = nn.pool2d "pool" max(%1) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x4x6x6xf32>) -> tensor<8x4x3x3xf32>
    %3 = nn.reshape "flatten"(%2) : (tensor<8x4x3x3xf32>) -> tensor<8x36xf32>
    %4 = nn.linear "classifier.fc1"(%3, %w1) : (tensor<8x36xf32>, tensor<8x36xf32>) -> tensor<8x8xf32>
    %5 = nn.relu "classifier.act"(%4) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %6 = nn.linear "classifier.fc2"(%5, %w2) : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
    %loss, %lse = nn.cross_entropy "loss"(%6, %t) : (tensor<8x4xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
}

//--- fused.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @fused(
      %x: tensor<8x4x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wq: tensor<24x8xf32> {nn.role = "parameter", nn.path = "qkv.weight"},
      %wp: tensor<8x8xf32> {nn.role = "parameter", nn.path = "proj.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %qkv = nn.linear "qkv"(%x, %wq) : (tensor<8x4x8xf32>, tensor<24x8xf32>) -> tensor<8x4x24xf32>
    %q, %k, %v = nn.split "split"(%qkv) : (tensor<8x4x24xf32>) -> (tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>)
    %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64} : (tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> (tensor<8x4x8xf32>, tensor<8x4x4xf32>)
    %p = nn.linear "proj"(%a, %wp) : (tensor<8x4x8xf32>, tensor<8x8xf32>) -> tensor<8x4x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%p, %t) : (tensor<8x4x8xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
}

//--- grouped.mlir

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @grouped(
      %x: tensor<8x4x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %wq: tensor<2x2x8x8xf32> {nn.role = "parameter", nn.path = "outer[*].inner[*].q.weight"},
      %wk: tensor<2x2x4x8xf32> {nn.role = "parameter", nn.path = "outer[*].inner[*].k.weight"},
      %wv: tensor<2x2x4x8xf32> {nn.role = "parameter", nn.path = "outer[*].inner[*].v.weight"},
      %wp: tensor<2x2x8x8xf32> {nn.role = "parameter", nn.path = "outer[*].inner[*].proj.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %y = nn.repeat "outer" count 2 carry(%h = %x : tensor<8x4x8xf32>)
        slice(%wq_o = %wq : tensor<2x2x8x8xf32> to tensor<2x8x8xf32>,
              %wk_o = %wk : tensor<2x2x4x8xf32> to tensor<2x4x8xf32>,
              %wv_o = %wv : tensor<2x2x4x8xf32> to tensor<2x4x8xf32>,
              %wp_o = %wp : tensor<2x2x8x8xf32> to tensor<2x8x8xf32>) -> (tensor<8x4x8xf32>) {
      %z = nn.repeat "inner" count 2 carry(%i = %h : tensor<8x4x8xf32>)
          slice(%wq_i = %wq_o : tensor<2x8x8xf32> to tensor<8x8xf32>,
                %wk_i = %wk_o : tensor<2x4x8xf32> to tensor<4x8xf32>,
                %wv_i = %wv_o : tensor<2x4x8xf32> to tensor<4x8xf32>,
                %wp_i = %wp_o : tensor<2x8x8xf32> to tensor<8x8xf32>) -> (tensor<8x4x8xf32>) {
        %q = nn.linear "q"(%i, %wq_i) : (tensor<8x4x8xf32>, tensor<8x8xf32>) -> tensor<8x4x8xf32>
        %k = nn.linear "k"(%i, %wk_i) : (tensor<8x4x8xf32>, tensor<4x8xf32>) -> tensor<8x4x4xf32>
        %v = nn.linear "v"(%i, %wv_i) : (tensor<8x4x8xf32>, tensor<4x8xf32>) -> tensor<8x4x4xf32>
        %a, %rows = nn.attention "core"(%q, %k, %v) {heads = 4 : i64, kv_heads = 2 : i64} : (tensor<8x4x8xf32>, tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x8xf32>, tensor<8x4x4xf32>)
        %p = nn.linear "proj"(%a, %wp_i) : (tensor<8x4x8xf32>, tensor<8x8xf32>) -> tensor<8x4x8xf32>
        %r = nn.add "residual"(%i, %p) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
        nn.yield %r : tensor<8x4x8xf32>
      }
      nn.yield %z : tensor<8x4x8xf32>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<8x4x8xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
}

//--- tied.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  // expected-remark @below {{lowering is right}}
  func.func @tied(
      %ids: tensor<8x4xi32> {nn.role = "input", nn.path = "ids"},
      %t: tensor<8x4xi32> {nn.role = "input", nn.path = "labels"},
      %w: tensor<12x8xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %g: tensor<8xf32> {nn.role = "parameter", nn.path = "ln.scale"},
      %s: tensor<8xf32> {nn.role = "parameter", nn.path = "ln.shift"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %x = nn.embedding "embedding"(%ids, %w) : (tensor<8x4xi32>, tensor<12x8xf32>) -> tensor<8x4x8xf32>
    %n = nn.layer_norm "ln"(%x, %g, %s) : (tensor<8x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x4x8xf32>
    %z = nn.linear "head"(%n, %w) : (tensor<8x4x8xf32>, tensor<12x8xf32>) -> tensor<8x4x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%z, %t) : (tensor<8x4x12xf32>, tensor<8x4xi32>) -> (tensor<f32>, tensor<8x4xf32>)
    return %loss : tensor<f32>
  }
}

//--- uneven.mlir

module attributes {proteus.cluster = "dgx-a100:2"} {
  // expected-remark @below {{lowering is right}}
  func.func @uneven(
      %x: tensor<8x8xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<8xi32> {nn.role = "input", nn.path = "labels"},
      %w0: tensor<6x8xf32> {nn.role = "parameter", nn.path = "blocks[0].a.weight"},
      %v0: tensor<8x6xf32> {nn.role = "parameter", nn.path = "blocks[0].b.weight"},
      %w1: tensor<2x8xf32> {nn.role = "parameter", nn.path = "blocks[1].a.weight"},
      %v1: tensor<8x2xf32> {nn.role = "parameter", nn.path = "blocks[1].b.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = momentum>} {
    %0 = nn.linear "blocks[0].a"(%x, %w0) : (tensor<8x8xf32>, tensor<6x8xf32>) -> tensor<8x6xf32>
    %1 = nn.linear "blocks[0].b"(%0, %v0) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x8xf32>
    %2 = nn.add "blocks[0].sum"(%x, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = nn.linear "blocks[1].a"(%2, %w1) : (tensor<8x8xf32>, tensor<2x8xf32>) -> tensor<8x2xf32>
    %4 = nn.linear "blocks[1].b"(%3, %v1) : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
    %5 = nn.add "blocks[1].sum"(%2, %4) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %loss, %lse = nn.cross_entropy "loss"(%5, %t) : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
    return %loss : tensor<f32>
  }
}
