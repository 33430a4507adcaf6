//===- FactTable.h - facts about tasks and buffers --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables of facts about tasks and buffers, for listeners. An event names a task
// or a buffer only by its number, and a listener needs only a few facts about
// it. The Task objects of a workload are large, and successive events belong to
// different classes. Listeners that read the Task at every event would mostly
// wait for main memory. A FactTable therefore computes the facts once before
// the run and stores them densely.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SIM_FACTTABLE_H
#define PROTEUS_SIM_FACTTABLE_H

#include "Proteus/Sim/Workload.h"

#include <vector>

namespace proteus::sim {

/// A table with one entry for every task of a workload, or for every buffer. It
/// covers the templates of all classes.
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

  /// Returns the fact about the task or buffer `number` of the once-template
  /// (if `once`) or of the micro-template of a class.
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
  /// Index in `facts` of the first fact of each template. Entry 2 * c is for
  /// the micro-template of class c, entry 2 * c + 1 for its once-template.
  std::vector<size_t> first;
};

} // namespace proteus::sim

#endif // PROTEUS_SIM_FACTTABLE_H
