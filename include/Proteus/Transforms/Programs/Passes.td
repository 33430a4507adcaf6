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
    **Input:** functions whose values have layouts, as `insert-collectives`
    leaves them.

    Turns each stage into a `dist.program`. Its sections are the forward and the
    backward work of each chunk, and the update. A transfer becomes a send in
    one program and a receive in another. Messages that a repeat reads get the
    order in which the kernels of its body read them. If the schedule splits
    gradients, the backward work of a chunk becomes two sections: the gradients
    for which the preceding stage waits, and the others. A repeat that computes
    both kinds is cut in two.

    **Output:** one `dist.program` per stage. The functions and their strategy
    trees are erased.

    ```mlir
    // Input:
    func.func @model(...) { forward...; backward...; update... }
    // Output:
    dist.program @model_stage0 ... {
      %f = dist.section forward { ... dist.send %a to stage 1 tag 0 : ... }
      ...
    }
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def FuseUnits : Pass<"fuse-units", "::proteus::dist::ProgramOp"> {
  let summary = "Fuse collectives of sharded parameters and gradients by layer";
  let description = [{
    **Input:** a program that gathers sharded parameters before their use, or
    scatters sharded gradients, in sections that run per micro-batch. Each
    parameter and each gradient has a collective of its own.

    Replaces the gathers of a unit by one `dist.fused_gather`, at the position
    of the first of them, and the reduce-scatters of a unit by one
    `dist.fused_reduce`, at the position of the last. A unit is a layer, or the
    modules between two groups of layers, as in frameworks that wrap layers in
    FSDP. The collectives of a unit must have the same axes, the same element
    type and the same prefetch depth. Parameters that several layers share, and
    those that are gathered once per step (`proteus.once`), stay as they are.

    With `gather_per_parameter`, gathers are not fused. With
    `reduction = per-parameter`, reductions are not fused.

    **Output:** the program with a fused collective in place of two or more
    collectives of a unit.

    ```mlir
    // Input:
    %2 = dist.all_gather %0 flat over {dp} for parameter : ...
    %3 = dist.all_gather %1 flat over {dp} for parameter : ...
    // Output:
    %2:2 = dist.fused_gather %0, %1 over {dp} buckets [[0[0:1], 1[0:1]]] ...
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def FuseGradients : Pass<"fuse-gradients", "::proteus::dist::ProgramOp"> {
  let summary = "Reduce gradients in buckets as they become ready";
  let description = [{
    **Input:** a program whose update section reduces gradients one by one, as
    `split-stages` leaves it.

    Replaces the reductions of gradients by `dist.fused_reduce` operations: one
    for each combination of kind of collective, reduction, set of axes and
    element type. Gradients fill buckets in the order in which the backward
    sections compute them. The gradients of each iteration of a repeat enter the
    buckets separately. A bucket closes when it holds at least as many bytes as
    its size, and at the end of a section. The first bucket may be smaller, so
    that communication starts early. With `per_layer` a bucket also closes at
    the end of a layer. If a result is reduced again over other axes, as in
    hierarchical ZeRO, that reduction uses the same buckets.

    All-gathers of updated parameters become one `dist.fused_gather` per set of
    axes and element type, at the end of the update.

    The sizes of buckets come from the options of the pass. Without options,
    they come from the setting `bucket` of the tree, and without that setting
    they are the defaults of PyTorch's DistributedDataParallel.

    **Output:** the program with fused collectives in its update section.

    ```mlir
    // Input:
    %a = dist.all_reduce sum %g0 over {dp} for gradient : ...
    %b = dist.all_reduce sum %g1 over {dp} for gradient : ...
    // Output:
    %r:2 = dist.fused_reduce all_reduce sum %g1, %g0 over {dp} ... buckets [[0[0:1], 1[0:1]]]
    ```
  }];
  let options = [
    Option<"bucketSize", "bucket-size", "int64_t", "0",
           "Bytes at which a bucket closes; 0: from the tree, else 26214400">,
    Option<"firstBucketSize", "first-bucket-size", "int64_t", "0",
           "Bytes at which the first bucket closes; 0: from the tree, else "
           "1048576">
  ];
}

def FuseExchanges : Pass<"fuse-exchanges", "::proteus::dist::ProgramOp"> {
  let summary = "Fuse scatters and gathers into all-to-alls";
  let description = [{
    **Input:** a program with values that exist only at one coordinate of an
    axis (`at` in the tree). A `dist.scatter` distributes such a value, and a
    `dist.gather` collects it at its coordinate.

    Replaces the scatters of a block by one `dist.exchange` if they have the
    same axes and purpose and do not depend on each other. The gathers of a
    block are replaced in the same way. The exchange precedes the first reader
    of any of its results.

    **Output:** the program with a `dist.exchange` in place of two or more
    scatters, or two or more gathers, that can be replaced together.

    ```mlir
    // Input:
    %2 = dist.scatter %0 dim 0 over {dp} : ...    // from dp = 0
    %3 = dist.scatter %1 dim 0 over {dp} : ...    // from dp = 1
    // Output:
    %2:2 = dist.exchange %0, %1 over {dp} : ...
    ```
  }];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def ChunkProducts : Pass<"chunk-products", "::proteus::dist::ProgramOp"> {
  let summary = "Cut products into chunks that overlap with their collectives";
  let description = [{
    **Input:** a program of a tree with `overlap tensor = "chunked"`, as
    `split-stages` leaves it. Other programs are left unchanged, unless the
    option `chunks` is given.

    Cuts matrix products into chunks along their rows, together with a
    collective: the all-gather of an operand, or the sum of the result over
    devices. The gather of a chunk then overlaps with the product of the
    preceding chunk, and the sum of a chunk overlaps with the product of the
    following one. Every device cuts its own shard, so that cutting moves no
    data between devices.

    Any other reader of a gathered operand, such as the product for the gradient
    of the weight, reads all chunks joined. The product for the gradient of an
    input is not cut if its sum can overlap with the product for the gradient of
    the weight. A product and its collective are left whole if the rows cannot
    be divided into equal chunks. A remark states the number of these
    collectives.

    Gathers and reduce-scatters of linear products get the attribute
    `proteus.exchange`: devices exchange the data by user buffers, without the
    communication library. The products of the chunks get the attribute
    `proteus.pieces`: they are issued in one library call.
    [switches](switches.md) describes both.

    **Output:** the program with one product and one collective per chunk.

    ```mlir
    // Input:
    %1 = dist.all_gather %0 dim 1 over {tp} : ...
    %2 = nn.linear "fc1"(%1, %w) : ...
    // Output:
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
           "Number of chunks; 0: the number in the tree, else the size of the "
           "group for exchanges by user buffers and 4 for other collectives">
  ];
  let dependentDialects = ["::proteus::dist::DistDialect"];
}

def SchedulePipeline : Pass<"schedule-pipeline", "::mlir::ModuleOp"> {
  let summary = "Order the micro-batches of every stage";
  let description = [{
    **Input:** one program per stage, in the order of the stages.

    Writes a `dist.schedule`: for each program the order in which its sections
    run for the micro-batches. The tree either selects one of the built-in
    orders below, or lists the order of every stage. An existing `dist.schedule`
    is kept.

    - `gpipe` and `1f1b`: a stage runs forward passes until as many
      micro-batches as its limit are in flight. Then it alternates between
      backward and forward passes. The limit of `gpipe` is the number of
      micro-batches. The limit of `1f1b` is the number of stages from this one
      to the last, inclusive. Both limits are at most `max_ongoing`.
    - `interleaved`: as `1f1b`, but the limit counts (chunk, micro-batch) pairs.
      Micro-batches form groups with as many members as there are stages. A
      stage runs a group through all its chunks before it starts the next group.
    - `zero-bubble`: as `1f1b`, but a backward pass computes only the gradients
      for which other stages wait. Stage s computes the other gradients s
      micro-batches later.
    - A listed order must be complete, in causal order (for example, a forward
      pass before its backward pass), and within `max_ongoing`. Items for which
      a program has no work are left out.

    A backward pass that cannot be split runs as a whole in `zero-bubble` and in
    listed orders, in place of the gradients for which other stages wait.

    **Output:** the module with a `dist.schedule`.

    ```mlir
    dist.schedule @schedule programs [@model_stage0, @model_stage1] order [
      [F0, F1, B0, B1, U],
      [F0, B0, F1, B1, U]
    ]
    ```
  }];
}

#endif // PROTEUS_TRANSFORMS_PROGRAMS_PASSES_TD
