//===- TreeWriter.cpp - cases as text ---------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "ModelWriter.h"

#include "llvm/ADT/StringExtras.h"

using namespace proteus::fuzz;

static std::string joinNames(llvm::ArrayRef<std::string> names) {
  return llvm::join(names, ", ");
}

static void writeNode(const Node &node, const std::string &indent,
                      std::string &text) {
  for (const Split &split : node.splits) {
    std::vector<std::string> arrows;
    for (const Arrow &arrow : split.arrows)
      arrows.push_back(arrow.key + " -> " + arrow.how +
                       (arrow.axes.size() == 1
                            ? arrow.axes.front()
                            : "[" + joinNames(arrow.axes) + "]"));
    text += indent + "split " + split.item + " [" + joinNames(arrows) + "]\n";
  }
  for (const std::string &setting : node.settings)
    text += indent + setting + "\n";
  for (const Node &child : node.children) {
    text += indent + "node \"" + child.pattern + "\" {\n";
    writeNode(child, indent + "  ", text);
    text += indent + "}\n";
  }
}

static std::string writeTree(const Tree &tree) {
  std::vector<std::string> axes, devices;
  for (auto &[name, size] : tree.mesh)
    axes.push_back(name + " = " + std::to_string(size));
  for (int64_t device : tree.devices)
    devices.push_back(std::to_string(device));
  std::string text = "  strategy.tree @strategy for @model {\n    mesh [" +
                     joinNames(axes) + "]";
  if (!devices.empty())
    text += " devices [" + joinNames(devices) + "]";
  text += "\n";
  for (auto &[keyword, entries] : tree.directives) {
    text += "    " + keyword;
    for (auto &[key, value] : entries.list)
      text += " " + key + " = " + value;
    text += "\n";
  }
  writeNode(tree.root, "    ", text);
  return text + "  }\n";
}

std::string proteus::fuzz::write(const Case &input) {
  std::string attributes = "proteus.cluster = " + input.tree.cluster;
  for (auto &[name, value] : input.model.moduleAttributes.list)
    attributes += ", " + name + " = " + value;
  return "module attributes {" + attributes + "} {\n" +
         ModelWriter(input.model).write() + writeTree(input.tree) + "}\n";
}
