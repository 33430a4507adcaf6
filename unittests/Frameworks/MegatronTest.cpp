//===- MegatronTest.cpp - jobs in the flags of Megatron-LM ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Frameworks/Frameworks.h"
#include "Proteus/Models/BuildModel.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace proteus;
using jobs::Job;

namespace {

constexpr llvm::StringLiteral sizes =
    "--num-layers 8 --hidden-size 256 --num-attention-heads 8 --seq-length 128 "
    "--max-position-embeddings 128 --micro-batch-size 1 ";

/// Reads arguments that are separated by spaces. Returns the error as text, or
/// the remarks.
std::string read(const std::string &text, Job &job) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(text).split(words, ' ', -1, /*KeepEmpty=*/false);
  std::vector<std::string> arguments(words.begin(), words.end());
  auto remarks = frameworks::readMegatron(arguments, job);
  return remarks ? llvm::join(*remarks, "\n")
                 : llvm::toString(remarks.takeError());
}

Job jobOf(const std::string &more) {
  Job job;
  std::string text = read(sizes.str() + more, job);
  EXPECT_FALSE(job.model.empty()) << text;
  return job;
}

int64_t parametersOf(const std::string &more) {
  Job job = jobOf(more);
  models::ModelRequest request;
  request.model = job.model;
  request.overrides = job.overrides;
  auto model = models::describe(request);
  if (!model) {
    ADD_FAILURE() << llvm::toString(model.takeError());
    return 0;
  }
  return model->parameters;
}

TEST(Megatron, ParametersFollowClosedForms) {
  constexpr int64_t h = 256, v = 1000, s = 128, l = 8;
  // Attention 4h^2 + 4h, feed-forward 8h^2 + 5h, norms 4h.
  EXPECT_EQ(parametersOf("--vocab-size 1000"),
            v * h + s * h + l * (12 * h * h + 13 * h) + 2 * h);
  EXPECT_EQ(parametersOf("--vocab-size 1000 --disable-bias-linear "
                         "--normalization RMSNorm --swiglu "
                         "--ffn-hidden-size 512 --position-embedding-type rope "
                         "--untie-embeddings-and-output-weights"),
            2 * v * h + l * (4 * h * h + 3 * 512 * h + 2 * h) + h);
  // Without --group-query-attention, the number of groups does nothing.
  EXPECT_EQ(parametersOf("--vocab-size 1000 --num-query-groups 2"),
            parametersOf("--vocab-size 1000"));
  EXPECT_EQ(parametersOf("--vocab-size 1000 --group-query-attention "
                         "--num-query-groups 2"),
            parametersOf("--vocab-size 1000") - l * (h + 1) * 2 * (h - 64));
  // Two thirds of 4h, rounded down to a multiple of 64.
  EXPECT_EQ(parametersOf("--vocab-size 1000 --swiglu --disable-bias-linear") -
                parametersOf("--vocab-size 1000 --swiglu "
                             "--disable-bias-linear --ffn-hidden-size 640"),
            0);
}

TEST(Megatron, FirstLayersCanBeDense) {
  std::string experts = "--vocab-size 1000 --disable-bias-linear "
                        "--num-experts 4 --moe-router-topk 1 ";
  int64_t all = parametersOf(experts),
          some = parametersOf(experts + "--moe-layer-freq ([0]*2+[1]*6)");
  // Three experts and the router are missing in two layers.
  EXPECT_EQ(all - some, 2 * (3 * 8 * 256 * 256 + 4 * 256));
  EXPECT_EQ(parametersOf(experts + "--moe-layer-freq [0,0]+([1]*2+[1])*2"),
            some);
}

TEST(Megatron, TypesFollowTheRelease) {
  Job job = jobOf("--bf16");
  EXPECT_EQ(job.precision, plan::Precision::BF16);
  EXPECT_EQ(job.gradientType, "f32");
  EXPECT_EQ(jobOf("--bf16 --grad-reduce-in-bf16").gradientType, "");
  EXPECT_EQ(jobOf("--fp16").gradientType, "");
  EXPECT_EQ(jobOf("--fp16 --accumulate-allreduce-grads-in-fp32").gradientType,
            "f32");
  EXPECT_EQ(jobOf("").precision, plan::Precision::FP32);
  EXPECT_EQ(jobOf("--bf16 --fp8-format e4m3").precision, plan::Precision::FP8);
  EXPECT_EQ(jobOf("--optimizer sgd").optimizer, plan::Optimizer::Momentum);
  EXPECT_EQ(jobOf("--optimizer sgd --sgd-momentum 0").optimizer,
            plan::Optimizer::SGD);
}

TEST(Megatron, PlansFollowTheRelease) {
  Job job = jobOf("--bf16 --tensor-model-parallel-size 2 --sequence-parallel "
                  "--pipeline-model-parallel-size 2 "
                  "--num-layers-per-virtual-pipeline-stage 2 "
                  "--context-parallel-size 2 --global-batch-size 64 "
                  "--use-distributed-optimizer --ddp-bucket-size 1000");
  EXPECT_EQ(job.plan.tp, 2);
  EXPECT_EQ(job.plan.pp, 2);
  EXPECT_EQ(job.plan.virtualStages, 2);
  EXPECT_EQ(job.plan.overlapMessages, true);
  EXPECT_EQ(job.plan.contextKind, plan::ContextKind::Ring);
  EXPECT_EQ(job.plan.zero, plan::ZeroStage::States);
  EXPECT_EQ(job.plan.sequenceParallel, true);
  EXPECT_EQ(job.plan.bucketSize, 4000);
  EXPECT_EQ(job.plan.gradientReduction, plan::GradientReduction::AfterBackward);
  EXPECT_EQ(job.globalBatch, 64);
  EXPECT_EQ(job.stack, "megatron-lm");
  // Only interleaved schedules overlap their messages.
  EXPECT_EQ(jobOf("--pipeline-model-parallel-size 2").plan.overlapMessages,
            false);
  EXPECT_EQ(jobOf("--recompute-activations").plan.recompute,
            plan::Recompute::Selective);
  EXPECT_EQ(jobOf("--bf16 --use-torch-fsdp2 "
                  "--untie-embeddings-and-output-weights "
                  "--torch-fsdp2-no-reshard-after-forward")
                .plan.reshardAfterForward,
            false);
  EXPECT_EQ(jobOf("--use-megatron-fsdp "
                  "--data-parallel-sharding-strategy optim_grads")
                .plan.zero,
            plan::ZeroStage::Gradients);
}

TEST(Megatron, GroupsOfOptimizersNeedTheNumberOfDevices) {
  Job job;
  EXPECT_NE(read(sizes.str() + "--num-distributed-optimizer-instances 2", job)
                .find("use --gpus N"),
            std::string::npos);
  job.gpus = 16;
  read(sizes.str() + "--tensor-model-parallel-size 2 "
                     "--num-distributed-optimizer-instances 2",
       job);
  EXPECT_EQ(job.plan.zeroGroup, 4);
}

TEST(Megatron, TheLauncherStatesTheDevices) {
  Job job;
  read("torchrun --nproc-per-node=4 --nnodes 2 dir/pretrain_gpt.py " +
           sizes.str(),
       job);
  EXPECT_EQ(job.gpus, 8);
  Job stated;
  stated.gpus = 4;
  EXPECT_NE(
      read("torchrun --nproc_per_node 8 pretrain_gpt.py " + sizes.str(), stated)
          .find("--gpus 4 replaces the 8 processes"),
      std::string::npos);
  EXPECT_EQ(stated.gpus, 4);
}

} // namespace
