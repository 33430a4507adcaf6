//===- MemoryVerdict.cpp - the memory verdict and its remedies ------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/MemoryVerdict.h"
#include "Proteus/Sim/Simulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

//===----------------------------------------------------------------------===//
// Memory taken before the first tensor
//===----------------------------------------------------------------------===//

namespace {
/// Patterns in which a communicator connects its ranks to each other.
enum class Connections : uint8_t { Ring, Message, AllPairs };
} // namespace

static Connections connectionsOf(cost::CollectiveKind kind) {
  switch (kind) {
  case cost::CollectiveKind::SendRecv:
  case cost::CollectiveKind::Permute:
  case cost::CollectiveKind::Shift:
    return Connections::Message;
  case cost::CollectiveKind::AllToAll:
  case cost::CollectiveKind::Scatter:
  case cost::CollectiveKind::Gather:
    return Connections::AllPairs;
  default:
    return Connections::Ring;
  }
}

/// Returns the number of channels of all connections of one rank in a
/// communicator with `ranks` ranks.
static int64_t numChannels(const Workload &workload, Connections connections,
                           int64_t ranks) {
  const MemoryModel &model = workload.memory;
  switch (connections) {
  case Connections::Ring:
    return model.communicatorChannels;
  case Connections::Message:
    return model.messageChannels;
  case Connections::AllPairs:
    int64_t near = std::min(ranks, workload.cluster.devicesPerNode());
    return (near - 1) * model.exchangeChannels +
           (ranks - near) * model.messageChannels;
  }
  llvm_unreachable("unknown connections");
}

std::vector<MemoryBudget> proteus::sim::budgetsOf(const Workload &workload) {
  std::vector<MemoryBudget> budgets;
  for (const DeviceClass &own : workload.classes) {
    const machine::Device &device = workload.cluster.devices[own.deviceType];
    MemoryBudget &budget = budgets.emplace_back();
    budget.capacity = device.memoryBytes;
    budget.frameworkReserve = device.reservedBytes + workload.memory.stackBytes;
  }
  // Collectives of one group share a communicator. Collectives with the same
  // pattern of connections also share the connections, so the memory is counted
  // once per group and pattern.
  using Group = std::tuple<std::string, int64_t, Connections>;
  std::map<Group, std::vector<bool>> members;
  for (const Collective &collective : workload.collectives) {
    int64_t ranks = collective.groupSize;
    if (ranks < 2)
      continue;
    Connections connections = connectionsOf(collective.kind);
    std::vector<bool> &isMember =
        members[{collective.axes, ranks, connections}];
    isMember.resize(workload.classes.size());
    for (uint32_t member : collective.members) {
      if (isMember[member])
        continue;
      isMember[member] = true;
      budgets[member].communicationLibrary +=
          workload.memory.channelBytes *
          numChannels(workload, connections, ranks);
    }
  }
  return budgets;
}

//===----------------------------------------------------------------------===//
// Changes of the plan that save memory
//===----------------------------------------------------------------------===//

/// Returns the layer of a label, for example `layers[3]` for
/// `layers[3].mlp.fc1`. Returns an empty string if the label belongs to no
/// layer.
static StringRef layerOf(StringRef label) {
  size_t end = label.find(']');
  return end == StringRef::npos ? StringRef() : label.take_front(end + 1);
}

namespace {

/// The activations that need not be saved if layers are recomputed: all that
/// the layers of a class save for their backward passes, except the inputs of
/// layers. Sizes are per micro-batch.
struct Recomputable {
  int64_t bytes = 0;        ///< bytes of all layers
  int64_t largestLayer = 0; ///< bytes of the largest layer
  unsigned layers = 0;
};

/// Finds changes of the plan that would save memory on a class that does not
/// fit.
class KnobFinder {
public:
  KnobFinder(const Workload &workload, const MemoryVerdict &verdict,
             const ClassResult &result)
      : workload(workload), info(workload.info),
        device(workload.classes[verdict.classIndex]), peak(result.memory),
        inFlight(result.allocator.inFlight), excess(verdict.excess()) {
    for (const Buffer &buffer : device.resident)
      if (!buffer.onHost)
        resident[static_cast<unsigned>(buffer.owner)] += buffer.bytes;
    layers = findRecomputable();
  }

  std::vector<MemoryKnob> find();

private:
  Recomputable findRecomputable() const;
  void addRecompute();
  void addZero();
  void addTensorParallel();
  void addPipeline();
  void addMicroBatches();
  void addOffload();
  /// Adds a change if it saves at least one hundredth of the excess.
  void add(StringRef name, const Twine &description, int64_t saving) {
    if (saving > 0 && saving >= excess / 100)
      knobs.push_back({name.str(), description.str(), saving});
  }

  /// Returns the bytes of an owner at the peak of the memory.
  int64_t atPeak(MemoryOwner owner) const {
    return peak.byOwner[static_cast<unsigned>(owner)];
  }
  /// Returns the bytes of an owner that are held during the whole step.
  int64_t held(MemoryOwner owner) const {
    return resident[static_cast<unsigned>(owner)];
  }
  /// Returns the bytes of activations of all micro-batches in flight.
  int64_t activations() const {
    return atPeak(MemoryOwner::Activations) - held(MemoryOwner::Activations);
  }

  const Workload &workload;
  const JobInfo &info;
  const DeviceClass &device;
  const MemoryPeak &peak;
  int64_t inFlight; ///< number of micro-batches in flight
  int64_t excess;
  BytesByOwner resident = {};
  Recomputable layers;
  std::vector<MemoryKnob> knobs;
};

} // namespace

/// Owners of memory that is proportional to the parameters of the class.
static constexpr MemoryOwner modelStates[] = {
    MemoryOwner::OptimizerState, MemoryOwner::MasterWeights,
    MemoryOwner::Gradients, MemoryOwner::Parameters};

Recomputable KnobFinder::findRecomputable() const {
  const Template &micro = device.micro;
  auto layerOfTask = [&](const Task &task) {
    return layerOf(workload.labels[task.label]);
  };
  std::vector<const Task *> producer(micro.buffers.size());
  std::vector<bool> isSaved(micro.buffers.size()), isInput(isSaved);
  std::map<StringRef, int64_t> byLayer;
  for (const Task &task : micro.tasks) {
    if (task.phase != Phase::Forward)
      continue;
    if (!layerOfTask(task).empty())
      byLayer[layerOfTask(task)];
    for (uint32_t buffer : task.allocates)
      producer[buffer] = &task;
  }
  for (const Task &task : micro.tasks)
    for (uint32_t buffer : task.reads) {
      if (!producer[buffer])
        continue;
      if (task.phase != Phase::Forward)
        isSaved[buffer] = true;
      else if (layerOfTask(task) != layerOfTask(*producer[buffer]))
        isInput[buffer] = true;
    }
  Recomputable result;
  for (size_t b = 0; b < micro.buffers.size(); ++b) {
    const Buffer &buffer = micro.buffers[b];
    if (!isSaved[b] || isInput[b] || buffer.onHost ||
        buffer.owner != MemoryOwner::Activations)
      continue;
    if (StringRef layer = layerOfTask(*producer[b]); !layer.empty())
      byLayer[layer] += buffer.bytes;
  }
  result.layers = byLayer.size();
  for (auto [layer, bytes] : byLayer) {
    result.bytes += bytes;
    result.largestLayer = std::max(result.largestLayer, bytes);
  }
  return result;
}

void KnobFinder::addRecompute() {
  // The activations of one layer at a time remain in memory, because the
  // backward pass of a layer recomputes the activations of this layer.
  int64_t saving = layers.bytes * inFlight - layers.largestLayer;
  add("recompute", "recompute layers, keep their inputs only",
      std::min(saving, activations()));
}

void KnobFinder::addZero() {
  struct Level {
    StringRef name, what;
    std::vector<MemoryOwner> owners;
  };
  const Level levels[] = {
      {"zero_1",
       "ZeRO 1: optimizer state",
       {MemoryOwner::OptimizerState, MemoryOwner::MasterWeights}},
      {"zero_2",
       "ZeRO 2: optimizer state and gradients",
       {MemoryOwner::Gradients}},
      {"zero_3",
       "ZeRO 3: optimizer state, gradients and parameters",
       {MemoryOwner::Parameters}},
  };
  int64_t saving = 0, replicas = 1;
  for (const Level &level : levels) {
    int64_t before = saving;
    for (const Buffer &buffer : device.resident) {
      if (buffer.onHost || buffer.replicas < 2 ||
          !llvm::is_contained(level.owners, buffer.owner))
        continue;
      saving +=
          buffer.bytes - (buffer.bytes + buffer.replicas - 1) / buffer.replicas;
      replicas = std::max(replicas, buffer.replicas);
    }
    if (saving > before)
      add(level.name,
          level.what + " divided among " + Twine(replicas) + " ranks", saving);
  }
}

void KnobFinder::addTensorParallel() {
  int64_t degree = info.degree(AxisRole::Tensor);
  int64_t halved = 0;
  if (degree > 1)
    for (int64_t bytes : peak.tensorSplit)
      halved += bytes;
  else
    for (MemoryOwner owner : modelStates)
      halved += held(owner);
  add("tensor_parallel",
      "tensor parallel degree " + Twine(2 * degree) + " instead of " +
          Twine(degree),
      halved / 2);
}

void KnobFinder::addPipeline() {
  if (layers.layers < 2)
    return;
  int64_t stages = info.degree(AxisRole::Pipeline);
  int64_t saving = 0;
  for (MemoryOwner owner : modelStates)
    saving += held(owner) / 2;
  // With twice as many stages, each stage has half the layers, and twice as
  // many micro-batches in flight if the job has that many.
  if (inFlight > 0)
    saving += activations() - activations() / (2 * inFlight) *
                                  std::min(info.microBatches, 2 * inFlight);
  add("pipeline_parallel",
      Twine(2 * stages) + " pipeline stages instead of " + Twine(stages),
      saving);
}

void KnobFinder::addMicroBatches() {
  if (inFlight > 1) {
    int64_t enough =
        std::max<int64_t>(1, info.degree(AxisRole::Pipeline) - device.stage);
    int64_t fewer = inFlight > enough ? enough : inFlight / 2;
    add("in_flight",
        "micro-batches in flight: " + Twine(fewer) + " instead of " +
            Twine(inFlight) + " (order, max_ongoing)",
        activations() / inFlight * (inFlight - fewer));
  }
  int64_t samples =
      info.globalBatch / (info.microBatches * info.degree(AxisRole::Data));
  // If the job has several micro-batches and all are in flight, smaller
  // micro-batches save nothing, because twice as many of them would be in
  // flight.
  if (samples >= 2 && (info.microBatches == 1 || inFlight < info.microBatches))
    add("micro_batch",
        Twine(2 * info.microBatches) + " micro-batches of " +
            Twine(samples / 2) + " samples per rank instead of " +
            Twine(info.microBatches) + " of " + Twine(samples),
        activations() / samples * (samples - samples / 2));
}

void KnobFinder::addOffload() {
  add("offload_optimizer", "optimizer state in host memory",
      held(MemoryOwner::OptimizerState) + held(MemoryOwner::MasterWeights));
}

std::vector<MemoryKnob> KnobFinder::find() {
  addRecompute();
  addZero();
  addTensorParallel();
  addPipeline();
  addMicroBatches();
  addOffload();
  llvm::sort(knobs, [](const MemoryKnob &a, const MemoryKnob &b) {
    return std::tie(b.saving, a.name) < std::tie(a.saving, b.name);
  });
  return std::move(knobs);
}

//===----------------------------------------------------------------------===//
// Computing the verdict
//===----------------------------------------------------------------------===//

MemoryVerdict proteus::sim::verdictOf(const Workload &workload,
                                      const SimulationResult &result) {
  MemoryVerdict worst;
  for (uint32_t c = 0; c < result.classes.size(); ++c) {
    MemoryVerdict own;
    own.classIndex = c;
    own.budget = result.classes[c].budget;
    own.needed = own.budget.frameworkReserve + own.budget.communicationLibrary +
                 result.classes[c].allocator.reserved;
    if (c == 0 || own.excess() > worst.excess())
      worst = own;
  }
  const ClassResult &stage = result.classes[worst.classIndex];
  auto add = [&](StringRef owner, int64_t bytes) {
    if (bytes > 0)
      worst.owners.push_back({owner.str(), bytes});
  };
  for (unsigned o = 0; o < numMemoryOwners; ++o)
    add(stringify(static_cast<MemoryOwner>(o)), stage.memory.byOwner[o]);
  add("allocator", stage.allocator.reserved - stage.memory.bytes);
  add("framework", worst.budget.frameworkReserve);
  add("communication_library", worst.budget.communicationLibrary);
  llvm::sort(worst.owners, [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  if (!worst.fits())
    worst.knobs = KnobFinder(workload, worst, stage).find();
  return worst;
}
