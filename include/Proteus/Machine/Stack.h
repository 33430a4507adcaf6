//===- Stack.h - software stacks and sites ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two frameworks may run the same model on the same machine at different
// speeds, because they launch different kernels, move more bytes or wait for
// their hosts. A stack describes a framework with its libraries. A site
// describes a cluster as it was run. Both are read from JSON files
// (docs/stacks.md); the driver, the passes and the validation use them.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MACHINE_STACK_H
#define PROTEUS_MACHINE_STACK_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Plan/PlanMerge.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace proteus::machine {

/// Classes of memory-bound kernels. For each class, a stack can set a factor on
/// the bytes that the kernels move.
enum class TrafficClass : uint8_t {
  Elementwise, ///< additions, dropout, scaling, copies
  Norm,
  Activation,
  Rope,
  Softmax,
  Loss,
  Embedding,
  Permute, ///< moves tokens to experts and back
  Update,  ///< update of parameters
};
constexpr unsigned numTrafficClasses = 9;
/// Returns the name of `traffic` in stack files, for example "norm".
llvm::StringRef stringify(TrafficClass traffic);

using plan::FusedNeighbours;
using plan::ImageLayout;

/// Speeds of one kind of kernel, for each generation of devices. A speed of 0.8
/// means that the kernel has 0.8 times the rate that the cost model predicts.
class ArchitectureRates {
public:
  /// Returns the relative speed on a generation, or 1 if none is set.
  double on(Architecture architecture) const;
  void set(Architecture architecture, double rate) {
    rates.emplace_back(architecture, rate);
  }
  void clear() { rates.clear(); }
  bool empty() const { return rates.empty(); }

private:
  std::vector<std::pair<Architecture, double>> rates;
};

/// A factor for each traffic class: the bytes that kernels of the class move,
/// divided by the bytes of their operations.
struct TrafficFactors : public std::array<double, numTrafficClasses> {
  TrafficFactors() { fill(1); }
};

/// Parameters of the mechanisms of a stack. With the default values, no
/// mechanism adds costs. The channels of images are then last, which makes
/// convolutions with few channels faster.
struct StackParameters {
#define STACK_SECONDS(MEMBER, ...) double MEMBER = 0;
#define STACK_BYTES(MEMBER, ...) int64_t MEMBER = 0;
#define STACK_FLAG(MEMBER, ...) bool MEMBER = false;
#define STACK_NUMBER(MEMBER, ...) double MEMBER = 0;
#define STACK_CHOICE(TYPE, MEMBER, ...) TYPE MEMBER = TYPE(0);
#define STACK_TRAFFIC(MEMBER, ...) TrafficFactors MEMBER;
#define STACK_RATES(MEMBER, ...) ArchitectureRates MEMBER;
#include "Proteus/Machine/StackParameters.def"

  /// Returns true if images with elements of `type` are stored with the
  /// channels as the innermost dimension.
  bool hasChannelsLast(DType type) const;
  /// Sets all times in the section `host` to zero, as with CUDA graphs. With
  /// them, the host launches a whole step at once, so that it never delays a
  /// kernel.
  void captureGraphs();
};

/// A row of the table of parameters in the documentation.
struct StackParameterRow {
  llvm::StringRef mechanism, mechanismHelp;
  llvm::StringRef section, key, help;
  std::vector<std::string> words; ///< words that a choice accepts
};

/// Returns the rows of all parameters in the order of StackParameters.def.
std::vector<StackParameterRow> stackParameterRows();

/// A software stack. A default-constructed stack adds no costs.
struct Stack {
  std::string name;

  // Decisions about the model. The driver applies them when it builds a model.

  /// `Fused`: attention is one kernel. `Unfused`: it consists of products,
  /// softmax and copies.
  plan::KernelForm attention = plan::KernelForm::Fused;
  /// `Fused`: the activation and the multiplication of a gated block are one
  /// kernel. `Unfused`: they are two kernels.
  plan::KernelForm gated = plan::KernelForm::Fused;
  /// `F32`: logits are converted to F32 before the loss. `Compute`: logits keep
  /// the type in which the model computes.
  plan::LogitsType logits = plan::LogitsType::Compute;
  /// Probability of dropout. With 0 there are no dropout kernels.
  double dropout = 0;
  /// The vocabulary is padded to a multiple of this number times the
  /// tensor-parallel degree.
  int64_t vocabMultiple = 1;
  /// `lengthBin` is the size of a length bin in tokens, or 0 without bins. With
  /// bins of 64 tokens, a batch contains for example only samples of 65 to 128
  /// tokens, and all of them are padded to at most 128. Without bins, and if
  /// the sequence length of the model is below `lengthBinsFrom`, every sample
  /// is padded to the sequence length.
  int64_t lengthBin = 0, lengthBinsFrom = 1;
  /// Returns the decisions about the model that differ from the defaults, in
  /// the words of stack files, for example "attention=unfused". The list
  /// includes `gradientType` but not the length bins.
  std::vector<std::string> modelDecisions() const;

  // Decisions about the training step.

  /// Values for the plan fields that a job leaves open.
  plan::StackPlan plan;
  /// Element type of gradients and gradient reductions: f32, or the type of the
  /// parameters (`Compute`).
  plan::GradientType gradientType = plan::GradientType::F32;

  // Effects on time and memory.

  StackParameters parameters;

  /// Kind of memory that users of the stack report. `Allocated`: the bytes of
  /// all tensors, on the device where this sum is largest. `Reserved`: the
  /// memory that the allocator holds on the first device. `Device`: all used
  /// memory of the first device.
  plan::ReportedMemory reportedMemory = plan::ReportedMemory::Allocated;

  /// Mean relative error of the predicted time, caused by effects that are not
  /// modelled.
  double uncertainty = 0.05;
};

/// A cluster as it was run. A site holds constants of the cluster's network
/// that no datasheet contains.
struct Site {
  std::string name;
  /// Names of the devices on which the constants were measured. If the list is
  /// empty, the site applies to all devices.
  std::vector<std::string> devices;
  /// The network cards of a node on which they were measured: number, and
  /// bandwidth of one card in bytes/s. Absent if the site states none.
  struct Cards {
    uint32_t count = 0;
    double bandwidth = 0;
  };
  std::optional<Cards> cards;
  /// Share of the NICs' line rate that communication reaches. If it is absent,
  /// the value of the cluster file is used.
  std::optional<double> fabricEfficiency;
  /// Time in seconds that is added to CollectiveConstants::synchronisation.
  double collectiveGap = 0;
};

/// Fails if `cluster` has a device on which the constants of `site` were not
/// measured.
llvm::Error checkDevices(const Site &site, const Cluster &cluster);
/// Returns a remark if the constants of `site` were measured on nodes with
/// other network cards than those of `cluster`, else an empty text. Clusters of
/// one node do not use their cards.
std::string remarkCards(const Site &site, const Cluster &cluster);

/// Returns the embedded stack or site `name`. The error for an unknown name
/// lists all names.
llvm::Expected<Stack> parseStackPreset(llvm::StringRef name);
llvm::Expected<Site> parseSitePreset(llvm::StringRef name);
/// Returns the names of the embedded stacks or sites, sorted.
std::vector<std::string> stackPresetNames();
std::vector<std::string> sitePresetNames();

/// Reads a stack or a site from JSON text. Error messages call the text
/// `source`. If the text contains `"base": "megatron-lm"`, values that the text
/// does not contain come from the stack megatron-lm.
llvm::Expected<Stack> parseStackJSON(llvm::StringRef text,
                                     llvm::StringRef source);
llvm::Expected<Site> parseSiteJSON(llvm::StringRef text,
                                   llvm::StringRef source);

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_STACK_H
