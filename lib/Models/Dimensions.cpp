//===- Dimensions.cpp - dimensions by name ----------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/Model.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::models;

Model::~Model() = default;

//===----------------------------------------------------------------------===//
// Declaration
//===----------------------------------------------------------------------===//

void Dimensions::integer(StringRef name, int64_t &value, int64_t min,
                         int64_t max) {
  dimensions.push_back({name.str(), &value, min, max, 0});
}
void Dimensions::number(StringRef name, double &value, double max) {
  dimensions.push_back({name.str(), &value, 0, 0, max});
}
void Dimensions::share(StringRef name, double &value, double max) {
  dimensions.push_back({name.str(), &value, 0, 0, max, /*mayBeZero=*/true});
}
void Dimensions::flag(StringRef name, bool &value) {
  dimensions.push_back({name.str(), &value});
}
void Dimensions::flag(StringRef name, std::optional<bool> &value) {
  dimensions.push_back({name.str(), Answer{&value, false}});
}
void Dimensions::opposite(StringRef name, std::optional<bool> &value) {
  dimensions.push_back({name.str(), Answer{&value, true}});
}
void Dimensions::choice(StringRef name, std::string &value,
                        ArrayRef<StringRef> allowed) {
  dimensions.push_back({name.str(), Choice{&value, allowed}});
}
void Dimensions::list(StringRef name, std::vector<int64_t> &value, int64_t min,
                      int64_t max) {
  dimensions.push_back({name.str(), &value, min, max, 0});
}
void Dimensions::remark(StringRef name) {
  dimensions.push_back({name.str(), Remark()});
}

const Dimensions::Dimension *Dimensions::find(StringRef name) const {
  auto found = llvm::find_if(
      dimensions, [&](const Dimension &each) { return each.name == name; });
  return found == dimensions.end() ? nullptr : &*found;
}

//===----------------------------------------------------------------------===//
// From text
//===----------------------------------------------------------------------===//

namespace {
template <typename... Ts> struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts> Overloaded(Ts...) -> Overloaded<Ts...>;
} // namespace

std::string Dimensions::expected(const Dimension &dimension) {
  std::string range = "from " + std::to_string(dimension.min) + " to " +
                      std::to_string(dimension.max);
  return std::visit(
      Overloaded{
          [&](int64_t *) { return "an integer " + range; },
          [&](double *) {
            return std::string(dimension.mayBeZero
                                   ? "a number from 0 to "
                                   : "a positive number up to ") +
                   json::formatNumber(dimension.most);
          },
          [&](bool *) { return std::string("true or false"); },
          [&](Answer) { return std::string("true or false"); },
          [&](Choice choice) { return "one of " + join(choice.allowed, ", "); },
          [&](std::vector<int64_t> *) {
            return "integers " + range + ", separated by commas";
          },
          [&](Remark) { return std::string("nothing: it is a remark"); }},
      dimension.target);
}

/// Parses an integer. Returns false if `text` is not an integer from `min` to
/// `max`.
static bool readInteger(StringRef text, int64_t min, int64_t max,
                        int64_t &value) {
  return !text.getAsInteger(10, value) && value >= min && value <= max;
}

static bool readFlag(StringRef text, bool &value) {
  value = text == "true";
  return value || text == "false";
}

bool Dimensions::assign(const Dimension &dimension, StringRef text) {
  return std::visit(
      Overloaded{
          [&](int64_t *value) {
            return readInteger(text, dimension.min, dimension.max, *value);
          },
          [&](double *value) {
            return !text.getAsDouble(*value) &&
                   (*value > 0 || (dimension.mayBeZero && *value == 0)) &&
                   *value <= dimension.most;
          },
          [&](bool *value) { return readFlag(text, *value); },
          [&](Answer answer) {
            bool said;
            if (!readFlag(text, said))
              return false;
            *answer.value = said != answer.opposite;
            return true;
          },
          [&](Choice choice) {
            *choice.value = text.str();
            return llvm::is_contained(choice.allowed, text);
          },
          [&](std::vector<int64_t> *values) {
            values->clear();
            SmallVector<StringRef> parts;
            text.split(parts, ',');
            return parts.size() <= static_cast<size_t>(mostLayers) &&
                   llvm::all_of(parts, [&](StringRef part) {
                     return readInteger(part, dimension.min, dimension.max,
                                        values->emplace_back());
                   });
          },
          [&](Remark) { return false; }},
      dimension.target);
}

Error Dimensions::set(StringRef name, StringRef text, StringRef where) const {
  const Dimension *dimension = find(name);
  if (!dimension) {
    SmallVector<StringRef> names;
    for (const Dimension &each : dimensions)
      if (!std::holds_alternative<Remark>(each.target))
        names.push_back(each.name);
    return createStringError(where + ": the model has no dimension '" + name +
                             "'; it has " + join(names, ", "));
  }
  if (!assign(*dimension, text))
    return createStringError(where + ": expected " + expected(*dimension) +
                             " for '" + name + "', got '" + text + "'");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// From JSON
//===----------------------------------------------------------------------===//

void Dimensions::assign(const Dimension &dimension, const json::Reader &value) {
  std::visit(
      Overloaded{
          [&](int64_t *target) {
            *target = value.integer(dimension.min, dimension.max);
          },
          [&](double *target) {
            *target = dimension.mayBeZero ? value.nonNegative(dimension.most)
                                          : value.positive(dimension.most);
          },
          [&](bool *target) { *target = value.boolean(); },
          [&](Answer answer) {
            *answer.value = value.boolean() != answer.opposite;
          },
          [&](Choice choice) {
            std::string text = value.string();
            if (!llvm::is_contained(choice.allowed, text))
              value.fail("expected " + expected(dimension) + ", got '" + text +
                         "'");
            *choice.value = text;
          },
          [&](std::vector<int64_t> *target) {
            target->clear();
            std::vector<json::Reader> elements = value.elements();
            if (value.isArray() &&
                (elements.empty() ||
                 elements.size() > static_cast<size_t>(mostLayers)))
              return value.fail("expected 1 to " + Twine(mostLayers) +
                                " numbers, got " + Twine(elements.size()));
            for (const json::Reader &element : elements)
              target->push_back(element.integer(dimension.min, dimension.max));
          },
          [&](Remark) {}},
      dimension.target);
}

void Dimensions::set(StringRef name, const json::Reader &value) const {
  const Dimension *dimension = find(name);
  assert(dimension && "a dimension of the family");
  assign(*dimension, value);
}

void Dimensions::read(const json::Reader &object,
                      ArrayRef<StringRef> others) const {
  SmallVector<StringRef> names(others);
  for (const Dimension &dimension : dimensions)
    names.push_back(dimension.name);
  object.expectKeys(names);
  for (const Dimension &dimension : dimensions)
    if (object.has(dimension.name))
      assign(dimension, object[dimension.name]);
}

std::vector<std::pair<std::string, std::string>> Dimensions::list() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const Dimension &dimension : dimensions) {
    std::string text = std::visit(
        Overloaded{
            [&](int64_t *value) { return std::to_string(*value); },
            [&](double *value) { return json::formatNumber(*value); },
            [&](bool *value) { return std::string(*value ? "true" : "false"); },
            [&](Answer answer) {
              // Return an empty text for a second name (`opposite`) and for a
              // flag that is not given. Dimensions with an empty text are not
              // listed.
              return std::string(answer.opposite || !*answer.value ? ""
                                 : **answer.value                  ? "true"
                                                                   : "false");
            },
            [&](Choice choice) { return *choice.value; },
            [&](std::vector<int64_t> *values) {
              return join(
                  llvm::map_range(*values,
                                  [](int64_t v) { return std::to_string(v); }),
                  ",");
            },
            [&](Remark) { return std::string(); }},
        dimension.target);
    if (!text.empty())
      result.emplace_back(dimension.name, text);
  }
  return result;
}
