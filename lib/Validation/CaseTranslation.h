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

/// Results of a translation besides the job: the device, and assumptions about
/// decisions that the case leaves open.
struct CaseNotes {
  std::string device; ///< name in the device library
  std::vector<std::string> assumed;
  bool isNetworkAssumed = false;
};

/// Network cards of a node.
struct Network {
  int64_t cards = 0;
  double gbit = 0; ///< Gbit/s of each
};

/// Returns the network that `words` describe, for nodes with `devices` devices.
/// `usual` is the network of most such nodes and fills open values.
Network networkOfWords(llvm::StringRef words, int64_t devices,
                       const Network &usual, CaseNotes &notes);

/// Returns the cluster that a case describes as an inline dictionary of the IR.
llvm::Expected<std::string> clusterOfCase(const json::Reader &hardware,
                                          int64_t gpus, CaseNotes &notes);

/// Sets the model of the job, and its optimizer if the kind of model has a
/// usual one.
llvm::Error modelOfCase(const json::Reader &model, jobs::Job &job,
                        CaseNotes &notes);

/// Sets degrees, batches, precision and the other decisions of the plan.
llvm::Error strategyOfCase(const json::Reader &strategy,
                           const json::Reader &hardware, jobs::Job &job,
                           CaseNotes &notes);

/// Returns true if a case states a value for `key`. The value is read later and
/// rejected if it is invalid.
bool hasValue(const json::Reader &object, llvm::StringRef key);

/// Returns the number that a case states for `key`, or nullopt if it is absent.
std::optional<double> numberOf(const json::Reader &object, llvm::StringRef key);
std::optional<int64_t> countOf(const json::Reader &object, llvm::StringRef key,
                               int64_t min = 1, int64_t max = 1'000'000'000);

/// Sets the software stack and the site of the job.
void stackOfCase(const json::Reader &strategy, const json::Reader &hardware,
                 jobs::Job &job, CaseNotes &notes);

/// Returns the stated number of devices of a case, or else the product of its
/// degrees.
int64_t gpusOfCase(const json::Reader &strategy, const json::Reader &hardware);

} // namespace proteus::validation

#endif // PROTEUS_LIB_VALIDATION_CASETRANSLATION_H
