//===- Stack.h - what a software stack adds to arithmetic -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two frameworks run the same model on the same machine at different speeds:
// they launch other kernels, move more bytes, wait for their hosts. What is
// known of a framework is a stack, what is known of a place is a site; both are
// data with a name (docs/stacks.md).
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MACHINE_STACK_H
#define PROTEUS_MACHINE_STACK_H

#include "Proteus/Machine/Device.h"
#include "Proteus/Plan/PlanMerge.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace proteus::machine {

/// Kernels that memory bounds, by what frameworks do differently in them.
enum class TrafficClass : uint8_t {
  Elementwise, ///< additions, dropout, scaling, copies
  Norm,
  Activation,
  Rope,
  Softmax,
  Loss,
  Embedding,
  Permute, ///< tokens to experts and back
  Update,  ///< of parameters
};
constexpr unsigned numTrafficClasses = 9;
/// "norm", as in stack files.
llvm::StringRef stringify(TrafficClass traffic);

/// Where the channels of images are in memory. Batch normalisation of
/// consecutive channels keeps what it has read on the device's processors; of
/// channels that are apart it reads its operands twice.
enum class ImageLayout : uint8_t {
  ChannelsLast,
  ChannelsFirst,
  HalfChannelsLast, ///< last in 16-bit types, first in others
};

/// Neighbours that run as one kernel, so that what is between them is neither
/// written nor read.
enum class FusedNeighbours : uint8_t {
  None,
  Elementwise,
  /// And batch normalisation with what follows it, where the channels of
  /// 16-bit images are last.
  Norms,
};

/// A software stack. The defaults are those of one that adds nothing.
struct Stack {
  std::string name;

  // How it writes a model; the driver builds models accordingly.

  /// "fused": one kernel. "unfused": products, softmax and copies between.
  std::string attention = "fused";
  /// The same of the two steps of a gated activation.
  std::string gated = "fused";
  /// "f32": logits are converted before the loss; "compute": they are not.
  std::string logits = "compute";
  /// Probability; 0: no such kernels.
  double dropout = 0;
  /// Vocabularies are padded to multiples of this times the tensor-parallel
  /// degree.
  int64_t vocabMultiple = 1;
  /// Samples are batched by length, in bins of so many tokens, if sequences
  /// may have `lengthBinsFrom` tokens or more: a batch is padded no further
  /// than its bin. 0: every sample is padded to the length of the model.
  int64_t lengthBin = 0, lengthBinsFrom = 1;
  /// Returns its decisions about the model that differ from the defaults, in
  /// the words of stack files: "attention=unfused".
  std::vector<std::string> modelDecisions() const;

  // What it does in a step.

  /// Decisions for jobs that do not state them.
  plan::StackPlan plan;
  /// Element type of gradients and of their reductions; empty: f32.
  std::string gradientType;
  /// Parameters that products read in a narrow type only are gathered in it.
  bool gathersConverted = false;

  // What it costs.

  /// Seconds the host needs for each kernel, each collective and each message
  /// between stages, ahead of the device.
  double hostKernel = 0, hostCollective = 0, hostMessage = 0;
  /// Whether the host waits for a message from another stage before it goes on.
  bool hostWaits = false;
  /// A host pauses now and then: for so many seconds, before such a share of
  /// the collectives. Where hosts wait for messages, the pauses of one delay
  /// the others of its tensor-parallel group, because none gets ahead; a host
  /// that does not wait has its own pauses only, which its times contain.
  double hostPause = 0, hostPauseShare = 0;
  /// Seconds in which the device waits at each kernel, each collective and each
  /// step, whatever the host does ahead.
  double kernelGap = 0, collectiveGap = 0, stepGap = 0;
  /// How many times the bytes of the operation are moved.
  double traffic[numTrafficClasses] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  /// Whether kernels that memory bounds reach the bandwidth of a copy.
  bool fusedMemoryKernels = true;
  /// Gradients of micro-batches are added up by kernels of their own, behind
  /// those that compute them; else by these.
  bool separateAccumulation = false;
  /// Weights that products read in a narrower type are converted once per step,
  /// not for every micro-batch.
  bool keepsConvertedWeights = false;
  /// Linears of one input are one product (queries, keys and values; both of a
  /// gated block): it is converted once, and their gradients of it are one.
  bool fusedLinears = false;
  ImageLayout images = ImageLayout::ChannelsLast;
  FusedNeighbours fusedNeighbours = FusedNeighbours::None;
  bool hasChannelsLast(DType type) const;
  /// Speed of its fused attention, relative to that of the device's model, on
  /// generations for which its kernel was not written; 1 elsewhere.
  std::vector<std::pair<Architecture, double>> attentionRates;
  double attentionRate(Architecture architecture) const;
  /// The same of its matrix products: libraries differ in age, devices in what
  /// clock they sustain.
  std::vector<std::pair<Architecture, double>> productRates;
  double productRate(Architecture architecture) const;

  // What it takes of the memory.

  /// Bytes on every device beyond tensors, allocator and communication.
  int64_t reservedBytes = 0;

  /// Whether a gradient in the type of the model is kept for every shape of a
  /// matrix, because the product adds to the accumulated one directly.
  bool dummyGradients = false;
  /// Whether the optimizer has gradients of its own in the type of its master
  /// weights, beside those of the model.
  bool masterGradients = false;
  /// What its users call the memory of a run: "allocated", the sum of tensors
  /// on the device that has most, "reserved", what the allocator has taken on
  /// the first one, or "device", all that is taken from the first one.
  std::string reportedMemory = "allocated";

  /// Mean relative error of what is not modelled.
  double uncertainty = 0.05;
};

/// A place: what its network leaves of the nominal rate, and what it adds.
struct Site {
  std::string name;
  /// Share of the rate of the network cards that collectives reach; absent: as
  /// the cluster says.
  std::optional<double> fabricEfficiency;
  /// Seconds that each collective takes longer.
  double collectiveGap = 0;
};

/// The embedded stack or site of a name. Unknown names give an error that lists
/// the known ones.
llvm::Expected<Stack> parseStackPreset(llvm::StringRef name);
llvm::Expected<Site> parseSitePreset(llvm::StringRef name);
std::vector<std::string> stackPresetNames();
std::vector<std::string> sitePresetNames();

/// Read from JSON text; `source` names it in errors. A stack may say
/// `"base": "megatron-lm"` and what differs from it.
llvm::Expected<Stack> parseStackJSON(llvm::StringRef text,
                                     llvm::StringRef source);
llvm::Expected<Site> parseSiteJSON(llvm::StringRef text,
                                   llvm::StringRef source);

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_STACK_H
