//===- FactTable.h - what listeners ask of tasks and buffers ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A listener hears of tasks by their number and asks little of each. The tasks
// of a workload are large and those of many classes take turns, so to read them
// with every event is to wait for memory with every event. What is asked is
// found once, before the run, and stored densely.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_FACTTABLE_H
#define PROTEUS_SIM_FACTTABLE_H

#include "Proteus/Sim/Workload.h"

#include <vector>

namespace proteus::sim {

/// A fact about every task, or about every buffer, of all templates.
template <typename Fact> class FactTable {
public:
  /// `find(classIndex, task)` gives the fact.
  template <typename Find>
  void findOfTasks(const Workload &workload, Find find) {
    collect(workload, &Template::tasks, find);
  }
  /// `find(classIndex, buffer)` gives the fact.
  template <typename Find>
  void findOfBuffers(const Workload &workload, Find find) {
    collect(workload, &Template::buffers, find);
  }

  /// Of a task or buffer by its number in the micro- or the once-template.
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
  std::vector<size_t> first; ///< per class: micro, once
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_FACTTABLE_H
