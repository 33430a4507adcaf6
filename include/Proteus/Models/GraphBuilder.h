//===- GraphBuilder.h - a model, operation by operation ---------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A model is a function whose arguments are its inputs and parameters. Here a
// parameter is asked for where it is used; it becomes an argument of the
// function, and inside repeated layers a stack of which each layer sees a
// slice.
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

/// Builds one function of nn operations. Paths of operations and parameters are
/// relative to the module (`under`) and the layers (`repeat`) that are open.
class GraphBuilder {
public:
  using Shape = llvm::ArrayRef<int64_t>;
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  /// `elementType` is that of parameters and activations.
  GraphBuilder(mlir::MLIRContext &context, llvm::StringRef name,
               mlir::FloatType elementType, nn::TrainingAttr training);
  ~GraphBuilder();

  //===--------------------------------------------------------------------===//
  // Arguments
  //===--------------------------------------------------------------------===//

  /// An input of numbers; the first dimension is the batch.
  Value input(llvm::StringRef path, Shape shape);
  /// An input of indices: tokens, labels.
  Value indices(llvm::StringRef path, Shape shape);
  /// A parameter. The same path gives the same parameter again: that is how
  /// weights are tied. In a repeat it is the slice of one layer.
  Value parameter(llvm::StringRef path, Shape shape);

  /// A parameter outside of repeats that is updated row by row. There is no
  /// second copy of it, so it has the type that such copies have.
  Value table(llvm::StringRef path, Shape shape);

  /// From here on linear operations of repeated layers convert their factors
  /// into `type` for the matrix units.
  void setMatrixType(mlir::FloatType type) { matrixType = type; }

  /// Elements of all parameters so far.
  double getNumParameters() const { return numParameters; }

  //===--------------------------------------------------------------------===//
  // Structure
  //===--------------------------------------------------------------------===//

  /// Builds `body` with all paths below `module`.
  void under(const llvm::Twine &module, llvm::function_ref<void()> body);
  /// Layers written once. `body` gets the carried values of a layer and returns
  /// those of the next; what it returns beyond them is stacked. Values of
  /// outside may be used inside. `first` is the index of the first layer.
  Values repeat(llvm::StringRef name, int64_t count, mlir::ValueRange carried,
                llvm::function_ref<Values(mlir::ValueRange)> body,
                int64_t first = 0);
  Value repeat(llvm::StringRef name, int64_t count, Value carried,
               llvm::function_ref<Value(Value)> body, int64_t first = 0);

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  /// Any operation of which the arguments are known: result types, path, ...
  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    return OpTy::create(builder, builder.getUnknownLoc(),
                        std::forward<Args>(args)...);
  }
  /// `path` as an operation has it here: below the modules that are open.
  std::string pathOf(llvm::StringRef path) const;
  /// A tensor of the element type of the model.
  mlir::RankedTensorType tensor(Shape shape) const;
  /// The shape of `value`.
  static Shape shapeOf(Value value);

  /// x wᵀ with parameters `<path>.weight` and `<path>.bias`.
  Value linear(llvm::StringRef path, Value x, int64_t outFeatures, bool bias);
  /// x wᵀ + b with a weight that exists; `bias` may be null. It takes what it
  /// multiplies as it is.
  Value linearWith(llvm::StringRef path, Value x, Value weight,
                   Value bias = Value());
  /// Rows of the table `<path>.weight`.
  Value embedding(llvm::StringRef path, Value indices, int64_t rows,
                  int64_t hidden);
  /// Parameters `<path>.scale` and `<path>.shift`.
  Value layerNorm(llvm::StringRef path, Value x);
  /// Parameter `<path>.scale`.
  Value rmsNorm(llvm::StringRef path, Value x);
  /// Parameters `<path>.scale` and `<path>.shift`, one of each per channel;
  /// `groups` groups of samples have statistics of their own.
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
  /// The right operand may lack leading dimensions.
  Value add(llvm::StringRef path, Value lhs, Value rhs);
  Value mul(llvm::StringRef path, Value lhs, Value rhs);
  Value scale(llvm::StringRef path, Value x, double factor);

  /// Parameters `<path>.weight` and `<path>.bias`; `kernel`, `stride` and
  /// `padding` are those of both directions. `groups` divides the channels.
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
  /// Cuts the last dimension, seen as `groups` groups, into pieces whose total
  /// sizes are `sizes`.
  Values split(llvm::StringRef path, Value x, Shape sizes, int64_t groups = 1);
  Value concat(llvm::StringRef path, mlir::ValueRange pieces,
               int64_t groups = 1);
  /// Repeats `x`, which has the dimensions `keep` of `shape`.
  Value broadcast(llvm::StringRef path, Value x, Shape shape, Shape keep);
  Value matmul(llvm::StringRef path, Value lhs, Value rhs,
               bool transposeRhs = false);
  Value softmax(llvm::StringRef path, Value x);

  /// Who computes which token, as nn.moe_route decides it.
  struct Routing {
    Value gates, experts, slots;
    int64_t numExperts, groups, capacity;
  };
  /// Sends each token to `topk` experts; `groups` groups of samples share
  /// slots.
  Routing route(llvm::StringRef path, Value logits, int64_t topk,
                int64_t groups, double capacityFactor);
  /// Tokens, put into the slots of their experts.
  Value dispatch(llvm::StringRef path, Value tokens, const Routing &routing);
  /// Parameter `<path>.weight`, one matrix per expert.
  Value expertLinear(llvm::StringRef path, Value slots, int64_t outFeatures);
  /// What the experts made of each token, shaped as `tokens`.
  Value combine(llvm::StringRef path, Value slots, Value tokens,
                const Routing &routing);

  /// `x` in f32; itself if it is.
  Value toF32(llvm::StringRef path, Value x);
  /// The mean over all rows.
  Value crossEntropy(llvm::StringRef path, Value logits, Value labels);
  Value mseLoss(llvm::StringRef path, Value prediction, Value target);

  /// Ends the function with its loss and returns the module.
  mlir::OwningOpRef<mlir::ModuleOp> finish(Value loss);

private:
  /// The function, or the body of a repeat that is not closed yet.
  struct Frame {
    mlir::Block *block;
    /// `layers[*]`; empty for the function.
    std::string path;
    /// Iterations; 0 for the function, whose parameters have no stack.
    int64_t count = 0;
    /// Modules that are open inside it.
    std::string prefix;
    /// What is sliced, in the order of the slices.
    Values stacks;
    /// By path relative to the frame.
    llvm::StringMap<Value> parameters;
  };

  Value argument(llvm::StringRef path, nn::Role role,
                 mlir::RankedTensorType type);
  Value parameterOf(std::list<Frame>::iterator frame, llvm::StringRef path,
                    Shape shape);
  /// What `value`, a product of a layer, is computed in.
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
