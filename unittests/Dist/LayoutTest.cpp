//===- LayoutTest.cpp - layouts of tensor types ---------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankData.h"

#include "Proteus/Dialect/Dist/Layout.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace proteus::dist;

namespace {

class TensorLayoutTest : public ::testing::Test {
protected:
  TensorLayoutTest() { context.loadDialect<DistDialect>(); }

  RankedTensorType type(StringRef text) {
    return cast<RankedTensorType>(parseType(text, &context));
  }

  MLIRContext context;
};

TEST_F(TensorLayoutTest, LocalShapesFollowFromTheType) {
  auto tensor = type("tensor<10x8xbf16, #dist.layout<#dist.mesh<[dp = 2, "
                     "tp = 4], micro = 2>, [{micro, dp}, {tp}]>>");
  EXPECT_EQ(largestLocalShape(tensor), (SmallVector<int64_t>{3, 2}));
  EXPECT_EQ(localBytes(tensor), 12);
  EXPECT_EQ(localBytes(tensor, {1, 1, 0}), 8);
  EXPECT_FALSE(isEven(tensor));
  EXPECT_FALSE(isPartial(tensor));
}

TEST_F(TensorLayoutTest, ATypeWithoutLayoutIsWhole) {
  auto tensor = type("tensor<3x5xi1>");
  EXPECT_EQ(localBytes(tensor), 15);
  EXPECT_TRUE(isEven(tensor));
  EXPECT_FALSE(getLayout(tensor));
}

TEST_F(TensorLayoutTest, EqualLayoutsAreOneAttribute) {
  auto a = getLayout(
      type("tensor<8xf32, #dist.layout<#dist.mesh<[a = 2, b = 2, c = 2], "
           "micro = 4>, [{}], partial = [sum {b, micro, a}], at = [c = 1]>>"));
  Layout layout(1);
  layout.getPartial(ReductionKind::Sum) = {1, 2, microAxis};
  layout.fixed = {{3, 1}};
  EXPECT_EQ(LayoutAttr::get(a.getMesh(), layout), a);
  EXPECT_EQ(a.withFixed({}).withFixed(layout.fixed), a);
  EXPECT_TRUE(a.isPartialOverMicro());
}

TEST_F(TensorLayoutTest, APlanBecomesOpsThatVerify) {
  auto from = type("tensor<8x8xf32, #dist.layout<#dist.mesh<[a = 2, b = 4]>, "
                   "[{a}, {b}]>>");
  auto to = type("tensor<8x8xf32, #dist.layout<#dist.mesh<[a = 2, b = 4]>, "
                 "[{b}, {a}]>>");
  auto plan = planReshard(getLayout(from), getLayout(to), from, ringCost);
  ASSERT_TRUE(succeeded(plan));
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  Value value =
      RecvOp::create(builder, loc, from, /*stage=*/0, /*tag=*/0, PurposeAttr());
  value = buildReshard(builder, loc, value, *plan, Purpose::Activation);
  EXPECT_EQ(value.getType(), to);
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(TensorLayoutTest, MeshesDoNotMix) {
  auto from = type("tensor<8xf32, #dist.layout<#dist.mesh<[a = 2]>, [{a}]>>");
  auto to = type("tensor<8xf32, #dist.layout<#dist.mesh<[a = 4]>, [{a}]>>");
  std::string reason;
  EXPECT_TRUE(failed(
      planReshard(getLayout(from), getLayout(to), from, ringCost, &reason)));
  EXPECT_EQ(reason, "the layouts are on different meshes");
}

TEST_F(TensorLayoutTest, CollectivesTellTheirSize) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"mlir(
        #mesh = #dist.mesh<[a = 2, b = 4]>
        #shard = #dist.layout<#mesh, [{a, b}]>
        #some = #dist.layout<#mesh, [{a}]>
        %0 = dist.recv from stage 0 tag 0 : tensor<16xf32, #shard>
        %1 = dist.all_gather %0 dim 0 over {b} for parameter
            : tensor<16xf32, #shard> -> tensor<16xf32, #some>
      )mlir",
      &context);
  ASSERT_TRUE(module);
  auto receive = cast<CollectiveOpInterface>(module->getBody()->front());
  EXPECT_EQ(receive.getGroupSize(), 2);
  EXPECT_EQ(receive.getBufferBytes(), 8);
  EXPECT_EQ(receive.getPurpose(), std::nullopt);
  auto gather = cast<CollectiveOpInterface>(module->getBody()->back());
  EXPECT_EQ(gather.getCollectiveKind(), CollectiveKind::AllGather);
  EXPECT_EQ(gather.getGroupSize(), 4);
  EXPECT_EQ(gather.getBufferBytes(), 32);
  EXPECT_EQ(gather.getPurpose(), Purpose::Parameter);
}

TEST_F(TensorLayoutTest, BucketsTellTheirSize) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"mlir(
        #mesh = #dist.mesh<[dp = 2, tp = 2]>
        #pw = #dist.layout<#mesh, [{}, {tp}], partial = [sum {dp}]>
        #w = #dist.layout<#mesh, [{}, {tp}]>
        #pb = #dist.layout<#mesh, [{}], partial = [sum {dp}]>
        #b = #dist.layout<#mesh, [{}]>
        %0 = dist.recv from stage 0 tag 0 : tensor<3x8xf32, #pw>
        %1 = dist.recv from stage 0 tag 1 : tensor<5xf32, #pb>
        %2:2 = dist.fused_reduce all_reduce sum %0, %1 over {dp}
            stacked [true, false] buckets [[0[1:3]], [0[0:1], 1[0:1]]]
            : (tensor<3x8xf32, #pw>, tensor<5xf32, #pb>)
            -> (tensor<3x8xf32, #w>, tensor<5xf32, #b>)
      )mlir",
      &context);
  ASSERT_TRUE(module);
  auto fused = cast<FusedReduceOp>(module->getBody()->back());
  EXPECT_EQ(fused.getNumBuckets(), 2u);
  EXPECT_EQ(fused.getBucketBytes(0), 32);
  EXPECT_EQ(fused.getBucketBytes(1), 36);
  EXPECT_EQ(fused.getBufferBytes(), 68);
  EXPECT_EQ(fused.getGroupSize(), 2);
}

TEST_F(TensorLayoutTest, OngoingMicroBatchesAreCounted) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"mlir(
        #mesh = #dist.mesh<[pp = 2], micro = 3>
        dist.program @first mesh #mesh at [pp = 0] () {
          dist.section forward { dist.yield }
          dist.section backward { dist.yield }
          dist.return
        }
        dist.program @second mesh #mesh at [pp = 1] () {
          dist.section forward { dist.yield }
          dist.section input_gradient { dist.yield }
          dist.section weight_gradient { dist.yield }
          dist.return
        }
        dist.schedule @s programs [@first, @second] order [
          [F0, F1, B0, F2, B1, B2],
          [F0, I0, F1, I1, W0, F2, W1, I2, W2]
        ]
      )mlir",
      &context);
  ASSERT_TRUE(module);
  auto schedule = cast<ScheduleOp>(module->getBody()->back());
  EXPECT_EQ(schedule.maxOngoing(0), 2);
  EXPECT_EQ(schedule.maxOngoing(1), 2);
}

} // namespace
