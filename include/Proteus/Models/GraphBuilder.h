//===- GraphBuilder.h - builder of model functions --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builder of the function of a model, which all families of models use. A
// family requests a parameter where the model uses it. The builder adds it to
// the arguments of the function. A parameter of repeated layers becomes a
// stack, of which each layer reads one slice.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_MODELS_GRAPHBUILDER_H
#define PROTEUS_MODELS_GRAPHBUILDER_H

#include "Proteus/Dialect/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <list>

namespace proteus::models {

/// Builder of one function of nn operations. The methods take paths of
/// operations and parameters relative to the modules (`under`) and repeats
/// (`repeat`) that are being built.
class GraphBuilder {
public:
  using Shape = llvm::ArrayRef<int64_t>;
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  /// Starts a model called `name`. `elementType` is the element type of
  /// parameters and activations. `training` may be null.
  GraphBuilder(mlir::MLIRContext &context, llvm::StringRef name,
               mlir::FloatType elementType, nn::TrainingAttr training);
  ~GraphBuilder();

  //===--------------------------------------------------------------------===//
  // Arguments
  //===--------------------------------------------------------------------===//

  /// Adds an input of floats, whose first dimension is the batch.
  Value input(llvm::StringRef path, Shape shape);
  /// Adds an input of indices, such as tokens or labels.
  Value indices(llvm::StringRef path, Shape shape);
  /// Returns a parameter, and adds it if its path is new. Calls with the same
  /// path return the same parameter, which ties weights. In a repeat the value
  /// is the slice of one layer.
  Value parameter(llvm::StringRef path, Shape shape);

  /// Adds a parameter outside of repeats that is updated row by row. It has no
  /// master copy, so its element type is that of master copies.
  Value table(llvm::StringRef path, Shape shape);

  /// Sets the type into which linear operations of repeated layers convert
  /// their factors for the matrix units. Applies to operations that are added
  /// later.
  void setMatrixType(mlir::FloatType type) { matrixType = type; }

  /// Returns the number of elements of all parameters added so far.
  double getNumParameters() const { return numParameters; }

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  /// Calls `body`. Paths in it are relative to `module`.
  void under(const llvm::Twine &module, llvm::function_ref<void()> body);
  /// Adds an nn.repeat and returns its results. `body` builds one layer: it
  /// gets the carried values and returns those of the next layer, followed by
  /// values to stack. It may use values from outside. `first` is the index of
  /// the first layer.
  Values repeat(llvm::StringRef name, int64_t count, mlir::ValueRange carried,
                llvm::function_ref<Values(mlir::ValueRange)> body,
                int64_t first = 0);
  /// Adds an nn.repeat with one carried value and returns its result.
  Value repeat(llvm::StringRef name, int64_t count, Value carried,
               llvm::function_ref<Value(Value)> body, int64_t first = 0);

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  /// Adds an operation. `args` are the arguments of its `create` function after
  /// the location: result types, path, ...
  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(builder, builder.getUnknownLoc(),
                        std::forward<Args>(args)...);
  }
  /// Returns the path of an operation in the modules that are being built,
  /// relative to the innermost repeat.
  std::string pathOf(llvm::StringRef path) const;
  /// Returns the type of a tensor with the element type of the model.
  mlir::RankedTensorType tensor(Shape shape) const;
  /// Returns the shape of `value`.
  static Shape shapeOf(Value value);

  /// Adds x wᵀ + b with parameters `<path>.weight` and, with `bias`,
  /// `<path>.bias`.
  Value linear(llvm::StringRef path, Value x, int64_t outFeatures, bool bias);
  /// Adds x wᵀ + b with a given weight. `bias` may be null. The factors are not
  /// converted to the matrix type.
  Value linearWith(llvm::StringRef path, Value x, Value weight,
                   Value bias = Value());
  /// Adds a lookup in the table `<path>.weight`, a parameter.
  Value embedding(llvm::StringRef path, Value indices, int64_t rows,
                  int64_t hidden);
  /// Adds a layer normalisation with parameters `<path>.scale` and
  /// `<path>.shift`.
  Value layerNorm(llvm::StringRef path, Value x);
  /// Adds an RMS normalisation with the parameter `<path>.scale`.
  Value rmsNorm(llvm::StringRef path, Value x);
  /// Adds a batch normalisation with parameters `<path>.scale` and
  /// `<path>.shift` per channel. Each of `groups` groups of samples has its own
  /// statistics.
  Value batchNorm(llvm::StringRef path, Value x, int64_t groups = 1);

  Value attention(llvm::StringRef path, Value query, Value key, Value value,
                  int64_t heads, int64_t keyHeads, bool causal);
  Value rope(llvm::StringRef path, Value x, int64_t heads);

  Value relu(llvm::StringRef path, Value x);
  Value gelu(llvm::StringRef path, Value x);
  Value tanh(llvm::StringRef path, Value x);
  Value sigmoid(llvm::StringRef path, Value x);
  Value silu(llvm::StringRef path, Value x);
  Value swiglu(llvm::StringRef path, Value gate, Value up);
  /// Adds an element-wise sum. The right operand may lack leading dimensions.
  Value add(llvm::StringRef path, Value lhs, Value rhs);
  /// Adds an element-wise product. The right operand may lack leading
  /// dimensions.
  Value mul(llvm::StringRef path, Value lhs, Value rhs);
  Value scale(llvm::StringRef path, Value x, double factor);

  /// Adds a convolution with parameters `<path>.weight` and, with `bias`,
  /// `<path>.bias`. `kernel`, `stride` and `padding` are those of height and
  /// width. `groups` divides the channels.
  Value conv2d(llvm::StringRef path, Value x, int64_t outChannels,
               std::pair<int64_t, int64_t> kernel,
               std::pair<int64_t, int64_t> stride,
               std::pair<int64_t, int64_t> padding, bool bias,
               int64_t groups = 1);
  Value pool2d(llvm::StringRef path, nn::PoolKind kind, Value x,
               std::pair<int64_t, int64_t> kernel,
               std::pair<int64_t, int64_t> stride,
               std::pair<int64_t, int64_t> padding);

  Value reshape(llvm::StringRef path, Value x, Shape shape);
  Value transpose(llvm::StringRef path, Value x, Shape permutation);
  /// Splits the last dimension within each of `groups` groups. The last
  /// dimensions of the results have the sizes `sizes`.
  Values split(llvm::StringRef path, Value x, Shape sizes, int64_t groups = 1);
  Value concat(llvm::StringRef path, mlir::ValueRange pieces,
               int64_t groups = 1);
  /// Repeats `x`, which has the dimensions `keep` of `shape`, along the other
  /// dimensions.
  Value broadcast(llvm::StringRef path, Value x, Shape shape, Shape keep);
  Value matmul(llvm::StringRef path, Value lhs, Value rhs,
               bool transposeRhs = false);
  Value softmax(llvm::StringRef path, Value x);

  /// Results and sizes of an nn.moe_route.
  struct Routing {
    Value gates, experts, slots;
    int64_t numExperts, groups, capacity;
  };
  /// Adds a router that assigns each token to `topk` experts. Each of `groups`
  /// groups of samples has its own slots.
  Routing route(llvm::StringRef path, Value logits, int64_t topk,
                int64_t groups, double capacityFactor);
  /// Copies tokens into the slots of their experts.
  Value dispatch(llvm::StringRef path, Value tokens, const Routing &routing);
  /// Adds a grouped matrix product with the parameter `<path>.weight`, one
  /// matrix per expert.
  Value expertLinear(llvm::StringRef path, Value slots, int64_t outFeatures);
  /// Adds the weighted sum of the outputs of the experts of each token. The
  /// result has the type of `tokens`.
  Value combine(llvm::StringRef path, Value slots, Value tokens,
                const Routing &routing);

  /// Converts `x` to f32. Returns `x` if its elements are f32.
  Value toF32(llvm::StringRef path, Value x);
  /// Adds a cross-entropy loss, the mean over all rows.
  Value crossEntropy(llvm::StringRef path, Value logits, Value labels);
  /// Adds a mean squared error.
  Value mseLoss(llvm::StringRef path, Value prediction, Value target);

  /// Completes the function, which returns `loss`, and returns the module.
  mlir::OwningOpRef<mlir::ModuleOp> finish(Value loss);

private:
  /// The function, or the body of a repeat that is being built.
  struct Frame {
    mlir::Block *block;
    /// Path of one iteration, such as `layers[*]`; empty for the function.
    std::string path;
    /// Number of iterations; 0 for the function, whose parameters are not
    /// stacked.
    int64_t count = 0;
    /// Path of the modules that are being built in the frame.
    std::string prefix;
    /// Sliced operands, in the order of the block arguments that are their
    /// slices.
    Values stacks;
    /// Parameters, by path relative to the frame.
    llvm::StringMap<Value> parameters;
  };

  /// Adds an argument to the function.
  Value argument(llvm::StringRef path, nn::Role role,
                 mlir::RankedTensorType type);
  /// Returns the parameter as a value of `frame`. Adds it to `frame` and to all
  /// outer frames if it is new.
  Value parameterOf(std::list<Frame>::iterator frame, llvm::StringRef path,
                    Shape shape);
  /// Sets the matrix type on the operation that defines `value`, a product, if
  /// it is in a repeat. Returns `value`.
  Value inMatrixType(Value value);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  mlir::FloatType elementType;
  mlir::FloatType matrixType;
  std::list<Frame> frames;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes;
  double numParameters = 0;
};

} // namespace proteus::models

#endif // PROTEUS_MODELS_GRAPHBUILDER_H
