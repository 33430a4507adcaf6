//===- Workload.h - what the engine executes --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine's only input: device classes, each with a template of the tasks
// that one micro-batch runs, a template of the tasks that run once, and the
// order in which sections of them are issued. A template is instantiated once
// per micro-batch (a *frame*); tasks are never copied per micro-batch.
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

/// In-order queues of one device.
enum class Stream : uint8_t {
  Compute,
  TensorParallel,
  ContextParallel,
  ExpertParallel,
  DataParallel,
  PipelineSend,
  PipelineReceive,
  HostToDevice,
  DeviceToHost,
  PipelineSendGradient,
  PipelineReceiveGradient,
};
constexpr unsigned numStreams = 11;
llvm::StringRef stringify(Stream stream);

/// What a byte of device memory is held for.
enum class MemoryOwner : uint8_t {
  Parameters,
  Gradients,
  OptimizerState,
  MasterWeights, ///< copies of parameters in the type of the optimizer
  Activations,
  Temporaries,
  Communication, ///< parameters gathered or fetched for a layer
  GradientBuckets,
};
constexpr unsigned numMemoryOwners = 8;
llvm::StringRef stringify(MemoryOwner owner);

/// Part of the step a task belongs to, for the breakdown.
enum class Phase : uint8_t { Forward, Backward, Recompute, Update };
llvm::StringRef stringify(Phase phase);

/// In which instances of its section a task runs. Gradient reductions run with
/// the last micro-batch only; parameters that stay for the step are gathered
/// with the first one.
enum class When : uint8_t { Always, LastMicroBatch, FirstMicroBatch };

/// A block of memory: allocated when its producer starts, freed when its
/// last reader ends. A buffer that nothing reads is freed when its producer
/// ends.
struct Buffer {
  std::string name;
  int64_t bytes = 0;
  MemoryOwner owner = MemoryOwner::Activations;
  /// Whether it is in the memory of the host instead.
  bool onHost = false;
  /// As many blocks of equal size it consists of: a stack of layers.
  int64_t pieces = 1;
  /// How many ranks that work on different inputs hold the same bytes: what
  /// ZeRO divides by.
  int64_t replicas = 1;
  /// Whether ranks that work on the same input hold parts of it.
  bool tensorSplit = false;
};

/// Where the duration of a kernel comes from.
struct KernelOrigin {
  cost::Source source = cost::Source::Roofline;
  cost::Family family = cost::Family::Stream;
  double uncertainty = 0; ///< mean relative error
};

/// One kernel or one party of a collective. Indices refer to the same
/// template.
struct Task {
  uint32_t label = 0;  ///< index into Workload::labels ("layers[3].mlp.fc1")
  uint32_t opKind = 0; ///< index into Workload::labels ("nn.linear")
  Stream stream = Stream::Compute;
  Phase phase = Phase::Forward;
  When when = When::Always;
  /// What bounds a kernel: decides how much a communication beside it slows it.
  bool matrix = false;
  /// Duration of a compute task alone on its device; unused for collectives.
  Time duration = 0;
  /// What the host needs to launch it, beyond the latency of its device class.
  Time launch = 0;
  KernelOrigin origin; ///< of the duration
  /// Index into Workload::collectives, or -1 for a compute task.
  int32_t collective = -1;
  /// Index into Workload::buckets for a fused gradient reduction, else -1.
  int32_t bucket = -1;
  /// Tasks of the same template and micro-batch; those that do not run in this
  /// instance count as done.
  std::vector<uint32_t> dependsOn;
  std::vector<uint32_t> allocates; ///< buffers
  std::vector<uint32_t> reads;     ///< buffers (each at most once)
};

/// Tasks in issue order, cut into sections: section s holds the tasks
/// [sectionBegin[s], sectionBegin[s + 1]).
struct Template {
  std::vector<Task> tasks;
  std::vector<Buffer> buffers;
  std::vector<uint32_t> sectionBegin;
};

/// Links that are all loaded alike: one stands for `count`.
struct LinkClass {
  std::string name;     ///< "nvlink out of stage 0", "leaf up"
  int64_t capacity = 0; ///< bytes/s of one link
  int64_t count = 1;
};

/// Loads are integers so that sums over any grouping of flows are equal.
constexpr int64_t loadUnit = 1 << 16;

/// What a flow of rate x puts on each link of a class: x * load / loadUnit,
/// summed over all groups that the collective stands for.
struct LinkClassLoad {
  uint32_t link = 0; ///< index into Workload::links
  int64_t load = 0;
};

/// How a collective runs once all have arrived: nothing moves during `latency`,
/// then `volume` bytes at a rate of at most `ceiling`, less where the links are
/// shared. Without a volume the latency is all.
struct Flow {
  Time latency = 0;
  int64_t volume = 0;    ///< bytes
  int64_t ceiling = 0;   ///< bytes/s; positive if there is a volume
  uint32_t channels = 0; ///< thread blocks it occupies on each device
  std::vector<LinkClassLoad> loads;
};

/// A communication that is one rendezvous per micro-batch, or one at all when
/// its tasks sit in the once-template or run with the last or the first
/// micro-batch only (whichever that is for each member): it starts when the
/// last member class has arrived at it and runs as its flow says. Every member
/// class has exactly one task for it, all in the same kind of template and with
/// the same `when`. A SendRecv has a sender and a receiver, or one class that
/// is both.
struct Collective {
  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
  int64_t bytes = 0;     ///< as in cost::Collective
  int64_t groupSize = 1; ///< ranks of one group
  Flow flow;
  std::string algorithm; ///< for reports: "ring, Simple"
  std::string axes;      ///< mesh axes, for reports ("tp"), or "stage 0 -> 1"
  /// Number of groups like this one that run at the same time; the report
  /// multiplies counts by it.
  int64_t groups = 1;
  /// Member device classes, each once, ascending.
  std::vector<uint32_t> members;

  /// "all_reduce over tp".
  std::string kindAndAxes() const;
};

/// A gradient bucket, for the report.
struct Bucket {
  std::string name;
  int64_t bytes = 0;
};

/// One entry of a device's issue order: a section of the micro-batch template
/// for one micro-batch, or (`once`) a section of the once-template. An order
/// holds every section of every micro-batch, and every once-section, once.
struct WorkItem {
  uint32_t section = 0;
  uint32_t microBatch = 0; ///< 0 if `once`
  bool once = false;
};

/// Ranks that provably do the same thing at the same time.
struct DeviceClass {
  std::string name; ///< "stage 0"
  uint32_t stage = 0;
  int64_t ranks = 1;          ///< how many ranks it stands for
  int64_t representative = 0; ///< device id, for reports
  uint32_t deviceType = 0;    ///< index into Cluster::devices
  Time launchLatency = 0;     ///< what the host needs to launch any task
  /// Whether the host waits in every work item of a micro-batch for the
  /// messages that it receives, before it launches the rest of the item.
  bool hostWaits = false;
  /// Kernels and communication that run beside each other take this many times
  /// as long.
  machine::Interference interference;
  Template micro; ///< per micro-batch
  Template once;  ///< optimizer and the like
  /// Dependencies of once-tasks on micro-tasks: (once task, micro task). They
  /// are satisfied by the instance of the last work item that runs the
  /// section of the micro task.
  std::vector<std::pair<uint32_t, uint32_t>> onceDependsOn;
  std::vector<WorkItem> order;
  /// Memory held during the whole step.
  std::vector<Buffer> resident;
};

/// What ranks along an axis of the mesh share out among them.
enum class AxisRole : uint8_t {
  Data,     ///< samples
  Context,  ///< other dimensions of inputs: parts of sequences
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

/// Memory that no tensor holds: constants of the communication library. A
/// channel of a connection to a peer takes `channelBytes`.
struct MemoryModel {
  int64_t channelBytes = 0;
  int64_t communicatorChannels = 0; ///< per ring of a communicator
  int64_t exchangeChannels = 0;     ///< all-to-all, per peer in the node
  int64_t messageChannels = 0;      ///< other messages, per peer
  int64_t stackBytes = 0;           ///< what the software takes beyond
};

/// Figures about the job that reports need and the engine does not.
struct JobInfo {
  std::string model;
  std::string strategy;
  std::string cluster;
  int64_t devices = 1;
  int64_t globalBatch = 0;
  int64_t microBatches = 1;
  int64_t tokensPerSample = 0;     ///< 0 = the model has no token input
  double modelFlops = 0;           ///< per step, causal half, without recompute
  double modelFlopsFullSquare = 0; ///< the same with full attention squares
  double executedFlops = 0;        ///< per step, recompute included
  machine::DType computeType = machine::DType::F32;
  std::vector<MeshAxis> axes;

  /// Product of the sizes of all axes of that role.
  int64_t degree(AxisRole role) const;
};

/// Mean relative errors beside those of kernels.
struct ErrorModel {
  double collectives = 0;
  double stack = 0; ///< of the whole step: what is not modelled
};

struct Workload {
  JobInfo info;
  machine::Cluster cluster;
  MemoryModel memory;
  /// Between two steps, when no device does anything.
  Time stepGap = 0;
  std::optional<ErrorModel> errors; ///< absent: not known
  std::vector<std::string> labels;
  std::vector<LinkClass> links;
  std::vector<Collective> collectives;
  std::vector<Bucket> buckets;
  std::vector<DeviceClass> classes;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_WORKLOAD_H
