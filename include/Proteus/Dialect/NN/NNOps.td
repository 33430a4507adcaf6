//===- NNOps.td - operations of the nn dialect -------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNOPS_TD
#define PROTEUS_DIALECT_NN_NNOPS_TD

include "Proteus/Dialect/NN/NNElementwiseOps.td"
include "Proteus/Dialect/NN/NNExpertOps.td"
include "Proteus/Dialect/NN/NNForwardOps.td"
include "Proteus/Dialect/NN/NNGenericOp.td"
include "Proteus/Dialect/NN/NNGradientOps.td"
include "Proteus/Dialect/NN/NNImageOps.td"
include "Proteus/Dialect/NN/NNNormalizationOps.td"
include "Proteus/Dialect/NN/NNGradientScalingOps.td"
include "Proteus/Dialect/NN/NNOptimizerOps.td"
include "Proteus/Dialect/NN/NNRecommenderOps.td"
include "Proteus/Dialect/NN/NNRecurrentOps.td"
include "Proteus/Dialect/NN/NNSequenceOps.td"
include "Proteus/Dialect/NN/NNShapeOps.td"
include "Proteus/Dialect/NN/NNSoftmaxOps.td"
include "Proteus/Dialect/NN/NNStructureOps.td"

#endif // PROTEUS_DIALECT_NN_NNOPS_TD
