//===- Targets.h - readers of untrusted files -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per format of file. A function gives a text to the reader of the
// format and checks the result: any bytes must be rejected with a message or
// give a consistent value. `Fuzzer.cpp` calls the functions with the inputs of
// libFuzzer, and `Replay.cpp` with the files of the corpus.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_INPUTFUZZ_TARGETS_H
#define PROTEUS_TOOLS_INPUTFUZZ_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdlib>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace proteus::fuzz {

/// The reader of one format.
struct Target {
  /// Name of the format, and of the folder of its corpus.
  llvm::StringLiteral name;
  /// Reads a text. Ends the process if the result is inconsistent.
  void (*read)(llvm::StringRef text);
};

/// Returns all targets.
llvm::ArrayRef<Target> allTargets();

/// Returns the target with the name `name`, or null.
const Target *findTarget(llvm::StringRef name);

/// Reads `text` with `target`. Ends the process if that takes too much CPU
/// time.
void readInTime(const Target &target, llvm::StringRef text);

/// Name that the readers use for the text in their messages.
inline constexpr llvm::StringLiteral sourceName = "fuzz";

/// Ends the process if `condition` is false.
inline void require(bool condition) {
  if (!condition)
    std::abort();
}

/// Returns a context with all dialects, which some inputs share.
mlir::MLIRContext &sharedContext();

// The targets.
void readCluster(llvm::StringRef text);
void readTopology(llvm::StringRef text);
void readDevice(llvm::StringRef text);
void readStack(llvm::StringRef text);
void readSite(llvm::StringRef text);
void readModel(llvm::StringRef text);
void readDeepSpeed(llvm::StringRef text);
void readTorchTitan(llvm::StringRef text);
void readMegatron(llvm::StringRef text);
void readCases(llvm::StringRef text);
void readParity(llvm::StringRef text);
void readProfile(llvm::StringRef text);
void readIR(llvm::StringRef text);

} // namespace proteus::fuzz

#endif // PROTEUS_TOOLS_INPUTFUZZ_TARGETS_H
