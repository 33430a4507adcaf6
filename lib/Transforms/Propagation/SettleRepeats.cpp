//===- SettleRepeats.cpp - peeling of first iterations ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Propagation.h"

#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/SplitRepeat.h"
#include "Proteus/Transforms/Propagation/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>
#include <tuple>

namespace proteus {
#define GEN_PASS_DEF_SETTLEREPEATS
#include "Proteus/Transforms/Propagation/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;

namespace {
class SettleRepeats : public proteus::impl::SettleRepeatsBase<SettleRepeats> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto mesh = getMatchedMesh(function, getArgument());
    if (!mesh)
      return;
    WalkResult backward = function.walk([](Operation *op) {
      return getPhase(op) == Phase::Forward ? WalkResult::advance()
                                            : WalkResult::interrupt();
    });
    if (backward.wasInterrupted()) {
      function.emitOpError("has gradients; run settle-repeats before "
                           "build-training-step");
      return signalPassFailure();
    }
    if (failed(checkPartitions(function, mesh.getValue())))
      return signalPassFailure();
    // Path, first iteration and count of each repeat that is left as it is:
    // repeats that cannot be cut, and repeats that remained after their first
    // iteration was cut off. If a remaining repeat still changes the layout,
    // every iteration changes it, so cutting off another iteration would not
    // help.
    std::set<std::tuple<StringRef, int64_t, int64_t>> done;
    while (true) {
      auto unsettled = findUnsettledRepeats(function, mesh.getValue());
      if (failed(unsettled))
        return signalPassFailure();
      // Cut one repeat per propagation, because the results of a repeat
      // determine the layouts that enter the next one.
      auto next = llvm::find_if(*unsettled, [&](nn::RepeatOp repeat) {
        return !done.count(
            {repeat.getPath(), repeat.getFirst(), repeat.getCount()});
      });
      if (next == unsettled->end())
        return;
      nn::RepeatOp repeat = *next;
      int64_t first = repeat.getFirst(), count = repeat.getCount();
      if (auto reason = whyNotSplittable(function, repeat)) {
        repeat.emitRemark(
            "a carried value leaves an iteration in another layout than it has "
            "at the start, and is converted back at the end of each iteration: "
            "the first iteration can't be treated apart, because ")
            << *reason;
        done.insert({repeat.getPath(), first, count});
        continue;
      }
      bool reverse = repeat.getReverse();
      done.insert({repeat.getPath(), reverse ? first : first + 1, count - 1});
      splitRepeat(function, repeat, {reverse ? count - 1 : 1});
    }
  }
};
} // namespace
