//===- RequestTest.cpp - valid and invalid requests -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/BuildModel.h"
#include "Proteus/Models/Registry.h"

#include "gtest/gtest.h"

using namespace proteus::models;

namespace {

/// Returns the error of a request, or "built".
std::string errorOf(const ModelRequest &request) {
  llvm::Expected<ModelDescription> description = describe(request);
  return description ? "built" : llvm::toString(description.takeError());
}

std::string errorOf(const std::string &model,
                    const std::vector<std::string> &overrides) {
  return errorOf({model, 1, Precision(), overrides});
}

TEST(Request, NamesThatAreNotKnown) {
  EXPECT_EQ(errorOf("gpt-2", {}),
            "there is no model 'gpt-2'; the nearest name is 'gpt2', and the "
            "path of a model file ends in .json");
}

TEST(Request, OverridesAreDimensionsOfTheModel) {
  EXPECT_TRUE(llvm::StringRef(errorOf("gpt2", {"layer=4"}))
                  .starts_with("override 'layer=4': the model has no dimension "
                               "'layer'; it has layers, hidden, heads,"));
  EXPECT_EQ(errorOf("gpt2", {"layers"}),
            "override 'layers': expected an integer from 1 to 4096 for "
            "'layers', got ''");
  for (const char *value : {"0", "-3", "2.5", "1e3", "NaN", "100001", " 4"})
    EXPECT_EQ(errorOf("gpt2", {std::string("layers=") + value}),
              std::string("override 'layers=") + value +
                  "': expected an integer from 1 to 4096 for 'layers', got "
                  "'" +
                  value + "'");
  EXPECT_EQ(errorOf("gpt2", {"tied_embeddings=no"}),
            "override 'tied_embeddings=no': expected true or false for "
            "'tied_embeddings', got 'no'");
  EXPECT_EQ(errorOf("gpt2", {"norm=batch"}),
            "override 'norm=batch': expected one of layer, rms for 'norm', got "
            "'batch'");
}

TEST(Request, DimensionsThatDoNotFit) {
  EXPECT_EQ(errorOf("gpt2", {"heads=7"}),
            "model 'gpt2': heads (7) must divide hidden (768), or head_dim be "
            "given");
  EXPECT_EQ(errorOf("gpt2", {"kv_heads=5"}),
            "model 'gpt2': kv_heads (5) must divide heads (12)");
  EXPECT_EQ(errorOf("gpt2", {"seq=2048"}),
            "model 'gpt2': seq (2048) is longer than max_positions (1024)");
  EXPECT_EQ(errorOf("gpt2", {"hidden=999999996"}),
            "model 'gpt2' has 1.44e+20 parameters; at most 1e15 can be "
            "modelled");
}

TEST(Request, BatchesAndTypes) {
  EXPECT_EQ(errorOf({"gpt2", 0, {}, {}}),
            "expected a batch from 1 to 1000000000, got 0");
  EXPECT_EQ(errorOf({"gpt2", 1, {"int8"}, {}}),
            "unknown compute type 'int8'; known are f64, f32, bf16, f16");
  EXPECT_EQ(errorOf({"gpt2", 1, {"bf16", "x"}, {}}),
            "unknown gradient type 'x'; known are f64, f32, bf16, f16");
  EXPECT_EQ(errorOf({"gpt2", 1, {"bf16", "", "y"}, {}}),
            "unknown master type 'y'; known are f64, f32, bf16, f16");
  EXPECT_EQ(errorOf({"gpt2", 1, {"bf16", "f32", "f32", "lion"}, {}}),
            "unknown optimizer 'lion'; known are sgd, momentum, adam");
  EXPECT_EQ(errorOf({"gpt2", 1, {"bf16", "f32", "f32", "adam", "f4"}, {}}),
            "unknown matrix type 'f4'; known is f8");
  EXPECT_EQ(errorOf({"resnet50", 1, {"bf16", "f32", "f32", "adam", "f8"}, {}}),
            "model 'resnet50' has no repeated layers with linear operations to "
            "compute in f8; use another precision");
  EXPECT_EQ(errorOf({"gpt2", 1000000000, {}, {}}), "built");
}

} // namespace
