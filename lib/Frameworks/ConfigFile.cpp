//===- ConfigFile.cpp - keys of a configuration file ----------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigFile.h"

#include "Proteus/Support/Nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::frameworks;

/// Returns true if `value` leaves the decision open.
static bool isOpen(const json::Reader &value) {
  return value.isNull() || (value.isString() && value.string() == "auto");
}

/// Returns true if `value` selects nothing.
static bool isOff(const json::Reader &value) {
  std::string text = value.text();
  return text == "false" || text == "\"\"" || text == "[]" || text == "0";
}

namespace {
/// Compares the keys of a file with the settings of a framework.
class KeyCheck {
public:
  KeyCheck(const Framework &framework, Notes &notes)
      : framework(framework), notes(notes) {}

  /// Checks the keys of `object`, whose path and a dot are `prefix`.
  void check(const json::Reader &object, const std::string &prefix);
  /// Returns the error that names all unknown and refused keys.
  Error takeError(StringRef source);

private:
  void checkValue(const Setting &setting, const json::Reader &value);
  void checkKind(const Setting &setting, const json::Reader &value);
  bool isSection(StringRef prefix) const;
  std::string nearestTo(StringRef key, StringRef prefix) const;

  const Framework &framework;
  Notes &notes;
  std::vector<std::string> unknown, refused;
};
} // namespace

/// Returns true if settings have paths that begin with `prefix`.
bool KeyCheck::isSection(StringRef prefix) const {
  return llvm::any_of(framework.settings, [&](const Setting &setting) {
    return StringRef(setting.name).starts_with(prefix);
  });
}

/// Returns the known key of the section `prefix` that is most similar to `key`.
std::string KeyCheck::nearestTo(StringRef key, StringRef prefix) const {
  std::vector<std::string> known;
  for (const Setting &setting : framework.settings) {
    StringRef name = setting.name;
    if (name.consume_front(prefix))
      known.push_back(name.split('.').first.str());
  }
  return nearest(key, known);
}

void KeyCheck::check(const json::Reader &object, const std::string &prefix) {
  for (const auto &[key, value] : object.members()) {
    std::string path = prefix + key;
    // The paths of settings have dots only between keys.
    bool isPlain = !StringRef(key).contains('.');
    if (const Setting *setting = isPlain ? framework.find(path) : nullptr) {
      checkValue(*setting, value);
    } else if (isPlain && isSection(path + ".")) {
      if (value.isObject())
        check(value, path + ".");
      else if (!isOpen(value))
        value.fail("expected an object");
    } else {
      constexpr size_t most = 20;
      if (unknown.size() > most)
        return;
      std::string near = nearestTo(key, prefix);
      unknown.push_back(path +
                        (near.empty() ? "" : " (did you mean " + near + "?)"));
    }
  }
}

void KeyCheck::checkValue(const Setting &setting, const json::Reader &value) {
  if (isOpen(value))
    return;
  switch (setting.effect) {
  case Effect::Refused:
    checkKind(setting, value);
    if (isOff(value))
      notes.noEffect(setting.name, "it is off");
    else
      refused.push_back(setting.name + ": " + setting.text);
    return;
  case Effect::Used:
    return checkKind(setting, value);
  case Effect::None:
    checkKind(setting, value);
    return notes.noEffect(setting.name, setting.text);
  case Effect::NotModelled:
    checkKind(setting, value);
    std::string text = value.isString() ? value.string() : value.text();
    if (!setting.neutral.empty() && text == setting.neutral)
      return notes.noEffect(setting.name, "the value that is modelled");
    return notes.notModelled(setting.name, setting.text);
  }
}

void KeyCheck::checkKind(const Setting &setting, const json::Reader &value) {
  switch (setting.kind) {
  case ValueKind::Boolean:
    value.boolean();
    return;
  case ValueKind::Integer:
  case ValueKind::Number:
    if (!value.isNumber())
      value.fail("expected a number");
    return;
  case ValueKind::Text:
    value.string();
    return;
  case ValueKind::List:
    if (!value.isArray())
      value.fail("expected a list");
    return;
  case ValueKind::Any:
    return;
  case ValueKind::Flag:
  case ValueKind::Switch:
    llvm_unreachable("keys of files have values");
  }
}

Error KeyCheck::takeError(StringRef source) {
  if (!unknown.empty())
    return createStringError(source + ": " + framework.name + " has no key " +
                             join(unknown, ", "));
  if (!refused.empty())
    return createStringError(source + ": " + join(refused, "; "));
  return Error::success();
}

Expected<ConfigFile> ConfigFile::read(const Framework &framework,
                                      json::Document document, Notes &notes) {
  json::Reader root = document.root();
  KeyCheck keys(framework, notes);
  keys.check(root, "");
  if (Error error = document.takeError())
    return std::move(error);
  if (Error error = keys.takeError(document.source()))
    return std::move(error);
  return ConfigFile(std::move(document));
}

std::optional<json::Reader> ConfigFile::lookUp(StringRef path) const {
  json::Reader value = document.root();
  while (!path.empty()) {
    auto [key, rest] = path.split('.');
    if (!value.has(key))
      return std::nullopt;
    value = value[key];
    path = rest;
  }
  return value;
}

std::optional<json::Reader> ConfigFile::find(StringRef path) const {
  std::optional<json::Reader> value = lookUp(path);
  if (value && isOpen(*value))
    return std::nullopt;
  return value;
}

bool ConfigFile::isAuto(StringRef path) const {
  std::optional<json::Reader> value = lookUp(path);
  return value && value->isString() && value->string() == "auto";
}

std::optional<int64_t> ConfigFile::integer(StringRef path, int64_t min,
                                           int64_t max) const {
  std::optional<json::Reader> value = find(path);
  if (!value)
    return std::nullopt;
  return value->integer(min, max);
}

bool ConfigFile::flag(StringRef path, bool otherwise) const {
  std::optional<json::Reader> value = find(path);
  return value ? value->boolean() : otherwise;
}

std::optional<std::string> ConfigFile::text(StringRef path) const {
  std::optional<json::Reader> value = find(path);
  if (!value)
    return std::nullopt;
  return value->string();
}

std::optional<std::string> ConfigFile::word(StringRef path,
                                            ArrayRef<StringRef> allowed) const {
  std::optional<std::string> value = text(path);
  if (!value || is_contained(allowed, StringRef(*value)))
    return value;
  fail(path,
       "expected one of " + join(allowed, ", ") + ", got '" + *value + "'");
  return std::nullopt;
}

std::vector<std::string> ConfigFile::list(StringRef path) const {
  std::vector<std::string> texts;
  if (std::optional<json::Reader> value = find(path))
    for (const json::Reader &element : value->elements())
      texts.push_back(element.string());
  return texts;
}

std::string ConfigFile::shown(StringRef path) const {
  std::optional<json::Reader> value = find(path);
  return value ? value->text() : "";
}

void ConfigFile::fail(StringRef path, const Twine &message) const {
  if (std::optional<json::Reader> value = find(path))
    value->fail(message);
  else
    document.root().fail(message);
}
