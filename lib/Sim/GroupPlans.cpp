//===- GroupPlans.cpp - shared plans of equivalent groups -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupPlans.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace proteus;
using namespace proteus::sim;

static std::vector<int64_t> offsetsIn(const RankMesh &mesh,
                                      const GroupFamily &family) {
  std::vector<int64_t> offsets = {0};
  for (unsigned axis : family.axes) {
    int64_t stride = mesh.strideOf(axis);
    std::vector<int64_t> more;
    for (int64_t start : offsets)
      if (family.places.empty())
        for (int64_t c = 0; c < mesh.sizes[axis]; ++c)
          more.push_back(start + c * stride);
      else
        for (int64_t c : family.places)
          more.push_back(start + c * stride);
    offsets = std::move(more);
  }
  return offsets;
}

GroupPlans::GroupPlans(const FoldingRequest &request,
                       const Translations &translations)
    : request(request), translations(translations) {
  for (const GroupFamily &family : request.families) {
    Family &made = families.emplace_back();
    made.offsets = offsetsIn(request.mesh, family);
    auto [least, most] =
        std::minmax_element(made.offsets.begin(), made.offsets.end());
    made.smallest = *least;
    made.reach = *most - *least;
    for (int64_t offset : made.offsets)
      made.step = std::gcd(made.step, offset - made.smallest);
  }
}

int64_t GroupPlans::deviceOf(unsigned family, int64_t first) const {
  return request.mesh.deviceAt(first + families[family].smallest);
}

bool GroupPlans::isBroken(const Digit &digit) const {
  return llvm::is_contained(broken, digit);
}

/// Returns true if a shift of the digit maps every link onto a link with an
/// equal load.
static bool isKept(const net::LinkLoads &loads, const Digit &digit,
                   const Translations &translations) {
  ArrayRef<net::LinkLoads::Node> nodes = loads.nodes;
  size_t at = 0;
  for (const net::LinkLoads::Node &node : nodes) {
    int64_t turned = translations.turnedLink({0, 0, node.node}, digit).unit;
    // Neighbouring nodes are mostly mapped onto neighbouring nodes. First tries
    // the entry after the one that was found for the previous node.
    if (++at >= nodes.size() || nodes[at].node != turned)
      at = llvm::lower_bound(
               nodes, turned,
               [](const net::LinkLoads::Node &entry, int64_t wanted) {
                 return entry.node < wanted;
               }) -
           nodes.begin();
    if (at == nodes.size() || nodes[at].node != turned ||
        nodes[at].pattern != node.pattern)
      return false;
  }
  return llvm::all_of(loads.fabric, [&](const net::LinkLoad &load) {
    net::LinkId turned = translations.turnedLink(load.link, digit);
    auto found = llvm::lower_bound(
        loads.fabric, turned,
        [](const net::LinkLoad &entry, const net::LinkId &wanted) {
          return entry.link < wanted;
        });
    return found != loads.fabric.end() && found->link == turned &&
           found->load == load.load;
  });
}

/// Adds to `broken` the digits that are no symmetries because of `loads`, the
/// loads of one group. A shift along an axis of the family maps each group onto
/// itself, so it must also map the loads of the group onto themselves.
void GroupPlans::checkTurns(unsigned family, const net::LinkLoads &loads) {
  for (const Digit &digit : translations.getDigits())
    if (!isBroken(digit) &&
        llvm::is_contained(request.families[family].axes, digit.axis) &&
        !isKept(loads, digit, translations))
      broken.push_back(digit);
}

Error GroupPlans::make(unsigned family, int64_t first, GroupPlan &plan) const {
  std::vector<int64_t> devices;
  devices.reserve(offsetsOf(family).size());
  for (int64_t offset : offsetsOf(family))
    devices.push_back(request.mesh.deviceAt(first + offset));
  auto communicator = request.createCommunicator(devices);
  if (!communicator)
    return communicator.takeError();
  plan.device = deviceOf(family, first);
  plan.communicator = std::move(*communicator);
  for (const GroupCollective &collective :
       request.families[family].collectives) {
    plan.plans.push_back(plan.communicator->planFor(
        collective.transport, collective.kind, collective.bytes));
    const net::LinkLoads *loads = plan.plans.back().loads;
    plan.loadsOf.push_back(llvm::find(plan.loads, loads) - plan.loads.begin());
    if (plan.loadsOf.back() == plan.loads.size())
      plan.loads.push_back(loads);
  }
  return Error::success();
}

Expected<const GroupPlan *> GroupPlans::find(unsigned number, int64_t first) {
  const Family &family = families[number];
  std::vector<int64_t> start =
      translations.startOf(deviceOf(number, first), family.step, family.reach);
  std::unique_ptr<GroupPlan> &plan = known[{number, std::move(start)}];
  if (plan)
    return plan.get();
  auto made = std::make_unique<GroupPlan>();
  if (Error error = make(number, first, *made))
    return error;
  plan = std::move(made);
  for (const net::LinkLoads *loads : plan->loads)
    if (loads)
      checkTurns(number, *loads);
  return plan.get();
}
