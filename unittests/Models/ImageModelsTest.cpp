//===- ImageModelsTest.cpp - models of images -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelFixture.h"

using namespace proteus::models;

namespace {

class ImageModelsTest : public ModelFixture {};

/// Counts that torchvision and timm print for their pretrained models.
TEST_F(ImageModelsTest, ParametersAreThePublishedOnes) {
  EXPECT_EQ(parameters("alexnet"), 61'100'840);
  EXPECT_EQ(parameters("vgg11"), 132'863'336);
  EXPECT_EQ(parameters("vgg13"), 133'047'848);
  EXPECT_EQ(parameters("vgg16"), 138'357'544);
  EXPECT_EQ(parameters("vgg19"), 143'667'240);
  EXPECT_EQ(parameters("resnet18"), 11'689'512);
  EXPECT_EQ(parameters("resnet34"), 21'797'672);
  EXPECT_EQ(parameters("resnet50"), 25'557'032);
  EXPECT_EQ(parameters("resnet101"), 44'549'160);
  EXPECT_EQ(parameters("resnet152"), 60'192'808);
  EXPECT_EQ(parameters("resnext101-32x4d"), 44'177'704);
  EXPECT_EQ(parameters("inception_v3"), 27'161'264);
  EXPECT_EQ(parameters("inception_v3", {"aux=false"}), 23'834'568);
  EXPECT_EQ(parameters("vit-b-16"), 86'567'656);
  EXPECT_EQ(parameters("vit-l-16"), 304'326'632);
  EXPECT_EQ(parameters("vit-h-14"), 632'045'800);
}

/// torchvision's figures in GFLOPS, which are multiply-adds, and timm's for
/// ResNeXt.
TEST_F(ImageModelsTest, WorkIsThePublishedOne) {
  expectMacs(0.714, "alexnet");
  expectMacs(7.61, "vgg11");
  expectMacs(11.31, "vgg13");
  expectMacs(15.47, "vgg16");
  expectMacs(19.63, "vgg19");
  expectMacs(1.814, "resnet18");
  expectMacs(3.664, "resnet34");
  expectMacs(4.089, "resnet50");
  expectMacs(7.801, "resnet101");
  expectMacs(11.514, "resnet152");
  expectMacs(8.01, "resnext101-32x4d");
  expectMacs(5.713, "inception_v3", {"aux=false"});
  expectMacs(17.564, "vit-b-16");
  expectMacs(61.555, "vit-l-16");
  expectMacs(167.295, "vit-h-14");
}

/// The layers of NVIDIA's SSD300 v1.1, counted by hand: ResNet-50 up to its
/// third stage, five extra layers, and heads of 3x3 convolutions.
TEST_F(ImageModelsTest, DetectorHasTheLayersOfItsParts) {
  double stages[] = {215'808, 1'219'584, 7'098'368};
  double expected = 64 * 3 * 49 + 2 * 64;
  for (double stage : stages)
    expected += stage;
  int64_t channels[] = {1024, 512, 512, 256, 256, 256};
  int64_t inner[] = {256, 256, 128, 128, 128};
  int64_t boxes[] = {4, 6, 6, 6, 4, 4};
  for (int i = 0; i < 5; ++i)
    expected += channels[i] * inner[i] + 2 * inner[i] +
                inner[i] * channels[i + 1] * 9 + 2 * channels[i + 1];
  for (int i = 0; i < 6; ++i)
    expected += boxes[i] * (4 + 81) * (channels[i] * 9 + 1);
  EXPECT_EQ(parameters("ssd300-resnet50"), expected);
  auto module = build("ssd300-resnet50", 2);
  ASSERT_TRUE(module);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  EXPECT_NE(text.find("tensor<2x8732x81xf32>"), std::string::npos);
}

TEST_F(ImageModelsTest, PlainNetworksAreLoweredRight) {
  Overrides tiny = {"image=63", "pool=1", "channels=4,4,4,4,4", "hidden=8",
                    "classes=6"};
  expectRightLowering("alexnet", 8, tiny, {2, 1, 2});
  expectRightLowering("alexnet-reference", 8, tiny, {2, 2, 1});
  expectRightLowering("vgg16", 8,
                      {"image=8", "pool=2", "channels=4,6", "depths=1,2",
                       "hidden=8", "classes=6"},
                      {4, 2, 1});
}

TEST_F(ImageModelsTest, ResidualNetworksAreLoweredRight) {
  Overrides tiny = {"image=16", "width=4", "classes=6"};
  auto with = [&](Overrides more) {
    more.insert(more.end(), tiny.begin(), tiny.end());
    return more;
  };
  // Normalisation with one group per device, then with one group for all.
  expectRightLowering("resnet18", 8, with({"norm_groups=4"}), {2, 1, 2});
  expectRightLowering("resnet50", 8, with({"blocks=1,3"}), {4, 1, 1});
  expectRightLowering(
      "resnext101-32x4d", 8,
      with({"blocks=1,2", "groups=2", "group_width=2", "norm_groups=2"}),
      {2, 1, 1});
  expectLowers("resnet50", 32, {"norm_groups=8"}, {8, 1, 1});
}

TEST_F(ImageModelsTest, BranchesAreLoweredRight) {
  expectRightLowering("inception_v3", 2,
                      {"image=75", "width=2", "classes=5", "aux=false"},
                      {2, 1, 1});
  expectLowers("inception_v3", 16, {"norm_groups=8"}, {8, 1, 1});
}

TEST_F(ImageModelsTest, DetectorsAreLoweredRight) {
  expectRightLowering("ssd300-resnet50", 4,
                      {"image=48", "width=4", "classes=3", "blocks=1,1,2",
                       "extra_channels=8,8", "extra_inner=4,4", "boxes=2,1,2",
                       "norm_groups=2"},
                      {2, 1, 1});
  expectLowers("ssd300-resnet50", 16, {"norm_groups=8"}, {8, 1, 1});
}

TEST_F(ImageModelsTest, VisionTransformersAreLoweredRight) {
  Overrides tiny = {"image=12", "patch=4", "layers=2", "hidden=8",
                    "heads=2",  "ffn=16",  "classes=6"};
  expectRightLowering("vit-b-16", 4, tiny, {2, 2, 1});
  expectRightLowering("vit-b-16", 4, tiny, {2, 1, 2});
}

/// Returns the error message of a request, or "built".
std::string errorOf(const std::string &model,
                    const std::vector<std::string> &overrides) {
  auto description = describe({model, 4, Precision(), overrides});
  return description ? "built" : llvm::toString(description.takeError());
}

TEST_F(ImageModelsTest, DimensionsThatDoNotFitAreErrors) {
  auto expect = [](const std::string &message, const std::string &model,
                   const std::vector<std::string> &overrides) {
    std::string error = errorOf(model, overrides);
    EXPECT_NE(error.find(message), std::string::npos) << error;
  };
  expect("image=62 is too small", "alexnet", {"image=62"});
  expect("features of 2 by 2, which can't be cut into pool=6 equal parts",
         "alexnet", {"image=96"});
  expect("channels must be those of the 5 convolutions", "alexnet",
         {"channels=4,4"});
  expect("channels and depths must have the same length", "vgg11",
         {"depths=1,1"});
  expect("groups=2 needs blocks with a bottleneck", "resnet18", {"groups=2"});
  expect("groups=3 must divide width=64", "resnet50", {"groups=3"});
  expect("width=5 must be even", "inception_v3", {"width=5"});
  expect("image=74 is too small; 75 is the least", "inception_v3",
         {"image=74"});
  expect("too small for the auxiliary head", "inception_v3", {"image=128"});
  expect("boxes one entry more", "ssd300-resnet50", {"boxes=4"});
  expect("image=128 is too small for 5 extra layers", "ssd300-resnet50",
         {"image=128"});
  expect("patch=16 must divide image=100", "vit-b-16", {"image=100"});
  expect("heads=5 must divide hidden=768", "vit-b-16", {"heads=5"});
}

} // namespace
