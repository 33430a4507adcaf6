//===- JobCluster.h - the cluster of a job and the devices it uses *- C++
//-*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_JOBS_JOBCLUSTER_H
#define PROTEUS_LIB_JOBS_JOBCLUSTER_H

#include "Proteus/Jobs/Job.h"
#include "Proteus/Machine/Cluster.h"
#include "Proteus/Plan/PlanSizes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace proteus::jobs {

/// The cluster of a job. If the job states none, it is that of the module in
/// which the model is. A cluster whose name has no number of nodes, such as
/// "dgx-h100" or "cluster.json", gets as many nodes as the job needs.
class JobCluster {
public:
  /// Reads the cluster. `module` is the module of an .mlir file, or null. Names
  /// of files are relative to this file.
  static llvm::Expected<JobCluster>
  create(mlir::MLIRContext &context, const Job &job, mlir::ModuleOp module);

  /// Returns the sizes of the job on this cluster. A job that states neither
  /// the number of devices nor `dp` uses all devices of the cluster, if its
  /// other degrees divide them. Adds remarks about devices that are not used.
  llvm::Expected<plan::Sizes> sizesOf(const Job &job,
                                      std::vector<std::string> &remarks);
  /// Makes the cluster large enough for the devices 0 to `count` - 1. Adds a
  /// remark if the last node is partly used.
  llvm::Error useDevices(int64_t count, std::vector<std::string> &remarks);
  const std::vector<machine::Device> &getDevices() const {
    return cluster.devices;
  }
  /// Sets the cluster attribute of `module`, if the job states a cluster.
  void attachTo(mlir::ModuleOp module) const;

private:
  JobCluster(mlir::MLIRContext &context, const Job &job, mlir::ModuleOp module);
  llvm::Error read();
  llvm::Error grow(int64_t count);

  mlir::MLIRContext *context;
  /// Module that holds the attribute while the cluster is read.
  mlir::OwningOpRef<mlir::ModuleOp> ownModule;
  mlir::ModuleOp holder;
  /// Name of a preset or a file; empty if the cluster is given otherwise.
  std::string name;
  bool isStated = false; ///< true if the job states a cluster
  machine::Cluster cluster;
};

} // namespace proteus::jobs

#endif // PROTEUS_LIB_JOBS_JOBCLUSTER_H
