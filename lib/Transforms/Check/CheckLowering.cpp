//===- CheckLowering.cpp - execution before and after lowering --*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes a model with the interpreter (`Interp`) and compares the results by
// path. Before its lowering, the model is executed on whole tensors: once as it
// is, and once with small random errors in all numbers. After its lowering, it
// is executed on shards.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Interp/Interpreter.h"
#include "Proteus/Transforms/Check/Passes.h"
#include "Proteus/Transforms/Common/Annotations.h"
#include "Proteus/Transforms/Match/Passes.h"
#include "Proteus/Transforms/Pipelines.h"
#include "Proteus/Transforms/TrainingStep/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <limits>

namespace proteus {
#define GEN_PASS_DEF_CHECKLOWERING
#include "Proteus/Transforms/Check/Passes.h.inc"
} // namespace proteus

using namespace mlir;
using namespace proteus;
using interp::Shape;
using interp::Tensor;

/// A model is executed only up to these limits: the total number of points of
/// all its iteration spaces, and the number of ranks.
static constexpr double maxPoints = 1e8;
static constexpr int64_t maxRanks = 64;

/// Largest number of elements that all tensors of one execution may have
/// together. Each element takes 8 bytes, so this is 2 GiB.
static constexpr double maxElements = 1 << 28;

/// Largest relative difference at which the copies of a parameter on two stages
/// count as equal.
static constexpr double copyTolerance = 1e-9;

/// Largest relative error that the disturbed execution adds to a number, to
/// measure the size of terms that cancel (see `scaleOfTerms`). It is much
/// larger than rounding errors, so that these do not matter. It is much smaller
/// than 1, so that the error of a result is proportional to it.
static constexpr double noiseSize = 1e-11;

/// Terms that cancel may leave a tensor that is much smaller than its terms
/// (see `scaleOfTerms`). If it is smaller than this fraction of its terms, its
/// differences are relative to this fraction of the terms instead of to its own
/// size. The default tolerance of 1e-9 then permits differences of 1e-13 of the
/// terms, which is about a thousand rounding errors (2^-53 each).
static constexpr double keptOfTerms = 1e-4;

/// Largest absolute value of a random parameter. It is small so that
/// activations stay near one through many layers.
static constexpr double parameterScale = 0.3;

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

namespace {

/// An argument of the model before its lowering.
struct ModelArgument {
  std::string path;
  nn::Role role;
  Tensor value;
  /// Index of the first iteration of the repeat that slices the argument, or 0
  /// if there is no such repeat.
  int64_t first = 0;
};

/// The part of the model to which an argument or a result of a program
/// corresponds: an argument of the model, an optimizer state of such an
/// argument, or some layers of one of these.
struct Piece {
  const ModelArgument *whole = nullptr;
  /// Suffix of the path of the state, such as `.velocity`. Empty for the
  /// argument itself.
  std::string state;
  /// The layers `[from, to)` of a stack, counted from 0; nullopt for all of
  /// them.
  std::optional<std::pair<int64_t, int64_t>> range;
  /// True for a single layer, which has no leading dimension for layers.
  bool single = false;

  std::string key() const { return whole->path + state; }
};

/// The arguments of the model, with random values.
class Arguments {
public:
  LogicalResult collect(func::FuncOp model, uint64_t seed);
  /// Returns the part of the model to which `path`, the path of an argument of
  /// a training step or program, corresponds. Returns nullopt if there is none.
  std::optional<Piece> find(StringRef path) const;
  /// Returns the value with which `argument`, an argument of a training step or
  /// program, enters the execution. Emits an error and fails if `argument`
  /// corresponds to no part of the model.
  FailureOr<Tensor> valueOf(BlockArgument argument) const;
  const ModelArgument *lookup(StringRef path) const {
    auto found = byPath.find(path);
    return found == byPath.end() ? nullptr : &list[found->second];
  }

private:
  std::optional<Piece> findPiece(StringRef path) const;

  std::vector<ModelArgument> list;
  llvm::StringMap<size_t> byPath;
};

} // namespace

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
  Tensor value = piece->whole->value;
  if (piece->range)
    value = value.slice(0, piece->range->first,
                        piece->range->second - piece->range->first);
  if (piece->single)
    value = value.select(0);
  // A master copy starts with the value of its parameter. Other states start at
  // zero.
  if (getRole(argument) == nn::Role::State)
    value = Tensor(value.getShape());
  return value;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {
/// Collects the results of a step by name. A result that updates an argument
/// has the path of this argument in the model as its name, and the layers of a
/// stacked argument are joined into one tensor. Any other result has the name
/// `result <n>`, where n is its number in the model.
class StepResults {
public:
  explicit StepResults(const Arguments &arguments) : arguments(arguments) {}

  /// Adds the results of a function or of one program. Emits an error and fails
  /// if an update has another type than its argument or belongs to no part of
  /// the model, or if two stages return different copies of a parameter.
  LogicalResult add(FunctionOpInterface step, ArrayRef<Tensor> values);

  llvm::MapVector<StringRef, Tensor> tensors;

private:
  const Arguments &arguments;
  llvm::StringMap<char> names;
};
} // namespace

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
    if (!piece->range) {
      if (!isNew &&
          interp::largestDifference(whole, value).relative > copyTolerance)
        return step.emitOpError("holds a copy of '")
               << name << "' that differs from that of another stage";
      whole = value;
      continue;
    }
    Shape shape(whole.getShape()), offset(shape.size(), 0);
    shape[0] = piece->range->second - piece->range->first;
    offset[0] = piece->range->first;
    whole.insert(value.reshaped(shape), offset);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class CheckLowering : public proteus::impl::CheckLoweringBase<CheckLowering> {
public:
  using CheckLoweringBase::CheckLoweringBase;

  /// Registers the dialects of the pipeline that this pass runs.
  void getDependentDialects(DialectRegistry &registry) const override {
    CheckLoweringBase::getDependentDialects(registry);
    OpPassManager manager(ModuleOp::getOperationName());
    buildLowerStrategyPipeline(manager, LowerStrategyOptions());
    manager.getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  /// Returns the model of the tree that the option `strategy` selects, or null
  /// after an error.
  func::FuncOp findModel();
  LogicalResult executeWhole(func::FuncOp step, const Arguments &arguments,
                             StepResults &results, StepResults &disturbed);
  LogicalResult executeLowered(ModuleOp copy, const Arguments &arguments,
                               StepResults &results);
  LogicalResult compare(func::FuncOp model, StepResults &whole,
                        StepResults &disturbed, StepResults &lowered);
};
} // namespace

func::FuncOp CheckLowering::findModel() {
  ModuleOp module = getOperation();
  SmallVector<strategy::TreeOp> trees(module.getOps<strategy::TreeOp>());
  StringRef wanted = StringRef(strategy).ltrim('@');
  if (!wanted.empty())
    llvm::erase_if(trees, [&](strategy::TreeOp tree) {
      return tree.getSymName() != wanted;
    });
  if (trees.size() != 1) {
    InFlightDiagnostic diagnostic =
        emitError(module.getLoc(), "needs one strategy tree");
    if (!wanted.empty())
      diagnostic << ", but there is no @" << wanted;
    else
      diagnostic << ", but there are " << trees.size()
                 << "; choose with strategy=@name";
    return {};
  }
  auto model = module.lookupSymbol<func::FuncOp>(trees.front().getModel());
  if (model->hasAttr(kMeshAttr)) {
    model.emitOpError("has been matched with its tree already; run "
                      "check-lowering on the model as it was written");
    return {};
  }
  return model;
}

/// Returns the number of points of all iteration spaces in `op`, counting each
/// iteration of a repeat. For an operation that only moves data, such as a
/// concatenation, adds the number of elements of its results instead, because
/// its iteration space does not describe its work.
static double countPoints(Operation *op) {
  double points = 0;
  if (auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op)) {
    if (kernel.getFlopsPerPoint() > 0)
      return kernel.getIterationSpace().numPoints();
    for (Type type : op->getResultTypes())
      points += static_cast<double>(cast<ShapedType>(type).getNumElements());
    return points;
  }
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      points += countPoints(&inner);
  if (auto repeat = dyn_cast<nn::RepeatOp>(op))
    points *= repeat.getCount();
  return points;
}

/// Returns the largest number of elements that a rank holds of a tensor of type
/// `type`, or 0 if `type` is not a tensor type.
static double countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  SmallVector<int64_t> shape(tensor.getShape());
  if (dist::LayoutAttr layout = dist::getLayout(tensor))
    shape = dist::largestLocalShape(layout.getMesh().getValue(),
                                    layout.getValue(), shape);
  double elements = 1;
  for (int64_t size : shape)
    elements *= static_cast<double>(size);
  return elements;
}

/// Returns the largest number of elements that a rank holds of the arguments of
/// `block` and of all results of its operations. Counts the body of a repeat
/// once per iteration, and a section once per micro-batch if it runs so often.
static double countElements(Block &block) {
  double elements = 0;
  for (Type type : block.getArgumentTypes())
    elements += countElements(type);
  for (Operation &op : block) {
    for (Type type : op.getResultTypes())
      elements += countElements(type);
    double runs = 1;
    if (auto repeat = dyn_cast<nn::RepeatOp>(op))
      runs = static_cast<double>(repeat.getCount());
    else if (auto section = dyn_cast<dist::SectionOp>(op);
             section && !section.getOnce())
      runs = static_cast<double>(
          section->getParentOfType<dist::ProgramOp>().getMesh().getMicro());
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        elements += runs * countElements(inner);
  }
  return elements;
}

/// Fails if `elements`, the number of elements that an execution of `op` would
/// hold, is too large.
static LogicalResult checkElements(Operation *op, double elements) {
  if (elements <= maxElements)
    return success();
  return op->emitOpError("is too large to be executed: its tensors have ")
         << llvm::formatv("{0:e1}", elements).str() << " elements, at most "
         << llvm::formatv("{0:e1}", maxElements).str()
         << " are held; use smaller sizes of the same shape";
}

/// Fails if the step is too large to be executed on whole tensors.
static LogicalResult checkSize(func::FuncOp step) {
  double points = countPoints(step);
  if (points > maxPoints)
    return step.emitOpError("is too large to be executed: its step has ")
           << llvm::formatv("{0:e1}", points).str()
           << " multiplications and additions, at most "
           << llvm::formatv("{0:e1}", maxPoints).str()
           << " are executed; use smaller sizes of the same shape";
  return checkElements(step, countElements(step.front()));
}

/// Fails if the programs are too large to be executed on all ranks.
static LogicalResult checkSize(ArrayRef<dist::ProgramOp> programs) {
  dist::ProgramOp first = programs.front();
  int64_t ranks = first.getMesh().getNumDevices();
  if (ranks > maxRanks)
    return first.emitOpError("is for ")
           << ranks << " devices, at most " << maxRanks
           << " are executed; use a smaller mesh of the same axes";
  double elements = 0;
  for (dist::ProgramOp program : programs)
    elements += countElements(program.getBody().front());
  // Every program runs on an equal part of the ranks.
  elements *= static_cast<double>(ranks) / static_cast<double>(programs.size());
  return checkElements(first, elements);
}

/// Fails if a model that is not trained returns partial results, because then
/// no device has the output of the model. The interpreter adds up the parts of
/// such a result, so the comparison of values does not find this fault.
static LogicalResult checkResults(ArrayRef<dist::ProgramOp> programs) {
  for (dist::ProgramOp program : programs) {
    if (program->hasAttr(nn::kTrainingAttr))
      continue;
    Operation *terminator = program.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      if (dist::getLayout(operand.get().getType()).isPartial())
        return program.emitOpError("result ")
               << operand.getOperandNumber()
               << " is partial: " << operand.get().getType()
               << "; the lowering should have reduced it";
  }
  return success();
}

LogicalResult CheckLowering::executeWhole(func::FuncOp step,
                                          const Arguments &arguments,
                                          StepResults &results,
                                          StepResults &disturbed) {
  auto execute = [&](interp::Noise noise, StepResults &into) {
    LogicalResult known = success();
    auto values = interp::interpret(
        step,
        [&](BlockArgument argument) {
          FailureOr<Tensor> value = arguments.valueOf(argument);
          known = succeeded(known) && succeeded(value) ? success() : failure();
          return succeeded(value) ? *value : Tensor();
        },
        noise);
    if (failed(known) || failed(values))
      return failure();
    return into.add(step, *values);
  };
  return success(succeeded(execute({}, results)) &&
                 succeeded(execute({noiseSize, seed}, disturbed)));
}

LogicalResult CheckLowering::executeLowered(ModuleOp copy,
                                            const Arguments &arguments,
                                            StepResults &results) {
  OpPassManager manager(ModuleOp::getOperationName());
  LowerStrategyOptions options;
  options.strategy = strategy;
  options.cluster = cluster;
  buildLowerStrategyPipeline(manager, options);
  if (failed(runPipeline(manager, copy)))
    return failure();
  auto schedules = copy.getOps<dist::ScheduleOp>();
  if (schedules.empty())
    return emitError(copy.getLoc(), "lowering has left no schedule");
  dist::ScheduleOp schedule = *schedules.begin();
  SmallVector<dist::ProgramOp> programs;
  for (auto name : schedule.getPrograms().getAsRange<FlatSymbolRefAttr>())
    programs.push_back(copy.lookupSymbol<dist::ProgramOp>(name.getAttr()));
  if (failed(checkSize(programs)) || failed(checkResults(programs)))
    return failure();
  LogicalResult known = success();
  auto values = interp::interpret(schedule, [&](BlockArgument argument) {
    FailureOr<Tensor> value = arguments.valueOf(argument);
    known = succeeded(known) && succeeded(value) ? success() : failure();
    return succeeded(value)
               ? *value
               : Tensor(cast<RankedTensorType>(argument.getType()).getShape());
  });
  if (failed(known) || failed(values))
    return failure();
  for (auto [program, own] : llvm::zip_equal(programs, *values))
    if (failed(results.add(program, own)))
      return failure();
  return success();
}

/// Returns the kind of a tensor: the last component of its path. All tensors
/// with paths that end in `.weight`, for example, are of the same kind.
static StringRef kindOf(StringRef path) { return path.rsplit('.').second; }

/// Returns a lower bound for the scale by which the differences of a tensor are
/// divided. The scale is the largest value of the tensor, or this bound if the
/// largest value is smaller.
///
/// A tensor may be small because large terms cancel. It may even be zero by a
/// law of the model. For example, a batch normalisation subtracts any bias that
/// was added before it, so the gradient of this bias is zero. The elements of
/// such a tensor are rounding errors of the terms, which differ in every
/// execution. A mistake of the lowering is as large as the terms, so
/// differences are compared with the size of the terms. The disturbed
/// execution, in which numbers have relative errors of about `noiseSize`, shows
/// the size of the terms: a sum has an error of about `noiseSize` times its
/// terms.
///
/// The errors may also change a decision, such as the choice of an expert. The
/// difference from the disturbed execution then does not show the size of the
/// terms. The bound is therefore at most `largestOfKind`, the largest value of
/// all tensors of the same kind.
static double scaleOfTerms(const Tensor &expected, const Tensor &disturbed,
                           double largestOfKind) {
  double change = 0;
  for (int64_t i = 0; i < expected.size(); ++i)
    change = std::max(change, std::fabs(disturbed[i] - expected[i]));
  return std::min(keptOfTerms * change / noiseSize, largestOfKind);
}

LogicalResult CheckLowering::compare(func::FuncOp model, StepResults &whole,
                                     StepResults &disturbed,
                                     StepResults &lowered) {
  llvm::StringMap<double> largestOfKind;
  for (auto &[path, expected] : whole.tensors) {
    double &most = largestOfKind[kindOf(path)];
    most = std::max(most, interp::largestValue(expected));
  }
  int64_t count = 0;
  double largest = 0;
  bool equal = true;
  for (auto &[path, expected] : whole.tensors) {
    auto found = lowered.tensors.find(path);
    if (found == lowered.tensors.end()) {
      model.emitOpError("lowering loses '") << path << "'";
      equal = false;
      continue;
    }
    count += expected.size();
    interp::Difference difference = interp::largestDifference(
        expected, found->second,
        scaleOfTerms(expected, disturbed.tensors.find(path)->second,
                     largestOfKind[kindOf(path)]));
    if (difference.relative > tolerance) {
      Shape index =
          interp::delinearise(expected.getShape(), difference.position);
      model.emitOpError("lowering changes '")
          << path << "': at " << interp::formatIndex(index) << " it is "
          << llvm::formatv("{0:e9}", difference.second).str() << " instead of "
          << llvm::formatv("{0:e9}", difference.first).str()
          << llvm::formatv(" (relative difference {0:e2})", difference.relative)
                 .str();
      equal = false;
    }
    largest = std::max(largest, difference.relative);
  }
  for (auto &[path, value] : lowered.tensors)
    if (!whole.tensors.count(path)) {
      model.emitOpError("lowering invents '") << path << "'";
      equal = false;
    }
  if (!equal)
    return failure();
  model.emitRemark("lowering is right: ")
      << count << " values of " << whole.tensors.size()
      << " tensors agree, largest relative difference "
      << llvm::formatv("{0:e1}", largest).str();
  return success();
}

LogicalResult CheckLowering::run() {
  ModuleOp module = getOperation();
  func::FuncOp model = findModel();
  if (!model)
    return failure();
  Arguments arguments;
  // Each copy is nested in the module, because a pass may run a pipeline only
  // on operations inside the operation that it transforms. The copy is erased
  // after use.
  auto withCopy = [&](function_ref<LogicalResult(ModuleOp)> work) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto copy = cast<ModuleOp>(builder.clone(*module));
    // The lowering changes the numbers of arguments. Write out all paths,
    // because a default path `arg<k>` would change with the number k.
    auto function = copy.lookupSymbol<func::FuncOp>(model.getName());
    ArgumentAttrChanges paths;
    for (BlockArgument argument : function.getArguments())
      paths.set(argument, nn::kPathAttr,
                StringAttr::get(&getContext(), getArgumentPath(argument)));
    paths.apply(function);
    LogicalResult result = work(copy);
    copy.erase();
    return result;
  };
  StepResults whole(arguments), disturbed(arguments), lowered(arguments);
  if (failed(withCopy([&](ModuleOp copy) {
        OpPassManager manager(ModuleOp::getOperationName());
        manager.addNestedPass<func::FuncOp>(createBuildTrainingStep());
        if (failed(runPipeline(manager, copy)))
          return failure();
        auto step = copy.lookupSymbol<func::FuncOp>(model.getName());
        // Check that the values fit into memory before they are created.
        if (failed(checkSize(step)) || failed(arguments.collect(model, seed)))
          return failure();
        return executeWhole(step, arguments, whole, disturbed);
      })) ||
      failed(withCopy([&](ModuleOp copy) {
        return executeLowered(copy, arguments, lowered);
      })))
    return failure();
  markAllAnalysesPreserved();
  return compare(model, whole, disturbed, lowered);
}
