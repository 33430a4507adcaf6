//===- GradientScaling.cpp - one factor for all gradients -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientScaling.h"

#include "PerLayer.h"

#include "Proteus/Transforms/Common/Annotations.h"

#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace proteus;
using namespace proteus::nn;

/// Path of the operations that combine numbers of several gradients.
static constexpr StringLiteral kPath = "gradients";

void proteus::markAsUpdate(Operation *op, BlockArgument parameter) {
  op->walk([](Operation *inner) {
    if (!inner->hasTrait<OpTrait::IsTerminator>())
      setPhase(inner, Phase::Update);
  });
  inheritPlace(parameter, op);
}

namespace {

/// Combines one number per gradient, such as its square sum, into a total. The
/// numbers of a virtual stage are combined there, together with the total of
/// the previous virtual stage. The last virtual stage thus gets the total over
/// all gradients.
class GradientTotals {
public:
  GradientTotals(OpBuilder &builder, ArrayRef<BlockArgument> parameters,
                 const DenseMap<Value, Value> &gradients)
      : builder(builder), gradients(gradients) {
    // The copies of a tied parameter on several stages have one common
    // gradient, which counts once.
    llvm::StringSet<> tied;
    for (BlockArgument parameter : parameters)
      if (!getArgumentAttr(parameter, kTiedAttr) ||
          tied.insert(getArgumentPath(parameter)).second)
        byStage[getStage(parameter).value_or(0)].push_back(parameter);
  }

  /// Builds one `ObserverOp` per gradient, each of which computes one number,
  /// and the total of these numbers: their maximum if `max`, else their sum.
  template <typename ObserverOp> Value build(bool max) {
    Value total;
    for (auto &[stage, parameters] : byStage) {
      SmallVector<Value> terms;
      for (BlockArgument parameter : parameters)
        terms.push_back(place(
            buildPerLayer(builder, parameter, getArgumentPath(parameter),
                          gradients.lookup(parameter),
                          [&](OpBuilder &at, StringRef path, ValueRange layer) {
                            return ObserverOp::create(at, parameter.getLoc(),
                                                      scalarType(), path,
                                                      layer[0]);
                          }),
            parameter));
      if (total)
        terms.push_back(total);
      BlockArgument first = parameters.front();
      total = placeOnStage(TotalOp::create(builder, first.getLoc(),
                                           scalarType(), kPath, terms, max),
                           first);
    }
    return total;
  }

  /// Builds the operation that computes the factor for the updates from
  /// `totals`. The operation runs on the last virtual stage.
  Value buildFactor(TrainingAttr training, ValueRange totals) {
    BlockArgument last = byStage.rbegin()->second.front();
    return placeOnStage(
        UpdateFactorOp::create(builder, last.getLoc(), scalarType(),
                               builder.getStringAttr(kPath), totals,
                               training.getClip(), training.getLossScale()),
        last);
  }

private:
  Type scalarType() { return RankedTensorType::get({}, builder.getF32Type()); }

  /// Makes `op` part of the update, on the stage and at the coordinates of
  /// `parameter`.
  Value place(Operation *op, BlockArgument parameter) {
    markAsUpdate(op, parameter);
    return op->getResult(0);
  }

  /// Makes `op` part of the update, on all devices of the stage of `parameter`,
  /// even if the parameter exists only at some coordinates. All devices need
  /// the result, because it depends on all gradients.
  Value placeOnStage(Operation *op, BlockArgument parameter) {
    markAsUpdate(op, parameter);
    op->removeDiscardableAttr(kPlaceAttr);
    return op->getResult(0);
  }

  OpBuilder &builder;
  const DenseMap<Value, Value> &gradients;
  /// Parameters by virtual stage.
  std::map<int64_t, SmallVector<BlockArgument>> byStage;
};

} // namespace

Value proteus::buildUpdateFactor(OpBuilder &builder, TrainingAttr training,
                                 ArrayRef<BlockArgument> parameters,
                                 const DenseMap<Value, Value> &gradients) {
  if (!training.getClip() && !training.getLossScale())
    return {};
  GradientTotals totals(builder, parameters, gradients);
  SmallVector<Value> numbers;
  if (training.getClip())
    numbers.push_back(totals.build<SquareSumOp>(/*max=*/false));
  if (training.getLossScale())
    numbers.push_back(totals.build<OverflowOp>(/*max=*/true));
  return totals.buildFactor(training, numbers);
}
