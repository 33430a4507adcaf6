//===- Model.h - models and their dimensions --------------------*- C++ -*-===//
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

/// Table of the dimensions of a model by name. A dimension is a number, a list
/// of integers, a flag or a choice. Overrides on a command line, model files
/// and descriptions use this table, so that a name has the same meaning in all
/// of them. The table holds references to the variables of the model.
class Dimensions {
public:
  /// Maximum of an integer, unless its declaration states another one. All
  /// published models have far smaller sizes. A product of three such sizes
  /// fits into a double, in which `GraphBuilder` counts parameters, but may
  /// overflow 64 bits.
  static constexpr int64_t most = 1'000'000'000;
  /// Maximum number of layers, and of entries of a list. The time of the
  /// lowering grows with both.
  static constexpr int64_t mostLayers = 4096;

  /// Declares an integer from `min` to `max`.
  void integer(llvm::StringRef name, int64_t &value, int64_t min = 1,
               int64_t max = most);
  /// Declares a positive real number of at most `max`.
  void number(llvm::StringRef name, double &value, double max);
  /// Declares a real number from 0 to `max`.
  void share(llvm::StringRef name, double &value, double max);
  void flag(llvm::StringRef name, bool &value);
  /// Declares an optional flag. It is nullopt by default; other dimensions then
  /// determine its value.
  void flag(llvm::StringRef name, std::optional<bool> &value);
  /// Declares a second name of an optional flag. Under this name the flag is
  /// negated: `name=true` sets it to false.
  void opposite(llvm::StringRef name, std::optional<bool> &value);
  /// Declares a choice among the words `allowed`.
  void choice(llvm::StringRef name, std::string &value,
              llvm::ArrayRef<llvm::StringRef> allowed);
  /// Declares a list of 1 to `mostLayers` integers from `min` to `max`:
  /// `512,256,128` in text, an array in JSON.
  void list(llvm::StringRef name, std::vector<int64_t> &value, int64_t min = 1,
            int64_t max = most);
  /// Declares a key without effect, which a model file may contain.
  void remark(llvm::StringRef name);

  /// Returns true if the dimension `name` is declared.
  bool has(llvm::StringRef name) const { return find(name); }
  /// Sets a dimension from text. Returns an error that starts with `where` if
  /// the dimension is not declared or the text is not a valid value.
  llvm::Error set(llvm::StringRef name, llvm::StringRef text,
                  llvm::StringRef where) const;
  /// Sets a declared dimension from a JSON value. Records an error in the JSON
  /// document if the value is invalid.
  void set(llvm::StringRef name, const json::Reader &value) const;
  /// Sets the dimensions that are keys of `object`. Records an error in the
  /// JSON document if a value is invalid, or if `object` has a key that is
  /// neither a dimension nor in `others`.
  void read(const json::Reader &object,
            llvm::ArrayRef<llvm::StringRef> others) const;
  /// Returns the names and values of the dimensions, with values in the format
  /// of `set`. The value of a size that is not given is 0. The list does not
  /// contain second names of flags, flags and choices without a value, and keys
  /// without effect.
  std::vector<std::pair<std::string, std::string>> list() const;

private:
  /// Target of a dimension that sets an optional flag. `value` points to the
  /// flag, which is nullopt if it is not given.
  struct Answer {
    std::optional<bool> *value;
    /// True if the dimension is a second name, which negates the flag.
    bool opposite;
  };
  struct Choice {
    std::string *value;
    llvm::ArrayRef<llvm::StringRef> allowed;
  };
  struct Remark {};
  struct Dimension {
    std::string name;
    /// Variable of the model that the dimension sets.
    std::variant<int64_t *, double *, bool *, Answer, Choice,
                 std::vector<int64_t> *, Remark>
        target;
    /// Range of an integer or of each integer of a list, inclusive.
    int64_t min = 0;
    int64_t max = 0;
    /// Maximum of a real number.
    double most = 0;
    /// True if a real number may be 0.
    bool mayBeZero = false;
  };
  const Dimension *find(llvm::StringRef name) const;
  static std::string expected(const Dimension &dimension);
  static bool assign(const Dimension &dimension, llvm::StringRef text);
  static void assign(const Dimension &dimension, const json::Reader &value);

  std::vector<Dimension> dimensions;
};

/// A model with its dimensions. Each family of models has a derived class.
class Model {
public:
  virtual ~Model();
  /// Declares the dimensions. `dimensions` refers to variables of the model, so
  /// the model must outlive `dimensions`.
  virtual void declare(Dimensions &dimensions) = 0;
  /// Returns an error if a dimension is missing or inconsistent with another.
  /// Requires that all dimensions are in their declared ranges.
  virtual llvm::Error check() const = 0;
  /// Builds the forward pass of the global batch and returns the loss.
  virtual mlir::Value build(GraphBuilder &graph, int64_t batch) const = 0;
};

/// Function that creates a model with default dimensions.
using ModelFactory = std::function<std::unique_ptr<Model>()>;

} // namespace proteus::models

#endif // PROTEUS_MODELS_MODEL_H
