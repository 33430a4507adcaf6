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
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

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

/// Returns true if a task changes the layout of a value for its readers.
static bool isConversion(const FlatTask &task) {
  return !isa<nn::IterationSpaceOpInterface, dist::RecvOp, dist::SendOp,
              dist::ShiftOp>(task.op);
}

static bool isKernel(const FlatTask &task) {
  return isa<nn::IterationSpaceOpInterface>(task.op);
}

/// Returns true if a task reduces a gradient, or reshards it to its storage
/// layout.
static bool storesGradient(const FlatTask &task) {
  return dist::getPurpose(task.op) == dist::Purpose::Gradient;
}

/// Returns true if `op` is a reduce-scatter, of one value or of several.
static bool scatters(Operation *op) {
  auto fused = dyn_cast<dist::FusedReduceOp>(op);
  return isa<dist::ReduceScatterOp>(op) ||
         (fused && fused.getKind() == dist::CollectiveKind::ReduceScatter);
}

namespace {
/// Consecutive kernels of one layer, with the communication before and between
/// them.
struct Run {
  size_t begin; ///< index after the last kernel of the previous run
  size_t first; ///< index of the first kernel of this run
  size_t end;   ///< index after the last kernel of this run
};

/// Groups of tasks that are issued at the same place, in their order there.
enum class Group : uint8_t {
  Messages,
  Conversions,
  Offloads,
  Reductions,
  Stays
};

/// The place of a task in the new order. Tasks are sorted by it, and tasks with
/// equal places keep their order.
struct Place {
  size_t before; ///< index of the task before which the task is issued
  Group group = Group::Stays;
  /// For a conversion, the entry of SectionOrder::readers; for a reduction, the
  /// task that computes the gradient; for an offload, the task that receives
  /// the value.
  std::pair<size_t, size_t> detail = {0, 0};

  bool operator<(const Place &other) const {
    return std::tie(before, group, detail) <
           std::tie(other.before, other.group, other.detail);
  }
};

/// Finds the places of the tasks of the last section of a list.
class SectionOrder {
public:
  SectionOrder(std::vector<FlatTask> &tasks, size_t begin, int64_t reductions)
      : tasks(tasks), begin(begin), count(tasks.size() - begin),
        reductions(reductions) {}

  /// Returns the indices of all tasks of the section in their new order.
  std::vector<size_t> run();

private:
  /// The last kernel on which a task depends, directly or through
  /// communication.
  struct Origin {
    int64_t task = -1;
    /// True if the task depends on a message that moves before a layer.
    bool message = false;
    /// True if the task depends on the reduction of a gradient.
    bool reduction = false;
  };

  void findRuns();
  void placeMessages();
  void placeOffloads();
  void findOrigins();
  void findReaders();
  void placeConversions();
  void placeReductions();
  void limitReductions(ArrayRef<std::pair<size_t, size_t>> moved);

  /// Returns the layer that only saves the result of conversion `i`, if its
  /// operand was computed before that layer. Returns null for other tasks.
  const Run *findSavingRun(size_t i);

  Place &placeOf(size_t i) { return places[i - begin]; }
  Origin &originOf(size_t i) { return origins[i - begin]; }
  std::pair<size_t, size_t> &readerOf(size_t i) { return readers[i - begin]; }
  /// Returns the number of the run that contains task `i`, or of the next run.
  size_t runOf(size_t i) const {
    return llvm::upper_bound(
               runs, i, [](size_t i, const Run &run) { return i < run.end; }) -
           runs.begin();
  }
  StringRef layerOf(const Run &run) const {
    return ::layerOf(tasks[run.end - 1]);
  }
  /// Returns true if task `i` is outside of the repeat that contains `reader`.
  bool isOutside(size_t i, size_t reader) const {
    return tasks[i].op->getParentOfType<nn::RepeatOp>() !=
           tasks[reader].op->getParentOfType<nn::RepeatOp>();
  }
  bool isEarlier(int64_t task) const {
    return task < static_cast<int64_t>(begin);
  }

  std::vector<FlatTask> &tasks;
  size_t begin, count;
  /// Number of layers that may have gradients that are not scattered yet.
  int64_t reductions;
  std::vector<Run> runs;
  std::vector<Place> places;
  std::vector<Origin> origins;
  /// For every task, the first kernel of the section that reads its result,
  /// directly or through communication, and the position of the result among
  /// the dependencies of this kernel. The kernel is the number of tasks if
  /// there is none.
  std::vector<std::pair<size_t, size_t>> readers;
};
} // namespace

void SectionOrder::findRuns() {
  for (size_t i = begin; i < tasks.size(); ++i) {
    if (!isKernel(tasks[i]))
      continue;
    if (runs.empty())
      runs.push_back({begin, i, i + 1});
    else if (::layerOf(tasks[i]) != layerOf(runs.back()))
      runs.push_back({runs.back().end, i, i + 1});
    runs.back().end = i + 1;
  }
}

/// Moves receives before the layer that reads their messages.
void SectionOrder::placeMessages() {
  for (size_t i = begin; i < tasks.size(); ++i) {
    size_t run = runOf(i);
    if (isa<dist::RecvOp>(tasks[i].op) && run < runs.size() &&
        !layerOf(runs[run]).empty())
      placeOf(i) = {runs[run].begin, Group::Messages};
  }
}

/// Moves the offload of a received value after the receive, before the layer. A
/// repeat offloads such a value when it enters the body; layers that are
/// written out receive it directly before the first kernel that reads it. Sorts
/// the offloads of the results of one kernel by the numbers of the results.
void SectionOrder::placeOffloads() {
  llvm::MapVector<size_t, SmallVector<size_t>> ofKernel;
  for (size_t i = begin; i < tasks.size(); ++i) {
    if (!isa<dist::OffloadOp>(tasks[i].op) || tasks[i].dependsOn.size() != 1)
      continue;
    size_t source = tasks[i].dependsOn.front();
    if (isEarlier(source))
      continue;
    if (isKernel(tasks[source]))
      ofKernel[source].push_back(i);
    else if (placeOf(source).group == Group::Messages)
      placeOf(i) = {placeOf(source).before, Group::Offloads, {source, 0}};
  }
  auto resultOf = [&](size_t i) {
    auto result = dyn_cast<OpResult>(tasks[i].op->getOperand(0));
    return result ? result.getResultNumber() : 0;
  };
  for (auto &[kernel, offloads] : ofKernel) {
    SmallVector<size_t> sorted(offloads);
    llvm::sort(sorted, [&](size_t a, size_t b) {
      return std::pair(resultOf(a), a) < std::pair(resultOf(b), b);
    });
    for (auto [offload, index] : llvm::zip_equal(sorted, offloads))
      placeOf(offload) = {index};
  }
}

void SectionOrder::findOrigins() {
  origins.resize(count);
  for (size_t i = begin; i < tasks.size(); ++i) {
    Origin &origin = originOf(i);
    if (isKernel(tasks[i])) {
      origin.task = i;
      continue;
    }
    origin.message = placeOf(i).group == Group::Messages;
    for (uint32_t dependency : tasks[i].dependsOn) {
      Origin other{dependency};
      if (!isEarlier(dependency))
        other = originOf(dependency);
      origin.task = std::max(origin.task, other.task);
      origin.message |= other.message;
      origin.reduction |= other.reduction;
    }
    origin.reduction |= storesGradient(tasks[i]);
  }
}

void SectionOrder::findReaders() {
  readers.assign(count, {tasks.size(), 0});
  for (size_t i = tasks.size(); i-- > begin;)
    for (auto [position, dependency] : llvm::enumerate(tasks[i].dependsOn))
      if (!isEarlier(dependency))
        readerOf(dependency) = std::min(
            readerOf(dependency),
            isKernel(tasks[i]) ? std::pair(i, size_t(position)) : readerOf(i));
}

const Run *SectionOrder::findSavingRun(size_t i) {
  StringRef layer = ::layerOf(tasks[i]);
  if (layer.empty() || !isConversion(tasks[i]) ||
      isa<dist::OffloadOp>(tasks[i].op) ||
      dist::getPurpose(tasks[i].op) != dist::Purpose::Activation)
    return nullptr;
  auto run = llvm::find_if(
      runs, [&](const Run &run) { return layerOf(run) == layer; });
  if (run == runs.end() || originOf(i).task >= static_cast<int64_t>(run->begin))
    return nullptr;
  return &*run;
}

/// Moves conversions, which are all other communication with a reader in the
/// section, except steps of a ring. A value of an earlier layer and a received
/// value are converted at the start of the layer that reads them. A value of
/// another section that is converted before this layer is converted directly
/// before the first kernel that reads it instead, and so is a value that a
/// repeat within a layer reads from outside. A value from outside of a layer
/// that is converted only to be saved is converted at the start of the layer.
/// All other conversions stay between the same kernels, in the order of their
/// readers, so the own chunk of a device precedes those that it receives.
void SectionOrder::placeConversions() {
  // A conversion must not move after a task that reads its result, so readers
  // are visited first.
  std::vector<size_t> limits(count, tasks.size());
  size_t nextKernel = tasks.size();
  for (size_t i = tasks.size(); i-- > begin;) {
    const Origin &origin = originOf(i);
    size_t reader = readerOf(i).first;
    if (isConversion(tasks[i]) && !origin.reduction && reader < tasks.size()) {
      const Run &run = runs[runOf(reader)];
      bool isHere = origin.task >= static_cast<int64_t>(run.begin);
      bool arrives = origin.message || (!isHere && !isEarlier(origin.task));
      if (arrives)
        placeOf(i) = {run.begin, Group::Conversions, readerOf(i)};
      else if ((!isHere && nextKernel == run.first) || isOutside(i, reader))
        placeOf(i) = {reader, Group::Conversions, readerOf(i)};
      else
        placeOf(i) = {nextKernel, Group::Conversions, readerOf(i)};
      placeOf(i).before = std::min(placeOf(i).before, limits[i - begin]);
    } else if (const Run *run = findSavingRun(i)) {
      placeOf(i) = {run->begin, Group::Conversions, readerOf(i)};
    }
    for (uint32_t dependency : tasks[i].dependsOn)
      if (!isEarlier(dependency))
        limits[dependency - begin] =
            std::min(limits[dependency - begin], placeOf(i).before);
    if (isKernel(tasks[i]))
      nextKernel = i;
  }
}

/// Moves the reductions of gradients to the end of the layer that computes
/// them. Each then waits for the last of the gradients that are reduced there.
void SectionOrder::placeReductions() {
  DenseMap<StringRef, size_t> runOfLayer;
  for (auto [number, run] : llvm::enumerate(runs))
    runOfLayer[layerOf(run)] = number;
  // A reduction does not move if a task of its own layer reads the result,
  // because the reduction must precede that task.
  std::vector<size_t> firstReader(count, tasks.size());
  for (size_t i = tasks.size(); i-- > begin;)
    if (!storesGradient(tasks[i]))
      for (uint32_t dependency : tasks[i].dependsOn)
        if (!isEarlier(dependency))
          firstReader[dependency - begin] = i;
  /// For every run, the last kernel that computes a gradient for its
  /// reductions.
  std::vector<std::optional<uint32_t>> gradients(runs.size());
  std::vector<std::pair<size_t, size_t>> moved;
  for (size_t i = begin; i < tasks.size(); ++i) {
    if (!storesGradient(tasks[i]))
      continue;
    int64_t source = originOf(i).task;
    auto found = runOfLayer.find(::layerOf(tasks[i]));
    if (isEarlier(source) && found == runOfLayer.end())
      continue;
    size_t number = isEarlier(source) ? found->second : runOf(source);
    const Run &run = runs[number];
    if (layerOf(run).empty() || firstReader[i - begin] < run.end)
      continue;
    if (!isEarlier(source))
      gradients[number] = std::max<uint32_t>(gradients[number].value_or(0),
                                             static_cast<uint32_t>(source));
    placeOf(i) = {
        run.end, Group::Reductions, {static_cast<size_t>(source + 1), 0}};
    moved.push_back({i, number});
  }
  for (auto [i, number] : moved)
    if (gradients[number] &&
        !llvm::is_contained(tasks[i].dependsOn, *gradients[number]))
      tasks[i].dependsOn.push_back(*gradients[number]);
  limitReductions(moved);
}

/// Lets kernels wait for reduce-scatters, so that at most `reductions` layers
/// have gradients that are not scattered yet. `moved` holds pairs of a
/// reduction and the number of its run.
void SectionOrder::limitReductions(ArrayRef<std::pair<size_t, size_t>> moved) {
  std::map<size_t, SmallVector<uint32_t>> ofRun;
  for (auto [i, number] : moved)
    if (scatters(tasks[i].op))
      ofRun[number].push_back(i);
  std::deque<ArrayRef<uint32_t>> waiting;
  for (auto &[number, list] : ofRun) {
    waiting.push_back(list);
    if (waiting.size() < static_cast<size_t>(reductions) ||
        number + 1 == runs.size())
      continue;
    llvm::append_range(tasks[runs[number + 1].first].dependsOn,
                       waiting.front());
    waiting.pop_front();
  }
}

std::vector<size_t> SectionOrder::run() {
  places.resize(count);
  for (size_t i = begin; i < tasks.size(); ++i)
    placeOf(i) = {i};
  findRuns();
  placeMessages();
  placeOffloads();
  findOrigins();
  findReaders();
  placeConversions();
  placeReductions();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), begin);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::tie(placeOf(a), a) < std::tie(placeOf(b), b);
  });
  return order;
}

std::vector<uint32_t> proteus::orderSection(FlatList &list, bool byLayer,
                                            int64_t reductions) {
  size_t begin = list.sectionBegin.back();
  size_t count = list.tasks.size() - begin;
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), begin);
  if (byLayer)
    order = SectionOrder(list.tasks, begin, reductions).run();
  std::vector<uint32_t> renumbered(count);
  std::vector<FlatTask> ordered;
  std::optional<uint32_t> lastOnCompute;
  for (size_t i : order) {
    uint32_t number = begin + ordered.size();
    renumbered[i - begin] = number;
    FlatTask task = std::move(list.tasks[i]);
    for (uint32_t &dependency : task.dependsOn)
      if (dependency >= begin)
        dependency = renumbered[dependency - begin];
    if (getStream(task.op) == sim::Stream::Compute)
      lastOnCompute = number;
    if (!task.blocks) {
      ordered.push_back(std::move(task));
      continue;
    }
    // A blocking communication starts after all earlier kernels of its section.
    // Kernels run in order, so a dependency on the last of them is enough.
    if (lastOnCompute && !llvm::is_contained(task.dependsOn, *lastOnCompute))
      task.dependsOn.push_back(*lastOnCompute);
    FlatTask wait;
    wait.op = task.op;
    wait.label = task.label;
    wait.phase = task.phase;
    wait.waits = true;
    wait.dependsOn = {number};
    lastOnCompute = number + 1;
    ordered.push_back(std::move(task));
    ordered.push_back(std::move(wait));
  }
  list.tasks.resize(begin);
  llvm::move(ordered, std::back_inserter(list.tasks));
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
  if (!isa<dist::AllGatherOp, dist::FusedGatherOp, dist::FetchOp>(op) ||
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
  std::vector<std::vector<uint32_t>> movedTo(count + 1);
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
    std::vector<int32_t> lastBefore;
    std::vector<uint32_t> layer(end - begin);
    std::optional<size_t> last;
    for (size_t i = begin; i < end; ++i) {
      if (!isKernel(list.tasks[i]))
        continue;
      if (!last || layerOf(list.tasks[i]) != layerOf(list.tasks[*last]))
        lastBefore.push_back(last ? static_cast<int32_t>(*last) : -1);
      layer[i - begin] = lastBefore.size() - 1;
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
          lastBefore[std::max<int64_t>(0, reader[i - begin] - *depth)];
      size_t place = kernel < 0 ? begin : kernel + 1;
      for (uint32_t dependency : task.dependsOn)
        if (dependency >= begin)
          place = std::max(place, available[dependency]);
      if (kernel >= 0 &&
          !llvm::is_contained(task.dependsOn, static_cast<uint32_t>(kernel)))
        task.dependsOn.push_back(kernel);
      // The task does not move if it cannot run earlier than now.
      if (place >= i)
        continue;
      moves[i] = true;
      available[i] = place;
      movedTo[place].push_back(i);
    }
  }
  std::vector<uint32_t> renumbered(count);
  std::vector<FlatTask> tasks;
  auto take = [&](size_t i) {
    renumbered[i] = tasks.size();
    tasks.push_back(std::move(list.tasks[i]));
  };
  for (size_t i = 0; i <= count; ++i) {
    for (uint32_t moved : movedTo[i])
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
