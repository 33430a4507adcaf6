//===- KernelFits.h - parameters of kernels from tables ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function fits one set of parameters of `device` to one table with the
// models of Proteus/Cost/KernelModels.h. It prints a line about the fit and
// stores the expected error in the result.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_KERNELFITS_H
#define PROTEUS_CALIBRATE_KERNELFITS_H

#include "KernelTables.h"

namespace proteus::calibrate {

/// Returns true if `device` has units for products of matrices of `type`.
bool hasMatrixUnits(const machine::Device &device, machine::DType type);

/// Prints the names of the columns.
void printHeader();

machine::ProductParameters fitProducts(const machine::Device &device,
                                       const KernelTable &table,
                                       machine::DType type);

machine::GroupedParameters
fitGroupedProducts(const machine::Device &device, const KernelTable &table,
                   const machine::ProductParameters &product);

machine::AttentionParameters fitAttention(const machine::Device &device,
                                          const KernelTable &table);

machine::ConvolutionParameters fitConvolutions(const machine::Device &device,
                                               const KernelTable &table,
                                               machine::DType type);

machine::MemoryParameters fitMemory(const machine::Device &device,
                                    const KernelTable &table,
                                    machine::MemoryClass kind);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_KERNELFITS_H
