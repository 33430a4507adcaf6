//===- MechanismsTest.cpp - closed forms of mechanisms of stacks ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every mechanism changes tasks of the workload builder by a formula. The
// device moves 10^12 bytes and computes 10^12 operations per second, and
// kernels take the time of the roofline, so the times can be computed by hand.
//
//===----------------------------------------------------------------------===//

#include "Proteus/InitAll.h"
#include "Proteus/Transforms/Common/ResolveMachine.h"
#include "Proteus/Transforms/Simulate/BuildWorkload.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace proteus;

namespace {

constexpr int64_t us = 1'000'000; // in picoseconds
constexpr double MB = 1e6;

/// Two stages of two tensor-parallel devices. An element-wise pair of a module,
/// a product, a sum over the devices and a message.
constexpr StringLiteral program = R"(
#mesh = #dist.mesh<[pp = 2, tp = 2], micro = 2>
#first = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
#parts = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}], at = [pp = 0]>
#second = #dist.layout<#mesh, [{}, {}], at = [pp = 1]>
!x = tensor<1000x1000xf32, #first>
!p = tensor<1000x1000xf32, #parts>
!y = tensor<1000x1000xf32, #second>
module attributes {proteus.cluster = {
    name = "test", nodes = 1, devices_per_node = 4,
    device = {name = "d", architecture = "ampere", memory_gib = 80,
              peak_tflops = {f32 = 1.0}, memory_bandwidth_gbps = 1000.0,
              launch_latency_us = 0.0, kernel_overhead_us = 0.0},
    intra_node = {bandwidth_gbps = 100.0, latency_us = 1.0},
    inter_node = {bandwidth_gbps = 100.0, latency_us = 1.0}}} {
  dist.program @one mesh #mesh at [pp = 0] (
      %x: !x {nn.role = "input", nn.path = "x"},
      %w: !x {nn.role = "parameter", nn.path = "w"},
      %q: !p {nn.role = "input", nn.path = "q"}) {
    dist.section forward {
      %0 = nn.add "m.a"(%x, %x) : (!x, !x) -> !x
      %1 = nn.relu "m.b"(%0) : (!x) -> !x
      %2 = nn.linear "m.c"(%1, %w) : (!x, !x) -> !x
      %3 = dist.all_reduce sum %q over {tp} : !p -> !x
      dist.send %2 to stage 1 tag 0 for activation : !x
      dist.yield
    }
    dist.return
  }
  dist.program @two mesh #mesh at [pp = 1] () -> !y {
    %f = dist.section forward {
      %0 = dist.recv from stage 0 tag 0 for activation : !y
      %1 = nn.relu "n.a"(%0) : (!y) -> !y
      dist.yield %1 : !y
    }
    dist.return %f : !y
  }
  dist.schedule @schedule programs [@one, @two] order [[F0, F1], [F0, F1]]
})";

/// Builds the workload with a stack that has given parameters.
sim::Workload build(const machine::StackParameters &parameters = {}) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(program, &context);
  EXPECT_TRUE(module);
  FailureOr<machine::Cluster> cluster = resolveCluster(*module);
  EXPECT_TRUE(succeeded(cluster));
  cost::KernelModelOptions kernels;
  kernels.roofline = true;
  auto machine = llvm::cantFail(
      createMachineModel(std::move(*cluster), Fidelity::Flow, kernels));
  WorkloadOptions options;
  options.stack.parameters = parameters;
  return *buildWorkload(*module, machine, options);
}

/// Returns the task of an operation in the first stage that has it.
const sim::Task &taskOf(const sim::Workload &workload, StringRef label) {
  for (const sim::DeviceClass &device : workload.classes)
    for (const sim::Task &task : device.micro.tasks)
      if (workload.labels[task.label] == label)
        return task;
  llvm::report_fatal_error("no such task");
}

/// Returns the task of the first stage that runs on a stream.
const sim::Task &taskOn(const sim::Workload &workload, sim::Stream stream) {
  for (const sim::Task &task : workload.classes.front().micro.tasks)
    if (task.stream == stream)
      return task;
  llvm::report_fatal_error("no such task");
}

TEST(Mechanisms, WithoutAnyKernelsTakeTheTimeOfTheRoofline) {
  sim::Workload workload = build();
  // An operand is read as often as it is named.
  EXPECT_EQ(taskOf(workload, "m.a").duration, 12 * us);
  EXPECT_EQ(taskOf(workload, "m.b").duration, 8 * us);
  EXPECT_EQ(taskOf(workload, "m.c").duration, 2000 * us);
  for (const sim::Task &task : workload.classes.front().micro.tasks)
    EXPECT_EQ(task.launch, 0);
  EXPECT_EQ(workload.stepGap, 0);
  EXPECT_EQ(workload.memory.stackBytes, 0);
}

TEST(Mechanisms, HostLaunchAddsATimePerKernelCollectiveAndMessage) {
  machine::StackParameters parameters;
  parameters.hostKernel = 7e-6;
  parameters.hostCollective = 9e-6;
  parameters.hostMessage = 11e-6;
  sim::Workload workload = build(parameters);
  EXPECT_EQ(taskOf(workload, "m.a").launch, 7 * us);
  EXPECT_EQ(taskOn(workload, sim::Stream::TensorParallel).launch, 9 * us);
  EXPECT_EQ(taskOn(workload, sim::Stream::PipelineSend).launch, 11 * us);
  EXPECT_EQ(taskOf(workload, "m.a").duration, 12 * us);
  EXPECT_FALSE(workload.classes.front().hostWaits);
  parameters.hostWaits = true;
  EXPECT_TRUE(build(parameters).classes.front().hostWaits);
}

TEST(Mechanisms, APauseDelaysTheGroupWhereHostsWait) {
  machine::StackParameters parameters;
  parameters.hostPause = 100e-6;
  parameters.hostPauseShare = 0.2;
  sim::Workload workload = build(parameters);
  EXPECT_EQ(taskOn(workload, sim::Stream::TensorParallel).launch, 0);
  parameters.hostWaits = true;
  workload = build(parameters);
  // d ((1 - q) - (1 - q)^n) of n = 2 hosts.
  EXPECT_NEAR(
      static_cast<double>(taskOn(workload, sim::Stream::TensorParallel).launch),
      100.0 * us * (0.8 - 0.8 * 0.8), 2);
  EXPECT_EQ(taskOn(workload, sim::Stream::PipelineSend).launch, 0);
  EXPECT_EQ(taskOf(workload, "m.a").launch, 0);
}

TEST(Mechanisms, GapsExtendKernelsAndSteps) {
  machine::StackParameters parameters;
  parameters.kernelGap = 3e-6;
  parameters.stepGap = 5e-6;
  sim::Workload workload = build(parameters);
  EXPECT_EQ(taskOf(workload, "m.a").duration, 15 * us);
  EXPECT_EQ(taskOn(workload, sim::Stream::PipelineSend).duration,
            taskOn(build(), sim::Stream::PipelineSend).duration);
  EXPECT_EQ(workload.stepGap, 5 * us);
}

TEST(Mechanisms, TrafficMultipliesTheBytesOfAClass) {
  machine::StackParameters parameters;
  parameters
      .traffic[static_cast<unsigned>(machine::TrafficClass::Elementwise)] = 2.5;
  sim::Workload workload = build(parameters);
  EXPECT_EQ(taskOf(workload, "m.a").duration, 30 * us);
  EXPECT_EQ(taskOf(workload, "m.c").duration, 2000 * us);
}

TEST(Mechanisms, ATensorBetweenFusedNeighboursIsNotMoved) {
  machine::StackParameters parameters;
  parameters.fusedNeighbours = machine::FusedNeighbours::Elementwise;
  sim::Workload workload = build(parameters);
  // The tensor between them is neither written nor read.
  EXPECT_EQ(taskOf(workload, "m.a").duration, 8 * us);
  EXPECT_EQ(taskOf(workload, "m.b").duration, 4 * us);
  // A neighbour of another stage is none.
  EXPECT_EQ(taskOf(workload, "n.a").duration, 8 * us);
}

TEST(Mechanisms, RatesScaleProductsOfAGeneration) {
  machine::StackParameters parameters;
  parameters.productRates.set(machine::Architecture::Ampere, 0.5);
  EXPECT_EQ(taskOf(build(parameters), "m.c").duration, 4000 * us);
  EXPECT_EQ(taskOf(build(parameters), "m.a").duration, 12 * us);
  parameters.productRates.clear();
  parameters.productRates.set(machine::Architecture::Hopper, 0.5);
  EXPECT_EQ(taskOf(build(parameters), "m.c").duration, 2000 * us);
}

TEST(Mechanisms, DummyGradientsAreOnePerShapeOfAMatrix) {
  machine::StackParameters parameters;
  size_t without = build().classes.front().resident.size();
  parameters.dummyGradients = true;
  sim::Workload workload = build(parameters);
  const std::vector<sim::Buffer> &resident = workload.classes.front().resident;
  ASSERT_EQ(resident.size(), without + 1);
  EXPECT_EQ(resident.back().owner, sim::MemoryOwner::Gradients);
  EXPECT_EQ(static_cast<double>(resident.back().bytes), 4 * MB);
}

TEST(Mechanisms, ReservedMemoryIsTakenOnEveryDevice) {
  machine::StackParameters parameters;
  parameters.reservedBytes = 1'500'000'000;
  EXPECT_EQ(build(parameters).memory.stackBytes, 1'500'000'000);
}

} // namespace
