//===- RunParity.cpp - simulation of runs of the reference ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Parity/RunParity.h"

#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Dialect/Strategy/Strategy.h"
#include "Proteus/Jobs/RunJob.h"
#include "Proteus/Models/BuildModel.h"
#include "Proteus/Reference/Costs/ReferenceModel.h"
#include "Proteus/Transforms/Pipelines.h"
#include "Proteus/Transforms/Simulate/SimulateOn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <ctime>

using namespace mlir;
using namespace proteus;
using namespace proteus::jobs;
using namespace proteus::parity;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

ParityRunner::ParityRunner() : context(createContext()) {
  launchGap = cost::fromSeconds(
      cantFail(net::parseReferenceConstants(net::embeddedReferenceConstants(),
                                            "constants.json"))
          .launchGap *
      1e-3);
}

ParityRunner::~ParityRunner() = default;

/// Returns the cluster attribute with the values that the lowering passes read.
/// The topology is "none", because the links inside nodes are in the machine
/// model.
static Attribute clusterAttr(MLIRContext &context,
                             const machine::Cluster &cluster) {
  Builder builder(&context);
  const machine::Device &device = cluster.devices.front();
  auto number = [&](StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF64FloatAttr(value));
  };
  auto count = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  return builder.getDictionaryAttr(
      {count("n_node", cluster.numNodes()),
       count("n_gpu_per_node", cluster.devicesPerNode()),
       number("gpu_gflops", device.peak(machine::DType::F32) * 1e-9),
       number("gpu_memory", static_cast<double>(device.memoryBytes) * 1e-6),
       number("gpu_memory_bw", device.memoryBandwidth * 1e-9),
       number("gpu_to_gpu", cluster.intraNode.bandwidth * 1e-9),
       number("inter_node", cluster.interNode.bandwidth * 1e-9),
       builder.getNamedAttr("topology", builder.getStringAttr("none"))});
}

/// Builds the module of a run, which contains the model, the strategy tree and
/// the cluster.
static Expected<OwningOpRef<ModuleOp>>
buildModule(MLIRContext &context, const ReferenceRun &run,
            const machine::Cluster &cluster) {
  Expected<ReferenceJob> job = jobOf(run);
  if (!job)
    return job.takeError();
  models::ModelRequest request;
  request.model = job->model;
  request.overrides = job->overrides;
  request.batch = job->batch;
  request.precision = {"f32", "", "", job->optimizer};
  Expected<OwningOpRef<ModuleOp>> module = models::buildModel(context, request);
  if (!module)
    return module.takeError();
  auto function = *(**module).getOps<func::FuncOp>().begin();
  std::string text = "strategy.tree @original for @" +
                     function.getName().str() + " {\n" + job->tree + "}\n";
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  Block parsed;
  if (failed(parseSourceString(text, &parsed, config, "tree")))
    return createStringError("the tree of '" + run.id + "' can't be read");
  parsed.front().moveBefore((**module).getBody(), (**module).getBody()->end());
  (**module)->setAttr(ProteusDialect::clusterAttrName,
                      clusterAttr(context, cluster));
  return module;
}

Expected<std::shared_ptr<const MachineModel>>
ParityRunner::machineOf(const std::string &name,
                        const machine::Cluster &cluster) {
  std::shared_ptr<const MachineModel> &known = machines[name];
  if (known)
    return known;
  Expected<MachineModel> machine = createMachineModel(cluster, Fidelity::Paper);
  if (!machine)
    return machine.takeError();
  known = std::make_shared<const MachineModel>(std::move(*machine));
  return known;
}

static SimulateOptions optionsOf(const ReferenceRun &run) {
  SimulateOptions options;
  options.fidelity = Fidelity::Paper;
  options.share = run.shareBandwidth ? Switch::On : Switch::Off;
  options.overlapFactor = run.overlapFactor;
  return options;
}

Error ParityRunner::simulate(const ReferenceRun &run,
                             const machine::Cluster &cluster,
                             ParityResult &result) {
  std::string message;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        message.empty())
      message = diagnostic.str();
    return success();
  });
  Expected<std::shared_ptr<const MachineModel>> machine =
      machineOf(run.cluster, cluster);
  if (!machine)
    return machine.takeError();
  Expected<OwningOpRef<ModuleOp>> module = buildModule(*context, run, cluster);
  if (!module)
    return module.takeError();
  Timeline timeline;
  PassManager manager(context.get());
  manager.enableVerifier(verifiesEachPass());
  buildLowerStrategyPipeline(manager, LowerStrategyOptions());
  manager.addPass(createSimulateOn(
      *machine, optionsOf(run),
      [&](sim::Workload &workload, sim::SimulationResult &simulated) {
        result.ours = figuresOf(workload, launchGap);
        timeline = timelineOf(workload, simulated);
        sim::Figures all = sim::figuresOf(workload, simulated);
        result.ours.iterationMilliseconds = all.iterationSeconds * 1e3;
        result.ours.memoryMiB =
            static_cast<double>(all.peakMemoryBytes) / (1 << 20);
      }));
  if (failed(manager.run(**module)))
    return createStringError(message.empty() ? "it can't be simulated"
                                             : message);
  explain(run, timeline, result);
  return Error::success();
}

ParityResult ParityRunner::run(const ReferenceRun &run,
                               const machine::Cluster &cluster) {
  std::clock_t begin = std::clock();
  ParityResult result;
  if (Error error = simulate(run, cluster, result))
    result.error = llvm::toString(std::move(error));
  result.ours.cpuSeconds =
      static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return result;
}
