//===- Grid.cpp - all presets with a grid of settings ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grid.h"

#include "Proteus/Models/Registry.h"

#include <algorithm>

using namespace llvm;
using namespace proteus;
using namespace proteus::fuzz;

// 6 shapes x 4 stages of ZeRO x 3 kinds of recomputation are 72 settings.

/// Degrees and schedules on 8 devices.
static constexpr StringRef shapes[] = {
    "",
    "--tp 4 --sequence-parallel",
    "--pp 2 --accumulation 2",
    "--pp 4 --accumulation 8 --schedule zero-bubble",
    "--tp 2 --pp 2 --vpp 2 --accumulation 4 --p2p-scatter",
    "--cp 2 --gradient-reduction after-backward",
};
static constexpr StringRef zeroStages[] = {"0", "1", "2", "3"};
static constexpr StringRef recomputations[] = {"none", "selective", "full"};

std::vector<Task> proteus::fuzz::makeGrid(size_t stride) {
  const Rule *memory[] = {findRule("memory-recompute-full"),
                          findRule("memory-recompute-selective"),
                          findRule("memory-zero-1"), findRule("memory-zero-2"),
                          findRule("memory-zero-3")};
  std::vector<Task> tasks;
  size_t number = 0;
  for (const models::Preset &preset : models::Registry::get().getPresets())
    for (StringRef shape : shapes)
      for (StringRef zero : zeroStages)
        for (StringRef recompute : recomputations) {
          if (number++ % stride)
            continue;
          Task task;
          task.job =
              parseCase("--model " + preset.name +
                        " --cluster dgx-a100 --gpus 8 --zero " + zero.str() +
                        " --recompute " + recompute.str() + " " + shape.str());
          task.rules.assign(std::begin(memory), std::end(memory));
          // All rules share the jobs of a whole grid. In a sample, each rule
          // needs jobs of its own, so each job checks only one, in turn.
          std::rotate(task.rules.begin(),
                      task.rules.begin() + number % task.rules.size(),
                      task.rules.end());
          task.wanted = stride == 1 ? task.rules.size() : 1;
          tasks.push_back(std::move(task));
        }
  return tasks;
}
