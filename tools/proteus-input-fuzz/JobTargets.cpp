//===- JobTargets.cpp - files that describe models and jobs ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "Proteus/Cost/Profile.h"
#include "Proteus/Frameworks/Frameworks.h"
#include "Proteus/Jobs/Job.h"
#include "Proteus/Models/BuildModel.h"
#include "Proteus/Plan/PlanFields.h"
#include "Proteus/Reference/Parity/Parity.h"
#include "Proteus/Validation/Cases.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;
using namespace proteus;

/// Requires a message, or a job whose sizes are in their bounds and whose
/// model, if it states one, is complete or refused with a message.
static void requireResult(Expected<std::vector<std::string>> remarks,
                          const jobs::Job &job) {
  if (!remarks) {
    fuzz::require(!toString(remarks.takeError()).empty());
    return;
  }
  for (const plan::Field &field : plan::fields())
    if (std::optional<std::string> value = field.get(job.plan)) {
      plan::ParallelPlan copy;
      fuzz::require(!errorToBool(field.set(copy, *value)));
    }
  if (job.model.empty())
    return;
  models::ModelRequest request;
  request.model = job.model;
  request.overrides = job.overrides;
  Expected<models::ModelDescription> model = models::describe(request);
  if (!model)
    consumeError(model.takeError());
}

void fuzz::readModel(StringRef text) {
  models::ModelRequest request;
  request.model = text.str();
  // Any other text is the name of a preset or of a file.
  if (!text.starts_with("{"))
    return;
  Expected<models::ModelDescription> description = models::describe(request);
  if (!description)
    return consumeError(description.takeError());
  require(description->parameters > 0);
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
      models::buildModel(sharedContext(), request);
  if (!module)
    return consumeError(module.takeError());
  require(succeeded(mlir::verify(**module)));
}

void fuzz::readDeepSpeed(StringRef text) {
  jobs::Job job;
  requireResult(frameworks::readDeepSpeed(text, sourceName, job), job);
}

void fuzz::readTorchTitan(StringRef text) {
  jobs::Job job;
  job.gpus = 64;
  requireResult(frameworks::readTorchTitan(text, sourceName, job), job);
}

void fuzz::readMegatron(StringRef text) {
  std::vector<std::string> words;
  for (StringRef rest = text; !(rest = rest.ltrim()).empty();) {
    StringRef word = rest.take_until([](char c) { return isSpace(c); });
    words.push_back(word.str());
    rest = rest.drop_front(word.size());
  }
  jobs::Job job;
  job.gpus = 64;
  requireResult(frameworks::readMegatron(words, job), job);
}

void fuzz::readCases(StringRef text) {
  Expected<std::vector<validation::Case>> cases =
      validation::readCases(text, sourceName);
  if (!cases)
    return consumeError(cases.takeError());
  for (const validation::Case &one : *cases)
    if (one.iterationSeconds)
      require(std::isfinite(*one.iterationSeconds));
}

void fuzz::readParity(StringRef text) {
  Expected<parity::ReferenceRuns> runs =
      parity::readReferenceRuns(text, sourceName);
  if (!runs)
    return consumeError(runs.takeError());
  for (const parity::ReferenceRun &run : runs->runs) {
    Expected<parity::ReferenceJob> job = parity::jobOf(run);
    if (!job)
      consumeError(job.takeError());
  }
}

void fuzz::readProfile(StringRef text) {
  Expected<cost::Measurements> rows = cost::parseProfile(text, sourceName);
  if (!rows)
    return consumeError(rows.takeError());
  for (const cost::Measurement &row : *rows)
    require(row.seconds > 0 && std::isfinite(row.seconds));
}
