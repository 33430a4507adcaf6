//===- Bags.cpp - sums of table rows ----------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

using namespace proteus::fuzz;

static void choose(Random &random, const Model &, BlockUse &use) {
  // 0 stands for a single table. Several tables are stacked and interact.
  use.set("tables", random.pick<int64_t>({0, 3, 4, 5}));
  use.set("bag", random.between(1, 3), 1);
  use.set("dim", random.between(2, 4), 2);
  // Features/RowUpdates.cpp sets this option.
  use.set("row updates", 0);
}

static Tensor write(ModelWriter &writer, const BlockUse &use, const Tensor &) {
  const Model &model = writer.model;
  int64_t tables = use.get("tables"), bag = use.get("bag"),
          dim = use.get("dim");
  int64_t batch = model.batch, rows = model.classes;
  llvm::StringRef attributes = use.get("row updates") ? "{row_updates}" : "";
  if (tables < 2) {
    Tensor ids = writer.argument("ids", {batch, bag}, "i32", "input");
    Tensor table = writer.parameter("bag.weight", {rows, model.width});
    Tensor result = writer.fresh({batch, model.width});
    writer.emit("embedding_bag", "bag", {ids, table}, attributes, result,
                {{"batch", batch}, {"vocab", rows}, {"hidden", model.width}},
                table.shape);
    return result;
  }
  Tensor ids = writer.argument("ids", {batch, tables, bag}, "i32", "input");
  Tensor stack = writer.parameter("bag.weight", {tables, rows, dim});
  Tensor vectors = writer.fresh({batch, tables, dim});
  writer.emit(
      "embedding_bag", "bag", {ids, stack}, attributes, vectors,
      {{"batch", batch}, {"table", tables}, {"vocab", rows}, {"hidden", dim}},
      stack.shape);
  Tensor products = writer.fresh({batch, tables * (tables - 1) / 2});
  writer.emit("interaction", "interaction", vectors, "", products,
              {{"batch", batch}, {"dim", dim}});
  return writer.linear("interaction_out", products, model.width, false);
}

void proteus::fuzz::addBags(Registry &registry) {
  registry.addBlock({"bags", Slot::Stem, only(Form::Rows), 60, choose, write});
}
