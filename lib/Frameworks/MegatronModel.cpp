//===- MegatronModel.cpp - models in the flags of Megatron-LM -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Megatron.h"

#include "ModelText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::frameworks;

/// Upper bounds as in the model library.
static constexpr int64_t mostLayers = 4096, most = 1'000'000'000,
                         mostExperts = 1'000'000;

int64_t proteus::frameworks::layersOf(Arguments &arguments) {
  if (arguments.has("num-layers") && arguments.has("encoder-num-layers"))
    arguments.fail("--num-layers and --encoder-num-layers state the same; "
                   "leave one out");
  for (StringRef name : {"num-layers", "encoder-num-layers"})
    if (auto layers = arguments.integer(name, 1, mostLayers))
      return *layers;
  return 0;
}

//===----------------------------------------------------------------------===//
// Patterns of layers
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates a list of zeros and ones that is written as in Python:
/// `([0]*3+[1]*58)`.
class LayerPattern {
public:
  explicit LayerPattern(StringRef text) : text(text) {}

  /// Returns the list, or nullopt if the text is not such a list or has more
  /// than `mostLayers` elements.
  std::optional<std::vector<bool>> evaluate() {
    std::optional<std::vector<bool>> list = sum(/*depth=*/0);
    return text.empty() ? list : std::nullopt;
  }

private:
  using List = std::optional<std::vector<bool>>;

  List sum(unsigned depth) {
    List list = product(depth);
    while (list && accept("+")) {
      List more = product(depth);
      if (!more || list->size() + more->size() > size_t(mostLayers))
        return std::nullopt;
      list->insert(list->end(), more->begin(), more->end());
    }
    return list;
  }

  List product(unsigned depth) {
    constexpr unsigned deepest = 32;
    if (depth > deepest)
      return std::nullopt;
    List list;
    if (accept("(")) {
      list = sum(depth + 1);
      if (!accept(")"))
        return std::nullopt;
    } else {
      list = literal();
    }
    while (list && accept("*")) {
      uint64_t count;
      if (text.consumeInteger(10, count) || count > uint64_t(mostLayers) ||
          list->size() * count > uint64_t(mostLayers))
        return std::nullopt;
      std::vector<bool> repeated;
      for (uint64_t i = 0; i < count; ++i)
        repeated.insert(repeated.end(), list->begin(), list->end());
      list = repeated;
    }
    return list;
  }

  List literal() {
    if (!accept("["))
      return std::nullopt;
    std::vector<bool> list;
    do {
      if (accept("1"))
        list.push_back(true);
      else if (accept("0"))
        list.push_back(false);
      else
        return std::nullopt;
    } while (list.size() <= size_t(mostLayers) && accept(","));
    return accept("]") ? List(list) : std::nullopt;
  }

  bool accept(StringRef token) {
    text = text.ltrim();
    bool found = text.consume_front(token);
    text = text.ltrim();
    return found;
  }

  StringRef text;
};

/// Reads the model from the flags.
class Reader {
public:
  Reader(Arguments &arguments, Notes &notes, jobs::Job &job)
      : arguments(arguments), notes(notes), job(job), model("megatron-lm") {}

  void read();

private:
  void sizes();
  void vocabulary();
  void feedForward();
  void attention();
  void latentAttention();
  void positions();
  void experts();
  void layersWithExperts();
  void loss();
  void types();
  void optimizer();

  /// Sets the dimension of the flag `name` if the flag is stated.
  void copy(StringRef name, int64_t max = most) {
    if (auto value = arguments.integer(name, 1, max))
      model.set(frameworkOf("megatron").find(name)->dimension, *value);
  }
  /// Returns the degree of a kind of parallelism.
  int64_t degree(StringRef name) {
    return arguments.integer(name, 1, plan::maxDegree).value_or(1);
  }
  /// Notes those of `names` that are stated as flags without effect.
  void ignore(std::initializer_list<StringRef> names, StringRef reason) {
    for (StringRef name : names)
      if (arguments.has(name))
        notes.noEffect(("--" + name).str(), reason);
  }

  Arguments &arguments;
  Notes &notes;
  jobs::Job &job;
  ModelText model;
  int64_t layers = 0, heads = 0, groups = 0;
  bool isLatent = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

void Reader::sizes() {
  if (layers)
    model.set("layers", layers);
  copy("hidden-size");
  copy("num-attention-heads");
  heads = arguments.integer("num-attention-heads", 1, most).value_or(0);
  int64_t hidden = arguments.integer("hidden-size", 1, most).value_or(0);
  if (heads && hidden % heads && !arguments.has("kv-channels"))
    arguments.fail("--hidden-size " + Twine(hidden) +
                   " is no multiple of --num-attention-heads " + Twine(heads) +
                   "; state --kv-channels, or change one of them");
  if (arguments.has("seq-length") && arguments.has("encoder-seq-length"))
    arguments.fail("--seq-length and --encoder-seq-length state the same; "
                   "leave one out");
  int64_t seq = 0;
  for (StringRef name : {"seq-length", "encoder-seq-length"})
    seq = arguments.integer(name, 1, most).value_or(seq);
  int64_t longest =
      arguments.integer("max-position-embeddings", 1, most).value_or(seq);
  if (longest < seq)
    arguments.fail("--max-position-embeddings " + Twine(longest) +
                   " is less than --seq-length " + Twine(seq));
  if (seq)
    model.set("seq", seq);
  int64_t parts = degree("context-parallel-size");
  if (parts > 1 && seq % (2 * parts))
    arguments.fail("--seq-length " + Twine(seq) +
                   " is no multiple of twice --context-parallel-size, which "
                   "is " +
                   Twine(2 * parts));
}

void Reader::vocabulary() {
  job.vocabMultiple =
      arguments.integer("make-vocab-size-divisible-by", 1, most).value_or(128);
  std::string tokenizer =
      arguments.text("tokenizer-type").value_or("GPT2BPETokenizer");
  if (auto padded = arguments.integer("padded-vocab-size", 1, most)) {
    job.vocabMultiple = 1;
    model.set("vocab", *padded);
  } else if (auto size = arguments.integer("vocab-size", 1, most - 1)) {
    // The null tokenizers add the token for the end of a document.
    model.set("vocab", *size + StringRef(tokenizer).starts_with("Null"));
  } else if (tokenizer == "GPT2BPETokenizer") {
    notes.byDefault("a vocabulary of 50257 (GPT2BPETokenizer)");
    model.set("vocab", int64_t(50257));
  } else if (tokenizer == "Llama2Tokenizer") {
    notes.byDefault("a vocabulary of 32000 (Llama2Tokenizer)");
    model.set("vocab", int64_t(32000));
  } else {
    arguments.fail("--tokenizer-type " + tokenizer +
                   " reads the size of the vocabulary from a file; add "
                   "--vocab-size N");
  }
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

void Reader::feedForward() {
  bool isGated = arguments.has("swiglu") || arguments.has("quick-geglu");
  if (arguments.has("swiglu") && arguments.has("quick-geglu"))
    arguments.fail("--swiglu and --quick-geglu select two activations; leave "
                   "one out");
  model.set("gated_mlp", isGated);
  int64_t hidden = arguments.integer("hidden-size", 1, most).value_or(0);
  int64_t width = isGated ? 4 * hidden * 2 / 3 / 64 * 64 : 4 * hidden;
  if (auto stated = arguments.integer("ffn-hidden-size", 1, most))
    width = *stated;
  else
    notes.byDefault("--ffn-hidden-size " + Twine(width));
  if (width)
    model.set("ffn", width);
  auto norm = arguments.word("normalization", {"LayerNorm", "RMSNorm"});
  model.set("norm", norm == "RMSNorm" ? "rms" : "layer");
  bool hasBias = !arguments.has("disable-bias-linear");
  model.set("bias", hasBias                         ? "all"
                    : arguments.has("add-qkv-bias") ? "qkv"
                                                    : "none");
  if (hasBias && (arguments.has("num-experts") || isLatent))
    notes.notModelled("biases without --disable-bias-linear",
                      "experts and latent attention have none");
  double dropout = arguments.number("hidden-dropout", 0, 0.99).value_or(0.1);
  if (!arguments.has("hidden-dropout"))
    notes.byDefault("--hidden-dropout 0.1");
  if (dropout > 0)
    model.set("dropout", dropout);
}

void Reader::positions() {
  std::string kind =
      arguments
          .word("position-embedding-type", {"learned_absolute", "rope", "yarn",
                                            "mrope", "relative", "none"})
          .value_or("learned_absolute");
  if (arguments.has("use-rotary-position-embeddings"))
    kind = "rope";
  bool isRotary = kind == "rope" || kind == "yarn" || kind == "mrope";
  if (arguments.has("no-position-embedding") && !isRotary)
    arguments.fail("--no-position-embedding is allowed with "
                   "--position-embedding-type rope only; use "
                   "--position-embedding-type none");
  if (kind == "relative")
    arguments.fail("--position-embedding-type relative is not modelled; use "
                   "rope, learned_absolute or none");
  model.set("positions", isRotary         ? "rope"
                         : kind == "none" ? "none"
                                          : "learned");
  if (kind == "learned_absolute") {
    if (auto rows = arguments.integer("max-position-embeddings", 1, most))
      model.set("max_positions", *rows);
  } else {
    ignore({"max-position-embeddings"}, "there is no table of positions");
  }
}

void Reader::attention() {
  bool hasGroups = arguments.has("group-query-attention");
  groups = hasGroups
               ? arguments.integer("num-query-groups", 1, most).value_or(1)
               : heads;
  if (!hasGroups)
    ignore({"num-query-groups"}, "needs --group-query-attention");
  isLatent = arguments.has("multi-latent-attention");
  auto kernel = arguments.word("attention-backend",
                               {"auto", "flash", "fused", "unfused", "local"});
  bool isUnfused = kernel == "unfused" || kernel == "local";
  if (isUnfused && arguments.has("use-flash-attn"))
    arguments.fail("--use-flash-attn and --attention-backend " + *kernel +
                   " select two kernels; leave one out");
  if (isUnfused && (isLatent || groups != heads))
    notes.notModelled("--attention-backend " + *kernel,
                      "attention with fewer key heads than heads, or with "
                      "latent vectors, is one kernel");
  // Overrides, so that the stack does not decide.
  job.overrides.push_back(isUnfused && !isLatent && groups == heads
                              ? "attention_kernel=unfused"
                              : "attention_kernel=fused");
  if (isLatent)
    return latentAttention();
  ignore({"q-lora-rank", "kv-lora-rank", "qk-head-dim", "qk-pos-emb-head-dim",
          "v-head-dim"},
         "needs --multi-latent-attention");
  if (hasGroups)
    model.set("kv_heads", groups);
  copy("kv-channels");
  if (arguments.has("qk-layernorm"))
    model.set("head_norms", true);
}

void Reader::latentAttention() {
  copy("q-lora-rank");
  auto size = [&](StringRef flag, StringRef dimension, int64_t usual) {
    model.set(dimension, arguments.integer(flag, 1, most).value_or(usual));
    if (!arguments.has(flag))
      notes.byDefault("--" + flag + " " + Twine(usual));
  };
  size("kv-lora-rank", "kv_lora_rank", 32);
  size("qk-head-dim", "qk_head_dim", 128);
  size("qk-pos-emb-head-dim", "qk_rope_dim", 64);
  size("v-head-dim", "v_head_dim", 128);
  ignore({"kv-channels", "group-query-attention", "num-query-groups"},
         "heads of latent attention have sizes of their own");
  if (!arguments.has("qk-layernorm"))
    notes.notModelled("no --qk-layernorm", "latent vectors are normalised");
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

void Reader::layersWithExperts() {
  std::string text = arguments.text("moe-layer-freq").value_or("1");
  if (text == "1")
    return;
  std::optional<std::vector<bool>> pattern;
  int64_t period;
  if (StringRef(text).getAsInteger(10, period)) {
    pattern = LayerPattern(text).evaluate();
  } else if (period > 1 && period <= mostLayers) {
    pattern.emplace();
    for (int64_t layer = 0; layer < layers; ++layer)
      pattern->push_back(layer % period == 0);
  }
  if (!pattern)
    return arguments.fail("--moe-layer-freq: expected a number, or a list such "
                          "as ([0]*3+[1]*58), got '" +
                          text + "'");
  if (pattern->size() != size_t(layers))
    return arguments.fail("--moe-layer-freq: the list has " +
                          Twine(pattern->size()) + " layers, the model " +
                          Twine(layers));
  auto firstSparse = llvm::find(*pattern, true);
  if (llvm::is_contained(llvm::make_range(firstSparse, pattern->end()), false))
    return arguments.fail(
        "--moe-layer-freq " + text +
        ": only the first layers can be without experts; layers that "
        "alternate are not modelled");
  if (int64_t dense = firstSparse - pattern->begin())
    model.set("dense_layers", dense);
}

void Reader::experts() {
  int64_t count = arguments.integer("num-experts", 0, mostExperts).value_or(0);
  int64_t parts = degree("expert-model-parallel-size");
  if (!count) {
    if (parts > 1)
      arguments.fail("--expert-model-parallel-size needs --num-experts");
    return ignore({"moe-router-topk", "moe-ffn-hidden-size",
                   "moe-shared-expert-intermediate-size", "moe-layer-freq",
                   "moe-shared-expert-gate", "moe-router-enable-expert-bias",
                   "moe-expert-capacity-factor",
                   "moe-pad-expert-input-to-capacity", "moe-grouped-gemm",
                   "expert-tensor-parallel-size"},
                  "needs --num-experts");
  }
  if (count % parts)
    arguments.fail("--num-experts " + Twine(count) +
                   " is no multiple of --expert-model-parallel-size " +
                   Twine(parts));
  if (parts > 1 && arguments.has("fp16"))
    arguments.fail("--expert-model-parallel-size is not allowed with --fp16; "
                   "use --bf16");
  model.set("experts", count);
  model.set("topk",
            arguments.integer("moe-router-topk", 1, mostExperts).value_or(2));
  copy("moe-ffn-hidden-size");
  copy("moe-shared-expert-intermediate-size");
  if (arguments.has("moe-shared-expert-gate"))
    model.set("shared_expert_gate", true);
  if (arguments.has("moe-router-enable-expert-bias"))
    model.set("router_bias", true);
  layersWithExperts();
  if (!arguments.has("moe-grouped-gemm"))
    notes.notModelled("no --moe-grouped-gemm",
                      "the experts of a device are one grouped product");
  else if (!arguments.has("bf16"))
    arguments.fail("--moe-grouped-gemm needs --bf16");
  constexpr double mostCapacity = 1000;
  job.expertCapacity = arguments.number("moe-expert-capacity-factor",
                                        1 / mostCapacity, mostCapacity);
  job.padExperts = arguments.has("moe-pad-expert-input-to-capacity");
  if (job.padExperts && !job.expertCapacity)
    arguments.fail("--moe-pad-expert-input-to-capacity needs "
                   "--moe-expert-capacity-factor");
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void Reader::loss() {
  bool isFused = arguments.has("cross-entropy-loss-fusion");
  auto kernel =
      arguments.word("cross-entropy-fusion-impl", {"native", "te", "linear"});
  bool isHalf = arguments.has("fp16-lm-cross-entropy");
  if (isHalf && !arguments.has("fp16"))
    arguments.fail("--fp16-lm-cross-entropy needs --fp16");
  if (!isFused)
    ignore({"cross-entropy-fusion-impl"}, "needs --cross-entropy-loss-fusion");
  bool isShort = arguments.has("bf16") || arguments.has("fp16");
  if (isShort && !isHalf && !(isFused && kernel && *kernel != "native"))
    job.overrides.push_back("logits=f32");
  else
    job.overrides.push_back("logits=compute");
}

void Reader::types() {
  bool isBF16 = arguments.has("bf16"), isFP16 = arguments.has("fp16");
  if (isBF16 && isFP16)
    arguments.fail("--bf16 and --fp16 exclude each other; leave one out");
  job.precision = isBF16   ? plan::Precision::BF16
                  : isFP16 ? plan::Precision::FP16
                           : plan::Precision::FP32;
  if (!isBF16 && !isFP16)
    notes.byDefault("fp32 (neither --bf16 nor --fp16)");
  if (arguments.word("fp8-format", {"e4m3", "hybrid"})) {
    if (!isBF16)
      arguments.fail("--fp8-format is modelled with --bf16 only");
    job.precision = plan::Precision::FP8;
  }
  // An empty text is the type of the parameters.
  bool keepsBF16 =
      arguments.has("grad-reduce-in-bf16") ||
      arguments.word("main-grads-dtype", {"fp32", "bf16"}) == "bf16";
  if (keepsBF16 && arguments.has("accumulate-allreduce-grads-in-fp32") &&
      !arguments.has("grad-reduce-in-bf16"))
    arguments.fail("--main-grads-dtype bf16 and "
                   "--accumulate-allreduce-grads-in-fp32 exclude each other; "
                   "leave one out");
  if (isBF16)
    job.gradientType = keepsBF16 ? "" : "f32";
  else if (isFP16)
    job.gradientType =
        arguments.has("accumulate-allreduce-grads-in-fp32") ? "f32" : "";
  if (arguments.word("main-params-dtype", {"fp32", "fp16"}) == "fp16")
    notes.notModelled("--main-params-dtype fp16", "the master copy is fp32");
}

void Reader::optimizer() {
  std::string name = arguments.text("optimizer").value_or("adam");
  double momentum = arguments.number("sgd-momentum", 0, 1).value_or(0.9);
  if (name == "adam")
    job.optimizer = plan::Optimizer::Adam;
  else if (name == "sgd")
    job.optimizer =
        momentum > 0 ? plan::Optimizer::Momentum : plan::Optimizer::SGD;
  else
    arguments.fail("--optimizer " + name + " is not modelled; use adam or sgd");
  if (name != "sgd")
    ignore({"sgd-momentum"}, "needs --optimizer sgd");
}

void Reader::read() {
  layers = layersOf(arguments);
  sizes();
  vocabulary();
  attention();
  feedForward();
  positions();
  model.set("tied_embeddings",
            !arguments.has("untie-embeddings-and-output-weights"));
  experts();
  loss();
  types();
  optimizer();
  job.model = model.finish();
}

void proteus::frameworks::readMegatronModel(Arguments &arguments, Notes &notes,
                                            jobs::Job &job) {
  Reader(arguments, notes, job).read();
}
