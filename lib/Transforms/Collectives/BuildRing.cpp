//===- BuildRing.cpp - steps of a ring, written out -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildRing.h"

#include "Proteus/Dialect/Dist/Layout.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Common/Partitioning.h"

using namespace mlir;
using namespace proteus;
using dist::AxisList;
using dist::LayoutAttr;
using nn::IterationSpaceOpInterface;

namespace {

/// Values of one operation that travel around the ring in one shift.
using Travellers = SmallVector<Value>;

class RingBuilder {
public:
  RingBuilder(OpBuilder &builder, nn::RingOpInterface op, dist::MeshAttr mesh,
              function_ref<LayoutAttr(LayoutAttr)> place)
      : builder(builder), op(op), mesh(mesh), place(place),
        part(Partitioning::fromAnnotation(
            cast<IterationSpaceOpInterface>(op.getOperation()),
            mesh.getValue())),
        ring(*part.getRing()) {}

  SmallVector<Value> run();

private:
  bool travels(const nn::TensorIterators &dims) const {
    return llvm::any_of(dims, [&](const nn::DimIterators &dim) {
      return llvm::is_contained(dim, ring);
    });
  }
  Travellers pass(ArrayRef<Value> values);
  Operation *compute(int64_t step, ValueRange operands, ValueRange soFar);
  Value add(int64_t step, Value lhs, Value rhs);
  int64_t numBlocks() const {
    return mesh.getValue().getSize(part.getAxes(ring));
  }

  OpBuilder &builder;
  nn::RingOpInterface op;
  dist::MeshAttr mesh;
  function_ref<LayoutAttr(LayoutAttr)> place;
  Partitioning part;
  unsigned ring;
};

} // namespace

/// Returns the dimension of `value` that `axes`, the axes of the ring, shard.
/// The parts of this dimension travel around the ring.
static unsigned ringDim(Value value, ArrayRef<dist::Axis> axes) {
  return *dist::getLayout(value.getType())
              .getValue()
              .getShardedDim(axes.front());
}

/// Builds one dist.shift that passes all `values` to the next device of the
/// ring. Returns the received values.
Travellers RingBuilder::pass(ArrayRef<Value> values) {
  const AxisList &axes = part.getAxes(ring);
  unsigned dim = ringDim(values.front(), axes);
  SmallVector<Type> types;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    dist::Layout layout = dist::getLayout(type).getValue();
    layout.dims[dim].shift = (layout.dims[dim].shift + 1) % numBlocks();
    types.push_back(dist::withLayout(type, LayoutAttr::get(mesh, layout)));
  }
  auto shift = dist::ShiftOp::create(
      builder, op.getLoc(), types, values, dim, dist::getAxisNames(mesh, axes),
      dist::PurposeAttr::get(builder.getContext(), dist::Purpose::Activation));
  return Travellers(shift.getOutputs());
}

Operation *RingBuilder::compute(int64_t step, ValueRange operands,
                                ValueRange soFar) {
  Operation *block = op.buildRingStep(builder, operands, soFar, numBlocks());
  block->setDiscardableAttr(kOpAttr, op->getAttr(kOpAttr));
  block->setDiscardableAttr(kRingStepAttr, builder.getI64IntegerAttr(step));
  Partitioning here = Partitioning::fromAnnotation(
      cast<IterationSpaceOpInterface>(block), mesh.getValue());
  for (OpResult result : block->getResults())
    result.setType(dist::withLayout(
        cast<RankedTensorType>(result.getType()),
        place(here.getResultLayout(result.getResultNumber(), mesh))));
  return block;
}

/// Builds the addition of `rhs`, the contribution of step number `step`, to
/// `lhs`, the sum of the preceding steps. Returns the new sum.
Value RingBuilder::add(int64_t step, Value lhs, Value rhs) {
  auto sum = nn::AddOp::create(
      builder, op.getLoc(), lhs.getType(),
      builder.getStringAttr(nn::getOwnPath(op.getOperation())), lhs, rhs);
  Partitioning here(cast<IterationSpaceOpInterface>(sum.getOperation()));
  const dist::Layout &layout = dist::getLayout(lhs.getType()).getValue();
  for (auto [dim, axes] : llvm::enumerate(layout.dims))
    here.setAxes(dim, axes);
  here.setRing(ringDim(lhs, part.getAxes(ring)));
  here.annotate(mesh.getValue());
  sum->setDiscardableAttr(kRingStepAttr, builder.getI64IntegerAttr(step));
  return sum;
}

SmallVector<Value> RingBuilder::run() {
  const nn::IterationSpace &space = part.getSpace();
  SmallVector<Value> operands(op->getOperands());
  SmallVector<unsigned> travelling;
  for (auto [i, dims] : llvm::enumerate(space.operands))
    if (travels(dims))
      travelling.push_back(i);

  SmallVector<Value> staying;
  Travellers home;
  int64_t blocks = numBlocks();
  for (int64_t step = 0; step < blocks; ++step) {
    // Insert the shifts before the kernels of the step, so that communication
    // and kernels overlap.
    Travellers next;
    if (step + 1 < blocks) {
      SmallVector<Value> current;
      for (unsigned i : travelling)
        current.push_back(operands[i]);
      next = pass(current);
    }
    if (!home.empty())
      home = pass(home);
    Operation *block = compute(step, operands, staying);
    staying.clear();
    unsigned number = 0;
    for (auto [result, dims] : llvm::zip(block->getResults(), space.results)) {
      if (!travels(dims)) {
        staying.push_back(result);
        continue;
      }
      if (step == 0)
        home.push_back(result);
      else
        home[number] = add(step, home[number], result);
      ++number;
    }
    for (auto [i, value] : llvm::zip(travelling, next))
      operands[i] = value;
  }
  if (!home.empty())
    home = pass(home);

  SmallVector<Value> results;
  auto stays = staying.begin(), returns = home.begin();
  for (const nn::TensorIterators &dims : space.results)
    results.push_back(travels(dims) ? *returns++ : *stays++);
  return results;
}

SmallVector<Value>
proteus::buildRing(OpBuilder &builder, nn::RingOpInterface op,
                   dist::MeshAttr mesh,
                   function_ref<LayoutAttr(LayoutAttr)> place) {
  return RingBuilder(builder, op, mesh, place).run();
}
