//===- DecoderExperts.cpp - mixtures of experts in decoders -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecoderBuilder.h"

using namespace mlir;
using namespace proteus::models;

Value DecoderBuilder::sharedExpert(Value x) {
  Value shared = feedForward("moe.shared", x, dims.sharedExpertFfn);
  if (!dims.sharedExpertGate)
    return shared;
  Value gate =
      graph.sigmoid("moe.shared_gate.act",
                    graph.linear("moe.shared_gate", x, 1, /*bias=*/false));
  gate = graph.reshape("moe.shared_gate.rows", gate, {batch, dims.seq});
  gate = graph.broadcast("moe.shared_gate.repeat", gate,
                         GraphBuilder::shapeOf(shared), {0, 1});
  return graph.mul("moe.shared_gate.mul", shared, gate);
}

/// Builds router, experts and shared expert. Every sample is a separate group
/// of tokens with its own slots, so that the assignment of slots depends
/// neither on devices nor on micro-batches.
Value DecoderBuilder::mixture(Value x) {
  // Use `linearWith` instead of `linear`, so that the router does not convert
  // its operands to the matrix type.
  Value weight =
      graph.parameter("moe.router.weight", {dims.experts, dims.hidden});
  Value bias = dims.routerBias
                   ? graph.parameter("moe.router.bias", {dims.experts})
                   : Value();
  Value logits = graph.linearWith("moe.router", x, weight, bias);
  auto routing = graph.route("moe.route", logits, dims.topk, /*groups=*/batch,
                             dims.capacityFactor);
  Value slots = graph.dispatch("moe.dispatch", x, routing);
  if (dims.gatedMlp) {
    Value gate = graph.expertLinear("moe.experts.gate", slots, dims.moeFfn);
    Value up = graph.expertLinear("moe.experts.up", slots, dims.moeFfn);
    slots = gated("moe.experts.act", gate, up);
  } else {
    Value up = graph.expertLinear("moe.experts.fc1", slots, dims.moeFfn);
    slots = dims.activation == "relu" ? graph.relu("moe.experts.act", up)
                                      : graph.gelu("moe.experts.act", up);
  }
  slots =
      graph.expertLinear(dims.gatedMlp ? "moe.experts.down" : "moe.experts.fc2",
                         slots, dims.hidden);
  Value routed = graph.combine("moe.combine", slots, x, routing);
  return dims.sharedExpertFfn ? graph.add("moe.sum", sharedExpert(x), routed)
                              : routed;
}
