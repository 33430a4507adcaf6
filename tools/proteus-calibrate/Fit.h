//===- Fit.h - fits of few parameters to many measurements ------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fits of positive parameters by a simplex search in their logarithms. The loss
// is the mean absolute logarithm of predicted over measured time. A prediction
// that is twice as long therefore weighs as much as one that is half as long,
// and rows that no model predicts do not distort the fit of the others. The
// same input gives the same digits.
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

/// A parameter to fit: its start and its bounds.
struct Parameter {
  std::string name;
  double start = 1, low = 0, high = 0;
};

/// Returns the values of the parameters with the least `loss` that a simplex
/// search finds. The search starts from the `start` values and restarts
/// `restarts` times from its own result.
std::vector<double>
minimise(llvm::ArrayRef<Parameter> parameters,
         llvm::function_ref<double(llvm::ArrayRef<double>)> loss,
         unsigned restarts = 2);

/// Errors of predictions.
struct Quality {
  int64_t rows = 0;
  double mean = 0;   ///< mean of |predicted / measured - 1|
  double median = 0; ///< median of the same
  double p90 = 0;    ///< 90th percentile of the same
  double bias = 0;   ///< exp(mean log(predicted / measured)) - 1
};
Quality qualityOf(llvm::ArrayRef<double> predicted,
                  llvm::ArrayRef<double> measured);

/// A model of measurements: returns the prediction of a row with the given
/// parameters.
using Prediction =
    llvm::function_ref<double(llvm::ArrayRef<double> parameters, size_t row)>;

struct FitResult {
  std::vector<double> parameters; ///< values fitted to all rows
  Quality fit;                    ///< errors of the fit on the same rows
  Quality crossValidated;         ///< errors of `unseen`
  std::vector<double> unseen;     ///< predictions of each row by a fit without
                                  ///< its group
};

/// Fits to all rows, then `folds` times without the rows of every folds-th
/// group. `groups` has the number of the group for each row.
FitResult fitRows(llvm::ArrayRef<Parameter> parameters,
                  llvm::ArrayRef<double> measured,
                  llvm::ArrayRef<unsigned> groups, unsigned folds,
                  Prediction predict);

/// Rounds to `digits` significant digits, so that files are readable and do not
/// change with the last bit of a library function.
double rounded(double value, int digits = 3);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_FIT_H
