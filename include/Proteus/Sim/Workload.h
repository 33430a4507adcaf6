//===- Workload.h - the input of the engine ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine's only input, built by the pass `simulate` (BuildWorkload). A
// workload consists of classes of equivalent devices. Each class has a template
// of the tasks that run once per micro-batch (the micro-template), a template
// of the tasks that run once per step (the once-template), and the order in
// which it issues their sections. The micro-template is instantiated once per
// micro-batch (a *frame*); tasks are never copied per micro-batch. All times
// are in picoseconds.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_WORKLOAD_H
#define PROTEUS_SIM_WORKLOAD_H

#include "Proteus/Cost/CostModel.h"
#include "Proteus/Machine/Device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace proteus::sim {

using cost::Time;

/// In-order queues of tasks of one device.
enum class Stream : uint8_t {
  Compute,
  TensorParallel,
  ContextParallel,
  DataParallel,
  PipelineSend,
  PipelineReceive,
  HostToDevice,
  DeviceToHost,
  PipelineSendGradient,
  PipelineReceiveGradient,
};
constexpr unsigned numStreams =
    static_cast<unsigned>(Stream::PipelineReceiveGradient) + 1;
llvm::StringRef stringify(Stream stream);

/// Purposes of device memory.
enum class MemoryOwner : uint8_t {
  Parameters,
  Gradients,
  OptimizerState,
  MasterWeights, ///< master copies of the parameters
  Activations,
  Temporaries,
  Communication, ///< parameters gathered or fetched for a layer
  GradientBuckets,
};
constexpr unsigned numMemoryOwners = 8;
llvm::StringRef stringify(MemoryOwner owner);

/// Part of the step to which a task belongs, for the breakdown.
enum class Phase : uint8_t { Forward, Backward, Recompute, Update };
llvm::StringRef stringify(Phase phase);

/// Micro-batches with which a task runs. Gradient reductions run only with the
/// last micro-batch. Parameters that stay for the whole step are gathered only
/// with the first one.
enum class When : uint8_t { Always, LastMicroBatch, FirstMicroBatch };

/// A block of memory. It is allocated when its producer starts and freed when
/// its last reader ends, or when its producer ends if it has no reader.
struct Buffer {
  std::string name;
  int64_t bytes = 0;
  MemoryOwner owner = MemoryOwner::Activations;
  /// True if the buffer is in host memory instead of device memory.
  bool onHost = false;
  /// Number of blocks of equal size of which the buffer consists, for example
  /// one per layer of a stack of layers.
  int64_t pieces = 1;
  /// Number of ranks that work on different inputs and hold the same bytes;
  /// ZeRO can divide the buffer by it.
  int64_t replicas = 1;
  /// True if the buffer is sharded over ranks that work on the same input.
  bool tensorSplit = false;
};

/// Source and error of the duration of a kernel.
struct KernelOrigin {
  cost::Source source = cost::Source::Roofline;
  cost::Family family = cost::Family::Stream;
  double uncertainty = 0; ///< mean relative error
};

/// A kernel, a copy, or the participation of one class in a collective. Indices
/// of tasks and buffers refer to the same template.
struct Task {
  uint32_t label = 0;  ///< index into Workload::labels ("layers[3].mlp.fc1")
  uint32_t opKind = 0; ///< index into Workload::labels ("nn.linear")
  Stream stream = Stream::Compute;
  Phase phase = Phase::Forward;
  When when = When::Always;
  /// True if the matrix units bound the kernel, false if memory bandwidth does.
  /// Selects the factor by which communication slows the kernel.
  bool matrix = false;
  /// Duration of a kernel or copy that nothing slows; unused for collectives.
  Time duration = 0;
  /// Host time of its launch, in addition to the launch latency of its class.
  Time launch = 0;
  KernelOrigin origin; ///< of `duration`
  /// Index into Workload::collectives, or -1 for a kernel or copy.
  int32_t collective = -1;
  /// Index into Workload::buckets for a fused gradient reduction, or -1.
  int32_t bucket = -1;
  /// Tasks of the same template and micro-batch that must end before this one
  /// starts. A task that does not run with this micro-batch counts as ended.
  std::vector<uint32_t> dependsOn;
  std::vector<uint32_t> allocates; ///< indices into Template::buffers
  std::vector<uint32_t> reads;     ///< likewise, each at most once
};

/// Tasks in issue order, divided into sections: section s holds the tasks
/// [sectionBegin[s], sectionBegin[s + 1]).
struct Template {
  std::vector<Task> tasks;
  std::vector<Buffer> buffers;
  std::vector<uint32_t> sectionBegin;
};

/// A set of links with equal loads, simulated as one. It stands for `count`
/// links.
struct LinkClass {
  std::string name;     ///< "nvlink out of stage 0", "leaf up"
  int64_t capacity = 0; ///< bytes/s of one link
  int64_t count = 1;
};

/// The load of a link that carries the full rate of a flow. Loads are
/// fixed-point integers so that sums over any grouping of flows are equal.
constexpr int64_t loadUnit = 1 << 16;

/// Load of a flow on each link of a class, summed over all groups that the
/// collective stands for. A flow of rate x uses x * load / loadUnit bytes/s of
/// the link.
struct LinkClassLoad {
  uint32_t link = 0; ///< index into Workload::links
  int64_t load = 0;
};

/// Transfer of a collective after all members have arrived. Nothing moves
/// during `latency`; then `volume` bytes move at a rate of at most `ceiling`,
/// or less if links are shared. Without a volume the collective ends after the
/// latency.
struct Flow {
  Time latency = 0;
  int64_t volume = 0;    ///< bytes, those of the rank that sends most
  int64_t ceiling = 0;   ///< bytes/s; positive if `volume` is
  uint32_t channels = 0; ///< thread blocks that it occupies on each device
  std::vector<LinkClassLoad> loads;
};

/// A communication. Each of its instances starts when the last member class has
/// arrived and then runs as its flow describes. There is one instance per
/// micro-batch. If its tasks are in the once-template or run only with the
/// first or last micro-batch, there is one instance per step; that micro-batch
/// may differ between the members.
///
/// Every member class has exactly one task for the collective. These tasks are
/// all in the same kind of template and have the same `when`. A SendRecv has a
/// sender and a receiver, or one class that is both.
struct Collective {
  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
  int64_t bytes = 0;     ///< as in cost::Collective
  int64_t groupSize = 1; ///< ranks of one group
  Flow flow;
  std::string algorithm; ///< for reports: "ring, Simple"
  std::string axes;      ///< mesh axes, for reports ("tp"), or "stage 0 -> 1"
  /// Number of equivalent groups that run at the same time; the report
  /// multiplies counts by it.
  int64_t groups = 1;
  /// Indices of the member classes, each once, ascending.
  std::vector<uint32_t> members;

  /// Returns the name of the kind and the axes, for example "all_reduce over
  /// tp".
  std::string kindAndAxes() const;
};

/// A gradient bucket, as the report lists it.
struct Bucket {
  std::string name;
  int64_t bytes = 0;
};

/// One entry of the issue order of a class: a section of the micro-template for
/// one micro-batch, or (`once`) a section of the once-template. An order holds
/// every section of every micro-batch, and every section of the once-template,
/// exactly once.
struct WorkItem {
  uint32_t section = 0;
  uint32_t microBatch = 0; ///< 0 if `once`
  bool once = false;
};

/// A class of ranks that provably run the same tasks at the same times,
/// simulated as one.
struct DeviceClass {
  std::string name; ///< "stage 0"
  uint32_t stage = 0;
  int64_t ranks = 1;          ///< ranks that it stands for
  int64_t representative = 0; ///< device id, for reports
  uint32_t deviceType = 0;    ///< index into Cluster::devices
  Time launchLatency = 0;     ///< host time of any launch
  /// True if the host waits for messages: in every work item of a micro-batch
  /// it launches the receives, waits until they have ended, and then launches
  /// the rest of the item.
  bool hostWaits = false;
  /// Factors by which the times of kernels and communication grow while both
  /// run at the same time.
  machine::Interference interference;
  Template micro; ///< tasks that run per micro-batch
  Template once;  ///< tasks that run once per step, such as the update
  /// Dependencies of once-tasks on micro-tasks, as pairs (once-task,
  /// micro-task). A once-task waits for the instance of the micro-task in the
  /// last work item that runs its section.
  std::vector<std::pair<uint32_t, uint32_t>> onceDependsOn;
  std::vector<WorkItem> order;
  /// Buffers that are held during the whole step.
  std::vector<Buffer> resident;
};

/// Work that an axis of the mesh distributes over its ranks.
enum class AxisRole : uint8_t {
  Data,     ///< samples
  Context,  ///< other dimensions of inputs, such as parts of sequences
  Tensor,   ///< parts of operations on the same input
  Pipeline, ///< stages
};
llvm::StringRef stringify(AxisRole role);

/// An axis of the mesh of devices.
struct MeshAxis {
  std::string name;
  int64_t size = 1;
  AxisRole role = AxisRole::Data;
};

/// Memory that no tensor holds, taken by the communication library and the
/// software stack. A channel of a connection to a peer takes `channelBytes`.
struct MemoryModel {
  int64_t channelBytes = 0;
  int64_t communicatorChannels = 0; ///< of all rings of a communicator
  int64_t exchangeChannels = 0; ///< of an all-to-all, to each peer in the node
  int64_t messageChannels = 0;  ///< of other messages, to each peer
  int64_t stackBytes = 0;       ///< other memory of the software stack
};

/// Figures of the job that reports need and the engine does not.
struct JobInfo {
  std::string model;
  std::string strategy;
  std::string cluster;
  int64_t devices = 1;
  int64_t globalBatch = 0;
  int64_t microBatches = 1;
  int64_t tokensPerSample = 0;     ///< 0 = the model has no token input
  double modelFlops = 0;           ///< per step, causal half, no recomputation
  double modelFlopsFullSquare = 0; ///< the same with full attention squares
  double executedFlops = 0;        ///< per step, with recomputation
  machine::DType computeType = machine::DType::F32;
  std::vector<MeshAxis> axes;

  /// Returns the product of the sizes of all axes with that role.
  int64_t degree(AxisRole role) const;
};

/// Mean relative errors of a prediction, other than those of kernels.
struct ErrorModel {
  double collectives = 0;
  double stack = 0; ///< of the whole step: effects that are not modelled
};

/// A step of a job as tasks on classes of equivalent ranks.
struct Workload {
  JobInfo info;
  machine::Cluster cluster;
  MemoryModel memory;
  /// Time between two steps in which all devices are idle.
  Time stepGap = 0;
  std::optional<ErrorModel> errors; ///< absent if unknown
  std::vector<std::string> labels;
  std::vector<LinkClass> links;
  std::vector<Collective> collectives;
  std::vector<Bucket> buckets;
  std::vector<DeviceClass> classes;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_WORKLOAD_H
