//===- GptPresets.cpp - GPT and similar models ------------------*- C++ -*-===//
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
};
} // namespace

static TransformerDims withSize(TransformerDims dims, const Size &size) {
  dims.layers = size.layers;
  dims.hidden = size.hidden;
  dims.heads = size.heads;
  return dims;
}

/// Returns the dimensions of GPT-2 and GPT-3 other than layers, width and
/// heads. The defaults of TransformerDims are learned positions, biases and
/// tied embeddings, as in these models.
static TransformerDims gpt(int64_t vocab, int64_t seq) {
  TransformerDims dims;
  dims.vocab = vocab;
  dims.seq = seq;
  dims.maxPositions = seq;
  return dims;
}

static void addGpt(DecoderPresets &presets) {
  TransformerDims first = gpt(40478, 512);
  first.postNorm = true;
  presets.add("gpt1", "GPT-1, 117M",
              "huggingface.co/openai-community/openai-gpt",
              withSize(first, {"", "", 12, 768, 12}));
  for (const Size &size : {Size{"gpt2", "GPT-2 small, 124M", 12, 768, 12},
                           Size{"gpt2-medium", "GPT-2, 355M", 24, 1024, 16},
                           Size{"gpt2-large", "GPT-2, 774M", 36, 1280, 20},
                           Size{"gpt2-xl", "GPT-2, 1.5B", 48, 1600, 25}})
    presets.add(size.name, size.label,
                "huggingface.co/openai-community/" + std::string(size.name),
                withSize(gpt(50257, 1024), size));
  // Two sizes in the paper are inconsistent. 1.3B has 24 heads of size 128, but
  // only a width of 2048, so this table has 16 heads. 13B has a width of 5140,
  // which is no multiple of 40 heads, so this table has a width of 5120.
  for (const Size &size : {Size{"gpt3-125m", "GPT-3 small", 12, 768, 12},
                           Size{"gpt3-350m", "GPT-3 medium", 24, 1024, 16},
                           Size{"gpt3-760m", "GPT-3 large", 24, 1536, 16},
                           Size{"gpt3-1.3b", "GPT-3 XL", 24, 2048, 16},
                           Size{"gpt3-2.7b", "GPT-3 2.7B", 32, 2560, 32},
                           Size{"gpt3-6.7b", "GPT-3 6.7B", 32, 4096, 32},
                           Size{"gpt3-13b", "GPT-3 13B", 40, 5120, 40},
                           Size{"gpt3-175b", "GPT-3 175B", 96, 12288, 96}})
    presets.add(size.name, size.label, "arXiv:2005.14165, table 2.1",
                withSize(gpt(50257, 2048), size));
}

/// Adds GPT-NeoX, which has rotary positions. In each layer, attention and
/// feed-forward block both read the input of the layer. This preset rotates
/// whole heads, whereas GPT-NeoX rotates a quarter of each head.
static void addNeoX(DecoderPresets &presets) {
  TransformerDims dims = gpt(50432, 2048);
  dims.positions = "rope";
  dims.parallelResidual = true;
  dims.tiedEmbeddings = false;
  presets.add("gpt-neox-20b", "GPT-NeoX 20B",
              "huggingface.co/EleutherAI/gpt-neox-20b",
              withSize(dims, {"", "", 44, 6144, 64}));
}

static void addBloom(DecoderPresets &presets) {
  TransformerDims dims = gpt(250880, 2048);
  dims.positions = "alibi";
  dims.embeddingNorm = true;
  for (const Size &size : {Size{"bloom-560m", "BLOOM 560M", 24, 1024, 16},
                           Size{"bloom-1b1", "BLOOM 1.1B", 24, 1536, 16},
                           Size{"bloom-1b7", "BLOOM 1.7B", 24, 2048, 16},
                           Size{"bloom-3b", "BLOOM 3B", 30, 2560, 32},
                           Size{"bloom-7b1", "BLOOM 7.1B", 30, 4096, 32},
                           Size{"bloom-176b", "BLOOM 176B", 70, 14336, 112}})
    presets.add(size.name, size.label,
                "huggingface.co/bigscience/" + std::string(size.name),
                withSize(dims, size));
}

/// Adds OPT, which has ReLU activations. Two rows of its table of positions are
/// never used.
static void addOpt(DecoderPresets &presets) {
  TransformerDims dims = gpt(50272, 2048);
  dims.maxPositions = 2050;
  dims.activation = "relu";
  dims.fusedQkv = false;
  for (const Size &size : {Size{"opt-125m", "OPT 125M", 12, 768, 12},
                           Size{"opt-1.3b", "OPT 1.3B", 24, 2048, 32},
                           Size{"opt-2.7b", "OPT 2.7B", 32, 2560, 32},
                           Size{"opt-6.7b", "OPT 6.7B", 32, 4096, 32},
                           Size{"opt-13b", "OPT 13B", 40, 5120, 40},
                           Size{"opt-30b", "OPT 30B", 48, 7168, 56},
                           Size{"opt-66b", "OPT 66B", 64, 9216, 72},
                           Size{"opt-175b", "OPT 175B", 96, 12288, 96}})
    presets.add(size.name, size.label,
                "huggingface.co/facebook/" + std::string(size.name),
                withSize(dims, size));
  dims.postNorm = true;
  dims.embedding = 512;
  presets.add("opt-350m", "OPT 350M", "huggingface.co/facebook/opt-350m",
              withSize(dims, {"", "", 24, 1024, 16}));
}

static void addMpt(DecoderPresets &presets) {
  // MPT has layer norms without shift. These presets have RMS norms instead,
  // with the same parameters and memory traffic.
  TransformerDims dims = gpt(50432, 2048);
  dims.positions = "alibi";
  dims.norm = "rms";
  dims.bias = "none";
  presets.add("mpt-7b", "MPT 7B", "huggingface.co/mosaicml/mpt-7b",
              withSize(dims, {"", "", 32, 4096, 32}));
  dims.seq = 8192;
  presets.add("mpt-30b", "MPT 30B", "huggingface.co/mosaicml/mpt-30b",
              withSize(dims, {"", "", 48, 7168, 64}));
  // The models of the LLM Foundry benchmark have one learned position per token
  // of the sequence. With maxPositions = 0, the table of positions always has
  // `seq` rows, even if the user overrides `seq`.
  TransformerDims bench = gpt(50368, 2048);
  bench.maxPositions = 0;
  for (const Size &size :
       {Size{"foundry-125m", "LLM Foundry benchmark, 125M", 12, 768, 12},
        Size{"foundry-350m", "LLM Foundry benchmark, 350M", 24, 1024, 16},
        Size{"foundry-760m", "LLM Foundry benchmark, 760M", 24, 1536, 12},
        Size{"foundry-1b", "LLM Foundry benchmark, 1B", 24, 2048, 16},
        Size{"foundry-3b", "LLM Foundry benchmark, 3B", 32, 2560, 20},
        Size{"foundry-7b", "LLM Foundry benchmark, 7B", 32, 4096, 32},
        Size{"foundry-13b", "LLM Foundry benchmark, 13B", 40, 5120, 40},
        Size{"foundry-30b", "LLM Foundry benchmark, 30B", 48, 7168, 56},
        Size{"foundry-70b", "LLM Foundry benchmark, 70B", 80, 8192, 64}})
    presets.add(size.name, size.label,
                "github.com/mosaicml/llm-foundry, scripts/train/benchmarking",
                withSize(bench, size));
}

void models::addGptPresets(DecoderPresets &presets) {
  addGpt(presets);
  addNeoX(presets);
  addBloom(presets);
  addOpt(presets);
  addMpt(presets);
}
