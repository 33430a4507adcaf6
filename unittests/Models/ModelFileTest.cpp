//===- ModelFileTest.cpp - models from files --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/BuildModel.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace proteus::models;

namespace {

/// Fixture with a model file in a temporary directory.
class ModelFileTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("models", directory));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(directory); }

  std::string write(llvm::StringRef text) {
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, "model.json");
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << text;
    EXPECT_FALSE(error);
    return path.str().str();
  }
  llvm::Expected<ModelDescription>
  describeText(llvm::StringRef text,
               const std::vector<std::string> &overrides = {}) {
    return describe({write(text), 1, Precision(), overrides});
  }
  int64_t parametersOf(llvm::StringRef text) {
    llvm::Expected<ModelDescription> description = describeText(text);
    if (description)
      return description->parameters;
    ADD_FAILURE() << llvm::toString(description.takeError());
    return 0;
  }
  /// Returns the error of a text, without the path of the file.
  std::string errorOf(llvm::StringRef text) {
    llvm::Expected<ModelDescription> description = describeText(text);
    if (description)
      return "built";
    std::string message = llvm::toString(description.takeError());
    size_t at = message.find("model.json");
    return at == std::string::npos ? message : message.substr(at);
  }

  llvm::SmallString<128> directory;
};

//===----------------------------------------------------------------------===//
// Hugging Face
//===----------------------------------------------------------------------===//

TEST_F(ModelFileTest, ConfigsOfGptAndItsRelatives) {
  EXPECT_EQ(
      parametersOf(R"json({"model_type": "gpt2", "n_ctx": 1024, "n_embd": 768,
      "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257})json"),
      124439808);
  EXPECT_EQ(parametersOf(R"json({"model_type": "gpt_neox", "hidden_size": 6144,
      "intermediate_size": 24576, "max_position_embeddings": 2048,
      "num_attention_heads": 64, "num_hidden_layers": 44, "rotary_pct": 0.25,
      "tie_word_embeddings": false, "use_parallel_residual": true,
      "vocab_size": 50432})json"),
            20554567680);
  EXPECT_EQ(parametersOf(R"json({"model_type": "bloom", "n_embed": 1024,
      "n_head": 16, "n_layer": 24, "vocab_size": 250880})json"),
            559214592);
  EXPECT_EQ(
      parametersOf(R"json({"model_type": "opt", "activation_function": "relu",
      "do_layer_norm_before": false, "ffn_dim": 4096, "hidden_size": 1024,
      "max_position_embeddings": 2048, "num_attention_heads": 16,
      "num_hidden_layers": 24, "vocab_size": 50272,
      "word_embed_proj_dim": 512})json"),
      331196416);
  EXPECT_EQ(
      parametersOf(R"json({"model_type": "mpt", "attn_config": {"alibi": true},
      "d_model": 4096, "expansion_ratio": 4, "max_seq_len": 2048,
      "n_heads": 32, "n_layers": 32, "no_bias": true, "vocab_size": 50432})json"),
      6649286656);
}

TEST_F(ModelFileTest, ConfigsOfLlamaAndItsRelatives) {
  EXPECT_EQ(parametersOf(R"json({"model_type": "llama", "hidden_size": 4096,
      "intermediate_size": 14336, "max_position_embeddings": 131072,
      "num_attention_heads": 32, "num_hidden_layers": 32,
      "num_key_value_heads": 8, "tie_word_embeddings": false,
      "vocab_size": 128256})json"),
            8030261248);
  EXPECT_EQ(parametersOf(R"json({"model_type": "mistral", "hidden_size": 4096,
      "head_dim": null, "intermediate_size": 14336, "sliding_window": 4096,
      "max_position_embeddings": 32768, "num_attention_heads": 32,
      "num_hidden_layers": 32, "num_key_value_heads": 8,
      "vocab_size": 32000})json"),
            7241732096);
  EXPECT_EQ(parametersOf(R"json({"model_type": "mixtral", "hidden_size": 4096,
      "intermediate_size": 14336, "max_position_embeddings": 32768,
      "num_attention_heads": 32, "num_experts_per_tok": 2,
      "num_hidden_layers": 32, "num_key_value_heads": 8,
      "num_local_experts": 8, "vocab_size": 32000})json"),
            46702792704);
  EXPECT_EQ(parametersOf(R"json({"model_type": "qwen2", "hidden_size": 896,
      "intermediate_size": 4864, "max_position_embeddings": 32768,
      "num_attention_heads": 14, "num_hidden_layers": 24,
      "num_key_value_heads": 2, "tie_word_embeddings": true,
      "vocab_size": 151936})json"),
            494032768);
}

TEST_F(ModelFileTest, ConfigsOfMixtures) {
  EXPECT_EQ(parametersOf(R"json({"model_type": "deepseek_v2",
      "first_k_dense_replace": 1, "hidden_size": 2048,
      "intermediate_size": 10944, "kv_lora_rank": 512,
      "max_position_embeddings": 163840, "moe_intermediate_size": 1408,
      "n_routed_experts": 64, "n_shared_experts": 2,
      "num_attention_heads": 16, "num_experts_per_tok": 6,
      "num_hidden_layers": 27, "num_key_value_heads": 16, "q_lora_rank": null,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "topk_method": "greedy",
      "v_head_dim": 128, "vocab_size": 102400})json"),
            15706484224);
  EXPECT_EQ(parametersOf(R"json({"model_type": "deepseek_v3",
      "first_k_dense_replace": 3, "hidden_size": 7168,
      "intermediate_size": 18432, "kv_lora_rank": 512,
      "max_position_embeddings": 163840, "moe_intermediate_size": 2048,
      "n_routed_experts": 256, "n_shared_experts": 1,
      "num_attention_heads": 128, "num_experts_per_tok": 8,
      "num_hidden_layers": 61, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
      "qk_rope_head_dim": 64, "topk_method": "noaux_tc", "v_head_dim": 128,
      "vocab_size": 129280})json"),
            671026419200);
  EXPECT_EQ(parametersOf(R"json({"model_type": "qwen2_moe", "hidden_size": 2048,
      "decoder_sparse_step": 1, "intermediate_size": 5632,
      "max_position_embeddings": 8192, "moe_intermediate_size": 1408,
      "num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
      "num_hidden_layers": 24, "num_key_value_heads": 16,
      "shared_expert_intermediate_size": 5632, "vocab_size": 151936})json"),
            14315784192);
  EXPECT_EQ(parametersOf(R"json({"model_type": "qwen3_moe", "head_dim": 128,
      "decoder_sparse_step": 1, "hidden_size": 2048, "intermediate_size": 6144,
      "max_position_embeddings": 40960, "mlp_only_layers": [],
      "moe_intermediate_size": 768, "num_attention_heads": 32,
      "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 48,
      "num_key_value_heads": 4, "vocab_size": 151936})json"),
            30532122624);
}

TEST_F(ModelFileTest, ConfigsOfEncoders) {
  EXPECT_EQ(parametersOf(R"json({"model_type": "bert", "hidden_size": 768,
      "intermediate_size": 3072, "max_position_embeddings": 512,
      "num_attention_heads": 12, "num_hidden_layers": 12,
      "type_vocab_size": 2, "vocab_size": 30522})json"),
            110106428);
  EXPECT_EQ(parametersOf(R"json({"model_type": "t5", "d_ff": 2048, "d_kv": 64,
      "d_model": 512, "num_heads": 8, "num_layers": 6,
      "relative_attention_num_buckets": 32, "vocab_size": 32128})json"),
            60506624);
}

TEST_F(ModelFileTest, ConfigsThatAreWrong) {
  EXPECT_EQ(errorOf(R"json({"model_type": "mamba"})json"),
            "model.json: unknown model type 'mamba' (known: gpt2, gpt_neox, "
            "bloom, opt, mpt, llama, mistral, mixtral, deepseek_v2, "
            "deepseek_v3, qwen2, qwen2_moe, qwen3_moe, bert, t5) at "
            "model_type");
  EXPECT_EQ(errorOf(R"json({"model_type": 3})json"),
            "model.json: expected a string at model_type, got 3");
  EXPECT_EQ(errorOf(R"json({"model_type": "gpt2", "vocab_size": 10})json"),
            "model.json: missing key 'n_embd'");
  EXPECT_EQ(errorOf(R"json({"model_type": "gpt2", "vocab_size": "many"})json"),
            "model.json: expected an integer from 1 to 1000000000 at "
            "vocab_size, got \"many\"");
  EXPECT_EQ(errorOf(R"json({"model_type": "gpt2", "vocab_size": -4})json"),
            "model.json: expected an integer from 1 to 1000000000 at "
            "vocab_size, got -4");
  EXPECT_EQ(errorOf(R"json({"model_type": "gpt2", "vocab_size": null})json"),
            "model.json: expected an integer from 1 to 1000000000 at "
            "vocab_size, got null");
  EXPECT_TRUE(
      llvm::StringRef(
          errorOf(R"json({"model_type": "gpt2", "vocab_size": NaN})json"))
          .starts_with("model.json:1:38: malformed JSON"));
  EXPECT_EQ(errorOf(R"json({"model_type": "t5", "d_ff": 2048, "d_kv": 64,
      "d_model": 512, "num_heads": 8, "num_layers": 6, "vocab_size": 32128,
      "relative_attention_num_buckets": 32,
      "feed_forward_proj": "gated-gelu"})json"),
            "model.json: only 'relu' feed-forward blocks can be modelled at "
            "feed_forward_proj");
  EXPECT_EQ(errorOf(R"json({"model_type": "llama", "hidden_size": 16,
      "intermediate_size": 16, "num_attention_heads": 3,
      "num_hidden_layers": 2, "vocab_size": 16})json"),
            "model 'model': heads (3) must divide hidden (16), or head_dim be "
            "given");
}

//===----------------------------------------------------------------------===//
// Files of families
//===----------------------------------------------------------------------===//

TEST_F(ModelFileTest, FilesOfFamilies) {
  EXPECT_EQ(
      parametersOf(R"json({"family": "decoder", "layers": 12, "hidden": 768,
      "heads": 12, "vocab": 50257, "seq": 1024})json"),
      124439808);
  EXPECT_EQ(parametersOf(R"json({"family": "bert", "layers": 12, "hidden": 768,
      "heads": 12})json"),
            110106428);
  llvm::Expected<ModelDescription> description = describeText(
      R"json({"family": "decoder", "name": "My GPT (2)", "layers": 12,
      "hidden": 768, "heads": 12, "vocab": 50257, "seq": 1024
})json",
      {"layers=1"});
  ASSERT_TRUE(static_cast<bool>(description));
  EXPECT_EQ(description->name, "my_gpt__2");
  EXPECT_EQ(description->parameters, 124439808 - 11 * 7087872);
  EXPECT_EQ(description->dimensions.front(),
            std::pair(std::string("layers"), std::string("1")));
}

/// Model files in the vocabulary of measured runs.
TEST_F(ModelFileTest, FilesOfMeasuredRuns) {
  EXPECT_EQ(
      parametersOf(R"json({"kind": "transformer-decoder", "name": "MPT-3b",
      "layers": 32, "hidden": 2560, "heads": 20, "ffn": 10240, "vocab": 50368,
      "seq": 512, "params": 2647905280, "tied_embeddings": true,
      "attn": "flash (alibi/learned pos)"})json"),
      2647905280);
  EXPECT_EQ(parametersOf(R"json({"kind": "transformer-decoder",
      "name": "llama3-70b", "hidden": 8192, "heads": 64, "kv_heads": 8,
      "head_dim": 128, "ffn": 28672, "vocab": 128256, "gated_mlp": true,
      "untied_embeddings": true, "layers": 80, "seq": 4096})json"),
            70553706496);
  EXPECT_EQ(
      parametersOf(R"json({"kind": "moe-mla-decoder", "name": "deepseek-v2",
      "hidden": 5120, "heads": 128, "ffn": 12288, "moe_ffn": 1536,
      "shared_expert_ffn": 3072, "experts": 160, "topk": 6, "dense_layers": 1,
      "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_head_dim": 128,
      "qk_rope_dim": 64, "v_head_dim": 128, "vocab": 102400,
      "gated_mlp": true, "layers": 60, "seq": 4096})json"),
      235741434880);
  EXPECT_EQ(parametersOf(R"json({"kind": "transformer-xl",
      "name": "Transformer-XL base", "layers": 16, "hidden": 512, "heads": 8,
      "ffn": 2048, "seq": 192, "mem_len": 192})json"),
            191950298);
  EXPECT_EQ(parametersOf(R"json({"kind": "transformer-encdec",
      "name": "Transformer-big (WMT14)", "layers": 12, "heads": 16,
      "arch": "fairseq transformer_wmt_en_de_big (6+6 blocks)"
  })json"),
            210878464);
}

TEST_F(ModelFileTest, FilesThatAreWrong) {
  EXPECT_EQ(
      errorOf(R"json({"family": "perceptron"})json"),
      "model.json: unknown family 'perceptron' (known: decoder, bert, "
      "encoder-decoder, transformer-xl, alexnet, vgg, resnet, inception_v3, "
      "ssd, vit, gnmt, dlrm, gpt-reference) at family");
  EXPECT_TRUE(llvm::StringRef(errorOf(R"json({"layers": 2})json"))
                  .starts_with("model.json: expected the key 'family' (one of "
                               "decoder, "));
  EXPECT_EQ(errorOf(R"json({"family": "decoder", "layrs": 2})json"),
            "model.json: unknown key 'layrs' (nearest valid key: 'layers')");
  EXPECT_EQ(errorOf(R"json({"family": "decoder", "layers": 0})json"),
            "model.json: expected an integer from 1 to 4096 at layers, got "
            "0");
  EXPECT_EQ(errorOf(R"json({"family": "decoder", "norm": "batch"})json"),
            "model.json: expected one of layer, rms, got 'batch' at norm");
  EXPECT_EQ(errorOf(R"json({"family": "decoder", "layers": 2})json"),
            "model 'model': the dimension 'hidden' is not given");
  EXPECT_EQ(
      errorOf(R"json({"family": "transformer-xl", "cutoffs": [4, 2]})json"),
      "model 'model': the dimension 'layers' is not given");
  EXPECT_NE(errorOf("[").find("malformed JSON"), std::string::npos);
  llvm::Expected<ModelDescription> missing =
      describe({"no/such/file.json", 1, {}, {}});
  ASSERT_FALSE(static_cast<bool>(missing));
  EXPECT_EQ(llvm::toString(missing.takeError()),
            "can't read the model file 'no/such/file.json': No such file or "
            "directory");
}

TEST_F(ModelFileTest, DimensionsThatDoNotFit) {
  auto decoder = [&](const std::string &more) {
    return errorOf(R"json({"family": "decoder", "layers": 2, "hidden": 8,
        "heads": 2, "vocab": 8, "seq": 4, )json" +
                   more + "}");
  };
  EXPECT_EQ(decoder(R"("experts": 2)"),
            "model 'model': the dimension 'topk' is not given");
  EXPECT_EQ(decoder(R"("experts": 2, "topk": 3)"),
            "model 'model': topk (3) is more than experts (2)");
  EXPECT_EQ(decoder(R"("experts": 2, "topk": 1, "dense_layers": 3)"),
            "model 'model': dense_layers (3) is more than layers (2)");
  EXPECT_EQ(decoder(R"("topk": 1)"),
            "model 'model': the dimension 'experts' is not given, but other "
            "dimensions of experts are");
  EXPECT_EQ(decoder(R"("kv_lora_rank": 2)"),
            "model 'model': the dimension 'qk_head_dim' is not given");
  EXPECT_EQ(decoder(R"("positions": "rope", "head_dim": 3)"),
            "model 'model': head_dim (3) must be even for rotary positions");
  auto memory = [&](const std::string &more) {
    return errorOf(R"json({"family": "transformer-xl", "layers": 2, "hidden": 8,
        "heads": 2, "seq": 100, )json" +
                   more + "}");
  };
  EXPECT_EQ(memory(R"("cutoffs": [4, 2])"),
            "model 'model': cutoffs must ascend and end before vocab (267735)");
  EXPECT_EQ(memory(R"("cutoffs": [4])"),
            "model 'model': tail_percent has 3 numbers, cutoffs 1");
  EXPECT_TRUE(llvm::StringRef(memory(R"("tail_percent": [50, 50, 50])"))
                  .starts_with("model 'model': a cluster of the vocabulary has "
                               "no tokens"));
  EXPECT_EQ(
      errorOf(R"json({"family": "bert", "layers": 2, "hidden": 8, "heads": 2,
      "seq": 600})json"),
      "model 'model': seq (600) must be from 2 to max_positions (512)");
  EXPECT_EQ(errorOf(R"json({"family": "encoder-decoder", "layers": 3})json"),
            "model 'model': layers (3) must be even: half of them are the "
            "encoder's");
}

} // namespace
