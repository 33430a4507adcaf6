//===- Fit.h - few parameters from many measurements ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fits of positive parameters by a simplex search in their logarithms. The loss
// is the mean absolute logarithm of predicted over measured: a factor of two
// too long weighs as much as one too short, and rows that no model follows do
// not drag the others. The same input gives the same digits.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_FIT_H
#define PROTEUS_CALIBRATE_FIT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <string>
#include <vector>

namespace proteus::calibrate {

/// A parameter to fit: where to start and where to stay.
struct Parameter {
  std::string name;
  double start = 1, low = 0, high = 0;
};

/// Values of the parameters for which `loss` is least, as far as a simplex
/// search from `start`, begun again `restarts` times where it ended, finds it.
std::vector<double>
minimise(llvm::ArrayRef<Parameter> parameters,
         llvm::function_ref<double(llvm::ArrayRef<double>)> loss,
         unsigned restarts = 2);

/// How well predictions meet measurements.
struct Quality {
  int64_t rows = 0;
  double mean = 0;   ///< mean of |predicted / measured - 1|
  double median = 0; ///< of the same
  double p90 = 0;    ///< of the same
  double bias = 0;   ///< exp(mean log(predicted / measured)) - 1
};
Quality qualityOf(llvm::ArrayRef<double> predicted,
                  llvm::ArrayRef<double> measured);

/// A model of `rows` measurements: predicts row `i` with given parameters.
using Prediction =
    llvm::function_ref<double(llvm::ArrayRef<double> parameters, size_t row)>;

struct FitResult {
  std::vector<double> parameters; ///< fitted to all rows
  Quality fit;                    ///< on the rows it was fitted to
  Quality crossValidated;         ///< each row predicted without its group
  std::vector<double> unseen;     ///< those predictions
};

/// Fits to all rows, then `folds` times without the rows of every folds-th
/// group. `groups` has a number per row; rows of one group stay together.
FitResult fitRows(llvm::ArrayRef<Parameter> parameters,
                  llvm::ArrayRef<double> measured,
                  llvm::ArrayRef<unsigned> groups, unsigned folds,
                  Prediction predict);

/// Rounds to `digits` significant digits, so that files stay readable and do
/// not change with the last bit of a library function.
double rounded(double value, int digits = 3);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_FIT_H
