//===- JobInfo.cpp - the figures of a job ---------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobInfo.h"

#include "LocalWork.h"

#include "Proteus/Transforms/Common/Annotations.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace proteus;

/// Returns true if a kernel adds up shards that are shifted around a ring of
/// devices. This work is caused by the strategy and is not part of the model.
static bool sumsUpVisitors(nn::IterationSpaceOpInterface kernel) {
  auto isVisitor = [](Type type) {
    dist::LayoutAttr layout = dist::getLayout(type);
    return layout && llvm::any_of(layout.getValue().dims, [](const auto &axes) {
             return axes.shift != 0;
           });
  };
  return kernel.isLinear() && llvm::any_of(kernel->getResultTypes(), isVisitor);
}

/// Adds the FLOPs of a block that runs `times` times to `info`. If `recomputed`
/// is true, they count as executed FLOPs but not as FLOPs of the model.
/// Otherwise, also adds the FLOPs of matrix kernels to `byType`, by element
/// type.
static void countFlops(Block &block, double times, bool recomputed,
                       sim::JobInfo &info,
                       llvm::MapVector<unsigned, double> &byType) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<nn::RepeatOp>(op)) {
      countFlops(repeat.getBody().front(), times * repeat.getCount(),
                 recomputed, info, byType);
      continue;
    }
    if (auto recompute = dyn_cast<nn::RecomputeOp>(op)) {
      countFlops(recompute.getBody().front(), times, true, info, byType);
      continue;
    }
    auto kernel = dyn_cast<nn::IterationSpaceOpInterface>(op);
    if (!kernel)
      continue;
    double points = times * kernel.getIterationSpace().numPoints();
    double share = kernel.getVisitedShare();
    info.executedFlops += points * kernel.getExecutedFlopsPerPoint() * share;
    if (recomputed || sumsUpVisitors(kernel))
      continue;
    info.modelFlops += points * kernel.getFlopsPerPoint() * share;
    info.modelFlopsFullSquare += points * kernel.getFlopsPerPoint();
    if (kernel.getKernelClass() == nn::KernelClass::Matrix)
      byType[static_cast<unsigned>(computeType(&op))] +=
          points * kernel.getFlopsPerPoint();
  }
}

/// Sets the role of every mesh axis that splits `input`: Data if it splits the
/// first dimension, else Context. Does not change the role Data, which another
/// input may have set.
static void findRoles(RankedTensorType input,
                      std::vector<sim::MeshAxis> &axes) {
  dist::LayoutAttr layout = dist::getLayout(input);
  if (!layout)
    return;
  for (auto [dim, list] : llvm::enumerate(layout.getValue().dims))
    for (dist::Axis axis : list) {
      if (axis == dist::microAxis)
        continue;
      sim::AxisRole &role = axes[axis - 1].role;
      if (role != sim::AxisRole::Data)
        role = dim == 0 ? sim::AxisRole::Data : sim::AxisRole::Context;
    }
}

sim::JobInfo proteus::describeJob(ArrayRef<FlatProgram> programs,
                                  std::optional<dist::Axis> pipelineAxis) {
  sim::JobInfo info;
  dist::ProgramOp first = programs.front().program;
  dist::MeshAttr mesh = first.getMesh();
  StringRef name = first.getSymName();
  info.model = name.split("_stage").first.str();
  info.devices = mesh.getNumDevices();
  info.microBatches = mesh.getMicro();
  const dist::Mesh &grid = mesh.getValue();
  for (auto [axis, size] : llvm::zip(grid.names, grid.sizes)) {
    info.strategy +=
        (info.strategy.empty() ? "" : " ") + axis + "=" + std::to_string(size);
    info.axes.push_back({axis, size, sim::AxisRole::Tensor});
  }
  if (pipelineAxis)
    info.axes[*pipelineAxis - 1].role = sim::AxisRole::Pipeline;
  llvm::MapVector<unsigned, double> byType;
  for (const FlatProgram &flat : programs) {
    dist::ProgramOp program = flat.program;
    for (BlockArgument argument : program.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      if (getRole(argument) != nn::Role::Input || type.getRank() == 0)
        continue;
      info.globalBatch = type.getDimSize(0);
      findRoles(type, info.axes);
      // Inputs such as labels may have fewer tokens per sample than the
      // sequence, so the largest number counts.
      if (type.getRank() == 2 && isa<IntegerType>(type.getElementType()))
        info.tokensPerSample =
            std::max(info.tokensPerSample, type.getDimSize(1));
    }
    for (dist::SectionOp section : program.getSections())
      if (!section.getOnce())
        countFlops(section.getBody().front(), 1, false, info, byType);
  }
  double most = -1;
  for (auto [type, flops] : byType)
    if (flops > most) {
      most = flops;
      info.computeType = static_cast<machine::DType>(type);
    }
  return info;
}

sim::JobStatement proteus::statementOf(const sim::Workload &workload,
                                       const machine::Stack &stack,
                                       const machine::Site &site) {
  const sim::JobInfo &info = workload.info;
  sim::JobStatement statement;
  auto state = [&](StringRef key, sim::JobValue::Value value) {
    statement.set(key, std::move(value), plan::Origin::Given);
  };
  // No stack and no site are the defaults of a module.
  auto stateName = [&](StringRef key, StringRef name) {
    statement.set(key, name.empty() ? "none" : name.str(),
                  name.empty() ? plan::Origin::Default : plan::Origin::Given);
  };
  state("model", info.model);
  if (info.tokensPerSample > 0)
    state("sequence", info.tokensPerSample);
  state("global_batch", info.globalBatch);
  state("accumulation", info.microBatches);
  state("mesh", info.strategy);
  stateName("stack", stack.name);
  stateName("site", site.name);
  state("cluster", info.cluster);
  state("devices", info.devices);
  statement.set("cluster_devices", workload.cluster.numDevices(),
                plan::Origin::Derived);
  return statement;
}
