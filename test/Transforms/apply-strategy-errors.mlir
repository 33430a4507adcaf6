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
// RUN: proteus-opt %t/chunks.mlir -verify-diagnostics --apply-strategy=virtual-stages=2
// RUN: proteus-opt %t/groups.mlir -verify-diagnostics --apply-strategy="pp=2 micro-batches=3 virtual-stages=2"
// RUN: proteus-opt %t/zb.mlir -verify-diagnostics --apply-strategy="pp=2 micro-batches=2 virtual-stages=2 schedule=zero-bubble"
// RUN: proteus-opt %t/runs.mlir -verify-diagnostics --apply-strategy="pp=2 micro-batches=2 virtual-stages=2"
// RUN: not proteus-opt %t/ok.mlir --apply-strategy=schedule=2f2b 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not proteus-opt %t/ok.mlir --apply-strategy=recompute=some 2>&1 | FileCheck %s --check-prefix=RECOMPUTE
// RUN: not proteus-opt %t/ok.mlir --apply-strategy=zero=4 2>&1 | FileCheck %s --check-prefix=ZERO

// SCHEDULE: Cannot find option named '2f2b'
// RECOMPUTE: Cannot find option named 'some'
// ZERO: Cannot find option named '4'

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
// expected-error@+1 {{dp=0 must be between 1 and 2147483648}}
module {
}

//--- prefetch.mlir
// expected-error@+1 {{prefetch=-2 must be a number of layers, or -1 for the default}}
module {
}

//--- micro.mlir
// expected-error@+1 {{micro-batches=-2 must be between 1 and 2147483648}}
module {
}

//--- many.mlir
// expected-error@+1 {{dp=65536, pp=1 and tp=65536 need more than 2147483648 devices; use smaller degrees}}
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
// expected-error@+1 {{has no operation to split into tp=2 parts: no attention, no embedding, no pair of linears and no linear in front of a cross-entropy is large enough; use tp=1}}
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

//--- ok.mlir
func.func @f(%x: tensor<8x4xf32> {nn.role = "input"}) -> tensor<8x4xf32> {
  %0 = nn.relu "act"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
