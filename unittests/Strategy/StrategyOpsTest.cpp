//===- StrategyOpsTest.cpp - queries on strategy trees --------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Strategy/Strategy.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace proteus::strategy;

namespace {

class StrategyOpsTest : public ::testing::Test {
protected:
  StrategyOpsTest() {
    context.loadDialect<func::FuncDialect, StrategyDialect>();
  }

  /// Parses a module with @model and with @tree, which has this body.
  TreeOp parseTree(StringRef body) {
    std::string text = ("func.func private @model()\n"
                        "strategy.tree @tree for @model {" +
                        body + "}")
                           .str();
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? module->lookupSymbol<TreeOp>("tree") : TreeOp();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(StrategyOpsTest, MeshAnswersForAxesAndDevices) {
  MeshOp mesh = parseTree("mesh [dp = 2, tp = 3]").getMesh();
  EXPECT_EQ(mesh.getNumDevices(), 6);
  EXPECT_EQ(mesh.getAxisSize("tp"), 3);
  EXPECT_EQ(mesh.getAxisIndex("tp"), 1u);
  EXPECT_EQ(mesh.getAxisSize("pp"), std::nullopt);
  EXPECT_EQ(mesh.getDeviceIds(), (SmallVector<int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST_F(StrategyOpsTest, MeshKeepsExplicitDevices) {
  MeshOp mesh = parseTree("mesh [dp = 2] devices [7, 3]").getMesh();
  EXPECT_EQ(mesh.getDeviceIds(), (SmallVector<int64_t>{7, 3}));
}

TEST_F(StrategyOpsTest, ScheduleHasADefaultOrder) {
  TreeOp tree = parseTree("mesh [dp = 1] schedule micro_batches = 4");
  EXPECT_EQ(tree.getSchedule().getOrderKind(),
            proteus::plan::ScheduleOrder::OneForwardOneBackward);
  tree =
      parseTree("mesh [dp = 1] schedule micro_batches = 4 order = \"gpipe\"");
  EXPECT_EQ(tree.getSchedule().getOrderKind(),
            proteus::plan::ScheduleOrder::GPipe);
}

TEST_F(StrategyOpsTest, AbsentSettingsAreNull) {
  TreeOp tree = parseTree("mesh [dp = 1]");
  EXPECT_FALSE(tree.getSchedule());
  EXPECT_FALSE(tree.getBucket());
}

TEST_F(StrategyOpsTest, FullPatternJoinsTheNodesAround) {
  TreeOp tree = parseTree(
      "mesh [dp = 1] node \"layers[*]\" { node \"mlp\" { node \"up\" {} } }");
  SmallVector<std::string> patterns;
  tree.walk<WalkOrder::PreOrder>([&](NodeOp node) {
    EXPECT_EQ(node.getTree(), tree);
    patterns.push_back(node.getFullPattern().str());
  });
  EXPECT_EQ(patterns, (SmallVector<std::string>{"layers[*]", "layers[*].mlp",
                                                "layers[*].mlp.up"}));
}

TEST_F(StrategyOpsTest, PartitionFindsIteratorsAndDimensions) {
  TreeOp tree =
      parseTree("mesh [dp = 2, tp = 2] split weight [out -> tp, 1 -> dp]");
  SplitOp split = *tree.getBody().getOps<SplitOp>().begin();
  PartitionAttr partition = split.getPartition();
  EXPECT_EQ(partition.lookup("out").getAxes().front(), "tp");
  EXPECT_EQ(partition.lookup(1).getAxes().front(), "dp");
  EXPECT_FALSE(partition.lookup("in"));
  EXPECT_FALSE(partition.lookup(0));
}

TEST_F(StrategyOpsTest, OneAxisIsTheSameAttributeWithAndWithoutBrackets) {
  EXPECT_EQ(parseAttribute("#strategy.partition<[out -> tp]>", &context),
            parseAttribute("#strategy.partition<[out -> [tp]]>", &context));
  EXPECT_NE(parseAttribute("#strategy.partition<[a -> x, b -> y]>", &context),
            parseAttribute("#strategy.partition<[b -> y, a -> x]>", &context));
}

TEST_F(StrategyOpsTest, ATreeBuiltInCodeVerifies) {
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> built = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockBegin(built->getBody());
  auto model = func::FuncOp::create(builder, loc, "model",
                                    builder.getFunctionType({}, {}));
  model.setPrivate();

  auto tree = TreeOp::create(builder, loc, "tree", "model");
  builder.setInsertionPointToEnd(&tree.getBody().front());
  StringAttr dp = builder.getStringAttr("dp");
  MeshOp::create(builder, loc,
                 builder.getArrayAttr(AxisAttr::get(&context, dp, 8)),
                 DenseI64ArrayAttr());
  auto node = NodeOp::create(builder, loc, "layers[*]");
  builder.setInsertionPointToEnd(&node.getBody().front());
  auto part = PartAttr::get(&context, builder.getStringAttr("batch"), {dp});
  SplitOp::create(builder, loc, ItemAttr::get(&context, ItemKind::Op),
                  PartitionAttr::get(&context, {part}));
  RecomputeOp::create(builder, loc);

  EXPECT_TRUE(succeeded(verify(*built)));
  EXPECT_EQ(tree.getMesh().getNumDevices(), 8);
}

} // namespace
