//===- SubAxes.cpp - parts of axes ------------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include "Proteus/Dialect/Dist/Dist.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace proteus;
using namespace proteus::fuzz;

/// Joins two neighbouring axes, so that each becomes a part of one axis.
/// Devices and shards do not change.
static void joinAxes(Random &random, TreeBuilder &builder) {
  auto &mesh = builder.tree.mesh;
  std::vector<size_t> candidates;
  for (size_t i = 0; i + 1 < mesh.size(); ++i)
    if (mesh[i].second >= 2 && mesh[i + 1].second >= 2)
      candidates.push_back(i);
  if (candidates.empty())
    return;
  size_t first = candidates[random.between(0, candidates.size() - 1)];
  auto [major, majorSize] = mesh[first];
  auto [minor, minorSize] = mesh[first + 1];
  std::map<std::string, std::string> part = {
      {major, llvm::formatv("{0}:(1){1}", major, majorSize)},
      {minor, llvm::formatv("{0}:({1}){2}", major, majorSize, minorSize)}};
  changeNodes(builder.tree.root, [&](Node &node) {
    for (Split &split : node.splits)
      for (Arrow &arrow : split.arrows)
        for (std::string &axis : arrow.axes)
          if (part.count(axis))
            axis = part[axis];
    for (std::string &setting : node.settings)
      for (llvm::StringRef prefix : {"stages ", "at ["}) {
        llvm::StringRef rest = setting;
        if (!rest.consume_front(prefix))
          continue;
        llvm::StringRef axis = rest.take_while(
            [](char c) { return llvm::isAlnum(c) || c == '_'; });
        if (part.count(axis.str()))
          setting =
              (prefix + part[axis.str()] + rest.drop_front(axis.size())).str();
      }
    return false;
  });
  mesh[first].second = majorSize * minorSize;
  mesh.erase(mesh.begin() + first + 1);
}

/// Returns true if the mesh has a part of an axis: its name contains an
/// underscore.
static bool hasPart(mlir::ModuleOp module) {
  return module
      .walk([](dist::ProgramOp program) {
        for (const std::string &name : program.getMesh().getValue().names)
          if (llvm::StringRef(name).contains('_'))
            return mlir::WalkResult::interrupt();
        return mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

void proteus::fuzz::addSubAxes(Registry &registry) {
  Feature feature;
  feature.name = "sub-axes";
  feature.percent = 15;
  feature.changeTree = joinAxes;
  feature.inProgram = hasPart;
  registry.addFeature(feature);
}
