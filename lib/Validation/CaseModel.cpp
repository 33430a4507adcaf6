//===- CaseModel.cpp - models of measured runs ----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseTranslation.h"

#include "Proteus/Models/Model.h"
#include "Proteus/Models/Registry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;
using namespace proteus::validation;

/// Sets the model of the job to a preset with overrides.
static void use(Job &job, StringRef preset,
                std::initializer_list<std::string> overrides = {}) {
  job.model = preset.str();
  llvm::append_range(job.overrides, overrides);
}

/// Returns the letters and digits of a name in lower case: "ResNet-50 v1.5"
/// becomes "resnet50v15".
static std::string plainName(StringRef name) {
  std::string plain;
  for (char c : name)
    if (isAlnum(c))
      plain += toLower(c);
  return plain;
}

/// Returns the table of the dimensions of the decoder family.
static const models::Dimensions &dimensionsOfDecoders() {
  static std::unique_ptr<models::Model> model =
      models::Registry::get().findFamily("decoder")->make();
  static const models::Dimensions dimensions = [] {
    models::Dimensions declared;
    model->declare(declared);
    return declared;
  }();
  return dimensions;
}

/// Translates a description in a case to a dimension of decoders and its value
/// in JSON: key "norm" with the words "RMSNorm" becomes norm = "rms". Returns
/// nullopt if the words describe no dimension.
static std::optional<std::pair<StringRef, StringRef>>
dimensionOf(StringRef key, StringRef words) {
  std::string lower = words.lower();
  StringRef text = lower;
  using Found = std::pair<StringRef, StringRef>;
  if (key == "activation" && (text.contains("glu") || text.contains("silu")))
    return Found("gated_mlp", "true");
  if (key == "norm" && text.contains("rms"))
    return Found("norm", "\"rms\"");
  if (key == "norm" && text.contains("layer"))
    return Found("norm", "\"layer\"");
  if (key == "positions" && (text.contains("rope") || text.contains("rotary")))
    return Found("positions", "\"rope\"");
  if (key == "positions" &&
      (text.contains("learned") || text.contains("absolute")))
    return Found("positions", "\"learned\"");
  return std::nullopt;
}

/// Sets the model of the job to the text of a model file of the decoder family,
/// with the dimensions that the case states. Assumes the vocabulary and the
/// number of heads if the case does not state them, and gated blocks for
/// families of models that always have them.
static void useDecoder(const json::Reader &model, Job &job, CaseNotes &notes) {
  std::vector<std::pair<std::string, std::string>> said;
  auto isSaid = [&](StringRef key) {
    return any_of(said, [&](const auto &each) { return each.first == key; });
  };
  auto add = [&](StringRef key, StringRef value) {
    if (!isSaid(key))
      said.emplace_back(key, value);
  };
  for (const auto &[key, value] : model.members()) {
    if (value.isNull() || key == "kind" || key == "mean_tokens")
      continue;
    if (auto known =
            value.isString() ? dimensionOf(key, value.string()) : std::nullopt)
      add(known->first, known->second);
    else if (key == "name" || dimensionsOfDecoders().has(key))
      add(key, value.text());
    else
      notes.assumed.push_back("'" + key + "' of the model changes nothing");
  }
  // All feed-forward blocks of the models with these names are gated.
  std::string name =
      hasValue(model, "name") ? plainName(model["name"].string()) : "";
  if (!isSaid("gated_mlp") && !isSaid("activation") &&
      any_of(ArrayRef<StringRef>{"llama", "mistral", "mixtral", "qwen",
                                 "deepseek", "internlm"},
             [&](StringRef family) {
               return StringRef(name).starts_with(family);
             })) {
    notes.assumed.push_back("feed-forward blocks are gated, as in all models "
                            "of that family");
    add("gated_mlp", "true");
  }
  if (!isSaid("vocab")) {
    notes.assumed.push_back("the vocabulary is not stated: it has 50304 words");
    add("vocab", "50304");
  }
  if (std::optional<int64_t> hidden = countOf(model, "hidden");
      hidden && !isSaid("heads")) {
    notes.assumed.push_back(
        "the number of heads is not stated: each has 128 dimensions");
    add("heads", std::to_string(std::max<int64_t>(1, *hidden / 128)));
  }
  job.model = "{\"family\": \"decoder\"";
  for (const auto &[key, value] : said)
    job.model += ", " + json::quote(key) + ": " + value;
  job.model += "}";
  if (hasValue(model, "name") &&
      StringRef(model["name"].string()).starts_with("MPT")) {
    // The MPT models of llm-foundry have no biases, and ALiBi instead of
    // position embeddings.
    job.overrides.push_back("bias=none");
    job.overrides.push_back("positions=alibi");
  }
  if (!hasValue(model, "attn"))
    return;
  std::string words = model["attn"].string();
  bool isUnfused = any_of(ArrayRef<StringRef>{"unfused", "eager", "naive"},
                          [&](StringRef word) {
                            return StringRef(words).contains_insensitive(word);
                          });
  job.overrides.push_back(isUnfused ? "attention_kernel=unfused"
                                    : "attention_kernel=fused");
}

static Error useImages(const json::Reader &model, Job &job) {
  struct Known {
    StringRef name, preset;
  };
  // The first entry that is a prefix of the model's name applies.
  static constexpr Known known[] = {
      {"ssd300", "ssd300-resnet50"},
      {"resnext10132x4d", "resnext101-32x4d"},
      {"resnet152", "resnet152"},
      {"resnet101", "resnet101"},
      {"resnet18", "resnet18"},
      {"resnet34", "resnet34"},
      {"resnet50", "resnet50"},
      {"inceptionv3", "inception_v3"},
      {"inception3", "inception_v3"},
      {"alexnet", "alexnet"},
      {"vgg11", "vgg11"},
      {"vgg13", "vgg13"},
      {"vgg16", "vgg16"},
      {"vgg19", "vgg19"},
      {"vitb16", "vit-b-16"},
      {"vitl16", "vit-l-16"},
      {"vith14", "vit-h-14"},
  };
  std::string name = model["name"].string(), plain = plainName(name);
  const Known *found = llvm::find_if(known, [&](const Known &each) {
    return StringRef(plain).starts_with(each.name);
  });
  if (found == std::end(known))
    return createStringError("the model '" + name + "' is not in the library");
  use(job, found->preset);
  if (std::optional<int64_t> image = countOf(model, "image"))
    job.overrides.push_back("image=" + std::to_string(*image));
  // Image models are trained with momentum if the case does not state SGD
  // (docs/validation.md).
  if (job.optimizer == Job().optimizer)
    job.optimizer = plan::Optimizer::Momentum;
  return Error::success();
}

static std::string sizeOf(const json::Reader &model, StringRef key) {
  return key.str() + "=" + std::to_string(model[key].integer(1, 1'000'000'000));
}

/// Returns the mean number of text tokens in a sequence of Wikipedia text with
/// `seq` positions. The other positions are padding, because articles may be
/// shorter: 17 % of 128 positions and half of 512 positions (Krell et al. 2021,
/// arXiv 2107.02027). Between these two lengths, the number of text tokens is
/// interpolated. Below 128, 17 % of the positions are padding too. Above 512,
/// there are as many text tokens as in 512 positions.
static int64_t tokensOfWikipedia(int64_t seq) {
  constexpr int64_t shortest = 128, longest = 512;
  constexpr int64_t tokensOfShortest = 106, tokensOfLongest = 256;
  if (seq <= shortest)
    return std::max<int64_t>(1, seq * tokensOfShortest / shortest);
  return tokensOfShortest + (std::min(seq, longest) - shortest) *
                                (tokensOfLongest - tokensOfShortest) /
                                (longest - shortest);
}

/// Adds an override for each size in `keys` that the case states.
static void overrideSizes(const json::Reader &model,
                          std::initializer_list<StringRef> keys, Job &job) {
  for (StringRef key : keys)
    if (hasValue(model, key))
      job.overrides.push_back(sizeOf(model, key));
}

Error proteus::validation::modelOfCase(const json::Reader &model, Job &job,
                                       CaseNotes &notes) {
  std::string kind = model["kind"].string();
  std::string name = hasValue(model, "name") ? model["name"].string() : kind;
  if (hasValue(model, "mean_tokens"))
    job.meanTokens = model["mean_tokens"].integer(1, 1'000'000'000);
  StringRef words = kind;
  if (words.contains("encdec") || words.contains("encoder-decoder"))
    return createStringError(
        "the batch is counted in tokens of sentences of different lengths: the "
        "case does not state the samples of a step");
  if (words.contains("decoder") || words.contains("moe")) {
    useDecoder(model, job, notes);
    return Error::success();
  }
  if (words == "cnn" || words.contains("vit") || words.contains("vision"))
    return useImages(model, job);
  if (kind == "transformer-encoder") {
    use(job, StringRef(name).contains("base") ? "bert-base" : "bert-large",
        {sizeOf(model, "seq")});
    overrideSizes(model, {"layers", "hidden", "heads", "ffn", "vocab"}, job);
    if (StringRef(name).contains("SQuAD"))
      job.overrides.push_back("task=squad");
    // Masked language models predict 15 % of the tokens (Devlin et al. 2019).
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
    overrideSizes(model, {"layers", "hidden", "heads", "head_dim", "ffn"}, job);
    return Error::success();
  }
  if (kind == "dlrm") {
    use(job, StringRef(name).contains("large") ? "dlrm-criteo-large"
                                               : "dlrm-criteo-small");
    // The published training scripts for DLRM use SGD (docs/validation.md).
    job.optimizer = plan::Optimizer::SGD;
    return Error::success();
  }
  if (kind == "rnn-seq2seq")
    return createStringError(
        "sentences of different lengths are batched: the case states tokens "
        "per second, but not the tokens of a step");
  return createStringError("models of the kind '" + kind + "' are not known");
}
