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
// is executed on shards. All these executions share the differentiation, so
// `GradientCheck` compares the gradients with derivatives of the model itself.
//
//===----------------------------------------------------------------------===//

#include "GradientCheck.h"
#include "ModelValues.h"
#include "TermScale.h"

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
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

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
                             StepResults &results, StepResults &disturbed,
                             StepGradients &gradients);
  LogicalResult executeLowered(ModuleOp copy, const Arguments &arguments,
                               StepResults &results);
  /// Compares the results of the executions, and returns the text of a remark
  /// about them.
  FailureOr<std::string> compare(func::FuncOp model, StepResults &whole,
                                 StepResults &disturbed, StepResults &lowered);
  /// Checks the gradients of the step, and returns the text that the remark
  /// adds about them.
  FailureOr<std::string> checkGradients(func::FuncOp model,
                                        const StepGradients &gradients);
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
                                          StepResults &disturbed,
                                          StepGradients &gradients) {
  auto execute = [&](interp::Noise noise,
                     StepResults &into) -> FailureOr<std::vector<Tensor>> {
    LogicalResult known = success();
    auto values = interp::interpret(
        step,
        [&](BlockArgument argument) {
          FailureOr<Tensor> value = arguments.valueOf(argument);
          known = succeeded(known) && succeeded(value) ? success() : failure();
          return succeeded(value) ? *value : Tensor();
        },
        noise);
    if (failed(known) || failed(values) ||
        failed(into.add(step, gradients.dropGradients(*values))))
      return failure();
    return values;
  };
  auto exact = execute({}, results);
  auto noisy = execute({noiseSize, seed}, disturbed);
  if (failed(exact) || failed(noisy))
    return failure();
  gradients.collect(*exact, *noisy);
  return success();
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

FailureOr<std::string> CheckLowering::compare(func::FuncOp model,
                                              StepResults &whole,
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
  return llvm::formatv("{0} values of {1} tensors agree, largest relative "
                       "difference {2:e1}",
                       count, whole.tensors.size(), largest)
      .str();
}

FailureOr<std::string>
CheckLowering::checkGradients(func::FuncOp model,
                              const StepGradients &gradients) {
  if (!model->hasAttr(nn::kTrainingAttr))
    return std::string();
  auto difference = gradients.check(model, tolerance);
  if (failed(difference))
    return failure();
  if (!*difference)
    return std::string("; its gradients are not finite and are not compared "
                       "with derivatives");
  return llvm::formatv("; its gradients agree with derivatives, relative "
                       "difference {0:e1}",
                       **difference)
      .str();
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
  StepGradients gradients(arguments);
  if (failed(withCopy([&](ModuleOp copy) {
        OpPassManager manager(ModuleOp::getOperationName());
        manager.addNestedPass<func::FuncOp>(createBuildTrainingStep());
        if (failed(runPipeline(manager, copy)))
          return failure();
        auto step = copy.lookupSymbol<func::FuncOp>(model.getName());
        // Check that the values fit into memory before they are created.
        if (failed(checkSize(step)) || failed(arguments.collect(model, seed)) ||
            failed(gradients.expose(step)))
          return failure();
        return executeWhole(step, arguments, whole, disturbed, gradients);
      })) ||
      failed(withCopy([&](ModuleOp copy) {
        return executeLowered(copy, arguments, lowered);
      })))
    return failure();
  markAllAnalysesPreserved();
  FailureOr<std::string> values = compare(model, whole, disturbed, lowered);
  if (failed(values))
    return failure();
  FailureOr<std::string> slopes = checkGradients(model, gradients);
  if (failed(slopes))
    return failure();
  model.emitRemark("lowering is right: ") << *values << *slopes;
  return success();
}
