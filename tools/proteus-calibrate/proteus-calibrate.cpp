//===- proteus-calibrate.cpp - constants from measurements ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fits the constants of devices and of communication to published tables, with
// the cost models that simulations use. scripts/calibrate runs it.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {
/// A part of the calibration. It reads tables from one directory, writes files
/// to another and prints the quality of each fit. The part `machine` instead
/// reads a table of a user and takes the name of a cluster.
struct Part {
  StringRef name;
  StringRef summary;
  Error (*run)(StringRef tables, StringRef output);
};
} // namespace

/// Returns all parts; each has a file of its own.
static ArrayRef<Part> parts() {
  static constexpr Part all[] = {
      {"kernels", "efficiencies of devices", proteus::calibrate::fitKernels},
      {"collectives", "communication, from comm/ to communication/",
       proteus::calibrate::calibrateCollectives},
      {"machine", "ROWS.csv CLUSTER: prints the collectives of a node",
       proteus::calibrate::calibrateMachine},
  };
  return all;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    errs() << "usage: proteus-calibrate PART TABLES OUTPUT\n"
              "Fits constants to the tables below TABLES and writes files "
              "below OUTPUT.\n";
    for (const Part &part : parts())
      errs() << "  " << part.name << ": " << part.summary << "\n";
    return 1;
  }
  for (const Part &part : parts())
    if (part.name == argv[1]) {
      if (Error error = part.run(argv[2], argv[3])) {
        errs() << "proteus-calibrate: " << toString(std::move(error)) << "\n";
        return 1;
      }
      return 0;
    }
  errs() << "proteus-calibrate: there is no part '" << argv[1] << "'\n";
  return 1;
}
