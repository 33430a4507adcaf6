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

/// Returns true if successive positions are successive devices.
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
  // The number of a device determines its node and its switches only if all
  // nodes are of one kind. Otherwise the job is not regular, and no digits are
  // added.
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
/// the digits that are symmetries. Example: with 8 devices per node, an axis of
/// 16 consecutive ranks has a digit of size 8 within a node and a digit of size
/// 2 between nodes. Only the second one is added.
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

/// Returns true if a shift of the digit is a symmetry: for every size of blocks
/// in `bounds`, it moves blocks as a whole or permutes devices inside each
/// block. Returns false for digits within a node, because the devices of a node
/// may differ; colour refinement compares them.
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
    // The place of a group within a block matters only if the group spans
    // several blocks. It is then rounded down to a multiple of `common`. The
    // rounding keeps every member in its block, because all distances between
    // members are multiples of `common`.
    int64_t common = std::gcd(step, block);
    start.push_back(within + reach < block ? -1 : within - within % common);
    // Distinguishes groups that reach into the last unit of the cluster. That
    // unit may be incomplete, and the capacity of its links may then differ
    // from other units by a rounding error.
    start.push_back((device + reach) / block == clusterEnd / block);
  };
  llvm::for_each(bounds, add);
  // Includes the topmost level, because groups that span several units of that
  // level cannot communicate.
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
