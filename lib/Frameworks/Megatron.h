//===- Megatron.h - parts of the reader of Megatron-LM ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_FRAMEWORKS_MEGATRON_H
#define PROTEUS_LIB_FRAMEWORKS_MEGATRON_H

#include "Arguments.h"

namespace proteus::frameworks {

/// Sets the model, the optimizer and the types of `job`.
void readMegatronModel(Arguments &arguments, Notes &notes, jobs::Job &job);

/// Sets degrees, batches, schedule and sharding of `job`.
void readMegatronPlan(Arguments &arguments, Notes &notes, jobs::Job &job);

/// Returns the number of layers, or 0 if it is not stated.
int64_t layersOf(Arguments &arguments);

} // namespace proteus::frameworks

#endif // PROTEUS_LIB_FRAMEWORKS_MEGATRON_H
