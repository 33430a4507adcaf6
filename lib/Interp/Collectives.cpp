//===- Collectives.cpp - collectives on tensors of ranks --------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Interp/Collectives.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace proteus;
using namespace proteus::interp;
using dist::Axis;
using llvm::ArrayRef;
using llvm::SmallVector;

RankGrid::RankGrid(const dist::Mesh &mesh,
                   ArrayRef<std::pair<Axis, int64_t>> fixed, int64_t micro) {
  sizes.push_back(mesh.micro);
  sizes.append(mesh.sizes.begin(), mesh.sizes.end());
  for (int64_t position = 0; position < mesh.getNumDevices(); ++position) {
    SmallVector<int64_t> all = {micro};
    all.append(mesh.getCoordinates(position));
    if (llvm::all_of(fixed, [&](std::pair<Axis, int64_t> entry) {
          return all[entry.first] == entry.second;
        }))
      coordinates.push_back(std::move(all));
  }
}

unsigned RankGrid::getPosition(unsigned rank, ArrayRef<Axis> axes) const {
  unsigned position = 0;
  for (Axis axis : axes)
    position = position * sizes[axis] + coordinates[rank][axis];
  return position;
}

SmallVector<unsigned> RankGrid::getGroup(unsigned rank,
                                         ArrayRef<Axis> axes) const {
  SmallVector<std::pair<unsigned, unsigned>> members;
  for (unsigned other = 0; other < size(); ++other) {
    bool same = true;
    for (Axis axis = 0; axis < sizes.size(); ++axis)
      same &= llvm::is_contained(axes, axis) ||
              coordinates[other][axis] == coordinates[rank][axis];
    if (same)
      members.push_back({getPosition(other, axes), other});
  }
  llvm::sort(members);
  return llvm::map_to_vector(
      members, [](auto member) -> unsigned { return member.second; });
}

static void reduceInto(Tensor &sum, const Tensor &part,
                       dist::ReductionKind kind) {
  assert(sum.getShape() == part.getShape() && "parts of one shape");
  for (int64_t i = 0; i < sum.size(); ++i)
    sum[i] = kind == dist::ReductionKind::Sum ? sum[i] + part[i]
                                              : std::max(sum[i], part[i]);
}

RankTensors proteus::interp::allReduce(const RankGrid &grid,
                                       const RankTensors &input,
                                       ArrayRef<Axis> axes,
                                       dist::ReductionKind kind) {
  RankTensors result;
  for (unsigned rank = 0; rank < grid.size(); ++rank) {
    SmallVector<unsigned> group = grid.getGroup(rank, axes);
    Tensor sum = input[group.front()];
    for (unsigned member : ArrayRef<unsigned>(group).drop_front())
      reduceInto(sum, input[member], kind);
    result.push_back(std::move(sum));
  }
  return result;
}

/// Returns the concatenation of the shards of a group along `dim`. If the
/// layout is a zigzag, a shard consists of two chunks. The result then consists
/// of the first chunks of all shards in ascending order of ranks, followed by
/// the second chunks in descending order.
static Tensor join(ArrayRef<const Tensor *> parts, unsigned dim, bool zigzag) {
  if (!zigzag)
    return Tensor::concat(parts, dim);
  RankTensors chunks;
  auto addHalf = [&](const Tensor &part, bool second) {
    int64_t half = part.getDim(dim) / 2;
    chunks.push_back(part.slice(dim, second ? half : 0, half));
  };
  for (const Tensor *part : parts)
    addHalf(*part, false);
  for (const Tensor *part : llvm::reverse(parts))
    addHalf(*part, true);
  return Tensor::concat(
      llvm::map_to_vector(chunks, [](const Tensor &chunk) { return &chunk; }),
      dim);
}

RankTensors proteus::interp::allGather(const RankGrid &grid,
                                       const RankTensors &input, unsigned dim,
                                       const dist::AxisList &axes) {
  RankTensors result;
  for (unsigned rank = 0; rank < grid.size(); ++rank) {
    SmallVector<const Tensor *> pieces;
    for (unsigned member : grid.getGroup(rank, axes))
      pieces.push_back(&input[member]);
    result.push_back(join(pieces, dim, axes.zigzag));
  }
  return result;
}

/// Returns shard `position` of `count` shards of `tensor` along `dim`. Shards
/// are contiguous: 4 shards of 10 rows have 3, 3, 2 and 2 rows. In a zigzag
/// there are 2 · `count` chunks, and shard i consists of chunks i and 2 ·
/// `count` - 1 - i.
static Tensor partOf(const Tensor &tensor, unsigned dim, unsigned position,
                     unsigned count, bool zigzag) {
  int64_t size = tensor.getDim(dim);
  if (zigzag) {
    int64_t chunk = size / (2 * count);
    Tensor low = tensor.slice(dim, position * chunk, chunk);
    Tensor high = tensor.slice(dim, size - (position + 1) * chunk, chunk);
    return Tensor::concat({&low, &high}, dim);
  }
  int64_t least = size / count, more = size % count;
  int64_t first = position * least + std::min<int64_t>(position, more);
  return tensor.slice(dim, first, least + (position < more ? 1 : 0));
}

RankTensors proteus::interp::sliceParts(const RankGrid &grid,
                                        const RankTensors &input, unsigned dim,
                                        const dist::AxisList &axes) {
  RankTensors result;
  for (unsigned rank = 0; rank < grid.size(); ++rank)
    result.push_back(partOf(input[rank], dim, grid.getPosition(rank, axes),
                            grid.getGroup(rank, axes).size(), axes.zigzag));
  return result;
}

/// Returns the number of lists of a flat cut of a block of shape `shape`, and
/// the number of elements of one list.
static std::pair<int64_t, int64_t> listsOf(ArrayRef<int64_t> shape,
                                           unsigned leading) {
  int64_t lists = 1, elements = 1;
  for (auto [dim, size] : llvm::enumerate(shape))
    (dim < leading ? lists : elements) *= size;
  return {lists, elements};
}

Tensor proteus::interp::flatPart(const Tensor &block, unsigned leading,
                                 int64_t begin, int64_t size) {
  auto [lists, elements] = listsOf(block.getShape(), leading);
  Shape shape(block.getShape());
  std::fill(shape.begin() + leading, shape.end(), 1);
  shape.back() = size;
  Tensor part(shape);
  for (int64_t list = 0; list < lists; ++list)
    for (int64_t i = 0; i < size && begin + i < elements; ++i)
      part[list * size + i] = block[list * elements + begin + i];
  return part;
}

RankTensors proteus::interp::sliceFlat(const RankGrid &grid,
                                       const RankTensors &input,
                                       ArrayRef<Axis> axes, unsigned leading,
                                       int64_t size) {
  RankTensors result;
  for (unsigned rank = 0; rank < grid.size(); ++rank)
    result.push_back(flatPart(input[rank], leading,
                              grid.getPosition(rank, axes) * size, size));
  return result;
}

RankTensors proteus::interp::gatherFlat(const RankGrid &grid,
                                        const RankTensors &input,
                                        ArrayRef<Axis> axes, unsigned leading,
                                        ArrayRef<Shape> shapes) {
  RankTensors result;
  for (unsigned rank = 0; rank < grid.size(); ++rank) {
    Shape shape = shapes[rank];
    std::copy_n(input[rank].getShape().begin(), leading, shape.begin());
    Tensor block(shape);
    auto [lists, elements] = listsOf(shape, leading);
    int64_t begin = 0;
    for (unsigned member : grid.getGroup(rank, axes)) {
      const Tensor &part = input[member];
      int64_t size = listsOf(part.getShape(), leading).second;
      for (int64_t list = 0; list < lists; ++list)
        for (int64_t i = 0; i < size && begin + i < elements; ++i)
          block[list * elements + begin + i] = part[list * size + i];
      begin += size;
    }
    result.push_back(std::move(block));
  }
  return result;
}

RankTensors proteus::interp::shiftParts(const RankGrid &grid,
                                        const RankTensors &input,
                                        ArrayRef<Axis> axes) {
  RankTensors result;
  for (unsigned rank = 0; rank < grid.size(); ++rank) {
    SmallVector<unsigned> group = grid.getGroup(rank, axes);
    size_t before = grid.getPosition(rank, axes) + group.size() - 1;
    result.push_back(input[group[before % group.size()]]);
  }
  return result;
}

RankTensors
proteus::interp::allToAll(const RankGrid &grid, const RankTensors &input,
                          unsigned fromDim, const dist::AxisList &fromAxes,
                          unsigned toDim, const dist::AxisList &toAxes) {
  RankTensors result;
  for (unsigned rank = 0; rank < grid.size(); ++rank) {
    SmallVector<unsigned> senders = grid.getGroup(rank, fromAxes);
    RankTensors received;
    for (unsigned sender : senders)
      received.push_back(partOf(input[sender], toDim,
                                grid.getPosition(rank, toAxes), senders.size(),
                                toAxes.zigzag));
    SmallVector<const Tensor *> pieces;
    for (const Tensor &piece : received)
      pieces.push_back(&piece);
    result.push_back(join(pieces, fromDim, fromAxes.zigzag));
  }
  return result;
}

/// Returns a key of the block that `rank` holds in `layout`. The key contains
/// the index of the shard for every dimension, and the index of the replica
/// along those of `axes` over which the layout is replicated.
static SmallVector<int64_t> identify(const RankGrid &grid, unsigned rank,
                                     ArrayRef<Axis> axes,
                                     const dist::Layout &layout) {
  SmallVector<int64_t> identity;
  for (const dist::AxisList &sharding : layout.dims)
    identity.push_back(grid.getPosition(rank, sharding));
  dist::AxisList replicas(llvm::make_filter_range(
      axes, [&](Axis axis) { return layout.isReplicated(axis); }));
  identity.push_back(grid.getPosition(rank, replicas));
  return identity;
}

RankTensors proteus::interp::permute(const RankGrid &grid,
                                     const RankTensors &input,
                                     ArrayRef<Axis> axes,
                                     const dist::Layout &from,
                                     const dist::Layout &to) {
  RankTensors result;
  for (unsigned rank = 0; rank < grid.size(); ++rank) {
    SmallVector<int64_t> wanted = identify(grid, rank, axes, to);
    SmallVector<unsigned> group = grid.getGroup(rank, axes);
    unsigned *source = llvm::find_if(group, [&](unsigned member) {
      return identify(grid, member, axes, from) == wanted;
    });
    assert(source != group.end() && "every block has a holder");
    result.push_back(input[*source]);
  }
  return result;
}

RankTensors proteus::interp::broadcast(const RankGrid &grid,
                                       const RankTensors &input,
                                       ArrayRef<Axis> axes,
                                       ArrayRef<int64_t> root) {
  RankTensors result;
  for (unsigned rank = 0; rank < grid.size(); ++rank) {
    SmallVector<unsigned> group = grid.getGroup(rank, axes);
    unsigned *source = llvm::find_if(group, [&](unsigned member) {
      return llvm::all_of(llvm::zip_equal(axes, root), [&](auto entry) {
        auto [axis, coordinate] = entry;
        return grid.getCoordinates(member)[axis] == coordinate;
      });
    });
    result.push_back(input[*source]);
  }
  return result;
}
