//===- Profile.h - profiles of measured kernels -----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A profile is a user's file of measured kernels (docs/profiles.md). If a
// kernel is in the profile, the model returns its measured time. If the size of
// a kernel is between sizes in the profile, the model multiplies the modelled
// time by the ratio of measured to modelled times, interpolated between those
// sizes. All other kernels have their modelled time. Kernels that were measured
// outside a training step ran at a higher clock. The model converts their times
// to the clock that the device sustains in a step.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_PROFILE_H
#define PROTEUS_COST_PROFILE_H

#include "Proteus/Cost/Measurements.h"

namespace proteus::cost {

/// Parses a profile in the CSV or JSON format of docs/profiles.md, or a
/// published table. The content determines the format.
llvm::Expected<Measurements> parseProfile(llvm::StringRef text,
                                          llvm::StringRef source);
/// Reads and parses the file `path`.
llvm::Expected<Measurements> readProfile(llvm::StringRef path);

/// Returns the measurements that were made on `device` and those that name no
/// device. A measurement may name the device as cluster files do
/// ("H100-SXM5-80GB") or as a published table does ("h100").
Measurements measurementsOf(const Device &device, const Measurements &all);

/// Creates a model that corrects the predictions of createDeviceModel(device,
/// options) by the measurements in `profile`.
std::unique_ptr<KernelCostModel>
createProfileModel(const Device &device, const KernelModelOptions &options,
                   const Measurements &profile);

} // namespace proteus::cost

#endif // PROTEUS_COST_PROFILE_H
