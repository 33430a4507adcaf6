//===- ParametersTest.cpp - published numbers of parameters -----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds every preset and counts its parameters. Conventions: tied embeddings
// count once; vocabularies and tables of positions have the size of the
// published checkpoint, unpadded; biases and norms count; buffers do not.
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/BuildModel.h"
#include "Proteus/Models/CountParameters.h"
#include "Proteus/Models/Registry.h"

#include "gtest/gtest.h"

#include <map>

using namespace proteus::models;

namespace {

/// Numbers of the checkpoints on huggingface.co, counted from their tensors.
/// Rows marked "shapes" are sums of the published shapes, because only rounded
/// numbers were published.
const std::map<std::string, int64_t> published = {
    {"gpt1", 116534784},
    {"gpt2", 124439808},
    {"gpt2-medium", 354823168},
    {"gpt2-large", 774030080},
    {"gpt2-xl", 1557611200},
    {"gpt3-125m", 125226240},    // shapes
    {"gpt3-350m", 355871744},    // shapes
    {"gpt3-760m", 760300032},    // shapes
    {"gpt3-1.3b", 1315723264},   // shapes
    {"gpt3-2.7b", 2651553280},   // shapes
    {"gpt3-6.7b", 6658404352},   // shapes
    {"gpt3-13b", 12853386240},   // shapes
    {"gpt3-175b", 174604259328}, // shapes
    {"gpt-neox-20b", 20554567680},
    {"bloom-560m", 559214592},
    {"bloom-1b1", 1065314304},
    {"bloom-1b7", 1722408960},
    {"bloom-3b", 3002557440},
    {"bloom-7b1", 7069016064},
    {"bloom-176b", 176247271424},
    {"opt-125m", 125239296},
    {"opt-350m", 331196416},
    {"opt-1.3b", 1315758080},
    {"opt-2.7b", 2651596800},
    {"opt-6.7b", 6658473984},
    {"opt-13b", 12853473280},
    {"opt-30b", 29974540288},
    {"opt-66b", 65719701504},   // shapes
    {"opt-175b", 174604468224}, // shapes
    {"mpt-7b", 6649286656},
    {"mpt-30b", 29957200896}, // shapes
    // As the benchmark prints them for sequences of 2048.
    {"foundry-125m", 125311488},
    {"foundry-350m", 355985408},
    {"foundry-760m", 760470528},
    {"foundry-1b", 1315950592},
    {"foundry-3b", 2651837440},
    {"foundry-7b", 6658859008},
    {"foundry-13b", 12853954560},
    {"foundry-30b", 29975214080},
    {"foundry-70b", 64862437376},
    {"llama2-7b", 6738415616},
    {"llama2-13b", 13015864320},
    {"llama2-70b", 68976648192},
    {"llama3-8b", 8030261248},
    {"llama3-70b", 70553706496},
    {"llama3-405b", 405853388800},
    {"llama3.2-1b", 1235814400},
    {"llama3.2-3b", 3212749824},
    {"mistral-7b", 7241732096},
    {"mixtral-8x7b", 46702792704},
    {"mixtral-8x22b", 140620634112},
    {"deepseek-v2-lite", 15706484224},
    {"deepseek-v2", 235741434880},
    // Without the module for multi-token prediction.
    {"deepseek-v3", 671026419200},
    {"qwen2.5-0.5b", 494032768},
    {"qwen2.5-1.5b", 1543714304},
    {"qwen2.5-3b", 3085938688},
    {"qwen2.5-7b", 7615616512},
    {"qwen2.5-14b", 14770033664},
    {"qwen2.5-32b", 32763876352},
    {"qwen2.5-72b", 72706203648},
    {"qwen1.5-moe-a2.7b", 14315784192},
    {"qwen2-57b-a14b", 57408658944}, // shapes
    {"qwen3-30b-a3b", 30532122624},
    {"qwen3-235b-a22b", 235093634560},
    // With the heads of pre-training.
    {"bert-base", 110106428},
    {"bert-large", 336226108},
    {"transformer-big", 210878464}, // shapes
    {"t5-small", 60506624},
    {"t5-base", 222903552},
    {"t5-large", 737668096},
    {"t5-3b", 2851598336},
    {"t5-11b", 11307321344},
    // As the training script prints it.
    {"transformer-xl-base", 191950298},
    {"transformer-xl-large", 285167482}, // shapes
};

int64_t parametersOf(const ModelRequest &request) {
  llvm::Expected<ModelDescription> description = describe(request);
  if (!description) {
    ADD_FAILURE() << llvm::toString(description.takeError());
    return 0;
  }
  return description->parameters;
}

TEST(Parameters, AreThePublishedOnes) {
  for (const auto &[name, count] : published)
    EXPECT_EQ(parametersOf({name, 8, {}, {}}), count) << name;
}

/// Conversely, all transformers are in the table.
TEST(Parameters, OfEveryTransformerAreKnown) {
  for (const Preset &preset : Registry::get().getPresets())
    for (const char *family :
         {"decoder", "bert", "encoder-decoder", "transformer-xl"})
      if (preset.family == family) {
        EXPECT_EQ(published.count(preset.name), 1u) << preset.name;
      }
}

TEST(Parameters, FollowTheDimensions) {
  int64_t twelve = parametersOf({"gpt2", 1, {}, {}});
  int64_t eleven = parametersOf({"gpt2", 1, {}, {"layers=11"}});
  EXPECT_EQ(twelve - eleven, 7087872);
  // Shorter sequences do not change the table of positions.
  EXPECT_EQ(parametersOf({"gpt2", 1, {}, {"seq=512"}}), twelve);
  EXPECT_EQ(parametersOf({"gpt2", 1, {}, {"tied_embeddings=false"}}),
            twelve + 50257 * 768);
  // In the benchmark of LLM Foundry they do.
  EXPECT_EQ(parametersOf({"foundry-3b", 1, {}, {"seq=512"}}), 2647905280);
  EXPECT_EQ(parametersOf({"foundry-3b", 1, {}, {"seq=65536"}}), 2814366720);
}

TEST(Parameters, OfExpertsOnlyThoseOfTheChosenOnesAreActive) {
  mlir::MLIRContext context;
  // In billions, as the authors publish them.
  const std::map<std::string, double> active = {
      {"llama3-8b", 8.0},      {"mixtral-8x7b", 12.9},
      {"mixtral-8x22b", 39.2}, {"deepseek-v2", 21.4},
      {"deepseek-v3", 37.6},   {"qwen1.5-moe-a2.7b", 2.7},
      {"qwen3-30b-a3b", 3.3},  {"qwen3-235b-a22b", 22.2},
  };
  for (const auto &[name, billions] : active) {
    ModelRequest request;
    request.model = name;
    auto module = llvm::cantFail(buildModel(context, request));
    ParameterCount count = countParameters(*module);
    EXPECT_EQ(count.all, parametersOf(request)) << name;
    EXPECT_NEAR(static_cast<double>(count.active) / 1e9, billions,
                0.06 + billions / 50)
        << name;
  }
}

} // namespace
