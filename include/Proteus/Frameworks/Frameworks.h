//===- Frameworks.h - jobs in the words of frameworks ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a job as its user states it for a framework: the flags of Megatron-LM,
// a file of torchtitan, a configuration of DeepSpeed. One table per framework
// lists its settings, with the field of the job that a setting sets, or the
// reason for which it can't matter. A setting that is not in the table is an
// error.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_FRAMEWORKS_FRAMEWORKS_H
#define PROTEUS_FRAMEWORKS_FRAMEWORKS_H

#include "Proteus/Jobs/Job.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace proteus::frameworks {

/// Values that a setting takes. `Flag` takes none, and `Switch` also has the
/// form --no-NAME. `List` takes several. `Any` takes every value, also an
/// object with keys of its own.
enum class ValueKind {
  Flag,
  Switch,
  Integer,
  Number,
  Text,
  Boolean,
  List,
  Any
};

/// The effect of a setting on a prediction.
enum class Effect {
  Used,        ///< sets a field of the job
  NotModelled, ///< changes a real step, but not the prediction
  None,        ///< changes neither
  Refused
};

/// A setting of a framework: a row of its table.
struct Setting {
  std::string name; ///< without dashes, or the path of a key: "a.b"
  ValueKind kind;
  Effect effect;
  /// Meaning of a setting that is used; otherwise the assumption of the
  /// prediction, or the reason for which the setting has no effect or is
  /// refused.
  std::string text;
  /// The dimension of the model that the setting sets; empty: none.
  std::string dimension;
  /// The value with which a setting that is not modelled changes nothing;
  /// empty: there is none.
  std::string neutral;
};

/// A framework, and the release whose settings and defaults are read.
struct Framework {
  std::string name, flag, release;
  std::vector<Setting> settings;

  /// Returns the setting `name`, or null if there is none.
  const Setting *find(llvm::StringRef name) const;
};

/// Returns all frameworks.
llvm::ArrayRef<Framework> allFrameworks();
/// Returns the framework whose flag is `flag`, which must exist.
const Framework &frameworkOf(llvm::StringRef flag);

// The functions below set fields of `job` and return remarks: one names all
// settings without effect on the prediction, one those that are not modelled,
// and one the decisions that the framework takes by default. `job.gpus` may be
// stated before the call.

/// Reads the arguments of a run of Megatron-LM. A launcher with its flags and
/// the name of a script may precede them.
llvm::Expected<std::vector<std::string>>
readMegatron(llvm::ArrayRef<std::string> arguments, jobs::Job &job);

/// Reads a file of torchtitan. `source` is the name of the text in errors.
llvm::Expected<std::vector<std::string>>
readTorchTitan(llvm::StringRef text, llvm::StringRef source, jobs::Job &job);

/// Reads a configuration of DeepSpeed. `source` is the name of the text in
/// errors.
llvm::Expected<std::vector<std::string>>
readDeepSpeed(llvm::StringRef text, llvm::StringRef source, jobs::Job &job);

} // namespace proteus::frameworks

#endif // PROTEUS_FRAMEWORKS_FRAMEWORKS_H
