//===- ScalarGradient.cpp - derivatives of scalar code ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace proteus::nn;

static bool isFloat(Type type) { return isa<FloatType>(type); }

bool proteus::nn::hasKnownDerivative(Operation *op) {
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
          arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp, arith::ExtFOp, arith::TruncFOp, arith::ConstantOp,
          arith::CmpFOp, arith::SelectOp, math::ExpOp, math::LogOp,
          math::TanhOp, math::SqrtOp, math::RsqrtOp, math::ErfOp>(op))
    return true;
  return llvm::none_of(op->getOperandTypes(), isFloat) &&
         llvm::none_of(op->getResultTypes(), isFloat);
}

Value proteus::nn::convertFloat(OpBuilder &builder, Location loc, Value value,
                                Type type) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from > to)
    return arith::TruncFOp::create(builder, loc, type, value);
  // The operations arith.extf and arith.truncf do not convert between types of
  // the same width, such as f16 and bf16. The value is therefore converted to a
  // wider type first.
  Type wider = from < 32 ? Type(builder.getF32Type()) : builder.getF64Type();
  return convertFloat(builder, loc, convertFloat(builder, loc, value, wider),
                      type);
}

ScalarGradient::ScalarGradient(OpBuilder &builder, Location loc, Block &body,
                               ValueRange arguments)
    : builder(builder), loc(loc), body(body) {
  mapping.map(body.getArguments().take_front(arguments.size()), arguments);
}

void ScalarGradient::seed(Value value, Value adjoint) {
  Value &sum = adjoints[value];
  sum = sum ? arith::AddFOp::create(builder, loc, sum, adjoint) : adjoint;
}

Value ScalarGradient::derivativeBy(BlockArgument argument) {
  active = {argument};
  for (Operation &op : body)
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return active.contains(operand); }))
      for (Value result : op.getResults())
        if (isFloat(result.getType()))
          active.insert(result);
  for (Operation &op : llvm::reverse(body))
    for (Value result : op.getResults())
      if (Value adjoint = adjoints.lookup(result);
          adjoint && active.contains(result))
        propagate(&op, adjoint);
  return adjoints.lookup(argument);
}

void ScalarGradient::contribute(Value operand,
                                llvm::function_ref<Value()> make) {
  if (active.contains(operand))
    seed(operand, make());
}

Value ScalarGradient::forward(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    forward(operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

Value ScalarGradient::constant(Type type, double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}
Value ScalarGradient::mul(Value lhs, Value rhs) {
  return arith::MulFOp::create(builder, loc, lhs, rhs);
}
Value ScalarGradient::div(Value lhs, Value rhs) {
  return arith::DivFOp::create(builder, loc, lhs, rhs);
}
Value ScalarGradient::neg(Value value) {
  return arith::NegFOp::create(builder, loc, value);
}

void ScalarGradient::propagateChoice(llvm::function_ref<Value()> makeCondition,
                                     Value chosen, Value other, Value adjoint) {
  auto select = [&](bool first) {
    Value condition = makeCondition();
    Value zero = constant(adjoint.getType(), 0);
    return arith::SelectOp::create(builder, loc, condition,
                                   first ? adjoint : zero,
                                   first ? zero : adjoint);
  };
  contribute(chosen, [&]() -> Value { return select(true); });
  contribute(other, [&]() -> Value { return select(false); });
}

void ScalarGradient::propagate(Operation *op, Value adjoint) {
  Type type = adjoint.getType();
  auto result = [&]() { return forward(op->getResult(0)); };
  auto compare = [&](arith::CmpFPredicate predicate) {
    propagateChoice(
        [&]() -> Value {
          return arith::CmpFOp::create(builder, loc, predicate,
                                       forward(op->getOperand(0)),
                                       forward(op->getOperand(1)));
        },
        op->getOperand(0), op->getOperand(1), adjoint);
  };
  // Adds the value that `make` builds to the adjoint of operand 0 of `op`. By
  // the chain rule, this value is `adjoint` times the derivative of `op` with
  // respect to the operand. The argument of `make` is the operand.
  auto chain = [&](llvm::function_ref<Value(Value)> make) {
    Value operand = op->getOperand(0);
    contribute(operand, [&]() { return make(operand); });
  };

  llvm::TypeSwitch<Operation *>(op)
      .Case([&](arith::AddFOp add) {
        contribute(add.getLhs(), [&]() { return adjoint; });
        contribute(add.getRhs(), [&]() { return adjoint; });
      })
      .Case([&](arith::SubFOp sub) {
        contribute(sub.getLhs(), [&]() { return adjoint; });
        contribute(sub.getRhs(), [&]() { return neg(adjoint); });
      })
      .Case([&](arith::MulFOp product) {
        contribute(product.getLhs(),
                   [&]() { return mul(adjoint, forward(product.getRhs())); });
        contribute(product.getRhs(),
                   [&]() { return mul(adjoint, forward(product.getLhs())); });
      })
      .Case([&](arith::DivFOp quotient) {
        contribute(quotient.getLhs(),
                   [&]() { return div(adjoint, forward(quotient.getRhs())); });
        contribute(quotient.getRhs(), [&]() {
          return neg(div(mul(adjoint, result()), forward(quotient.getRhs())));
        });
      })
      .Case([&](arith::NegFOp) { chain([&](Value) { return neg(adjoint); }); })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { compare(arith::CmpFPredicate::OGT); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { compare(arith::CmpFPredicate::OLT); })
      .Case([&](arith::SelectOp select) {
        propagateChoice([&]() { return forward(select.getCondition()); },
                        select.getTrueValue(), select.getFalseValue(), adjoint);
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) {
        chain([&](Value operand) {
          return convertFloat(builder, loc, adjoint, operand.getType());
        });
      })
      .Case([&](math::ExpOp) {
        chain([&](Value) { return mul(adjoint, result()); });
      })
      .Case([&](math::LogOp) {
        chain([&](Value x) { return div(adjoint, forward(x)); });
      })
      .Case([&](math::TanhOp) {
        chain([&](Value) {
          Value y = result();
          Value slope =
              arith::SubFOp::create(builder, loc, constant(type, 1), mul(y, y));
          return mul(adjoint, slope);
        });
      })
      .Case([&](math::SqrtOp) {
        chain([&](Value) {
          return div(mul(adjoint, constant(type, 0.5)), result());
        });
      })
      .Case([&](math::RsqrtOp) {
        chain([&](Value) {
          Value y = result();
          return mul(mul(adjoint, constant(type, -0.5)), mul(y, mul(y, y)));
        });
      })
      .Case([&](math::ErfOp) {
        chain([&](Value operand) {
          Value x = forward(operand);
          Value bell = math::ExpOp::create(builder, loc, neg(mul(x, x)));
          return mul(adjoint,
                     mul(constant(type, 2 * llvm::numbers::inv_sqrtpi), bell));
        });
      })
      .Default([](Operation *) {
        llvm_unreachable("an operation without a known derivative");
      });
}
