//===- Profile.h - measured kernels of a user -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Profiles are files of measured kernels (docs/profiles.md). Where they have a
// kernel, its time is taken from there; between their kernels the model of the
// device is corrected by what it is off at the neighbours; elsewhere it is left
// alone. Kernels that were measured alone are slowed to the sustained clock of
// the device, as far as the clock bounds them.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_COST_PROFILE_H
#define PROTEUS_COST_PROFILE_H

#include "Proteus/Cost/Measurements.h"

namespace proteus::cost {

/// Kernels of a profile: our own format in CSV or JSON, or a published table,
/// told apart by what is in it.
llvm::Expected<Measurements> parseProfile(llvm::StringRef text,
                                          llvm::StringRef source);
llvm::Expected<Measurements> readProfile(llvm::StringRef path);

/// The measurements that are of `device`: those that name it, by its name or by
/// the name a published table has for it, and those that name none.
Measurements measurementsOf(const Device &device, const Measurements &all);

/// The model of `device` (createDeviceModel), with the kernels in `profile` as
/// measured.
std::unique_ptr<KernelCostModel>
createProfileModel(const Device &device, const KernelModelOptions &options,
                   const Measurements &profile);

} // namespace proteus::cost

#endif // PROTEUS_COST_PROFILE_H
