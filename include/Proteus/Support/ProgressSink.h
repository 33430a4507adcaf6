//===- ProgressSink.h - receiver of progress --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_PROGRESSSINK_H
#define PROTEUS_SUPPORT_PROGRESSSINK_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace proteus {

/// Receives the progress of a long computation, to show it to a user who waits.
class ProgressSink {
public:
  virtual ~ProgressSink() = default;
  /// Reports that a phase begins, for example "simulating". `total` is its work
  /// in the units of `advance`, or 0 if that is not known.
  virtual void begin(llvm::StringRef phase, uint64_t total) = 0;
  /// Reports the work that is done since the beginning of the phase.
  virtual void advance(uint64_t done) = 0;
};

} // namespace proteus

#endif // PROTEUS_SUPPORT_PROGRESSSINK_H
