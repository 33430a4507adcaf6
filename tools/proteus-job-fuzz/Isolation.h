//===- Isolation.h - child processes ----------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_JOBFUZZ_ISOLATION_H
#define PROTEUS_TOOLS_JOBFUZZ_ISOLATION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace proteus {
namespace fuzz {

/// The end of a child process.
enum class End {
  Finished,
  Crashed, ///< ended by a signal or with an exit code other than 0
  Late     ///< wrote no line for the allowed time and was ended
};

/// Runs `work` in a child process and calls `onLine` with each line that the
/// child writes. Ends the child if it writes no line for `seconds`.
End runIsolated(llvm::function_ref<void(llvm::raw_ostream &)> work,
                llvm::function_ref<void(llvm::StringRef)> onLine,
                unsigned seconds);

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_JOBFUZZ_ISOLATION_H
