//===- LlamaPresets.cpp - Llama and similar models --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Presets with published dimensions. Vocabularies are not padded.
// unittests/Models/ParametersTest.cpp lists the resulting numbers of
// parameters.
//
//===----------------------------------------------------------------------===//

#include "DecoderPresets.h"

using namespace proteus;
using namespace proteus::models;

namespace {
/// Name, label and sizes of one model of a series. The function that adds the
/// series sets all other dimensions.
struct Size {
  const char *name;
  const char *label;
  int64_t layers;
  int64_t hidden;
  int64_t heads;
  int64_t kvHeads;
  int64_t ffn;
};
} // namespace

/// Returns the dimensions of a Llama model: gated feed-forward blocks, RMS
/// norms, rotary positions and no biases.
static TransformerDims llama(const Size &size, int64_t vocab, int64_t seq) {
  TransformerDims dims;
  dims.gatedMlp = true;
  dims.layers = size.layers;
  dims.hidden = size.hidden;
  dims.heads = size.heads;
  dims.kvHeads = size.kvHeads;
  dims.ffn = size.ffn;
  dims.vocab = vocab;
  dims.seq = seq;
  return dims;
}

static TransformerDims withExperts(TransformerDims dims, int64_t experts,
                                   int64_t topk, int64_t moeFfn) {
  dims.experts = experts;
  dims.topk = topk;
  dims.moeFfn = moeFfn;
  return dims;
}

static void addLlama(DecoderPresets &presets) {
  for (const Size &size :
       {Size{"llama2-7b", "Llama 2 7B", 32, 4096, 32, 32, 11008},
        Size{"llama2-13b", "Llama 2 13B", 40, 5120, 40, 40, 13824},
        Size{"llama2-70b", "Llama 2 70B", 80, 8192, 64, 8, 28672}})
    presets.add(size.name, size.label,
                "arXiv:2307.09288, huggingface.co/"
                "meta-llama",
                llama(size, 32000, 4096));
  for (const Size &size :
       {Size{"llama3-8b", "Llama 3 and 3.1 8B", 32, 4096, 32, 8, 14336},
        Size{"llama3-70b", "Llama 3, 3.1 and 3.3 70B", 80, 8192, 64, 8, 28672},
        Size{"llama3-405b", "Llama 3.1 405B", 126, 16384, 128, 8, 53248}})
    presets.add(size.name, size.label,
                "arXiv:2407.21783, huggingface.co/meta-llama",
                llama(size, 128256, 8192));
  for (const Size &size :
       {Size{"llama3.2-1b", "Llama 3.2 1B", 16, 2048, 32, 8, 8192},
        Size{"llama3.2-3b", "Llama 3.2 3B", 28, 3072, 24, 8, 8192}}) {
    TransformerDims dims = llama(size, 128256, 8192);
    dims.tiedEmbeddings = true;
    presets.add(size.name, size.label, "huggingface.co/meta-llama", dims);
  }
}

/// Adds Mistral and Mixtral. In the published Mistral 7B, a token attends to
/// the last 4096 tokens. In this preset, it attends to all preceding tokens.
/// The two differ only for sequences of more than 4096 tokens.
static void addMistral(DecoderPresets &presets) {
  Size seven{"mistral-7b", "Mistral 7B", 32, 4096, 32, 8, 14336};
  presets.add(seven.name, seven.label,
              "huggingface.co/mistralai/Mistral-7B-v0.1",
              llama(seven, 32000, 4096));
  presets.add("mixtral-8x7b", "Mixtral 8x7B, 47B with 8 experts",
              "huggingface.co/mistralai/Mixtral-8x7B-v0.1",
              withExperts(llama(seven, 32000, 4096), 8, 2, 14336));
  Size large{"mixtral-8x22b",
             "Mixtral 8x22B, 141B with 8 experts",
             56,
             6144,
             48,
             8,
             16384};
  presets.add(large.name, large.label,
              "huggingface.co/mistralai/Mixtral-8x22B-v0.1",
              withExperts(llama(large, 32000, 4096), 8, 2, 16384));
}

/// Adds DeepSeek models, which have latent attention, many small routed experts
/// and a shared expert. The first layers have no experts. Multi-token
/// prediction is not modelled.
static void addDeepSeek(DecoderPresets &presets) {
  auto latent = [](TransformerDims dims) {
    dims.kvLoraRank = 512;
    dims.qkHeadDim = dims.vHeadDim = 128;
    dims.qkRopeDim = 64;
    dims.denseLayers = 1;
    return dims;
  };
  TransformerDims lite = latent(withExperts(
      llama({"", "", 27, 2048, 16, 0, 10944}, 102400, 4096), 64, 6, 1408));
  lite.sharedExpertFfn = 2816;
  presets.add("deepseek-v2-lite", "DeepSeek-V2-Lite, 16B",
              "huggingface.co/deepseek-ai/DeepSeek-V2-Lite", lite);
  TransformerDims second = latent(withExperts(
      llama({"", "", 60, 5120, 128, 0, 12288}, 102400, 4096), 160, 6, 1536));
  second.sharedExpertFfn = 3072;
  second.qLoraRank = 1536;
  presets.add("deepseek-v2", "DeepSeek-V2, 236B",
              "huggingface.co/deepseek-ai/DeepSeek-V2", second);
  TransformerDims third = latent(withExperts(
      llama({"", "", 61, 7168, 128, 0, 18432}, 129280, 4096), 256, 8, 2048));
  third.sharedExpertFfn = 2048;
  third.qLoraRank = 1536;
  third.denseLayers = 3;
  third.routerBias = true;
  presets.add("deepseek-v3", "DeepSeek-V3, 671B",
              "huggingface.co/deepseek-ai/DeepSeek-V3", third);
}

static void addQwen(DecoderPresets &presets) {
  for (const Size &size :
       {Size{"qwen2.5-0.5b", "Qwen2.5 0.5B", 24, 896, 14, 2, 4864},
        Size{"qwen2.5-1.5b", "Qwen2.5 1.5B", 28, 1536, 12, 2, 8960},
        Size{"qwen2.5-3b", "Qwen2.5 3B", 36, 2048, 16, 2, 11008},
        Size{"qwen2.5-7b", "Qwen2.5 7B", 28, 3584, 28, 4, 18944},
        Size{"qwen2.5-14b", "Qwen2.5 14B", 48, 5120, 40, 8, 13824},
        Size{"qwen2.5-32b", "Qwen2.5 32B", 64, 5120, 40, 8, 27648},
        Size{"qwen2.5-72b", "Qwen2.5 72B", 80, 8192, 64, 8, 29568}}) {
    bool small = size.hidden <= 2048;
    TransformerDims dims = llama(size, small ? 151936 : 152064, 4096);
    dims.tiedEmbeddings = small;
    dims.bias = "qkv";
    presets.add(size.name, size.label, "huggingface.co/Qwen", dims);
  }
}

static void addQwenExperts(DecoderPresets &presets) {
  TransformerDims small = withExperts(
      llama({"", "", 24, 2048, 16, 16, 5632}, 151936, 4096), 60, 4, 1408);
  small.sharedExpertFfn = 5632;
  TransformerDims large = withExperts(
      llama({"", "", 28, 3584, 28, 4, 18944}, 151936, 4096), 64, 8, 2560);
  large.sharedExpertFfn = 20480;
  for (TransformerDims *dims : {&small, &large}) {
    dims->bias = "qkv";
    dims->sharedExpertGate = true;
  }
  presets.add("qwen1.5-moe-a2.7b", "Qwen1.5-MoE, 14B with 60 experts",
              "huggingface.co/Qwen/Qwen1.5-MoE-A2.7B", small);
  presets.add("qwen2-57b-a14b", "Qwen2-MoE, 57B with 64 experts",
              "huggingface.co/Qwen/Qwen2-57B-A14B", large);
  for (auto [size, moeFfn] :
       {std::pair(Size{"qwen3-30b-a3b", "Qwen3-MoE, 31B with 128 experts", 48,
                       2048, 32, 4, 6144},
                  768),
        std::pair(Size{"qwen3-235b-a22b", "Qwen3-MoE, 235B with 128 experts",
                       94, 4096, 64, 4, 12288},
                  1536)}) {
    TransformerDims dims =
        withExperts(llama(size, 151936, 4096), 128, 8, moeFfn);
    dims.headDim = 128;
    dims.headNorms = true;
    presets.add(size.name, size.label, "huggingface.co/Qwen", dims);
  }
}

void models::addLlamaPresets(DecoderPresets &presets) {
  addLlama(presets);
  addMistral(presets);
  addDeepSeek(presets);
  addQwen(presets);
  addQwenExperts(presets);
}
