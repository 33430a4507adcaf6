//===- CaseTranslation.h - the parts of a measured run ----------*- C++ -*-===//
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

namespace proteus::driver {

/// What a case leaves open, and how it was settled, beside its job.
struct CaseNotes {
  std::string device; ///< of the library
  std::vector<std::string> assumed;
  bool isNetworkAssumed = false;
};

/// Network cards of a node.
struct Network {
  int64_t cards = 0;
  double gbit = 0; ///< of each
};

/// The network that `words` describe, of nodes with so many devices; `usual`
/// have most such nodes.
Network networkOfWords(llvm::StringRef words, int64_t devices,
                       const Network &usual, CaseNotes &notes);

/// The cluster that a case describes, as an inline dictionary of the IR.
llvm::Expected<std::string> clusterOfCase(const json::Reader &hardware,
                                          int64_t gpus, CaseNotes &notes);

/// Sets the model of the job.
llvm::Error modelOfCase(const json::Reader &model, Job &job, CaseNotes &notes);

/// Sets degrees, batches and what a case says of its framework's choices. The
/// model is set.
llvm::Error strategyOfCase(const json::Reader &strategy,
                           const json::Reader &hardware, Job &job,
                           CaseNotes &notes);

/// Whether a case says something about `key`. What it says is then read, and
/// refused if it makes no sense.
bool says(const json::Reader &object, llvm::StringRef key);

/// A number that a case states, if it does.
std::optional<double> numberOf(const json::Reader &object, llvm::StringRef key);
std::optional<int64_t> countOf(const json::Reader &object, llvm::StringRef key,
                               int64_t min = 1, int64_t max = 1'000'000'000);

/// Sets the software and the place of the job by what the case says of them.
void stackOfCase(const json::Reader &strategy, const json::Reader &hardware,
                 Job &job, CaseNotes &notes);

/// The devices of a case, or as many as its degrees take.
int64_t gpusOfCase(const json::Reader &strategy, const json::Reader &hardware);

} // namespace proteus::driver

#endif // PROTEUS_LIB_VALIDATION_CASETRANSLATION_H
