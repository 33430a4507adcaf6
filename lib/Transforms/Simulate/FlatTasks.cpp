//===- FlatTasks.cpp - tasks of kernels and communication -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creates the tasks of kernels, collectives and buckets: sets their
// dependencies, and the buffers that they read and allocate. Also determines
// the streams of operations.
//
//===----------------------------------------------------------------------===//

#include "Flattener.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace proteus;

sim::Stream proteus::getStream(Operation *op) {
  if (isa<dist::FetchOp>(op))
    return sim::Stream::HostToDevice;
  if (isa<dist::OffloadOp>(op))
    return sim::Stream::DeviceToHost;
  if (isa<dist::ShiftOp>(op))
    return sim::Stream::ContextParallel;
  // Messages with activations and messages with gradients have separate
  // streams, because sender and receiver may issue them in different orders.
  if (isa<dist::SendOp, dist::RecvOp>(op)) {
    bool forward = op->getParentOfType<dist::SectionOp>().getKind() ==
                   dist::SectionKind::Forward;
    if (isa<dist::SendOp>(op))
      return forward ? sim::Stream::PipelineSend
                     : sim::Stream::PipelineSendGradient;
    return forward ? sim::Stream::PipelineReceive
                   : sim::Stream::PipelineReceiveGradient;
  }
  if (!isa<dist::CollectiveOpInterface>(op))
    return sim::Stream::Compute;
  return dist::getPurpose(op).value_or(dist::Purpose::Activation) ==
                 dist::Purpose::Activation
             ? sim::Stream::TensorParallel
             : sim::Stream::DataParallel;
}

bool Flattener::blocks(Operation *op) const {
  if (isa<dist::SendOp>(op))
    return messagesBlock;
  return tensorCollectivesBlock && getStream(op) == sim::Stream::TensorParallel;
}

void Flattener::read(FlatTask &task, uint32_t value) {
  SmallVector<uint32_t> tensors;
  leaves(value, tensors);
  for (uint32_t tensor : tensors) {
    const FlatValue &info = values[tensor];
    if (info.producer >= 0) {
      auto &list =
          once && !info.producedOnce ? task.dependsOnMicro : task.dependsOn;
      if (!llvm::is_contained(list, static_cast<uint32_t>(info.producer)))
        list.push_back(info.producer);
    }
    if (info.buffer >= 0 && info.producedOnce == once &&
        !llvm::is_contained(task.reads, static_cast<uint32_t>(info.buffer)))
      task.reads.push_back(info.buffer);
  }
}

/// Returns the term that a sum of gradients of one parameter overwrites: the
/// gradient of a product that reads the parameter. Returns null if `sum` has no
/// such term, or if another operation reads it. Autograd adds the gradients of
/// a tied parameter in this way.
static Value overwrittenTerm(nn::AddOp sum) {
  for (Value term : sum->getOperands()) {
    auto kernel = term.getDefiningOp<nn::IterationSpaceOpInterface>();
    if (kernel && kernel.getKernelPass() == nn::KernelPass::WeightGradient &&
        term.hasOneUse() && term.getType() == sum.getType())
      return term;
  }
  return {};
}

/// Returns the operand that `result` overwrites in memory, or null if `result`
/// has memory of its own.
static Value inPlaceOperand(OpResult result, bool addsInPlace) {
  Operation *op = result.getOwner();
  if (isa<dist::AllReduceOp, dist::StageReduceOp>(op))
    return op->getOperand(0);
  // Result 0 of an update replaces operand 0, the parameter. Operand 1 is the
  // gradient, so result 1 replaces operand 2, and so on.
  if (isa<nn::SGDOp, nn::AdamOp, nn::EmbeddingBagUpdateOp>(op)) {
    unsigned number = result.getResultNumber();
    return op->getOperand(number == 0 ? 0 : number + 1);
  }
  if (auto sum = dyn_cast<nn::AddOp>(op); sum && addsInPlace)
    return overwrittenTerm(sum);
  // A step of ring attention updates the results of the previous step in place.
  if (auto block = dyn_cast<nn::AttentionBlockOp>(op);
      block && !block.getSoFar().empty())
    return block.getSoFar()[result.getResultNumber()];
  if (auto block = dyn_cast<nn::AttentionBlockGradOp>(op);
      block && result.getResultNumber() == 0)
    return block.getQueryGradientSoFar();
  if (auto destinations = dyn_cast<DestinationStyleOpInterface>(op)) {
    Value init = destinations.getTiedOpOperand(result)->get();
    // The result needs memory of its own if the destination is an empty tensor,
    // which has no memory yet, or if the destination has other readers.
    Operation *producer = init.getDefiningOp();
    if (producer && producer->getNumOperands() > 0 && init.hasOneUse())
      return init;
  }
  return {};
}

void Flattener::visitTask(Operation *op) {
  FlatTask task;
  task.op = op;
  task.label = labelOf(op);
  task.phase = phase;
  if (isa<dist::FusedReduceOp, dist::FusedGatherOp>(op))
    task.bucket = 0;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      read(task, environment.lookup(operand));
  FlatList &target = list();
  uint32_t number = target.tasks.size();
  task.blocks = blocks(op);
  for (OpResult result : op->getResults()) {
    FlatValue value;
    value.producer = number;
    value.producedOnce = once;
    bool forParameter = dist::getPurpose(op) == dist::Purpose::Parameter;
    // If the update gathers a parameter or copies it to the host, the result is
    // written to resident memory and needs no buffer.
    bool gathersParameter = once && forParameter && !isa<dist::FetchOp>(op);
    Value memory =
        inPlaceOperand(result, addsInPlace && phase == sim::Phase::Backward);
    if (memory && isInChunks(environment.lookup(memory)))
      memory = {};
    if (memory) {
      value.buffer = values[environment.lookup(memory)].buffer;
    } else if (!gathersParameter) {
      FlatBuffer buffer;
      buffer.value = result;
      buffer.name = task.label;
      bool forward =
          phase == sim::Phase::Forward || phase == sim::Phase::Recompute;
      if (forParameter)
        buffer.owner = sim::MemoryOwner::Communication;
      else
        buffer.owner = forward ? sim::MemoryOwner::Activations
                               : sim::MemoryOwner::Temporaries;
      value.buffer = target.buffers.size();
      task.allocates.push_back(value.buffer);
      target.buffers.push_back(std::move(buffer));
    }
    environment[result] = addValue(std::move(value));
  }
  target.tasks.push_back(std::move(task));
}

static FlatTask taskOfBucket(Operation *fused, size_t number, StringRef what,
                             sim::Phase phase) {
  FlatTask task;
  task.op = fused;
  task.bucket = number;
  task.label = (what + " " + Twine(number)).str();
  task.phase = phase;
  return task;
}

void Flattener::delayBuckets(size_t count) {
  auto buckets = MutableArrayRef(bucketTasks).take_back(count);
  auto sectionOf = [&](uint32_t task) {
    return llvm::upper_bound(flat.micro.sectionBegin, task);
  };
  auto begin = buckets.begin();
  while (begin != buckets.end()) {
    // Bucket tasks of the same section are adjacent in the list.
    auto end = std::find_if(begin, buckets.end(), [&](const auto &bucket) {
      return sectionOf(bucket.first) != sectionOf(begin->first);
    });
    uint32_t last = 0;
    std::vector<uint32_t> dependsOn;
    for (auto &[position, task] : llvm::make_range(begin, end)) {
      last = std::max(last, position);
      for (uint32_t other : task.dependsOn)
        if (!llvm::is_contained(dependsOn, other))
          dependsOn.push_back(other);
    }
    for (auto &[position, task] : llvm::make_range(begin, end)) {
      position = last;
      task.dependsOn = dependsOn;
    }
    begin = end;
  }
}

/// Adds a task for every bucket, in the section that computes the gradients of
/// the bucket. The task runs directly after the last of these gradients or, if
/// buckets are reduced after the backward pass, after the last gradient of the
/// section (`delayBuckets`). Reduced gradients use the memory of the unreduced
/// ones.
void Flattener::visitFusedReduce(dist::FusedReduceOp fused) {
  SmallVector<std::vector<uint32_t>> reduced;
  for (auto [i, input] : llvm::enumerate(fused.getInputs()))
    reduced.emplace_back(fused.getNumIterations(i));
  for (auto [number, bucket] :
       llvm::enumerate(fused.getBuckets().getValue().list)) {
    FlatTask task = taskOfBucket(fused, number, "bucket", sim::Phase::Backward);
    uint32_t last = 0;
    uint32_t id = bucketTasks.size();
    uint32_t numTasks = flat.micro.tasks.size();
    for (const dist::BucketRange &range : bucket) {
      uint32_t input = environment.lookup(fused.getInputs()[range.operand]);
      bool stacked = fused.getStacked()[range.operand];
      for (int64_t i = range.from; i < range.to; ++i) {
        // A repeat inside a repeat yields a stack of stacks.
        SmallVector<uint32_t> members;
        leaves(stacked ? sliceOf(input, i) : input, members);
        for (uint32_t member : members) {
          if (values[member].producer < 0)
            continue;
          uint32_t number = values[member].producer;
          // If an earlier bucket already reduces this gradient over other axes,
          // the new bucket is inserted after the earlier one.
          uint32_t behind =
              number < numTasks ? number : bucketTasks[number - numTasks].first;
          last = std::max(last, behind);
          if (!llvm::is_contained(task.dependsOn, number))
            task.dependsOn.push_back(number);
        }
        FlatValue value;
        // Bucket tasks are inserted into the list later. Until then, bucket
        // task `id` has the number `numTasks + id`.
        value.producer = numTasks + id;
        reduced[range.operand][i] = addValue(std::move(value));
      }
    }
    bucketTasks.push_back({last, std::move(task)});
  }
  if (fused.getAfterBackward())
    delayBuckets(fused.getNumBuckets());
  for (auto [i, output] : llvm::enumerate(fused.getOutputs())) {
    if (!fused.getStacked()[i]) {
      environment[output] = reduced[i].front();
      continue;
    }
    FlatValue stack;
    stack.slices = std::move(reduced[i]);
    environment[output] = addValue(std::move(stack));
  }
}

/// Adds a task to the update section for every bucket of updated parameters.
/// The gathered parameters use the resident memory of the parameters.
void Flattener::visitFusedGather(dist::FusedGatherOp fused) {
  for (auto [number, bucket] :
       llvm::enumerate(fused.getBuckets().getValue().list)) {
    FlatTask task = taskOfBucket(fused, number, "gather", phase);
    for (const dist::BucketRange &range : bucket) {
      uint32_t input = environment.lookup(fused.getInputs()[range.operand]);
      bool stacked = fused.getStacked()[range.operand];
      for (int64_t i = range.from; i < range.to; ++i)
        read(task, stacked ? sliceOf(input, i) : input);
    }
    list().tasks.push_back(std::move(task));
  }
  for (Value output : fused.getOutputs())
    environment[output] = addValue(FlatValue());
}
