//===- FactTable.h - facts about tasks and buffers --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Listeners identify tasks and buffers by number and need few facts about each.
// The tasks of a workload are large objects, and events of many classes
// alternate, so reading the tasks at every event would wait for memory at every
// event. A FactTable computes the facts once, before the run, and stores them
// densely.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_FACTTABLE_H
#define PROTEUS_SIM_FACTTABLE_H

#include "Proteus/Sim/Workload.h"

#include <vector>

namespace proteus::sim {

/// A table of one fact about every task, or about every buffer, of all
/// templates.
template <typename Fact> class FactTable {
public:
  /// Stores the result of `find(classIndex, task)` for every task.
  template <typename Find>
  void findOfTasks(const Workload &workload, Find find) {
    collect(workload, &Template::tasks, find);
  }
  /// Stores the result of `find(classIndex, buffer)` for every buffer.
  template <typename Find>
  void findOfBuffers(const Workload &workload, Find find) {
    collect(workload, &Template::buffers, find);
  }

  /// Returns the fact about a task or buffer, given its number in the micro- or
  /// once-template.
  const Fact &at(uint32_t classIndex, bool once, uint32_t number) const {
    return facts[first[2 * classIndex + once] + number];
  }

private:
  template <typename Entries, typename Find>
  void collect(const Workload &workload, Entries entries, Find find) {
    facts.clear();
    first.clear();
    for (uint32_t c = 0; c < workload.classes.size(); ++c)
      for (const Template *from :
           {&workload.classes[c].micro, &workload.classes[c].once}) {
        first.push_back(facts.size());
        for (const auto &entry : from->*entries)
          facts.push_back(find(c, entry));
      }
  }

  std::vector<Fact> facts;
  /// Index of the first fact; per class that of micro, then that of once.
  std::vector<size_t> first;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_FACTTABLE_H
