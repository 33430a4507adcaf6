//===- Device.h - what one accelerator can do -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MACHINE_DEVICE_H
#define PROTEUS_MACHINE_DEVICE_H

#include "Proteus/Machine/KernelParameters.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace proteus::machine {

/// Element types that the cost models tell apart.
enum class DType : uint8_t { F64, F32, TF32, BF16, F16, F8, I64, I32, I8 };

/// Bytes of one element; TF32 is stored as F32.
int64_t byteWidth(DType type);

/// "bf16", as in cluster files.
llvm::StringRef stringify(DType type);
llvm::ArrayRef<DType> allDTypes();

/// Generations that communication libraries tell apart.
enum class Architecture : uint8_t {
  Other,
  Pascal,
  Volta,
  Turing,
  Ampere,
  Hopper,
  Blackwell,
  CDNA,
};
/// "hopper", as in device files.
llvm::StringRef stringify(Architecture architecture);
llvm::ArrayRef<Architecture> allArchitectures();
/// The generation of NVIDIA's `computeCapability` (70, 80, 90, ...); Ada (89)
/// counts as Ampere.
Architecture architectureOf(uint32_t computeCapability);

/// How much running kernels and communication slow each other on a device.
struct Interference {
  /// Multiplies the time of a kernel while a communication runs beside it, by
  /// what bounds the kernel.
  double matrixKernel = 1;
  double memoryKernel = 1;
  /// Multiplies the time of a communication while a kernel runs beside it.
  double communication = 1;
};

/// Rates are peak values of the datasheet.
struct Device {
  std::string name;
  Architecture architecture = Architecture::Other;
  uint32_t computeCapability = 0; ///< 70, 80, 90; 0 = unknown
  /// Dense peak per element type in FLOP/s; absent = the type is not supported
  /// by the matrix units and runs at the `F32` rate.
  std::vector<std::pair<DType, double>> peakFlops;
  double memoryBandwidth = 0; ///< bytes/s
  int64_t memoryBytes = 0;
  /// What the driver, its context and loaded kernels take of the memory.
  int64_t reservedBytes = 0;
  double launchLatency = 0;  ///< seconds the host needs to launch one kernel
  double kernelOverhead = 0; ///< seconds a kernel needs beyond its work
  Interference interference;
  int64_t multiprocessors = 0; ///< SMs or compute units; 0 = unknown
  /// Share of the rate of matrix kernels that is left when the device runs them
  /// all the time, at the clock that its power allows.
  double sustained = 1;
  /// What measurements say about kernels; without it they run at the peak.
  std::optional<KernelParameters> kernels;

  /// Dense peak of `type`, falling back to F32. The fall-back is visible to
  /// callers through `supports`.
  double peak(DType type) const;
  bool supports(DType type) const;
  void setPeak(DType type, double flops);
  /// From now on F32 runs on the matrix units as TF32, where there is TF32.
  void useTF32();
};

/// A device file; errors name `source`.
llvm::Expected<Device> parseDeviceJSON(llvm::StringRef text,
                                       llvm::StringRef source);

/// The devices that have a name in cluster files.
llvm::Expected<std::vector<Device>> libraryDevices();

/// Memory that is taken on a device before the first tensor, where the cluster
/// does not say: measured on an H100 (docs/models.md).
constexpr int64_t defaultReservedBytes = 1060000000;

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_DEVICE_H
