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

/// Errors of a block of constants on one table.
struct Judgement {
  SizeErrors fit;     ///< of a fit to all rows
  SizeErrors octaves; ///< of each octave, predicted by a fit to the octaves of
                      ///< the other parity
  SizeErrors groups;  ///< of each inner group size, predicted by a fit to the
                      ///< others
};

/// Returns the samples of `machine` that depend on the constants of `block`.
Samples samplesOf(const Measured &machine, Block block);
/// Returns the times in seconds that `constants` predict for `samples`.
std::vector<double> predict(Measured &machine,
                            const machine::CollectiveConstants &constants,
                            llvm::ArrayRef<Sample> samples);
/// Returns the errors of `constants` on the samples of `block`.
SizeErrors errorsWith(Measured &machine, Block block,
                      const machine::CollectiveConstants &constants);

/// Returns the errors of fits of a block to the machine alone, all started from
/// `start`: `fit` for a fit to all rows, the others for fits to parts of the
/// rows.
Judgement judge(Measured &machine, Block block,
                const machine::CollectiveConstants &start, bool few);

/// Formats errors in percent as "12.3/ 4.5/ 3.1": below 1 MiB, from 1 MiB, from
/// 16 MiB.
std::string inPercent(const SizeErrors &errors);
/// Returns the targets that the errors miss; empty if they meet all.
std::string missed(const SizeErrors &errors);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_COLLECTIVEREPORT_H
