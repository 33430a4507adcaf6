//===- GraphBuilder.h - builder of model functions --------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All families of models use this builder to build the function of a model.
// When a parameter is requested for the first time, the builder adds it to the
// arguments of the function. A parameter of repeated layers becomes an argument
// with a leading layer dimension (a stack), and each layer reads one slice of
// the stack.
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

/// Builder of one function of nn operations. Paths of operations and parameters
/// are relative to the current modules (`under`) and repeats (`repeat`).
class GraphBuilder {
public:
  using Shape = llvm::ArrayRef<int64_t>;
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  /// Starts the function `name`. `elementType` is the element type of
  /// parameters and activations. `training` holds the settings of the training
  /// step, or is null for a forward pass only.
  GraphBuilder(mlir::MLIRContext &context, llvm::StringRef name,
               mlir::FloatType elementType, nn::TrainingAttr training);
  ~GraphBuilder();

  //===--------------------------------------------------------------------===//
  // Arguments
  //===--------------------------------------------------------------------===//

  /// Adds a floating-point input. Its first dimension is the batch.
  Value input(llvm::StringRef path, Shape shape);
  /// Adds an i32 input, such as tokens or labels.
  Value indices(llvm::StringRef path, Shape shape);
  /// Returns the parameter `path`, and adds it on the first call. All calls
  /// with the same path return the same parameter. Operations can thus share
  /// (tie) a weight. In a repeat, the result is the slice of one layer.
  Value parameter(llvm::StringRef path, Shape shape);

  /// Adds a parameter that a step updates row by row, such as an embedding
  /// table. Such a parameter has no master copy. Instead, if the step has
  /// master copies, the parameter itself has their element type. Must not be
  /// called in a repeat.
  Value table(llvm::StringRef path, Shape shape);

  /// Sets the type in which the matrix units compute the operations that
  /// `linear` and `expertLinear` add to a repeat after this call. These
  /// operations convert their operands to this type.
  void setMatrixType(mlir::FloatType type) { matrixType = type; }

  /// Returns the number of elements of all parameters added so far.
  double getNumParameters() const { return numParameters; }

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  /// Calls `body`. During the call, paths are relative to `module`.
  void under(const llvm::Twine &module, llvm::function_ref<void()> body);
  /// Adds an nn.repeat of `count` layers and returns its results. `body` builds
  /// one layer from the carried values that the layer reads. It returns the
  /// carried values for the next layer, followed by the values that the repeat
  /// stacks over its layers. `body` may use values from outside the repeat.
  /// `first` is the index of the first layer.
  Values repeat(llvm::StringRef name, int64_t count, mlir::ValueRange carried,
                llvm::function_ref<Values(mlir::ValueRange)> body,
                int64_t first = 0);
  /// Adds an nn.repeat with one carried value and returns its result.
  Value repeat(llvm::StringRef name, int64_t count, Value carried,
               llvm::function_ref<Value(Value)> body, int64_t first = 0);

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  /// Adds an operation. `args` are the arguments of `OpTy::create` after the
  /// location: result types, path, ...
  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(builder, builder.getUnknownLoc(),
                        std::forward<Args>(args)...);
  }
  /// Returns `path` with the path of the current modules (`under`) before it,
  /// relative to the innermost repeat. For example, in the module `attention`,
  /// the result for `qkv` is `attention.qkv`.
  std::string pathOf(llvm::StringRef path) const;
  /// Returns a tensor type with the element type of the model.
  mlir::RankedTensorType tensor(Shape shape) const;
  static Shape shapeOf(Value value);

  /// Adds the linear operation x wᵀ + b. Its parameters are w, `<path>.weight`,
  /// and b, `<path>.bias`. If `bias` is false, there is no b.
  Value linear(llvm::StringRef path, Value x, int64_t outFeatures, bool bias);
  /// Adds the linear operation x wᵀ + b with given values of w (`weight`) and b
  /// (`bias`, may be null). The operation does not convert its operands to the
  /// matrix type.
  Value linearWith(llvm::StringRef path, Value x, Value weight,
                   Value bias = Value());
  /// Adds a lookup in an embedding table, the parameter `<path>.weight`.
  Value embedding(llvm::StringRef path, Value indices, int64_t rows,
                  int64_t hidden);
  /// Adds a layer normalisation with the parameters `<path>.scale` and
  /// `<path>.shift`.
  Value layerNorm(llvm::StringRef path, Value x);
  /// Adds an RMS normalisation with the parameter `<path>.scale`.
  Value rmsNorm(llvm::StringRef path, Value x);
  /// Adds a batch normalisation. Its parameters `<path>.scale` and
  /// `<path>.shift` have one element per channel. The batch consists of
  /// `groups` groups of samples, each with its own mean and variance.
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
  /// Adds an element-wise sum. If `rhs` lacks leading dimensions, it is
  /// repeated along them.
  Value add(llvm::StringRef path, Value lhs, Value rhs);
  /// Adds an element-wise product. If `rhs` lacks leading dimensions, it is
  /// repeated along them.
  Value mul(llvm::StringRef path, Value lhs, Value rhs);
  Value scale(llvm::StringRef path, Value x, double factor);

  /// Adds a convolution with the parameters `<path>.weight` and, if `bias` is
  /// set, `<path>.bias`. `kernel`, `stride` and `padding` are pairs (height,
  /// width). `groups` is the number of groups of channels.
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
  /// Splits the last dimension, which consists of `groups` equal groups. Result
  /// i takes sizes[i] / groups elements of each group, so its last dimension
  /// has the size sizes[i].
  Values split(llvm::StringRef path, Value x, Shape sizes, int64_t groups = 1);
  Value concat(llvm::StringRef path, mlir::ValueRange pieces,
               int64_t groups = 1);
  /// Repeats `x` along new dimensions to get `shape`. `keep` lists the
  /// dimensions of `shape` that `x` has.
  Value broadcast(llvm::StringRef path, Value x, Shape shape, Shape keep);
  Value matmul(llvm::StringRef path, Value lhs, Value rhs,
               bool transposeRhs = false);
  Value softmax(llvm::StringRef path, Value x);

  /// The results of an nn.moe_route, and its sizes: the number of experts, of
  /// token groups, and of slots per expert and group.
  struct Routing {
    Value gates, experts, slots;
    int64_t numExperts, groups, capacity;
  };
  /// Adds a router that assigns each token to `topk` experts. The batch
  /// consists of `groups` groups of samples. In each group, the number of slots
  /// of an expert is `capacityFactor` times its number of tokens in a balanced
  /// assignment, rounded up.
  Routing route(llvm::StringRef path, Value logits, int64_t topk,
                int64_t groups, double capacityFactor);
  /// Adds an operation that copies tokens into the slots of their experts.
  Value dispatch(llvm::StringRef path, Value tokens, const Routing &routing);
  /// Adds a grouped product: one matrix product per expert. The parameter
  /// `<path>.weight` holds one matrix for each expert.
  Value expertLinear(llvm::StringRef path, Value slots, int64_t outFeatures);
  /// Adds an operation that computes, for each token, the sum of the outputs of
  /// its experts, weighted by the gates. The result has the type of `tokens`.
  Value combine(llvm::StringRef path, Value slots, Value tokens,
                const Routing &routing);

  /// Converts `x` to f32. Returns `x` itself if its elements are f32.
  Value toF32(llvm::StringRef path, Value x);
  /// Adds a cross-entropy loss, the mean over all rows of `logits`.
  Value crossEntropy(llvm::StringRef path, Value logits, Value labels);
  /// Adds a mean squared error.
  Value mseLoss(llvm::StringRef path, Value prediction, Value target);

  /// Completes the function with the result `loss`, and returns the module.
  mlir::OwningOpRef<mlir::ModuleOp> finish(Value loss);

private:
  /// The body of the function, or of a repeat that is being built.
  struct Frame {
    mlir::Block *block;
    /// Path of one iteration of the repeat relative to the outer frame, such as
    /// `layers[*]`; empty for the function.
    std::string path;
    /// Number of iterations of the repeat. 0 for the function, because its
    /// parameters are not stacked.
    int64_t count = 0;
    /// Path of the current modules (see `under`), relative to the frame.
    std::string prefix;
    /// Stacked parameters of the repeat. Of the block arguments after the
    /// carried values, number i is the slice of `stacks[i]`.
    Values stacks;
    /// Values of the parameters in the frame, by path relative to the frame.
    llvm::StringMap<Value> parameters;
  };

  Value argument(llvm::StringRef path, nn::Role role,
                 mlir::RankedTensorType type);
  /// Returns the value of the parameter `path` in `frame`. If the parameter is
  /// new, adds it to `frame` and to all outer frames.
  Value parameterOf(std::list<Frame>::iterator frame, llvm::StringRef path,
                    Shape shape);
  /// Sets the matrix type on the product that defines `value`, if this product
  /// is in a repeat. Returns `value`.
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
