//===- Passes.td - one program per stage -------------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TRANSFORMS_PROGRAMS_PASSES_TD
#define PROTEUS_TRANSFORMS_PROGRAMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitStages : Pass<"split-stages", "::mlir::ModuleOp"> {
  let summary = "Turn the step into one program per pipeline stage";
  let description = [{
    Precondition: insert-collectives has run. Each stage becomes a
    `dist.program` whose sections are the forward and backward work of its chunks
    and the update; transfers become a send in one program and a receive in the
    other. Where the schedule splits gradients, the backward of a chunk becomes
    two sections: what the stage in front waits for, and the rest; a repeat that
    computes both is cut in two. The function and its strategy trees are gone
    afterwards.

    ```mlir
    func.func @model(...) { forward...; backward...; update... }
    // becomes
    dist.program @model_stage0 ... {
      %f = dist.section forward { ... dist.send %a to stage 1 tag 0 : ... }
      ...
    }
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def FuseGradients : Pass<"fuse-gradients", "::proteus::dist::ProgramOp"> {
  let summary = "Reduce gradients in buckets as they become ready";
  let description = [{
    Replaces the gradient reductions of the update section by one
    `dist.fused_reduce` per kind, axes and element type. Gradients fill buckets in
    the order in which the backward section computes them, repeats written out; a
    bucket closes when it has reached its size. The first bucket may be smaller,
    so that communication starts early. With `per_layer` a bucket also closes
    where a layer ends. What is reduced a second time over other devices, as ZeRO
    does over its groups, is reduced in the same buckets. Sizes come from the `bucket` of the tree;
    options override it; without either they are those of PyTorch's
    DistributedDataParallel.

    ```mlir
    %a = dist.all_reduce sum %g0 over {dp} for gradient : ...
    %b = dist.all_reduce sum %g1 over {dp} for gradient : ...
    // becomes
    %r:2 = dist.fused_reduce all_reduce sum %g1, %g0 over {dp} ... buckets [[0[0:1], 1[0:1]]]
    ```
  }];
  let options = [
    Option<"bucketSize", "bucket-size", "int64_t", "0",
           "Bytes at which a bucket closes; 0: as the tree says, else 26214400">,
    Option<"firstBucketSize", "first-bucket-size", "int64_t", "0",
           "Bytes at which the first bucket closes; 0: as the tree says, else "
           "1048576">
  ];
}

def FuseExchanges : Pass<"fuse-exchanges", "::proteus::dist::ProgramOp"> {
  let summary = "Make one all-to-all of values that leave or reach single places";
  let description = [{
    Values at single places (`at` in the tree) are dealt out with `dist.scatter`
    and collected with `dist.gather`, one by one. Those of a block that run over
    the same axes and need not wait for each other become one `dist.exchange`.

    ```mlir
    %2 = dist.scatter %0 dim 0 over {dp} : ...    // from dp = 0
    %3 = dist.scatter %1 dim 0 over {dp} : ...    // from dp = 1
    // becomes
    %2:2 = dist.exchange %0, %1 over {dp} : ...
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def ChunkProducts : Pass<"chunk-products", "::proteus::dist::ProgramOp"> {
  let summary = "Cut products so that they run beside their communication";
  let description = [{
    Where the tree says `overlap tensor = "chunked"`, products whose operand is
    gathered over devices, or whose result is summed up over devices, are cut
    along the rows, with their collective: a chunk is gathered while the one in
    front of it is computed, or summed while the next one is. Every device cuts
    its own part, so that parts stay where they are. What reads the gathered
    operand otherwise, as the gradient of the weight does, reads all chunks. The
    gradient of an input is not cut in front of its sum if the product for the
    weight's gradient can run beside the sum. Rows that chunks do not divide are
    left alone; a remark tells how often.

    Gathering and scattering go by user buffers (`proteus.exchange`), products by
    one call for all chunks (`proteus.pieces`): [switches](switches.md).

    ```mlir
    %1 = dist.all_gather %0 dim 1 over {tp} : ...
    %2 = nn.linear "fc1"(%1, %w) : ...
    // becomes
    %3 = dist.chunk %0 dim 1 index 0 of 2 groups 8 : ...
    %4 = dist.all_gather %3 dim 1 over {tp} : ...
    %5 = dist.chunk %0 dim 1 index 1 of 2 groups 8 : ...
    %6 = dist.all_gather %5 dim 1 over {tp} : ...
    %7 = nn.linear "fc1"(%4, %w) : ...
    %8 = nn.linear "fc1"(%6, %w) : ...
    %2 = dist.join %7, %8 dim 1 groups 8 : ...
    ```
  }];
  let options = [
    Option<"chunks", "chunks", "int64_t", "0",
           "Into how many; 0: as the tree says, or as many as devices gather">
  ];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def SchedulePipeline : Pass<"schedule-pipeline", "::mlir::ModuleOp"> {
  let summary = "Order the micro-batches of every stage";
  let description = [{
    Writes a `dist.schedule`: per program the order in which its sections run,
    as the comparator of the tree's order sorts them, or as the tree lists them.
    With `gpipe` and `1f1b` a stage runs forwards until as many micro-batches as
    its limit are in flight, then one backward per forward. The limit is the
    number of micro-batches for `gpipe`, the number of stages from this one to the
    last for `1f1b`, and never more than `max_ongoing`. `interleaved` counts
    (chunk, micro-batch) pairs instead, in groups of as many micro-batches as there
    are stages, and fills the pipeline with all chunks first. `zero-bubble` is
    `1f1b` on the gradients that others wait for; stage s runs the rest s
    micro-batches later. An order that the tree lists must be complete, in causal
    order, and within `max_ongoing`; items that a program has no work for are left
    out, and a backward that can't be split runs in place of the gradients that
    others wait for, as it does with `zero-bubble`. A schedule that is already
    there stands.

    ```mlir
    dist.schedule @schedule programs [@model_stage0, @model_stage1] order [
      [F0, F1, B0, B1, U],
      [F0, B0, F1, B1, U]
    ]
    ```
  }];
}

#endif // PROTEUS_TRANSFORMS_PROGRAMS_PASSES_TD
