//===- FlatResidents.cpp - memory held for the whole step -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers that are held during the whole step: arguments, parameters that are
// gathered once, gradients and outputs.
//
//===----------------------------------------------------------------------===//

#include "Flattener.h"

#include "Proteus/Transforms/Common/Annotations.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace proteus;

void Flattener::addArguments() {
  for (BlockArgument argument : program.getArguments()) {
    FlatBuffer buffer;
    buffer.value = argument;
    buffer.name = getArgumentPath(argument);
    switch (getRole(argument).value_or(nn::Role::Input)) {
    case nn::Role::Input:
      buffer.owner = sim::MemoryOwner::Activations;
      break;
    case nn::Role::Parameter:
      buffer.owner = sim::MemoryOwner::Parameters;
      break;
    case nn::Role::State:
      buffer.owner = sim::MemoryOwner::OptimizerState;
      break;
    case nn::Role::Master:
      buffer.owner = sim::MemoryOwner::MasterWeights;
      break;
    }
    FlatValue value;
    value.argument = flat.resident.size();
    environment[argument] = addValue(std::move(value));
    flat.resident.push_back(std::move(buffer));
  }
}

/// Adds a task that gathers a parameter in the forward pass of the first
/// micro-batch. From then on the whole parameter is resident, so the backward
/// pass adds no task. The memory of the whole parameter includes the shard that
/// the device stores.
void Flattener::visitGatherOnce(dist::AllGatherOp gather) {
  const FlatValue input = values[environment.lookup(gather.getInput())];
  FlatValue whole;
  if (phase == sim::Phase::Forward) {
    FlatTask task;
    task.op = gather;
    task.label = labelOf(gather);
    task.phase = phase;
    task.firstOnly = true;
    // The input can be the result of another gather.
    if (input.producer >= 0)
      task.dependsOn = {static_cast<uint32_t>(input.producer)};
    whole.producer = flat.micro.tasks.size();
    flat.micro.tasks.push_back(std::move(task));
    if (input.argument >= 0)
      gatheredArguments.insert(input.argument);
    FlatBuffer buffer;
    buffer.value = gather.getResult();
    buffer.name = labelOf(gather);
    buffer.owner = sim::MemoryOwner::Parameters;
    whole.argument = flat.resident.size();
    flat.resident.push_back(std::move(buffer));
  }
  environment[gather.getResult()] = addValue(std::move(whole));
}

/// Removes the resident buffers of shards of parameters that are gathered once,
/// because the whole parameters include them.
void Flattener::dropGathered() {
  std::vector<FlatBuffer> kept;
  for (auto [i, buffer] : llvm::enumerate(flat.resident))
    if (!gatheredArguments.contains(static_cast<int32_t>(i)))
      kept.push_back(std::move(buffer));
  flat.resident = std::move(kept);
}

/// Makes the outputs of a section resident if the update or the return of the
/// program reads them, and removes their former buffers from all tasks. These
/// outputs are mainly gradients, which live for the whole step because they
/// accumulate in place.
void Flattener::makeResident(dist::SectionOp section) {
  llvm::BitVector dropped(flat.micro.buffers.size());
  for (auto [yielded, result] :
       llvm::zip(section.getYielded(), section.getOutputs())) {
    bool leaves = llvm::any_of(result.getUsers(), [](Operation *user) {
      auto reader = user->getParentOfType<dist::SectionOp>();
      return !reader || reader.getOnce();
    });
    if (!leaves)
      continue;
    SmallVector<uint32_t> tensors;
    this->leaves(environment.lookup(yielded), tensors);
    bool backward = section.getKind() != dist::SectionKind::Forward;
    FlatBuffer buffer;
    buffer.value = yielded;
    buffer.owner =
        backward ? sim::MemoryOwner::Gradients : sim::MemoryOwner::Activations;
    if (Operation *producer = yielded.getDefiningOp())
      buffer.name = nn::getOwnPath(producer);
    buffer.pieces = tensors.size();
    flat.resident.push_back(std::move(buffer));
    for (uint32_t tensor : tensors) {
      int32_t &frame = values[tensor].buffer;
      if (frame >= 0)
        dropped.set(frame);
      frame = -1;
    }
  }
  if (dropped.none())
    return;
  auto isDropped = [&](uint32_t buffer) { return dropped.test(buffer); };
  for (FlatTask &task : flat.micro.tasks) {
    llvm::erase_if(task.allocates, isDropped);
    llvm::erase_if(task.reads, isDropped);
  }
}
