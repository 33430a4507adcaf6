//===- Frameworks.cpp - tables of settings --------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of the tables are macros:
//
//   SETTING_DIMENSION(name, kind, dimension)
//       sets a dimension of the model
//   SETTING_PLAN(name)
//       is the flag of the plan with this name or alias (PlanFields.def)
//   SETTING_USED(name, kind, meaning)
//       sets something else
//   SETTING_NOT_MODELLED(name, kind, neutral, assumption)
//       changes a real step, but not the prediction, which assumes something.
//       With the value `neutral` there is no difference
//   SETTING_NO_EFFECT(kind, reason, names)
//       several settings that change no step, separated by spaces
//   SETTING_REFUSED(name, kind, reason)
//
//===----------------------------------------------------------------------===//

#include "Proteus/Frameworks/Frameworks.h"

#include "Proteus/Plan/PlanFields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::frameworks;

/// Returns the row of a flag of the plan: its field has the values and the
/// meaning.
static Setting planSetting(StringRef name) {
  if (const plan::Field *field = plan::findByFlag(name))
    return {name.str(),
            field->kind == plan::Field::Kind::Switch    ? ValueKind::Flag
            : field->kind == plan::Field::Kind::Integer ? ValueKind::Integer
                                                        : ValueKind::Text,
            Effect::Used,
            "--" + field->flag + ": " + field->help,
            "",
            ""};
  for (const plan::Shorthand &shorthand : plan::shorthands())
    if (shorthand.flag == name)
      return {
          name.str(),   ValueKind::Flag,
          Effect::Used, "--" + shorthand.field->flag + " " + shorthand.whenTrue,
          "",           ""};
  llvm_unreachable("the table names no flag of the plan");
}

#define SETTING_DIMENSION(NAME, KIND, DIMENSION)                               \
  rows.push_back({NAME, ValueKind::KIND, Effect::Used,                         \
                  "--set " DIMENSION "=N", DIMENSION, ""});
#define SETTING_PLAN(NAME) rows.push_back(planSetting(NAME));
#define SETTING_USED(NAME, KIND, MEANING)                                      \
  rows.push_back({NAME, ValueKind::KIND, Effect::Used, MEANING, "", ""});
#define SETTING_NOT_MODELLED(NAME, KIND, NEUTRAL, ASSUMPTION)                  \
  rows.push_back(                                                              \
      {NAME, ValueKind::KIND, Effect::NotModelled, ASSUMPTION, "", NEUTRAL});
#define SETTING_NO_EFFECT(KIND, REASON, NAMES)                                 \
  for (StringRef name : words(NAMES))                                          \
    rows.push_back({name.str(), ValueKind::KIND, Effect::None, REASON, "", ""});
#define SETTING_REFUSED(NAME, KIND, REASON)                                    \
  rows.push_back({NAME, ValueKind::KIND, Effect::Refused, REASON, "", ""});

static SmallVector<StringRef> words(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return parts;
}

static std::vector<Setting> megatronSettings() {
  std::vector<Setting> rows;
#include "MegatronSettings.def"
  return rows;
}

static std::vector<Setting> torchTitanSettings() {
  std::vector<Setting> rows;
#include "TorchTitanSettings.def"
  return rows;
}

static std::vector<Setting> deepSpeedSettings() {
  std::vector<Setting> rows;
#include "DeepSpeedSettings.def"
  return rows;
}

ArrayRef<Framework> proteus::frameworks::allFrameworks() {
  static const std::vector<Framework> all = {
      {"Megatron-LM", "megatron", "core_v0.15.3", megatronSettings()},
      {"torchtitan", "torchtitan", "v0.2.2", torchTitanSettings()},
      {"DeepSpeed", "deepspeed", "v0.19.5", deepSpeedSettings()}};
  return all;
}

const Framework &proteus::frameworks::frameworkOf(StringRef flag) {
  const Framework *found = find_if(allFrameworks(), [&](const Framework &each) {
    return each.flag == flag;
  });
  assert(found != allFrameworks().end() && "unknown framework");
  return *found;
}

const Setting *Framework::find(StringRef name) const {
  for (const Setting &setting : settings)
    if (setting.name == name)
      return &setting;
  return nullptr;
}
