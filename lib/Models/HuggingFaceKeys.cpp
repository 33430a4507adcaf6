//===- HuggingFaceKeys.cpp - keys that no model reads ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names the keys of a config.json that the model library does not use. A key
// either changes no prediction, or changes a real step in a way that is not
// modelled.
//
//===----------------------------------------------------------------------===//

#include "HuggingFace.h"

#include "Proteus/Support/Nearest.h"
#include "Proteus/Support/Reasons.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::models;

namespace {
/// Keys that have the same reason, separated by spaces.
struct Keys {
  StringRef names, reason;
};
} // namespace

static constexpr Keys withoutEffect[] = {
    {"architectures auto_map model_name _name_or_path name_or_path "
     "transformers_version tokenizer_class prefix finetuning_task "
     "task_specific_params problem_type id2label label2id num_labels "
     "language torchscript _commit_hash",
     "names"},
    {"bos_token_id eos_token_id pad_token_id unk_token_id sep_token_id "
     "cls_token_id mask_token_id decoder_start_token_id forced_bos_token_id "
     "forced_eos_token_id suppress_tokens begin_suppress_tokens",
     "tokens"},
    {"torch_dtype dtype params_dtype", "see --precision"},
    {"use_cache output_attentions output_hidden_states output_past "
     "return_dict return_dict_in_generate is_decoder is_encoder_decoder "
     "add_cross_attention use_bfloat16 pretraining_tp tp_size ep_size "
     "max_length min_length do_sample temperature top_k top_p "
     "num_beams repetition_penalty length_penalty n_predict "
     "attn_implementation _attn_implementation _attn_implementation_internal "
     "cache_implementation use_mems offset_alibi slow_but_exact "
     "masked_softmax_fusion bias_dropout_fusion unk_index "
     "chunk_size_feed_forward",
     "inference or names of kernels"},
    {"initializer_range initializer_factor rms_norm_eps layer_norm_eps "
     "layer_norm_epsilon norm_eps rope_theta rope_scaling rope_parameters "
     "rope_interleave rotary_emb_base original_max_position_embeddings "
     "max_position_embeddings hidden_act hidden_activation "
     "activation_function activation dense_act_fn is_gated_act "
     "scale_attn_weights scale_attn_by_inverse_layer_idx "
     "reorder_and_upcast_attn logit_scale embedding_multiplier "
     "residual_multiplier attention_multiplier mscale "
     "relative_attention_max_distance position_embedding_type "
     "layer_norm_type init_device init_std",
     "cost the same whatever their value"},
    {"router_aux_loss_coef router_jitter_noise router_z_loss_coef "
     "output_router_logits aux_loss_alpha seq_aux norm_topk_prob "
     "routed_scaling_factor scoring_func topk_method",
     "experts get equal loads; see --expert-balance"},
    {"num_key_value_heads head_dim", "sizes of the model type"},
    {"summary_type summary_use_proj summary_activation "
     "summary_proj_to_labels summary_first_dropout classifier_dropout",
     "heads of other tasks"}};

static constexpr Keys unmodelled[] = {
    {"sliding_window use_sliding_window max_window_layers layer_types "
     "attention_chunk_size sliding_window_pattern attention_types window_size",
     "attention reads all preceding tokens"},
    {"quantization_config", "types are those of --precision"},
    {"n_group topk_group", "tokens may go to the experts of all groups"},
    {"num_nextn_predict_layers num_mtp_modules",
     "the layers of multi-token prediction are left out"},
    {"attention_dropout hidden_dropout embd_pdrop attn_pdrop resid_pdrop "
     "dropout activation_dropout dropout_rate hidden_dropout_prob "
     "attention_probs_dropout_prob layerdrop emb_pdrop embedding_dropout "
     "resid_dropout attn_dropout",
     "see --set dropout"},
    {"moe_layer_freq", "all layers after the dense ones have experts"},
    {"final_logit_softcapping attn_logit_softcapping", "logits have no limit"},
    {"rotary_pct partial_rotary_factor rotary_dim", "whole heads are rotated"},
    {"gradient_checkpointing", "see --recompute"},
    {"attn_config", "only alibi is read"},
    {"add_bias_linear qkv_bias use_bias bias enable_bias",
     "biases are those of the model type"},
    {"layer_norm_elementwise_affine", "norms have parameters"},
    {"clip_qkv", "values are not limited"}};

/// Returns the reason for the key `name`, or an empty text.
static StringRef reasonOf(StringRef name, ArrayRef<Keys> groups) {
  for (const Keys &group : groups) {
    SmallVector<StringRef> names;
    group.names.split(names, ' ');
    if (is_contained(names, name))
      return group.reason;
  }
  return "";
}

/// Returns true if `value` turns a feature off.
static bool isOff(const json::Reader &value) {
  std::string text = value.text();
  return text == "null" || text == "false" || text == "0" || text == "0.0" ||
         text == "[]" || text == "{}";
}

std::vector<std::string>
models::remarksOnUnusedKeys(const json::Reader &root,
                            ArrayRef<std::string> known) {
  Reasons without, notModelled;
  std::string unknown;
  bool hasWindow =
      !root.has("use_sliding_window") || !isOff(root["use_sliding_window"]);
  for (const auto &[name, value] : root.unreadMembers()) {
    StringRef key = name;
    if (StringRef reason = reasonOf(key, withoutEffect); !reason.empty()) {
      without.add(key, reason);
    } else if (StringRef reason = reasonOf(key, unmodelled); !reason.empty()) {
      bool isWindow = key == "sliding_window" || key == "max_window_layers" ||
                      key == "use_sliding_window";
      // Models without a group of experts, and with one, are the same.
      bool isSingle = (key == "n_group" || key == "moe_layer_freq" ||
                       key == "rotary_pct" || key == "partial_rotary_factor") &&
                      (value.text() == "1" || value.text() == "1.0");
      if (isOff(value) || isSingle || (isWindow && !hasWindow))
        without.add(key, "it is off");
      else
        notModelled.add(key, reason);
    } else {
      std::string near = nearest(key, known);
      unknown += (unknown.empty() ? "" : ", ") + name +
                 (near.empty() ? "" : " (did you mean " + near + "?)");
    }
  }
  // The only section of which a model reads single keys.
  if (root.has("attn_config"))
    for (const auto &[name, value] : root["attn_config"].unreadMembers()) {
      if (isOff(value))
        without.add("attn_config." + name, "it is off");
      else
        notModelled.add("attn_config." + name,
                        reasonOf("attn_config", unmodelled));
    }
  std::vector<std::string> remarks;
  if (!notModelled.empty())
    remarks.push_back("not modelled: " + notModelled.text());
  if (!unknown.empty())
    remarks.push_back("keys of the model that are not read: " + unknown);
  if (!without.empty())
    remarks.push_back("no effect on the prediction: " + without.text());
  return remarks;
}
