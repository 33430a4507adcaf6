//===- HuggingFace.cpp - models from config.json files ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HuggingFace.h"

#include "Proteus/Models/Registry.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::models;

namespace {
/// A key of config.json and the dimension of the model that it sets.
struct Field {
  StringRef key;
  StringRef dimension;
  /// Alternative name of the key in some files; empty: none.
  StringRef other = "";
  /// True if the key may be absent or null. The dimension then keeps the value
  /// from `Architecture::settings`, or else its default.
  bool optional = false;
};

/// A dimension, and the value that it has in models of one type if the config
/// does not state it.
struct Setting {
  StringRef dimension;
  StringRef value;
};

/// A value of `model_type`, and the translation of configs with this value to
/// dimensions of a family.
struct Architecture {
  StringRef type;
  StringRef family;
  std::vector<Setting> settings;
  std::vector<Field> fields;
  /// Function that sets the dimensions that `settings` and `fields` cannot
  /// describe; null if there are none. It runs after `settings` and `fields`
  /// have been applied.
  std::function<void(const json::Reader &, const Dimensions &)> derive;
};
} // namespace

/// Default sequence length, in tokens, of Llama and similar models. If a config
/// states a smaller maximum number of positions, that number is the default.
static constexpr int64_t usualSequence = 4096;

//===----------------------------------------------------------------------===//
// Derived values
//===----------------------------------------------------------------------===//

/// Returns true if the config has `key` with a value other than null.
static bool says(const json::Reader &root, StringRef key) {
  return root.has(key) && !root[key].isNull();
}

static int64_t size(const json::Reader &root, StringRef key) {
  return root[key].integer(1, Dimensions::most);
}

/// Returns the flag `key`, or `otherwise` if `key` is absent or null.
static bool flag(const json::Reader &root, StringRef key, bool otherwise) {
  return says(root, key) ? root[key].boolean() : otherwise;
}

static void set(const json::Reader &root, const Dimensions &dimensions,
                StringRef name, const Twine &value) {
  if (Error error = dimensions.set(name, value.str(), "derived"))
    root.fail(toString(std::move(error)));
}

static void setFlag(const json::Reader &root, const Dimensions &dimensions,
                    StringRef name, bool value) {
  set(root, dimensions, name, value ? "true" : "false");
}

/// Records an error if the flag `key` is true, because no dimension can
/// represent this flag.
static void refuse(const json::Reader &root, StringRef key) {
  if (flag(root, key, false))
    root[key].fail("'" + key + "' can't be modelled");
}

/// Sets the dimension `seq` to `usualSequence`, or to the value of `key` if
/// this value is smaller. `key` names the maximum number of positions in the
/// config.
static void setUsualSequence(const json::Reader &root,
                             const Dimensions &dimensions, StringRef key) {
  if (says(root, key))
    set(root, dimensions, "seq",
        Twine(std::min(size(root, key), usualSequence)));
  else
    set(root, dimensions, "seq", Twine(usualSequence));
}

/// Sets the dimensions of Llama and similar models that `fields` cannot
/// describe. Records an error if the flag `attention_bias` or `mlp_bias` is
/// true.
static void deriveLlama(const json::Reader &root,
                        const Dimensions &dimensions) {
  setUsualSequence(root, dimensions, "max_position_embeddings");
  setFlag(root, dimensions, "tied_embeddings",
          flag(root, "tie_word_embeddings", false));
  refuse(root, "attention_bias");
  refuse(root, "mlp_bias");
}

static void deriveDeepSeek(const json::Reader &root,
                           const Dimensions &dimensions) {
  deriveLlama(root, dimensions);
  if (says(root, "n_shared_experts"))
    set(root, dimensions, "shared_expert_ffn",
        Twine(size(root, "n_shared_experts") *
              size(root, "moe_intermediate_size")));
  setFlag(root, dimensions, "router_bias",
          says(root, "topk_method") &&
              root["topk_method"].string() == "noaux_tc");
}

/// Sets the dimensions of Qwen models with experts that `fields` cannot
/// describe. Records an error if a layer has no experts.
static void deriveQwenExperts(const json::Reader &root,
                              const Dimensions &dimensions) {
  deriveLlama(root, dimensions);
  if (says(root, "decoder_sparse_step"))
    root["decoder_sparse_step"].integer(1, 1);
  if (says(root, "mlp_only_layers") &&
      !root["mlp_only_layers"].elements().empty())
    root["mlp_only_layers"].fail("layers without experts can't be modelled");
}

static void deriveOpt(const json::Reader &root, const Dimensions &dimensions) {
  // The table of positions has two more rows than the model has positions.
  // These rows are never used.
  int64_t positions = size(root, "max_position_embeddings");
  set(root, dimensions, "seq", Twine(positions));
  set(root, dimensions, "max_positions", Twine(positions + 2));
  setFlag(root, dimensions, "post_norm",
          !flag(root, "do_layer_norm_before", true));
}

static void deriveMpt(const json::Reader &root, const Dimensions &dimensions) {
  set(root, dimensions, "ffn",
      Twine(size(root, "d_model") * (says(root, "expansion_ratio")
                                         ? size(root, "expansion_ratio")
                                         : 4)));
  bool bias = !flag(root, "no_bias", true);
  set(root, dimensions, "bias", bias ? "all" : "none");
  set(root, dimensions, "norm", bias ? "layer" : "rms");
  bool alibi =
      says(root, "attn_config") && flag(root["attn_config"], "alibi", false);
  set(root, dimensions, "positions", alibi ? "alibi" : "learned");
}

static void deriveT5(const json::Reader &root, const Dimensions &dimensions) {
  if (says(root, "feed_forward_proj") &&
      root["feed_forward_proj"].string() != "relu")
    root["feed_forward_proj"].fail(
        "only 'relu' feed-forward blocks can be modelled");
  if (!flag(root, "tie_word_embeddings", true))
    root["tie_word_embeddings"].fail("only tied embeddings can be modelled");
  if (!says(root, "num_decoder_layers"))
    dimensions.set("decoder_layers", root["num_layers"]);
}

//===----------------------------------------------------------------------===//
// Table of model types
//===----------------------------------------------------------------------===//

static std::vector<Field> withFields(std::vector<Field> fields,
                                     std::vector<Field> more) {
  llvm::append_range(fields, more);
  return fields;
}

static std::vector<Architecture> makeArchitectures() {
  const std::vector<Field> usual = {{"vocab_size", "vocab"},
                                    {"hidden_size", "hidden"},
                                    {"num_hidden_layers", "layers"},
                                    {"num_attention_heads", "heads"},
                                    {"intermediate_size", "ffn"}};
  const std::vector<Field> llama = withFields(
      usual, {{"num_key_value_heads", "kv_heads", "", /*optional=*/true},
              {"head_dim", "head_dim", "", /*optional=*/true}});
  const std::vector<Field> latent =
      withFields(usual, {{"q_lora_rank", "q_lora_rank", "", /*optional=*/true},
                         {"kv_lora_rank", "kv_lora_rank"},
                         {"qk_nope_head_dim", "qk_head_dim"},
                         {"qk_rope_head_dim", "qk_rope_dim"},
                         {"v_head_dim", "v_head_dim"},
                         {"n_routed_experts", "experts"},
                         {"num_experts_per_tok", "topk"},
                         {"moe_intermediate_size", "moe_ffn"},
                         {"first_k_dense_replace", "dense_layers"}});
  const std::vector<Field> experts =
      withFields(llama, {{"num_experts", "experts"},
                         {"num_experts_per_tok", "topk"},
                         {"moe_intermediate_size", "moe_ffn"}});
  const std::vector<Setting> gated = {{"gated_mlp", "true"}};
  return {
      {"gpt2",
       "decoder",
       {},
       {{"vocab_size", "vocab"},
        {"n_embd", "hidden"},
        {"n_layer", "layers"},
        {"n_head", "heads"},
        {"n_inner", "ffn", "", /*optional=*/true},
        {"n_positions", "seq"},
        {"n_positions", "max_positions"}},
       nullptr},
      {"gpt_neox",
       "decoder",
       {{"positions", "rope"}},
       withFields(usual, {{"max_position_embeddings", "seq"}}),
       [](const json::Reader &root, const Dimensions &dimensions) {
         setFlag(root, dimensions, "parallel_residual",
                 flag(root, "use_parallel_residual", true));
         setFlag(root, dimensions, "tied_embeddings",
                 flag(root, "tie_word_embeddings", false));
       }},
      {"bloom",
       "decoder",
       {{"positions", "alibi"}, {"embedding_norm", "true"}, {"seq", "2048"}},
       {{"vocab_size", "vocab"},
        {"hidden_size", "hidden", "n_embed"},
        {"n_layer", "layers", "num_hidden_layers"},
        {"n_head", "heads", "num_attention_heads"},
        {"seq_length", "seq", "", /*optional=*/true}},
       nullptr},
      {"opt",
       "decoder",
       {{"fused_qkv", "false"}},
       {{"vocab_size", "vocab"},
        {"hidden_size", "hidden"},
        {"num_hidden_layers", "layers"},
        {"num_attention_heads", "heads"},
        {"ffn_dim", "ffn"},
        {"word_embed_proj_dim", "embedding", "", /*optional=*/true},
        {"activation_function", "activation", "", /*optional=*/true}},
       deriveOpt},
      {"mpt",
       "decoder",
       {},
       {{"vocab_size", "vocab"},
        {"d_model", "hidden"},
        {"n_layers", "layers"},
        {"n_heads", "heads"},
        {"max_seq_len", "seq"}},
       deriveMpt},
      {"llama", "decoder", gated, llama, deriveLlama},
      {"mistral", "decoder", gated, llama, deriveLlama},
      {"mixtral", "decoder", gated,
       withFields(llama, {{"num_local_experts", "experts"},
                          {"num_experts_per_tok", "topk"}}),
       deriveLlama},
      {"deepseek_v2", "decoder", gated, latent, deriveDeepSeek},
      {"deepseek_v3", "decoder", gated, latent, deriveDeepSeek},
      {"qwen2",
       "decoder",
       {{"gated_mlp", "true"}, {"bias", "qkv"}},
       llama,
       deriveLlama},
      {"qwen2_moe",
       "decoder",
       {{"gated_mlp", "true"}, {"bias", "qkv"}, {"shared_expert_gate", "true"}},
       withFields(experts,
                  {{"shared_expert_intermediate_size", "shared_expert_ffn"}}),
       deriveQwenExperts},
      {"qwen3_moe",
       "decoder",
       {{"gated_mlp", "true"}, {"head_norms", "true"}},
       experts,
       deriveQwenExperts},
      {"bert",
       "bert",
       {},
       withFields(usual, {{"max_position_embeddings", "max_positions"},
                          {"max_position_embeddings", "seq"},
                          {"type_vocab_size", "types"}}),
       nullptr},
      {"t5",
       "encoder-decoder",
       {{"pre_norm", "true"}, {"bias", "false"}, {"seq", "512"}},
       {{"vocab_size", "vocab"},
        {"d_model", "hidden"},
        {"d_kv", "head_dim"},
        {"d_ff", "ffn"},
        {"num_layers", "encoder_layers"},
        {"num_decoder_layers", "decoder_layers", "", /*optional=*/true},
        {"num_heads", "heads"},
        {"relative_attention_num_buckets", "relative_buckets"}},
       deriveT5}};
}

static ArrayRef<Architecture> architectures() {
  static const std::vector<Architecture> all = makeArchitectures();
  return all;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::string models::huggingFaceTypes() {
  SmallVector<StringRef> types;
  for (const Architecture &each : architectures())
    types.push_back(each.type);
  return join(types, ", ");
}

std::unique_ptr<Model>
models::readHuggingFaceConfig(const json::Reader &root,
                              std::vector<std::string> &remarks) {
  std::string type = root["model_type"].string();
  const Architecture *found =
      llvm::find_if(architectures(), [&](const Architecture &each) {
        return each.type == type;
      });
  if (found == architectures().end()) {
    root["model_type"].fail("unknown model type '" + type +
                            "' (known: " + huggingFaceTypes() + ")");
    return nullptr;
  }
  std::unique_ptr<Model> model =
      Registry::get().findFamily(found->family)->make();
  Dimensions dimensions;
  model->declare(dimensions);
  for (const Setting &setting : found->settings)
    set(root, dimensions, setting.dimension, setting.value);
  for (const Field &field : found->fields) {
    StringRef key = field.key;
    if (!says(root, key) && !field.other.empty() && says(root, field.other))
      key = field.other;
    if (!field.optional || says(root, key))
      dimensions.set(field.dimension, root[key]);
  }
  if (found->derive)
    found->derive(root, dimensions);
  std::vector<std::string> known;
  for (const Field &field : found->fields)
    known.push_back(field.key.str());
  remarks = remarksOnUnusedKeys(root, known);
  return model;
}
