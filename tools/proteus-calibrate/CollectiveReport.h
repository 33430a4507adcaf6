//===- CollectiveReport.h - errors of predicted collectives -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_COLLECTIVEREPORT_H
#define PROTEUS_CALIBRATE_COLLECTIVEREPORT_H

#include "CollectiveFit.h"

namespace proteus::calibrate {

/// Errors of one table and block of constants.
struct Judgement {
  SizeErrors fit;     ///< fitted to all rows
  SizeErrors octaves; ///< each octave predicted by a fit to every second other
  SizeErrors groups;  ///< group sizes between others predicted without them
};

/// Samples of `machine` that `block` predicts.
Samples samplesOf(const Measured &machine, Block block);
/// What `constants` say of them.
std::vector<double> predict(Measured &machine,
                            const machine::CollectiveConstants &constants,
                            llvm::ArrayRef<Sample> samples);
SizeErrors errorsWith(Measured &machine, Block block,
                      const machine::CollectiveConstants &constants);

/// Fits to the machine alone, from `start`, and to parts of its rows.
Judgement judge(Measured &machine, Block block,
                const machine::CollectiveConstants &start, bool few);

/// "12.3/ 4.5/ 3.1": below 1 MiB, from 1 MiB, from 16 MiB, in percent.
std::string inPercent(const SizeErrors &errors);
/// What of the targets is missed; empty if nothing.
std::string missed(const SizeErrors &errors);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_COLLECTIVEREPORT_H
