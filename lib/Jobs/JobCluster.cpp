//===- JobCluster.cpp - the cluster of a job and the devices it uses ------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobCluster.h"

#include "Messages.h"

#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Transforms/Common/ResolveMachine.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::jobs;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

JobCluster::JobCluster(MLIRContext &context, const Job &job, ModuleOp module)
    : context(&context), holder(module), isStated(job.statesCluster()) {
  if (!holder) {
    ownModule = ModuleOp::create(UnknownLoc::get(&context));
    holder = *ownModule;
  }
  if (!isStated)
    return;
  name = job.clusterText.empty() ? job.cluster : "";
  holder->setAttr(ProteusDialect::clusterAttrName,
                  name.empty() ? parseAttribute(job.clusterText, &context)
                               : StringAttr::get(&context, name));
}

Expected<JobCluster> JobCluster::create(MLIRContext &context, const Job &job,
                                        ModuleOp module) {
  JobCluster cluster(context, job, module);
  if (Error error = cluster.read())
    return std::move(error);
  return std::move(cluster);
}

Error JobCluster::read() {
  Messages messages(*context);
  FailureOr<machine::Cluster> found = resolveCluster(holder);
  if (failed(found))
    return messages.takeError("the cluster can't be read");
  cluster = std::move(*found);
  return Error::success();
}

/// Gives the cluster as many nodes as `count` devices need. Fails if the name
/// of the cluster states the number of nodes, or if the cluster can't have
/// another number. Does nothing for a cluster without a name: the passes check
/// the devices of the mesh.
Error JobCluster::grow(int64_t count) {
  int64_t has = cluster.numDevices();
  if (name.empty() || count <= has)
    return Error::success();
  std::string needs = "the job needs " + std::to_string(count) +
                      " GPUs, but '" + name + "' has " + std::to_string(has);
  if (machine::splitClusterName(name).nodes)
    return createStringError(needs + "; use --gpus " + Twine(has) +
                             " or fewer, or more nodes");
  int64_t perNode = cluster.devicesPerNode();
  name += ":" + std::to_string((count + perNode - 1) / perNode);
  holder->setAttr(ProteusDialect::clusterAttrName,
                  StringAttr::get(context, name));
  if (Error error = read())
    return createStringError(needs + "; " + llvm::toString(std::move(error)));
  return Error::success();
}

Error JobCluster::useDevices(int64_t count, std::vector<std::string> &remarks) {
  if (Error error = grow(count))
    return error;
  if (count > cluster.numDevices())
    return Error::success();
  int64_t node = cluster.nodeOf(count - 1);
  uint32_t used = cluster.localIndex(count - 1) + 1;
  uint32_t devices = cluster.kinds[cluster.kindOfNode(node)].numDevices();
  if (node > 0 && used < devices)
    remarks.push_back("the last of " + std::to_string(node + 1) +
                      " nodes has " + std::to_string(used) + " of its " +
                      std::to_string(devices) + " devices in use");
  return Error::success();
}

Expected<plan::Sizes> JobCluster::sizesOf(const Job &job,
                                          std::vector<std::string> &remarks) {
  int64_t all = cluster.numDevices();
  plan::ResolvedPlan plan = plan::resolve(job.plan);
  bool statesNodes = machine::splitClusterName(name).nodes.has_value();
  // The degrees tp, pp and cp use the whole cluster if they divide it. They use
  // a part of it otherwise, or more nodes, unless the user states the nodes.
  std::optional<int64_t> available = all;
  if (int64_t replica;
      !statesNodes &&
      (llvm::MulOverflow(plan.tp, plan.pp, replica) ||
       llvm::MulOverflow(replica, plan.cp, replica) || all % replica != 0))
    available.reset();
  Expected<plan::Sizes> sizes =
      plan::sizesOf(job.plan, job.gpus, job.globalBatch, available);
  if (!sizes)
    return sizes;
  if (!job.gpus && sizes->gpus < all)
    remarks.push_back("the degrees use " + std::to_string(sizes->gpus) +
                      " of the " + std::to_string(all) +
                      " devices of the cluster; use --gpus to state the "
                      "number, or other degrees");
  if (Error error = useDevices(sizes->gpus, remarks))
    return std::move(error);
  return sizes;
}

void JobCluster::attachTo(ModuleOp module) const {
  if (isStated)
    module->setAttr(ProteusDialect::clusterAttrName,
                    holder->getAttr(ProteusDialect::clusterAttrName));
}
