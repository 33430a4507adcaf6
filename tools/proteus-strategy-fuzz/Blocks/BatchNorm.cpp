//===- BatchNorm.cpp - normalisation over the batch -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"
#include "Registry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace proteus::fuzz;

static void choose(Random &random, const Model &model, BlockUse &use) {
  // 0 stands for the whole batch. A single row has no variance.
  bool image = model.form == Form::Image;
  use.set("members", image ? random.pick<int64_t>({0, 1, 1, 2})
                           : random.pick<int64_t>({0, 2}));
}

static Tensor write(ModelWriter &writer, const BlockUse &use,
                    const Tensor &input) {
  int64_t batch = input.shape[0], channels = input.shape[1];
  int64_t members = use.get("members");
  int64_t groups = members && batch % members == 0 ? batch / members : 1;
  Tensor scale = writer.parameter("batch_norm.scale", {channels});
  Tensor shift = writer.parameter("batch_norm.shift", {channels});
  Tensor result = writer.fresh(input.shape);
  Tensor mean = writer.fresh({groups, channels}, "f32");
  Tensor inverse = writer.fresh({groups, channels}, "f32");
  writer.emit("batch_norm", "batch_norm", {input, scale, shift},
              llvm::formatv("{{groups = {0} : i64}", groups).str(),
              {result, mean, inverse},
              {{"batch", groups > 1 ? groups : batch}, {"channel", channels}},
              {channels});
  return result;
}

/// Returns false after a stem with a bias. The normalisation subtracts the mean
/// and with it the bias, whose gradient is then zero up to rounding errors and
/// can't be compared.
static bool fits(const Model &model) {
  return llvm::none_of(model.in(Slot::Stem), [](const BlockUse &use) {
    return llvm::any_of(use.options, [](const Option &option) {
      return option.name == "bias" && option.value;
    });
  });
}

void proteus::fuzz::addBatchNorm(Registry &registry) {
  registry.addBlock({"batch norm", Slot::AfterStem, Form::Rows | Form::Image,
                     30, choose, write, fits});
}
