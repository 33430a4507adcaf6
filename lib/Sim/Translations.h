//===- Translations.h - symmetries along mesh axes --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shifts along mesh axes that map the topology and the program of a job onto
// themselves. Folding.cpp merges the ranks, groups and links that such shifts
// map onto each other.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_TRANSLATIONS_H
#define PROTEUS_LIB_SIM_TRANSLATIONS_H

#include "Proteus/Sim/Folding.h"

namespace proteus::sim {

/// A digit of the position of a rank: (position / stride) % size. A *shift* of
/// the digit adds 1 to it modulo `size`, for all ranks at once. It maps every
/// node onto a node of the same kind and every switch onto a switch of the same
/// level.
struct Digit {
  int64_t stride = 1;
  int64_t size = 1;
  unsigned axis = 0;

  friend bool operator==(const Digit &a, const Digit &b) {
    return a.stride == b.stride && a.size == b.size && a.axis == b.axis;
  }
};

/// The group of all shifts of some digits. Ranks, groups or links that shifts
/// map onto each other form an *orbit*. The orbit is represented by its
/// *canonical* member, whose digits are all zero.
class Translations {
public:
  /// Finds the digits whose shifts are symmetries of the topology.
  Translations(const FoldingRequest &request);

  /// Returns the canonical member of the orbit of a position or link.
  int64_t canonicalPosition(int64_t position) const;
  net::LinkId canonicalLink(net::LinkId link) const;
  /// Returns the link onto which one shift of `digit` maps `link`.
  net::LinkId turnedLink(net::LinkId link, const Digit &digit) const;

  /// Returns a key of the start of a group. The members of the group are at
  /// distances from its smallest device that are multiples of `step` and at
  /// most `reach`. Groups with equal distances and equal keys load equal links,
  /// up to a shift by whole nodes and switches.
  std::vector<int64_t> startOf(int64_t device, int64_t step,
                               int64_t reach) const;
  /// Maps a link of a group with the smallest device `from` to the
  /// corresponding link of a group with the smallest device `to`. Both groups
  /// must have equal keys `startOf`.
  net::LinkId movedLink(net::LinkId link, int64_t from, int64_t to) const;

  /// Returns the size of an orbit of ranks.
  int64_t rankOrbit() const;
  /// Returns the size of the orbit of a link.
  int64_t linkOrbit(const net::LinkId &link) const;
  /// Returns the size of an orbit of groups along `axes`.
  int64_t groupOrbit(llvm::ArrayRef<unsigned> axes) const;
  /// Returns the number of members of one group along `axes` in one orbit.
  int64_t memberOrbit(llvm::ArrayRef<unsigned> axes) const;

  llvm::ArrayRef<Digit> getDigits() const { return digits; }
  /// Removes the digits for which `isBroken` returns true. Returns true if any
  /// were removed.
  bool drop(llvm::function_ref<bool(const Digit &)> isBroken);

private:
  void addDigits(const FoldingRequest &request, unsigned axis);
  bool isSymmetry(const Digit &digit) const;

  std::vector<Digit> digits;
  /// Number of devices in a node, in a unit of the lowest fabric level, in a
  /// unit of the next level, and so on.
  std::vector<int64_t> blocks;
  /// Those of `blocks` at whose bounds the network changes. A fabric level is
  /// left out if the fabric has no latency and neither this level nor a lower
  /// one is oversubscribed, because it then acts like a part of one large
  /// switch.
  std::vector<int64_t> bounds;
  /// True if all nodes are of one kind and positions are consecutive devices.
  bool isRegular = false;
  int64_t base = 0;       ///< device of position 0
  int64_t end = 0;        ///< device after that of the last position
  int64_t clusterEnd = 0; ///< number of devices of the cluster
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_TRANSLATIONS_H
