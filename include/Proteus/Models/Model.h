//===- Model.h - what a family of models is ---------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MODELS_MODEL_H
#define PROTEUS_MODELS_MODEL_H

#include "Proteus/Models/GraphBuilder.h"
#include "Proteus/Support/JSON.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <optional>
#include <variant>

namespace proteus::models {

/// The numbers and choices that make a model, by name. Overrides on a command
/// line, model files and descriptions all go through this one table, so a name
/// means the same everywhere.
class Dimensions {
public:
  /// Largest size of anything: products of three still fit a double exactly
  /// enough, and no model is near.
  static constexpr int64_t most = 1'000'000'000;
  /// Layers, and entries of a list: work of the lowering grows with them.
  static constexpr int64_t mostLayers = 4096;

  void integer(llvm::StringRef name, int64_t &value, int64_t min = 1,
               int64_t max = most);
  void number(llvm::StringRef name, double &value, double max);
  void flag(llvm::StringRef name, bool &value);
  /// A flag that others decide where it is not given.
  void flag(llvm::StringRef name, std::optional<bool> &value);
  /// The same, under a name that says the opposite of `value`.
  void opposite(llvm::StringRef name, std::optional<bool> &value);
  void choice(llvm::StringRef name, std::string &value,
              llvm::ArrayRef<llvm::StringRef> allowed);
  /// One to `mostLayers` numbers: `512,256,128`, or an array.
  void list(llvm::StringRef name, std::vector<int64_t> &value, int64_t min = 1,
            int64_t max = most);
  /// What a file may say beside dimensions; it changes nothing.
  void remark(llvm::StringRef name);

  bool has(llvm::StringRef name) const { return find(name); }
  /// Sets one from text. `where` starts the message of an error.
  llvm::Error set(llvm::StringRef name, llvm::StringRef text,
                  llvm::StringRef where) const;
  /// Sets one, which exists, from a value.
  void set(llvm::StringRef name, const json::Reader &value) const;
  /// Sets those that an object has; all its keys but `others` must be names.
  void read(const json::Reader &object,
            llvm::ArrayRef<llvm::StringRef> others) const;
  /// Names and values, as they would be set.
  std::vector<std::pair<std::string, std::string>> list() const;

private:
  struct Answer {
    std::optional<bool> *value;
    bool opposite;
  };
  struct Choice {
    std::string *value;
    llvm::ArrayRef<llvm::StringRef> allowed;
  };
  struct Remark {};
  struct Dimension {
    std::string name;
    std::variant<int64_t *, double *, bool *, Answer, Choice,
                 std::vector<int64_t> *, Remark>
        target;
    int64_t min = 0;
    int64_t max = 0;
    double most = 0;
  };
  const Dimension *find(llvm::StringRef name) const;
  static std::string expected(const Dimension &dimension);
  static bool assign(const Dimension &dimension, llvm::StringRef text);
  static void assign(const Dimension &dimension, const json::Reader &value);

  std::vector<Dimension> dimensions;
};

/// A model with its dimensions.
class Model {
public:
  virtual ~Model();
  /// Names the dimensions; they are set through these references.
  virtual void declare(Dimensions &dimensions) = 0;
  /// An error if a dimension is missing or does not fit another. Dimensions are
  /// within their ranges.
  virtual llvm::Error check() const = 0;
  /// Builds the forward pass of the global batch and returns the loss.
  virtual mlir::Value build(GraphBuilder &graph, int64_t batch) const = 0;
};

using ModelFactory = std::function<std::unique_ptr<Model>()>;

} // namespace proteus::models

#endif // PROTEUS_MODELS_MODEL_H
