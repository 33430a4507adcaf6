//===- ModelValues.cpp - values of a model by path --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelValues.h"

#include "Proteus/Transforms/Common/Annotations.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace proteus;
using interp::Shape;
using interp::Tensor;

/// Largest relative difference at which the copies of a parameter on two stages
/// count as equal.
static constexpr double copyTolerance = 1e-9;

/// Largest absolute value of a random parameter. It is small so that
/// activations stay near one through many layers.
static constexpr double parameterScale = 0.3;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Tensor Piece::cut() const {
  Tensor value = whole->value;
  if (range)
    value = value.slice(0, range->first, range->second - range->first);
  return single ? value.select(0) : value;
}

void Piece::paste(const Tensor &part, Tensor &tensor) const {
  if (!range) {
    tensor = part;
    return;
  }
  Shape shape(tensor.getShape()), offset(shape.size(), 0);
  shape[0] = range->second - range->first;
  offset[0] = range->first;
  tensor.insert(part.reshaped(shape), offset);
}

/// Returns the number of valid values of the integer input `value`. Readers use
/// these values as indices of table rows or classes, so this is the smallest
/// number of rows or classes of any reader. Returns the largest int64_t if
/// there is no such reader.
static int64_t numChoices(Value value) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    auto sizeOf = [](Value table, int64_t dim) {
      auto type = cast<RankedTensorType>(table.getType());
      return type.getDimSize(dim < 0 ? type.getRank() + dim : dim);
    };
    if (auto embedding = dyn_cast<nn::EmbeddingOp>(op))
      least = std::min(least, sizeOf(embedding.getTable(), 0));
    else if (auto bag = dyn_cast<nn::EmbeddingBagOp>(op))
      least = std::min(least, sizeOf(bag.getTable(), -2));
    else if (auto loss = dyn_cast<nn::CrossEntropyOp>(op))
      least = std::min(least, sizeOf(loss.getLogits(), -1));
    else if (auto reshape = dyn_cast<nn::ReshapeOp>(op))
      least = std::min(least, numChoices(reshape.getResult()));
    else if (auto repeat = dyn_cast<nn::RepeatOp>(op))
      least = std::min(least, numChoices(repeat.getBody().getArgument(
                                  use.getOperandNumber())));
  }
  return least;
}

/// Returns a random tensor for an input or parameter, and zeros for a state.
/// The random numbers depend only on the path and the seed.
static Tensor randomTensor(BlockArgument argument, StringRef path,
                           nn::Role role, uint64_t seed) {
  auto type = cast<RankedTensorType>(argument.getType());
  Tensor tensor(type.getShape());
  if (nn::isState(role))
    return tensor;
  uint64_t stream = seed ^ llvm::xxh3_64bits(path);
  bool integer = !isa<FloatType>(type.getElementType());
  int64_t choices = integer ? numChoices(argument) : 0;
  if (choices == std::numeric_limits<int64_t>::max())
    choices = 2;
  double scale = role == nn::Role::Parameter ? parameterScale : 1.0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double uniform = interp::randomAt(stream, i);
    tensor[i] =
        integer ? std::floor(uniform * choices) : scale * (2 * uniform - 1);
  }
  return tensor;
}

LogicalResult Arguments::collect(func::FuncOp model, uint64_t seed) {
  for (BlockArgument argument : model.getArguments()) {
    std::optional<nn::Role> role = getRole(argument);
    if (!role)
      return model.emitOpError("argument ")
             << argument.getArgNumber() << " has no role; add nn.role = "
             << "\"input\", \"parameter\" or \"state\"";
    ModelArgument entry;
    entry.path = getArgumentPath(argument);
    entry.role = *role;
    entry.value = randomTensor(argument, entry.path, *role, seed);
    for (OpOperand &use : argument.getUses())
      if (auto repeat = dyn_cast<nn::RepeatOp>(use.getOwner()))
        if (use.getOperandNumber() >= repeat.getNumCarried())
          entry.first = repeat.getFirst();
    if (!byPath.try_emplace(entry.path, list.size()).second)
      return model.emitOpError("two arguments have the path '")
             << entry.path << "'; values are matched by path";
    list.push_back(std::move(entry));
  }
  return success();
}

/// Parses an index such as `3`, or a range such as `0:12`. Returns the range,
/// which is [3, 4) for the index 3, or nullopt if `text` is neither. Sets
/// `single` to true for an index and to false for a range.
static std::optional<std::pair<int64_t, int64_t>> parseRange(StringRef text,
                                                             bool &single) {
  auto [begin, end] = text.split(':');
  int64_t from, to;
  if (begin.getAsInteger(10, from))
    return std::nullopt;
  single = !text.contains(':');
  if (single)
    return std::make_pair(from, from + 1);
  if (end.getAsInteger(10, to))
    return std::nullopt;
  return std::make_pair(from, to);
}

/// Returns the argument of the model with the path `path`, or some layers of a
/// stacked argument. For example, `layers[0:2].w` names two layers of
/// `layers[*].w`, and `w[0:2]` names two layers of `w`.
std::optional<Piece> Arguments::findPiece(StringRef path) const {
  if (const ModelArgument *whole = lookup(path))
    return Piece{whole, "", std::nullopt, false};
  for (size_t open = path.find('['); open != StringRef::npos;
       open = path.find('[', open + 1)) {
    size_t close = path.find(']', open);
    if (close == StringRef::npos)
      break;
    Piece piece;
    piece.range = parseRange(path.slice(open + 1, close), piece.single);
    if (!piece.range)
      continue;
    StringRef before = path.take_front(open),
              after = path.drop_front(close + 1);
    for (const ModelArgument &candidate : list) {
      StringRef middle = candidate.path;
      bool matches = middle.consume_front(before) &&
                     middle.consume_back(after) &&
                     (middle.empty() ||
                      (middle.consume_front("[") && middle.consume_back("]") &&
                       !middle.contains('[')));
      // An argument such as `layers[0].w` is one layer, so the path cannot name
      // some of its layers.
      bool single = !middle.empty() && llvm::all_of(middle, llvm::isDigit);
      if (!matches || single || candidate.value.getRank() == 0)
        continue;
      piece.whole = &candidate;
      piece.range->first -= candidate.first;
      piece.range->second -= candidate.first;
      if (piece.range->first >= 0 &&
          piece.range->second <= candidate.value.getDim(0))
        return piece;
    }
  }
  return std::nullopt;
}

std::optional<Piece> Arguments::find(StringRef path) const {
  if (std::optional<Piece> piece = findPiece(path))
    return piece;
  // The path of a state consists of the path of its parameter, a dot and the
  // name of the state.
  auto [owner, name] = path.rsplit('.');
  std::optional<Piece> piece = findPiece(owner);
  if (piece)
    piece->state = ("." + name).str();
  return piece;
}

FailureOr<Tensor> Arguments::valueOf(BlockArgument argument) const {
  std::string path = getArgumentPath(argument);
  std::optional<Piece> piece = find(path);
  if (!piece)
    return emitError(argument.getLoc(), "argument '")
           << path
           << "' is neither an argument of the model nor a part or state of "
              "one";
  Tensor value = piece->cut();
  // A master copy starts with the value of its parameter. Other states start at
  // zero.
  if (getRole(argument) == nn::Role::State)
    value = Tensor(value.getShape());
  return value;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

LogicalResult StepResults::add(FunctionOpInterface step,
                               ArrayRef<Tensor> values) {
  for (auto [number, value] : llvm::enumerate(values)) {
    auto updates =
        step.getResultAttrOfType<IntegerAttr>(number, nn::kUpdatesAttr);
    if (!updates) {
      auto original =
          step.getResultAttrOfType<IntegerAttr>(number, nn::kResultAttr);
      std::string name =
          "result " + std::to_string(original ? original.getInt()
                                              : static_cast<int64_t>(number));
      tensors.insert({names.try_emplace(name).first->first(), value});
      continue;
    }
    BlockArgument argument = step.getArgument(updates.getInt());
    // The result replaces this argument in the next step, so the types must be
    // equal.
    if (step.getResultTypes()[number] != argument.getType())
      return step.emitOpError("result ")
             << number << " is " << step.getResultTypes()[number]
             << " and replaces '" << getArgumentPath(argument) << "', which is "
             << argument.getType();
    std::optional<Piece> piece = arguments.find(getArgumentPath(argument));
    if (!piece)
      return step.emitOpError("result ")
             << number << " replaces '" << getArgumentPath(argument)
             << "', which is neither an argument of the model nor a part or "
                "state of one";
    StringRef name = names.try_emplace(piece->key()).first->first();
    auto [entry, isNew] = tensors.insert(
        {name, Tensor(piece->whole->value.getShape(),
                      std::numeric_limits<double>::quiet_NaN())});
    Tensor &whole = entry->second;
    if (!piece->range && !isNew &&
        interp::largestDifference(whole, value).relative > copyTolerance)
      return step.emitOpError("holds a copy of '")
             << name << "' that differs from that of another stage";
    piece->paste(value, whole);
  }
  return success();
}
