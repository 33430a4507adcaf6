//===- ProfileTest.cpp - profiles of measured kernels ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/Profile.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace proteus::cost;

namespace {

/// Returns a device with 1 TFLOP/s and no other cost: a product takes 2mnk
/// picoseconds.
Device toy() {
  Device device;
  device.name = "toy";
  device.peakFlops = {{DType::F32, 1e12}, {DType::BF16, 1e12}};
  device.memoryBandwidth = 1e18;
  return device;
}

std::unique_ptr<KernelCostModel> modelOf(const Measurements &profile) {
  return createProfileModel(toy(), {}, profile);
}

Kernel product(double m, double n, double k) {
  return makeProduct(1, m, n, k, DType::BF16, DType::BF16);
}

/// Returns a product that takes `slower` times as long as the model predicts.
Measurement measured(double m, double n, double k, double slower) {
  return {product(m, n, k), slower * 2 * m * n * k * 1e-12, "", ""};
}

TEST(ProfileModel, TakesWhatWasMeasured) {
  auto model = modelOf({measured(64, 64, 64, 3)});
  Answer answer = model->cost(product(64, 64, 64));
  EXPECT_EQ(answer.source, Source::Measured);
  EXPECT_EQ(answer.time, 3 * 2 * 64 * 64 * 64);
  // The row applies to no other type, pass or size.
  Kernel single = makeProduct(1, 64, 64, 64, DType::F32, DType::F32);
  EXPECT_EQ(model->cost(single).source, Source::Roofline);
  Kernel gradient = product(64, 64, 64);
  gradient.pass = Pass::WeightGradient;
  EXPECT_EQ(model->cost(gradient).source, Source::Roofline);
  EXPECT_EQ(model->cost(product(64, 64, 65)).source, Source::Roofline);
  EXPECT_EQ(model->cost(product(64, 64, 65)).time, 2 * 64 * 64 * 65);
}

// The model gives such a kernel no time, but the profile does.
TEST(ProfileModel, TakesKernelsWithoutModelledTime) {
  auto update = [](double bytes) {
    Kernel kernel;
    kernel.family = Family::Update;
    kernel.type = DType::F32;
    kernel.bytes = bytes;
    return kernel;
  };
  auto model =
      modelOf({{update(1), 2e-6, "", ""}, {update(100), 2e-6, "", ""}});
  EXPECT_EQ(model->cost(update(1)).time, 2000000);
  Answer between = model->cost(update(10));
  EXPECT_NEAR(between.time, 2000000, 10);
  EXPECT_TRUE(std::isfinite(between.uncertainty));
}

TEST(ProfileModel, RepeatedRowsAreAveraged) {
  auto model = modelOf({measured(8, 8, 8, 1), measured(8, 8, 8, 4)});
  EXPECT_EQ(model->cost(product(8, 8, 8)).time, 2 * 2 * 8 * 8 * 8);
}

TEST(ProfileModel, InterpolatesTheRatioAlongOneSize) {
  auto model = modelOf({measured(64, 32, 16, 1), measured(256, 32, 16, 4)});
  // Half-way in the logarithm: twice as long as the model.
  Answer answer = model->cost(product(128, 32, 16));
  EXPECT_EQ(answer.source, Source::Interpolated);
  EXPECT_NEAR(static_cast<double>(answer.time), 2.0 * 2 * 128 * 32 * 16, 1);
  EXPECT_NEAR(answer.uncertainty, 0.02 + std::log(4) / 2, 1e-12);
  // A quarter of the way: the fourth root of 16.
  EXPECT_NEAR(static_cast<double>(
                  modelOf({measured(16, 32, 16, 1), measured(256, 32, 16, 16)})
                      ->cost(product(32, 32, 16))
                      .time),
              2.0 * 2 * 32 * 32 * 16, 1);
  // There is no extrapolation beyond the points or away from the line.
  for (Kernel outside :
       {product(32, 32, 16), product(512, 32, 16), product(128, 33, 16)})
    EXPECT_EQ(model->cost(outside).source, Source::Roofline);
}

TEST(ProfileModel, TheNearestNeighboursCount) {
  auto model = modelOf({measured(1, 8, 8, 9), measured(64, 8, 8, 2),
                        measured(256, 8, 8, 2), measured(4096, 8, 8, 9)});
  EXPECT_NEAR(static_cast<double>(model->cost(product(100, 8, 8)).time),
              2.0 * 2 * 100 * 8 * 8, 1);
}

TEST(ProfileModel, CellsNeedAllCorners) {
  Measurements corners;
  for (double m : {64, 256})
    for (double n : {64, 256})
      for (double k : {64, 256})
        corners.push_back(measured(m, n, k, m == 64 ? 1 : 4));
  Kernel inside = product(128, 100, 200);
  Answer answer = modelOf(corners)->cost(inside);
  EXPECT_EQ(answer.source, Source::Interpolated);
  EXPECT_NEAR(static_cast<double>(answer.time), 2.0 * 2 * 128 * 100 * 200, 1);
  corners.pop_back();
  EXPECT_EQ(modelOf(corners)->cost(inside).source, Source::Roofline);
}

TEST(ProfileModel, AttentionIsOneInBatchAndHeads) {
  Attention four{1, 4, 1024, 1024, 128, 128, 0.5},
      same{2, 2, 1024, 1024, 128, 128, 0.5};
  Attention full = four;
  full.visited = 1;
  auto model =
      modelOf({{makeAttention(four, DType::BF16, false), 1e-3, "", ""}});
  EXPECT_EQ(model->cost(makeAttention(same, DType::BF16, false)).time,
            1000000000);
  EXPECT_EQ(model->cost(makeAttention(same, DType::BF16, true)).source,
            Source::Roofline);
  EXPECT_EQ(model->cost(makeAttention(full, DType::BF16, false)).source,
            Source::Roofline);
}

TEST(ProfileModel, KernelsWithOtherStepsAreOthers) {
  Kernel once = makeMemoryKernel(Family::Stream, 1e6, DType::BF16),
         twice = once;
  twice.steps = 2;
  auto model = modelOf({{once, 1e-3, "", ""}});
  EXPECT_EQ(model->cost(once).source, Source::Measured);
  EXPECT_EQ(model->cost(twice).source, Source::Roofline);
}

/// Returns a device whose matrix units sustain 0.8 of the rate of single
/// kernels.
Device throttled() {
  Device device = toy();
  device.multiprocessors = 1;
  device.sustained = 0.8;
  device.memoryBandwidth = 1e12;
  proteus::machine::KernelParameters kernels;
  proteus::machine::ProductParameters product;
  product.efficiency = product.memoryEfficiency = 1;
  kernels.products = {{DType::BF16, product}};
  for (auto &memory : kernels.memory)
    memory.efficiency = 1;
  device.kernels = kernels;
  return device;
}

double timeIn(const Measurements &profile, const Kernel &kernel) {
  return toSeconds(
      createProfileModel(throttled(), {}, profile)->cost(kernel).time);
}

TEST(ProfileModel, KernelsMeasuredAloneRunAtTheSustainedClock) {
  Kernel large = product(4096, 4096, 4096);
  Measurement row{large, 0.5, "", ""};
  EXPECT_NEAR(timeIn({row}, large), 0.5 / 0.8, 1e-6);
  // A row measured in a step has that clock already.
  row.inStep = true;
  EXPECT_NEAR(timeIn({row}, large), 0.5, 1e-12);
  // A product with one inner step waits for memory, whose clock is separate.
  Kernel thin = product(4096, 4096, 1);
  thin.bytes *= 1e6;
  EXPECT_NEAR(timeIn({{thin, 0.5, "", ""}}, thin), 0.5, 1e-6);
  Kernel norm = makeMemoryKernel(Family::Norm, 1e9, DType::BF16);
  EXPECT_NEAR(timeIn({{norm, 0.5, "", ""}}, norm), 0.5, 1e-12);
}

TEST(ProfileModel, BothWaysToMeasureMeetBetweenPoints) {
  // The same device, measured with kernels alone and in a step, each at two
  // points.
  Measurements alone = {{product(2048, 4096, 4096), 1, "", ""},
                        {product(8192, 4096, 4096), 4, "", ""}};
  Measurements inStep = alone;
  for (Measurement &row : inStep) {
    row.seconds /= 0.8;
    row.inStep = true;
  }
  Kernel between = product(4096, 4096, 4096);
  EXPECT_NEAR(timeIn(alone, between), 2 / 0.8, 1e-4);
  EXPECT_NEAR(timeIn(inStep, between), timeIn(alone, between), 1e-6);
  // The fall of the clock has an error of its own.
  auto errorIn = [&](const Measurements &profile) {
    return createProfileModel(throttled(), {}, profile)
        ->cost(between)
        .uncertainty;
  };
  EXPECT_NEAR(errorIn(alone) - errorIn(inStep), 0.125, 1e-4);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Measurements parsed(StringRef text) {
  Expected<Measurements> all = parseProfile(text, "p");
  if (all)
    return *all;
  ADD_FAILURE() << toString(all.takeError());
  return {};
}

std::string errorOf(StringRef text) {
  Expected<Measurements> all = parseProfile(text, "p");
  return all ? "" : toString(all.takeError());
}

TEST(ProfileFile, OwnCSV) {
  Measurements all = parsed(
      "op,dtype,pass,shape,time_us,device\n"
      "product,bf16,wgrad,m=8 n=4 k=2 result_bytes=4 accumulate=1,1.5,toy\n"
      "\n"
      "attention,f16,dgrad,heads=4 queries=64 key_dim=32 visited=0.5,2,\n"
      "convolution,f32,forward,batch=2 in=3 out=4 height=8 width=8 "
      "out_height=4 out_width=4 kernel_height=3 kernel_width=3 stride=2,3,\n"
      "norm,bf16,forward,bytes=1000,4,other\n");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].kernel.product->rows, 8);
  EXPECT_EQ(all[0].kernel.product->inner, 2);
  EXPECT_EQ(all[0].kernel.resultBytes, 128);
  EXPECT_TRUE(all[0].kernel.accumulates);
  EXPECT_EQ(all[0].kernel.pass, Pass::WeightGradient);
  EXPECT_DOUBLE_EQ(all[0].seconds, 1.5e-6);
  EXPECT_EQ(all[1].kernel.attention->keys, 64);
  EXPECT_EQ(all[1].kernel.pass, Pass::DataGradient);
  EXPECT_EQ(all[2].kernel.convolution->stride, 2);
  EXPECT_EQ(all[2].kernel.flops, 2.0 * 2 * 16 * 4 * 3 * 9);
  EXPECT_EQ(all[3].kernel.family, Family::Norm);
  // The last row is of another device.
  EXPECT_EQ(measurementsOf(toy(), all).size(), 3u);
}

TEST(ProfileFile, OwnJSON) {
  Measurements all = parsed(
      R"({"device": "toy", "kernels": [{"op": "grouped_product",
          "dtype": "bf16", "shape": {"batch": 8, "m": 4, "n": 2, "k": 6},
          "time_us": 7}]})");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kernel.family, Family::GroupedProduct);
  EXPECT_EQ(all[0].kernel.product->batch, 8);
  EXPECT_EQ(all[0].kernel.product->rows, 32);
  EXPECT_EQ(all[0].device, "toy");
}

TEST(ProfileFile, MalformedOnesSayWhere) {
  StringRef header = "op,dtype,pass,shape,time_us\n";
  auto row = [&](const Twine &text) { return errorOf((header + text).str()); };
  EXPECT_EQ(row("gemm,bf16,forward,m=1 n=1 k=1,1\n"),
            "p:2: unknown op 'gemm' (one of product, grouped_product, "
            "attention, convolution, stream, norm, activation, rope, "
            "embedding, softmax, update)");
  EXPECT_EQ(row("\nproduct,half,forward,m=1 n=1 k=1,1\n"),
            "p:3: unknown dtype 'half'");
  EXPECT_EQ(row("product,bf16,backward,m=1 n=1 k=1,1\n"),
            "p:2: unknown pass 'backward' (one of forward, dgrad, wgrad)");
  EXPECT_EQ(row("product,bf16,forward,m=1 n=1,1\n"),
            "p:2: the shape lacks 'k'");
  EXPECT_EQ(row("product,bf16,forward,m=1 n=1 k=x,1\n"),
            "p:2: 'k' must be positive");
  EXPECT_EQ(row("product,bf16,forward,m=1 n=1 k=1 z=1,1\n"),
            "p:2: the shape of this kernel has no 'z'");
  EXPECT_EQ(row("product,bf16,forward,m=1 n=1 k=1 accumulate=2,1\n"),
            "p:2: 'accumulate' must be 0 or 1");
  EXPECT_EQ(row("product,bf16,forward,m=1 n=1 k=1,-1\n"),
            "p:2: expected a positive time, got '-1'");
  EXPECT_EQ(row("product,bf16,forward,m=1 n=1 k=1\n"),
            "p:2: expected 5 fields, got 4");
  EXPECT_EQ(errorOf(""), "p: no rows");
  EXPECT_EQ(errorOf("a,b\n1,2\n"),
            "p:1: no profile: expected the columns op, dtype, pass, shape and "
            "time_us, or those of a known table");
  EXPECT_EQ(errorOf(R"({"kernels": [{"op": "norm", "dtype": "bf16",
                     "shape": {"bytes": 1, "m": 2}, "time_us": 1}]})"),
            "p: the shape of this kernel has no 'm' at kernels[0]");
  EXPECT_EQ(errorOf(R"({"kernels": [{"op": "norm", "dtype": "bf16",
                     "shape": {"bytes": 1}, "time_us": 0}]})"),
            "p: expected a positive number at kernels[0].time_us, got 0");
}

TEST(ProfileFile, SizesAndTimesHaveLimits) {
  StringRef products = "gpu,model,op,tp,M_tokens,N,K,time_ms_median\n";
  EXPECT_EQ(errorOf((products + "a100,m,up,1,64,256,128,1e-300\n").str()),
            "p: kernel 1: expected a time from 1e-6 to 1e12 us, got 1e-297 us");
  EXPECT_EQ(errorOf((products + "a100,m,up,1,64,256,128,1\n"
                                "a100,m,up,1,64,256,128,1e300\n")
                        .str()),
            "p: kernel 2: expected a time from 1e-6 to 1e12 us, got 1e+303 us");
  EXPECT_EQ(errorOf((products + "a100,m,up,1,1e200,1e200,1,1\n").str()),
            "p: kernel 1: its sizes give more than 1e30 FLOPs or bytes");
}

TEST(ProfileFile, HowItWasMeasured) {
  Measurements csv = parsed("op,dtype,pass,shape,time_us,measured\n"
                            "norm,bf16,forward,bytes=8,1,in_step\n"
                            "norm,bf16,forward,bytes=9,1,alone\n");
  ASSERT_EQ(csv.size(), 2u);
  EXPECT_TRUE(csv[0].inStep);
  EXPECT_FALSE(csv[1].inStep);
  StringRef kernels = R"("kernels": [{"op": "norm", "dtype": "bf16",
                         "shape": {"bytes": 1}, "time_us": 1}]})";
  EXPECT_FALSE(parsed(("{" + kernels).str())[0].inStep);
  EXPECT_TRUE(
      parsed(("{\"measured\": \"in_step\", " + kernels).str())[0].inStep);
  EXPECT_EQ(errorOf("op,dtype,pass,shape,time_us,measured\n"
                    "norm,bf16,forward,bytes=8,1,hot\n"),
            "p:2: unknown method of measurement 'hot' (one of alone, in_step)");
  EXPECT_EQ(errorOf(("{\"measured\": \"hot\", " + kernels).str()),
            "p: unknown method of measurement 'hot' (one of alone, in_step) at "
            "measured");
}

TEST(ProfileFile, WidthsOfAModelGiveTheBytesOfItsActivations) {
  std::string head = "gpu,model,op,tp,M_tokens,N,K,time_ms_median\n";
  Measurements products =
      cantFail(readVidurProducts(head + "a100,m,attn_pre_proj,1,10,300,100,1\n"
                                        "a100,m,attn_post_proj,1,10,100,100,1\n"
                                        "a100,m,mlp_up_proj,1,10,400,100,1\n"
                                        "a100,m,mlp_down_proj,1,10,100,200,1\n",
                                 "p"));
  Measurements memory = cantFail(readVidurMemoryKernels(
      "gpu,model,tp,tokens,hidden,emb,input_layernorm,attn_rope,"
      "post_attention_layernorm,mlp_act,add\n"
      "a100,m,1,10,100,None,None,0.002,None,0.004,None\n",
      "p", products));
  ASSERT_EQ(memory.size(), 2u);
  // Queries and keys are read and written; and a position, and a row of 128.
  EXPECT_EQ(memory[0].kernel.bytes, 10 * (4 * (300 + 100) / 2 + 8 + 2 * 128));
  EXPECT_EQ(memory[1].kernel.bytes, 2 * 10 * (400 + 200));
}

TEST(ProfileFile, PublishedTables) {
  Measurements vidur =
      parsed("gpu,model,op,tp,M_tokens,N,K,time_ms_median,tflops\n"
             "a100,m,mlp_up_proj,1,64,256,128,0.5,1\n");
  ASSERT_EQ(vidur.size(), 1u);
  EXPECT_EQ(vidur[0].kernel.product->columns, 256);
  EXPECT_DOUBLE_EQ(vidur[0].seconds, 0.5e-3);
  Device a100 = toy();
  a100.name = "A100-SXM4-80GB";
  EXPECT_EQ(measurementsOf(a100, vidur).size(), 1u);
  EXPECT_EQ(measurementsOf(toy(), vidur).size(), 0u);

  // Without the sizes of the model, rope and activation have no known bytes.
  Measurements memory =
      parsed("gpu,model,tp,tokens,hidden,emb,input_layernorm,attn_rope,"
             "post_attention_layernorm,mlp_act,add\n"
             "a100,m,1,10,100,0.001,0.002,0.003,None,0.004,0.005\n");
  ASSERT_EQ(memory.size(), 3u);
  EXPECT_EQ(memory[2].kernel.family, Family::Stream);
  EXPECT_EQ(memory[2].kernel.bytes, 6000);

  Measurements xla = parsed("gpu,b,m,n,k,dtype,tflops\n"
                            "sm_90,2,4,8,16,f32xf32->f32,0.001\n");
  ASSERT_EQ(xla.size(), 1u);
  EXPECT_EQ(xla[0].kernel.type, DType::TF32);
  EXPECT_EQ(xla[0].kernel.product->batch, 2);
  EXPECT_DOUBLE_EQ(xla[0].seconds, 2.0 * 2 * 4 * 8 * 16 / 1e9);
  EXPECT_EQ(errorOf("gpu,b,m,n,k,dtype,tflops\nx,1,1,1,1,q4xq4->q4,1\n"),
            "p:2: unknown types 'q4xq4->q4'");

  // Efficiency is 0.5 of 1 TFLOP/s. Lists may end with a comma. Attention
  // counts the whole square.
  Measurements simumax = parsed(
      R"({"sys_name": "s", "accelerator": {"op": {
          "matmul": {"tflops": 1, "accurate_efficient_factor": {
            "b=1, m=4, k=8, n=2, layout=NT, accumulate=True, out_dtype=fp32":
              0.5,}},
          "sdp_fwd": {"tflops": 1, "accurate_efficient_factor": {
            "batch=1, seq_len=8, head_num=2, kv_head_num=2, qk_head_dim=4, v_head_dim=4, qkv_contiguous=True": 1.25}}}}})");
  ASSERT_EQ(simumax.size(), 2u);
  EXPECT_EQ(simumax[0].kernel.pass, Pass::WeightGradient);
  EXPECT_TRUE(simumax[0].kernel.accumulates);
  EXPECT_EQ(simumax[0].kernel.resultBytes, 4 * 4 * 2);
  EXPECT_DOUBLE_EQ(simumax[0].seconds, 2 * 4 * 8 * 2 / 0.5e12);
  EXPECT_EQ(simumax[1].kernel.attention->visited, 0.5);
  EXPECT_DOUBLE_EQ(simumax[1].seconds, 2 * 2 * 8 * 8 * 8 / 1.25e12);

  Measurements deepbench = parsed(
      "Precision,Float\n"
      "Dense Matrix Multiplication,,M,N,K,A Transpose,B Transpose,,Time "
      "(msec),TERAFLOPS\n"
      ",,16,8,4,N,N,,0.25,1\n"
      "Convolution\n"
      ",,W,H,C,N,K ,R,S,pad_h,pad_w,Vertical stride,Horizontal Stride,Forward "
      "(msec),wrt Inputs (msec),wrt Parameters (msec)\n"
      ",,9,7,3,2,16,3,5,1,2,1,2,0.5,N/A*,0.75\n"
      "Recurrent Layers - Vanilla,,Hidden Units\n"
      ",,1760,16\n");
  ASSERT_EQ(deepbench.size(), 3u);
  EXPECT_EQ(deepbench[0].kernel.type, DType::F32);
  EXPECT_EQ(deepbench[1].kernel.convolution->outHeight, 7);
  EXPECT_EQ(deepbench[1].kernel.convolution->outWidth, 5);
  EXPECT_EQ(deepbench[2].kernel.pass, Pass::WeightGradient);
  EXPECT_DOUBLE_EQ(deepbench[2].seconds, 0.75e-3);
}

} // namespace
