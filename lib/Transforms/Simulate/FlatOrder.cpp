//===- FlatOrder.cpp - order of communication in a flat program -----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatOrder.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;
using namespace proteus;

/// Returns the layer of a task, such as `layers[3]` for `layers[3].mlp.fc1`, or
/// an empty string if the task is in no layer. Repeated layers and layers that
/// are written out have the same labels.
static StringRef layerOf(const FlatTask &task) {
  StringRef label = task.label;
  size_t end = label.find(']');
  return end == StringRef::npos ? StringRef() : label.take_front(end + 1);
}

static bool isKernel(const FlatTask &task) {
  return isa<nn::IterationSpaceOpInterface>(task.op);
}

/// Returns true if a task reduces a gradient, or reshards it to its storage
/// layout.
static bool storesGradient(const FlatTask &task) {
  return dist::getPurpose(task.op) == dist::Purpose::Gradient;
}

std::vector<uint32_t> proteus::placeByLayer(FlatList &list, size_t begin) {
  std::vector<FlatTask> &tasks = list.tasks;
  size_t count = tasks.size() - begin;
  /// Consecutive kernels of one layer, with the communication before and
  /// between them.
  struct Run {
    size_t begin; ///< index after the last kernel of the previous run
    size_t end;   ///< index after the last kernel of this run
    /// Last kernel of the run that computes a gradient for `reductions`; 0 if
    /// there is no such kernel.
    size_t gradient = 0;
    /// Reductions that move to the end of the run. Each is a pair: the task
    /// that computes the gradient, and the reduction.
    SmallVector<std::pair<size_t, size_t>> reductions = {};
  };
  std::vector<Run> runs;
  DenseMap<StringRef, size_t> runOfLayer;
  // For every task, the tasks that move to the position before it. The last
  // entry is for the end of the list.
  std::vector<SmallVector<size_t>> inFront(count + 1);
  std::vector<bool> moves(count, false);
  auto move = [&](size_t i, size_t place) {
    moves[i - begin] = true;
    inFront[place - begin].push_back(i);
  };
  // For every task: the last kernel on which it depends, directly or through
  // communication, and the run of that kernel. If the task depends only on
  // tasks of earlier sections, the pair holds the last of these tasks and 0.
  std::vector<std::pair<size_t, size_t>> origin(count, {0, 0});
  SmallVector<size_t> messages, reductions;
  for (size_t i = begin; i < tasks.size(); ++i) {
    if (isKernel(tasks[i])) {
      StringRef layer = layerOf(tasks[i]);
      if (runs.empty())
        runs.push_back({begin, i + 1});
      else if (layer != layerOf(tasks[runs.back().end - 1]))
        runs.push_back({runs.back().end, i + 1});
      runs.back().end = i + 1;
      runOfLayer[layer] = runs.size() - 1;
      if (!layer.empty())
        for (size_t message : messages)
          move(message, runs.back().begin);
      messages.clear();
      origin[i - begin] = {i, runs.size() - 1};
      continue;
    }
    if (isa<dist::RecvOp>(tasks[i].op))
      messages.push_back(i);
    if (storesGradient(tasks[i]))
      reductions.push_back(i);
    for (uint32_t dependency : tasks[i].dependsOn)
      origin[i - begin] = std::max(
          origin[i - begin], dependency >= begin
                                 ? origin[dependency - begin]
                                 : std::pair(size_t(dependency), size_t(0)));
  }
  // A reduction does not move if a task of its own layer reads the result,
  // because the reduction must precede that task.
  std::vector<size_t> firstReader(count, tasks.size());
  for (size_t i = tasks.size(); i-- > begin;)
    if (!storesGradient(tasks[i]))
      for (uint32_t dependency : tasks[i].dependsOn)
        if (dependency >= begin)
          firstReader[dependency - begin] = i;
  for (size_t i : reductions) {
    auto [source, number] = origin[i - begin];
    if (source < begin) {
      auto found = runOfLayer.find(layerOf(tasks[i]));
      if (found == runOfLayer.end())
        continue;
      number = found->second;
    }
    Run &run = runs[number];
    if (layerOf(tasks[run.end - 1]).empty() || firstReader[i - begin] < run.end)
      continue;
    if (source >= begin)
      run.gradient = std::max(run.gradient, source);
    run.reductions.push_back({source, i});
  }
  for (Run &run : runs) {
    llvm::sort(run.reductions);
    for (auto [source, i] : run.reductions) {
      move(i, run.end);
      if (run.gradient && !llvm::is_contained(tasks[i].dependsOn, run.gradient))
        tasks[i].dependsOn.push_back(run.gradient);
    }
  }
  std::vector<uint32_t> renumbered(count);
  std::iota(renumbered.begin(), renumbered.end(), begin);
  if (!llvm::is_contained(moves, true))
    return renumbered;
  std::vector<FlatTask> ordered;
  auto take = [&](size_t i) {
    renumbered[i - begin] = begin + ordered.size();
    ordered.push_back(std::move(tasks[i]));
  };
  for (size_t i = begin; i <= tasks.size(); ++i) {
    for (size_t moved : inFront[i - begin])
      take(moved);
    if (i < tasks.size() && !moves[i - begin])
      take(i);
  }
  for (FlatTask &task : ordered)
    for (uint32_t &dependency : task.dependsOn)
      if (dependency >= begin)
        dependency = renumbered[dependency - begin];
  std::move(ordered.begin(), ordered.end(), tasks.begin() + begin);
  return renumbered;
}

void proteus::placeBuckets(FlatProgram &flat, BucketTasks bucketTasks) {
  if (bucketTasks.empty())
    return;
  size_t count = flat.micro.tasks.size();
  std::vector<std::vector<uint32_t>> after(count);
  for (auto [id, entry] : llvm::enumerate(bucketTasks))
    after[entry.first].push_back(id);
  std::vector<uint32_t> renumbered(count + bucketTasks.size());
  std::vector<FlatTask> tasks;
  std::vector<uint32_t> begins;
  size_t section = 0;
  for (size_t i = 0; i < count; ++i) {
    while (section < flat.micro.sectionBegin.size() &&
           flat.micro.sectionBegin[section] == i) {
      begins.push_back(tasks.size());
      ++section;
    }
    renumbered[i] = tasks.size();
    tasks.push_back(std::move(flat.micro.tasks[i]));
    for (uint32_t id : after[i]) {
      renumbered[count + id] = tasks.size();
      tasks.push_back(std::move(bucketTasks[id].second));
    }
  }
  for (; section < flat.micro.sectionBegin.size(); ++section)
    begins.push_back(tasks.size());
  for (FlatTask &task : tasks)
    for (uint32_t &dependency : task.dependsOn)
      dependency = renumbered[dependency];
  for (FlatTask &task : flat.once.tasks)
    for (uint32_t &dependency : task.dependsOnMicro)
      dependency = renumbered[dependency];
  flat.micro.tasks = std::move(tasks);
  flat.micro.sectionBegin = std::move(begins);
}

/// Prefetch distance, in layers, of operations without `proteus.prefetch`.
static constexpr int64_t defaultPrefetch = 1;

/// Returns the number of layers by which `op` may precede the layer that reads
/// its result, or nullopt if it does not gather or fetch a parameter.
static std::optional<int64_t> prefetchDepth(Operation *op) {
  if (!isa<dist::AllGatherOp, dist::FetchOp>(op) ||
      dist::getPurpose(op) != dist::Purpose::Parameter)
    return std::nullopt;
  auto depth = op->getAttrOfType<IntegerAttr>(ProteusDialect::prefetchAttrName);
  return depth ? depth.getInt() : defaultPrefetch;
}

/// Moves the gathers and fetches of parameters in one list to their prefetch
/// points. Returns the new index of every task.
static std::vector<uint32_t> placeIn(FlatList &list) {
  size_t count = list.tasks.size();
  // For every task, the tasks that move to the position before it. The last
  // entry is for the end of the list.
  std::vector<std::vector<uint32_t>> behind(count + 1);
  std::vector<bool> moves(count, false);
  // For every task, the smallest index to which a task that reads its result
  // may move.
  std::vector<size_t> available(count);
  for (size_t i = 0; i < count; ++i)
    available[i] = i + 1;
  for (size_t s = 0; s + 1 < list.sectionBegin.size(); ++s) {
    size_t begin = list.sectionBegin[s], end = list.sectionBegin[s + 1];
    // For every layer of the section, the last kernel before it, or -1 for the
    // first layer.
    std::vector<int32_t> inFront;
    std::vector<uint32_t> layer(end - begin);
    std::optional<size_t> last;
    for (size_t i = begin; i < end; ++i) {
      if (!isKernel(list.tasks[i]))
        continue;
      if (!last || layerOf(list.tasks[i]) != layerOf(list.tasks[*last]))
        inFront.push_back(last ? static_cast<int32_t>(*last) : -1);
      layer[i - begin] = inFront.size() - 1;
      last = i;
    }
    // For every task, the layer of the first kernel from that task on, or -1 if
    // no kernel follows. The first kernel after a gather or fetch of a
    // parameter reads that parameter.
    std::vector<int64_t> reader(end - begin, -1);
    for (size_t i = end - begin; i-- > 0;)
      reader[i] = isKernel(list.tasks[begin + i]) ? layer[i]
                  : i + 1 < reader.size()         ? reader[i + 1]
                                                  : -1;
    for (size_t i = begin; i < end; ++i) {
      FlatTask &task = list.tasks[i];
      std::optional<int64_t> depth = prefetchDepth(task.op);
      if (!depth || reader[i - begin] < 0)
        continue;
      int32_t kernel =
          inFront[std::max<int64_t>(0, reader[i - begin] - *depth)];
      size_t place = kernel < 0 ? begin : kernel + 1;
      for (uint32_t dependency : task.dependsOn)
        if (dependency >= begin)
          place = std::max(place, available[dependency]);
      // The task does not move if it cannot run earlier than now.
      if (place >= i)
        continue;
      moves[i] = true;
      available[i] = place;
      behind[place].push_back(i);
      if (kernel >= 0 &&
          !llvm::is_contained(task.dependsOn, static_cast<uint32_t>(kernel)))
        task.dependsOn.push_back(kernel);
    }
  }
  std::vector<uint32_t> renumbered(count);
  std::vector<FlatTask> tasks;
  auto take = [&](size_t i) {
    renumbered[i] = tasks.size();
    tasks.push_back(std::move(list.tasks[i]));
  };
  for (size_t i = 0; i <= count; ++i) {
    for (uint32_t moved : behind[i])
      take(moved);
    if (i < count && !moves[i])
      take(i);
  }
  for (FlatTask &task : tasks)
    for (uint32_t &dependency : task.dependsOn)
      dependency = renumbered[dependency];
  list.tasks = std::move(tasks);
  return renumbered;
}

void proteus::placePrefetches(FlatProgram &flat) {
  std::vector<uint32_t> renumbered = placeIn(flat.micro);
  for (FlatTask &task : flat.once.tasks)
    for (uint32_t &dependency : task.dependsOnMicro)
      dependency = renumbered[dependency];
  placeIn(flat.once);
}
