// RUN: split-file %s %t
// RUN: proteus-opt %t/dp.mlir -verify-diagnostics --apply-strategy=dp=0
// RUN: proteus-opt %t/micro.mlir -verify-diagnostics --apply-strategy=micro-batches=-2
// RUN: proteus-opt %t/many.mlir -verify-diagnostics --apply-strategy="dp=65536 tp=65536"
// RUN: proteus-opt %t/name.mlir -verify-diagnostics --apply-strategy=name=@s
// RUN: proteus-opt %t/unnamed.mlir -verify-diagnostics --apply-strategy=name=@
// RUN: proteus-opt %t/models.mlir -verify-diagnostics --apply-strategy
// RUN: proteus-opt %t/model.mlir -verify-diagnostics --apply-strategy=model=@h
// RUN: proteus-opt %t/empty.mlir -verify-diagnostics --apply-strategy
// RUN: proteus-opt %t/batch.mlir -verify-diagnostics --apply-strategy="dp=2 micro-batches=3"
// RUN: proteus-opt %t/no-batch.mlir -verify-diagnostics --apply-strategy=dp=2
// RUN: proteus-opt %t/heads.mlir -split-input-file -verify-diagnostics --apply-strategy=tp=4
// RUN: proteus-opt %t/tp.mlir -verify-diagnostics --apply-strategy=tp=2
// RUN: proteus-opt %t/layers.mlir -split-input-file -verify-diagnostics --apply-strategy=pp=4
// RUN: proteus-opt %t/no-layers.mlir -verify-diagnostics --apply-strategy=pp=2
// RUN: proteus-opt %t/recompute.mlir -verify-diagnostics --apply-strategy=recompute=full
// RUN: proteus-opt %t/prefetch.mlir -verify-diagnostics --apply-strategy=prefetch=-2
// RUN: proteus-opt %t/idle-prefetch.mlir -verify-diagnostics --apply-strategy="dp=2 zero=1 prefetch=2"
// RUN: proteus-opt %t/chunks.mlir -verify-diagnostics --apply-strategy=virtual-stages=2
// RUN: proteus-opt %t/groups.mlir -verify-diagnostics --apply-strategy="pp=2 micro-batches=3 virtual-stages=2"
// RUN: proteus-opt %t/zb.mlir -verify-diagnostics --apply-strategy="pp=2 micro-batches=2 virtual-stages=2 schedule=zero-bubble"
// RUN: proteus-opt %t/runs.mlir -verify-diagnostics --apply-strategy="pp=2 micro-batches=2 virtual-stages=2"
// RUN: proteus-opt %t/sp.mlir -verify-diagnostics --apply-strategy=sp=true
// RUN: proteus-opt %t/no-sequence.mlir -verify-diagnostics --apply-strategy=cp=2
// RUN: proteus-opt %t/sequence.mlir -verify-diagnostics --apply-strategy=cp=3
// RUN: proteus-opt %t/pieces.mlir -verify-diagnostics --apply-strategy="cp=2 tp=4 sp=true"
// RUN: proteus-opt %t/ulysses.mlir -verify-diagnostics --apply-strategy="cp=4 cp-kind=ulysses"
// RUN: proteus-opt %t/no-attention.mlir -verify-diagnostics --apply-strategy="cp=2 cp-kind=ring"
// RUN: proteus-opt %t/contiguous.mlir -verify-diagnostics --apply-strategy=cp=2
// RUN: proteus-opt %t/no-experts.mlir -verify-diagnostics --apply-strategy="dp=2 ep=2"
// RUN: proteus-opt %t/experts.mlir -verify-diagnostics --apply-strategy="dp=4 ep=4"
// RUN: proteus-opt %t/groups-ep.mlir -verify-diagnostics --apply-strategy="dp=4 ep=2"
// RUN: proteus-opt %t/batch-ep.mlir -verify-diagnostics --apply-strategy="dp=6 ep=3"
// RUN: proteus-opt %t/selective.mlir -verify-diagnostics --apply-strategy=recompute=selective
// RUN: proteus-opt %t/one-linear.mlir -verify-diagnostics --apply-strategy=tp=2
// RUN: proteus-opt %t/selective-outside.mlir -verify-diagnostics --apply-strategy=recompute=selective
// RUN: not proteus-opt %t/ok.mlir --apply-strategy=cp-kind=star 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not proteus-opt %t/ok.mlir --apply-strategy=schedule=2f2b 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not proteus-opt %t/ok.mlir --apply-strategy=recompute=some 2>&1 | FileCheck %s --check-prefix=RECOMPUTE
// RUN: not proteus-opt %t/ok.mlir --apply-strategy=zero=4 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: proteus-opt %t/tables.mlir -verify-diagnostics --apply-strategy="dp=2 place-tables=true"
// RUN: proteus-opt %t/kept.mlir -verify-diagnostics --apply-strategy="tp=2 keep-gathered=true"
// RUN: proteus-opt %t/work.mlir -verify-diagnostics --apply-strategy="pp=3 stage-partition=work"
// RUN: proteus-opt %t/work-chunks.mlir -verify-diagnostics --apply-strategy="pp=2 micro-batches=2 virtual-stages=2 stage-partition=work"
// RUN: not proteus-opt %t/ok.mlir --apply-strategy=stage-partition=half 2>&1 | FileCheck %s --check-prefix=BALANCE
// RUN: proteus-opt %t/buckets.mlir -verify-diagnostics --apply-strategy="dp=2 bucket-size=-1"
// RUN: proteus-opt %t/whole.mlir -verify-diagnostics --apply-strategy="dp=2 zero=2 bucket-size=1 all-reduce-gradients=true"
// RUN: proteus-opt %t/gather.mlir -verify-diagnostics --apply-strategy="dp=2 zero=1 gather-bucket-size=1 gather-per-parameter=true"
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/selective.mlir --apply-strategy=recompute=selective
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/tp.mlir --apply-strategy=tp=2
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/batch.mlir --apply-strategy="dp=2 micro-batches=3"
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/sp.mlir --apply-strategy=sp=true
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/sequence.mlir --apply-strategy=cp=3
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/no-experts.mlir --apply-strategy="dp=2 ep=2"
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/tables.mlir --apply-strategy="dp=2 place-tables=true"
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %t/layers.mlir --apply-strategy=pp=4

// KIND: cp-kind=star: expected one of all-gather, ring, ulysses, got 'star'
// SCHEDULE: schedule=2f2b: expected one of gpipe, 1f1b, interleaved, zero-bubble, got '2f2b'
// RECOMPUTE: recompute=some: expected one of none, selective, full, got 'some'
// ZERO: zero=4: expected one of 0, 1, 2, 3, got '4'{{$}}
// BALANCE: stage-partition=half: expected one of layers, ends, divisible, work, got 'half'

//--- kept.mlir
// expected-error@+1 {{keep-gathered applies to inputs of linears whose sequences are split; set sp=true, or leave it out}}
module {
}

//--- work.mlir
module {
  // expected-error@+1 {{'func.func' op stage-partition=work leaves stage 2 of pp=3 without work; use fewer stages, or stage-partition=layers}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"},
               %w: tensor<400x4xf32> {nn.role = "parameter", nn.path = "head.weight"}) -> tensor<8x400xf32> {
    %0 = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    %2 = nn.linear "head"(%0, %w) : (tensor<8x4xf32>, tensor<400x4xf32>) -> tensor<8x400xf32>
    %3 = nn.relu "last"(%2) : (tensor<8x400xf32>) -> tensor<8x400xf32>
    return %3 : tensor<8x400xf32>
  }
}

//--- work-chunks.mlir
module {
  // expected-error@+1 {{'func.func' op stage-partition=work does not support chunks of stages; use virtual-stages=1, or stage-partition=layers}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 4 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    return %0 : tensor<8x4xf32>
  }
}

//--- chunks.mlir
// expected-error@+1 {{virtual-stages=2 needs stages; set pp}}
module {
}

//--- groups.mlir
// expected-error@+1 {{schedule=interleaved does not fit: 3 micro-batches can't be cut into groups of 2, the number of stages; use a multiple of it, or order = "gpipe"}}
module {
}

//--- zb.mlir
// expected-error@+1 {{schedule=zero-bubble does not fit: it has one chunk per stage, not 2}}
module {
}

//--- runs.mlir
module {
  // expected-error@+1 {{'func.func' op has 3 layers 'layers[*]', which can't be cut into pp=2 times virtual-stages=2 runs; use virtual-stages=1 or less}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
      %1 = nn.relu "a"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
      nn.yield %1 : tensor<8x4xf32>
    }
    return %0 : tensor<8x4xf32>
  }
}

//--- dp.mlir
// expected-error@+1 {{dp=0: expected an integer from 1 to 10000000, got '0'}}
module {
}

//--- prefetch.mlir
// expected-error@+1 {{prefetch=-2: expected an integer from 0 to 10000000, got '-2'}}
module {
}

//--- idle-prefetch.mlir
// expected-error@+1 {{prefetch and reshard-after-forward apply to parameters that are gathered before their use; set zero=3 or offload-weight=true, or leave them out}}
module {
}

//--- micro.mlir
// expected-error@+1 {{micro-batches=-2: expected an integer from 1 to 1000000000, got '-2'}}
module {
}

//--- many.mlir
// expected-error@+1 {{dp=65536, pp=1, cp=1 and tp=65536 need more than 2147483648 devices; use smaller degrees}}
module {
}

//--- name.mlir
// expected-error@+1 {{the name @s is taken; choose another one with name=}}
module {
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  // expected-note@+1 {{it is taken here}}
  strategy.tree @s for @f {
    mesh [dp = 2]
  }
}

//--- unnamed.mlir
// expected-error@+1 {{the tree needs a name; set name=@s}}
module {
}

//--- models.mlir
// expected-error@+1 {{there are 2 models; select one with model=@name}}
module {
  // expected-note@+1 {{there is @f}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  // expected-note@+1 {{there is @g}}
  func.func @g(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.gelu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

//--- model.mlir
// expected-error@+1 {{there is no model @h}}
module {
  // expected-note@+1 {{there is @f}}
  func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  func.func @h(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
    return %x : tensor<8x4xf32>
  }
}

//--- empty.mlir
// expected-error@+1 {{there is no model in the module: no function has operations that can be split}}
module {
  func.func private @f(tensor<8x4xf32>) -> tensor<8x4xf32>
}

//--- batch.mlir
// expected-error@+1 {{the batch of 'x', 8, can't be cut into equal parts by dp=2 times micro-batches=3; change the batch or the degrees}}
func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<8x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- no-batch.mlir
// expected-error@+1 {{has no batch to split: no operation reads an argument with nn.role = "input"; use dp=1 and micro-batches=1}}
func.func @f(%x: tensor<8x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- heads.mlir
func.func @f(%x: tensor<8x4x12xf32> {nn.role = "input"}) -> tensor<8x4x12xf32> {
  // expected-error@+1 {{has 6 heads, which tp=4 does not divide; use a tp that does}}
  %a, %rows = nn.attention "core"(%x, %x, %x) {heads = 6 : i64} : (tensor<8x4x12xf32>, tensor<8x4x12xf32>, tensor<8x4x12xf32>) -> (tensor<8x4x12xf32>, tensor<8x6x4xf32>)
  return %a : tensor<8x4x12xf32>
}

// -----

// Key heads are what is split: the query heads of a group share one.
func.func @f(%x: tensor<8x4x8xf32> {nn.role = "input"},
             %y: tensor<8x4x4xf32> {nn.role = "input"}) -> tensor<8x4x8xf32> {
  // expected-error@+1 {{has 2 key heads, which tp=4 does not divide; use a tp that does}}
  %a, %rows = nn.attention "core"(%x, %y, %y) {heads = 4 : i64, kv_heads = 2 : i64} : (tensor<8x4x8xf32>, tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x8xf32>, tensor<8x4x4xf32>)
  return %a : tensor<8x4x8xf32>
}

//--- tp.mlir
// A single linear whose result is no logits has nothing to gain.
// expected-error@+1 {{has no operation to split into tp=2 parts: no attention, no embedding, no pair of linears and no linear before a cross-entropy is large enough; use tp=1}}
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}, %w: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<8x4xf32> {
  %0 = nn.linear "fc"(%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- layers.mlir
// expected-error@+1 {{has 3 layers 'layers[*]', which can't be cut into pp=4 stages; use pp=3 or less}}
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
    %0 = nn.relu "act"(%h) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    nn.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// -----

// expected-error@+1 {{has 2 layers 'layers[*]', which can't be cut into pp=4 stages; use pp=2 or less}}
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  %0 = nn.relu "layers[0].act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = nn.relu "layers[1].act"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

//--- no-layers.mlir
// expected-error@+1 {{has no repeated layers to cut into pp=2 stages; use pp=1, an nn.repeat, or paths with an index (layers[0].fc)}}
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- recompute.mlir
// expected-error@+1 {{has no repeated layers to recompute; use recompute=none, an nn.repeat, or paths with an index (layers[0].fc)}}
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- sp.mlir
// expected-error@+1 {{sp=true splits sequences over the devices of tp; set tp, or use cp}}
module {
}

//--- no-sequence.mlir
// expected-error@+1 {{has no sequence to split: no operation has an iterator 'seq'; use cp=1 and sp=false}}
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- sequence.mlir
func.func @f(%x: tensor<8x4x4xf32> {nn.role = "input"}) -> tensor<8x4x4xf32> {
  // expected-error@+1 {{has a sequence of 4, which can't be cut into equal parts by cp=3; change the degrees}}
  %a, %rows = nn.attention "core"(%x, %x, %x) {heads = 2 : i64} : (tensor<8x4x4xf32>, tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8x2x4xf32>)
  return %a : tensor<8x4x4xf32>
}

//--- ulysses.mlir
func.func @f(%x: tensor<8x4x4xf32> {nn.role = "input"}) -> tensor<8x4x4xf32> {
  // expected-error@+1 {{has 2 heads, which tp=1 times cp=4 does not divide; use cp-kind=ring or smaller degrees}}
  %a, %rows = nn.attention "core"(%x, %x, %x) {heads = 2 : i64} : (tensor<8x4x4xf32>, tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8x2x4xf32>)
  return %a : tensor<8x4x4xf32>
}

//--- no-attention.mlir
// expected-error@+1 {{has no nn.attention to which cp-kind applies; use cp-kind=all-gather}}
func.func @f(%x: tensor<8x4x4xf32> {nn.role = "input"}) -> tensor<8x4x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  return %0 : tensor<8x4x4xf32>
}

//--- contiguous.mlir
// expected-remark@+1 {{causal attention is split over cp in contiguous parts, and the last part has the most work: a zigzag needs sequences that 2 * cp divides}}
func.func @f(%x: tensor<8x6x4xf32> {nn.role = "input"}) -> tensor<8x6x4xf32> {
  %a, %rows = nn.attention "core"(%x, %x, %x) {heads = 2 : i64, causal} : (tensor<8x6x4xf32>, tensor<8x6x4xf32>, tensor<8x6x4xf32>) -> (tensor<8x6x4xf32>, tensor<8x2x6xf32>)
  return %a : tensor<8x6x4xf32>
}

//--- no-experts.mlir
// expected-error@+1 {{has no experts to split into ep=2 parts: there is no nn.expert_linear; use ep=1}}
func.func @f(%x: tensor<8x4x4xf32> {nn.role = "input"}) -> tensor<8x4x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  return %0 : tensor<8x4x4xf32>
}

//--- experts.mlir
func.func @f(%x: tensor<8x4x4xf32> {nn.role = "input"}, %l: tensor<8x4x2xf32> {nn.role = "input"}, %w: tensor<2x4x4xf32> {nn.role = "parameter"}) -> tensor<2x8x2x4xf32> {
  %gates, %chosen, %slots = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64} : (tensor<8x4x2xf32>) -> (tensor<8x4x1xf32>, tensor<8x4x1xi32>, tensor<8x4x1xi32>)
  %d = nn.moe_dispatch "dispatch"(%x, %chosen, %slots) : (tensor<8x4x4xf32>, tensor<8x4x1xi32>, tensor<8x4x1xi32>) -> tensor<2x8x2x4xf32>
  // expected-error@+1 {{has 2 experts, fewer than ep=4; use ep=2 or less}}
  %f = nn.expert_linear "fc"(%d, %w) : (tensor<2x8x2x4xf32>, tensor<2x4x4xf32>) -> tensor<2x8x2x4xf32>
  return %f : tensor<2x8x2x4xf32>
}

//--- one-linear.mlir
// A product of experts is split only if another one reads its result.
// expected-error@+1 {{has no operation to split into tp=2 parts}}
func.func @f(%x: tensor<8x4x4xf32> {nn.role = "input"}, %l: tensor<8x4x2xf32> {nn.role = "input"}, %w: tensor<2x4x4xf32> {nn.role = "parameter"}) -> tensor<8x4x4xf32> {
  %gates, %chosen, %slots = nn.moe_route "route"(%l) {groups = 8 : i64, capacity_factor = 1.0 : f64} : (tensor<8x4x2xf32>) -> (tensor<8x4x1xf32>, tensor<8x4x1xi32>, tensor<8x4x1xi32>)
  %d = nn.moe_dispatch "dispatch"(%x, %chosen, %slots) : (tensor<8x4x4xf32>, tensor<8x4x1xi32>, tensor<8x4x1xi32>) -> tensor<2x8x2x4xf32>
  %f = nn.expert_linear "fc"(%d, %w) : (tensor<2x8x2x4xf32>, tensor<2x4x4xf32>) -> tensor<2x8x2x4xf32>
  %c = nn.moe_combine "combine"(%f, %chosen, %slots, %gates) : (tensor<2x8x2x4xf32>, tensor<8x4x1xi32>, tensor<8x4x1xi32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32>
  return %c : tensor<8x4x4xf32>
}

//--- groups-ep.mlir
func.func @f(%x: tensor<8x4x4xf32> {nn.role = "input"}, %l: tensor<8x4x2xf32> {nn.role = "input"}, %w: tensor<2x4x4xf32> {nn.role = "parameter"}) -> tensor<2x2x8x4xf32> {
  // expected-error@+1 {{has 2 groups, which can't be cut into equal parts by dp=4 times micro-batches=1; change groups or the degrees}}
  %gates, %chosen, %slots = nn.moe_route "route"(%l) {groups = 2 : i64, capacity_factor = 1.0 : f64} : (tensor<8x4x2xf32>) -> (tensor<8x4x1xf32>, tensor<8x4x1xi32>, tensor<8x4x1xi32>)
  %d = nn.moe_dispatch "dispatch"(%x, %chosen, %slots) : (tensor<8x4x4xf32>, tensor<8x4x1xi32>, tensor<8x4x1xi32>) -> tensor<2x2x8x4xf32>
  %f = nn.expert_linear "fc"(%d, %w) : (tensor<2x2x8x4xf32>, tensor<2x4x4xf32>) -> tensor<2x2x8x4xf32>
  return %f : tensor<2x2x8x4xf32>
}

//--- batch-ep.mlir
// expected-error@+1 {{the batch of 'x', 8, can't be cut into equal parts by dp=6 times micro-batches=1; change the batch or the degrees}}
func.func @f(%x: tensor<8x4xf32> {nn.role = "input", nn.path = "x"}) -> tensor<8x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- selective.mlir
// expected-error@+1 {{has nothing to recompute: neither nn.attention nor a module (attention.core) with the products and the softmax of attention; use recompute=none or recompute=full}}
func.func @f(%x: tensor<8x4x4xf32> {nn.role = "input"}) -> tensor<8x4x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  return %0 : tensor<8x4x4xf32>
}

//--- selective-outside.mlir
// expected-error@+1 {{has nothing to recompute}}
func.func @f(%x: tensor<8x4x4xf32> {nn.role = "input"}) -> tensor<8x4x4xf32> {
  // Attention that is in no layer.
  %0 = nn.matmul "core.scores"(%x, %x) {transpose_b} : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %1 = nn.softmax "core.softmax"(%0) : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %2 = nn.matmul "core.values"(%1, %x) : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  return %2 : tensor<8x4x4xf32>
}

//--- pieces.mlir
func.func @f(%x: tensor<8x4x8xf32> {nn.role = "input"}, %w: tensor<8x8xf32> {nn.role = "parameter"}, %v: tensor<8x8xf32> {nn.role = "parameter"}) -> tensor<8x4x8xf32> {
  // expected-error@+1 {{has a sequence of 4, which can't be cut into equal parts by cp=2 times tp=4 with sp=true; change the degrees}}
  %0 = nn.linear "up"(%x, %w) : (tensor<8x4x8xf32>, tensor<8x8xf32>) -> tensor<8x4x8xf32>
  %1 = nn.linear "down"(%0, %v) : (tensor<8x4x8xf32>, tensor<8x8xf32>) -> tensor<8x4x8xf32>
  return %1 : tensor<8x4x8xf32>
}

//--- ok.mlir
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

//--- tables.mlir

// expected-error @below {{place-tables=true places lookups in tables (nn.embedding_bag), and the model has none}}
func.func @m(
    %x: tensor<4x8xf32> {nn.role = "input", nn.path = "x"},
    %t: tensor<4xi32> {nn.role = "input", nn.path = "labels"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "fc.weight"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
  %0 = nn.linear "fc"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

//--- whole.mlir
// expected-error@+1 {{all-reduce-gradients applies to whole gradients and split states; set zero=1, or leave it out}}
module {
}

//--- gather.mlir
// expected-error@+1 {{gather-per-parameter has no buckets; leave gather-bucket-size out}}
module {
}

//--- buckets.mlir

// expected-error @below {{bucket-size=-1: expected an integer from 1 to 1099511627776, got '-1'}}
module {
func.func @m(
    %x: tensor<4x8xf32> {nn.role = "input", nn.path = "x"},
    %t: tensor<4xi32> {nn.role = "input", nn.path = "labels"},
    %w: tensor<8x8xf32> {nn.role = "parameter", nn.path = "fc.weight"})
    -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
  %0 = nn.linear "fc"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss, %lse = nn.cross_entropy "loss"(%0, %t) : (tensor<4x8xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}
}
