//===- GroupFamilies.cpp - groups that communicate ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupFamilies.h"

#include "LocalWork.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Dialect/Proteus/Proteus.h"

using namespace mlir;
using namespace proteus;
using dist::Axis;

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

uint32_t GroupFamilies::familyOf(Operation *op, int64_t stage) {
  sim::GroupFamily family;
  if (auto send = dyn_cast<dist::SendOp>(op)) {
    family.axes = {*pipelineAxis - 1};
    family.places = {stage, static_cast<int64_t>(send.getStage())};
  } else if (auto recv = dyn_cast<dist::RecvOp>(op)) {
    family.axes = {*pipelineAxis - 1};
    family.places = {static_cast<int64_t>(recv.getStage()), stage};
  } else if (auto reduction = dyn_cast<dist::StageReduceOp>(op)) {
    family.axes = {*pipelineAxis - 1};
    family.places.assign(reduction.getStages().begin(),
                         reduction.getStages().end());
  } else {
    auto collective = cast<dist::CollectiveOpInterface>(op);
    dist::AxisList axes = *dist::getAxes(mesh, collective.getAxes());
    for (Axis axis : axes)
      family.axes.push_back(axis - 1);
  }
  auto [entry, isNew] = familyNumbers.try_emplace(
      std::pair(family.axes, family.places), families.size());
  if (isNew)
    families.push_back(std::move(family));
  return entry->second;
}

int64_t GroupFamilies::bytesOf(const FlatTask &task) const {
  if (auto fused = dyn_cast<dist::FusedReduceOp>(task.op))
    return fused.getBucketBytes(task.bucket);
  auto fused = dyn_cast<dist::FusedGatherOp>(task.op);
  if (fused && fused->getParentOfType<dist::SectionOp>().getOnce())
    return fused.getBucketBytes(task.bucket);
  if (fused) {
    int64_t bits = 0;
    for (auto [input, output] :
         llvm::zip_equal(fused.getInputs(), fused.getOutputs())) {
      RankedTensorType type = dist::tensorTypeOf(output);
      bits += dist::bufferBytes(type, dist::tensorTypeOf(input)) * 8 *
              rules.gatheredBits(output) / type.getElementTypeBitWidth();
    }
    return llvm::divideCeil(bits, 8);
  }
  int64_t bytes = cast<dist::CollectiveOpInterface>(task.op).getBufferBytes();
  if (auto gather = dyn_cast<dist::AllGatherOp>(task.op))
    bytes =
        llvm::divideCeil(bytes * rules.gatheredBits(gather.getResult()),
                         gather.getInput().getType().getElementTypeBitWidth());
  return bytes;
}

/// Sets the bytes and the transport of a collective with `proteus.exchange`.
/// The members of such a collective write directly into buffers of each other
/// (*user buffers*), either all at once or in chunks as a ring exchange.
///
/// In a ring exchange, a chunk is the whole shard of one device. On each
/// device, the chunk with its own shard needs no exchange. Layouts cannot
/// express that each device orders the shards differently, so in the program
/// every chunk contains an equal part of each shard, and all chunks have the
/// same bytes. This function assigns the bytes of the own chunk to the other
/// chunks: in a gather, 4 chunks of 3 MB become 0, 4, 4 and 4 MB.
static void exchangeByBuffers(Operation *op, sim::GroupCollective &collective) {
  auto exchange =
      op->getAttrOfType<DenseI64ArrayAttr>(ProteusDialect::exchangeAttrName);
  if (!exchange)
    return;
  collective.transport = net::Transport::UserBuffers;
  int64_t index = exchange[0], count = exchange[1];
  if (count == 1)
    return;
  bool isGather = collective.kind == cost::CollectiveKind::AllGather;
  // The chunk with the device's own shard is the first one of a gather and the
  // last one of a reduce-scatter. Nothing is sent for it. In a reduce-scatter,
  // the device then adds up the parts of its shard that all members have
  // written into its buffer.
  if (index != (isGather ? 0 : count - 1)) {
    collective.bytes = llvm::divideCeil(collective.bytes * count, count - 1);
  } else if (isGather) {
    collective.bytes = 0;
  } else {
    collective.bytes *= count;
    collective.transport = net::Transport::LocalSum;
  }
}

FamilyCollective GroupFamilies::find(const FlatTask &task, int64_t stage) {
  auto [entry, isNew] = known.try_emplace({task.op, task.bucket});
  if (!isNew)
    return entry->second;
  uint32_t family = familyOf(task.op, stage);
  sim::GroupCollective collective;
  collective.bytes = bytesOf(task);
  collective.kind =
      kindOf(cast<dist::CollectiveOpInterface>(task.op).getCollectiveKind());
  exchangeByBuffers(task.op, collective);
  std::vector<sim::GroupCollective> &all = families[family].collectives;
  auto [number, isNewKind] =
      collectiveNumbers.try_emplace({family, collective}, all.size());
  if (isNewKind)
    all.push_back(collective);
  return entry->second = {family, number->second};
}
