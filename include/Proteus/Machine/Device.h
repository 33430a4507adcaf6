//===- Device.h - properties of one type of device --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A type of device with its rates, its memory and the fitted parameters of its
// kernels. Devices are read from device files (docs/clusters.md). Cost models
// and the engine use them.
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

/// Element types that cost models distinguish.
enum class DType : uint8_t { F64, F32, TF32, BF16, F16, F8, I64, I32, I8 };

/// Returns the bytes of one element. TF32 has 4 bytes, because it is stored as
/// F32.
int64_t byteWidth(DType type);

/// Returns the name of `type` in cluster files, for example "bf16".
llvm::StringRef stringify(DType type);
llvm::ArrayRef<DType> allDTypes();

/// Generations of devices.
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
/// Returns the name of `architecture` in device files, for example "hopper".
llvm::StringRef stringify(Architecture architecture);
llvm::ArrayRef<Architecture> allArchitectures();
/// Returns the generation of an NVIDIA device with `computeCapability` (70, 80,
/// 90, ...). Ada (89) counts as Ampere.
Architecture architectureOf(uint32_t computeCapability);

/// Slowdown of kernels and communication while they overlap on a device. A
/// factor of 1.2 means that the work takes 20 % longer.
struct Interference {
  double matrixKernel = 1;  ///< factor for kernels on the matrix units
  double memoryKernel = 1;  ///< factor for other kernels
  double communication = 1; ///< factor for communication
};

/// A type of device. Rates are the peak values in its datasheet.
struct Device {
  std::string name;
  Architecture architecture = Architecture::Other;
  uint32_t computeCapability = 0; ///< for example 90; 0 = unknown
  /// Peak rate without sparsity in FLOP/s, for each element type that the
  /// device supports. Operations on other types run at the F32 rate.
  std::vector<std::pair<DType, double>> peakFlops;
  double memoryBandwidth = 0; ///< bytes/s
  int64_t memoryBytes = 0;
  /// Memory that the driver, its context and loaded kernels occupy.
  int64_t reservedBytes = 0;
  double launchLatency = 0;  ///< seconds the host needs to launch one kernel
  double kernelOverhead = 0; ///< seconds per kernel in addition to its work
  Interference interference;
  int64_t multiprocessors = 0; ///< SMs or compute units; 0 = unknown
  /// Share of the rate of matrix kernels that remains under continuous load,
  /// when the power limit lowers the clock.
  double sustained = 1;
  /// Fitted parameters of kernels. Without them, kernels run at peak rates.
  std::optional<KernelParameters> kernels;

  /// Returns the dense peak rate of `type`, or of F32 if the device does not
  /// support `type`.
  double peak(DType type) const;
  /// Returns true if the device has a peak rate of `type`.
  bool supports(DType type) const;
  void setPeak(DType type, double flops);
  /// Makes F32 run on the matrix units as TF32, if the device supports TF32.
  void useTF32();
};

/// Parses a device file. Error messages call the text `source`.
llvm::Expected<Device> parseDeviceJSON(llvm::StringRef text,
                                       llvm::StringRef source);

/// Returns the embedded devices, which cluster files may use by name.
llvm::Expected<std::vector<Device>> libraryDevices();

/// Value of Device::reservedBytes, in bytes, if a device file does not contain
/// one. It was measured on an H100 (docs/models.md).
constexpr int64_t defaultReservedBytes = 1060000000;

} // namespace proteus::machine

#endif // PROTEUS_MACHINE_DEVICE_H
