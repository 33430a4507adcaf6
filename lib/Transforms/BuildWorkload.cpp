//===- BuildWorkload.cpp - from dist programs to the engine -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/BuildWorkload.h"

#include "FlatProgram.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Sim/RankClasses.h"
#include "Proteus/Transforms/Annotations.h"
#include "Proteus/Transforms/VerifyPrograms.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

using namespace mlir;
using namespace proteus;
using dist::Axis;
using dist::AxisList;

static cost::DType dtypeOf(Type element) {
  if (element.isF64())
    return cost::DType::F64;
  if (element.isBF16())
    return cost::DType::BF16;
  if (element.isF16())
    return cost::DType::F16;
  if (auto type = dyn_cast<FloatType>(element))
    return type.getWidth() <= 8 ? cost::DType::F8 : cost::DType::F32;
  unsigned width = element.getIntOrFloatBitWidth();
  return width <= 8    ? cost::DType::I8
         : width <= 32 ? cost::DType::I32
                       : cost::DType::I64;
}

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Element type in which `op` computes: that of its first float operand.
static cost::DType computeType(Operation *op) {
  for (Value value : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      if (isa<FloatType>(type.getElementType()))
        return dtypeOf(type.getElementType());
  for (Value value : op->getResults())
    return dtypeOf(tensorType(value).getElementType());
  return cost::DType::F32;
}

static int64_t sizeOf(const nn::IteratorRanges &ranges) {
  int64_t size = 0;
  for (auto [begin, end] : ranges)
    size += end - begin;
  return size;
}

/// What the rank at `coordinates` holds of the iterators of `op`, read off the
/// dimensions they index.
static SmallVector<nn::IteratorRanges>
heldRanges(Operation *op, const nn::IterationSpace &space,
           ArrayRef<int64_t> coordinates) {
  SmallVector<nn::IteratorRanges> held;
  for (const nn::Iterator &iterator : space.iterators)
    held.push_back({{0, iterator.size}});
  auto visit = [&](Value value, const nn::TensorIterators &dims) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    SmallVector<dist::Ranges> local = dist::localRanges(type, coordinates);
    for (auto [dim, iterators] : llvm::enumerate(dims)) {
      if (iterators.empty())
        continue;
      // Only the major iterator of a dimension is ever split.
      int64_t minor = 1;
      for (unsigned iterator : ArrayRef(iterators).drop_front())
        minor *= space.iterators[iterator].size;
      nn::IteratorRanges part;
      for (const dist::Range &range : local[dim])
        part.push_back({range.begin / minor, range.end / minor});
      nn::IteratorRanges &known = held[iterators.front()];
      if (sizeOf(part) < sizeOf(known))
        known = std::move(part);
    }
  };
  for (auto [value, dims] : llvm::zip(op->getOperands(), space.operands))
    visit(value, dims);
  for (auto [value, dims] : llvm::zip(op->getResults(), space.results))
    visit(value, dims);
  return held;
}

namespace {

class WorkloadBuilder {
public:
  WorkloadBuilder(ModuleOp module, const cost::Cluster &cluster,
                  const cost::KernelCostModel &kernels, Fold fold)
      : module(module), cluster(cluster), kernels(kernels), fold(fold) {}

  FailureOr<sim::Workload> run();

private:
  LogicalResult findPrograms();
  void addFamilies();
  void partition();
  void fillInfo();
  void buildClass(uint32_t number);
  void fillTemplate(sim::DeviceClass &device, uint32_t number,
                    const FlatList &from, bool once, sim::Template &to);
  sim::Buffer bufferOf(const FlatBuffer &buffer, uint32_t number);
  cost::Time kernelTime(nn::IterationSpaceOpInterface op, uint32_t number);
  cost::Time copyTime(Operation *op, uint32_t number);
  int32_t collectiveOf(const FlatTask &task, uint32_t index, uint32_t number,
                       bool once);
  int32_t messageOf(Operation *op, uint32_t number);
  int32_t stageReductionOf(dist::StageReduceOp op, uint32_t number);
  uint32_t label(StringRef text);

  ArrayRef<int64_t> coordinatesOf(uint32_t number) const {
    return coordinates[number];
  }
  /// Whether a value of that type exists on the ranks of class `number`.
  bool isHeldBy(Type type, uint32_t number) const {
    dist::LayoutAttr layout = dist::getLayout(type);
    return !layout || layout.getValue().isHeldAt(coordinates[number]);
  }
  int64_t stageOfRank(ArrayRef<int64_t> deviceCoordinates) const;
  AxisList axesOf(Operation *op) const;

  ModuleOp module;
  const cost::Cluster &cluster;
  const cost::KernelCostModel &kernels;
  Fold fold;
  sim::Workload workload;

  dist::ScheduleOp schedule;
  std::vector<FlatProgram> programs;
  dist::MeshAttr mesh;
  std::optional<Axis> pipelineAxis;

  /// Families of groups, by the axes they span.
  std::map<SmallVector<Axis>, uint32_t> familyOf;
  std::vector<sim::GroupFamily> families;
  sim::RankPartition ranks;
  /// Coordinates of the representative of each class, with `micro` first.
  std::vector<SmallVector<int64_t>> coordinates;
  std::vector<uint32_t> stageOf;

  llvm::StringMap<uint32_t> labels;
  /// Costs per class and operation.
  DenseMap<std::pair<Operation *, uint32_t>, cost::Time> kernelTimes;
  std::map<std::tuple<uint32_t, bool, uint32_t, std::vector<uint32_t>>, int32_t>
      collectives;
  std::map<std::tuple<int64_t, uint32_t, uint32_t>, int32_t> messages;
  std::map<std::pair<int64_t, std::vector<uint32_t>>, int32_t> stageReductions;
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
  SmallVector<dist::ProgramOp> stages;
  for (auto name : schedule.getPrograms().getAsRange<FlatSymbolRefAttr>())
    stages.push_back(module.lookupSymbol<dist::ProgramOp>(name.getValue()));
  if (!verifyPrograms(stages) || !verifySchedule(schedule, stages))
    return failure();
  for (dist::ProgramOp program : stages) {
    FailureOr<FlatProgram> flat = flatten(program);
    if (failed(flat))
      return failure();
    WalkResult copies = program.walk([&](Operation *op) {
      if (!isa<dist::OffloadOp, dist::FetchOp>(op) || cluster.host)
        return WalkResult::advance();
      op->emitOpError("copies between device and host, but the cluster '")
          << cluster.name
          << "' says nothing about the way there; give it a \"host\" link with "
             "bandwidth_gbps and latency_us";
      return WalkResult::interrupt();
    });
    if (copies.wasInterrupted())
      return failure();
    programs.push_back(std::move(*flat));
  }
  mesh = programs.front().program.getMesh();
  for (int64_t position = 0; position < mesh.getNumDevices(); ++position) {
    int64_t device = mesh.getDevice(mesh.getCoordinates(position));
    if (device >= cluster.numDevices())
      return schedule.emitOpError("its mesh names device ")
             << device << ", but the cluster '" << cluster.name << "' has "
             << cluster.numDevices() << " devices; use more nodes";
  }
  for (FlatProgram &flat : programs)
    for (auto [axis, position] : flat.program.getFixed())
      pipelineAxis = axis;
  return success();
}

int64_t
WorkloadBuilder::stageOfRank(ArrayRef<int64_t> deviceCoordinates) const {
  return pipelineAxis ? deviceCoordinates[*pipelineAxis - 1] : 0;
}

AxisList WorkloadBuilder::axesOf(Operation *op) const {
  return *dist::getAxes(mesh, cast<dist::CollectiveOpInterface>(op).getAxes());
}

/// Groups of ranks that communicate: one family per set of axes, one per pair
/// of stages that exchange messages, one per set of stages that reduce.
void WorkloadBuilder::addFamilies() {
  const dist::Mesh &grid = mesh.getValue();
  int64_t numRanks = mesh.getNumDevices();
  // Ranks with equal keys are a group; ranks without a key take no part.
  auto add = [&](llvm::function_ref<std::optional<SmallVector<int64_t>>(
                     SmallVector<int64_t>)>
                     keyOf) {
    sim::GroupFamily family;
    std::map<SmallVector<int64_t>, uint32_t> groups;
    std::vector<SmallVector<int64_t>> devices;
    for (int64_t rank = 0; rank < numRanks; ++rank) {
      SmallVector<int64_t> own = grid.getCoordinates(rank);
      auto key = keyOf(own);
      if (!key) {
        family.groupOf.push_back(sim::GroupFamily::noGroup);
        continue;
      }
      auto [entry, isNew] = groups.try_emplace(*key, devices.size());
      if (isNew)
        devices.emplace_back();
      family.groupOf.push_back(entry->second);
      devices[entry->second].push_back(grid.getDevice(own));
    }
    for (ArrayRef<int64_t> group : devices)
      family.shapes.push_back(cost::shapeOf(cluster, group));
    families.push_back(std::move(family));
  };
  std::set<std::pair<int64_t, int64_t>> pairs;
  std::set<std::vector<int64_t>> reductions;
  for (auto [number, flat] : llvm::enumerate(programs)) {
    int64_t stage = number;
    flat.program.walk([&](dist::CollectiveOpInterface op) {
      if (auto send = dyn_cast<dist::SendOp>(op.getOperation())) {
        int64_t other = send.getStage();
        if (!pairs.insert({stage, other}).second)
          return;
        // Messages connect ranks that differ in their stage only.
        add([&](SmallVector<int64_t> own)
                -> std::optional<SmallVector<int64_t>> {
          int64_t &coordinate = own[*pipelineAxis - 1];
          if (coordinate != stage && coordinate != other)
            return std::nullopt;
          coordinate = 0;
          return own;
        });
        return;
      }
      if (auto reduction = dyn_cast<dist::StageReduceOp>(op.getOperation())) {
        ArrayRef<int64_t> members = reduction.getStages();
        if (!reductions.insert(members.vec()).second)
          return;
        add([&](SmallVector<int64_t> own)
                -> std::optional<SmallVector<int64_t>> {
          int64_t &coordinate = own[*pipelineAxis - 1];
          if (!llvm::is_contained(members, coordinate))
            return std::nullopt;
          coordinate = 0;
          return own;
        });
        return;
      }
      AxisList axes = axesOf(op);
      SmallVector<Axis> key(axes.begin(), axes.end());
      if (axes.empty() || !familyOf.try_emplace(key, families.size()).second)
        return;
      add([&](SmallVector<int64_t> own) {
        for (Axis axis : axes)
          own[axis - 1] = 0;
        return std::optional(own);
      });
    });
  }
}

void WorkloadBuilder::partition() {
  const dist::Mesh &grid = mesh.getValue();
  int64_t numRanks = mesh.getNumDevices();
  // Ranks of one stage differ where a dimension does not divide evenly.
  std::set<std::pair<int64_t, AxisList>> uneven;
  // Or where something is at one place among them.
  SetVector<std::pair<Axis, int64_t>> places;
  auto inspect = [&](Type type) {
    dist::LayoutAttr attribute = dist::getLayout(type);
    if (!attribute)
      return;
    const dist::Layout &layout = attribute.getValue();
    for (auto entry : layout.fixed)
      if (entry.first != pipelineAxis)
        places.insert(entry);
    auto tensor = cast<RankedTensorType>(type);
    if (dist::isEven(tensor))
      return;
    for (auto [dim, axes] : llvm::enumerate(layout.dims))
      if (tensor.getDimSize(dim) % grid.getSize(axes) != 0)
        uneven.insert({tensor.getDimSize(dim), axes});
  };
  // They also differ where the share of the work that is visited depends on the
  // part. One operation stands for all of the same types and share.
  llvm::MapVector<std::tuple<OperationName, Type, int64_t>,
                  nn::IterationSpaceOpInterface>
      skipping;
  for (FlatProgram &flat : programs) {
    for (Type type : flat.program.getArgumentTypes())
      inspect(type);
    flat.program.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        inspect(type);
      auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op);
      if (kernel && kernel.getVisitedShare() != 1)
        skipping.insert(
            {{op->getName(),
              FunctionType::get(op->getContext(), op->getOperandTypes(),
                                op->getResultTypes()),
              llvm::bit_cast<int64_t>(kernel.getVisitedShare())},
             kernel});
    });
  }
  std::map<SmallVector<int64_t>, uint32_t> numbers;
  std::vector<uint32_t> colours;
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    SmallVector<int64_t> own = grid.getCoordinates(rank);
    SmallVector<int64_t> key = {stageOfRank(own)};
    SmallVector<int64_t> coordinates = own;
    coordinates.insert(coordinates.begin(), 0);
    for (auto &[size, axes] : uneven) {
      dist::Layout layout(1);
      layout.dims[0] = axes;
      key.push_back(
          dist::partSize(size, grid.getSize(axes),
                         dist::partIndex(grid, layout, 0, coordinates)));
    }
    for (auto &[types, kernel] : skipping) {
      double share = kernel.getVisitedShareOf(
          heldRanges(kernel, kernel.getIterationSpace(), coordinates));
      key.push_back(llvm::bit_cast<int64_t>(share));
    }
    for (auto [axis, position] : places)
      key.push_back(own[axis - 1] == position);
    // Distinct colours keep every rank apart.
    if (fold == Fold::None)
      key.push_back(rank);
    colours.push_back(numbers.try_emplace(key, numbers.size()).first->second);
  }
  ranks = sim::partitionRanks(colours, families);
  for (uint32_t representative : ranks.representative) {
    SmallVector<int64_t> own = grid.getCoordinates(representative);
    stageOf.push_back(stageOfRank(own));
    own.insert(own.begin(), 0);
    coordinates.push_back(own);
  }
}

cost::Time WorkloadBuilder::kernelTime(nn::IterationSpaceOpInterface op,
                                       uint32_t number) {
  auto [entry, isNew] = kernelTimes.try_emplace({op, number});
  if (!isNew)
    return entry->second;
  // Work at one place costs nothing elsewhere.
  for (Type type : op->getResultTypes())
    if (!isHeldBy(type, number))
      return entry->second = 0;
  nn::IterationSpace space = op.getIterationSpace();
  SmallVector<nn::IteratorRanges> held =
      heldRanges(op, space, coordinatesOf(number));
  double points = op.getVisitedShareOf(held);
  // Nothing is launched where nothing is to be done: keys in the future.
  if (points == 0)
    return entry->second;
  for (const nn::IteratorRanges &ranges : held)
    points *= static_cast<double>(sizeOf(ranges));
  double written = 0;
  for (Value result : op->getResults())
    written += dist::localBytes(tensorType(result), coordinatesOf(number));
  double bytes = written;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    bytes += op.readsWholeOperand(i)
                 ? dist::localBytes(tensorType(operand), coordinatesOf(number))
                 : written * op.getReadsPerWrite();
  }
  if (std::optional<double> perPoint = op.getBytesPerPoint())
    bytes = points * *perPoint;
  cost::Kernel kernel;
  kernel.op = op->getName().getStringRef();
  kernel.flops = points * op.getExecutedFlopsPerPoint();
  kernel.bytes = bytes;
  kernel.type = computeType(op);
  kernel.matrix = op.getKernelClass() == nn::KernelClass::Matrix;
  entry->second = kernels.cost(kernel).time;
  return entry->second;
}

/// Time of a copy between device and host on class `number`.
cost::Time WorkloadBuilder::copyTime(Operation *op, uint32_t number) {
  double bytes =
      dist::localBytes(tensorType(op->getResult(0)), coordinatesOf(number));
  const cost::Link &link = *cluster.host;
  return cost::fromSeconds(link.latency + bytes / link.bandwidth);
}

static cost::CollectiveKind kindOf(dist::CollectiveKind kind) {
  switch (kind) {
  case dist::CollectiveKind::AllReduce:
    return cost::CollectiveKind::AllReduce;
  case dist::CollectiveKind::AllGather:
    return cost::CollectiveKind::AllGather;
  case dist::CollectiveKind::ReduceScatter:
    return cost::CollectiveKind::ReduceScatter;
  case dist::CollectiveKind::AllToAll:
    return cost::CollectiveKind::AllToAll;
  case dist::CollectiveKind::Send:
  case dist::CollectiveKind::Recv:
    return cost::CollectiveKind::SendRecv;
  case dist::CollectiveKind::Permute:
    return cost::CollectiveKind::Permute;
  case dist::CollectiveKind::Broadcast:
    return cost::CollectiveKind::Broadcast;
  case dist::CollectiveKind::Scatter:
    return cost::CollectiveKind::Scatter;
  case dist::CollectiveKind::Gather:
    return cost::CollectiveKind::Gather;
  case dist::CollectiveKind::Shift:
    return cost::CollectiveKind::Shift;
  }
  llvm_unreachable("unknown collective");
}

/// The rendezvous of a collective task of class `number`: shared by all classes
/// whose ranks are in its group.
int32_t WorkloadBuilder::collectiveOf(const FlatTask &task, uint32_t index,
                                      uint32_t number, bool once) {
  auto op = cast<dist::CollectiveOpInterface>(task.op);
  AxisList axes = axesOf(op);
  SmallVector<Axis> key(axes.begin(), axes.end());
  const sim::GroupFamily &family = families[familyOf.at(key)];
  uint32_t group = family.groupOf[ranks.representative[number]];
  // Members of the group, found along its axes.
  const dist::Mesh &grid = mesh.getValue();
  SmallVector<int64_t> own = grid.getCoordinates(ranks.representative[number]);
  std::vector<uint32_t> members;
  int64_t ofOwnClass = 0;
  int64_t size = grid.getSize(axes);
  for (int64_t i = 0; i < size; ++i) {
    int64_t rest = i;
    for (Axis axis : llvm::reverse(axes)) {
      own[axis - 1] = rest % grid.getSize(axis);
      rest /= grid.getSize(axis);
    }
    uint32_t member = ranks.classOf[grid.getPosition(own)];
    ofOwnClass += member == number;
    members.push_back(member);
  }
  llvm::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());

  auto [entry, isNew] = collectives.try_emplace(
      {stageOf[number], once, index, members},
      static_cast<int32_t>(workload.collectives.size()));
  if (isNew) {
    sim::Collective collective;
    collective.cost.kind = kindOf(op.getCollectiveKind());
    collective.cost.bytes = op.getBufferBytes();
    if (auto fused = dyn_cast<dist::FusedReduceOp>(task.op))
      collective.cost.bytes = fused.getBucketBytes(task.bucket);
    if (auto fused = dyn_cast<dist::FusedGatherOp>(task.op))
      collective.cost.bytes = fused.getBucketBytes(task.bucket);
    collective.cost.group = family.shapes[group];
    collective.groups = ranks.ranks[number] / ofOwnClass;
    collective.members = std::move(members);
    for (Axis axis : axes)
      collective.axes +=
          (collective.axes.empty() ? "" : ",") + grid.getName(axis).str();
    workload.collectives.push_back(std::move(collective));
  }
  return entry->second;
}

/// The rendezvous of a message between two stages.
int32_t WorkloadBuilder::messageOf(Operation *op, uint32_t number) {
  auto send = dyn_cast<dist::SendOp>(op);
  auto recv = dyn_cast<dist::RecvOp>(op);
  int64_t otherStage = send ? send.getStage() : recv.getStage();
  int64_t tag = send ? send.getTag() : recv.getTag();
  const dist::Mesh &grid = mesh.getValue();
  SmallVector<int64_t> own = grid.getCoordinates(ranks.representative[number]);
  int64_t ownDevice = grid.getDevice(own);
  own[*pipelineAxis - 1] = otherStage;
  uint32_t other = ranks.classOf[grid.getPosition(own)];
  uint32_t sender = send ? number : other, receiver = send ? other : number;
  auto [entry, isNew] =
      messages.try_emplace({tag, sender, receiver},
                           static_cast<int32_t>(workload.collectives.size()));
  if (isNew) {
    sim::Collective collective;
    collective.cost.kind = cost::CollectiveKind::SendRecv;
    collective.cost.bytes =
        cast<dist::CollectiveOpInterface>(op).getBufferBytes();
    collective.cost.group =
        cost::shapeOf(cluster, {ownDevice, grid.getDevice(own)});
    collective.groups = ranks.ranks[number];
    collective.members = {std::min(sender, receiver),
                          std::max(sender, receiver)};
    collective.axes = "stage " + std::to_string(stageOf[sender]) + " -> " +
                      std::to_string(stageOf[receiver]);
    workload.collectives.push_back(std::move(collective));
  }
  return entry->second;
}

/// The rendezvous of a reduction across stages.
int32_t WorkloadBuilder::stageReductionOf(dist::StageReduceOp op,
                                          uint32_t number) {
  const dist::Mesh &grid = mesh.getValue();
  SmallVector<int64_t> own = grid.getCoordinates(ranks.representative[number]);
  std::vector<uint32_t> members;
  SmallVector<int64_t> devices;
  for (int64_t stage : op.getStages()) {
    own[*pipelineAxis - 1] = stage;
    members.push_back(ranks.classOf[grid.getPosition(own)]);
    devices.push_back(grid.getDevice(own));
  }
  llvm::sort(members);
  auto [entry, isNew] = stageReductions.try_emplace(
      {op.getTag(), members},
      static_cast<int32_t>(workload.collectives.size()));
  if (isNew) {
    sim::Collective collective;
    collective.cost.kind = cost::CollectiveKind::AllReduce;
    collective.cost.bytes = op.getBufferBytes();
    collective.cost.group = cost::shapeOf(cluster, devices);
    collective.groups = ranks.ranks[number];
    collective.members = std::move(members);
    collective.axes = "stages";
    for (int64_t stage : op.getStages())
      collective.axes += " " + std::to_string(stage);
    workload.collectives.push_back(std::move(collective));
  }
  return entry->second;
}

static sim::Stream streamOf(Operation *op) {
  if (isa<dist::FetchOp>(op))
    return sim::Stream::HostToDevice;
  if (isa<dist::OffloadOp>(op))
    return sim::Stream::DeviceToHost;
  if (isa<dist::ShiftOp>(op))
    return sim::Stream::ContextParallel;
  // Activations and gradients travel independently: the stages may have them in
  // different orders.
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
  auto purpose = op->getAttrOfType<dist::PurposeAttr>("purpose");
  if (purpose && purpose.getValue() != dist::Purpose::Activation)
    return sim::Stream::DataParallel;
  return sim::Stream::TensorParallel;
}

/// A buffer in the size it has on class `number`.
sim::Buffer WorkloadBuilder::bufferOf(const FlatBuffer &buffer,
                                      uint32_t number) {
  RankedTensorType type = tensorType(buffer.value);
  int64_t bytes = isHeldBy(type, number)
                      ? dist::localBytes(type, coordinatesOf(number))
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
  for (const FlatBuffer &buffer : from.buffers)
    to.buffers.push_back(bufferOf(buffer, number));
  for (auto [index, task] : llvm::enumerate(from.tasks)) {
    sim::Task copy;
    copy.label = label(task.label);
    copy.opKind = label(task.op->getName().getStringRef());
    copy.stream = streamOf(task.op);
    copy.phase = task.phase;
    copy.dependsOn = task.dependsOn;
    copy.allocates = task.allocates;
    copy.reads = task.reads;
    if (auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(task.op))
      copy.duration = kernelTime(kernel, number);
    else if (isa<dist::OffloadOp, dist::FetchOp>(task.op))
      copy.duration = copyTime(task.op, number);
    else if (isa<dist::SendOp, dist::RecvOp>(task.op))
      copy.collective = messageOf(task.op, number);
    else if (auto reduction = dyn_cast<dist::StageReduceOp>(task.op))
      copy.collective = stageReductionOf(reduction, number);
    else
      copy.collective = collectiveOf(task, index, number, once);
    if (auto fused = dyn_cast<dist::FusedReduceOp>(task.op)) {
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
    to.tasks.push_back(std::move(copy));
  }
}

void WorkloadBuilder::buildClass(uint32_t number) {
  FlatProgram &flat = programs[stageOf[number]];
  sim::DeviceClass device;
  device.stage = stageOf[number];
  device.name = "stage " + std::to_string(device.stage);
  device.ranks = ranks.ranks[number];
  device.representative =
      mesh.getDevice(mesh.getCoordinates(ranks.representative[number]));
  fillTemplate(device, number, flat.micro, false, device.micro);
  fillTemplate(device, number, flat.once, true, device.once);
  for (const FlatBuffer &buffer : flat.resident)
    device.resident.push_back(bufferOf(buffer, number));
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

/// Whether a kernel adds to what goes round a ring: work of the strategy, not
/// of the model.
static bool sumsUpVisitors(nn::IterationSpaceOpInterface kernel) {
  auto isVisitor = [](Type type) {
    dist::LayoutAttr layout = dist::getLayout(type);
    return layout && llvm::any_of(layout.getValue().dims, [](const auto &axes) {
             return axes.shift != 0;
           });
  };
  return kernel.isLinear() && llvm::any_of(kernel->getResultTypes(), isVisitor);
}

/// Sums FLOPs over a block; repeats count as often as they run.
static void countFlops(Block &block, double times, bool recomputed,
                       sim::JobInfo &info,
                       llvm::MapVector<unsigned, double> &byType) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
      countFlops(repeat.getBody().front(), times * repeat.getCount(),
                 recomputed, info, byType);
      continue;
    }
    if (auto recompute = dyn_cast<nn::RecomputeOp>(op)) {
      countFlops(recompute.getBody().front(), times, true, info, byType);
      continue;
    }
    auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op);
    if (!kernel)
      continue;
    double points = times * kernel.getIterationSpace().numPoints();
    double share = kernel.getVisitedShare();
    info.executedFlops += points * kernel.getExecutedFlopsPerPoint() * share;
    if (recomputed || sumsUpVisitors(kernel))
      continue;
    info.modelFlops += points * kernel.getFlopsPerPoint() * share;
    info.modelFlopsFullSquare += points * kernel.getFlopsPerPoint();
    if (kernel.getKernelClass() == nn::KernelClass::Matrix)
      byType[static_cast<unsigned>(computeType(&op))] +=
          points * kernel.getFlopsPerPoint();
  }
}

void WorkloadBuilder::fillInfo() {
  sim::JobInfo &info = workload.info;
  StringRef name = programs.front().program.getSymName();
  info.model = name.split("_stage").first.str();
  info.cluster = cluster.name;
  info.devices = mesh.getNumDevices();
  info.microBatches = mesh.getMicro();
  const dist::Mesh &grid = mesh.getValue();
  for (auto [axis, size] : llvm::zip(grid.names, grid.sizes)) {
    info.strategy +=
        (info.strategy.empty() ? "" : " ") + axis + "=" + std::to_string(size);
    info.axes.push_back({axis, size, sim::AxisRole::Tensor});
  }
  if (pipelineAxis)
    info.axes[*pipelineAxis - 1].role = sim::AxisRole::Pipeline;
  llvm::MapVector<unsigned, double> byType;
  for (FlatProgram &flat : programs) {
    for (BlockArgument argument : flat.program.getArguments()) {
      auto type = tensorType(argument);
      if (getRole(argument) != nn::Role::Input || type.getRank() == 0)
        continue;
      info.globalBatch = type.getDimSize(0);
      // What splits inputs splits the work, not the model.
      if (dist::LayoutAttr layout = dist::getLayout(type))
        for (auto [dim, axes] : llvm::enumerate(layout.getValue().dims))
          for (Axis axis : axes) {
            if (axis == dist::microAxis)
              continue;
            sim::AxisRole &role = info.axes[axis - 1].role;
            if (role != sim::AxisRole::Data)
              role = dim == 0 ? sim::AxisRole::Data : sim::AxisRole::Context;
          }
      if (type.getRank() == 2 && isa<IntegerType>(type.getElementType()))
        info.tokensPerSample = type.getDimSize(1);
    }
    for (dist::SectionOp section : flat.program.getSections())
      if (!section.getOnce())
        countFlops(section.getBody().front(), 1, false, info, byType);
  }
  double most = -1;
  for (auto [type, flops] : byType)
    if (flops > most) {
      most = flops;
      info.computeType = static_cast<cost::DType>(type);
    }
}

FailureOr<sim::Workload> WorkloadBuilder::run() {
  workload.cluster = cluster;
  if (failed(findPrograms()))
    return failure();
  addFamilies();
  partition();
  fillInfo();
  for (uint32_t number = 0; number < ranks.numClasses(); ++number)
    buildClass(number);
  return std::move(workload);
}

FailureOr<sim::Workload>
proteus::buildWorkload(ModuleOp module, const cost::Cluster &cluster,
                       const cost::KernelCostModel &kernels, Fold fold) {
  return WorkloadBuilder(module, cluster, kernels, fold).run();
}
