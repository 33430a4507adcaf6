//===- JobPrecision.cpp - the precision of a job on its devices -----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobPrecision.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;

using machine::Device;
using machine::DType;
using plan::Precision;

/// Returns the first device without a peak rate of `type`, or null.
static const Device *deviceWithout(DType type, ArrayRef<Device> devices) {
  const Device *found =
      find_if(devices, [&](const Device &d) { return !d.supports(type); });
  return found == devices.end() ? nullptr : found;
}

Error proteus::jobs::settlePrecision(ArrayRef<Device> devices, Job &job,
                                     std::vector<std::string> &remarks) {
  if (!job.precision) {
    job.precision = Job::defaultPrecision;
    const Device *device = deviceWithout(DType::BF16, devices);
    if (!device)
      return Error::success();
    job.precision =
        deviceWithout(DType::F16, devices) ? Precision::FP32 : Precision::FP16;
    remarks.push_back("the precision is " +
                      plan::stringifyEnum(*job.precision).str() + ": '" +
                      device->name +
                      "' has no units for bf16, the default; --precision "
                      "states another");
    return Error::success();
  }
  if (job.precision == Precision::FP8)
    if (const Device *device = deviceWithout(DType::F8, devices))
      return createStringError("--precision fp8: '" + device->name +
                               "' has no units for fp8; use another precision "
                               "or device");
  if (job.precision != Precision::BF16 && job.precision != Precision::FP16)
    return Error::success();
  DType type = job.precision == Precision::BF16 ? DType::BF16 : DType::F16;
  const Device *device = deviceWithout(type, devices);
  if (!device)
    return Error::success();
  std::string word = plan::stringifyEnum(*job.precision).str();
  remarks.push_back(
      "--precision " + word + ": '" + device->name + "' has no units for " +
      word +
      ": PyTorch computes it on the units for fp32, and products have "
      "the times of fp32 here (docs/models.md)" +
      (deviceWithout(DType::F16, devices) ? ""
                                          : "; --precision fp16 is faster"));
  return Error::success();
}
