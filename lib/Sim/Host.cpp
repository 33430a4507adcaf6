//===- Host.cpp - launch times of tasks -----------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"

#include <algorithm>
#include <cassert>

using namespace proteus::sim;

static const FlatTemplate::Receives &receivesOf(const FlatClass &flat,
                                                const FlatItem &item) {
  return flat.templates[item.once].receives[item.variant()][item.section];
}

Host::Host(const FlatClass &flat) {
  if (!flat.hostWaits) {
    at = flat.order.size();
    return;
  }
  delays.resize(flat.order.size());
  proceed(flat, 0);
}

/// Launches work items until the next item receives messages; that item is not
/// launched. Sets the delay of the launched items to `delay`.
void Host::proceed(const FlatClass &flat, Time delay) {
  for (; at < flat.order.size(); ++at) {
    const FlatItem &item = flat.order[at];
    // The host does not wait for messages of once-tasks. Such messages belong
    // to sums over stages in the middle of the update. The host launches the
    // tasks before and after such a message without a pause.
    if (awaited = item.once ? 0 : receivesOf(flat, item).count; awaited > 0)
      return;
    delays[at] = delay;
  }
}

bool Host::receive(const FlatClass &flat, uint32_t item, Time now) {
  // If the host never waits, `at` is the number of items, so `item` differs
  // from it and this function returns here.
  if (item != at || flat.order[item].once)
    return false;
  assert(awaited > 0 && "nothing was awaited");
  if (--awaited > 0)
    return false;
  const FlatItem &work = flat.order[at];
  delays[at] = std::max(delayBefore(at), now - work.launchBegin -
                                             receivesOf(flat, work).launched);
  Time delay = delays[at++];
  proceed(flat, delay);
  return true;
}

void Host::skip(uint32_t items, llvm::ArrayRef<Time> recent, Time growth) {
  at += items;
  for (size_t i = 0; i < recent.size(); ++i)
    delays[at - recent.size() + i] = recent[i] + growth;
}
