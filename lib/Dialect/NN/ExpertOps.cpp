//===- ExpertOps.cpp - mixture of experts: verifiers, spaces ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/NN.h"

#include <cmath>

using namespace mlir;
using namespace proteus::nn;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyRank(Operation *op, StringRef what, Value value,
                                size_t rank) {
  if (shapeOf(value).size() == rank)
    return success();
  return op->emitOpError() << what << " must have rank " << rank << ", got "
                           << shapeOf(value).size();
}

/// Verifies that `value` has the rank of `tokens`, and the same sizes in all
/// dimensions but the last.
static LogicalResult verifyTokens(Operation *op, StringRef what, Value value,
                                  Value tokens) {
  if (failed(verifyRank(op, what, value, shapeOf(tokens).size())))
    return failure();
  if (shapeOf(value).drop_back() == shapeOf(tokens).drop_back())
    return success();
  return op->emitOpError() << what
                           << " must have the leading dimensions of the tokens "
                           << tokens.getType() << ", got " << value.getType();
}

static LogicalResult verifyGroups(Operation *op, Value tokens, int64_t groups) {
  if (shapeOf(tokens).size() < 2)
    return op->emitOpError("tokens must have rank 2 or more, got ")
           << shapeOf(tokens).size();
  int64_t batch = shapeOf(tokens).front();
  if (groups < 1 || batch % groups != 0)
    return op->emitOpError("the number of token groups must divide the batch, "
                           "got ")
           << groups << " groups of a batch of " << batch;
  return success();
}

/// Returns the number of slots of an expert as a real number.
static double capacityOf(MoeRouteOp route) {
  ArrayRef<int64_t> shape = shapeOf(route.getLogits());
  double tokens = 1;
  for (int64_t size : shape.drop_back())
    tokens *= static_cast<double>(size);
  double share = tokens / static_cast<double>(route.getGroups()) *
                 static_cast<double>(shapeOf(route.getGates()).back()) /
                 static_cast<double>(shape.back());
  // A factor such as 1.1 has no exact binary representation, so `1.1 * 50` is
  // slightly more than 55. Subtracting 1e-9 keeps this rounding error from
  // adding a slot.
  return std::ceil(route.getCapacityFactor().convertToDouble() * share - 1e-9);
}

int64_t MoeRouteOp::getCapacity() {
  return std::max<int64_t>(1, capacityOf(*this));
}

LogicalResult MoeRouteOp::verify() {
  if (failed(verifyGroups(*this, getLogits(), getGroups())))
    return failure();
  for (Value result : getResults())
    if (failed(verifyTokens(*this, "a result", result, getLogits())))
      return failure();
  int64_t choices = shapeOf(getGates()).back();
  int64_t experts = shapeOf(getLogits()).back();
  if (choices < 1 || choices > experts)
    return emitOpError("can't choose ")
           << choices << " of " << experts << " experts";
  for (Value result : {getExperts(), getSlots()})
    if (shapeOf(result).back() != choices)
      return emitOpError(
                 "gates, experts and slots must have the same number of "
                 "choices, got ")
             << choices << " and " << shapeOf(result).back();
  double factor = getCapacityFactor().convertToDouble();
  if (!(factor > 0 && std::isfinite(factor)))
    return emitOpError("'capacity_factor' must be positive, got ") << factor;
  if (capacityOf(*this) > static_cast<double>(maxElements))
    return emitOpError("'capacity_factor' ")
           << factor << " gives each expert more than 2^56 slots";
  return success();
}

LogicalResult MoeRouteGradOp::verify() {
  if (shapeOf(getLogits()).size() < 2)
    return emitOpError("logits must have rank 2 or more, got ")
           << shapeOf(getLogits()).size();
  if (failed(verifyTokens(*this, "gradient", getGradient(), getLogits())))
    return failure();
  if (shapeOf(getGradient()) != shapeOf(getExperts()))
    return emitOpError("gradient and experts must have the same shape, got ")
           << getGradient().getType() << " and " << getExperts().getType();
  return success();
}

/// Verifies the shapes of the tensors of a dispatch, a combination or a
/// gradient of gates. `tokens` is `[batch, .., hidden]`, and `places` is the
/// tensor `[experts, groups, capacity, hidden]` of all slots. `experts`,
/// `slots` and `gates` (which may be null) have one element per choice. If
/// `slots` is a result of an nn.moe_route, also verifies that `places` has the
/// numbers of experts, groups and slots of that operation.
static LogicalResult verifyPlaces(Operation *op, Value tokens, Value places,
                                  Value experts, Value slots, Value gates) {
  if (failed(verifyRank(op, "the tensor of the experts", places, 4)) ||
      failed(verifyGroups(op, tokens, shapeOf(places)[1])) ||
      failed(verifyTokens(op, "experts", experts, tokens)))
    return failure();
  for (Value value : {slots, gates})
    if (value && shapeOf(value) != shapeOf(experts))
      return op->emitOpError("experts, slots and gates must have the same "
                             "shape, got ")
             << experts.getType() << " and " << value.getType();
  auto route = slots.getDefiningOp<MoeRouteOp>();
  if (!route)
    return success();
  std::tuple<StringRef, int64_t, int64_t> sizes[] = {
      {"experts", shapeOf(route.getLogits()).back(), shapeOf(places)[0]},
      {"token groups", route.getGroups(), shapeOf(places)[1]},
      {"slots", route.getCapacity(), shapeOf(places)[2]}};
  for (auto [what, expected, got] : sizes)
    if (expected != got) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("has ")
          << got << " " << what << ", but tokens were routed to " << expected;
      diagnostic.attachNote(route.getLoc()) << "routed here";
      return diagnostic;
    }
  return success();
}

LogicalResult MoeDispatchOp::verify() {
  return verifyPlaces(*this, getInput(), getResult(), getExperts(), getSlots(),
                      getGates());
}
LogicalResult MoeCombineOp::verify() {
  return verifyPlaces(*this, getResult(), getInput(), getExperts(), getSlots(),
                      getGates());
}
LogicalResult MoeGateGradOp::verify() {
  return verifyPlaces(*this, getGradient(), getInput(), getExperts(),
                      getSlots(), getResult());
}

static LogicalResult verifyExpertLinear(Operation *op, Value input,
                                        Value weight, Value output) {
  return success(succeeded(verifyRank(op, "input", input, 4)) &&
                 succeeded(verifyRank(op, "weight", weight, 3)) &&
                 succeeded(verifyRank(op, "output", output, 4)));
}

LogicalResult ExpertLinearOp::verify() {
  return verifyExpertLinear(*this, getInput(), getWeight(), getResult());
}
LogicalResult ExpertLinearDgradOp::verify() {
  return verifyExpertLinear(*this, getResult(), getWeight(), getGradient());
}
LogicalResult ExpertLinearWgradOp::verify() {
  return verifyExpertLinear(*this, getInput(), getResult(), getGradient());
}

//===----------------------------------------------------------------------===//
// Routing of tokens to experts
//===----------------------------------------------------------------------===//

namespace {
/// Iterators of tokens `[batch, .., last]` that are divided into groups. The
/// dimensions between the first and the last have iterators only if
/// `splitsSequence` is set. Otherwise a device needs all tokens of a group, so
/// these dimensions are never split.
struct GroupedTokens {
  unsigned group;
  TensorIterators leading;

  GroupedTokens(IterationSpace &space, Value tokens, int64_t groups,
                bool splitsSequence) {
    group = space.add("group", groups);
    leading.push_back({group});
    // If a group is a single sample, the iterator `sample` is left out, so that
    // the batch dimension has a single iterator. A dimension with several
    // iterators may not be split into shards of unequal size.
    if (int64_t samples = shapeOf(tokens).front() / groups; samples > 1)
      leading.back().push_back(
          space.add("sample", samples, IteratorKind::Opaque));
    int64_t rank = shapeOf(tokens).size();
    for (int64_t dim = 1; dim + 1 < rank; ++dim) {
      leading.emplace_back();
      if (splitsSequence)
        leading.back().push_back(
            space.add(dataIteratorName(dim, rank), shapeOf(tokens)[dim]));
    }
  }
  TensorIterators with(DimIterators last = {}) const {
    TensorIterators dims = leading;
    dims.push_back(last);
    return dims;
  }
};
} // namespace

IterationSpace MoeRouteOp::getIterationSpace() {
  IterationSpace space;
  GroupedTokens tokens(space, getLogits(), getGroups(),
                       /*splitsSequence=*/false);
  // The slot of a token depends on the other tokens of its group and on all
  // experts, so one opaque iterator covers all logits of a sample.
  int64_t perRow = 1;
  for (int64_t size : shapeOf(getLogits()).drop_front())
    perRow *= size;
  space.add("logit", perRow, IteratorKind::Opaque);
  space.operands = {tokens.with()};
  space.results = {tokens.with(), tokens.with(), tokens.with()};
  return space;
}
// For each logit, the softmax takes four FLOPs, and each of the k choices takes
// one comparison.
double MoeRouteOp::getFlopsPerPoint() {
  return 4 + static_cast<double>(shapeOf(getGates()).back());
}

IterationSpace MoeRouteGradOp::getIterationSpace() {
  IterationSpace space;
  TensorIterators leading;
  int64_t rank = shapeOf(getLogits()).size();
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    leading.push_back(
        {space.add(dataIteratorName(dim, rank), shapeOf(getLogits())[dim])});
  TensorIterators choices = leading, logits = leading;
  choices.emplace_back();
  logits.push_back(
      {space.add("expert", shapeOf(getLogits()).back(), IteratorKind::Opaque)});
  space.operands = {choices, logits, choices};
  space.results = {logits};
  return space;
}
double MoeRouteGradOp::getFlopsPerPoint() { return 6; }

//===----------------------------------------------------------------------===//
// Dispatch and combination of tokens
//===----------------------------------------------------------------------===//

/// Returns the FLOPs per point of an operation that needs `perElement` FLOPs
/// for each token, each choice of the token and each element of `hidden`. The
/// result is usually below 1, because a token chooses only a few slots, but the
/// points of the space run over all slots.
static double flopsPerPoint(const IterationSpace &space, Value experts,
                            int64_t hidden, double perElement) {
  double elements = static_cast<double>(hidden);
  for (int64_t size : shapeOf(experts))
    elements *= static_cast<double>(size);
  return perElement * elements / space.numPoints();
}

IterationSpace MoeDispatchOp::getIterationSpace() {
  IterationSpace space;
  ArrayRef<int64_t> places = shapeOf(getResult());
  unsigned expert = space.add("expert", places[0]);
  GroupedTokens tokens(space, getInput(), places[1], /*splitsSequence=*/false);
  unsigned slot = space.add("slot", places[2]);
  unsigned hidden = space.add("hidden", places[3]);
  space.operands = {tokens.with({hidden}), tokens.with(), tokens.with()};
  if (getGates())
    space.operands.push_back(tokens.with());
  space.results = {{{expert}, {tokens.group}, {slot}, {hidden}}};
  return space;
}
double MoeDispatchOp::getFlopsPerPoint() {
  return getGates() ? flopsPerPoint(getIterationSpace(), getExperts(),
                                    shapeOf(getInput()).back(), 1)
                    : 0;
}

namespace {
/// The iteration space that nn.moe_combine and nn.moe_gate_grad share.
struct CombineSpace {
  IterationSpace space;
  TensorIterators tokens, choices, places;

  CombineSpace(Value tokenTensor, Value placeTensor, IteratorKind hiddenKind) {
    ArrayRef<int64_t> sizes = shapeOf(placeTensor);
    unsigned expert = space.add("expert", sizes[0], IteratorKind::Sum);
    GroupedTokens grouped(space, tokenTensor, sizes[1],
                          /*splitsSequence=*/true);
    unsigned slot = space.add("slot", sizes[2], IteratorKind::Sum);
    unsigned hidden = space.add("hidden", sizes[3], hiddenKind);
    tokens = grouped.with({hidden});
    choices = grouped.with();
    places = {{expert}, {grouped.group}, {slot}, {hidden}};
  }
};
} // namespace

IterationSpace MoeCombineOp::getIterationSpace() {
  CombineSpace combine(getResult(), getInput(), IteratorKind::Parallel);
  combine.space.operands = {combine.places, combine.choices, combine.choices};
  if (getGates())
    combine.space.operands.push_back(combine.choices);
  combine.space.results = {combine.tokens};
  return combine.space;
}
double MoeCombineOp::getFlopsPerPoint() {
  return flopsPerPoint(getIterationSpace(), getExperts(),
                       shapeOf(getResult()).back(), getGates() ? 2 : 1);
}

IterationSpace MoeGateGradOp::getIterationSpace() {
  CombineSpace combine(getGradient(), getInput(), IteratorKind::Sum);
  combine.space.operands = {combine.tokens, combine.places, combine.choices,
                            combine.choices};
  combine.space.results = {combine.choices};
  return combine.space;
}
double MoeGateGradOp::getFlopsPerPoint() {
  return flopsPerPoint(getIterationSpace(), getExperts(),
                       shapeOf(getGradient()).back(), 2);
}

//===----------------------------------------------------------------------===//
// Matrix products of experts
//===----------------------------------------------------------------------===//

namespace {
/// The iteration space that nn.expert_linear and its gradients share.
struct ExpertLinearSpace {
  IterationSpace space;
  unsigned expert, group, slot, out, in;

  ExpertLinearSpace(Value rows, int64_t outSize, int64_t inSize) {
    expert = space.add("expert", shapeOf(rows)[0]);
    group = space.add("group", shapeOf(rows)[1]);
    slot = space.add("slot", shapeOf(rows)[2]);
    out = space.add("out", outSize);
    in = space.add("in", inSize);
  }
  void sumOver(unsigned iterator) {
    space.iterators[iterator].kind = IteratorKind::Sum;
  }
  TensorIterators input() const { return {{expert}, {group}, {slot}, {in}}; }
  TensorIterators output() const { return {{expert}, {group}, {slot}, {out}}; }
  TensorIterators weight() const { return {{expert}, {out}, {in}}; }
};
} // namespace

IterationSpace ExpertLinearOp::getIterationSpace() {
  ExpertLinearSpace linear(getInput(), shapeOf(getWeight())[1],
                           shapeOf(getInput())[3]);
  linear.sumOver(linear.in);
  linear.space.operands = {linear.input(), linear.weight()};
  if (getBias())
    linear.space.operands.push_back({{linear.expert}, {linear.out}});
  linear.space.results = {linear.output()};
  return linear.space;
}
double ExpertLinearOp::getFlopsPerPoint() { return 2; }
KernelClass ExpertLinearOp::getKernelClass() { return KernelClass::Matrix; }

IterationSpace ExpertLinearDgradOp::getIterationSpace() {
  ExpertLinearSpace linear(getGradient(), shapeOf(getWeight())[1],
                           shapeOf(getWeight())[2]);
  linear.sumOver(linear.out);
  linear.space.operands = {linear.output(), linear.weight()};
  linear.space.results = {linear.input()};
  return linear.space;
}
double ExpertLinearDgradOp::getFlopsPerPoint() { return 2; }
KernelClass ExpertLinearDgradOp::getKernelClass() {
  return KernelClass::Matrix;
}

IterationSpace ExpertLinearWgradOp::getIterationSpace() {
  ExpertLinearSpace linear(getGradient(), shapeOf(getGradient())[3],
                           shapeOf(getInput())[3]);
  linear.sumOver(linear.group);
  linear.sumOver(linear.slot);
  linear.space.operands = {linear.output(), linear.input()};
  linear.space.results = {linear.weight()};
  return linear.space;
}
double ExpertLinearWgradOp::getFlopsPerPoint() { return 2; }
KernelClass ExpertLinearWgradOp::getKernelClass() {
  return KernelClass::Matrix;
}
