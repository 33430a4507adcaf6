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

#include <array>
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

using plan::FusedNeighbours;
using plan::ImageLayout;

/// Speeds per generation of devices, relative to the model of the device.
class ArchitectureRates {
public:
  /// Returns the speed on a generation, 1 if none is given.
  double on(Architecture architecture) const;
  void set(Architecture architecture, double rate) {
    rates.emplace_back(architecture, rate);
  }
  void clear() { rates.clear(); }
  bool empty() const { return rates.empty(); }

private:
  std::vector<std::pair<Architecture, double>> rates;
};

/// Factors of bytes, per class of kernels.
struct TrafficFactors : public std::array<double, numTrafficClasses> {
  TrafficFactors() { fill(1); }
};

/// Parameters of the mechanisms of a stack. The defaults are neutral.
struct StackParameters {
#define STACK_SECONDS(MEMBER, ...) double MEMBER = 0;
#define STACK_BYTES(MEMBER, ...) int64_t MEMBER = 0;
#define STACK_FLAG(MEMBER, ...) bool MEMBER = false;
#define STACK_NUMBER(MEMBER, ...) double MEMBER = 0;
#define STACK_CHOICE(TYPE, MEMBER, ...) TYPE MEMBER = TYPE(0);
#define STACK_TRAFFIC(MEMBER, ...) TrafficFactors MEMBER;
#define STACK_RATES(MEMBER, ...) ArchitectureRates MEMBER;
#include "Proteus/Machine/StackParameters.def"

  /// Returns true if the channels of images of a type are last.
  bool hasChannelsLast(DType type) const;
};

/// A row of the table of parameters, for documentation.
struct StackParameterRow {
  llvm::StringRef mechanism, mechanismHelp;
  llvm::StringRef section, key, help;
  std::vector<std::string> words; ///< of a choice
};

/// Returns the rows in the order of StackParameters.def.
std::vector<StackParameterRow> stackParameterRows();

/// A software stack. The defaults are those of one that adds nothing.
struct Stack {
  std::string name;

  // How it writes a model; the driver builds models accordingly.

  /// "fused": one kernel. "unfused": products, softmax and copies between.
  plan::KernelForm attention = plan::KernelForm::Fused;
  /// The same of the two steps of a gated activation.
  plan::KernelForm gated = plan::KernelForm::Fused;
  /// "f32": logits are converted before the loss; "compute": they are not.
  plan::LogitsType logits = plan::LogitsType::Compute;
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
  /// Element type of gradients and of their reductions.
  plan::GradientType gradientType = plan::GradientType::F32;

  // What it costs, in time and memory.

  StackParameters parameters;

  /// What its users call the memory of a run: "allocated", the sum of tensors
  /// on the device that has most, "reserved", what the allocator has taken on
  /// the first one, or "device", all that is taken from the first one.
  plan::ReportedMemory reportedMemory = plan::ReportedMemory::Allocated;

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
