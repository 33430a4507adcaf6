//===- UserWords.cpp - errors of passes in the words of flags -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UserWords.h"

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::jobs;

/// Texts that only a reader of the IR understands, and their replacements.
static constexpr std::pair<StringLiteral, StringLiteral> phrases[] = {
    {", an nn.repeat, or paths with an index (layers[0].fc)", ""},
    {": there is no nn.expert_linear", ""},
    {": no operation reads an argument with nn.role = \"input\"", ""},
    {": no operation has an iterator 'seq'", ""},
    {"(nn.embedding_bag)", "(embedding bags)"},
    {"no nn.attention to which cp-kind", "no attention to which --cp-kind"},
    {" 'layers[*]'", ""},
    {"layers[*]'", "layers'"},
    {"order = \"gpipe\"", "--schedule gpipe"},
    {"order = \"interleaved\"", "--schedule interleaved"},
    {", or list the work with order = \"explicit\"", ""},
    {"prefetch and reshard", "--prefetch and reshard"},
    {"compute in f8", "compute in fp8"},
    {"override 'seq=", "--seq '"},
    {"override '", "--set '"},
};

static std::string replaceAll(std::string text, StringRef from, StringRef to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Returns the flag that has the same meaning as `option` with `value`.
static std::string flagFor(const plan::Field &field, StringRef value) {
  if (field.kind != plan::Field::Kind::Switch)
    return "--" + field.flag + " " + value.str();
  return (value == "true" ? "--" : "--no-") + field.flag;
}

/// Replaces options of apply-strategy with a value, such as "tp=8", by flags.
static std::string withFlags(StringRef text) {
  auto isWord = [](char c) { return isAlnum(c) || c == '-' || c == '_'; };
  std::string result;
  while (!text.empty()) {
    StringRef word = text.take_while(isWord);
    StringRef rest = text.drop_front(word.size());
    const plan::Field *field =
        find_if(plan::fields(), [&](const plan::Field &each) {
          return !word.empty() && each.option == word;
        });
    StringRef value;
    if (field != plan::fields().end() && rest.consume_front("="))
      value = rest.take_while(isWord);
    if (!value.empty()) {
      result += flagFor(*field, value);
      text = rest.drop_front(value.size());
      continue;
    }
    // Other words than this one that have a dash are only names of options.
    if (field != plan::fields().end() && word.contains('-') &&
        word != "micro-batches") {
      result += "--" + field->flag;
      text = rest;
      continue;
    }
    size_t size = std::max<size_t>(word.size(), 1);
    result += text.take_front(size);
    text = text.drop_front(size);
  }
  return result;
}

std::string proteus::jobs::inUserWords(StringRef error) {
  // "'nn.attention' op has 8 key heads" begins with the name of an operation.
  if (error.starts_with("'")) {
    auto [name, rest] = error.drop_front().split("' op ");
    bool isOfModel = !name.contains(' ') && name.contains('.');
    if (isOfModel && rest.starts_with("has "))
      return inUserWords(("the model " + rest).str());
    if (isOfModel && rest.starts_with("the "))
      return inUserWords(rest);
  }
  std::string text = error.str();
  for (auto [from, to] : phrases)
    text = replaceAll(text, from, to);
  return withFlags(text);
}
