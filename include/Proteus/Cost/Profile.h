//===- Profile.h - profiles of measured kernels -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Profiles are files of measured kernels from a user (docs/profiles.md). A
// kernel in the profile takes its measured time. Between kernels of the
// profile, the time of the device's model is multiplied by the interpolated
// ratio of measured to modelled times. All other kernels take the modelled
// time. Kernels that were measured alone are slowed to the sustained clock of
// the device, as far as the clock limits them.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_PROFILE_H
#define PROTEUS_COST_PROFILE_H

#include "Proteus/Cost/Measurements.h"

namespace proteus::cost {

/// Parses a profile: the format of docs/profiles.md in CSV or JSON, or a
/// published table. The content determines the format.
llvm::Expected<Measurements> parseProfile(llvm::StringRef text,
                                          llvm::StringRef source);
/// Reads and parses the file `path`.
llvm::Expected<Measurements> readProfile(llvm::StringRef path);

/// Returns the measurements of `device` and those without a device. A
/// measurement contains the name of its device or the name that a published
/// table uses for it.
Measurements measurementsOf(const Device &device, const Measurements &all);

/// Creates the model of `device` (see createDeviceModel), corrected by the
/// measurements in `profile`.
std::unique_ptr<KernelCostModel>
createProfileModel(const Device &device, const KernelModelOptions &options,
                   const Measurements &profile);

} // namespace proteus::cost

#endif // PROTEUS_COST_PROFILE_H
