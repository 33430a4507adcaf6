//===- Translations.h - symmetries along mesh axes --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds shifts along mesh axes that map the topology and the program of a job
// onto themselves. Folding.cpp merges the ranks, groups and links that such
// shifts map onto each other.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_SIM_TRANSLATIONS_H
#define PROTEUS_LIB_SIM_TRANSLATIONS_H

#include "Proteus/Sim/Folding.h"

namespace proteus::sim {

/// A digit of the positions of ranks: (position / stride) % size. A *shift* of
/// the digit adds 1 to it modulo `size`, for all ranks at once. Example with 16
/// ranks: for stride 8 and size 2, the shift swaps ranks 0-7 with ranks 8-15.
/// Translations uses only digits with shifts that map every node onto a node
/// and, at the fabric levels that affect communication, every unit onto a unit.
struct Digit {
  int64_t stride = 1;
  int64_t size = 1;
  unsigned axis = 0;

  friend bool operator==(const Digit &a, const Digit &b) {
    return a.stride == b.stride && a.size == b.size && a.axis == b.axis;
  }
};

/// The shifts of a list of digits, and all combinations of these shifts. Ranks,
/// groups or links that the shifts map onto each other form an *orbit*. An
/// orbit is represented by its *canonical* member, in which all digits of the
/// list are zero.
class Translations {
public:
  /// Finds the digits with shifts that are symmetries of the topology.
  Translations(const FoldingRequest &request);

  /// Returns the canonical member of the orbit of a position or link.
  int64_t canonicalPosition(int64_t position) const;
  net::LinkId canonicalLink(net::LinkId link) const;
  /// Returns the link onto which one shift of `digit` maps `link`.
  net::LinkId turnedLink(net::LinkId link, const Digit &digit) const;

  /// Returns a key of the location of a group in the cluster. `device` is the
  /// smallest device of the group. The distances of the other members from
  /// `device` are multiples of `step` and at most `reach`. If two groups have
  /// equal distances and equal keys, a shift by whole nodes and switches maps
  /// the links that one group loads onto those of the other group.
  std::vector<int64_t> startOf(int64_t device, int64_t step,
                               int64_t reach) const;
  /// Maps a link that one group loads to the corresponding link of another
  /// group. `from` is the smallest device of the first group, `to` that of the
  /// second group. `startOf` must return equal keys for both groups.
  net::LinkId movedLink(net::LinkId link, int64_t from, int64_t to) const;

  /// Returns the number of ranks in each orbit, which is a set of ranks that
  /// translations map onto each other.
  int64_t rankOrbit() const;
  /// Returns the number of links in the orbit of a link.
  int64_t linkOrbit(const net::LinkId &link) const;
  /// Returns the number of groups in each orbit of groups along `axes`.
  int64_t groupOrbit(llvm::ArrayRef<unsigned> axes) const;
  /// Returns how many members of one group along `axes` are in the same orbit
  /// of ranks.
  int64_t memberOrbit(llvm::ArrayRef<unsigned> axes) const;

  llvm::ArrayRef<Digit> getDigits() const { return digits; }
  /// Removes the digits for which `isBroken` returns true. Returns true if any
  /// digit was removed.
  bool drop(llvm::function_ref<bool(const Digit &)> isBroken);

private:
  void addDigits(const FoldingRequest &request, unsigned axis);
  bool isSymmetry(const Digit &digit) const;

  std::vector<Digit> digits;
  /// Number of devices in a node, in a unit of the lowest fabric level, in a
  /// unit of the next level, and so on.
  std::vector<int64_t> blocks;
  /// The elements of `blocks` that affect communication. If no level of the
  /// fabric has a latency, a level is left out as long as it and all lower
  /// levels are not oversubscribed. The switches of such a level act like one
  /// large switch.
  std::vector<int64_t> bounds;
  /// True if all nodes are of one kind and positions are consecutive devices.
  bool isRegular = false;
  int64_t base = 0;       ///< device of position 0
  int64_t end = 0;        ///< 1 + device of the last position
  int64_t clusterEnd = 0; ///< number of devices of the cluster
};

} // namespace proteus::sim

#endif // PROTEUS_LIB_SIM_TRANSLATIONS_H
