//===- ReferenceRooflineTest.cpp - kernel times of the reference ----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Costs/ReferenceRoofline.h"
#include "Proteus/Support/JSON.h"

#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::cost;
using proteus::json::Reader;

namespace {

std::string readReference(const std::string &name) {
  auto buffer =
      MemoryBuffer::getFile(std::string(PROTEUS_REFERENCE_DIR) + "/" + name);
  if (!buffer)
    report_fatal_error("no " + Twine(name));
  return (*buffer)->getBuffer().str();
}

ReferenceRoofline readRoofline() {
  return cantFail(ReferenceRoofline::parse(readReference("constants.json"),
                                           "constants.json"));
}

std::vector<ReferenceRoofline::Shape> readShapes(Reader reader) {
  std::vector<ReferenceRoofline::Shape> shapes;
  for (Reader shape : reader.elements()) {
    shapes.emplace_back();
    for (Reader size : shape.elements())
      shapes.back().push_back(size.integer(1, 1 << 30));
  }
  return shapes;
}

TEST(ReferenceRoofline, GivesEveryComputationOfTheGoldenRuns) {
  ReferenceRoofline roofline = readRoofline();
  json::Document document = cantFail(json::Document::parse(
      readReference("golden_costs.json"), "golden_costs.json"));
  size_t equal = 0;
  std::vector<Reader> rows = document.root()["computation"].elements();
  ASSERT_EQ(rows.size(), 260u);
  for (Reader row : rows) {
    std::string op = row["op"].nonEmptyString();
    double time = cantFail(roofline.milliseconds(op, readShapes(row["inputs"]),
                                                 readShapes(row["outputs"])));
    double expected = row["milliseconds"].positive(1e6);
    // The figures have six decimals.
    EXPECT_NEAR(time, expected, 0.5000001e-6) << op << " " << row.path();
    equal += std::abs(time - expected) <= 0.5000001e-6;
  }
  if (Error error = document.takeError())
    FAIL() << toString(std::move(error));
  std::cout << "computation of the original: " << equal << " of " << rows.size()
            << " durations equal\n";
}

TEST(ReferenceRoofline, SizesSayWhatShapesSay) {
  ReferenceRoofline roofline = readRoofline();
  json::Document document = cantFail(json::Document::parse(
      readReference("golden_costs.json"), "golden_costs.json"));
  size_t rows = 0;
  for (Reader row : document.root()["computation"].elements()) {
    std::string op = row["op"].nonEmptyString();
    auto inputs = readShapes(row["inputs"]),
         outputs = readShapes(row["outputs"]);
    double expected = row["milliseconds"].positive(1e6);
    Kernel kernel;
    auto count = [](const ReferenceRoofline::Shape &shape) {
      double elements = 1;
      for (int64_t size : shape)
        elements *= size;
      return elements;
    };
    bool isLinear = op == "Linear", isConv = op == "Conv2d";
    if (!isLinear && !isConv && op != "Matmul" && op != "ReLU")
      continue;
    ++rows;
    if (op == "ReLU") {
      kernel.bytes = 4 * (count(inputs[0]) + count(outputs[0]));
      EXPECT_NEAR(roofline.milliseconds(kernel), expected, 0.5000001e-6) << op;
      continue;
    }
    double columns = isConv ? outputs[0][1] : outputs[0].back();
    double inner = isConv ? count(inputs[1]) / columns : inputs[0].back();
    double result = count(outputs[0]);
    kernel.matrix = true;
    kernel.product = MatrixProduct{result / columns, columns, inner,
                                   inputs.size() > 2 ? result : 0};
    EXPECT_NEAR(roofline.milliseconds(kernel), expected, 0.5000001e-6) << op;
    // If operands are read once, operations and bytes are enough.
    if (isLinear && inputs.size() == 2) {
      kernel.product.reset();
      kernel.flops = 2 * result * inner;
      kernel.bytes = 4 * (count(inputs[0]) + count(inputs[1]) + result);
      EXPECT_NEAR(roofline.milliseconds(kernel), expected, 0.5000001e-6) << op;
    }
  }
  if (Error error = document.takeError())
    FAIL() << toString(std::move(error));
  EXPECT_EQ(rows, 40u);
}

TEST(ReferenceRoofline, LooksUpNoMoreRowsThanTheTableHas) {
  // Lookups of the recorded runs take only the shortest kernel time. This one
  // is longer: 2e6 indices into 1000 rows of 64, read once, and 2e6 rows
  // written.
  double time = cantFail(readRoofline().milliseconds(
      "Embedding", {{2000000}, {1000, 64}}, {{2000000, 64}}));
  EXPECT_NEAR(time, (64e3 + 2e6 + 128e6) * 4 / 900e9 * 1e3, 1e-9);
}

TEST(ReferenceRoofline, RejectsShapesOfAnotherClass) {
  Expected<double> time = readRoofline().milliseconds("Linear", {{8}}, {{8}});
  EXPECT_EQ(toString(time.takeError()),
            "operands of 'Linear' do not have the shapes of this class");
}

} // namespace
