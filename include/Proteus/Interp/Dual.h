//===- Dual.h - numbers with a derivative -----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dual numbers. If the arguments of a computation carry their derivatives with
// respect to some variable, so does its result. Kernels are templates of the
// type of their numbers, so the text that computes a value also computes its
// derivative.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_INTERP_DUAL_H
#define PROTEUS_INTERP_DUAL_H

#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace proteus::interp {

/// A number and its derivative. Comparisons compare numbers only, so a branch
/// that depends on a comparison is the branch of the numbers, and the
/// derivative is that of the chosen branch.
struct Dual {
  double value = 0;
  double slope = 0;

  Dual() = default;
  /// Creates a constant.
  Dual(double value) : value(value) {}
  Dual(double value, double slope) : value(value), slope(slope) {}

  Dual &operator+=(Dual b) { return *this = *this + b; }
  Dual &operator-=(Dual b) { return *this = *this - b; }
  Dual &operator*=(Dual b) { return *this = *this * b; }
  Dual &operator/=(Dual b) { return *this = *this / b; }

  friend Dual operator-(Dual a) { return {-a.value, -a.slope}; }
  friend Dual operator+(Dual a, Dual b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  friend Dual operator-(Dual a, Dual b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Dual operator/(Dual a, Dual b) {
    double ratio = a.value / b.value;
    return {ratio, (a.slope - ratio * b.slope) / b.value};
  }

  friend bool operator==(Dual a, Dual b) { return a.value == b.value; }
  friend bool operator!=(Dual a, Dual b) { return a.value != b.value; }
  friend bool operator<(Dual a, Dual b) { return a.value < b.value; }
  friend bool operator>(Dual a, Dual b) { return a.value > b.value; }
  friend bool operator<=(Dual a, Dual b) { return a.value <= b.value; }
  friend bool operator>=(Dual a, Dual b) { return a.value >= b.value; }
};

inline Dual exp(Dual x) {
  double value = std::exp(x.value);
  return {value, value * x.slope};
}

inline Dual log(Dual x) { return {std::log(x.value), x.slope / x.value}; }

inline Dual sqrt(Dual x) {
  double value = std::sqrt(x.value);
  return {value, x.slope / (2 * value)};
}

inline Dual tanh(Dual x) {
  double value = std::tanh(x.value);
  return {value, (1 - value * value) * x.slope};
}

inline Dual erf(Dual x) {
  return {std::erf(x.value), 2 * llvm::numbers::inv_sqrtpi *
                                 std::exp(-x.value * x.value) * x.slope};
}

/// Returns a number without its derivative.
inline double valueOf(double x) { return x; }
inline double valueOf(Dual x) { return x.value; }

} // namespace proteus::interp

#endif // PROTEUS_INTERP_DUAL_H
