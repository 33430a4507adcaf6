//===- UserWords.h - errors of passes in the words of flags -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_JOBS_USERWORDS_H
#define PROTEUS_LIB_JOBS_USERWORDS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace proteus::jobs {

/// Returns an error of a pass or of the model library in the words of a user
/// who gave flags and the name of a model: flags instead of options of
/// apply-strategy ("--vpp 8" for "virtual-stages=8"), "the model" instead of
/// the operation that the error names, and no remedy that changes IR.
std::string inUserWords(llvm::StringRef error);

} // namespace proteus::jobs

#endif // PROTEUS_LIB_JOBS_USERWORDS_H
