// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutants that are chosen when a program runs. scripts/mutation inserts calls
// of these functions into a copy of the sources; the sources themselves never
// include this file. Every mutant has a number. A call marks its first number
// as executed, and computes the mistake if the number of the active mutant is
// its own.

#ifndef PROTEUS_MUTANTS_H
#define PROTEUS_MUTANTS_H

#include <type_traits>

namespace mutant {

/// The number of the active mutant; 0 for none.
extern unsigned active;
/// One byte per number: whether its code was executed.
extern unsigned char *executed;

/// Returns the number of the active variant of a site, counted from 0. Without
/// one, the result is large.
inline unsigned variant(unsigned first) {
  executed[first] = 1;
  return active - first;
}

inline bool on(unsigned number) { return variant(number) == 0; }

// Comparisons. Variants: the other one at equality, and the opposite.

template <typename A, typename B>
bool less(unsigned first, const A &a, const B &b) {
  switch (variant(first)) {
  case 0:
    return !(b < a);
  case 1:
    return !(a < b);
  default:
    return a < b;
  }
}

template <typename A, typename B>
bool greater(unsigned first, const A &a, const B &b) {
  switch (variant(first)) {
  case 0:
    return !(b > a);
  case 1:
    return !(a > b);
  default:
    return a > b;
  }
}

template <typename A, typename B>
bool lessEqual(unsigned first, const A &a, const B &b) {
  switch (variant(first)) {
  case 0:
    return !(b <= a);
  case 1:
    return !(a <= b);
  default:
    return a <= b;
  }
}

template <typename A, typename B>
bool greaterEqual(unsigned first, const A &a, const B &b) {
  switch (variant(first)) {
  case 0:
    return !(b >= a);
  case 1:
    return !(a >= b);
  default:
    return a >= b;
  }
}

template <typename A, typename B>
bool equal(unsigned first, const A &a, const B &b) {
  return (a == b) != on(first);
}

template <typename A, typename B>
bool notEqual(unsigned first, const A &a, const B &b) {
  return (a != b) != on(first);
}

// Arithmetic of numbers.

template <typename A, typename B>
auto add(unsigned first, const A &a, const B &b) {
  return on(first) ? a - b : a + b;
}

template <typename A, typename B>
auto subtract(unsigned first, const A &a, const B &b) {
  return on(first) ? a + b : a - b;
}

template <typename A, typename B>
auto multiply(unsigned first, const A &a, const B &b) {
  return on(first) ? a / b : a * b;
}

template <typename A, typename B>
auto divide(unsigned first, const A &a, const B &b) {
  return on(first) ? a * b : a / b;
}

template <typename A, typename B>
auto remainder(unsigned first, const A &a, const B &b) {
  return on(first) ? a / b : a % b;
}

template <typename A, typename B> A &addTo(unsigned first, A &a, const B &b) {
  return on(first) ? a -= b : a += b;
}

template <typename A, typename B>
A &subtractFrom(unsigned first, A &a, const B &b) {
  return on(first) ? a += b : a -= b;
}

template <typename A, typename B>
A &multiplyBy(unsigned first, A &a, const B &b) {
  return on(first) ? a /= b : a *= b;
}

template <typename A, typename B>
A &divideBy(unsigned first, A &a, const B &b) {
  return on(first) ? a *= b : a /= b;
}

// Constants.

template <typename A> A constant(unsigned first, A value) {
  switch (variant(first)) {
  case 0:
    if constexpr (std::is_floating_point_v<A>)
      return value == 0 ? 1 : 2 * value;
    return value + 1;
  case 1:
    return A(0);
  default:
    return value;
  }
}

inline bool constant(unsigned first, bool value) { return value != on(first); }

// Conditions.

template <typename A> bool negated(unsigned first, A &&condition) {
  return static_cast<bool>(condition) != on(first);
}

/// Returns `neutral` instead of an operand of && or ||.
template <typename A> bool dropped(unsigned first, A &&operand, bool neutral) {
  bool value = static_cast<bool>(operand);
  return on(first) ? neutral : value;
}

} // namespace mutant

#endif // PROTEUS_MUTANTS_H
