//===- CaseModel.cpp - models of measured runs ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseTranslation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::driver;

/// Sets a preset and dimensions of it.
static void use(Job &job, StringRef preset,
                std::initializer_list<std::string> overrides = {}) {
  job.model = preset.str();
  llvm::append_range(job.overrides, overrides);
}

/// A decoder is built from the dimensions that the case gives; the family of
/// the model decides what dimensions do not say.
static void useDecoder(const json::Reader &model, Job &job) {
  job.model = model.text();
  if (StringRef(model["name"].string()).starts_with("MPT")) {
    // Dimensions of llm-foundry: no biases, alibi instead of positions.
    job.overrides.push_back("bias=none");
    job.overrides.push_back("positions=alibi");
  }
  if (model.has("attn"))
    job.overrides.push_back(
        StringRef(model["attn"].string()).contains("unfused")
            ? "attention_kernel=unfused"
            : "attention_kernel=fused");
}

static Error useImages(const json::Reader &model, Job &job) {
  std::string name = model["name"].string();
  StringRef preset = StringSwitch<StringRef>(name)
                         .Cases({"ResNet-50", "ResNet-50 v1.5"}, "resnet50")
                         .Case("ResNet-152", "resnet152")
                         .Case("ResNeXt101-32x4d", "resnext101-32x4d")
                         .Case("InceptionV3", "inception_v3")
                         .Case("AlexNet", "alexnet")
                         .Case("VGG16", "vgg16")
                         .Case("SSD300-ResNet50", "ssd300-resnet50")
                         .Default("");
  if (preset.empty())
    return createStringError("the model '" + name + "' is not in the library");
  use(job, preset);
  // Where nothing is said; see docs/validation.md.
  if (job.optimizer == Job().optimizer)
    job.optimizer = "momentum";
  return Error::success();
}

static std::string sizeOf(const json::Reader &model, StringRef key) {
  return key.str() + "=" + std::to_string(model[key].integer(1, 1'000'000'000));
}

/// Tokens that a sequence of Wikipedia's text holds on average: five sixths of
/// 128 and half of 512, because articles end (Krell et al. 2021, arXiv
/// 2107.02027; the shares of padding are 17 and 50 %).
static int64_t tokensOfWikipedia(int64_t seq) {
  constexpr int64_t shortest = 128, longest = 512;
  constexpr int64_t tokensOfShortest = 106, tokensOfLongest = 256;
  if (seq <= shortest)
    return std::max<int64_t>(1, seq * tokensOfShortest / shortest);
  return tokensOfShortest + (std::min(seq, longest) - shortest) *
                                (tokensOfLongest - tokensOfShortest) /
                                (longest - shortest);
}

Error proteus::driver::modelOfCase(const json::Reader &model, Job &job) {
  std::string kind = model["kind"].string();
  std::string name = model["name"].string();
  if (model.has("mean_tokens"))
    job.meanTokens = model["mean_tokens"].integer(1, 1'000'000'000);
  if (kind == "transformer-decoder" || kind == "moe-mla-decoder") {
    useDecoder(model, job);
    return Error::success();
  }
  if (kind == "cnn")
    return useImages(model, job);
  if (kind == "transformer-encoder") {
    use(job, StringRef(name).contains("base") ? "bert-base" : "bert-large",
        {sizeOf(model, "seq")});
    if (StringRef(name).contains("SQuAD"))
      job.overrides.push_back("task=squad");
    // Masked tokens are those that such a model predicts: 15 in 100 (Devlin et
    // al. 2019).
    if (StringRef(name).contains("MLM")) {
      int64_t seq = model["seq"].integer(1, 1'000'000'000);
      job.overrides.push_back("predictions=" +
                              std::to_string((15 * seq + 99) / 100));
      if (!job.meanTokens)
        job.meanTokens = tokensOfWikipedia(seq);
    }
    return Error::success();
  }
  if (kind == "transformer-xl") {
    use(job,
        StringRef(name).contains("base") ? "transformer-xl-base"
                                         : "transformer-xl-large",
        {sizeOf(model, "seq"), sizeOf(model, "mem_len")});
    return Error::success();
  }
  if (kind == "dlrm") {
    use(job, StringRef(name).contains("large") ? "dlrm-criteo-large"
                                               : "dlrm-criteo-small");
    // As the scripts of such models have it; see docs/validation.md.
    job.optimizer = "sgd";
    return Error::success();
  }
  if (kind == "rnn-seq2seq")
    return createStringError(
        "sentences of different lengths are batched: the case says tokens per "
        "second, but not how many tokens a step has");
  if (kind == "transformer-encdec")
    return createStringError(
        "the batch is counted in tokens of sentences of different lengths: "
        "the case does not say how many samples a step has");
  return createStringError("models of the kind '" + kind + "' are not known");
}
