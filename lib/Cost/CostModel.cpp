//===- CostModel.cpp - conversion of times and names of kinds -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/CostModel.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace proteus::cost;

KernelCostModel::~KernelCostModel() = default;
CollectiveCostModel::~CollectiveCostModel() = default;

Time proteus::cost::fromSeconds(double seconds) {
  if (seconds <= 0)
    return 0;
  double picoseconds = seconds * 1e12;
  // 2^63 is the smallest value that does not fit. The comparison is also false
  // for NaN.
  if (!(picoseconds < 9223372036854775808.0))
    return std::numeric_limits<Time>::max();
  return std::llround(picoseconds);
}

double proteus::cost::toSeconds(Time time) {
  return static_cast<double>(time) / 1e12;
}

StringRef proteus::cost::stringify(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return "all_reduce";
  case CollectiveKind::AllGather:
    return "all_gather";
  case CollectiveKind::ReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::AllToAll:
    return "all_to_all";
  case CollectiveKind::Broadcast:
    return "broadcast";
  case CollectiveKind::Scatter:
    return "scatter";
  case CollectiveKind::Gather:
    return "gather";
  case CollectiveKind::Permute:
    return "permute";
  case CollectiveKind::SendRecv:
    return "send_recv";
  case CollectiveKind::Shift:
    return "shift";
  }
  llvm_unreachable("unknown collective kind");
}

StringRef proteus::cost::stringify(Pass pass) {
  switch (pass) {
  case Pass::Forward:
    return "forward";
  case Pass::DataGradient:
    return "dgrad";
  case Pass::WeightGradient:
    return "wgrad";
  }
  llvm_unreachable("unknown pass");
}

StringRef proteus::cost::stringify(Family family) {
  switch (family) {
  case Family::Product:
    return "product";
  case Family::GroupedProduct:
    return "grouped_product";
  case Family::Attention:
    return "attention";
  case Family::Convolution:
    return "convolution";
  case Family::OtherMatrix:
    return "other_matrix";
  case Family::Stream:
    return "stream";
  case Family::Norm:
    return "norm";
  case Family::Activation:
    return "activation";
  case Family::Rope:
    return "rope";
  case Family::Embedding:
    return "embedding";
  case Family::Softmax:
    return "softmax";
  case Family::Update:
    return "update";
  }
  llvm_unreachable("unknown family");
}

StringRef proteus::cost::stringify(Source source) {
  switch (source) {
  case Source::Measured:
    return "measured";
  case Source::Interpolated:
    return "interpolated";
  case Source::Fitted:
    return "fitted";
  case Source::Datasheet:
    return "datasheet";
  case Source::Roofline:
    return "roofline";
  }
  llvm_unreachable("unknown source");
}

GroupShape proteus::cost::shapeOf(const Cluster &cluster,
                                  ArrayRef<int64_t> devices) {
  SmallVector<int64_t> nodes;
  for (int64_t device : devices)
    nodes.push_back(cluster.nodeOf(device));
  llvm::sort(nodes);
  GroupShape shape;
  shape.ranks = devices.size();
  shape.nodes = 0;
  shape.ranksPerNode = 0;
  for (size_t begin = 0; begin < nodes.size();) {
    size_t end = begin;
    while (end < nodes.size() && nodes[end] == nodes[begin])
      ++end;
    ++shape.nodes;
    shape.ranksPerNode =
        std::max(shape.ranksPerNode, static_cast<int64_t>(end - begin));
    begin = end;
  }
  return shape;
}
