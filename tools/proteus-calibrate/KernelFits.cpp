//===- KernelFits.cpp - parameters of kernels from tables -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFits.h"
#include "Fit.h"

#include "Proteus/Cost/KernelModels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace llvm;
using namespace proteus;
using namespace proteus::calibrate;
using namespace proteus::machine;
using cost::Kernel;
using cost::Measurement;

namespace {
/// A parameter to fit: a field of a set, its start and its bounds.
template <typename T> struct Field {
  const char *name;
  double T::*member;
  double start, low, high;
};

/// Products as a loop over one kernel measures them. `burst` is fitted with the
/// parameters so that they do not absorb it, and then dropped, because
/// simulated steps do not consist of such loops.
struct LoopedProduct : ProductParameters {
  double burst = 0; ///< relative speed-up of short kernels over sustained ones
};
struct LoopedAttention : AttentionParameters {
  double forwardFloor = 0, backwardFloor = 0; ///< seconds of a launch
};
} // namespace

/// Duration in seconds; much shorter kernels end before the clock falls.
static constexpr double burstTime = 0.4e-3;

void proteus::calibrate::printHeader() {
  outs()
      << "Errors in %: mean of |predicted / measured - 1|. fit: on the rows "
         "fitted to; the others with\nwhole groups of shapes left out. bias: "
         "exp(mean log ratio) - 1. sum: of predicted over measured times - "
         "1.\n\n";
  outs()
      << "device             kernels              table      rows par    fit "
         "    CV median   bias    p90    sum  target (and of the sum)\n";
}

static void printTarget(double target, double reached) {
  if (target > 0)
    outs() << format("  %4.0f ", target * 100)
           << (reached <= target ? "met" : "MISSED");
}

/// Prints a line about the predictions of `table` by fits without its groups.
static void printQuality(const Device &device, const Twine &kernels,
                         const KernelTable &table, size_t parameters,
                         const Quality &fit, ArrayRef<double> unseen,
                         ArrayRef<double> measured, bool hasTarget) {
  Quality quality = qualityOf(unseen, measured);
  double sum = std::accumulate(unseen.begin(), unseen.end(), 0.0) /
                   std::accumulate(measured.begin(), measured.end(), 0.0) -
               1;
  outs() << format("%-18s %-20s %-10s %4d %3d %6.1f %6.1f %6.1f %6.1f %6.1f "
                   "%6.1f",
                   device.name.c_str(), kernels.str().c_str(),
                   table.name.c_str(), int(quality.rows), int(parameters),
                   fit.mean * 100, quality.mean * 100, quality.median * 100,
                   quality.bias * 100, quality.p90 * 100, sum * 100);
  if (hasTarget) {
    printTarget(table.target, quality.mean);
    printTarget(table.sumTarget, std::abs(sum));
  }
  outs() << "\n";
  outs().flush();
}

/// Fits `fields` of `start` to `table`. With `printAbove`, times above it have
/// a line of their own, and their error becomes the error of the set.
template <typename T>
static T fitSet(const Device &device, const KernelTable &table,
                const Twine &kernels, T start, ArrayRef<Field<T>> fields,
                function_ref<double(const T &, const Kernel &)> predict,
                double printAbove = 0) {
  std::vector<Parameter> parameters;
  for (const Field<T> &field : fields)
    parameters.push_back({field.name, field.start, field.low, field.high});
  auto setOf = [&](ArrayRef<double> values) {
    T set = start;
    for (auto [field, value] : llvm::zip(fields, values))
      set.*field.member = value;
    return set;
  };
  std::vector<double> measured = table.seconds();
  FitResult result =
      fitRows(parameters, measured, table.groups(), table.folds,
              [&](ArrayRef<double> values, size_t row) {
                return predict(setOf(values), table.rows[row].kernel);
              });
  for (double &value : result.parameters)
    value = rounded(value);
  T set = setOf(result.parameters);
  set.basis = Basis::Measured;
  set.error = rounded(result.crossValidated.mean, 2);
  printQuality(device, kernels, table, fields.size(), result.fit, result.unseen,
               measured, printAbove == 0);
  if (printAbove == 0)
    return set;
  std::vector<double> largeUnseen, large, largeFit;
  for (size_t row = 0; row < measured.size(); ++row)
    if (measured[row] > printAbove) {
      large.push_back(measured[row]);
      largeUnseen.push_back(result.unseen[row]);
      largeFit.push_back(predict(set, table.rows[row].kernel));
    }
  printQuality(device, kernels + " > 20 us", table, fields.size(),
               qualityOf(largeFit, large), largeUnseen, large, true);
  set.error = rounded(qualityOf(largeUnseen, large).mean, 2);
  return set;
}

bool proteus::calibrate::hasMatrixUnits(const Device &device, DType type) {
  return type != DType::F32 && (device.computeCapability >= 70 ||
                                device.architecture == Architecture::CDNA);
}

ProductParameters proteus::calibrate::fitProducts(const Device &device,
                                                  const KernelTable &table,
                                                  DType type) {
  LoopedProduct start;
  start.onMatrixUnits = hasMatrixUnits(device, type);
  // Operands of some tables stay in the cache. The bound keeps the memory from
  // being faster than its datasheet.
  Field<LoopedProduct> fields[] = {
      {"efficiency", &LoopedProduct::efficiency, 0.75, 0.2, 1.1},
      {"memory", &LoopedProduct::memoryEfficiency, 0.8, 0.6, 0.95},
      {"fixed", &LoopedProduct::fixedTime, 4e-6, 1e-6, 20e-6},
      {"burst", &LoopedProduct::burst, 0.2, 0.01, 0.5}};
  ArrayRef<Field<LoopedProduct>> used(fields);
  return fitSet<LoopedProduct>(
      device, table, "product " + stringify(type), start,
      table.isBursty ? used : used.drop_back(),
      [&](const LoopedProduct &set, const Kernel &kernel) {
        double time = cost::estimateProduct(device, set, kernel).seconds;
        double length = time / burstTime;
        double faster = 1 + set.burst / (1 + length * length);
        return set.fixedTime + (time - set.fixedTime) / faster;
      });
}

GroupedParameters
proteus::calibrate::fitGroupedProducts(const Device &device,
                                       const KernelTable &table,
                                       const ProductParameters &product) {
  Field<GroupedParameters> fields[] = {
      {"factor", &GroupedParameters::factor, 1, 0.3, 1.5},
      {"dgrad", &GroupedParameters::dataGradient, 0.95, 0.5, 1.2},
      {"wgrad", &GroupedParameters::weightGradient, 0.9, 0.5, 1.2},
      {"group", &GroupedParameters::groupTime, 1e-6, 1e-8, 10e-6}};
  // Few rows determine few parameters.
  ArrayRef<Field<GroupedParameters>> used(fields);
  if (table.rows.size() < 50)
    used = used.take_front(1);
  return fitSet<GroupedParameters>(
      device, table, "grouped product", GroupedParameters(), used,
      [&](const GroupedParameters &set, const Kernel &kernel) {
        return cost::estimateGroupedProduct(device, product, set, kernel)
            .seconds;
      });
}

AttentionParameters proteus::calibrate::fitAttention(const Device &device,
                                                     const KernelTable &table) {
  LoopedAttention start;
  start.tail = 0.3;
  start.fixedTime = 5e-6;
  Field<LoopedAttention> fields[] = {
      {"forward", &LoopedAttention::forward, 0.6, 0.1, 1},
      {"backward", &LoopedAttention::backward, 0.5, 0.1, 1},
      {"forward floor", &LoopedAttention::forwardFloor, 80e-6, 1e-6, 200e-6},
      {"backward floor", &LoopedAttention::backwardFloor, 80e-6, 1e-6, 200e-6}};
  return fitSet<LoopedAttention>(
      device, table, "attention", start, fields,
      [&](const LoopedAttention &set, const Kernel &kernel) {
        double floor = kernel.pass == cost::Pass::Forward ? set.forwardFloor
                                                          : set.backwardFloor;
        return std::max(floor,
                        cost::estimateAttention(device, set, kernel).seconds);
      });
}

ConvolutionParameters
proteus::calibrate::fitConvolutions(const Device &device,
                                    const KernelTable &table, DType type) {
  ConvolutionParameters start;
  start.onMatrixUnits = hasMatrixUnits(device, type);
  // Efficiencies above 1 belong to algorithms with fewer operations.
  std::vector<Field<ConvolutionParameters>> fields = {
      {"efficiency", &ConvolutionParameters::efficiency, 0.9, 0.3, 1.5},
      {"dgrad", &ConvolutionParameters::dataGradient, 0.9, 0.3, 1.5},
      {"wgrad", &ConvolutionParameters::weightGradient, 0.6, 0.3, 1.5},
      {"strided dgrad", &ConvolutionParameters::stridedDataGradient, 0.5, 0.2,
       1.2},
      {"few channels", &ConvolutionParameters::fewChannels, 0.8, 0.1, 1.5},
      {"memory", &ConvolutionParameters::memoryEfficiency, 0.8, 0.4, 1.1},
      {"fixed", &ConvolutionParameters::fixedTime, 15e-6, 2e-6, 60e-6}};
  // A third of the V100's rows for weight gradients on matrix units are first
  // layers, where other kernels are fast. Vector units show no difference.
  if (start.onMatrixUnits)
    fields.push_back({"few channels wgrad",
                      &ConvolutionParameters::fewChannelsWeightGradient, 0.6,
                      0.05, 1.5});
  else
    fields.push_back(
        {"winograd", &ConvolutionParameters::winograd, 0.8, 0.3, 1.5});
  return fitSet<ConvolutionParameters>(
      device, table, "convolution " + stringify(type), start, fields,
      [&](const ConvolutionParameters &set, const Kernel &kernel) {
        return cost::estimateConvolution(device, set, kernel).seconds;
      });
}

MemoryParameters proteus::calibrate::fitMemory(const Device &device,
                                               const KernelTable &table,
                                               MemoryClass kind) {
  // A higher share of the datasheet's rate means that a cache delivered the
  // data.
  Field<MemoryParameters> fields[] = {
      {"efficiency", &MemoryParameters::efficiency, 0.6, 0.05, 0.93},
      {"fixed", &MemoryParameters::fixedTime, 3e-6, 0.5e-6, 15e-6}};
  return fitSet<MemoryParameters>(
      device, table, stringify(kind), MemoryParameters(), fields,
      [&](const MemoryParameters &set, const Kernel &kernel) {
        return cost::estimateMemory(device, set, kernel).seconds;
      },
      20e-6);
}
