//===- Workload.h - the input of the engine ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input of the engine, which the pass `simulate` builds (BuildWorkload). A
// workload consists of classes of equivalent devices. Each class has two
// templates: the micro-template holds the tasks that run once per micro-batch,
// the once-template those that run once per step. Both are divided into
// sections. The class also has the order in which its host issues the sections.
// The engine creates one instance of the micro-template per micro-batch, a
// *frame*. A frame holds counters and times only, so tasks are not copied per
// micro-batch. All times are in picoseconds.
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

/// Streams of one device. A stream is a queue that runs its tasks in order.
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

/// Kinds of data that occupy memory.
enum class MemoryOwner : uint8_t {
  Parameters,
  Gradients,
  OptimizerState,
  MasterWeights, ///< master copies of the parameters
  Activations,
  Temporaries,
  /// Parameters that a layer gathers from other ranks or copies from the host.
  Communication,
  GradientBuckets,
};
constexpr unsigned numMemoryOwners = 8;
llvm::StringRef stringify(MemoryOwner owner);

/// The part of the step to which a task belongs. The breakdown counts the times
/// of recomputation and of the update separately.
enum class Phase : uint8_t { Forward, Backward, Recompute, Update };
llvm::StringRef stringify(Phase phase);

/// The micro-batches for which a task of the micro-template runs. For example,
/// a gradient reduction may run only with the last micro-batch. Parameters that
/// stay gathered for the whole step are gathered only with the first
/// micro-batch.
enum class When : uint8_t { Always, LastMicroBatch, FirstMicroBatch };

/// A block of memory. A buffer of a template is allocated when the task that
/// produces it starts. It is freed when the last task that reads it ends or, if
/// no task reads it, when the producer ends.
struct Buffer {
  std::string name;
  int64_t bytes = 0;
  MemoryOwner owner = MemoryOwner::Activations;
  /// True if the buffer is in host memory instead of device memory.
  bool onHost = false;
  /// Number of equal blocks that are allocated for the buffer. Example: a
  /// buffer with one parameter of every layer is allocated as one block per
  /// layer.
  int64_t pieces = 1;
  /// Number of ranks that hold the same bytes but work on different inputs.
  /// ZeRO can shard the buffer over these ranks.
  int64_t replicas = 1;
  /// True if the buffer is sharded over ranks that work on the same input, as
  /// in tensor parallelism.
  bool tensorSplit = false;
};

/// The source and the expected error of the predicted duration of a kernel.
struct KernelOrigin {
  cost::Source source = cost::Source::Roofline;
  cost::Family family = cost::Family::Stream;
  double uncertainty = 0; ///< mean relative error
};

/// A kernel, a copy, or the participation of one class in a collective. The
/// wait of the compute stream for a blocking communication is a kernel without
/// duration. Tasks and buffers are identified by their indices in the template
/// of the task.
struct Task {
  uint32_t label = 0;  ///< index into Workload::labels ("layers[3].mlp.fc1")
  uint32_t opKind = 0; ///< index into Workload::labels ("nn.linear")
  Stream stream = Stream::Compute;
  Phase phase = Phase::Forward;
  When when = When::Always;
  /// True if the kernel runs on the matrix units. Communication slows kernels
  /// on the matrix units and other kernels by different factors.
  bool matrix = false;
  /// Duration of a kernel or copy if nothing slows it. Unused for collectives.
  Time duration = 0;
  /// Host time to launch the task, in addition to DeviceClass::launchLatency.
  Time launch = 0;
  KernelOrigin origin; ///< origin of `duration`
  /// Index into Workload::collectives, or -1 for a kernel or copy.
  int32_t collective = -1;
  /// Index into Workload::buckets of the gradient bucket that the task reduces,
  /// or -1.
  int32_t bucket = -1;
  /// Tasks of the same template and micro-batch that must end before this task
  /// starts. A task that does not run with this micro-batch counts as ended.
  std::vector<uint32_t> dependsOn;
  std::vector<uint32_t> allocates; ///< indices into Template::buffers
  /// Indices into Template::buffers, each at most once.
  std::vector<uint32_t> reads;
};

/// Tasks in issue order, divided into sections: section s holds the tasks
/// [sectionBegin[s], sectionBegin[s + 1]).
struct Template {
  std::vector<Task> tasks;
  std::vector<Buffer> buffers;
  std::vector<uint32_t> sectionBegin;
};

/// A set of `count` links with equal capacities and loads, simulated as one
/// link.
struct LinkClass {
  /// Name of one of the links: "node 0: gpu 2 -> nvswitch", "leaf 7 up".
  std::string name;
  int64_t capacity = 0; ///< bytes/s of one link
  int64_t count = 1;
};

/// Load of a flow on a link that carries the full rate of the flow. Loads are
/// fixed-point integers. Their sums are therefore exact and do not depend on
/// the order of the flows.
constexpr int64_t loadUnit = 1 << 16;

/// Load that a flow puts on each link of a link class. It is the sum over all
/// groups that the collective of the flow represents (Collective::groups). A
/// flow of rate x uses x * load / loadUnit bytes/s of each link.
struct LinkClassLoad {
  uint32_t link = 0; ///< index into Workload::links
  int64_t load = 0;
};

/// The data transfer of a collective, which starts when all members have
/// arrived. First `latency` passes, during which no data move. Then `volume`
/// bytes move at the rate `ceiling`, or more slowly if other flows use the
/// links or kernels slow the flow. If the volume is 0, the collective ends
/// after the latency.
struct Flow {
  Time latency = 0;
  int64_t volume = 0; ///< bytes to move (net::Plan::volume)
  /// Highest rate in bytes/s. Positive if `volume` is positive.
  int64_t ceiling = 0;
  uint32_t channels = 0; ///< thread blocks occupied on each device
  std::vector<LinkClassLoad> loads;
};

/// A communication. It has one instance per step if its tasks are in
/// once-templates, or run only with the first or the last micro-batch.
/// Otherwise it has one instance per micro-batch. An instance starts when the
/// last member class has arrived. `flow` describes its execution.
///
/// Every member class has exactly one task for the collective. These tasks are
/// all in micro-templates or all in once-templates, and have the same `when`.
/// If they run only with the first or last micro-batch, that may be micro-batch
/// 0 in one member class and micro-batch 1 in another. A SendRecv has two
/// member classes, the sender and the receiver, or one member class that is
/// both.
struct Collective {
  cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
  /// Number of bytes, counted as in cost::Collective.
  int64_t bytes = 0;
  int64_t groupSize = 1; ///< ranks of one group
  Flow flow;
  std::string algorithm; ///< for reports: "ring, Simple"
  std::string axes;      ///< mesh axes, for reports ("tp"), or "stage 0 -> 1"
  /// Number of equivalent groups that the collective represents. They all run
  /// at the same time. The report multiplies counts by this number.
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
/// one micro-batch or, if `once`, a section of the once-template. An order
/// contains every section of the micro-template once per micro-batch, and every
/// section of the once-template once.
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
  int64_t ranks = 1;          ///< number of ranks in the class
  int64_t representative = 0; ///< id of one device of the class, for reports
  uint32_t deviceType = 0;    ///< index into Cluster::devices
  Time launchLatency = 0;     ///< host time that every launch takes
  /// True if the host waits for messages: in every work item of a micro-batch
  /// it launches the receives, waits until they have ended, and then launches
  /// the rest of the item.
  bool hostWaits = false;
  /// Factors by which the times of kernels and communication grow while both
  /// run at the same time.
  machine::Interference interference;
  Template micro; ///< tasks that run per micro-batch
  Template once;  ///< tasks that run once per step, such as the update
  /// Dependencies of tasks of the once-template on tasks of the micro-template,
  /// as pairs (once-task, micro-task). The once-task waits for the last
  /// instance of the micro-task: the instance in the last work item that runs
  /// the section of the micro-task.
  std::vector<std::pair<uint32_t, uint32_t>> onceDependsOn;
  std::vector<WorkItem> order;
  /// Buffers that are held during the whole step.
  std::vector<Buffer> resident;
};

/// The kind of work that an axis of the mesh divides among its ranks.
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

/// Device memory that the communication library and the software stack use for
/// themselves. A connection to another rank consists of channels, each of which
/// takes `channelBytes`.
struct MemoryModel {
  int64_t channelBytes = 0;
  /// Number of channels that one rank needs for all rings of a communicator.
  int64_t communicatorChannels = 0;
  /// Number of channels with which an all-to-all connects a rank to each other
  /// rank of its node.
  int64_t exchangeChannels = 0;
  /// Number of channels of a connection for messages. An all-to-all needs the
  /// same number to connect a rank to each rank of another node.
  int64_t messageChannels = 0;
  int64_t stackBytes = 0; ///< other memory of the software stack
};

/// Figures of the job, for reports. The engine itself uses only `microBatches`.
struct JobInfo {
  std::string model;
  std::string strategy;
  std::string cluster;
  int64_t devices = 1;
  int64_t globalBatch = 0;
  int64_t microBatches = 1;
  int64_t tokensPerSample = 0; ///< 0 = the model has no token input
  /// FLOPs of the model per step, without recomputation. For attention with a
  /// causal mask, only the half that the mask permits is counted.
  double modelFlops = 0;
  /// Like `modelFlops`, but counts attention as if it had no causal mask.
  double modelFlopsFullSquare = 0;
  double executedFlops = 0; ///< per step, including recomputation
  machine::DType computeType = machine::DType::F32;
  std::vector<MeshAxis> axes;

  /// Returns the product of the sizes of all axes with this role.
  int64_t degree(AxisRole role) const;
};

/// Mean relative errors of predicted times, except those of kernels, which are
/// in KernelOrigin.
struct ErrorModel {
  double collectives = 0; ///< error of the time of a collective
  /// Error of the time of the step due to effects of the software stack that
  /// are not modelled.
  double stack = 0;
};

/// A training step of a job, as tasks of classes of equivalent ranks.
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
