//===- CostModel.h - what a kernel and a collective cost --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The door between the passes, the engine and the cost sources. A cost source
// answers in integer picoseconds: the unit of the engine. Rounding happens
// here and nowhere else.
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

/// Seconds to picoseconds, rounded to nearest. Saturates at the largest Time,
/// NaN included, so that a broken cost shows; nothing takes less than 0.
Time fromSeconds(double seconds);
double toSeconds(Time time);

/// A kernel as matrix products (rows, inner) x (inner, columns): a convolution
/// multiplies the matrix of its windows.
struct MatrixProduct {
  double rows = 0, columns = 0, inner = 0;
  double biased = 0; ///< elements of the result to which a bias is added
  /// Products with matrices of their own, each with rows / batch of the rows.
  double batch = 1;
};

/// Fused attention, per device.
struct Attention {
  double batch = 1, heads = 1;
  double queries = 1, keys = 1;
  double keyDim = 1, valueDim = 1; ///< of one head
  double visited = 1; ///< share of the pairs of a query and a key; causal: 1/2
};

/// A convolution, per device. Channels are those of one group.
struct Convolution {
  double batch = 1, groups = 1;
  double inChannels = 1, outChannels = 1;
  double height = 1, width = 1;       ///< of the image
  double outHeight = 1, outWidth = 1; ///< of the output
  double kernelHeight = 1, kernelWidth = 1;
  double stride = 1; ///< the larger of both directions
  /// The channels of a pixel are neighbours in memory.
  bool channelsLast = false;
};

/// Which part of a step a matrix kernel belongs to; decides how its operands
/// lie in memory.
enum class Pass : uint8_t { Forward, DataGradient, WeightGradient };
llvm::StringRef stringify(Pass pass);

/// How a kernel is computed, which decides what model it gets.
enum class Family : uint8_t {
  Product,        ///< matrix products of equal size; `Kernel::product`
  GroupedProduct, ///< those of experts, in one call; `Kernel::product`
  Attention,      ///< `Kernel::attention`
  Convolution,    ///< `Kernel::convolution`
  OtherMatrix,    ///< on the matrix units, its shape unknown
  Stream,         ///< memory-bound, as the classes of machine::MemoryClass
  Norm,
  Activation,
  Rope,
  Embedding,
  Softmax,
  Update, ///< of parameters: all of them in few launches
};
constexpr unsigned numFamilies = 12;
llvm::StringRef stringify(Family family);

/// The work of one kernel on one device, in local (per-device) sizes.
struct Kernel {
  llvm::StringRef op; ///< operation name, such as "nn.linear"
  double flops = 0;   ///< floating-point operations
  double bytes = 0;   ///< bytes read plus bytes written
  DType type = DType::F32;
  bool matrix = false; ///< runs on the matrix units (GEMM, convolution)
  /// Of a matrix kernel that is one product.
  std::optional<MatrixProduct> product = std::nullopt;
  /// Parts that are launched one after the other: the times of a recurrent
  /// layer.
  double steps = 1;
  Family family = Family::Stream;
  Pass pass = Pass::Forward;
  /// Whether the result is added to what is there, which is read first.
  bool accumulates = false;
  double resultBytes = 0; ///< what of `bytes` is written
  std::optional<Attention> attention = std::nullopt;
  std::optional<Convolution> convolution = std::nullopt;
};

/// Where an answer comes from, weakest last.
enum class Source : uint8_t {
  Measured,     ///< a profile has this kernel
  Interpolated, ///< between kernels of a profile
  Fitted,       ///< a model fitted to measurements on the device
  Datasheet,    ///< the same model, scaled by the datasheet
  Roofline,     ///< peak rates
};
constexpr unsigned numSources = 5;
llvm::StringRef stringify(Source source);

struct Answer {
  Time time = 0;
  Source source = Source::Roofline;
  double uncertainty = 0; ///< mean relative error to expect
  bool memoryBound = false;
};

/// Costs of kernels on one device type.
class KernelCostModel {
public:
  virtual ~KernelCostModel();
  virtual Answer cost(const Kernel &kernel) const = 0;
};

/// max(flops / peak, bytes / bandwidth) + kernel overhead of every step. `peak`
/// is that of the kernel's type if it runs on the matrix units; the vector
/// units are not faster than F32. F32 never becomes TF32.
std::unique_ptr<KernelCostModel> createRooflineModel(const Device &device);

/// What of the software decides the speed of kernels.
struct KernelModelOptions {
  /// Memory-bound kernels are fused and written so that they stream; else each
  /// class has the efficiency of separate, older kernels.
  bool fusedMemoryKernels = true;
  /// Peak rates even where more is known: lower bounds.
  bool roofline = false;
};

/// The fitted models of Proteus/Cost/KernelModels.h if the device has
/// parameters for them, else the roofline.
std::unique_ptr<KernelCostModel>
createDeviceModel(const Device &device, const KernelModelOptions &options = {});

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
  Shift, ///< everyone sends to the next one of a ring at the same time
};
llvm::StringRef stringify(CollectiveKind kind);

/// How a group of devices lies on the cluster. Two groups of the same shape
/// cost the same.
struct GroupShape {
  int64_t ranks = 1;
  int64_t nodes = 1;        ///< nodes touched
  int64_t ranksPerNode = 1; ///< largest number of members in one node
  bool operator==(const GroupShape &other) const {
    return ranks == other.ranks && nodes == other.nodes &&
           ranksPerNode == other.ranksPerNode;
  }
};

/// Shape of an explicit list of devices.
GroupShape shapeOf(const Cluster &cluster, llvm::ArrayRef<int64_t> devices);

/// `bytes` is the size of the full tensor each group works on: the buffer of an
/// all-reduce, the result of an all-gather, the input of a reduce-scatter, the
/// per-rank input of an all-to-all, what the root of a broadcast, scatter or
/// gather holds, what each rank of a permute or shift sends, the message of a
/// send.
struct Collective {
  CollectiveKind kind = CollectiveKind::AllReduce;
  int64_t bytes = 0;
  GroupShape group;
};

/// Costs of collectives on one cluster.
class CollectiveCostModel {
public:
  virtual ~CollectiveCostModel();
  virtual Answer cost(const Collective &collective) const = 0;
};

/// Rings over the slowest link the group crosses: with n ranks, bandwidth B and
/// latency a per step, all-reduce 2(n-1)(S/nB + a), all-gather and
/// reduce-scatter (n-1)(S/nB + a), all-to-all, scatter and gather
/// (n-1)(S/nB + a), broadcast S/B + (n-1)a, permute, shift and send S/B + a.
/// One rank costs nothing. A group within a node uses `intraNode` of the
/// cluster, one with a member per node `interNode`, any other the worse of
/// both.
std::unique_ptr<CollectiveCostModel>
createAlphaBetaModel(const Cluster &cluster);

} // namespace proteus::cost

#endif // PROTEUS_COST_COSTMODEL_H
