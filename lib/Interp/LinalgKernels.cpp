//===- LinalgKernels.cpp - structured operations ----------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelKinds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace proteus;
using namespace proteus::interp;
using linalg::LinalgOp;
using std::erf;
using std::exp;
using std::log;
using std::sqrt;
using std::tanh;

namespace {

/// Evaluates the scalar body of a structured operation at single points of the
/// iteration space.
template <typename T> class Body {
public:
  Body(LinalgOp op, ScalarLookup<T> scalars) : op(op), scalars(scalars) {}

  /// Returns the values that the body yields at `point` of the global iteration
  /// space. `arguments` are the values of the block arguments.
  FailureOr<SmallVector<T>> run(ArrayRef<T> arguments, ArrayRef<int64_t> point);

private:
  T get(Value value) {
    auto found = values.find(value);
    return found != values.end() ? found->second : scalars(value);
  }
  /// Returns the value of the operation `inner` of the body, or nullopt if the
  /// interpreter does not support `inner`.
  std::optional<T> compute(Operation *inner, ArrayRef<int64_t> point);

  LinalgOp op;
  ScalarLookup<T> scalars;
  llvm::DenseMap<Value, T> values;
};

} // namespace

static bool compareFloats(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !unordered;
  case P::UNO:
    return unordered;
  case P::OEQ:
    return a == b;
  case P::UEQ:
    return unordered || a == b;
  case P::OGT:
    return a > b;
  case P::UGT:
    return unordered || a > b;
  case P::OGE:
    return a >= b;
  case P::UGE:
    return unordered || a >= b;
  case P::OLT:
    return a < b;
  case P::ULT:
    return unordered || a < b;
  case P::OLE:
    return a <= b;
  case P::ULE:
    return unordered || a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::UNE:
    return a != b;
  }
  llvm_unreachable("unknown predicate");
}

/// Returns the value of a scalar constant, or nullopt if the constant is a
/// tensor.
static std::optional<double> constantValue(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return static_cast<double>(integer.getInt());
  return std::nullopt;
}

template <typename T>
std::optional<T> Body<T>::compute(Operation *inner, ArrayRef<int64_t> point) {
  auto operand = [&](unsigned i) { return get(inner->getOperand(i)); };
  using Result = std::optional<T>;
  return llvm::TypeSwitch<Operation *, Result>(inner)
      .template Case<arith::AddFOp, arith::AddIOp>(
          [&](auto) { return operand(0) + operand(1); })
      .template Case<arith::SubFOp, arith::SubIOp>(
          [&](auto) { return operand(0) - operand(1); })
      .template Case<arith::MulFOp, arith::MulIOp>(
          [&](auto) { return operand(0) * operand(1); })
      .Case([&](arith::DivFOp) { return operand(0) / operand(1); })
      .Case([&](arith::NegFOp) { return -operand(0); })
      .template Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return std::max(operand(0), operand(1)); })
      .template Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { return std::min(operand(0), operand(1)); })
      .template Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp,
                     arith::IndexCastOp>([&](auto) { return operand(0); })
      .Case([&](arith::ConstantOp constant) {
        return constantValue(constant.getValue());
      })
      .Case([&](arith::CmpFOp compare) -> Result {
        return compareFloats(compare.getPredicate(), valueOf(operand(0)),
                             valueOf(operand(1)));
      })
      .Case([&](arith::SelectOp) {
        return operand(0) != 0 ? operand(1) : operand(2);
      })
      .Case([&](math::ExpOp) { return exp(operand(0)); })
      .Case([&](math::LogOp) { return log(operand(0)); })
      .Case([&](math::TanhOp) { return tanh(operand(0)); })
      .Case([&](math::SqrtOp) { return sqrt(operand(0)); })
      .Case([&](math::RsqrtOp) { return 1 / sqrt(operand(0)); })
      .Case([&](math::ErfOp) { return erf(operand(0)); })
      .Case([&](linalg::IndexOp index) -> Result {
        return static_cast<double>(point[index.getDim()]);
      })
      .Default([](Operation *) { return std::nullopt; });
}

template <typename T>
FailureOr<SmallVector<T>> Body<T>::run(ArrayRef<T> arguments,
                                       ArrayRef<int64_t> point) {
  Block &block = *op.getBlock();
  values.clear();
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = value;
  for (Operation &inner : block.without_terminator()) {
    std::optional<T> value = compute(&inner, point);
    if (!value)
      return inner.emitOpError("can't be evaluated: the interpreter does not "
                               "support this operation");
    values[inner.getResult(0)] = *value;
  }
  SmallVector<T> yielded;
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(get(value));
  return yielded;
}

/// Returns, for every loop, the ranges of the global iteration space that the
/// operand blocks hold. For a loop that indexes no split dimension, this is the
/// whole range of the loop.
template <typename T> static Place loopParts(LinalgOp op, OperandsOf<T> in) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<dist::Ranges> parts;
  for (int64_t size : sizes)
    parts.push_back({{0, size}});
  for (auto [map, operand] : llvm::zip_equal(op.getIndexingMapsArray(), in))
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        if (operand->getDim(dim) < sizes[loop.getPosition()]) {
          sizes[loop.getPosition()] = operand->getDim(dim);
          parts[loop.getPosition()] =
              dist::Ranges(operand.place.getRanges(dim));
        }
  return Place(parts);
}

/// Returns the local index, in a block with the ranges `place`, of the element
/// that `map` selects at `point` of the global iteration space.
static Shape indexAt(AffineMap map, ArrayRef<int64_t> point,
                     const Place &place) {
  Shape index;
  for (auto [dimension, expr] : llvm::enumerate(map.getResults())) {
    int64_t value = 0;
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      value = point[dim.getPosition()];
    } else {
      AffineMap single = AffineMap::get(map.getNumDims(), 0, expr);
      value = single.compose(point).front();
    }
    index.push_back(*place.toLocal(dimension, value));
  }
  return index;
}

template <typename T>
static LogicalResult compute(LinalgOp op, OperandsOf<T> in, ResultsOf<T> out,
                             ScalarLookup<T> scalars) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned numInputs = op.getNumDpsInputs();
  for (auto [i, result] : llvm::enumerate(out))
    result.data = *in[numInputs + i];
  Place loops = loopParts(op, in);
  SmallVector<int64_t> sizes;
  for (unsigned loop = 0; loop < loops.getRank(); ++loop)
    sizes.push_back(loops.getSize(loop));
  Body<T> body(op, scalars);
  LogicalResult status = success();
  forEachIndex(sizes, [&](ArrayRef<int64_t> local) {
    if (failed(status))
      return;
    Shape point = loops.toGlobal(local);
    SmallVector<T> arguments;
    for (auto [i, map] : llvm::enumerate(maps)) {
      const TensorOf<T> &data =
          i < numInputs ? *in[i] : out[i - numInputs].data;
      arguments.push_back(data.at(indexAt(map, point, in[i].place)));
    }
    FailureOr<SmallVector<T>> yielded = body.run(arguments, point);
    if (failed(yielded)) {
      status = failure();
      return;
    }
    for (auto [i, value] : llvm::enumerate(*yielded))
      out[i].data.at(indexAt(maps[numInputs + i], point, out[i].place)) = value;
  });
  return status;
}

template <typename T>
Evaluated proteus::interp::evaluateLinalg(Operation *op, OperandsOf<T> in,
                                          ResultsOf<T> out,
                                          ScalarLookup<T> scalars) {
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case([&](LinalgOp structured) {
        return compute(structured, in, out, scalars);
      })
      .Case([&](tensor::EmptyOp) {
        // The elements of an empty tensor are NaN, so that a read of them is
        // noticed.
        out[0].data = TensorOf<T>(out[0].data.getShape(),
                                  std::numeric_limits<double>::quiet_NaN());
        return success();
      })
      .Case([&](arith::ConstantOp constant) -> LogicalResult {
        if (auto value = constantValue(constant.getValue())) {
          out[0].data[0] = *value;
          return success();
        }
        auto dense = dyn_cast<DenseFPElementsAttr>(constant.getValue());
        if (!dense || dense.getNumElements() != out[0].data.size())
          return constant.emitOpError("can't be evaluated: the constant is "
                                      "neither a number nor a whole tensor of "
                                      "floats");
        for (auto [i, value] : llvm::enumerate(dense.getValues<APFloat>())) {
          bool lossy;
          APFloat number = value;
          number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                         &lossy);
          out[0].data[i] = number.convertToDouble();
        }
        return success();
      })
      .Default([](Operation *) { return std::nullopt; });
}

template Evaluated proteus::interp::evaluateLinalg(Operation *, Operands,
                                                   Results,
                                                   ScalarLookup<double>);
template Evaluated proteus::interp::evaluateLinalg(Operation *,
                                                   OperandsOf<Dual>,
                                                   ResultsOf<Dual>,
                                                   ScalarLookup<Dual>);
