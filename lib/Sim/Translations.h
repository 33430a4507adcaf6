//===- Translations.h - shifts that change nothing --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_TRANSLATIONS_H
#define PROTEUS_LIB_SIM_TRANSLATIONS_H

#include "Proteus/Sim/Folding.h"

namespace proteus::sim {

/// A digit of a rank's position: (position / stride) % size. Turning it by one,
/// for all ranks at once, maps every node onto a node of the same kind and
/// every switch onto a switch of the same level.
struct Digit {
  int64_t stride = 1;
  int64_t size = 1;
  unsigned axis = 0;

  friend bool operator==(const Digit &a, const Digit &b) {
    return a.stride == b.stride && a.size == b.size && a.axis == b.axis;
  }
};

/// The group of all turns of some digits. Things that are turned into each
/// other form an orbit; the member whose digits are all zero stands for it.
class Translations {
public:
  Translations(const FoldingRequest &request);

  /// Zeroes the digits.
  int64_t canonicalPosition(int64_t position) const;
  net::LinkId canonicalLink(net::LinkId link) const;
  /// The link that a link is turned into when a digit is turned by one.
  net::LinkId turnedLink(net::LinkId link, const Digit &digit) const;

  /// What matters of where a group begins. Groups whose members are at the same
  /// distances from their smallest device, multiples of `step` and at most
  /// `reach`, do the same if this is equal: their loads are moved by whole
  /// nodes and switches.
  std::vector<int64_t> startOf(int64_t device, int64_t step,
                               int64_t reach) const;
  /// The link that is to a group with the smallest device `to` what `link` is
  /// to one with `from`, if both start alike.
  net::LinkId movedLink(net::LinkId link, int64_t from, int64_t to) const;

  int64_t rankOrbit() const;
  int64_t linkOrbit(const net::LinkId &link) const;
  /// Groups along `axes` that are turned into each other.
  int64_t groupOrbit(llvm::ArrayRef<unsigned> axes) const;
  /// Members of one group along `axes` that are turned into each other.
  int64_t memberOrbit(llvm::ArrayRef<unsigned> axes) const;

  llvm::ArrayRef<Digit> getDigits() const { return digits; }
  /// Gives up the digits for which `isBroken` holds; true if there are any.
  bool drop(llvm::function_ref<bool(const Digit &)> isBroken);

private:
  void addDigits(const FoldingRequest &request, unsigned axis);
  bool isSymmetry(const Digit &digit) const;

  std::vector<Digit> digits;
  /// Devices below one node, one unit of the lowest fabric level, and so on.
  std::vector<int64_t> blocks;
  /// Those that make a difference: a level that neither fills nor takes time is
  /// the same as one big switch.
  std::vector<int64_t> bounds;
  /// Whether all nodes are alike and positions are consecutive devices.
  bool isRegular = false;
  int64_t base = 0;       ///< device of position 0
  int64_t end = 0;        ///< behind the last device
  int64_t clusterEnd = 0; ///< behind the last device of the cluster
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_TRANSLATIONS_H
