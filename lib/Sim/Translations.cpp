//===- Translations.cpp - symmetries along mesh axes ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translations.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

/// Returns true if positions are consecutive devices.
static bool isContiguous(const RankMesh &mesh) {
  for (size_t i = 1; i < mesh.devices.size(); ++i)
    if (mesh.devices[i] != mesh.devices[0] + static_cast<int64_t>(i))
      return false;
  return true;
}

Translations::Translations(const FoldingRequest &request) {
  const machine::Cluster &cluster = request.cluster;
  const RankMesh &mesh = request.mesh;
  base = mesh.deviceAt(0);
  end = base + mesh.numRanks();
  clusterEnd = cluster.numDevices();
  isRegular = cluster.nodes.size() == 1 && isContiguous(mesh);
  // Only if all nodes are of one kind does the number of a device determine its
  // node and its switches.
  int64_t block = cluster.devicesPerNode();
  blocks.push_back(block);
  bounds.push_back(block);
  double oversubscription = 1;
  bool takesTime = false;
  for (const machine::FabricLevel &level : cluster.fabric.levels)
    takesTime |= level.latency > 0;
  for (const machine::FabricLevel &level : cluster.fabric.levels) {
    blocks.push_back(block *= level.span);
    oversubscription *= level.oversubscription;
    if (oversubscription > 1 || takesTime)
      bounds.push_back(block);
  }
  if (request.keepRanksApart || !isRegular)
    return;
  for (int64_t size : bounds)
    if (size < end && base % size != 0)
      return;
  for (unsigned axis = 0; axis < mesh.sizes.size(); ++axis)
    if (!request.coloured[axis])
      addDigits(request, axis);
}

/// Divides an axis into digits at the bounds of nodes and switches, and adds
/// those digits that are symmetries.
void Translations::addDigits(const FoldingRequest &request, unsigned axis) {
  int64_t stride = request.mesh.strideOf(axis);
  int64_t left = request.mesh.sizes[axis];
  for (int64_t block : bounds) {
    if (block <= stride || block >= stride * left || block % stride != 0 ||
        left % (block / stride) != 0)
      continue;
    Digit digit = {stride, block / stride, axis};
    if (isSymmetry(digit))
      digits.push_back(digit);
    left /= digit.size;
    stride = block;
  }
  Digit digit = {stride, left, axis};
  if (left > 1 && isSymmetry(digit))
    digits.push_back(digit);
}

/// Returns true if a shift of the digit moves every block as a whole or
/// permutes the devices inside every block. Digits within a node are refused,
/// because the devices of a node are not equivalent; the refinement decides
/// about them.
bool Translations::isSymmetry(const Digit &digit) const {
  if (digit.stride % blocks.front() != 0)
    return false;
  return llvm::all_of(bounds, [&](int64_t block) {
    return digit.stride % block == 0 || block >= end ||
           block % (digit.stride * digit.size) == 0;
  });
}

bool Translations::drop(function_ref<bool(const Digit &)> isBroken) {
  size_t before = digits.size();
  llvm::erase_if(digits, isBroken);
  return digits.size() != before;
}

int64_t Translations::canonicalPosition(int64_t position) const {
  for (const Digit &digit : digits)
    position -= position / digit.stride % digit.size * digit.stride;
  return position;
}

net::LinkId Translations::canonicalLink(net::LinkId link) const {
  int64_t block = blocks[link.level];
  int64_t position = link.unit * block - base;
  if (position >= 0 && position < end - base)
    link.unit = (canonicalPosition(position) + base) / block;
  return link;
}

net::LinkId Translations::turnedLink(net::LinkId link,
                                     const Digit &digit) const {
  int64_t block = blocks[link.level];
  int64_t position = link.unit * block - base;
  if (digit.stride % block != 0 || position < 0 || position >= end - base)
    return link;
  int64_t value = position / digit.stride % digit.size;
  position += ((value + 1) % digit.size - value) * digit.stride;
  link.unit = (position + base) / block;
  return link;
}

std::vector<int64_t> Translations::startOf(int64_t device, int64_t step,
                                           int64_t reach) const {
  if (!isRegular || device + reach >= clusterEnd)
    return {device};
  std::vector<int64_t> start = {device % blocks.front()};
  auto add = [&](int64_t block) {
    int64_t within = device % block;
    // Members are at multiples of `step`, so the bounds of blocks separate them
    // equally for all values of `within` between two multiples of `common`.
    int64_t common = std::gcd(step, block);
    start.push_back(within + reach < block ? -1 : within - within % common);
    // The last unit may be incomplete; its capacity may then differ by a
    // rounding error.
    start.push_back((device + reach) / block == clusterEnd / block);
  };
  llvm::for_each(bounds, add);
  // Groups across units of the topmost level cannot communicate.
  add(blocks.back());
  return start;
}

net::LinkId Translations::movedLink(net::LinkId link, int64_t from,
                                    int64_t to) const {
  int64_t block = blocks[link.level];
  link.unit += to / block - from / block;
  return link;
}

static int64_t product(ArrayRef<Digit> digits,
                       function_ref<bool(const Digit &)> counts) {
  int64_t result = 1;
  for (const Digit &digit : digits)
    if (counts(digit))
      result *= digit.size;
  return result;
}

int64_t Translations::rankOrbit() const {
  return product(digits, [](const Digit &) { return true; });
}

int64_t Translations::linkOrbit(const net::LinkId &link) const {
  return product(digits, [&](const Digit &digit) {
    return digit.stride % blocks[link.level] == 0;
  });
}

int64_t Translations::groupOrbit(ArrayRef<unsigned> axes) const {
  return product(digits, [&](const Digit &digit) {
    return !llvm::is_contained(axes, digit.axis);
  });
}

int64_t Translations::memberOrbit(ArrayRef<unsigned> axes) const {
  return product(digits, [&](const Digit &digit) {
    return llvm::is_contained(axes, digit.axis);
  });
}
