//===- LinalgFeedForward.cpp - two matmuls of linalg ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

#include "llvm/Support/FormatVariadic.h"

using namespace proteus::fuzz;

static void choose(Random &random, const Model &, BlockUse &use) {
  use.set("inner", random.between(4, 12), 4);
}

/// Writes an initial value: filled with `zero`, or undefined without it.
static Tensor initial(ModelWriter &writer, const Sizes &shape,
                      const Tensor *zero) {
  Tensor empty = writer.fresh(shape);
  writer.emitLine(empty.name + " = tensor.empty() : " + empty.type());
  if (!zero)
    return empty;
  Tensor filled = writer.fresh(shape);
  writer.emitLine(
      llvm::formatv("{0} = linalg.fill ins({1} : {2}) outs({3} : {4}) -> {4}",
                    filled.name, zero->name, zero->element, empty.name,
                    empty.type())
          .str());
  return filled;
}

static Tensor matmul(ModelWriter &writer, llvm::StringRef path,
                     const Tensor &input, int64_t out, const Tensor &zero) {
  int64_t in = input.shape.back();
  Tensor weight = writer.parameter(path + ".weight", {in, out});
  Tensor init = initial(writer, {input.shape.front(), out}, &zero);
  Tensor result = writer.fresh(init.shape);
  writer.emitLine(
      llvm::formatv("{0} = linalg.matmul {{proteus.path = \"{1}{2}\"} "
                    "ins({3}, {4} : {5}, {6}) outs({7} : {8}) -> {8}",
                    result.name, writer.getPrefix(), path, input.name,
                    weight.name, input.type(), weight.type(), init.name,
                    init.type())
          .str());
  writer.noteKernel(path,
                    {{"batch", input.shape.front()}, {"d1", out}, {"d2", in}},
                    {in, out});
  return result;
}

static Tensor relu(ModelWriter &writer, llvm::StringRef path,
                   const Tensor &input, const Tensor &zero) {
  Tensor init = initial(writer, input.shape, nullptr);
  Tensor result = writer.fresh(input.shape);
  const char *map = "affine_map<(d0, d1) -> (d0, d1)>";
  writer.emitLine(
      llvm::formatv("{0} = linalg.generic {{indexing_maps = [{1}, {1}], "
                    "iterator_types = [\"parallel\", \"parallel\"]} ins({2} : "
                    "{3}) outs({4} : {3}) attrs = {{proteus.path = "
                    "\"{5}{6}\"} {{",
                    result.name, map, input.name, input.type(), init.name,
                    writer.getPrefix(), path)
          .str());
  writer.emitLine(
      llvm::formatv("^bb0(%in: {0}, %out: {0}):", zero.element).str());
  writer.emitLine(llvm::formatv("  %m = arith.maximumf %in, {0} : {1}",
                                zero.name, zero.element)
                      .str());
  writer.emitLine("  linalg.yield %m : " + zero.element);
  writer.emitLine("} -> " + result.type());
  writer.noteKernel(
      path, {{"batch", input.shape.front()}, {"d1", input.shape.back()}});
  return result;
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  Tensor zero = writer.fresh({});
  writer.emitLine(zero.name + " = arith.constant 0.0 : " + zero.element);
  Tensor x = matmul(writer, "linalg.up", input, use.get("inner"), zero);
  x = relu(writer, "linalg.act", x, zero);
  return matmul(writer, "linalg.down", x, writer.model.width, zero);
}

void proteus::fuzz::addLinalgFeedForward(Registry &registry) {
  registry.addBlock(
      {"linalg feed-forward", Slot::Feed, only(Form::Rows), 25, choose, write});
}
