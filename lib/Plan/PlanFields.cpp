//===- PlanFields.cpp - fields of a plan by name --------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Plan/PlanFields.h"

#include "Proteus/Support/Nearest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace proteus::plan {

/// Splits `text` at commas.
static std::vector<std::string> split(StringRef text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    auto [part, rest] = text.split(',');
    parts.push_back(part.str());
    text = rest;
  }
  return parts;
}

/// The overloads of `print` convert an integer, a switch or a choice to text.
/// The overloads of `parseValue` convert the text back.
static std::string print(int64_t value) { return std::to_string(value); }
static std::string print(bool value) { return value ? "true" : "false"; }
template <typename Enum> static std::string print(Enum value) {
  return stringifyEnum(value).str();
}

static bool parseValue(StringRef text, std::optional<int64_t> &value) {
  int64_t number;
  if (text.getAsInteger(10, number))
    return false;
  value = number;
  return true;
}

static bool parseValue(StringRef text, std::optional<bool> &value) {
  if (text != "true" && text != "false")
    return false;
  value = text == "true";
  return true;
}

template <typename Enum>
static bool parseValue(StringRef text, std::optional<Enum> &value) {
  std::optional<Enum> parsed = symbolizeEnum<Enum>(text);
  if (parsed)
    value = parsed;
  return parsed.has_value();
}

namespace {
/// The names of a field in all formats, and its help text. The rows of all
/// fields end with these columns.
struct Names {
  StringRef flag, aliases, option, caseKey, stackKey, tree, help;
};
} // namespace

std::vector<Field> makeFields() {
  std::vector<Field> list;
  std::string section;
  // `member` is a pointer to a member of ParallelPlan. The type of the member
  // selects the overloads of `print` and `parseValue`.
  auto add = [&](auto member, Field::Kind kind, StringRef name,
                 const Names &names) -> Field & {
    Field field;
    field.kind = kind;
    field.section = section;
    field.member = name.str();
    field.flag = names.flag.str();
    field.aliases = split(names.aliases);
    field.option = names.option.str();
    field.caseKey = names.caseKey.str();
    field.stackKey = names.stackKey.str();
    field.tree = names.tree.str();
    field.help = names.help.str();
    field.get =
        [member](const ParallelPlan &plan) -> std::optional<std::string> {
      if (!(plan.*member))
        return std::nullopt;
      return print(*(plan.*member));
    };
    field.reset = [member](ParallelPlan &plan) { (plan.*member).reset(); };
    field.parse = [member](ParallelPlan &plan, StringRef text) {
      return parseValue(text, plan.*member);
    };
    list.push_back(std::move(field));
    return list.back();
  };
  auto bound = [](Field &field, int64_t min, int64_t max) {
    field.min = min;
    field.max = max;
  };

#define PLAN_SECTION(TITLE) section = TITLE;
#define PLAN_INTEGER(MEMBER, DEFAULT, MIN, MAX, ...)                           \
  bound(add(&ParallelPlan::MEMBER, Field::Kind::Integer, #MEMBER,              \
            Names{__VA_ARGS__}),                                               \
        MIN, MAX);                                                             \
  list.back().defaultText = print(int64_t(DEFAULT));
#define PLAN_AUTO_INTEGER(MEMBER, DEFAULT, ...)                                \
  PLAN_INTEGER(MEMBER, DEFAULT, __VA_ARGS__)                                   \
  list.back().isAutomatic = true;
#define PLAN_OPEN_INTEGER(MEMBER, MIN, MAX, ...)                               \
  bound(add(&ParallelPlan::MEMBER, Field::Kind::Integer, #MEMBER,              \
            Names{__VA_ARGS__}),                                               \
        MIN, MAX);
#define PLAN_SWITCH(MEMBER, DEFAULT, ...)                                      \
  add(&ParallelPlan::MEMBER, Field::Kind::Switch, #MEMBER, Names{__VA_ARGS__}) \
      .defaultText = print(DEFAULT);
#define PLAN_CHOICE(TYPE, MEMBER, DEFAULT, ...)                                \
  add(&ParallelPlan::MEMBER, Field::Kind::Choice, #MEMBER, Names{__VA_ARGS__}) \
      .defaultText = print(TYPE::DEFAULT);                                     \
  list.back().words = wordsOf<TYPE>();
#define PLAN_OPEN_CHOICE(TYPE, MEMBER, ...)                                    \
  add(&ParallelPlan::MEMBER, Field::Kind::Choice, #MEMBER, Names{__VA_ARGS__}) \
      .words = wordsOf<TYPE>();
#include "Proteus/Plan/PlanFields.def"
  return list;
}

static const Field &fieldOf(StringRef member) {
  const Field *found =
      find_if(fields(), [&](const Field &f) { return f.member == member; });
  assert(found != fields().end() && "shorthand of an unknown field");
  return *found;
}

static std::vector<Shorthand> makeShorthands() {
  std::vector<Shorthand> list;
#define PLAN_SHORTHAND(MEMBER, FLAG, ALIASES, CASE, TRUE, FALSE, INCLUDES,     \
                       HELP)                                                   \
  list.push_back({&fieldOf(#MEMBER), FLAG, CASE, HELP, split(ALIASES), TRUE,   \
                  FALSE, split(INCLUDES)});
#include "Proteus/Plan/PlanFields.def"
  return list;
}

ArrayRef<Field> fields() {
  static const std::vector<Field> list = makeFields();
  return list;
}

ArrayRef<Shorthand> shorthands() {
  static const std::vector<Shorthand> list = makeShorthands();
  return list;
}

const Field *findByFlag(StringRef flag) {
  for (const Field &field : fields())
    if (field.flag == flag || is_contained(field.aliases, flag))
      return &field;
  return nullptr;
}

Error Field::set(ParallelPlan &plan, StringRef text) const {
  if (isAutomatic && text == "auto") {
    reset(plan);
    return Error::success();
  }
  switch (kind) {
  case Kind::Integer: {
    int64_t number;
    if (text.getAsInteger(10, number) || number < min || number > max)
      return createStringError(
          "expected an integer from " + Twine(min) + " to " + Twine(max) +
          (isAutomatic ? " or auto" : "") + ", got '" + text + "'");
    break;
  }
  case Kind::Switch:
    if (text != "true" && text != "false")
      return createStringError("expected true or false, got '" + text + "'");
    break;
  case Kind::Choice:
    if (!is_contained(words, text)) {
      std::string near = nearest(text, words);
      return createStringError(
          "expected one of " + join(words, ", ") + ", got '" + text + "'" +
          (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
    break;
  }
  bool parsed = parse(plan, text);
  assert(parsed && "a value that was checked can't be read");
  (void)parsed;
  return Error::success();
}

std::string Field::placeholder() const {
  switch (kind) {
  case Kind::Integer:
    return isAutomatic ? "N|auto" : "N";
  case Kind::Switch:
    return "";
  case Kind::Choice:
    return join(words, "|");
  }
  llvm_unreachable("unknown kind");
}

Error Shorthand::set(ParallelPlan &plan, bool value) const {
  StringRef wanted = value ? whenTrue : whenFalse;
  if (wanted.empty())
    return createStringError("can't be false; leave it out");
  std::optional<std::string> stated = field->get(plan);
  if (!stated)
    return field->set(plan, wanted);
  if (*stated == wanted || (value && is_contained(including, *stated)))
    return Error::success();
  return createStringError("sets --" + field->flag + " " + wanted +
                           ", but its value is " + *stated +
                           "; leave one of them out");
}

} // namespace proteus::plan
