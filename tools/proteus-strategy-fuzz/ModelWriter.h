//===- ModelWriter.h - models as text ---------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_TOOLS_STRATEGYFUZZ_MODELWRITER_H
#define PROTEUS_TOOLS_STRATEGYFUZZ_MODELWRITER_H

#include "Case.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>
#include <vector>

namespace proteus {
namespace fuzz {

using Sizes = std::vector<int64_t>;
using Iterators = std::vector<std::pair<std::string, int64_t>>;

/// A value of the text, with its name and type.
struct Tensor {
  std::string name;
  Sizes shape;
  std::string element;

  std::string type() const;
};

/// Writer of a model as text, which also records the kernels of the model,
/// those of layers once. Blocks use it to write their operations.
class ModelWriter {
public:
  explicit ModelWriter(const Model &model) : model(model) {}

  /// Writes the whole function.
  std::string write();
  /// Returns the recorded kernels.
  llvm::ArrayRef<Kernel> getKernels() const { return kernels; }

  const Model &model;
  /// Table of an embedding, for a head that is tied to it.
  std::optional<Tensor> table;
  /// The value that `Block::prepare` has written for the layers.
  std::optional<Tensor> outer;

  /// Adds an argument of the function, written `%aN : type {attributes}`.
  Tensor argument(const llvm::Twine &path, Sizes shape, llvm::StringRef element,
                  llvm::StringRef role);
  /// Adds a parameter with a path relative to the current layer, if there is
  /// one. In repeats, every iteration has its own.
  Tensor parameter(const llvm::Twine &path, const Sizes &shape);
  /// Adds a parameter that all iterations of all repeats share, or returns the
  /// parameter that has this path already.
  Tensor sharedParameter(const llvm::Twine &path, const Sizes &shape);
  /// Returns a new value with the element type of the model.
  Tensor fresh(Sizes shape) { return fresh(std::move(shape), model.element); }
  Tensor fresh(Sizes shape, llvm::StringRef element);

  /// Writes `results = nn.mnemonic "path"(operands) attributes : types`. The
  /// word after a space in the mnemonic is written after the path. A tree may
  /// split `iterators`; `weight` is the shape of the weight, if there is one.
  void emit(llvm::StringRef mnemonic, llvm::StringRef path,
            llvm::ArrayRef<Tensor> operands, llvm::StringRef attributes,
            llvm::ArrayRef<Tensor> results, Iterators iterators,
            Sizes weight = {});
  /// Writes a line unchanged, for operations of other dialects than `nn`. Their
  /// paths start with `getPrefix()`.
  void emitLine(const llvm::Twine &line);
  llvm::StringRef getPrefix() const { return prefix; }
  /// Records a kernel that a tree may split, for operations that `emit` does
  /// not write.
  void noteKernel(llvm::StringRef path, Iterators iterators, Sizes weight = {});
  /// Writes `nn.repeat "path"`; `body` writes one iteration.
  Tensor repeat(llvm::StringRef path, int64_t first, int64_t count,
                const Tensor &input,
                llvm::function_ref<Tensor(const Tensor &)> body);

  /// Returns the iterators for the dimensions of an activation. `last` is the
  /// iterator of the last dimension; if empty, that dimension can't be split.
  Iterators dims(const Tensor &tensor, llvm::StringRef last) const;

  // Operations that several blocks write.
  Tensor unary(llvm::StringRef mnemonic, llvm::StringRef path,
               const Tensor &input);
  Tensor binary(llvm::StringRef mnemonic, llvm::StringRef path,
                const Tensor &lhs, const Tensor &rhs);
  Tensor add(llvm::StringRef path, const Tensor &lhs, const Tensor &rhs);
  Tensor linear(llvm::StringRef path, const Tensor &input, int64_t out,
                bool bias);
  Tensor layerNorm(llvm::StringRef path, const Tensor &input);
  Tensor rmsNorm(llvm::StringRef path, const Tensor &input);
  Tensor dropout(llvm::StringRef path, const Tensor &input);
  Tensor conv(llvm::StringRef path, const Tensor &input, int64_t out,
              bool bias);
  Tensor pool(llvm::StringRef path, const Tensor &input, int64_t kernel,
              int64_t stride, int64_t padding, bool maximum);

private:
  /// A repeat whose body is being written.
  struct Scope {
    int64_t count;
    std::string slices;
  };

  Tensor writeSlot(Slot slot, Tensor input);
  Tensor layer(const Tensor &input);
  Tensor layers(Tensor input);
  std::string indent() const { return std::string(4 + 2 * scopes.size(), ' '); }

  std::vector<Kernel> kernels;
  std::string arguments, body;
  std::vector<std::pair<std::string, Tensor>> shared;
  std::vector<Scope> scopes;
  /// Prefixes of paths. `prefix` is for operations, such as `layers[1].` in a
  /// layer that is written out. `parameterPrefix` is for parameters, which have
  /// whole paths. `kernelPrefix` is for kernels, whose paths are relative to
  /// the layer.
  std::string prefix, parameterPrefix, kernelPrefix;
  bool inLayer = false, noteKernels = true;
  int64_t numArguments = 0, numValues = 0;
};

} // namespace fuzz
} // namespace proteus

#endif // PROTEUS_TOOLS_STRATEGYFUZZ_MODELWRITER_H
