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

    Makes each stage a `dist.program` whose sections are the forward and
    backward work of its chunks and the update. A transfer becomes a send in one
    program and a receive in another. If the schedule splits gradients, the
    backward work of a chunk becomes two sections: the gradients that the
    preceding stage waits for, and the others. A repeat that computes both kinds
    is cut in two.

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

def FuseGradients : Pass<"fuse-gradients", "::proteus::dist::ProgramOp"> {
  let summary = "Reduce gradients in buckets as they become ready";
  let description = [{
    **Input:** a program whose update section reduces gradients one by one, as
    `split-stages` leaves it.

    Replaces the reductions of gradients by one `dist.fused_reduce` per kind of
    collective, reduction, set of axes and element type. Gradients fill buckets
    in the order in which the backward sections compute them, with repeats
    written out. A bucket closes when it has reached its size, and at the end of
    a section. The first bucket may be smaller, so that communication starts
    early. With `per_layer` a bucket also closes at the end of a layer. If a
    result is reduced again over other axes, as in hierarchical ZeRO, that
    reduction uses the same buckets.

    All-gathers of updated parameters become one `dist.fused_gather` per set of
    axes and element type, at the end of the update.

    The sizes of buckets are those of the options, else those of the setting
    `bucket` of the tree, else the defaults of PyTorch's
    DistributedDataParallel.

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
    **Input:** a program in which each value at a single coordinate (`at` in the
    tree) is distributed by a `dist.scatter` or collected by a `dist.gather` of
    its own.

    Replaces the scatters of a block by one `dist.exchange` if they have the
    same axes and purpose and do not depend on each other, and likewise its
    gathers. The exchange precedes the first reader of any of its results.

    **Output:** the program with one `dist.exchange` in place of every such
    group of two or more.

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
    `split-stages` leaves it. Other programs are left alone, unless the option
    `chunks` is given.

    Cuts a product whose operand is all-gathered, or whose result is summed over
    devices, along its rows, together with its collective. The gather of a chunk
    then overlaps with the product of the preceding chunk, and the sum of a
    chunk with the product of the following one. Every device cuts its own
    shard, so elements stay on their devices. Any other reader of the gathered
    operand, such as the product for the gradient of the weight, reads all
    chunks joined. The product for the gradient of an input is not cut before
    its sum if the product for the gradient of the weight can overlap with the
    sum. If chunks do not divide the rows, the product is left whole. A remark
    counts such products.

    Gathers and scatters of linear products use user buffers
    (`proteus.exchange`), and the products of all chunks are issued in one
    library call (`proteus.pieces`): [switches](switches.md).

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
    run. The tree either selects an order, whose comparator sorts the sections,
    or lists the sections itself. An existing `dist.schedule` is kept.

    - `gpipe` and `1f1b`: a stage runs forward passes until its limit of
      micro-batches is in flight, then one backward pass per forward pass. The
      limit is the number of micro-batches for `gpipe` and the number of stages
      from this one to the last for `1f1b`. It never exceeds `max_ongoing`.
    - `interleaved`: as `1f1b`, but (chunk, micro-batch) pairs are counted. They
      run in groups of as many micro-batches as there are stages, and the
      pipeline is first filled with all chunks.
    - `zero-bubble`: as `1f1b`, with the gradients that other stages wait for as
      backward passes. Stage s runs the other gradients s micro-batches later.
    - A listed order must be complete, in causal order, and within
      `max_ongoing`. Items for which a program has no work are left out.

    If a backward pass cannot be split, it runs as a whole in place of the
    gradients that other stages wait for, in `zero-bubble` and in listed orders.

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
