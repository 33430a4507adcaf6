//===- SubAxis.cpp - axes and sub-axes in a tree --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Strategy/SubAxis.h"

#include "AttrSyntax.h"

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include "llvm/ADT/Twine.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace proteus::strategy;

std::optional<AxisUse> AxisUse::parse(StringRef text) {
  AxisUse use;
  auto [axis, rest] = text.split(':');
  use.axis = axis;
  if (!isIdentifier(axis))
    return std::nullopt;
  if (axis.size() == text.size())
    return use;
  use.sub.emplace();
  if (!rest.consume_front("(") || rest.consumeInteger(10, use.sub->prefix) ||
      !rest.consume_front(")") || rest.consumeInteger(10, use.sub->size) ||
      !rest.empty())
    return std::nullopt;
  return use;
}

std::optional<std::string> AxisUse::check(StringRef text) {
  std::optional<AxisUse> use = parse(text);
  if (!use)
    return ("axis '" + text +
            "' is neither an identifier nor a sub-axis; write 'd' or 'd:(1)2'")
        .str();
  if (!use->sub)
    return std::nullopt;
  auto [prefix, size] = *use->sub;
  if (prefix >= 1 && prefix <= dist::maxMeshDevices && size >= 2 &&
      size <= dist::maxMeshDevices)
    return std::nullopt;
  return ("sub-axis '" + text + "' has prefix " + Twine(prefix) + " and size " +
          Twine(size) +
          "; a prefix is at least 1, a size at least 2, and both divide the "
          "axis")
      .str();
}

std::string AxisUse::str() const {
  if (!sub)
    return axis.str();
  return (axis + ":(" + Twine(sub->prefix) + ")" + Twine(sub->size)).str();
}

bool AxisUse::overlaps(const AxisUse &other) const {
  if (axis != other.axis)
    return false;
  if (!sub || !other.sub)
    return true;
  return std::max(sub->prefix, other.sub->prefix) <
         std::min(sub->prefix * sub->size, other.sub->prefix * other.sub->size);
}

void proteus::strategy::forEachAxisUse(
    TreeOp tree, function_ref<void(Operation *, StringAttr)> visit) {
  tree->walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<SplitOp>([&](SplitOp split) {
          for (PartAttr part : split.getPartition().getParts())
            for (StringAttr axis : part.getAxes())
              visit(op, axis);
        })
        .Case<AtOp>([&](AtOp at) {
          for (auto coordinate :
               at.getCoordinates().getAsRange<CoordinateAttr>())
            visit(op, coordinate.getAxis());
        })
        .Case<StagesOp>(
            [&](StagesOp stages) { visit(op, stages.getAxisAttr()); });
  });
}
