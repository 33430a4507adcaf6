//===- RunJob.cpp - simulation of a job -----------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Jobs/RunJob.h"

#include "JobCluster.h"
#include "JobPrecision.h"
#include "Messages.h"
#include "MicroBatch.h"
#include "Restatement.h"
#include "UserWords.h"

#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/InitAll.h"
#include "Proteus/Models/BuildModel.h"
#include "Proteus/Plan/PlanFields.h"
#include "Proteus/Plan/PlanSizes.h"
#include "Proteus/Sim/Report.h"
#include "Proteus/Support/File.h"
#include "Proteus/Support/ModuleFile.h"
#include "Proteus/Transforms/Common/ResolveMachine.h"
#include "Proteus/Transforms/Common/TreeSettings.h"
#include "Proteus/Transforms/Passes.h"
#include "Proteus/Transforms/Pipelines.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::jobs;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

std::unique_ptr<MLIRContext> proteus::jobs::createContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  // By default, MLIR prints the operation after each diagnostic. A whole model
  // would bury the message, which names the faulty operation anyway.
  context->printOpOnDiagnostic(false);
  return context;
}

/// Translates the precision of a job to the type names of the model library,
/// such as "bf16".
static models::Precision precisionOf(const Job &job) {
  models::Precision precision;
  using plan::Precision;
  precision.optimizer =
      plan::stringifyEnum(job.optimizer.value_or(Job::defaultOptimizer)).str();
  bool isSingle =
      job.precision == Precision::FP32 || job.precision == Precision::TF32;
  precision.compute = isSingle                           ? "f32"
                      : job.precision == Precision::FP16 ? "f16"
                                                         : "bf16";
  precision.matrix = job.precision == Precision::FP8 ? "f8" : "";
  precision.gradient = job.gradientType.value_or(isSingle ? "" : "f32");
  precision.master = job.masterType.value_or(isSingle ? "" : "f32");
  return precision;
}

/// Sets the stack attribute and the site attribute of the module. Removes the
/// stack attribute if the job has the stack `none` and no step gap.
static void attachStack(ModuleOp module, const Job &job) {
  Builder builder(module.getContext());
  std::string stack = job.stack;
  if (stack.empty() && !job.isFile())
    stack = "generic";
  if (job.stepGap) {
    // Write the text of a stack with this step gap. In everything else it
    // equals the named stack.
    std::string base =
        stack.empty() || stack == "none" ? "" : "\"base\": \"" + stack + "\", ";
    stack = "{\"name\": \"" + (stack.empty() ? "none" : stack) + "\", " + base +
            "\"gaps\": {\"step_us\": " + std::to_string(*job.stepGap) + "}}";
  }
  if (stack == "none")
    module->removeAttr(ProteusDialect::stackAttrName);
  else if (!stack.empty())
    module->setAttr(ProteusDialect::stackAttrName,
                    builder.getStringAttr(stack));
  if (!job.site.empty())
    module->setAttr(ProteusDialect::siteAttrName,
                    builder.getStringAttr(job.site));
}

/// Returns the plan of a job with `dp` and the accumulation from `sizes`.
static plan::ParallelPlan planOf(const Job &job, const plan::Sizes &sizes) {
  plan::ParallelPlan plan = job.plan;
  plan.dp = sizes.dp;
  plan.accumulation = sizes.microBatches;
  // Sequence parallelism splits sequences over the axis tp, which does not
  // exist if tp is 1.
  if (plan.tp.value_or(1) == 1)
    plan.sequenceParallel.reset();
  return plan;
}

/// Returns the error for a decision that both a flag and a strategy tree state.
/// `value` is the value of the flag of `field`, and `op` is the operation by
/// which the tree states the decision.
static Error alreadyStated(strategy::TreeOp tree, Operation *op,
                           const plan::Field &field, StringRef value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "--" << field.flag << " " << value << ": the tree @"
     << tree.getSymName();
  if (auto at = dyn_cast<FileLineColLoc>(op->getLoc()))
    os << " states it in " << at.getFilename().getValue() << ":" << at.getLine()
       << ":" << at.getColumn();
  os << " by '" << op->getName().stripDialect()
     << "'; change the tree, or leave the flag out";
  return createStringError(text);
}

/// Adds the decisions of the job's plan to the tree of an .mlir file. Fails if
/// the tree states one of these decisions itself, or if the job states another
/// number of devices than the mesh of the tree has.
static Error mergeIntoTree(strategy::TreeOp tree, const Job &job) {
  for (const plan::Field &field : plan::fields())
    if (std::optional<std::string> value = field.get(job.plan))
      if (Operation *op = findSetting(tree, field))
        return alreadyStated(tree, op, field, *value);
  if (job.gpus && *job.gpus != tree.getMesh().getNumDevices())
    return createStringError(
        "--gpus " + llvm::Twine(*job.gpus) + ": the mesh of the tree @" +
        tree.getSymName() + " has " +
        llvm::Twine(tree.getMesh().getNumDevices()) +
        " devices; change the tree, or leave the flag out");
  auto function = tree->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(
      tree.getModelAttr());
  if (!function)
    return createStringError("the tree @" + tree.getSymName() +
                             " is for a model that is not in the file");
  addSettings(tree, job.plan, function);
  return Error::success();
}

/// Returns the number of the last device that the mesh of a tree names, plus 1.
static int64_t devicesOf(strategy::TreeOp tree) {
  strategy::MeshOp mesh = tree.getMesh();
  if (auto devices = mesh.getDevices())
    return *llvm::max_element(*devices) + 1;
  return mesh.getNumDevices();
}

static Expected<OwningOpRef<ModuleOp>> parseFile(MLIRContext &context,
                                                 const Job &job) {
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text =
      readModuleFile(job.model);
  if (!text)
    return text.takeError();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*text), llvm::SMLoc());
  Messages messages(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return messages.takeError("can't read '" + job.model + "'");
  return module;
}

/// Returns the global batch of a model in an .mlir file, which is the first
/// dimension of its inputs. Returns nullopt if there are no inputs.
static std::optional<int64_t> batchOf(ModuleOp module) {
  std::optional<int64_t> batch;
  module.walk([&](func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto role = function.getArgAttrOfType<StringAttr>(i, "nn.role");
      auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
      if (role && role.getValue() == "input" && type && type.getRank() > 0)
        batch = type.getDimSize(0);
    }
  });
  return batch;
}

/// Sets `norm_groups`, if the model has this dimension and the request does not
/// override it. A batch norm computes one mean and variance per group of
/// samples. As in frameworks by default, a group consists of the samples of one
/// micro-batch on one data-parallel rank.
static void setNormGroups(models::ModelRequest &request,
                          const models::ModelDescription &model,
                          const plan::Sizes &sizes) {
  constexpr llvm::StringLiteral name = "norm_groups";
  for (StringRef given : request.overrides)
    if (given.split('=').first == name)
      return;
  for (const auto &dimension : model.dimensions)
    if (dimension.first == name)
      request.overrides.push_back(
          (name + "=" + llvm::Twine(sizes.dp * sizes.microBatches)).str());
}

/// Adds remarks for settings of ZeRO that have no effect: the user states how
/// ZeRO cuts tensors, but not a stage that cuts them; or when gradients are
/// reduced, but ZeRO scatters them in every micro-batch.
static void remarkIdleZeroSettings(const Job &given,
                                   std::vector<std::string> &remarks) {
  const plan::ParallelPlan &plan = given.plan;
  plan::ZeroStage zero = plan.zero.value_or(plan::ZeroStage::None);
  if (plan.zeroShards && zero == plan::ZeroStage::None)
    remarks.push_back("no effect here: --zero-shards, because nothing is cut "
                      "without --zero 1, 2 or 3");
  if (plan.zeroPersist && zero != plan::ZeroStage::Parameters)
    remarks.push_back("no effect here: --zero-persist, because parameters are "
                      "cut with --zero 3 only");
  if (!plan.gradientReduction || zero < plan::ZeroStage::Gradients)
    return;
  remarks.push_back(
      "--zero " + plan::stringifyEnum(zero).str() +
      " scatters gradients during the backward pass of every micro-batch; "
      "--gradient-reduction " +
      plan::stringifyEnum(*plan.gradientReduction).str() +
      " applies only to gradients that are not scattered" +
      (zero == plan::ZeroStage::Gradients
           ? ", and sets the buckets in which parameters are gathered"
           : ""));
}

/// Returns `error` in the words of a user who gave flags. The user of an .mlir
/// file gets it as it is.
static Error inWordsOf(const Job &job, Error error) {
  if (job.isFile())
    return error;
  return createStringError(inUserWords(llvm::toString(std::move(error))));
}

static Expected<OwningOpRef<ModuleOp>>
prepareModule(MLIRContext &context, const Job &given,
              sim::JobStatement *statement) {
  Job job = given;
  if (job.model.empty())
    return createStringError("no model is given; use --model NAME (see "
                             "`proteus list models`) or --model FILE");
  std::vector<std::string> remarks;
  // `paper` follows the rules of the published Proteus, which have no software
  // stack.
  if (job.fidelity == Fidelity::Paper) {
    if (!job.stack.empty() && job.stack != "none")
      remarks.push_back("fidelity=paper has no stack: '" + job.stack +
                        "' is left out");
    job.stack = "none";
  }
  Expected<machine::Stack> stack = stackOf(job);
  if (!stack)
    return stack.takeError();
  if (job.stepGap && (StringRef(job.stack).starts_with("{") ||
                      StringRef(job.stack).ends_with(".json")))
    return createStringError(
        "--step-gap-us applies to stacks with a name; set gaps.step_us in '" +
        job.stack + "'");
  if (job.stepGap && job.isFile() && job.stack.empty())
    return createStringError("--step-gap-us changes a stack; name the stack "
                             "with --stack, or use --stack none");
  if (Error error = applyExpertBalance(job))
    return std::move(error);
  if (Error error = applyStack(*stack, job, remarks))
    return std::move(error);
  if (Error error = applyMeanTokens(*stack, job, remarks))
    return std::move(error);
  OwningOpRef<ModuleOp> module;
  if (job.isFile()) {
    Expected<OwningOpRef<ModuleOp>> parsed = parseFile(context, job);
    if (!parsed)
      return parsed.takeError();
    module = std::move(*parsed);
    if (job.seq || !job.overrides.empty())
      return createStringError("--seq and --set do not apply to a model in a "
                               "file; leave them out, or use a preset");
    // Another precision or optimizer would change the model in the file. TF32
    // is allowed, because it is a mode of the device and changes no type.
    if (job.optimizer ||
        (job.precision && job.precision != plan::Precision::TF32))
      return createStringError(
          "--precision and --optimizer do not apply to a model in a file; "
          "leave them out, or use a preset");
    std::optional<int64_t> batch = batchOf(*module);
    if (job.globalBatch && batch && *job.globalBatch != *batch)
      return createStringError(
          "--global-batch " + llvm::Twine(*job.globalBatch) +
          ": the inputs of the model in '" + job.model + "' have " +
          llvm::Twine(*batch) +
          " samples; change the model, or leave the flag out");
    job.globalBatch = batch ? batch : job.globalBatch;
  }
  bool hasCluster =
      module && (*module)->hasAttr(ProteusDialect::clusterAttrName);
  if (!job.statesCluster() && !hasCluster)
    return createStringError("no cluster is given; use --cluster NAME (see "
                             "`proteus list clusters`) or --cluster FILE.json");
  auto finish = [&](OwningOpRef<ModuleOp> done) {
    attachStack(*done, job);
    for (const std::string &remark : remarks)
      emitRemark(UnknownLoc::get(&context), remark);
    return done;
  };
  bool hasTree = module && !(*module).getOps<strategy::TreeOp>().empty();
  if (hasTree) {
    auto trees = (*module).getOps<strategy::TreeOp>();
    if (!llvm::hasSingleElement(trees))
      return createStringError("'" + job.model +
                               "' has several strategy trees; keep one");
    // Merge only the decisions of the user, which `given` holds. The pass
    // match-strategy adds the decisions of the stack later.
    if (Error error = mergeIntoTree(*trees.begin(), given))
      return std::move(error);
    if (statement)
      *statement = restateFlags(given);
    if (job.statesCluster()) {
      Expected<JobCluster> cluster = JobCluster::create(context, job, *module);
      if (!cluster)
        return cluster.takeError();
      if (Error error = cluster->useDevices(devicesOf(*trees.begin()), remarks))
        return std::move(error);
      cluster->attachTo(*module);
    }
    return finish(std::move(module));
  }
  Expected<JobCluster> cluster =
      JobCluster::create(context, job, module ? *module : ModuleOp());
  if (!cluster)
    return cluster.takeError();
  Expected<plan::Sizes> sizes = cluster->sizesOf(job, remarks);
  if (!sizes)
    return sizes.takeError();

  if (!module) {
    if (Error error = settlePrecision(cluster->getDevices(), job, remarks))
      return std::move(error);
    models::ModelRequest request;
    request.model = job.model;
    request.batch = sizes->globalBatch;
    request.precision = precisionOf(job);
    request.overrides = job.overrides;
    if (job.seq)
      request.overrides.push_back("seq=" + std::to_string(*job.seq));
    Expected<models::ModelDescription> model = models::describe(request);
    if (!model)
      return model.takeError();
    llvm::append_range(remarks, model->remarks);
    setNormGroups(request, *model, *sizes);
    Expected<OwningOpRef<ModuleOp>> built =
        models::buildModel(context, request);
    if (!built)
      return built.takeError();
    module = std::move(*built);
  }
  if (statement)
    *statement = restate(given, job, *sizes, stack->name, *module);
  cluster->attachTo(*module);
  {
    Messages messages(context);
    PassManager manager(&context);
    manager.addPass(createApplyStrategy(planOf(job, *sizes)));
    if (failed(manager.run(*module)))
      return messages.takeError("the strategy does not fit the model");
    llvm::append_range(remarks, messages.remarks);
  }
  remarkIdleZeroSettings(given, remarks);
  if (!stack->name.empty())
    for (strategy::TreeOp tree : (*module).getOps<strategy::TreeOp>())
      tree->setDiscardableAttr(kStackAttr,
                               StringAttr::get(&context, stack->name));
  return finish(std::move(module));
}

Expected<OwningOpRef<ModuleOp>>
proteus::jobs::prepare(MLIRContext &context, const Job &job,
                       sim::JobStatement *statement) {
  Expected<OwningOpRef<ModuleOp>> module =
      prepareModule(context, job, statement);
  if (!module)
    return inWordsOf(job, module.takeError());
  return module;
}

static SimulateOptions simulateOptionsOf(const Job &job, StringRef trace) {
  SimulateOptions options;
  options.trace = trace.str();
  options.fidelity = job.fidelity;
  options.fold = job.fold;
  options.share = job.share;
  options.overlap = job.overlap;
  options.kernels = job.kernels;
  if (job.collectiveError)
    options.collectiveError = *job.collectiveError;
  options.tf32 = job.precision == plan::Precision::TF32;
  options.cudaGraphs = job.cudaGraphs;
  options.profiles.assign(job.profiles.begin(), job.profiles.end());
  return options;
}

/// Completes the statement of the simulated job. Values that are known only
/// after the simulation come from `workload`. If `statement` is not that of a
/// whole job, because a strategy tree states the rest, adds it to the statement
/// of the module.
static void addStatement(const sim::JobStatement &statement,
                         sim::Workload &workload) {
  sim::JobStatement &whole = workload.info.statement;
  sim::JobStatement ofModule = whole;
  if (statement.find("model"))
    whole = statement;
  else
    for (const sim::JobValue &value : statement.getValues())
      whole.set(value.key, value.value, value.origin);
  for (const sim::JobValue &value : statement.getValues())
    if (const sim::JobValue *known = ofModule.find(value.key);
        known && std::holds_alternative<std::monostate>(value.value))
      whole.set(value.key, known->value, value.origin);
  for (StringRef key : {"stack", "site"})
    if (const sim::JobValue *known = ofModule.find(key);
        known && !whole.find(key))
      whole.set(key, known->value, known->origin);
}

namespace {

/// Options of one simulation of a job.
struct SimulateHow {
  StringRef trace; ///< path of the trace; empty: none
  bool onlyMemory = false;
  ProgressSink *progress = nullptr;
};

} // namespace

static Expected<Outcome> simulateOnce(MLIRContext &context, const Job &job,
                                      const SimulateHow &how) {
  Messages messages(context);
  if (how.progress)
    how.progress->begin("lowering", 0);
  sim::JobStatement statement;
  Expected<OwningOpRef<ModuleOp>> module = prepare(context, job, &statement);
  if (!module)
    return module.takeError();
  Outcome outcome;
  PassManager manager(&context);
  manager.enableVerifier(verifiesEachPass());
  LowerStrategyOptions lower;
  buildLowerStrategyPipeline(manager, lower);
  SimulateOptions options = simulateOptionsOf(job, how.trace);
  options.onlyMemory = how.onlyMemory;
  manager.addPass(createSimulate(
      options,
      [&](sim::Workload &workload, sim::SimulationResult &result) {
        outcome.workload = std::move(workload);
        outcome.result = std::move(result);
      },
      how.progress));
  if (failed(manager.run(**module)))
    return inWordsOf(job, messages.takeError("the job can't be simulated"));
  outcome.remarks = std::move(messages.remarks);
  addStatement(statement, outcome.workload);
  return outcome;
}

/// Replaces the memory figures of `outcome`, the result for mean sequences, by
/// the figures of `longest`, the result for full sequences. The mean length
/// determines the time, but full sequences must fit into memory too.
static Error takeMemory(const Outcome &longest, Outcome &outcome) {
  auto &classes = outcome.result.classes;
  if (classes.size() != longest.result.classes.size())
    return createStringError("the longest sequences are split differently from "
                             "the mean ones; leave --mean-tokens out");
  for (auto [mine, theirs] : llvm::zip(classes, longest.result.classes)) {
    mine.memory = theirs.memory;
    mine.allocator = theirs.allocator;
    mine.budget = theirs.budget;
  }
  return Error::success();
}

/// Simulates a job whose micro-batch is stated. If the job states `meanTokens`,
/// simulates it a second time with full sequences, which determine the memory.
static Expected<Outcome> simulateFully(MLIRContext &context, const Job &job,
                                       StringRef trace,
                                       ProgressSink *progress) {
  Expected<Outcome> outcome =
      simulateOnce(context, job, {trace, /*onlyMemory=*/false, progress});
  if (!outcome)
    return outcome;
  if (job.meanTokens) {
    Job longest = job;
    longest.meanTokens.reset();
    Expected<Outcome> full = simulateOnce(
        context, longest, {/*trace=*/"", /*onlyMemory=*/true, progress});
    if (!full)
      return full;
    if (Error error = takeMemory(*full, *outcome))
      return std::move(error);
  }
  outcome->figures = sim::figuresOf(outcome->workload, outcome->result);
  return outcome;
}

/// Returns the samples of a step for each data-parallel rank, if the job states
/// a global batch and leaves the micro-batch open. Returns nullopt if there is
/// nothing to choose, or if the job has a mistake; `prepare` finds the mistake.
static std::optional<int64_t> samplesToCut(MLIRContext &context,
                                           const Job &given) {
  if (given.plan.microBatch)
    return std::nullopt;
  Job job = given;
  job.plan.accumulation.reset();
  OwningOpRef<ModuleOp> module;
  if (job.isFile()) {
    Expected<OwningOpRef<ModuleOp>> parsed = parseFile(context, job);
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      return std::nullopt;
    }
    module = std::move(*parsed);
    if (!(*module).getOps<strategy::TreeOp>().empty())
      return std::nullopt;
    job.globalBatch = batchOf(*module);
  }
  bool hasCluster =
      module ? (*module)->hasAttr(ProteusDialect::clusterAttrName) : false;
  if (!job.globalBatch || !(job.statesCluster() || hasCluster))
    return std::nullopt;
  std::vector<std::string> remarks;
  Expected<JobCluster> cluster =
      JobCluster::create(context, job, module ? *module : ModuleOp());
  if (!cluster) {
    llvm::consumeError(cluster.takeError());
    return std::nullopt;
  }
  Expected<plan::Sizes> sizes = cluster->sizesOf(job, remarks);
  if (!sizes) {
    llvm::consumeError(sizes.takeError());
    return std::nullopt;
  }
  return sizes->globalBatch / sizes->dp;
}

/// Sets the micro-batch of `job` if the job leaves it open and states a global
/// batch. Returns the choice.
static MicroBatchChoice settleMicroBatch(MLIRContext &context, Job &job,
                                         ProgressSink *progress) {
  MicroBatchChoice choice;
  std::optional<int64_t> samples = samplesToCut(context, job);
  if (!samples)
    return choice;
  // If the number of micro-batches is stated, it determines their size.
  int64_t count = job.plan.accumulation.value_or(1);
  if (job.plan.accumulation && *samples % count == 0) {
    choice.microBatch = *samples / count;
  } else if (!job.plan.accumulation) {
    job.assumed.push_back(plan::findByFlag("micro-batch"));
    choice = chooseMicroBatch(job, *samples, [&](const Job &other) {
      return simulateFully(context, other, /*trace=*/"", progress);
    });
  }
  job.plan.microBatch = choice.microBatch;
  return choice;
}

Expected<Outcome> proteus::jobs::run(MLIRContext &context, const Job &given,
                                     const RunFiles &files,
                                     ProgressSink *progress) {
  Job job = given;
  MicroBatchChoice choice = settleMicroBatch(context, job, progress);
  Expected<Outcome> outcome =
      choice.outcome && files.trace.empty()
          ? Expected<Outcome>(std::move(*choice.outcome))
          : simulateFully(context, job, files.trace, progress);
  if (!outcome)
    return outcome;
  outcome->job = std::move(job);
  if (!choice.remark.empty())
    outcome->remarks.push_back(choice.remark);
  if (!files.report.empty())
    if (Error error =
            writeFileAtomically(files.report, [&](llvm::raw_ostream &os) {
              sim::writeReport(os, outcome->workload, outcome->result);
              return Error::success();
            }))
      return std::move(error);
  return outcome;
}

Expected<Outcome> proteus::jobs::runMemory(MLIRContext &context,
                                           const Job &given,
                                           ProgressSink *progress) {
  Job longest = given;
  MicroBatchChoice choice = settleMicroBatch(context, longest, progress);
  longest.meanTokens.reset();
  Expected<Outcome> outcome = simulateOnce(
      context, longest, {/*trace=*/"", /*onlyMemory=*/true, progress});
  if (!outcome)
    return outcome;
  outcome->figures = sim::figuresOf(outcome->workload, outcome->result);
  if (!choice.remark.empty())
    outcome->remarks.push_back(choice.remark);
  return outcome;
}
