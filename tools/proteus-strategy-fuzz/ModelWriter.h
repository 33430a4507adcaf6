//===- ModelWriter.h - models as text ---------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_MODELWRITER_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_MODELWRITER_H

#include "Generator.h"

#include "llvm/ADT/Twine.h"

namespace proteus {
namespace fuzz {

using Sizes = std::vector<int64_t>;

struct Tensor {
  std::string name;
  Sizes shape;
  std::string element;

  std::string type() const {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + element + ">";
  }
};

/// An operation as the tree may split it.
struct Kernel {
  /// Relative to the layer if it is in one.
  std::string path;
  bool inLayer;
  std::vector<std::pair<std::string, int64_t>> iterators;
  /// Of the weight; empty if there is none.
  Sizes weight;
};

/// Writes a model, and notes its kernels, those of layers once.
class ModelWriter {
public:
  explicit ModelWriter(const Model &model) : model(model) {}

  std::string write();
  llvm::ArrayRef<Kernel> getKernels() const { return kernels; }

private:
  Tensor argument(llvm::Twine path, Sizes shape, llvm::StringRef element,
                  llvm::StringRef role);
  /// A parameter of the current layer, or of none.
  Tensor parameter(llvm::Twine path, const Sizes &shape);
  Tensor fresh(Sizes shape, llvm::StringRef element) {
    return {"%v" + std::to_string(numValues++), std::move(shape),
            element.str()};
  }
  void emit(llvm::StringRef mnemonic, llvm::StringRef path,
            llvm::ArrayRef<Tensor> operands, llvm::StringRef attributes,
            llvm::ArrayRef<Tensor> results,
            std::vector<std::pair<std::string, int64_t>> iterators,
            Sizes weight = {});

  /// The iterators of the dimensions of an activation; `last` names that of
  /// the last one.
  std::vector<std::pair<std::string, int64_t>> dims(const Tensor &tensor,
                                                    llvm::StringRef last);
  Tensor unary(llvm::StringRef mnemonic, llvm::StringRef path,
               const Tensor &input);
  Tensor activation(llvm::StringRef path, const Tensor &input);
  Tensor add(llvm::StringRef path, const Tensor &lhs, const Tensor &rhs);
  Tensor linear(llvm::StringRef path, const Tensor &input, int64_t out);
  Tensor norm(llvm::StringRef path, const Tensor &input);
  Tensor dropout(llvm::StringRef path, const Tensor &input);
  Tensor conv(llvm::StringRef path, const Tensor &input, int64_t out);
  Tensor pool(llvm::StringRef path, const Tensor &input, int64_t kernel,
              int64_t stride, int64_t padding, bool maximum);
  Tensor attention(const Tensor &input);

  Tensor layer(const Tensor &input);
  Tensor layers(Tensor input);
  void loss(Tensor logits, Tensor labels);

  const Model &model;
  std::vector<Kernel> kernels;
  std::string arguments, body, slices;
  /// `layers[1].` in a layer that is written out.
  std::string prefix;
  bool inLayer = false, inRepeat = false, noteKernels = true;
  int64_t numArguments = 0, numValues = 0;
};

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_MODELWRITER_H
