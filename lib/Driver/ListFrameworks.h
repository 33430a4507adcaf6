//===- ListFrameworks.h - proteus list frameworks --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DRIVER_LISTFRAMEWORKS_H
#define PROTEUS_LIB_DRIVER_LISTFRAMEWORKS_H

namespace proteus::driver {

/// Prints the number of settings of every framework or, in Markdown, all
/// settings. Returns the exit code.
int listFrameworks(bool asMarkdown);

} // namespace proteus::driver

#endif // PROTEUS_LIB_DRIVER_LISTFRAMEWORKS_H
