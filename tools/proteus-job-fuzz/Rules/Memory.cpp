//===- Memory.cpp - settings that never need more memory ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

using namespace proteus;
using namespace proteus::fuzz;

/// Returns true if each stage has several layers. A gathered or fetched layer
/// is then small compared with all layers in shards or in host memory.
static bool hasSeveralLayers(const JobCase &job) {
  return getLayers(job) / job.getInteger("pp", 1) >= 4;
}

/// Returns true if ZeRO keeps a small part of each layer on a device.
static bool hasSmallShards(const JobCase &job) {
  return job.getReplicas() >= 4 && hasSeveralLayers(job) &&
         job.get("offload-weight") != "true";
}

/// Returns true if a job holds the activations of several layers, but those
/// that it recomputes of one layer only. The inputs of recomputed layers are
/// saved too, and zero-bubble holds recomputed activations for the gradients of
/// weights.
static bool savesByRecomputing(const JobCase &job) {
  int64_t layers = getLayers(job);
  return keepsActivations(job) && job.get("offload-weight") != "true" &&
         job.get("schedule") != "zero-bubble" &&
         (layers == 0 || layers / job.getInteger("pp", 1) >= 2);
}

/// Returns true if the sequences of several layers can be split.
static bool savesBySequences(const JobCase &job) {
  return hasTensorRanks(job) && hasSeveralLayers(job);
}

/// Returns true if a stage of gpipe holds more micro-batches than one of 1f1b.
static bool hasManyMicroBatches(const JobCase &job) {
  return hasPlainStages(job) &&
         job.getInteger("accumulation", 1) > job.getInteger("pp", 1);
}

/// Returns true if states stay on the device.
static bool keepsStates(const JobCase &job) {
  return job.get("offload-state") != "true";
}

static const FlagRule rows[] = {
    // A recomputed activation lives from its second computation to its reader.
    // A saved one lives from its first computation to the same reader. The
    // rules leave out activations in host memory: their copies may be late, and
    // hold memory until they end.
    {"memory-recompute-full", "--recompute none", "--recompute full",
     FlagRule::Memory, 0, savesByRecomputing},
    {"memory-recompute-selective", "--recompute none", "--recompute selective",
     FlagRule::Memory, 0, savesByRecomputing},
    // A stage of ZeRO shards all that the previous stage shards, and more.
    // Gathers that run ahead would hold the parameters of several layers.
    {"memory-zero-1", "--zero 0", "--zero 1", FlagRule::Memory, 0, hasReplicas},
    {"memory-zero-2", "--zero 1", "--zero 2", FlagRule::Memory, 0, hasReplicas},
    {"memory-zero-3", "--zero 2", "--zero 3 --prefetch 0", FlagRule::Memory, 0,
     hasSmallShards},
    // Tensors in host memory are on the device only while they are used.
    {"memory-offload-state", "--offload-state=false", "--offload-state",
     FlagRule::Memory},
    {"memory-offload-weight", "--offload-weight=false",
     "--offload-weight --prefetch 0", FlagRule::Memory, 0, hasSeveralLayers},
    {"memory-offload-activation", "--offload-activation=false",
     "--offload-activation", FlagRule::Memory},
    // gpipe holds all micro-batches when the first backward pass begins; 1f1b
    // at most as many as there are stages.
    {"memory-1f1b", "--schedule gpipe", "--schedule 1f1b", FlagRule::Memory, 0,
     hasManyMicroBatches},
    // Parts of activations instead of copies on every device.
    {"memory-sequence-parallel", "--sequence-parallel=false",
     "--sequence-parallel", FlagRule::Memory, 0, savesBySequences},
    {"memory-keep-gathered", "--keep-gathered", "--keep-gathered=false",
     FlagRule::Memory, 0, hasTensorRanks},
    // Without gathers that run ahead, one layer is whole instead of all.
    {"memory-reshard", "--zero 3 --prefetch 0 --reshard-after-forward=false",
     "--zero 3 --prefetch 0 --reshard-after-forward", FlagRule::Memory, 0,
     hasSmallShards},
    // Adam has two states per parameter, momentum one, sgd none.
    {"memory-momentum", "--optimizer adam", "--optimizer momentum",
     FlagRule::Memory, 0, keepsStates},
    {"memory-sgd", "--optimizer momentum", "--optimizer sgd", FlagRule::Memory,
     0, keepsStates},
};

void proteus::fuzz::addMemoryRules(std::vector<Rule> &list) {
  for (const FlagRule &row : rows)
    list.push_back(makeRule(row));
}
