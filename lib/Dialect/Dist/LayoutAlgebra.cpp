//===- LayoutAlgebra.cpp - meshes, layouts and parts ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <tuple>

using namespace proteus::dist;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

std::optional<Axis> Mesh::find(StringRef name) const {
  if (name == microAxisName)
    return microAxis;
  for (auto [index, candidate] : llvm::enumerate(names))
    if (candidate == name)
      return index + 1;
  return std::nullopt;
}

StringRef Mesh::getName(Axis axis) const {
  return axis == microAxis ? StringRef(microAxisName)
                           : StringRef(names[axis - 1]);
}

int64_t Mesh::getSize(ArrayRef<Axis> axes) const {
  int64_t product = 1;
  for (Axis axis : axes)
    product *= getSize(axis);
  return product;
}

int64_t Mesh::getNumDevices() const {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

int64_t Mesh::getPosition(ArrayRef<int64_t> coordinates) const {
  assert(coordinates.size() == sizes.size() && "one coordinate per axis");
  int64_t position = 0;
  for (auto [coordinate, size] : llvm::zip_equal(coordinates, sizes))
    position = position * size + coordinate;
  return position;
}

int64_t Mesh::getDevice(ArrayRef<int64_t> coordinates) const {
  int64_t position = getPosition(coordinates);
  return devices.empty() ? position : devices[position];
}

SmallVector<int64_t> Mesh::getCoordinates(int64_t position) const {
  SmallVector<int64_t> coordinates(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    coordinates[i] = position % sizes[i];
    position /= sizes[i];
  }
  return coordinates;
}

std::string Mesh::format(ArrayRef<Axis> axes) const {
  return "{" +
         llvm::join(
             llvm::map_range(axes, [&](Axis axis) { return getName(axis); }),
             ", ") +
         "}";
}

void Mesh::normalise() {
  for (auto [position, device] : llvm::enumerate(devices))
    if (device != static_cast<int64_t>(position))
      return;
  if (static_cast<int64_t>(devices.size()) == getNumDevices())
    devices.clear();
}

static bool isIdentifier(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static std::optional<std::string> checkDevices(const Mesh &mesh) {
  if (mesh.devices.empty())
    return std::nullopt;
  if (static_cast<int64_t>(mesh.devices.size()) != mesh.getNumDevices())
    return ("mesh of " + Twine(mesh.getNumDevices()) + " positions lists " +
            Twine(mesh.devices.size()) + " devices")
        .str();
  llvm::SmallSet<int64_t, 16> seen;
  for (int64_t device : mesh.devices) {
    if (device < 0)
      return ("device id " + Twine(device) + " is negative").str();
    if (!seen.insert(device).second)
      return ("device " + Twine(device) + " is listed twice").str();
  }
  return std::nullopt;
}

std::optional<std::string> Mesh::check() const {
  llvm::SmallSet<StringRef, 4> seen;
  int64_t count = 1;
  for (auto [name, size] : llvm::zip_equal(names, sizes)) {
    if (!isIdentifier(name))
      return "axis name '" + name + "' is not an identifier";
    if (name == microAxisName)
      return "axis name 'micro' is reserved for the micro-batches";
    if (!seen.insert(name).second)
      return "axis '" + name + "' is declared twice";
    if (size < 1)
      return ("axis '" + Twine(name) + "' has size " + Twine(size) +
              ", expected a positive size")
          .str();
    if (size > maxMeshDevices / count)
      return ("mesh has more than " + Twine(maxMeshDevices) + " devices").str();
    count *= size;
  }
  if (micro < 1)
    return ("mesh has " + Twine(micro) +
            " micro-batches, expected a positive number")
        .str();
  if (micro > maxMicroBatches)
    return ("mesh has " + Twine(micro) + " micro-batches, expected at most " +
            Twine(maxMicroBatches))
        .str();
  return checkDevices(*this);
}

bool Mesh::operator==(const Mesh &other) const {
  return std::tie(names, sizes, micro, devices) ==
         std::tie(other.names, other.sizes, other.micro, other.devices);
}

llvm::hash_code proteus::dist::hash_value(const Mesh &mesh) {
  return llvm::hash_combine(
      llvm::hash_combine_range(mesh.names.begin(), mesh.names.end()),
      llvm::hash_combine_range(mesh.sizes.begin(), mesh.sizes.end()),
      mesh.micro,
      llvm::hash_combine_range(mesh.devices.begin(), mesh.devices.end()));
}

//===----------------------------------------------------------------------===//
// Parts of a dimension
//===----------------------------------------------------------------------===//

int64_t proteus::dist::partSize(int64_t size, int64_t count, int64_t index) {
  return size / count + (index < size % count ? 1 : 0);
}

int64_t proteus::dist::partOffset(int64_t size, int64_t count, int64_t index) {
  return index * (size / count) + std::min(index, size % count);
}

Ranges proteus::dist::partRanges(int64_t size, int64_t count, int64_t index,
                                 bool zigzag) {
  auto chunk = [&](int64_t of, int64_t number) {
    int64_t begin = partOffset(size, of, number);
    return Range{begin, begin + partSize(size, of, number)};
  };
  if (!zigzag)
    return {chunk(count, index)};
  assert(size % (2 * count) == 0 && "chunks of equal size");
  Range low = chunk(2 * count, index);
  Range high = chunk(2 * count, 2 * count - 1 - index);
  // The two chunks of the last part are adjacent and form one range.
  if (low.end == high.begin)
    return {{low.begin, high.end}};
  return {low, high};
}

bool proteus::dist::partsRegroup(int64_t size, int64_t outer, int64_t inner) {
  if (outer == 1 || inner == 1)
    return true;
  // The parts nest if each run of `inner` smaller parts has the size of a
  // larger part. For example, 10 elements in two parts are 5 and 5, but the
  // four parts 3, 3, 2, 2 form runs of 6 and 4, so they do not nest. The parts
  // nest if and only if `size` modulo the number of smaller parts is 0, 1, or
  // one less than this number.
  int64_t remainder = size % (outer * inner);
  return remainder <= 1 || remainder == outer * inner - 1;
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

bool Layout::isPartial() const {
  return llvm::any_of(partial,
                      [](const AxisList &axes) { return !axes.empty(); });
}

std::optional<ReductionKind> Layout::getPartialKind(Axis axis) const {
  for (auto [kind, axes] : llvm::enumerate(partial))
    if (llvm::is_contained(axes, axis))
      return static_cast<ReductionKind>(kind);
  return std::nullopt;
}

std::optional<unsigned> Layout::getShardedDim(Axis axis) const {
  for (unsigned dim = 0; dim <= dims.size(); ++dim)
    if (llvm::is_contained(getAxes(dim), axis))
      return dim;
  return std::nullopt;
}

std::optional<int64_t> Layout::getFixedCoordinate(Axis axis) const {
  for (auto [fixedAxis, coordinate] : fixed)
    if (fixedAxis == axis)
      return coordinate;
  return std::nullopt;
}

bool Layout::isHeldAt(ArrayRef<int64_t> coordinates) const {
  return llvm::all_of(fixed, [&](const std::pair<Axis, int64_t> &entry) {
    return coordinates[entry.first] == entry.second;
  });
}

bool Layout::isReplicated(Axis axis) const {
  return !getShardedDim(axis) && !getPartialKind(axis) &&
         !getFixedCoordinate(axis);
}

void Layout::normalise() {
  for (AxisList &axes : dims)
    if (axes.empty())
      axes = AxisList();
  if (flat.empty())
    flat = FlatCut();
  for (AxisList &axes : partial)
    llvm::sort(axes);
  llvm::sort(fixed);
}

Layout Layout::withLeading() const {
  Layout result = *this;
  result.dims.insert(result.dims.begin(), AxisList());
  result.flat.leading += !flat.empty();
  return result;
}

Layout Layout::withoutLeading() const {
  assert(dims.front().empty() && "a stack is not sharded");
  assert((flat.empty() || flat.leading > 0) && "every layer is cut by itself");
  Layout result = *this;
  result.dims.erase(result.dims.begin());
  result.flat.leading -= !flat.empty();
  return result;
}

std::optional<std::string> Layout::check(const Mesh &mesh) const {
  SmallVector<bool> used(mesh.getNumAxes());
  auto use = [&](Axis axis) -> std::optional<std::string> {
    if (axis >= mesh.getNumAxes())
      return ("axis number " + Twine(axis) + " is outside a mesh of " +
              Twine(mesh.getNumAxes() - 1) + " device axes")
          .str();
    if (used[axis])
      return ("axis '" + mesh.getName(axis) + "' is used twice").str();
    used[axis] = true;
    return std::nullopt;
  };
  for (const AxisList &axes : dims) {
    for (Axis axis : axes)
      if (auto problem = use(axis))
        return problem;
    if (axes.shift < 0 || axes.shift >= mesh.getSize(axes))
      return ("shift " + Twine(axes.shift) + " is not within the " +
              Twine(mesh.getSize(axes)) + " parts over " + mesh.format(axes))
          .str();
  }
  for (Axis axis : flat.axes) {
    if (auto problem = use(axis))
      return problem;
    if (axis == microAxis)
      return "the time axis 'micro' cannot belong to a flat cut";
  }
  if (flat.granule < 1)
    return ("granule " + Twine(flat.granule) +
            " of a flat cut, expected a positive number")
        .str();
  if (!flat.empty() && flat.leading >= dims.size())
    return ("a flat cut leaves " + Twine(flat.leading) +
            " leading dimensions whole, but the tensor has " +
            Twine(dims.size()))
        .str();
  for (const AxisList &axes : partial)
    for (Axis axis : axes)
      if (auto problem = use(axis))
        return problem;
  for (auto [axis, coordinate] : fixed) {
    if (auto problem = use(axis))
      return problem;
    if (axis == microAxis)
      return "the time axis 'micro' cannot be fixed at a coordinate";
    if (coordinate < 0 || coordinate >= mesh.getSize(axis))
      return ("coordinate " + Twine(coordinate) + " is outside axis '" +
              mesh.getName(axis) + "' of size " + Twine(mesh.getSize(axis)))
          .str();
  }
  return std::nullopt;
}

std::optional<std::string> Layout::checkShape(const Mesh &mesh,
                                              ArrayRef<int64_t> shape) const {
  if (shape.size() != dims.size())
    return ("layout has " + Twine(dims.size()) +
            " dimensions, the tensor has " + Twine(shape.size()))
        .str();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size < 0)
      return ("dimension " + Twine(dim) +
              " is dynamic, a layout needs a static shape")
          .str();
    int64_t parts = numParts(mesh, *this, dim);
    if (parts > std::max<int64_t>(size, 1))
      return ("dimension " + Twine(dim) + " of size " + Twine(size) +
              " cannot be cut into " + Twine(parts) + " parts by axes " +
              mesh.format(dims[dim]))
          .str();
    if (dims[dim].zigzag && size % (2 * parts) != 0)
      return ("dimension " + Twine(dim) + " of size " + Twine(size) +
              " cannot be cut into the " + Twine(2 * parts) +
              " equal chunks of a zigzag over " + mesh.format(dims[dim]))
          .str();
  }
  return std::nullopt;
}

bool Layout::operator==(const Layout &other) const {
  return std::tie(dims, flat, partial, fixed, onHost) ==
         std::tie(other.dims, other.flat, other.partial, other.fixed,
                  other.onHost);
}

bool Layout::operator<(const Layout &other) const {
  return std::tie(dims, flat, partial, fixed, onHost) <
         std::tie(other.dims, other.flat, other.partial, other.fixed,
                  other.onHost);
}

llvm::hash_code proteus::dist::hash_value(const Layout &layout) {
  llvm::hash_code hash(layout.dims.size());
  for (const AxisList &axes : layout.dims)
    hash =
        llvm::hash_combine(hash, ArrayRef<Axis>(axes), axes.zigzag, axes.shift);
  hash = llvm::hash_combine(hash, ArrayRef<Axis>(layout.flat.axes),
                            layout.flat.leading, layout.flat.granule);
  for (const AxisList &axes : layout.partial)
    hash = llvm::hash_combine(hash, ArrayRef<Axis>(axes));
  for (auto [axis, coordinate] : layout.fixed)
    hash = llvm::hash_combine(hash, axis, coordinate);
  return llvm::hash_combine(hash, layout.onHost);
}

int64_t proteus::dist::numParts(const Mesh &mesh, const Layout &layout,
                                unsigned dim) {
  return mesh.getSize(layout.dims[dim]);
}

int64_t proteus::dist::partIndex(const Mesh &mesh, const Layout &layout,
                                 unsigned dim, ArrayRef<int64_t> coordinates) {
  int64_t index = 0;
  for (Axis axis : layout.dims[dim])
    index = index * mesh.getSize(axis) + coordinates[axis];
  int64_t count = numParts(mesh, layout, dim);
  return (index + count - layout.dims[dim].shift) % count;
}

/// Returns the shape of the block that the dimensions leave to the rank at
/// `coordinates`, without the flat cut.
static SmallVector<int64_t> blockShape(const Mesh &mesh, const Layout &layout,
                                       ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> coordinates) {
  assert(coordinates.size() == mesh.getNumAxes() &&
         "one coordinate per axis, micro first");
  SmallVector<int64_t> block;
  for (auto [dim, size] : llvm::enumerate(shape))
    block.push_back(partSize(size, numParts(mesh, layout, dim),
                             partIndex(mesh, layout, dim, coordinates)));
  return block;
}

/// Returns the shape of the largest block that the dimensions leave to a rank.
static SmallVector<int64_t> largestBlockShape(const Mesh &mesh,
                                              const Layout &layout,
                                              ArrayRef<int64_t> shape) {
  SmallVector<int64_t> largest;
  for (auto [dim, size] : llvm::enumerate(shape))
    largest.push_back(partSize(size, numParts(mesh, layout, dim), 0));
  return largest;
}

/// Returns the number of elements of a block after `leading` dimensions.
static int64_t sizeAfter(ArrayRef<int64_t> block, unsigned leading) {
  int64_t elements = 1;
  for (int64_t size : block.drop_front(leading))
    elements *= size;
  return elements;
}

/// Returns the shape of a shard: `block`, or a part of it if there is a flat
/// cut.
static SmallVector<int64_t> cutFlat(const Mesh &mesh, const Layout &layout,
                                    ArrayRef<int64_t> shape,
                                    SmallVector<int64_t> block) {
  if (layout.flat.empty())
    return block;
  std::fill(block.begin() + layout.flat.leading, block.end(), 1);
  block.back() = flatPartSize(mesh, layout, shape);
  return block;
}

int64_t proteus::dist::flatPartSize(const Mesh &mesh, const Layout &layout,
                                    ArrayRef<int64_t> shape) {
  // Uneven dimensions leave blocks of different sizes. The largest one
  // determines the size of all parts.
  int64_t elements =
      sizeAfter(largestBlockShape(mesh, layout, shape), layout.flat.leading);
  int64_t granule = layout.flat.granule;
  int64_t granules = elements / granule + (elements % granule != 0);
  int64_t parts = mesh.getSize(layout.flat.axes);
  return (granules / parts + (granules % parts != 0)) * granule;
}

Range proteus::dist::flatRange(const Mesh &mesh, const Layout &layout,
                               ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> coordinates) {
  int64_t index = 0;
  for (Axis axis : layout.flat.axes)
    index = index * mesh.getSize(axis) + coordinates[axis];
  int64_t size = flatPartSize(mesh, layout, shape);
  int64_t elements = sizeAfter(blockShape(mesh, layout, shape, coordinates),
                               layout.flat.leading);
  int64_t begin = std::min(index * size, elements);
  return {begin, std::min(begin + size, elements)};
}

SmallVector<int64_t> proteus::dist::localShape(const Mesh &mesh,
                                               const Layout &layout,
                                               ArrayRef<int64_t> shape,
                                               ArrayRef<int64_t> coordinates) {
  return cutFlat(mesh, layout, shape,
                 blockShape(mesh, layout, shape, coordinates));
}

SmallVector<Ranges> proteus::dist::localRanges(const Mesh &mesh,
                                               const Layout &layout,
                                               ArrayRef<int64_t> shape,
                                               ArrayRef<int64_t> coordinates) {
  assert(coordinates.size() == mesh.getNumAxes() &&
         "one coordinate per axis, micro first");
  SmallVector<Ranges> ranges;
  for (auto [dim, size] : llvm::enumerate(shape))
    ranges.push_back(partRanges(size, numParts(mesh, layout, dim),
                                partIndex(mesh, layout, dim, coordinates),
                                layout.dims[dim].zigzag));
  return ranges;
}

SmallVector<int64_t> proteus::dist::localOffset(const Mesh &mesh,
                                                const Layout &layout,
                                                ArrayRef<int64_t> shape,
                                                ArrayRef<int64_t> coordinates) {
  SmallVector<int64_t> offset;
  for (const Ranges &ranges : localRanges(mesh, layout, shape, coordinates))
    offset.push_back(ranges.front().begin);
  return offset;
}

SmallVector<int64_t> proteus::dist::largestLocalShape(const Mesh &mesh,
                                                      const Layout &layout,
                                                      ArrayRef<int64_t> shape) {
  return cutFlat(mesh, layout, shape, largestBlockShape(mesh, layout, shape));
}
