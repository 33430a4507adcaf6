//===- ReferenceFiles.h - recorded files of the reference -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_REFERENCE_REFERENCEFILES_H
#define PROTEUS_UNITTESTS_REFERENCE_REFERENCEFILES_H

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Reference/Costs/ReferenceModel.h"
#include "Proteus/Support/JSON.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"

namespace proteus {

/// Returns the text of a file in validation/reference.
inline std::string readReferenceText(const llvm::Twine &name) {
  auto buffer = llvm::MemoryBuffer::getFile(llvm::Twine(PROTEUS_REFERENCE_DIR) +
                                            "/" + name);
  if (!buffer)
    llvm::report_fatal_error("no " + name);
  return (*buffer)->getBuffer().str();
}

inline json::Document readReference(const std::string &name) {
  return llvm::cantFail(json::Document::parse(readReferenceText(name), name));
}

inline machine::NodeGraph readTopology(const std::string &cluster) {
  return llvm::cantFail(machine::parseTopologyXML(
      readReferenceText("topologies/" + cluster + ".xml"), cluster + ".xml"));
}

inline net::ReferenceConstants readConstants() {
  return llvm::cantFail(net::parseReferenceConstants(
      readReferenceText("constants.json"), "constants.json"));
}

} // namespace proteus

#endif // PROTEUS_UNITTESTS_REFERENCE_REFERENCEFILES_H
