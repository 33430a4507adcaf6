//===- Move.cpp - moves of tensors between meshes -------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor is cut into cells at every boundary of either layout. Every cell
// that a device lacks is a demand, which all holders of the cell can serve
// together. For a given bound on the time of a link, the assignment of senders
// to demands is a flow from links to demands. Bisection finds the smallest
// bound for which the flow serves all demands.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Move.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace proteus::dist;
using llvm::ArrayRef;
using llvm::failure;
using llvm::FailureOr;
using llvm::SmallVector;

int64_t Region::getNumElements() const {
  int64_t elements = 1;
  for (int64_t size : sizes)
    elements *= size;
  return elements;
}

//===----------------------------------------------------------------------===//
// Holdings of devices
//===----------------------------------------------------------------------===//

/// By device, the ranges of indices that it holds of each dimension. With a
/// zigzag a device holds several boxes.
using Holdings = std::map<int64_t, SmallVector<Ranges>>;

/// Returns the devices at which a value of `layout` exists, with their ranges.
static Holdings holdingsOf(const Mesh &mesh, const Layout &layout,
                           ArrayRef<int64_t> shape) {
  Holdings holdings;
  for (int64_t position = 0; position < mesh.getNumDevices(); ++position) {
    SmallVector<int64_t> coordinates = {0};
    coordinates.append(mesh.getCoordinates(position));
    if (layout.isHeldAt(coordinates))
      holdings[mesh.getDevice(ArrayRef(coordinates).drop_front())] =
          localRanges(mesh, layout, shape, coordinates);
  }
  return holdings;
}

/// Returns true if `cell`, which no boundary cuts, is within the held ranges.
static bool contains(ArrayRef<Ranges> held, const Region &cell) {
  for (auto [ranges, begin, size] :
       llvm::zip_equal(held, cell.offset, cell.sizes)) {
    int64_t first = begin, end = begin + size;
    if (llvm::none_of(ranges, [&](const Range &range) {
          return range.begin <= first && end <= range.end;
        }))
      return false;
  }
  return true;
}

/// Returns the cells between all boundaries of all holdings.
static std::vector<Region> cellsOf(ArrayRef<int64_t> shape,
                                   ArrayRef<const Holdings *> layouts) {
  std::vector<Region> cells = {{}};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    SmallVector<int64_t> cuts = {0, shape[dim]};
    for (const Holdings *holdings : layouts)
      for (const auto &[device, held] : *holdings)
        for (const Range &range : held[dim])
          cuts.append({range.begin, range.end});
    llvm::sort(cuts);
    cuts.erase(llvm::unique(cuts), cuts.end());
    std::vector<Region> next;
    for (const Region &cell : cells)
      for (size_t i = 0; i + 1 < cuts.size(); ++i) {
        next.push_back(cell);
        next.back().offset.push_back(cuts[i]);
        next.back().sizes.push_back(cuts[i + 1] - cuts[i]);
      }
    cells = std::move(next);
  }
  return cells;
}

/// Calls `visit` with boxes that together are the elements `begin` to `end` of
/// `region` in row-major order.
static void forEachBox(const Region &region, int64_t begin, int64_t end,
                       llvm::function_ref<void(const Region &)> visit,
                       size_t dim = 0) {
  if (begin == end)
    return;
  if (dim == region.sizes.size() ||
      (begin == 0 && end == region.getNumElements()))
    return visit(region);
  int64_t row = region.getNumElements() / region.sizes[dim];
  auto rows = [&](int64_t first, int64_t count) {
    Region part = region;
    part.offset[dim] += first;
    part.sizes[dim] = count;
    return part;
  };
  // The elements are the end of a row, whole rows, and the start of a row.
  int64_t first = begin / row, last = end / row;
  if (first == last)
    return forEachBox(rows(first, 1), begin % row, end % row, visit, dim + 1);
  if (begin % row) {
    forEachBox(rows(first, 1), begin % row, row, visit, dim + 1);
    ++first;
  }
  if (first < last)
    visit(rows(first, last - first));
  if (end % row)
    forEachBox(rows(last, 1), 0, end % row, visit, dim + 1);
}

//===----------------------------------------------------------------------===//
// Sharing the load
//===----------------------------------------------------------------------===//

namespace {

/// A cell that a device lacks.
struct Demand {
  int64_t destination;
  size_t cell;
  int64_t elements;
  /// Links that can send the cell, those within the node first.
  SmallVector<size_t> links;
};

/// A sending link of a device, into its node or out of it.
struct SendingLink {
  int64_t device;
  int64_t timePerElement;
};

/// An assignment of demands to links of limited capacity, found by augmenting
/// paths.
class Sharing {
public:
  Sharing(ArrayRef<SendingLink> links, ArrayRef<Demand> demands)
      : links(links), demands(demands),
        sent(demands.size(), SmallVector<int64_t>(links.size(), 0)) {}

  /// Serves the demands and returns true if all are served by the time `bound`.
  bool serve(int64_t bound) {
    for (SmallVector<int64_t> &row : sent)
      std::fill(row.begin(), row.end(), 0);
    left.clear();
    for (const SendingLink &link : links)
      left.push_back(bound / link.timePerElement);
    for (size_t demand = 0; demand < demands.size(); ++demand) {
      int64_t missing = demands[demand].elements;
      while (missing > 0) {
        seen.assign(demands.size(), false);
        int64_t found = augment(demand, missing);
        if (found == 0)
          return false;
        missing -= found;
      }
    }
    return true;
  }

  /// Returns the number of elements of a demand that a link sends.
  int64_t getSent(size_t demand, size_t link) const {
    return sent[demand][link];
  }

private:
  /// Serves up to `wanted` elements of a demand and returns their number. If
  /// its links are full, moves elements of another demand to other links.
  int64_t augment(size_t demand, int64_t wanted) {
    if (seen[demand])
      return 0;
    seen[demand] = true;
    for (size_t link : demands[demand].links)
      if (int64_t amount = std::min(left[link], wanted)) {
        left[link] -= amount;
        sent[demand][link] += amount;
        return amount;
      }
    for (size_t link : demands[demand].links)
      for (size_t other = 0; other < demands.size(); ++other) {
        int64_t movable = std::min(sent[other][link], wanted);
        if (other == demand || movable == 0)
          continue;
        int64_t amount = augment(other, movable);
        if (amount == 0)
          continue;
        sent[other][link] -= amount;
        sent[demand][link] += amount;
        return amount;
      }
    return 0;
  }

  ArrayRef<SendingLink> links;
  ArrayRef<Demand> demands;
  std::vector<SmallVector<int64_t>> sent;
  std::vector<int64_t> left;
  std::vector<bool> seen;
};

} // namespace

static std::optional<std::string> checkLayout(const Layout &layout) {
  if (layout.isPartial())
    return "a partial value cannot move to another mesh; reduce it first";
  if (!layout.isReplicated(microAxis))
    return "a value that differs between micro-batches has no one place to "
           "move from or to";
  return std::nullopt;
}

FailureOr<Move> proteus::dist::planMove(const Mesh &fromMesh,
                                        const Layout &from, const Mesh &toMesh,
                                        const Layout &to,
                                        ArrayRef<int64_t> shape,
                                        const MoveLinks &costs,
                                        std::string &reason) {
  for (const Layout *layout : {&from, &to})
    if (std::optional<std::string> problem = checkLayout(*layout)) {
      reason = std::move(*problem);
      return failure();
    }
  Holdings held = holdingsOf(fromMesh, from, shape);
  Holdings needed = holdingsOf(toMesh, to, shape);
  std::vector<Region> cells = cellsOf(shape, {&held, &needed});

  // Each holder has two links: into its node and out of it.
  std::vector<SendingLink> links;
  for (const auto &[device, ranges] : held) {
    links.push_back({device, costs.inNode});
    links.push_back({device, costs.betweenNodes});
  }
  Move move;
  std::vector<Demand> demands;
  for (const auto &[destination, wanted] : needed) {
    auto own = held.find(destination);
    for (auto [cell, region] : llvm::enumerate(cells)) {
      if (region.getNumElements() == 0 || !contains(wanted, region))
        continue;
      if (own != held.end() && contains(own->second, region)) {
        move.pieces.push_back({destination, destination, region});
        continue;
      }
      Demand demand{destination, cell, region.getNumElements(), {}};
      for (bool sameNode : {true, false})
        for (auto [number, holder] : llvm::enumerate(held))
          if (contains(holder.second, region) &&
              (holder.first / costs.devicesPerNode ==
               destination / costs.devicesPerNode) == sameNode)
            demand.links.push_back(2 * number + (sameNode ? 0 : 1));
      demands.push_back(std::move(demand));
    }
  }

  Sharing sharing(links, demands);
  int64_t low = 0, high = 0;
  for (const Demand &demand : demands)
    high += demand.elements * std::max(costs.inNode, costs.betweenNodes);
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (sharing.serve(middle))
      high = middle;
    else
      low = middle + 1;
  }
  sharing.serve(low);
  move.time = low;
  for (auto [number, demand] : llvm::enumerate(demands)) {
    int64_t begin = 0;
    for (size_t link : demand.links) {
      int64_t end = begin + sharing.getSent(number, link);
      forEachBox(cells[demand.cell], begin, end,
                 [&, &demand = demand](const Region &region) {
                   move.pieces.push_back(
                       {links[link].device, demand.destination, region});
                 });
      begin = end;
    }
  }
  llvm::sort(move.pieces, [](const MovePiece &a, const MovePiece &b) {
    return std::tie(a.destination, a.region.offset) <
           std::tie(b.destination, b.region.offset);
  });
  return move;
}
