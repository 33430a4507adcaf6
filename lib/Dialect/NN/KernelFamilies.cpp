//===- KernelFamilies.cpp - families and passes of kernels ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/NN/NN.h"

#include <algorithm>

using namespace proteus::nn;

//===----------------------------------------------------------------------===//
// Families of kernels
//===----------------------------------------------------------------------===//

KernelFamily AttentionOp::getKernelFamily() { return KernelFamily::Attention; }
KernelFamily AttentionBlockOp::getKernelFamily() {
  return KernelFamily::Attention;
}
KernelFamily AttentionGradOp::getKernelFamily() {
  return KernelFamily::Attention;
}
KernelFamily AttentionBlockGradOp::getKernelFamily() {
  return KernelFamily::Attention;
}

KernelFamily ExpertLinearOp::getKernelFamily() { return KernelFamily::Grouped; }
KernelFamily ExpertLinearDgradOp::getKernelFamily() {
  return KernelFamily::Grouped;
}
KernelFamily ExpertLinearWgradOp::getKernelFamily() {
  return KernelFamily::Grouped;
}

KernelFamily LayerNormOp::getKernelFamily() { return KernelFamily::Norm; }
KernelFamily LayerNormGradOp::getKernelFamily() { return KernelFamily::Norm; }
KernelFamily RMSNormOp::getKernelFamily() { return KernelFamily::Norm; }
KernelFamily RMSNormGradOp::getKernelFamily() { return KernelFamily::Norm; }
KernelFamily BatchNormOp::getKernelFamily() { return KernelFamily::Norm; }
KernelFamily BatchNormGradOp::getKernelFamily() { return KernelFamily::Norm; }
KernelFamily BatchNormSumsOp::getKernelFamily() { return KernelFamily::Norm; }
KernelFamily BatchNormApplyOp::getKernelFamily() { return KernelFamily::Norm; }
KernelFamily BatchNormGradSumsOp::getKernelFamily() {
  return KernelFamily::Norm;
}
KernelFamily BatchNormInputGradOp::getKernelFamily() {
  return KernelFamily::Norm;
}

KernelFamily SwigluOp::getKernelFamily() { return KernelFamily::Activation; }
KernelFamily SwigluGradOp::getKernelFamily() {
  return KernelFamily::Activation;
}

KernelFamily RopeOp::getKernelFamily() { return KernelFamily::Rope; }

KernelFamily EmbeddingOp::getKernelFamily() { return KernelFamily::Embedding; }
KernelFamily EmbeddingGradOp::getKernelFamily() {
  return KernelFamily::Embedding;
}
KernelFamily EmbeddingBagOp::getKernelFamily() {
  return KernelFamily::Embedding;
}
KernelFamily EmbeddingBagGradOp::getKernelFamily() {
  return KernelFamily::Embedding;
}

KernelFamily SoftmaxOp::getKernelFamily() { return KernelFamily::Softmax; }
KernelFamily SoftmaxGradOp::getKernelFamily() { return KernelFamily::Softmax; }
KernelFamily SoftmaxSumOp::getKernelFamily() { return KernelFamily::Softmax; }
KernelFamily SoftmaxNormalizeOp::getKernelFamily() {
  return KernelFamily::Softmax;
}
KernelFamily SoftmaxDotOp::getKernelFamily() { return KernelFamily::Softmax; }
KernelFamily SoftmaxInputGradOp::getKernelFamily() {
  return KernelFamily::Softmax;
}
KernelFamily CrossEntropyOp::getKernelFamily() { return KernelFamily::Softmax; }
KernelFamily CrossEntropyGradOp::getKernelFamily() {
  return KernelFamily::Softmax;
}
KernelFamily RowMaxOp::getKernelFamily() { return KernelFamily::Softmax; }
KernelFamily RowExpSumOp::getKernelFamily() { return KernelFamily::Softmax; }

KernelFamily SGDOp::getKernelFamily() { return KernelFamily::Update; }
KernelFamily AdamOp::getKernelFamily() { return KernelFamily::Update; }

//===----------------------------------------------------------------------===//
// Passes of the step to which kernels belong
//===----------------------------------------------------------------------===//

KernelPass LinearDgradOp::getKernelPass() { return KernelPass::DataGradient; }
KernelPass Conv2DDgradOp::getKernelPass() { return KernelPass::DataGradient; }
KernelPass ExpertLinearDgradOp::getKernelPass() {
  return KernelPass::DataGradient;
}
KernelPass AttentionGradOp::getKernelPass() { return KernelPass::DataGradient; }
KernelPass AttentionBlockGradOp::getKernelPass() {
  return KernelPass::DataGradient;
}

KernelPass LinearWgradOp::getKernelPass() { return KernelPass::WeightGradient; }
KernelPass Conv2DWgradOp::getKernelPass() { return KernelPass::WeightGradient; }
KernelPass ExpertLinearWgradOp::getKernelPass() {
  return KernelPass::WeightGradient;
}
KernelPass LstmWgradOp::getKernelPass() { return KernelPass::WeightGradient; }

//===----------------------------------------------------------------------===//
// Strides of windows
//===----------------------------------------------------------------------===//

static int64_t largest(llvm::ArrayRef<int64_t> strides) {
  return *std::max_element(strides.begin(), strides.end());
}

int64_t Conv2DOp::getWindowStride() { return largest(getStride()); }
int64_t Conv2DDgradOp::getWindowStride() { return largest(getStride()); }
int64_t Conv2DWgradOp::getWindowStride() { return largest(getStride()); }
