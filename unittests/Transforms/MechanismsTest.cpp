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

#include "Transforms/Simulate/Mechanisms/Mechanism.h"

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

/// Two linears of one input that compute in fp8, the sum of the gradients that
/// they give to it, a weight that is gathered over two devices, and one that is
/// gathered for another reader. Tensors have 2 MB each.
constexpr StringLiteral narrowProgram = R"(
#mesh = #dist.mesh<[dp = 2]>
#whole = #dist.layout<#mesh, [{}, {}]>
#rows = #dist.layout<#mesh, [{dp}, {}]>
!t = tensor<1000x1000xbf16, #whole>
!r = tensor<1000x1000xbf16, #rows>
module attributes {proteus.cluster = {
    name = "test", nodes = 1, devices_per_node = 2,
    device = {name = "d", architecture = "ampere", memory_gib = 80,
              peak_tflops = {f32 = 1.0, bf16 = 1000.0, f8 = 1000.0},
              memory_bandwidth_gbps = 1000.0,
              launch_latency_us = 0.0, kernel_overhead_us = 0.0},
    intra_node = {bandwidth_gbps = 100.0, latency_us = 1.0},
    inter_node = {bandwidth_gbps = 100.0, latency_us = 1.0}}} {
  dist.program @one mesh #mesh (
      %x: !t {nn.role = "input", nn.path = "x"},
      %g: !t {nn.role = "input", nn.path = "g"},
      %a: !r {nn.role = "parameter", nn.path = "a"},
      %b: !t {nn.role = "parameter", nn.path = "b"},
      %c: !r {nn.role = "parameter", nn.path = "c"}) -> (!t, !t, !t) {
    %f:3 = dist.section forward {
      %0 = dist.all_gather %a dim 0 over {dp} for parameter {proteus.path = "gather.a"} : !r -> !t
      %1 = nn.linear "m.a"(%x, %0) {proteus.compute = f8E4M3FN} : (!t, !t) -> !t
      %2 = nn.linear "m.b"(%x, %b) {proteus.compute = f8E4M3FN} : (!t, !t) -> !t
      %3 = dist.all_gather %c dim 0 over {dp} for parameter {proteus.path = "gather.c"} : !r -> !t
      %4 = nn.relu "m.c"(%3) : (!t) -> !t
      %5 = nn.linear_dgrad "m.da"(%g, %0) {proteus.compute = f8E4M3FN} : (!t, !t) -> !t
      %6 = nn.linear_dgrad "m.db"(%g, %b) : (!t, !t) -> !t
      %7 = nn.add "m.sum"(%5, %6) : (!t, !t) -> !t
      dist.yield %1, %4, %7 : !t, !t, !t
    }
    dist.return %f#0, %f#1, %f#2 : !t, !t, !t
  }
  dist.schedule @schedule programs [@one] order [[F0]]
})";

/// Builds the workload with a stack that has given parameters.
sim::Workload build(const machine::StackParameters &parameters = {},
                    StringRef text = program) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  FailureOr<machine::Cluster> cluster = resolveCluster(*module);
  EXPECT_TRUE(succeeded(cluster));
  cost::KernelModelOptions kernels;
  kernels.roofline = true;
  for (const auto &mechanism : createMechanisms(parameters))
    mechanism->changeMachine(*cluster, kernels);
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

TEST(Mechanisms, WeightsAreConvertedWithTheirInputOrOncePerStep) {
  // The product reads two factors of 1 MB and writes 2 MB. Before it, input and
  // weight of 2 MB are read and written in fp8, once as they are and once
  // transposed.
  sim::Workload workload = build({}, narrowProgram);
  EXPECT_EQ(taskOf(workload, "m.a").duration, (1 + 1 + 2 + 2 * (2 + 2)) * us);
  machine::StackParameters parameters;
  parameters.keepsConvertedWeights = true;
  workload = build(parameters, narrowProgram);
  EXPECT_EQ(taskOf(workload, "m.a").duration, (1 + 1 + 2 + (2 + 2)) * us);
}

TEST(Mechanisms, FusedLinearsConvertTheirInputOnceAndNeedNoSum) {
  machine::StackParameters parameters;
  parameters.keepsConvertedWeights = true;
  auto hasSum = [](const sim::Workload &workload) {
    return llvm::any_of(
        workload.classes.front().micro.tasks, [&](const sim::Task &task) {
          return workload.labels[task.label] == "m.sum" && task.duration > 0;
        });
  };
  EXPECT_TRUE(hasSum(build(parameters, narrowProgram)));
  parameters.fusedLinears = true;
  sim::Workload workload = build(parameters, narrowProgram);
  EXPECT_EQ(taskOf(workload, "m.a").duration, 8 * us);
  EXPECT_EQ(taskOf(workload, "m.b").duration, 4 * us);
  EXPECT_FALSE(hasSum(workload));
}

TEST(Mechanisms, ParametersOfNarrowProductsAreGatheredNarrow) {
  auto bytes = [](const sim::Workload &workload) {
    std::vector<double> bytes;
    for (const sim::Collective &collective : workload.collectives)
      bytes.push_back(static_cast<double>(collective.bytes) / MB);
    llvm::sort(bytes);
    return bytes;
  };
  EXPECT_EQ(bytes(build({}, narrowProgram)), std::vector<double>({2, 2}));
  machine::StackParameters parameters;
  parameters.gathersConverted = true;
  EXPECT_EQ(bytes(build(parameters, narrowProgram)),
            std::vector<double>({1, 2}));
}

TEST(Mechanisms, AGapOfCollectivesIsPartOfTheirLatency) {
  machine::StackParameters parameters;
  parameters.collectiveGap = 6e-6;
  auto latency = [](const sim::Workload &workload) {
    return workload.collectives.front().flow.latency;
  };
  EXPECT_EQ(latency(build(parameters, narrowProgram)) -
                latency(build({}, narrowProgram)),
            6 * us);
}

TEST(Mechanisms, SeparateMemoryKernelsHaveTheirOwnEfficiency) {
  machine::StackParameters parameters;
  for (bool separate : {false, true}) {
    parameters.separateMemoryKernels = separate;
    machine::Cluster cluster;
    cost::KernelModelOptions kernels;
    for (const auto &mechanism : createMechanisms(parameters))
      mechanism->changeMachine(cluster, kernels);
    EXPECT_EQ(kernels.fusedMemoryKernels, !separate);
  }
}

TEST(Mechanisms, GraphsRemoveTheTimeOfTheHost) {
  machine::StackParameters parameters;
  parameters.hostKernel = parameters.hostCollective = parameters.hostMessage =
      7e-6;
  parameters.hostPause = 100e-6;
  parameters.hostPauseShare = 0.2;
  parameters.hostWaits = true;
  parameters.captureGraphs();
  sim::Workload workload = build(parameters);
  for (const sim::Task &task : workload.classes.front().micro.tasks)
    EXPECT_EQ(task.launch, 0);
}

TEST(Mechanisms, SeparateAccumulationIsAKernelPerParameter) {
  // A weight gradient of 4 MB in f32 from operands of 2 MB each.
  constexpr StringLiteral program = R"(
#mesh = #dist.mesh<[dp = 1], micro = 2>
#x = #dist.layout<#mesh, [{micro}, {}]>
#sum = #dist.layout<#mesh, [{}, {}], partial = [sum {micro}]>
!x = tensor<2000x1000xbf16, #x>
!s = tensor<1000x1000xf32, #sum>
module attributes {proteus.cluster = {
    name = "test", nodes = 1, devices_per_node = 1,
    device = {name = "d", architecture = "ampere", memory_gib = 80,
              peak_tflops = {f32 = 1000.0, bf16 = 1000.0},
              memory_bandwidth_gbps = 1000.0,
              launch_latency_us = 0.0, kernel_overhead_us = 0.0},
    intra_node = {bandwidth_gbps = 100.0, latency_us = 1.0},
    inter_node = {bandwidth_gbps = 100.0, latency_us = 1.0}}} {
  dist.program @one mesh #mesh (
      %x: !x {nn.role = "input", nn.path = "x"},
      %g: !x {nn.role = "input", nn.path = "g"}) -> !s {
    %f = dist.section forward {
      %0 = nn.linear_wgrad "m.dw"(%g, %x) : (!x, !x) -> !s
      dist.yield %0 : !s
    }
    dist.return %f : !s
  }
  dist.schedule @schedule programs [@one] order [[F0, F1]]
})";
  // 2 + 2 MB are read, and 4 MB of the sum are written.
  EXPECT_EQ(taskOf(build({}, program), "m.dw").duration, 8 * us);
  machine::StackParameters parameters;
  parameters.separateAccumulation = true;
  parameters.hostKernel = 7e-6;
  sim::Workload workload = build(parameters, program);
  // The product writes 2 MB. The other kernel reads these, and reads and writes
  // the 4 MB of the sum.
  EXPECT_EQ(taskOf(workload, "m.dw").duration, (2 + 2 + 2 + 2 + 4 + 4) * us);
  EXPECT_EQ(taskOf(workload, "m.dw").launch, 2 * 7 * us);
}

TEST(Mechanisms, ImagesWithChannelsFirstAreReadTwice) {
  // An image of 1 MB in f16; scale, shift and statistics have few bytes.
  constexpr StringLiteral program = R"(
#mesh = #dist.mesh<[dp = 1]>
#image = #dist.layout<#mesh, [{}, {}, {}, {}]>
#one = #dist.layout<#mesh, [{}]>
#two = #dist.layout<#mesh, [{}, {}]>
!image = tensor<50x1x100x100xf16, #image>
!scale = tensor<1xf16, #one>
!sums = tensor<1x1xf32, #two>
module attributes {proteus.cluster = {
    name = "test", nodes = 1, devices_per_node = 1,
    device = {name = "d", architecture = "ampere", memory_gib = 80,
              peak_tflops = {f32 = 1000.0, f16 = 1000.0},
              memory_bandwidth_gbps = 1000.0,
              launch_latency_us = 0.0, kernel_overhead_us = 0.0},
    intra_node = {bandwidth_gbps = 100.0, latency_us = 1.0},
    inter_node = {bandwidth_gbps = 100.0, latency_us = 1.0}}} {
  dist.program @one mesh #mesh (
      %x: !image {nn.role = "input", nn.path = "x"},
      %g: !scale {nn.role = "input", nn.path = "g"}) -> !image {
    %f = dist.section forward {
      %n, %mean, %inverse = nn.batch_norm "m.bn"(%x, %g, %g) {groups = 1 : i64} : (!image, !scale, !scale) -> (!image, !sums, !sums)
      %y = nn.relu "m.act"(%n) : (!image) -> !image
      dist.yield %y : !image
    }
    dist.return %f : !image
  }
  dist.schedule @schedule programs [@one] order [[F0]]
})";
  machine::StackParameters parameters;
  parameters.images = machine::ImageLayout::ChannelsLast;
  // 12 bytes: scale, shift and two statistics, at 10^12 bytes/s.
  constexpr double small = 12;
  auto time = [&](StringRef label) {
    return static_cast<double>(
        taskOf(build(parameters, program), label).duration);
  };
  EXPECT_NEAR(time("m.bn"), 2 * us + small, 1);
  EXPECT_EQ(time("m.act"), 2 * us);
  parameters.images = machine::ImageLayout::ChannelsFirst;
  EXPECT_NEAR(time("m.bn"), 1.5 * (2 * us + small), 1);
  EXPECT_EQ(time("m.act"), 2 * us);
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
