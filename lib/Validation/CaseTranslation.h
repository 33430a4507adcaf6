//===- CaseTranslation.h - translation of cases to jobs ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_VALIDATION_CASETRANSLATION_H
#define PROTEUS_LIB_VALIDATION_CASETRANSLATION_H

#include "Proteus/Jobs/Job.h"
#include "Proteus/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace proteus::validation {

/// Results of the translation of a case that are not part of its job.
struct CaseNotes {
  std::string device; ///< name in the device library
  /// Assumptions about values that the case leaves open.
  std::vector<std::string> assumed;
  /// True if the number or the rate of network cards is assumed.
  bool isNetworkAssumed = false;
};

/// Network cards of a node.
struct Network {
  int64_t cards = 0;
  double gbit = 0; ///< Gbit/s of one card
};

/// Returns the network that `words` describe, for nodes with `devices` devices.
/// `usual` is the network of most nodes with the same GPU. If the words do not
/// determine the number and the rate of the cards, takes missing values from
/// `usual` and notes the assumption.
Network networkOfWords(llvm::StringRef words, int64_t devices,
                       const Network &usual, CaseNotes &notes);

/// Returns the cluster of a case as text, an inline dictionary of the IR.
llvm::Expected<std::string> clusterOfCase(const json::Reader &hardware,
                                          int64_t gpus, CaseNotes &notes);

/// Sets the model of the job. Sets `meanTokens` if the case states it, or if a
/// masked language model pads its samples. For image models and DLRM, also sets
/// the optimizer with which they are usually trained.
llvm::Error modelOfCase(const json::Reader &model, jobs::Job &job,
                        CaseNotes &notes);

/// Sets degrees, batches, precision and the other decisions of the plan.
llvm::Error strategyOfCase(const json::Reader &strategy,
                           const json::Reader &hardware, jobs::Job &job,
                           CaseNotes &notes);

/// Returns true if `object` has the key and its value is not null.
bool hasValue(const json::Reader &object, llvm::StringRef key);

/// Returns the positive number under `key`, or nullopt if there is no value.
std::optional<double> numberOf(const json::Reader &object, llvm::StringRef key);
/// Returns the integer under `key`, or nullopt if there is no value. Records an
/// error if the integer is not from `min` to `max`.
std::optional<int64_t> countOf(const json::Reader &object, llvm::StringRef key,
                               int64_t min = 1, int64_t max = 1'000'000'000);

/// Sets the software stack, `cudaGraphs` and the site of the job.
void stackOfCase(const json::Reader &strategy, const json::Reader &hardware,
                 jobs::Job &job, CaseNotes &notes);

/// Returns the number of devices that a case states. If it states none, returns
/// the product of its degrees dp, tp, pp and cp.
int64_t gpusOfCase(const json::Reader &strategy, const json::Reader &hardware);

} // namespace proteus::validation

#endif // PROTEUS_LIB_VALIDATION_CASETRANSLATION_H
