//===- Place.cpp - ranges of a block in its tensor --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Interp/Place.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Interp/Collectives.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace proteus;
using namespace proteus::interp;
using llvm::ArrayRef;

int64_t Place::getSize(unsigned dim) const {
  int64_t size = 0;
  for (const dist::Range &range : ranges[dim])
    size += range.size();
  return size;
}

int64_t Place::toGlobal(unsigned dim, int64_t i) const {
  for (const dist::Range &range : ranges[dim]) {
    if (i < range.size())
      return range.begin + i;
    i -= range.size();
  }
  llvm_unreachable("index outside the block");
}

Shape Place::toGlobal(ArrayRef<int64_t> index) const {
  Shape global;
  for (auto [dim, i] : llvm::enumerate(index))
    global.push_back(toGlobal(dim, i));
  return global;
}

std::optional<int64_t> Place::toLocal(unsigned dim, int64_t i) const {
  int64_t before = 0;
  for (const dist::Range &range : ranges[dim]) {
    if (i >= range.begin && i < range.end)
      return before + i - range.begin;
    before += range.size();
  }
  return std::nullopt;
}

Shape Place::getBlockShape() const {
  Shape shape;
  for (unsigned dim = 0; dim < ranges.size(); ++dim)
    shape.push_back(getSize(dim));
  return shape;
}

Place::Place(mlir::RankedTensorType type, ArrayRef<int64_t> coordinates)
    : Place(dist::localRanges(type, coordinates)) {
  dist::LayoutAttr attribute = dist::getLayout(type);
  if (!attribute || attribute.getValue().flat.empty())
    return;
  const dist::Layout &layout = attribute.getValue();
  const dist::Mesh &mesh = attribute.getMesh().getValue();
  flat = {layout.flat.leading,
          dist::flatRange(mesh, layout, type.getShape(), coordinates),
          dist::flatPartSize(mesh, layout, type.getShape())};
}

Tensor Place::cut(const Tensor &whole) const {
  Shape shape = getBlockShape();
  Tensor block(shape);
  int64_t position = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> local) {
    block[position++] = whole.at(toGlobal(local));
  });
  return flat ? flatPart(block, flat->leading, flat->range.begin, flat->size)
              : block;
}

void Place::paste(const Tensor &shard, Tensor &whole) const {
  Shape shape = getBlockShape();
  int64_t elements = 1, position = 0, part = 0, element = 0;
  if (flat)
    for (int64_t size : ArrayRef(shape).drop_front(flat->leading))
      elements *= size;
  // With a flat cut, `part` counts the lists and `element` the elements of one.
  forEachIndex(shape, [&](ArrayRef<int64_t> local) {
    if (!flat) {
      whole.at(toGlobal(local)) = shard[position++];
      return;
    }
    if (element >= flat->range.begin && element < flat->range.end)
      whole.at(toGlobal(local)) =
          shard[part * flat->size + element - flat->range.begin];
    if (++element == elements) {
      element = 0;
      ++part;
    }
  });
}

std::string proteus::interp::formatRanges(ArrayRef<dist::Range> ranges) {
  std::string text;
  for (const dist::Range &range : ranges)
    text += (text.empty() ? "[" : " and [") + std::to_string(range.begin) +
            ", " + std::to_string(range.end) + ")";
  return text;
}
