//===- Workload.cpp - names of the enumerators ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Sim/Workload.h"

#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace proteus::sim;

StringRef proteus::sim::stringify(Stream stream) {
  switch (stream) {
  case Stream::Compute:
    return "compute";
  case Stream::TensorParallel:
    return "tensor_parallel";
  case Stream::ContextParallel:
    return "context_parallel";
  case Stream::DataParallel:
    return "data_parallel";
  case Stream::PipelineSend:
    return "pipeline_send";
  case Stream::PipelineReceive:
    return "pipeline_receive";
  case Stream::HostToDevice:
    return "host_to_device";
  case Stream::DeviceToHost:
    return "device_to_host";
  case Stream::PipelineSendGradient:
    return "pipeline_send_gradient";
  case Stream::PipelineReceiveGradient:
    return "pipeline_receive_gradient";
  }
  llvm_unreachable("unknown stream");
}

StringRef proteus::sim::stringify(MemoryOwner owner) {
  switch (owner) {
  case MemoryOwner::Parameters:
    return "parameters";
  case MemoryOwner::Gradients:
    return "gradients";
  case MemoryOwner::OptimizerState:
    return "optimizer_state";
  case MemoryOwner::MasterWeights:
    return "master_weights";
  case MemoryOwner::Activations:
    return "activations";
  case MemoryOwner::Temporaries:
    return "temporaries";
  case MemoryOwner::Communication:
    return "communication";
  case MemoryOwner::GradientBuckets:
    return "gradient_buckets";
  }
  llvm_unreachable("unknown memory owner");
}

StringRef proteus::sim::stringify(Phase phase) {
  switch (phase) {
  case Phase::Forward:
    return "forward";
  case Phase::Backward:
    return "backward";
  case Phase::Recompute:
    return "recompute";
  case Phase::Update:
    return "update";
  }
  llvm_unreachable("unknown phase");
}

StringRef proteus::sim::stringify(AxisRole role) {
  switch (role) {
  case AxisRole::Data:
    return "data";
  case AxisRole::Context:
    return "context";
  case AxisRole::Tensor:
    return "tensor";
  case AxisRole::Pipeline:
    return "pipeline";
  }
  llvm_unreachable("unknown role of an axis");
}

int64_t JobInfo::degree(AxisRole role) const {
  int64_t product = 1;
  for (const MeshAxis &axis : axes)
    if (axis.role == role)
      product *= axis.size;
  return product;
}

std::string Collective::kindAndAxes() const {
  return (cost::stringify(kind) + " over " + axes).str();
}
