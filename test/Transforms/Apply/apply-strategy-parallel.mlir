// Sequence, context and expert parallelism, and selective recomputation, of the
// models of the examples without their trees.

// RUN: rm -rf %t && mkdir %t
// RUN: sed '/strategy.tree/,$d' %examples/strategies/sequence-parallel.mlir > %t/gpt.mlir
// RUN: echo '}' >> %t/gpt.mlir
// RUN: sed '/strategy.tree/,$d' %examples/strategies/moe-ep.mlir > %t/moe.mlir
// RUN: echo '}' >> %t/moe.mlir
// RUN: sed '/strategy.tree/,$d' %examples/strategies/recompute-selective.mlir > %t/selective.mlir
// RUN: echo '}' >> %t/selective.mlir
// RUN: sed '/strategy.tree/,$d' %examples/strategies/unfused-attention-tp.mlir > %t/unfused.mlir
// RUN: echo '}' >> %t/unfused.mlir

// Sequence parallelism. The vocabulary stays on tp; all else is split along the
// sequence up to the linears by columns.
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 sp=true" | FileCheck %s --check-prefix=SP
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 sp=true" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 sp=true pp=2 micro-batches=2 zero=1 zero-shards=dimensions" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// SP: strategy.tree @s for @gpt {
// SP-NEXT:   mesh [dp = 2, tp = 4]
// SP-NEXT:   split op [batch -> dp]
// SP-NEXT:   node "embedding" {
// SP-NEXT:     split op [vocab -> tp]
// SP-NEXT:   }
// SP-NEXT:   node "position" {
// SP-NEXT:     split op [seq -> tp]
// SP-NEXT:   }
// SP-NEXT:   node "layers[*]" {
// SP-NEXT:     node "ln_1" {
// SP-NEXT:       split op [seq -> tp]
// SP-NEXT:     }
// SP-NEXT:     node "attention.qkv" {
// SP-NEXT:       split op [out -> tp]
// SP-NEXT:     }
// SP-NEXT:     node "attention.proj" {
// SP-NEXT:       split op [in -> tp]
// SP-NEXT:     }
// SP-NEXT:     node "dropout" {
// SP-NEXT:       split op [seq -> tp]
// SP-NEXT:     }
// SP-NEXT:     node "residual_1" {
// SP-NEXT:       split op [seq -> tp]
// SP-NEXT:     }
// SP-NEXT:     node "ln_2" {
// SP-NEXT:       split op [seq -> tp]
// SP-NEXT:     }
// SP-NEXT:     node "mlp.fc1" {
// SP-NEXT:       split op [out -> tp]
// SP-NEXT:     }
// SP-NEXT:     node "mlp.fc2" {
// SP-NEXT:       split op [in -> tp]
// SP-NEXT:     }
// SP-NEXT:     node "residual_2" {
// SP-NEXT:       split op [seq -> tp]
// SP-NEXT:     }
// SP-NEXT:   }
// SP-NEXT:   node "ln_f" {
// SP-NEXT:     split op [seq -> tp]
// SP-NEXT:   }
// SP-NEXT:   node "head" {
// SP-NEXT:     split op [out -> tp]
// SP-NEXT:   }
// SP-NEXT: }

// Without the vocabulary, the collectives of the layers are those of the example:
// no sum over tp is left whole.
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 sp=true" --lower-strategy | sed -n '/nn.repeat/,/nn.yield/p' | grep -o 'dist\.[a-z]*_[a-z]* ' > %t/sp.preset
// RUN: proteus-opt %examples/strategies/sequence-parallel.mlir --lower-strategy | sed -n '/nn.repeat/,/nn.yield/p' | grep -o 'dist\.[a-z]*_[a-z]* ' > %t/sp.example
// RUN: diff %t/sp.preset %t/sp.example

// Kept gathered: the same without the gathers of the backward pass for the gradients
// of linears, two in a layer and that of the head; what is left are those of the
// gradients themselves.
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 sp=true keep-gathered=true" | FileCheck %s --check-prefix=KEPT
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 sp=true keep-gathered=true" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --apply-strategy="dp=2 tp=4 sp=true keep-gathered=true" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 sp=true pp=2 micro-batches=2 zero=1 zero-shards=dimensions keep-gathered=true" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 sp=true recompute=full keep-gathered=true" | grep -c 'split input' | FileCheck %s --check-prefix=HEADONLY
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="tp=2 sp=true recompute=full keep-gathered=true" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// HEADONLY: 1
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 sp=true" --lower-strategy | grep -c 'dist.all_gather' | FileCheck %s --check-prefix=NINE
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 tp=4 sp=true keep-gathered=true" --lower-strategy | grep -c 'dist.all_gather' | FileCheck %s --check-prefix=SIX
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="cp=2 tp=2 sp=true keep-gathered=true" 2>&1 | FileCheck %s --check-prefix=KEPTCP
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="cp=2 tp=2 sp=true keep-gathered=true" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// KEPT: node "attention.qkv" {
// KEPT-NEXT: split op [out -> tp]
// KEPT-NEXT: split input 0 [seq -> []]
// KEPT: node "mlp.fc1" {
// KEPT-NEXT: split op [out -> tp]
// KEPT-NEXT: split input 0 [seq -> []]
// KEPT: node "head" {
// KEPT-NEXT: split op [out -> tp]
// KEPT-NEXT: split input 0 [seq -> []]
// KEPTCP: node "mlp.fc1" {
// KEPTCP: split input 0 [seq -> cp]
// NINE: 9
// SIX: 6

// Context parallelism. Keys go round: the same programs as those of the example.
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 cp=4 cp-kind=ring" | FileCheck %s --check-prefix=RING
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 cp=4 cp-kind=ring" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: sed '/strategy.tree/,$d' %examples/strategies/cp-ring-zigzag.mlir > %t/ring.mlir
// RUN: echo '}' >> %t/ring.mlir
// RUN: proteus-opt %t/ring.mlir --apply-strategy="dp=2 cp=4 cp-kind=ring" --lower-strategy > %t/ring.preset
// RUN: proteus-opt %examples/strategies/cp-ring-zigzag.mlir --lower-strategy > %t/ring.example
// RUN: diff %t/ring.preset %t/ring.example

// RING: strategy.tree @s for @gpt {
// RING-NEXT:   mesh [dp = 2, cp = 4]
// RING-NEXT:   split op [batch -> dp, seq -> zigzag cp]
// RING-NEXT:   node "layers[*]" {
// RING-NEXT:     node "attention.core" {
// RING-NEXT:       split op [key -> ring zigzag cp]
// RING-NEXT:     }
// RING-NEXT:   }
// RING-NEXT: }

// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 cp=4" | FileCheck %s --check-prefix=GATHER
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 cp=4 zero=3 zero-shards=dimensions" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// GATHER: mesh [dp = 2, cp = 4]
// GATHER-NEXT: split op [batch -> dp, seq -> zigzag cp]
// GATHER-NEXT: }

// By heads, those of tp cut further.
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 cp=2 tp=2 cp-kind=ulysses" | FileCheck %s --check-prefix=ULYSSES
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="dp=2 cp=2 tp=2 cp-kind=ulysses" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: sed '/strategy.tree/,$d' %examples/strategies/cp-ulysses.mlir > %t/ulysses.mlir
// RUN: echo '}' >> %t/ulysses.mlir
// RUN: proteus-opt %t/ulysses.mlir --apply-strategy="dp=2 cp=4 cp-kind=ulysses" --lower-strategy > %t/ulysses.preset
// RUN: proteus-opt %examples/strategies/cp-ulysses.mlir --lower-strategy > %t/ulysses.example
// RUN: diff %t/ulysses.preset %t/ulysses.example

// ULYSSES: mesh [dp = 2, cp = 2, tp = 2]
// ULYSSES-NEXT: split op [batch -> dp, seq -> cp]
// ULYSSES: node "attention.core" {
// ULYSSES-NEXT: split op [head -> [tp, cp], seq -> []]

// Along the sequence over both: parts of a zigzag are cut into those of a finer one.
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="cp=2 tp=2 sp=true cp-kind=ring zero=1 zero-shards=dimensions" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="cp=2 tp=2 sp=true cp-kind=ring zero=1 zero-shards=dimensions" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// BOTH-NOT: remark
// BOTH: mesh [cp = 2, tp = 2]
// BOTH-NEXT: split op [seq -> zigzag cp]
// BOTH: node "ln_1" {
// BOTH-NEXT: split op [seq -> zigzag [cp, tp]]
// BOTH-NEXT: split state [0 -> cp]
// BOTH: node "attention.core" {
// BOTH-NEXT: split op [key -> ring zigzag cp]
// RUN: proteus-opt %t/gpt.mlir --apply-strategy="cp=4 tp=4 sp=true cp-kind=ring" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FINER
// FINER: remark: causal attention is split over cp in contiguous parts, and the last part has the most work: a zigzag needs sequences that 2 * cp * tp divides

// Expert parallelism: the same programs as those of the example.
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=8 ep=4 micro-batches=2" | FileCheck %s --check-prefix=EP
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=8 ep=4 micro-batches=2" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=8 ep=4 micro-batches=2" --lower-strategy > %t/moe.preset
// RUN: proteus-opt %examples/strategies/moe-ep.mlir --lower-strategy > %t/moe.example
// RUN: diff %t/moe.preset %t/moe.example

// EP: strategy.tree @s for @moe {
// EP-NEXT:   mesh [dp = 2, ep = 4]
// EP-NEXT:   schedule micro_batches = 2 order = "1f1b"
// EP-NEXT:   split op [batch -> [dp, ep]]
// EP-NEXT:   node "layers[*]" {
// EP-NEXT:     node "moe.experts.fc1" {
// EP-NEXT:       split op [batch -> dp, expert -> ep]
// EP-NEXT:     }
// EP-NEXT:     node "moe.experts.act" {
// EP-NEXT:       split op [batch -> dp]
// EP-NEXT:     }
// EP-NEXT:     node "moe.experts.fc2" {
// EP-NEXT:       split op [batch -> dp, expert -> ep]
// EP-NEXT:     }
// EP-NEXT:   }
// EP-NEXT: }

// Experts have copies on dp alone, the rest on dp and ep.
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=4 ep=2 tp=2 micro-batches=2 zero=1 zero-shards=dimensions" | FileCheck %s --check-prefix=ETP
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=4 ep=2 tp=2 micro-batches=2 zero=1 zero-shards=dimensions" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=2 ep=2 tp=2 sp=true cp=2 zero=3 zero-shards=dimensions" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=4 ep=4 pp=2 micro-batches=2 recompute=full" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT

// Whole experts on the devices of tp: what tp has in common is dealt out.
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=4 ep=4 tp=2 etp=1 zero=1 zero-shards=dimensions" | FileCheck %s --check-prefix=WHOLE
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=4 ep=4 tp=2 etp=1 zero=1 zero-shards=dimensions" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/moe.mlir --apply-strategy="tp=4 ep=4 etp=1 sp=true" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=2 ep=4 cp=2 tp=2 sp=true etp=1 zero=3 zero-shards=dimensions" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not proteus-opt %t/moe.mlir --apply-strategy="dp=4 ep=16 tp=4 etp=1" 2>&1 | FileCheck %s --check-prefix=PLACES
// RUN: not proteus-opt %t/moe.mlir --apply-strategy="dp=4 ep=4 tp=4 etp=2" 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not proteus-opt %t/gpt.mlir --apply-strategy="tp=4 ep=4 etp=1" 2>&1 | FileCheck %s --check-prefix=NOEXPERTS
// WHOLE: node "moe.dispatch" {
// WHOLE-NEXT: split op [expert -> tp]
// WHOLE: node "moe.experts.fc1" {
// WHOLE-NEXT: split op [batch -> dp, expert -> [tp, ep]]
// WHOLE-NEXT: split state [expert -> [tp, ep], out -> dp]
// WHOLE: node "moe.combine" {
// WHOLE-NEXT: split op [expert -> tp]
// PLACES: has 8 experts, fewer than ep=16; use ep=8 or less
// HALF: etp=2: an expert is cut into tp=4 parts or left whole; use etp=1, or leave it out
// NOEXPERTS: has no experts to split into ep=4 parts: there is no nn.expert_linear; use ep=1 and leave etp out

// Slots of experts are shared out over cp: its devices do not compute the same.
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=2 ep=2 cp=2" | FileCheck %s --check-prefix=SLOTS
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=2 ep=2 cp=2 cp-kind=ring" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/moe.mlir --apply-strategy="dp=2 cp=4" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// SLOTS: node "moe.dispatch" {
// SLOTS-NEXT: split op [slot -> cp]
// SLOTS: node "moe.experts.fc1" {
// SLOTS-NEXT: split op [slot -> cp, batch -> [], expert -> ep]
// SLOTS: node "moe.combine" {
// SLOTS-NEXT: split op [slot -> cp, seq -> []]

// ETP: node "attention.qkv" {
// ETP-NEXT: split op [out -> tp]
// ETP-NEXT: split state [out -> [tp, dp, ep]]
// ETP: node "moe.experts.fc1" {
// ETP-NEXT: split op [out -> tp, batch -> dp, expert -> ep]
// ETP-NEXT: split state [expert -> ep, out -> [tp, dp]]
// ETP: node "moe.experts.fc2" {
// ETP-NEXT: split op [batch -> dp, expert -> ep]
// ETP-NEXT: split state [expert -> ep, out -> dp, in -> tp]

// RUN: proteus-opt %t/selective.mlir --apply-strategy="tp=4 micro-batches=2 recompute=selective" | FileCheck %s --check-prefix=SELECTIVE
// RUN: proteus-opt %t/selective.mlir --apply-strategy="tp=4 micro-batches=2 recompute=selective" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/selective.mlir --apply-strategy="tp=4 micro-batches=2 recompute=selective" --lower-strategy > %t/selective.preset
// RUN: proteus-opt %examples/strategies/recompute-selective.mlir --lower-strategy > %t/selective.example
// RUN: diff %t/selective.preset %t/selective.example

// SELECTIVE: node "attention.core" {
// SELECTIVE-NEXT: recompute
// SELECTIVE-NEXT: }

// Attention written out is split by heads, if these can be dealt out.
// RUN: proteus-opt %t/unfused.mlir --apply-strategy="dp=2 tp=4" | FileCheck %s --check-prefix=UNFUSED
// RUN: proteus-opt %t/unfused.mlir --apply-strategy="dp=2 tp=4" --check-lowering -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: proteus-opt %t/unfused.mlir --apply-strategy="tp=8" | FileCheck %s --check-prefix=FEWHEADS
// UNFUSED:      node "layers[*]" {
// UNFUSED-NEXT:   node "attention.q" {
// UNFUSED-NEXT:     split op [out -> tp]
// UNFUSED-NEXT:   }
// UNFUSED-NEXT:   node "attention.k" {
// UNFUSED-NEXT:     split op [out -> tp]
// UNFUSED-NEXT:   }
// UNFUSED-NEXT:   node "attention.v" {
// UNFUSED-NEXT:     split op [out -> tp]
// UNFUSED-NEXT:   }
// UNFUSED-NEXT:   node "mlp.fc1" {
// FEWHEADS:      node "layers[*]" {
// FEWHEADS-NEXT:   node "mlp.fc1" {

// RIGHT: lowering is right
