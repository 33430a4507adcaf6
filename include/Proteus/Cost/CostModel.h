//===- CostModel.h - costs of kernels and collectives -----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface to all cost models. The caller describes a kernel or a
// collective, and a model predicts its time in integer picoseconds, the unit of
// the simulation engine. Models compute in seconds and round only in
// `fromSeconds`.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_COSTMODEL_H
#define PROTEUS_COST_COSTMODEL_H

#include "Proteus/Machine/Cluster.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace proteus::cost {

using machine::byteWidth;
using machine::Cluster;
using machine::Device;
using machine::DType;
using machine::Link;
using machine::stringify;

/// Simulated time in picoseconds.
using Time = int64_t;

/// Converts seconds to picoseconds, rounded to nearest. Negative times become
/// 0. NaN and times that are too large become the largest Time, so that users
/// notice the error.
Time fromSeconds(double seconds);
/// Converts picoseconds to seconds.
double toSeconds(Time time);

/// Sizes of a kernel that computes one or more matrix products (rows, inner) x
/// (inner, columns). A convolution has the sizes of the product of two
/// matrices: its windows and its weights.
struct MatrixProduct {
  double rows = 0, columns = 0, inner = 0;
  double biased = 0; ///< number of result elements to which a bias is added
  /// Number of products in the kernel. `rows` is the sum over all products:
  /// each product has rows / batch rows.
  double batch = 1;
};

/// Sizes of fused attention on one device.
struct Attention {
  double batch = 1, heads = 1;
  double queries = 1, keys = 1;
  double keyDim = 1, valueDim = 1; ///< sizes of one head
  /// Share of the (query, key) pairs that the kernel computes, for example 1/2
  /// with a causal mask.
  double visited = 1;
};

/// Sizes of a convolution on one device. The numbers of channels are per group.
struct Convolution {
  double batch = 1, groups = 1;
  double inChannels = 1, outChannels = 1;
  double height = 1, width = 1;       ///< pixels of one input image
  double outHeight = 1, outWidth = 1; ///< pixels of one output image
  double kernelHeight = 1, kernelWidth = 1;
  double stride = 1; ///< the larger of the vertical and horizontal strides
  /// True if the channels of a pixel are adjacent in memory ("channels last").
  bool channelsLast = false;
};

/// The pass of a training step to which a matrix kernel belongs. The layout of
/// the operands in memory depends on the pass.
enum class Pass : uint8_t { Forward, DataGradient, WeightGradient };
/// Returns the name of `pass` in profiles: "forward", "dgrad" or "wgrad".
llvm::StringRef stringify(Pass pass);

/// Families of kernels. The family selects the cost model of a kernel.
enum class Family : uint8_t {
  Product,        ///< products of equal size, see `Kernel::product`
  GroupedProduct, ///< products of experts, see `Kernel::product`
  Attention,      ///< fused attention, see `Kernel::attention`
  Convolution,    ///< see `Kernel::convolution`
  OtherMatrix,    ///< kernel on the matrix units with unknown sizes
  // The families from here to the end of the list are memory-bound.
  // `memoryClassOf` maps them to the classes of machine::MemoryClass.
  Stream,
  Norm,
  Activation,
  Rope,
  Embedding,
  Softmax,
  Update, ///< update of all parameters in few launches
};
constexpr unsigned numFamilies = 12;
/// Returns the name of `family` in profiles and reports.
llvm::StringRef stringify(Family family);

/// The work of one kernel on one device. Sizes are those of the shards on the
/// device.
struct Kernel {
  llvm::StringRef op; ///< name of the operation, such as "nn.linear"
  double flops = 0;   ///< floating-point operations
  double bytes = 0;   ///< bytes read plus bytes written
  DType type = DType::F32;
  bool matrix = false; ///< true if the kernel runs on the matrix units
  /// Sizes of the products. Set if the kernel can be described as matrix
  /// products.
  std::optional<MatrixProduct> product = std::nullopt;
  /// Number of launches in sequence, for example one per time step of a
  /// recurrent layer.
  double steps = 1;
  Family family = Family::Stream;
  Pass pass = Pass::Forward;
  /// True if the kernel reads the old value of its result and adds to it.
  bool accumulates = false;
  double resultBytes = 0; ///< bytes written; part of `bytes`
  std::optional<Attention> attention = std::nullopt;
  std::optional<Convolution> convolution = std::nullopt;
};

/// Sources of predicted times, most reliable first.
enum class Source : uint8_t {
  Measured,     ///< a measured time from a profile
  Interpolated, ///< interpolated between kernels of a profile
  Fitted,       ///< from a model fitted to measurements on the device
  Datasheet,    ///< from a model with mean efficiencies of other devices
  Roofline,     ///< from the peak rates of the datasheet
};
constexpr unsigned numSources = 5;
/// Returns the name of `source` in reports.
llvm::StringRef stringify(Source source);

/// The predicted time of a kernel or a collective.
struct Answer {
  Time time = 0;
  Source source = Source::Roofline;
  double uncertainty = 0;   ///< expected mean relative error
  bool memoryBound = false; ///< true if memory traffic limits the kernel
};

/// A cost model of the kernels on one type of device.
class KernelCostModel {
public:
  virtual ~KernelCostModel();
  /// Returns the predicted time of `kernel`.
  virtual Answer cost(const Kernel &kernel) const = 0;
};

/// Creates the roofline model: a kernel takes max(flops / peak, bytes /
/// bandwidth) + steps * overhead. `peak` is the device's peak rate for the type
/// of the kernel. If the kernel does not run on the matrix units, `peak` is at
/// most the F32 rate. To run F32 kernels at the TF32 rate, call Device::useTF32
/// first.
std::unique_ptr<KernelCostModel> createRooflineModel(const Device &device);

/// Options of the model of a device.
struct KernelModelOptions {
  /// True if memory-bound kernels are fused. They then have the parameters of
  /// MemoryClass::Stream. If false, they have the parameters of their own
  /// class, which were measured on older kernels without fusion.
  bool fusedMemoryKernels = true;
  /// True if kernels run at peak rates even if the device file has kernel
  /// parameters. The times are then lower bounds.
  bool roofline = false;
};

/// Creates the model of a device: the fitted models of KernelModels.h if the
/// device has kernel parameters and `options.roofline` is false, otherwise the
/// roofline model.
std::unique_ptr<KernelCostModel>
createDeviceModel(const Device &device, const KernelModelOptions &options = {});

/// Kinds of communication in a group of devices.
enum class CollectiveKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Broadcast,
  Scatter,
  Gather,
  Permute,
  SendRecv,
  Shift, ///< each device sends to the next device of a ring, all at once
};
/// Returns the name of `kind`, for example "all_reduce".
llvm::StringRef stringify(CollectiveKind kind);

/// Distribution of a group of devices over nodes. A CollectiveCostModel uses
/// only this shape of the group, not the identity of its devices.
struct GroupShape {
  int64_t ranks = 1;
  int64_t nodes = 1;        ///< number of nodes with members
  int64_t ranksPerNode = 1; ///< largest number of members in one node
  bool operator==(const GroupShape &other) const {
    return ranks == other.ranks && nodes == other.nodes &&
           ranksPerNode == other.ranksPerNode;
  }
};

/// Returns the shape of the group `devices`.
GroupShape shapeOf(const Cluster &cluster, llvm::ArrayRef<int64_t> devices);

/// A collective in a group. Depending on the kind, `bytes` is the size of:
/// - all-reduce: the buffer
/// - all-gather: the result
/// - reduce-scatter: the input
/// - all-to-all: the input of each rank
/// - broadcast, scatter, gather: the tensor at the root
/// - permute, shift: the data that each rank sends
/// - send: the data that the sender sends
struct Collective {
  CollectiveKind kind = CollectiveKind::AllReduce;
  int64_t bytes = 0;
  GroupShape group;
};

/// A cost model of the collectives on one cluster.
class CollectiveCostModel {
public:
  virtual ~CollectiveCostModel();
  /// Returns the predicted time of `collective` if no other collective runs.
  virtual Answer cost(const Collective &collective) const = 0;
};

/// Creates a model in which all transfers of a collective use the slowest link
/// of the group, with the bandwidth B and the latency a. For n ranks and S =
/// Collective::bytes, the times are:
///
///   all-reduce                                        2(n-1)(S/nB + a)
///   all-gather, reduce-scatter, all-to-all,
///   scatter, gather                                   (n-1)(S/nB + a)
///   broadcast                                         S/B + (n-1)a
///   permute, shift, send                              S/B + a
///
/// A group of one rank takes no time. A group within a node uses the link
/// `intraNode` of the cluster. A group with one member per node uses the link
/// `interNode`. Any other group uses the lower bandwidth and the higher latency
/// of these two links.
std::unique_ptr<CollectiveCostModel>
createAlphaBetaModel(const Cluster &cluster);

} // namespace proteus::cost

#endif // PROTEUS_COST_COSTMODEL_H
