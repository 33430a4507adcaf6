//===- RandomPipelines.h - long pipelines for tests -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_SIM_RANDOMPIPELINES_H
#define PROTEUS_UNITTESTS_SIM_RANDOMPIPELINES_H

#include "TestWorkloads.h"

#include "llvm/ADT/STLExtras.h"

#include <random>

namespace proteus::sim::test {

/// Generator of pipelines of uneven stages. A stage has `chunks` forward and
/// backward sections, kernels with tensor-parallel collectives between them,
/// gradients that are reduced in the last micro-batch, and an update. All
/// messages share links.
class PipelineGenerator {
public:
  enum class Order { Sequential, GPipe, OneForwardOneBackward, Interleaved };

  explicit PipelineGenerator(unsigned seed) : random(seed) {
    order = static_cast<Order>(pick(4));
    stages = 1 + pick(4);
    chunks = order == Order::Interleaved ? 2 : 1;
    microBatches = stages * (6 + pick(8));
    shareLinks = pick(3);
    slowing = pick(3);
    hasExtra = chunks == 1 && pick(3) == 0;
  }

  Order order;
  uint32_t stages, chunks, microBatches;
  int64_t maxKernels = 3; ///< per section
  bool shareLinks, slowing;
  /// True if a third section runs before or after the backward one.
  bool hasExtra;

  Workload make() {
    b.workload.info.microBatches = microBatches;
    for (uint32_t s = 0; s < stages; ++s)
      b.addClass("stage " + std::to_string(s));
    for (uint32_t s = 0; s < 2 * stages; ++s)
      b.link(500000000000 + pick(1000000000000));
    makeTransfers();
    for (uint32_t s = 0; s < stages; ++s)
      makeStage(s);
    // Some pipelines have hosts that wait for messages: all hosts or some.
    bool some = pick(8) == 0, all = pick(2);
    for (DeviceClass &device : b.workload.classes)
      device.hostWaits = some && (all || pick(2));
    return std::move(b.workload);
  }

private:
  int64_t pick(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }
  double factor() { return slowing ? 1 + pick(50) / 64. : 1; }

  Flow makeFlow(std::vector<uint32_t> links, uint32_t channels) {
    Flow flow;
    flow.latency = pick(20);
    flow.volume = pick(4) ? pick(200) : 0;
    flow.ceiling = 400000000000 + pick(1000000000000);
    flow.channels = channels;
    if (shareLinks)
      for (uint32_t link : links)
        flow.loads.push_back({link, 1 + pick(loadUnit)});
    return flow;
  }

  /// Adds the transfers: activations of virtual stage v go to v + 1, gradients
  /// come back.
  void makeTransfers() {
    for (uint32_t v = 0; v + 1 < stages * chunks; ++v) {
      uint32_t from = v % stages, to = (v + 1) % stages;
      for (int direction = 0; direction < 2; ++direction) {
        std::vector<uint32_t> members = {std::min(from, to)};
        std::vector<uint32_t> links = {2 * from};
        if (from != to) {
          members.push_back(std::max(from, to));
          links.push_back(2 * to);
        }
        int32_t index = b.flow(members, makeFlow(links, pick(2)));
        b.workload.collectives[index].kind = cost::CollectiveKind::SendRecv;
      }
    }
  }

  void makeSection(uint32_t stage, uint32_t chunk, bool backward) {
    Template &micro = b.workload.classes[stage].micro;
    Phase phase = backward ? Phase::Backward : Phase::Forward;
    uint32_t v = chunk * stages + stage;
    std::vector<uint32_t> inputs, beside;
    bool receives = backward ? v + 1 < stages * chunks : v > 0;
    bool sends = backward ? v > 0 : v + 1 < stages * chunks;
    // A transfer within one class is one task, of the sender.
    // Some messages are not needed before the last kernel.
    std::vector<uint32_t> late;
    if (receives && stages > 1)
      (pick(4) ? inputs : late) = {b.party(
          micro, "receive",
          backward ? Stream::PipelineReceiveGradient : Stream::PipelineReceive,
          backward ? 2 * v + 1 : 2 * (v - 1), {}, phase)};
    // Some collectives have no dependencies.
    if (pick(8) == 0)
      inputs.push_back(b.party(micro, "fetch", Stream::ContextParallel,
                               b.flow({stage}, makeFlow({2 * stage + 1}, 8)),
                               {}, phase));
    // Some parameters are gathered in the first micro-batch only and stay.
    if (!backward && pick(12) == 0) {
      inputs.push_back(b.party(micro, "gather", Stream::DataParallel,
                               b.flow({stage}, makeFlow({2 * stage}, 8)), {},
                               phase));
      micro.tasks[inputs.back()].when = When::FirstMicroBatch;
    }
    if (backward)
      inputs.push_back(forwardEnd[chunk]);
    uint32_t last = 0;
    for (int64_t n = 1 + pick(maxKernels); n > 0; --n) {
      if (n == 1)
        llvm::append_range(inputs, late);
      last = b.kernel(micro, "kernel", 1 + pick(60), inputs, phase);
      micro.tasks[last].matrix = pick(2);
      micro.tasks[last].allocates = {uint32_t(micro.buffers.size())};
      micro.buffers.push_back({"activation", 1 + pick(9)});
      if (!backward)
        kept[chunk].push_back(micro.buffers.size() - 1);
      inputs = {last};
      if (pick(2)) {
        // Some reductions overlap with the next kernel.
        Stream stream =
            pick(3) ? Stream::TensorParallel : Stream::ContextParallel;
        uint32_t reduce = b.party(micro, "reduce", stream,
                                  b.flow({stage}, makeFlow({2 * stage + 1}, 8)),
                                  {last}, phase);
        if (pick(3)) {
          last = reduce;
          inputs = {last};
        } else {
          beside.push_back(reduce);
        }
      }
    }
    if (!beside.empty()) {
      beside.push_back(last);
      last = b.kernel(micro, "kernel", 1 + pick(60), beside, phase);
    }
    if (backward)
      micro.tasks[last].reads = kept[chunk];
    else
      forwardEnd[chunk] = last;
    if (sends)
      b.party(micro, "send",
              backward ? Stream::PipelineSendGradient : Stream::PipelineSend,
              backward ? 2 * (v - 1) + 1 : 2 * v, {last}, phase);
    if (backward && pick(2)) {
      uint32_t reduce =
          b.party(micro, "reduce gradients", Stream::DataParallel,
                  b.flow({stage}, makeFlow({2 * stage}, 8)), {last}, phase);
      // Otherwise every micro-batch reduces the gradients.
      if (pick(2))
        micro.tasks[reduce].when = When::LastMicroBatch;
      micro.tasks[reduce].bucket = b.workload.buckets.size();
      b.workload.buckets.push_back({"bucket", 1});
      reductions.push_back(reduce);
    }
    Builder::endSection(micro);
  }

  /// Adds a section that reads the buffers of the forward section.
  void makeExtra(uint32_t stage) {
    Template &micro = b.workload.classes[stage].micro;
    uint32_t last = forwardEnd[0];
    for (int64_t n = 2 + pick(maxKernels); n > 0; --n)
      last = b.kernel(micro, "extra", 1 + pick(60), {last}, Phase::Backward);
    micro.tasks[last].reads = kept[0];
    Builder::endSection(micro);
  }

  void makeStage(uint32_t stage) {
    DeviceClass &device = b.workload.classes[stage];
    forwardEnd.assign(chunks, 0);
    kept.assign(chunks, {});
    reductions.clear();
    for (uint32_t chunk = 0; chunk < chunks; ++chunk)
      makeSection(stage, chunk, /*backward=*/false);
    for (uint32_t chunk = 0; chunk < chunks; ++chunk)
      makeSection(stage, chunk, /*backward=*/true);
    if (hasExtra)
      makeExtra(stage);
    b.kernel(device.once, "update", pick(90), {}, Phase::Update);
    Builder::endSection(device.once);
    for (uint32_t reduce : reductions)
      device.onceDependsOn.push_back({0, reduce});
    device.interference = {factor(), factor(), factor()};
    device.launchLatency = pick(3) * pick(30);
    if (pick(3) == 0)
      for (Task &task : device.micro.tasks)
        task.launch = pick(2) * pick(40);
    device.resident = {{"weights", 1 + pick(50), MemoryOwner::Parameters}};
    device.order = orderOf(stage);
  }

  std::vector<WorkItem> orderOf(uint32_t stage) {
    uint32_t total = microBatches * chunks;
    uint32_t warmup = 0;
    switch (order) {
    case Order::Sequential:
      warmup = stages - 1; // the same for all stages
      break;
    case Order::GPipe:
      warmup = total;
      break;
    case Order::OneForwardOneBackward:
      warmup = stages - stage - 1;
      break;
    case Order::Interleaved:
      warmup = 2 * (stages - stage - 1) + (chunks - 1) * stages;
      break;
    }
    // Groups of as many micro-batches as there are stages alternate between the
    // chunks.
    auto item = [&](uint32_t k, bool backward) -> WorkItem {
      uint32_t inGroup = k % (stages * chunks);
      uint32_t chunk = inGroup / stages;
      uint32_t microBatch = k / (stages * chunks) * stages + inGroup % stages;
      return {backward ? chunks + (chunks - 1 - chunk) : chunk, microBatch,
              false};
    };
    std::vector<WorkItem> result;
    uint32_t forward = 0, backward = 0;
    while (forward < std::min(warmup, total))
      result.push_back(item(forward++, false));
    while (backward < total) {
      if (forward < total)
        result.push_back(item(forward++, false));
      bool isFirst = hasExtra && pick(2);
      uint32_t microBatch = item(backward, true).microBatch;
      if (isFirst)
        result.push_back({2, microBatch, false});
      result.push_back(item(backward++, true));
      if (hasExtra && !isFirst)
        result.push_back({2, microBatch, false});
    }
    result.push_back({0, 0, true});
    return result;
  }

  std::mt19937 random;
  Builder b;
  std::vector<uint32_t> forwardEnd;
  std::vector<std::vector<uint32_t>> kept; ///< buffers, per chunk
  std::vector<uint32_t> reductions;
};

} // namespace proteus::sim::test

#endif // PROTEUS_UNITTESTS_SIM_RANDOMPIPELINES_H
