//===- Targets.cpp - list of the readers of untrusted files ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>

using namespace llvm;
using namespace proteus::fuzz;

/// Most CPU time, in seconds, for one input. Inputs have at most 64 KiB.
/// Sanitizers slow the readers.
#if LLVM_ADDRESS_SANITIZER_BUILD
static constexpr double mostSeconds = 4;
#else
static constexpr double mostSeconds = 1;
#endif

/// Config files of Hugging Face are model files, but share few words with them,
/// so they have a corpus of their own.
static constexpr Target targets[] = {{"cluster", readCluster},
                                     {"topology", readTopology},
                                     {"device", readDevice},
                                     {"stack", readStack},
                                     {"site", readSite},
                                     {"model", readModel},
                                     {"huggingface", readModel},
                                     {"deepspeed", readDeepSpeed},
                                     {"torchtitan", readTorchTitan},
                                     {"megatron", readMegatron},
                                     {"cases", readCases},
                                     {"parity", readParity},
                                     {"profile", readProfile},
                                     {"ir", readIR}};

ArrayRef<Target> proteus::fuzz::allTargets() { return targets; }

const Target *proteus::fuzz::findTarget(StringRef name) {
  const Target *found = llvm::find_if(
      targets, [&](const Target &target) { return target.name == name; });
  return found == std::end(targets) ? nullptr : found;
}

void proteus::fuzz::readInTime(const Target &target, StringRef text) {
  // The time of this process only, because the machine may have other work.
  std::clock_t start = std::clock();
  target.read(text);
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  if (seconds <= mostSeconds)
    return;
  errs() << target.name << ": reading " << text.size() << " bytes took "
         << seconds << " s, at most " << mostSeconds << " s are allowed\n";
  std::abort();
}
