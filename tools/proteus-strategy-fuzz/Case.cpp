//===- Case.cpp - structures of a random case -------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Case.h"

#include "Registry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace proteus::fuzz;
using llvm::StringRef;

StringRef Entries::get(StringRef key) const {
  for (auto &[name, value] : list)
    if (name == key)
      return value;
  return "";
}

void Entries::set(StringRef key, StringRef value) {
  for (auto &[name, old] : list)
    if (name == key) {
      old = value.str();
      return;
    }
  list.push_back({key.str(), value.str()});
}

bool Entries::erase(StringRef key) {
  size_t before = list.size();
  llvm::erase_if(list, [&](auto &entry) { return entry.first == key; });
  return list.size() != before;
}

int64_t BlockUse::get(StringRef name) const {
  for (const Option &option : options)
    if (option.name == name)
      return option.value;
  llvm::report_fatal_error("a block asks for an option that it did not set");
}

bool Model::uses(StringRef name) const {
  for (const std::vector<BlockUse> &uses : blocks)
    for (const BlockUse &use : uses)
      if (use.block->name == name)
        return true;
  return false;
}

int64_t Kernel::getSize(StringRef iterator) const {
  for (auto &[name, size] : iterators)
    if (name == iterator)
      return size;
  return 0;
}

bool Node::splitsItem(StringRef item) const {
  return llvm::any_of(splits,
                      [&](const Split &split) { return split.item == item; });
}

bool Node::says(StringRef keyword) const {
  return llvm::any_of(settings, [&](StringRef setting) {
    return setting.split(' ').first == keyword;
  });
}

Entries &Tree::directive(StringRef keyword) {
  for (auto &[name, entries] : directives)
    if (name == keyword)
      return entries;
  directives.push_back({keyword.str(), {}});
  return directives.back().second;
}

const Entries *Tree::findDirective(StringRef keyword) const {
  for (auto &[name, entries] : directives)
    if (name == keyword)
      return &entries;
  return nullptr;
}

int64_t Tree::getMicroBatches() const {
  int64_t number = 1;
  if (const Entries *schedule = findDirective("schedule"))
    schedule->get("micro_batches").getAsInteger(10, number);
  return number;
}
