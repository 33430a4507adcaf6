//===- BuildWorkload.cpp - workloads from dist programs -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Simulate/BuildWorkload.h"

#include "CostRules.h"
#include "FlatProgram.h"
#include "GroupFamilies.h"
#include "JobInfo.h"
#include "LocalWork.h"
#include "RankEquivalence.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Verify/VerifyPrograms.h"

#include "llvm/ADT/StringMap.h"

#include <map>

using namespace mlir;
using namespace proteus;
using dist::Axis;

namespace {

class WorkloadBuilder {
public:
  WorkloadBuilder(ModuleOp module, const MachineModel &machine,
                  const WorkloadOptions &options)
      : module(module), machine(machine), cluster(machine.cluster),
        options(options), rules(machine.fidelity == Fidelity::Paper
                                    ? createPaperRules()
                                    : createFlowRules(options.stack)) {}

  FailureOr<sim::Workload> run();

private:
  LogicalResult findPrograms();
  LogicalResult checkHostCopies(dist::ProgramOp program);
  /// Emits an error if a device does not support the type that
  /// `proteus.compute` sets for an operation.
  LogicalResult checkTypes(dist::ProgramOp program);
  LogicalResult checkDevices();
  LogicalResult fold();
  void buildClass(uint32_t number);
  void fillTemplate(sim::DeviceClass &device, uint32_t number,
                    const FlatList &from, bool once, sim::Template &to);
  sim::Buffer bufferOf(const FlatBuffer &buffer, uint32_t number);
  /// Returns the cost of `op` on the device class `number`, or null if no
  /// kernel runs there.
  const KernelCost *kernelCost(nn::IterationSpaceOpInterface op,
                               sim::Phase phase, uint32_t number);
  RankContext rankOf(uint32_t number) const {
    return {coordinates[number], deviceTypeOf(number),
            *machine.kernels[cluster.deviceTypeOf(deviceOf(number))]};
  }
  StringRef boundBy(const FlatTask &task, uint32_t number);
  cost::Time copyTime(Operation *op, uint32_t number);
  int32_t collectiveOf(const FlatTask &task, uint32_t index, uint32_t number,
                       bool once);
  uint32_t label(StringRef text);

  const machine::Device &deviceTypeOf(uint32_t number) const {
    return cluster.devices[cluster.deviceTypeOf(deviceOf(number))];
  }

  int64_t deviceOf(uint32_t number) const {
    return mesh.getDevice(
        mesh.getCoordinates(folding.ranks[number].representative));
  }

  ModuleOp module;
  const MachineModel &machine;
  const machine::Cluster &cluster;
  WorkloadOptions options;
  std::unique_ptr<CostRules> rules;
  sim::Workload workload;

  dist::ScheduleOp schedule;
  std::vector<FlatProgram> programs;
  dist::MeshAttr mesh;
  std::optional<Axis> pipelineAxis;

  std::optional<GroupFamilies> families;
  sim::Folding folding;
  /// For each class, the coordinates of its representative rank: that of
  /// `micro`, then one per axis of the mesh.
  std::vector<SmallVector<int64_t>> coordinates;
  std::vector<uint32_t> stageOf; ///< stage of each class

  llvm::StringMap<uint32_t> labels;
  /// Results of `kernelCost`, by operation and class.
  DenseMap<std::pair<Operation *, uint32_t>, std::optional<KernelCost>>
      kernelCosts;
  /// Indices into Workload::collectives, by the key that `collectiveOf`
  /// computes. Tasks with the same key take part in the same collective.
  std::map<std::vector<int64_t>, int32_t> collectives;
  DenseMap<std::pair<Operation *, int32_t>, int32_t> bucketNumbers;
};

} // namespace

uint32_t WorkloadBuilder::label(StringRef text) {
  auto [entry, isNew] = labels.try_emplace(text, workload.labels.size());
  if (isNew)
    workload.labels.push_back(text.str());
  return entry->second;
}

LogicalResult WorkloadBuilder::findPrograms() {
  SmallVector<dist::ScheduleOp> schedules(module.getOps<dist::ScheduleOp>());
  if (schedules.size() != 1)
    return emitError(module.getLoc(), "expected one dist.schedule, found ")
           << schedules.size() << "; run lower-strategy first";
  schedule = schedules.front();
  SmallVector<dist::ProgramOp> stages = schedule.lookupPrograms();
  if (!verifyPrograms(stages) || !verifySchedule(schedule))
    return failure();
  for (dist::ProgramOp program : stages) {
    // The reference has a buffer for every sum.
    FailureOr<FlatProgram> flat =
        flatten(program, machine.fidelity == Fidelity::Flow);
    if (failed(flat) || failed(checkHostCopies(program)) ||
        failed(checkTypes(program)))
      return failure();
    programs.push_back(std::move(*flat));
  }
  mesh = programs.front().program.getMesh();
  for (FlatProgram &flat : programs)
    for (auto [axis, position] : flat.program.getFixed())
      pipelineAxis = axis;
  return checkDevices();
}

LogicalResult WorkloadBuilder::checkHostCopies(dist::ProgramOp program) {
  bool known = llvm::all_of(cluster.kinds, [](const machine::NodeKind &kind) {
    return kind.host.has_value();
  });
  WalkResult copies = program.walk([&](Operation *op) {
    if (!isa<dist::OffloadOp, dist::FetchOp>(op) || known)
      return WalkResult::advance();
    op->emitOpError("copies between device and host, but the cluster '")
        << cluster.name
        << "' has no link between them; give it a \"host\" link with "
           "bandwidth_gbps and latency_us";
    return WalkResult::interrupt();
  });
  return failure(copies.wasInterrupted());
}

LogicalResult WorkloadBuilder::checkTypes(dist::ProgramOp program) {
  WalkResult result = program.walk([&](Operation *op) {
    if (!op->hasAttr(ProteusDialect::computeAttrName))
      return WalkResult::advance();
    machine::DType type = computeType(op);
    for (const machine::Device &device : cluster.devices)
      if (!device.supports(type)) {
        op->emitOpError("computes in ")
            << machine::stringify(type) << ", which the device '" << device.name
            << "' has no peak rate for; use another precision or device";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult WorkloadBuilder::checkDevices() {
  int64_t available = cluster.numDevices();
  const dist::Mesh &grid = mesh.getValue();
  // A mesh without a list of devices consists of the devices 0, 1, ...
  int64_t largest = grid.devices.empty() ? grid.getNumDevices() - 1
                                         : *llvm::max_element(grid.devices);
  if (largest < available)
    return success();
  int64_t first = available;
  if (!grid.devices.empty())
    first = *llvm::find_if(grid.devices,
                           [&](int64_t device) { return device >= available; });
  return schedule.emitOpError("its mesh names device ")
         << first << ", but the cluster '" << cluster.name << "' has "
         << available << " devices; use more nodes";
}

static bool isRooted(const sim::GroupCollective &collective) {
  return collective.kind == cost::CollectiveKind::Broadcast ||
         collective.kind == cost::CollectiveKind::Scatter ||
         collective.kind == cost::CollectiveKind::Gather;
}

/// Finds the classes of equivalent ranks, groups and links.
LogicalResult WorkloadBuilder::fold() {
  const dist::Mesh &grid = mesh.getValue();
  families.emplace(mesh, pipelineAxis, *rules);
  for (auto [stage, flat] : llvm::enumerate(programs))
    for (const FlatList *list : {&flat.micro, &flat.once})
      for (const FlatTask &task : list->tasks)
        if (isa<dist::CollectiveOpInterface>(task.op) && !task.waits)
          families->find(task, stage);
  RankEquivalence colours(programs, grid, pipelineAxis);
  sim::FoldingRequest request{cluster, {}, {}, {}, {}, {}};
  request.mesh.sizes.assign(grid.sizes.begin(), grid.sizes.end());
  request.mesh.devices.assign(grid.devices.begin(), grid.devices.end());
  request.coloured = colours.differingAxes();
  // The root of a broadcast, scatter or gather loads other links than the other
  // members, so the members are not equivalent.
  for (const sim::GroupFamily &family : families->getFamilies())
    if (llvm::any_of(family.collectives, isRooted))
      for (unsigned axis : family.axes)
        request.coloured[axis] = true;
  request.colourOf = [&](ArrayRef<int64_t> own) {
    return colours.colourOf(own);
  };
  request.families = families->getFamilies();
  request.createCommunicator = machine.createCommunicator;
  request.keepRanksApart = !options.foldRanks;
  llvm::Expected<sim::Folding> found = sim::foldRanks(request);
  if (!found)
    return schedule.emitOpError(llvm::toString(found.takeError()));
  folding = std::move(*found);
  workload.links = folding.links;
  for (const sim::RankClass &ranks : folding.ranks) {
    SmallVector<int64_t> own = grid.getCoordinates(ranks.representative);
    stageOf.push_back(pipelineAxis ? own[*pipelineAxis - 1] : 0);
    own.insert(own.begin(), 0);
    coordinates.push_back(own);
  }
  return success();
}

const KernelCost *WorkloadBuilder::kernelCost(nn::IterationSpaceOpInterface op,
                                              sim::Phase phase,
                                              uint32_t number) {
  auto [entry, isNew] = kernelCosts.try_emplace({op, number});
  if (isNew)
    entry->second = rules->kernelCost(op, phase, rankOf(number));
  return entry->second ? &*entry->second : nullptr;
}

/// Returns "flops" or "memory", the resource that limits the speed of a kernel.
/// Returns an empty string if the task is not a kernel or has no work.
StringRef WorkloadBuilder::boundBy(const FlatTask &task, uint32_t number) {
  auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(task.op);
  if (!kernel)
    return "";
  const KernelCost *found = kernelCost(kernel, task.phase, number);
  if (!found)
    return "";
  return found->answer.memoryBound ? "memory" : "flops";
}

/// Returns the time of a copy between device and host on class `number`.
cost::Time WorkloadBuilder::copyTime(Operation *op, uint32_t number) {
  double bytes = dist::localBytes(dist::tensorTypeOf(op->getResult(0)),
                                  coordinates[number]);
  const machine::Link &link = *cluster.kindOf(deviceOf(number)).host;
  return cost::fromSeconds(link.latency + bytes / link.bandwidth);
}

/// Returns the index of the collective in which a task takes part. Adds the
/// collective if it is new. Tasks of the ranks of one group take part in the
/// same collective in three cases: they are the same task of one stage, the two
/// ends of a message, or reductions with the same tag in several stages.
int32_t WorkloadBuilder::collectiveOf(const FlatTask &task, uint32_t index,
                                      uint32_t number, bool once) {
  FamilyCollective place = families->find(task, stageOf[number]);
  uint32_t group = folding.groupOf[place.family][number];
  std::vector<int64_t> key = {place.family, group};
  std::string name;
  if (auto send = dyn_cast<dist::SendOp>(task.op)) {
    key.insert(key.end(), {1, static_cast<int64_t>(send.getTag())});
    name = "stage " + std::to_string(stageOf[number]) + " -> " +
           std::to_string(send.getStage());
  } else if (auto recv = dyn_cast<dist::RecvOp>(task.op)) {
    key.insert(key.end(), {1, static_cast<int64_t>(recv.getTag())});
    name = "stage " + std::to_string(recv.getStage()) + " -> " +
           std::to_string(stageOf[number]);
  } else if (auto reduction = dyn_cast<dist::StageReduceOp>(task.op)) {
    key.insert(key.end(), {2, static_cast<int64_t>(reduction.getTag())});
    name = "stages";
    for (int64_t stage : reduction.getStages())
      name += " " + std::to_string(stage);
  } else {
    key.insert(key.end(), {3, stageOf[number], once, index});
    const dist::Mesh &grid = mesh.getValue();
    for (unsigned axis : families->getFamilies()[place.family].axes)
      name += (name.empty() ? "" : ",") + grid.getName(axis + 1).str();
  }
  auto [entry, isNew] = collectives.try_emplace(
      key, static_cast<int32_t>(workload.collectives.size()));
  if (!isNew)
    return entry->second;
  const sim::GroupCollective &what =
      families->getFamilies()[place.family].collectives[place.collective];
  const sim::GroupClass &groups = folding.groups[place.family][group];
  const sim::FoldedCollective &how = groups.collectives[place.collective];
  sim::Collective collective;
  collective.kind = what.kind;
  collective.bytes = what.bytes;
  collective.groupSize = groups.size;
  collective.flow = how.flow;
  collective.algorithm = how.algorithm;
  collective.axes = std::move(name);
  collective.groups = groups.groups;
  collective.members = groups.members;
  rules->changeCollective(task.op, collective);
  workload.collectives.push_back(std::move(collective));
  return entry->second;
}

/// Returns the buffer of the workload for `buffer`, with the size that it has
/// on class `number`.
sim::Buffer WorkloadBuilder::bufferOf(const FlatBuffer &buffer,
                                      uint32_t number) {
  RankedTensorType type = dist::tensorTypeOf(buffer.value);
  int64_t bytes = isHeldAt(type, coordinates[number])
                      ? dist::localBytes(type, coordinates[number])
                      : 0;
  sim::Buffer result{buffer.name, bytes, buffer.owner, buffer.isOnHost()};
  result.pieces = buffer.pieces;
  if (dist::LayoutAttr layout = dist::getLayout(type))
    for (auto [i, axis] : llvm::enumerate(workload.info.axes)) {
      bool isSplit = layout.getValue().getShardedDim(i + 1).has_value();
      if (axis.role == sim::AxisRole::Tensor)
        result.tensorSplit |= isSplit;
      else if (axis.role != sim::AxisRole::Pipeline && !isSplit)
        result.replicas *= axis.size;
    }
  return result;
}

void WorkloadBuilder::fillTemplate(sim::DeviceClass &device, uint32_t number,
                                   const FlatList &from, bool once,
                                   sim::Template &to) {
  to.sectionBegin = from.sectionBegin;
  to.buffers.reserve(from.buffers.size());
  to.tasks.reserve(from.tasks.size());
  for (const FlatBuffer &buffer : from.buffers)
    to.buffers.push_back(bufferOf(buffer, number));
  for (auto [index, task] : llvm::enumerate(from.tasks)) {
    sim::Task copy;
    copy.label = label(task.label);
    copy.opKind = label(task.op->getName().getStringRef());
    copy.stream = task.waits ? sim::Stream::Compute : rules->streamOf(task.op);
    copy.phase = task.phase;
    if (task.firstOnly)
      copy.when = sim::When::FirstMicroBatch;
    copy.dependsOn = task.dependsOn;
    copy.allocates = task.allocates;
    copy.reads = task.reads;
    TaskContext context{task.op, 1, 1, pipelineAxis.has_value()};
    if (auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(task.op)) {
      if (const KernelCost *found = kernelCost(kernel, task.phase, number)) {
        copy.duration = found->answer.time;
        copy.origin = {found->answer.source, found->family,
                       found->answer.uncertainty};
        context.launches = found->launches;
      }
      copy.matrix = kernel.getKernelClass() == nn::KernelClass::Matrix;
    } else if (isa<dist::OffloadOp, dist::FetchOp>(task.op)) {
      copy.duration = copyTime(task.op, number);
    } else if (!task.waits) {
      copy.collective = collectiveOf(task, index, number, once);
      context.groupSize = workload.collectives[copy.collective].groupSize;
    }
    if (!task.waits)
      rules->changeTask(context, copy);
    if (auto fused = dyn_cast<dist::FusedReduceOp>(task.op);
        fused && fused->getParentOfType<dist::SectionOp>().getOnce()) {
      copy.when = sim::When::LastMicroBatch;
      auto [entry, isNew] = bucketNumbers.try_emplace({task.op, task.bucket},
                                                      workload.buckets.size());
      if (isNew)
        workload.buckets.push_back({device.name + " " + task.label,
                                    fused.getBucketBytes(task.bucket)});
      copy.bucket = entry->second;
    }
    for (uint32_t micro : task.dependsOnMicro)
      device.onceDependsOn.push_back({static_cast<uint32_t>(index), micro});
    if (options.origins && !task.waits)
      options.origins->push_back({task.op, number, once,
                                  static_cast<uint32_t>(index),
                                  boundBy(task, number)});
    to.tasks.push_back(std::move(copy));
  }
}

void WorkloadBuilder::buildClass(uint32_t number) {
  FlatProgram &flat = programs[stageOf[number]];
  sim::DeviceClass device;
  device.stage = stageOf[number];
  device.name = "stage " + std::to_string(device.stage);
  device.ranks = folding.ranks[number].ranks;
  device.representative = deviceOf(number);
  device.deviceType = cluster.deviceTypeOf(device.representative);
  fillTemplate(device, number, flat.micro, false, device.micro);
  fillTemplate(device, number, flat.once, true, device.once);
  for (const FlatBuffer &buffer : flat.resident)
    device.resident.push_back(bufferOf(buffer, number));
  rules->changeClass(flat, rankOf(number), device);
  if (options.interference)
    device.interference = *options.interference;
  auto sectionOf = [](const FlatList &list, const dist::Work &work) {
    return static_cast<uint32_t>(std::distance(
        list.sections.begin(),
        llvm::find(list.sections, std::pair(work.kind, work.chunk))));
  };
  for (const dist::Work &work : schedule.getWork(stageOf[number])) {
    sim::WorkItem item;
    item.once = !work.micro;
    item.microBatch = work.micro.value_or(0);
    item.section = sectionOf(item.once ? flat.once : flat.micro, work);
    device.order.push_back(item);
  }
  workload.classes.push_back(std::move(device));
}

FailureOr<sim::Workload> WorkloadBuilder::run() {
  workload.cluster = cluster;
  if (failed(findPrograms()) || failed(fold()))
    return failure();
  workload.info = describeJob(programs, pipelineAxis);
  workload.info.cluster = cluster.name;
  if (options.progress)
    options.progress->begin("preparing devices before the simulation",
                            folding.ranks.size());
  for (uint32_t number = 0; number < folding.ranks.size(); ++number) {
    buildClass(number);
    if (options.progress)
      options.progress->advance(number + 1);
  }
  rules->changeWorkload(workload);
  return std::move(workload);
}

FailureOr<sim::Workload>
proteus::buildWorkload(ModuleOp module, const MachineModel &machine,
                       const WorkloadOptions &options) {
  return WorkloadBuilder(module, machine, options).run();
}
