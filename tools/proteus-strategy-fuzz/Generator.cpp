//===- Generator.cpp - random small models and strategies -------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace proteus::fuzz;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

namespace {
/// Number n of a stream is a hash of the stream and n.
class Random {
public:
  Random(uint64_t seed, uint64_t index) : stream(mix(mix(seed) ^ index)) {}

  /// A number in `[0, end)`.
  int64_t below(int64_t end) {
    return static_cast<int64_t>(mix(stream + counter++) %
                                static_cast<uint64_t>(end));
  }
  /// A number in `[first, last]`.
  int64_t between(int64_t first, int64_t last) {
    return first + below(last - first + 1);
  }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <typename T> T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  template <typename T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[below(i)]);
  }

private:
  /// The finaliser of SplitMix64.
  static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t stream;
  uint64_t counter = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Models as text
//===----------------------------------------------------------------------===//

namespace {

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
  ArrayRef<Kernel> getKernels() const { return kernels; }

private:
  Tensor argument(Twine path, Sizes shape, StringRef element, StringRef role);
  /// A parameter of the current layer, or of none.
  Tensor parameter(Twine path, const Sizes &shape);
  Tensor fresh(Sizes shape, StringRef element) {
    return {"%v" + std::to_string(numValues++), std::move(shape),
            element.str()};
  }
  void emit(StringRef mnemonic, StringRef path, ArrayRef<Tensor> operands,
            StringRef attributes, ArrayRef<Tensor> results,
            std::vector<std::pair<std::string, int64_t>> iterators,
            Sizes weight = {});

  /// The iterators of the dimensions of an activation; `last` names that of
  /// the last one.
  std::vector<std::pair<std::string, int64_t>> dims(const Tensor &tensor,
                                                    StringRef last);
  Tensor unary(StringRef mnemonic, StringRef path, const Tensor &input);
  Tensor activation(StringRef path, const Tensor &input);
  Tensor add(StringRef path, const Tensor &lhs, const Tensor &rhs);
  Tensor linear(StringRef path, const Tensor &input, int64_t out);
  Tensor norm(StringRef path, const Tensor &input);
  Tensor dropout(StringRef path, const Tensor &input);
  Tensor conv(StringRef path, const Tensor &input, int64_t out);
  Tensor pool(StringRef path, const Tensor &input, int64_t kernel,
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

} // namespace

Tensor ModelWriter::argument(Twine path, Sizes shape, StringRef element,
                             StringRef role) {
  Tensor tensor{"%a" + std::to_string(numArguments++), std::move(shape),
                element.str()};
  arguments += llvm::formatv("{0}      {1}: {2} {{nn.role = \"{3}\", nn.path = "
                             "\"{4}\"}",
                             arguments.empty() ? "" : ",\n", tensor.name,
                             tensor.type(), role, path.str())
                   .str();
  return tensor;
}

Tensor ModelWriter::parameter(Twine path, const Sizes &shape) {
  if (!inRepeat)
    return argument(prefix + path, shape, model.element, "parameter");
  Sizes stacked(shape);
  stacked.insert(stacked.begin(), model.layers - model.repeatFrom);
  Tensor whole =
      argument("layers[*]." + path, stacked, model.element, "parameter");
  Tensor slice = fresh(shape, model.element);
  slices += llvm::formatv("{0}{1} = {2} : {3} to {4}",
                          slices.empty() ? "" : ",\n              ", slice.name,
                          whole.name, whole.type(), slice.type())
                .str();
  return slice;
}

void ModelWriter::emit(StringRef mnemonic, StringRef path,
                       ArrayRef<Tensor> operands, StringRef attributes,
                       ArrayRef<Tensor> results,
                       std::vector<std::pair<std::string, int64_t>> iterators,
                       Sizes weight) {
  auto join = [](ArrayRef<Tensor> tensors, bool types) {
    std::string text;
    for (const Tensor &tensor : tensors)
      text +=
          (text.empty() ? "" : ", ") + (types ? tensor.type() : tensor.name);
    return text;
  };
  // The kind of a pool2d follows its path.
  auto [name, kind] = mnemonic.split(' ');
  body += llvm::formatv("{0}{1} = nn.{2} \"{3}{4}\"{5}{6}({7}){8} : ({9}) -> "
                        "{10}{11}{12}\n",
                        inRepeat ? "      " : "    ", join(results, false),
                        name, prefix, path, kind.empty() ? "" : " ", kind,
                        join(operands, false), attributes, join(operands, true),
                        results.size() > 1 ? "(" : "", join(results, true),
                        results.size() > 1 ? ")" : "")
              .str();
  if (noteKernels)
    kernels.push_back(
        {path.str(), inLayer, std::move(iterators), std::move(weight)});
}

std::vector<std::pair<std::string, int64_t>>
ModelWriter::dims(const Tensor &tensor, StringRef last) {
  if (tensor.shape.size() == 4)
    return {{"batch", tensor.shape[0]}, {"channel", tensor.shape[1]}};
  std::vector<std::pair<std::string, int64_t>> list{{"batch", tensor.shape[0]}};
  if (tensor.shape.size() == 3)
    list.push_back({"seq", tensor.shape[1]});
  if (!last.empty())
    list.push_back({last.str(), tensor.shape.back()});
  return list;
}

Tensor ModelWriter::unary(StringRef mnemonic, StringRef path,
                          const Tensor &input) {
  Tensor result = fresh(input.shape, input.element);
  emit(mnemonic, path, input, "", result, dims(input, "hidden"));
  return result;
}

Tensor ModelWriter::activation(StringRef path, const Tensor &input) {
  return unary(model.gelu ? "gelu" : "relu", path, input);
}

Tensor ModelWriter::add(StringRef path, const Tensor &lhs, const Tensor &rhs) {
  Tensor result = fresh(lhs.shape, lhs.element);
  emit("add", path, {lhs, rhs}, "", result, dims(lhs, "hidden"));
  return result;
}

Tensor ModelWriter::linear(StringRef path, const Tensor &input, int64_t out) {
  int64_t in = input.shape.back();
  std::vector<Tensor> operands{input, parameter(path + ".weight", {out, in})};
  if (model.bias)
    operands.push_back(parameter(path + ".bias", {out}));
  Sizes shape(input.shape);
  shape.back() = out;
  Tensor result = fresh(shape, input.element);
  auto iterators = dims(result, "out");
  iterators.push_back({"in", in});
  emit("linear", path, operands, "", result, iterators, {out, in});
  return result;
}

Tensor ModelWriter::norm(StringRef path, const Tensor &input) {
  int64_t width = input.shape.back();
  Tensor scale = parameter(path + ".scale", {width});
  Tensor shift = parameter(path + ".shift", {width});
  Tensor result = fresh(input.shape, input.element);
  emit("layer_norm", path, {input, scale, shift}, "", result, dims(input, ""),
       {width});
  return result;
}

Tensor ModelWriter::dropout(StringRef path, const Tensor &input) {
  Tensor result = fresh(input.shape, input.element);
  Tensor mask = fresh(input.shape, "i8");
  emit("dropout", path, input, " {probability = 0.25 : f64, seed = 3 : i64}",
       {result, mask}, dims(input, "hidden"));
  return result;
}

Tensor ModelWriter::conv(StringRef path, const Tensor &input, int64_t out) {
  int64_t in = input.shape[1];
  std::vector<Tensor> operands{input,
                               parameter(path + ".weight", {out, in, 3, 3})};
  if (model.bias)
    operands.push_back(parameter(path + ".bias", {out}));
  Sizes shape(input.shape);
  shape[1] = out;
  Tensor result = fresh(shape, input.element);
  emit("conv2d", path, operands,
       " {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>}", result,
       {{"batch", shape[0]}, {"out", out}, {"in", in}}, {out, in, 3, 3});
  return result;
}

Tensor ModelWriter::pool(StringRef path, const Tensor &input, int64_t kernel,
                         int64_t stride, int64_t padding, bool maximum) {
  Sizes shape(input.shape);
  for (int64_t &size : llvm::MutableArrayRef<int64_t>(shape).drop_front(2))
    size = (size + 2 * padding - kernel) / stride + 1;
  Tensor result = fresh(shape, input.element);
  emit(maximum ? "pool2d max" : "pool2d average", path, input,
       llvm::formatv(" {{kernel = array<i64: {0}, {0}>, stride = array<i64: "
                     "{1}, {1}>, padding = array<i64: {2}, {2}>}",
                     kernel, stride, padding)
           .str(),
       result, dims(result, ""));
  return result;
}

Tensor ModelWriter::attention(const Tensor &input) {
  int64_t queries = model.heads * model.headDim;
  int64_t keys = model.keyHeads * model.headDim;
  Tensor fused = linear("attention.qkv", input, queries + 2 * keys);
  auto part = [&](int64_t size) {
    return fresh({model.batch, model.seq, size}, model.element);
  };
  Tensor query = part(queries), key = part(keys), value = part(keys);
  auto leading = dims(input, "");
  auto split = leading;
  split.push_back({"head", model.keyHeads});
  emit("split", "attention.split", fused,
       llvm::formatv(" {{groups = {0} : i64}", model.keyHeads).str(),
       {query, key, value}, split);
  Tensor result = part(queries);
  Tensor rows = fresh({model.batch, model.heads, model.seq}, "f32");
  // `group` is left out: it is a minor part of a dimension and can't be split.
  emit("attention", "attention.core", {query, key, value},
       llvm::formatv(" {{heads = {0} : i64, kv_heads = {1} : i64{2}}",
                     model.heads, model.keyHeads,
                     model.causal ? ", causal" : "")
           .str(),
       {result, rows}, split);
  return linear("attention.proj", result, model.width);
}

/// One layer; input and result have one shape.
Tensor ModelWriter::layer(const Tensor &input) {
  if (model.kind == ModelKind::Convolution) {
    Tensor x = activation("act", conv("conv", input, model.width));
    if (model.pool)
      x = pool("pool", x, 3, 1, 1, model.gelu);
    return model.residual ? add("residual", input, x) : x;
  }
  Tensor x = input;
  if (model.kind == ModelKind::Transformer) {
    Tensor mixed = attention(norm("ln_1", x));
    if (model.dropout)
      mixed = dropout("attention.drop", mixed);
    x = add("residual_1", x, mixed);
  } else if (model.matmul) {
    Tensor scores = fresh({model.batch, model.seq, model.seq}, model.element);
    emit("matmul", "mix.scores", {x, x}, " {transpose_b}", scores,
         {{"batch", model.batch},
          {"m", model.seq},
          {"n", model.seq},
          {"k", model.width}});
    Tensor mixed = fresh(x.shape, model.element);
    emit("matmul", "mix.values", {scores, x}, "", mixed,
         {{"batch", model.batch},
          {"m", model.seq},
          {"n", model.width},
          {"k", model.seq}});
    // Products of products grow from layer to layer.
    x = norm("mix.norm", mixed);
  }
  bool transformer = model.kind == ModelKind::Transformer;
  Tensor y = transformer ? norm("ln_2", x) : x;
  y = activation("mlp.act", linear("mlp.up", y, model.inner));
  if (model.dropout && !transformer)
    y = dropout("mlp.drop", y);
  y = linear("mlp.down", y, model.width);
  return transformer || model.residual ? add("residual_2", x, y) : y;
}

Tensor ModelWriter::layers(Tensor input) {
  inLayer = true;
  for (int64_t i = 0; i < model.repeatFrom; ++i) {
    prefix = "layers[" + std::to_string(i) + "].";
    noteKernels = i == 0;
    input = layer(input);
  }
  prefix.clear();
  noteKernels = model.repeatFrom == 0;
  if (model.repeatFrom < model.layers) {
    inRepeat = true;
    Tensor carried = fresh(input.shape, input.element);
    Tensor result = fresh(input.shape, input.element);
    std::string before;
    std::swap(before, body);
    Tensor last = layer(carried);
    std::string first =
        model.repeatFrom ? " first " + std::to_string(model.repeatFrom) : "";
    body = before +
           llvm::formatv("    {0} = nn.repeat \"layers\"{1} count {2} "
                         "carry({3} = {4} : {5})\n        slice({6})\n"
                         "        -> ({5}) {{\n{7}      nn.yield {8} : {5}\n"
                         "    }\n",
                         result.name, first, model.layers - model.repeatFrom,
                         carried.name, input.name, input.type(), slices, body,
                         last.name)
               .str();
    inRepeat = false;
    input = result;
  }
  inLayer = false;
  noteKernels = true;
  return input;
}

void ModelWriter::loss(Tensor logits, Tensor labels) {
  if (model.castLogits) {
    Tensor cast = fresh(logits.shape, "f32");
    emit("cast", "logits", logits, "", cast, dims(logits, "hidden"));
    logits = cast;
  }
  if (model.flatLoss && logits.shape.size() == 3) {
    int64_t rows = model.batch * model.seq;
    Tensor flat = fresh({rows, model.classes}, logits.element);
    emit("reshape", "flat.logits", logits, "", flat, {});
    Tensor flatLabels = fresh({rows}, "i32");
    emit("reshape", "flat.labels", labels, "", flatLabels, {});
    logits = flat;
    labels = flatLabels;
  }
  Tensor result = fresh({}, "f32");
  Tensor rows = fresh(labels.shape, "f32");
  emit("cross_entropy", "loss", {logits, labels}, "", {result, rows},
       dims(logits, "vocab"));
  body += "    return " + result.name + " : tensor<f32>\n";
}

std::string ModelWriter::write() {
  Sizes tokens{model.batch};
  if (model.seq)
    tokens.push_back(model.seq);
  Sizes shape(tokens);
  shape.push_back(model.width);
  Tensor labels = argument("labels", tokens, "i32", "input");
  Tensor x, table;
  if (model.kind == ModelKind::Convolution) {
    x = argument("x", {model.batch, 2, 4, 4}, model.element, "input");
    x = conv("stem", x, model.width);
  } else if (model.embedding) {
    Tensor ids = argument("ids", tokens, "i32", "input");
    Sizes rows{model.classes, model.width};
    table = parameter("embedding.weight", rows);
    x = fresh(shape, model.element);
    std::vector<std::pair<std::string, int64_t>> iterators{
        {"batch", model.batch}};
    if (model.seq)
      iterators.push_back({"seq", model.seq});
    iterators.push_back({"vocab", model.classes});
    iterators.push_back({"hidden", model.width});
    emit("embedding", "embedding", {ids, table}, "", x, iterators, rows);
  } else {
    x = argument("x", shape, model.element, "input");
  }
  if (model.position && model.seq)
    x = add("position", x,
            parameter("position.weight", {model.seq, model.width}));
  x = layers(x);
  if (model.kind == ModelKind::Convolution) {
    x = pool("last_pool", x, 2, 2, 0, !model.gelu);
    Tensor flat = fresh({model.batch, model.width * 4}, model.element);
    emit("reshape", "flatten", x, "", flat, {});
    x = flat;
  }
  if (model.lastNorm)
    x = norm("ln_f", x);
  if (model.tied && model.embedding) {
    Sizes out(x.shape);
    out.back() = model.classes;
    Tensor logits = fresh(out, model.element);
    auto iterators = dims(logits, "out");
    iterators.push_back({"in", model.width});
    emit("linear", "head", {x, table}, "", logits, iterators, table.shape);
    x = logits;
  } else {
    x = linear("head", x, model.classes);
  }
  loss(x, labels);

  std::string training = "optimizer = " + model.optimizer;
  std::pair<StringRef, StringRef> types[] = {{"gradient", model.gradient},
                                             {"reduction", model.reduction},
                                             {"master", model.master}};
  for (auto [name, type] : types)
    if (!type.empty())
      training += (", " + name + " = " + type).str();
  return "  func.func @model(\n" + arguments +
         ")\n      -> tensor<f32> attributes {nn.training = #nn.training<" +
         training + ">} {\n" + body + "  }\n";
}

//===----------------------------------------------------------------------===//
// Trees as text
//===----------------------------------------------------------------------===//

static std::string joinNames(ArrayRef<std::string> names) {
  return llvm::join(names, ", ");
}

static void writeSettings(const Node &node, const std::string &indent,
                          std::string &text) {
  for (const Split &split : node.splits) {
    std::vector<std::string> arrows;
    for (const Arrow &arrow : split.arrows)
      arrows.push_back(arrow.key + " -> " +
                       (arrow.axes.size() == 1
                            ? arrow.axes.front()
                            : "[" + joinNames(arrow.axes) + "]"));
    text += indent + "split " + split.item + " [" + joinNames(arrows) + "]\n";
  }
  if (!node.place.empty())
    text += indent + node.place + "\n";
  if (node.recompute)
    text += indent + "recompute\n";
  for (const Node &child : node.children) {
    text += indent + "node \"" + child.pattern + "\" {\n";
    writeSettings(child, indent + "  ", text);
    text += indent + "}\n";
  }
}

static std::string writeTree(const Tree &tree) {
  std::vector<std::string> axes, devices;
  for (auto &[name, size] : tree.mesh)
    axes.push_back(name + " = " + std::to_string(size));
  for (int64_t device : tree.devices)
    devices.push_back(std::to_string(device));
  std::string text = "  strategy.tree @strategy for @model {\n    mesh [" +
                     joinNames(axes) + "]";
  if (!devices.empty())
    text += " devices [" + joinNames(devices) + "]";
  text += "\n";
  if (tree.microBatches) {
    text += "    schedule micro_batches = " + std::to_string(tree.microBatches);
    if (!tree.order.empty())
      text += " order = \"" + tree.order + "\"";
    if (tree.maxOngoing)
      text += " max_ongoing = " + std::to_string(tree.maxOngoing);
    text += "\n";
  }
  if (tree.bucketSize || tree.bucketFirst) {
    text += "    bucket";
    if (tree.bucketSize)
      text += " size = " + std::to_string(tree.bucketSize);
    if (tree.bucketFirst)
      text += " first = " + std::to_string(tree.bucketFirst);
    text += "\n";
  }
  writeSettings(tree.root, "    ", text);
  return text + "  }\n";
}

std::string proteus::fuzz::write(const Case &input) {
  return "module attributes {proteus.cluster = \"dgx-a100:2\"} {\n" +
         ModelWriter(input.model).write() + writeTree(input.tree) + "}\n";
}

//===----------------------------------------------------------------------===//
// Random models
//===----------------------------------------------------------------------===//

static Model generateModel(Random &random) {
  Model model;
  int64_t kind = random.below(10);
  model.kind = kind < 4   ? ModelKind::Perceptron
               : kind < 8 ? ModelKind::Transformer
                          : ModelKind::Convolution;
  bool convolution = model.kind == ModelKind::Convolution;
  bool transformer = model.kind == ModelKind::Transformer;
  model.batch = random.pick<int64_t>({4, 5, 6, 7, 8, 8, 8, 9, 12, 12});
  if (transformer || (!convolution && random.chance(60)))
    model.seq = random.pick<int64_t>({2, 3, 4, 4, 5, 6});
  model.width = random.between(4, convolution ? 6 : 12);
  model.inner = random.between(4, 12);
  model.classes = random.between(4, 12);
  model.keyHeads = random.pick<int64_t>({1, 2, 2, 3, 4, 4});
  model.heads =
      model.keyHeads * (model.keyHeads <= 2 ? random.between(1, 2) : 1);
  model.headDim = random.between(1, 3);
  model.layers = random.between(1, convolution ? 3 : 4);
  model.repeatFrom = random.chance(60)   ? 0
                     : random.chance(50) ? model.layers
                                         : random.below(model.layers);
  model.bias = random.chance(50);
  model.residual = random.chance(50);
  model.dropout = random.chance(25);
  model.gelu = random.chance(50);
  model.causal = random.chance(50);
  model.matmul = model.seq && !transformer && random.chance(60);
  model.pool = random.chance(40);
  model.embedding = !convolution && random.chance(transformer ? 70 : 25);
  model.position = model.seq && random.chance(50);
  model.tied = model.embedding && random.chance(20);
  model.lastNorm = !convolution && random.chance(40);
  model.flatLoss = model.seq && random.chance(25);
  model.optimizer = random.pick<const char *>({"sgd", "momentum", "adam"});
  if (random.chance(40)) {
    model.element = "bf16";
    model.castLogits = random.chance(30);
    if (random.chance(60))
      model.gradient = "f32";
    if (random.chance(50))
      model.master = "f32";
    if (!model.gradient.empty() && random.chance(30))
      model.reduction = "bf16";
  } else if (random.chance(20)) {
    model.reduction = "bf16";
  }
  return model;
}

//===----------------------------------------------------------------------===//
// Random trees
//===----------------------------------------------------------------------===//

namespace {
/// Random settings for one model, most of them possible.
class TreeGenerator {
public:
  TreeGenerator(Random &random, const Model &model, ArrayRef<Kernel> kernels)
      : random(random), model(model), kernels(kernels) {}

  Tree run();

private:
  int64_t sizeOf(StringRef axis) const;
  int64_t numParts(ArrayRef<std::string> axes) const;
  void chooseMesh();
  /// One or several of `from`, in any order, with at most `limit` parts.
  std::vector<std::string> chooseAxes(std::vector<std::string> from,
                                      int64_t limit);
  void chooseSchedule();
  /// A split of the iterators of a kernel.
  bool splitKernel(const Kernel &kernel, Node &node);
  void splitMemory(Node &node, const Sizes &shape);
  /// Settings inside a node that selects layers.
  void fillLayers(Node &node);

  Random &random;
  const Model &model;
  ArrayRef<Kernel> kernels;
  Tree tree;
  /// The axis of the pipeline, if any.
  std::string pipeline;
  /// The other axes, those of them that split the batch of everything, and
  /// those that do not.
  std::vector<std::string> freeAxes, batchAxes, innerAxes;
};
} // namespace

int64_t TreeGenerator::sizeOf(StringRef axis) const {
  for (auto &[name, size] : tree.mesh)
    if (name == axis)
      return size;
  return 1;
}

int64_t TreeGenerator::numParts(ArrayRef<std::string> axes) const {
  int64_t parts = 1;
  for (const std::string &axis : axes)
    parts *= sizeOf(axis);
  return parts;
}

void TreeGenerator::chooseMesh() {
  constexpr int64_t maxDevices = 16;
  std::vector<std::string> names{"x", "y", "z"};
  int64_t rank = random.pick<int64_t>({1, 2, 2, 2, 3, 3, 3});
  int64_t devices = 1;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = random.pick<int64_t>({1, 2, 2, 2, 2, 3, 3, 4});
    size = std::min(size, maxDevices / devices);
    devices *= size;
    tree.mesh.push_back({names[i], size});
  }
  if (random.chance(10)) {
    for (int64_t i = 0; i < devices; ++i)
      tree.devices.push_back(i);
    random.shuffle(tree.devices);
  }
  for (auto &[name, size] : tree.mesh)
    if (pipeline.empty() && size >= 2 && size <= model.layers &&
        random.chance(model.tied ? 4 : 40))
      pipeline = name;
    else
      freeAxes.push_back(name);
}

std::vector<std::string>
TreeGenerator::chooseAxes(std::vector<std::string> from, int64_t limit) {
  random.shuffle(from);
  std::vector<std::string> chosen;
  int64_t parts = 1;
  for (const std::string &axis : from)
    if (parts * sizeOf(axis) <= limit &&
        (chosen.empty() || random.chance(30))) {
      chosen.push_back(axis);
      parts *= sizeOf(axis);
    }
  return chosen;
}

void TreeGenerator::chooseSchedule() {
  if (!random.chance(65))
    return;
  std::vector<int64_t> choices{1};
  // Micro-batches times parts have to divide the batch; kernels that split it
  // otherwise may still break this.
  for (int64_t micro = 2; micro <= 6; ++micro)
    if (model.batch % (micro * numParts(batchAxes)) == 0)
      choices.push_back(micro);
  tree.microBatches = choices[random.below(choices.size())];
  if (random.chance(60))
    tree.order = random.pick<const char *>({"gpipe", "1f1b"});
  if (random.chance(25))
    tree.maxOngoing = random.between(1, 3);
}

bool TreeGenerator::splitKernel(const Kernel &kernel, Node &node) {
  // Axes that split the batch are taken from it where they are used otherwise.
  bool anyAxes = innerAxes.empty() || random.chance(25);
  std::vector<std::string> available = anyAxes ? freeAxes : innerAxes;
  std::vector<std::pair<std::string, int64_t>> iterators(kernel.iterators);
  llvm::erase_if(iterators, [](auto &it) { return it.first == "batch"; });
  random.shuffle(iterators);
  Split split{"op", {}};
  int64_t wanted = random.chance(25) ? 2 : 1;
  for (auto &[name, size] : iterators) {
    if (static_cast<int64_t>(split.arrows.size()) == wanted)
      break;
    std::vector<std::string> axes = chooseAxes(available, size);
    if (axes.empty())
      continue;
    llvm::erase_if(available, [&](const std::string &axis) {
      return llvm::is_contained(axes, axis);
    });
    split.arrows.push_back({name, axes});
  }
  std::vector<std::string> rest;
  for (const std::string &axis : batchAxes)
    if (llvm::none_of(split.arrows, [&](const Arrow &arrow) {
          return llvm::is_contained(arrow.axes, axis);
        }))
      rest.push_back(axis);
  if (rest.size() < batchAxes.size() && !kernel.iterators.empty())
    split.arrows.push_back({"batch", rest});
  else if (!batchAxes.empty() && !kernel.iterators.empty() && random.chance(8))
    split.arrows.push_back({"batch", {}});
  if (split.arrows.empty())
    return false;
  random.shuffle(split.arrows);
  node.splits.push_back(std::move(split));
  return true;
}

void TreeGenerator::splitMemory(Node &node, const Sizes &shape) {
  if (shape.empty() || freeAxes.empty())
    return;
  int64_t dim = random.chance(70) ? 0 : random.below(shape.size());
  std::vector<std::string> axes =
      chooseAxes(batchAxes.empty() || random.chance(20) ? freeAxes : batchAxes,
                 shape[dim]);
  if (axes.empty())
    return;
  node.splits.push_back({random.pick<const char *>({"weight", "state"}),
                         {{std::to_string(dim), axes}}});
}

void TreeGenerator::fillLayers(Node &node) {
  node.recompute = random.chance(30);
  for (const Kernel &kernel : kernels) {
    if (!kernel.inLayer || !random.chance(30))
      continue;
    Node child;
    child.pattern = kernel.path;
    if (random.chance(85))
      splitKernel(kernel, child);
    if (random.chance(15))
      splitMemory(child, kernel.weight);
    child.recompute = random.chance(8);
    if (!child.splits.empty() || child.recompute)
      node.children.push_back(std::move(child));
  }
}

Tree TreeGenerator::run() {
  chooseMesh();
  if (random.chance(80))
    batchAxes = chooseAxes(freeAxes, model.batch);
  for (const std::string &axis : freeAxes)
    if (!llvm::is_contained(batchAxes, axis))
      innerAxes.push_back(axis);
  chooseSchedule();
  if (random.chance(25))
    tree.bucketSize = random.pick<int64_t>({1, 100, 400, 1000});
  if (random.chance(12))
    tree.bucketFirst = random.pick<int64_t>({1, 64, 300});

  Node &root = tree.root;
  if (!batchAxes.empty())
    root.splits.push_back({"op", {{"batch", batchAxes}}});
  if (random.chance(30))
    splitMemory(root, {4});
  root.recompute = pipeline.empty() && random.chance(6);
  for (const Kernel &kernel : kernels) {
    if (kernel.inLayer || !random.chance(30))
      continue;
    Node node;
    node.pattern = kernel.path;
    splitKernel(kernel, node);
    if (random.chance(15))
      splitMemory(node, kernel.weight);
    if (!node.splits.empty())
      root.children.push_back(std::move(node));
  }

  if (!pipeline.empty() && random.chance(30)) {
    // Every range of layers has a place and settings of its own.
    int64_t stages = sizeOf(pipeline), begin = 0;
    for (int64_t stage = 0; stage < stages; ++stage) {
      int64_t left = stages - stage - 1;
      int64_t end =
          left ? random.between(begin + 1, model.layers - left) : model.layers;
      Node node;
      node.pattern = llvm::formatv("layers[{0}:{1}]", begin, end).str();
      node.place = llvm::formatv("at [{0} = {1}]", pipeline, stage).str();
      fillLayers(node);
      root.children.push_back(std::move(node));
      begin = end;
    }
    return std::move(tree);
  }
  Node node;
  node.pattern = "layers[*]";
  if (!pipeline.empty())
    node.place = "stages " + pipeline;
  fillLayers(node);
  if (!node.place.empty() || node.recompute || !node.children.empty())
    root.children.push_back(std::move(node));
  if (random.chance(15)) {
    // One layer is different.
    Node other;
    other.pattern =
        llvm::formatv("layers[{0}]", random.below(model.layers)).str();
    fillLayers(other);
    if (other.recompute || !other.children.empty())
      root.children.push_back(std::move(other));
  }
  return std::move(tree);
}

Case proteus::fuzz::generate(uint64_t seed, uint64_t index) {
  Random random(seed, index);
  Case result;
  result.model = generateModel(random);
  ModelWriter writer(result.model);
  writer.write();
  result.tree = TreeGenerator(random, result.model, writer.getKernels()).run();
  return result;
}

//===----------------------------------------------------------------------===//
// Smaller cases
//===----------------------------------------------------------------------===//

/// All trees of nodes in which one setting of `node` or below is missing.
static void dropSettings(Node &node, llvm::function_ref<void()> found) {
  for (size_t i = 0; i < node.children.size(); ++i) {
    Node child = node.children[i];
    node.children.erase(node.children.begin() + i);
    found();
    node.children.insert(node.children.begin() + i, child);
  }
  for (size_t i = 0; i < node.splits.size(); ++i) {
    Split split = node.splits[i];
    node.splits.erase(node.splits.begin() + i);
    found();
    node.splits.insert(node.splits.begin() + i, split);
    for (size_t k = 0; k < split.arrows.size() && split.arrows.size() > 1;
         ++k) {
      Arrow arrow = split.arrows[k];
      std::vector<Arrow> &arrows = node.splits[i].arrows;
      arrows.erase(arrows.begin() + k);
      found();
      arrows.insert(arrows.begin() + k, arrow);
    }
  }
  if (node.recompute) {
    node.recompute = false;
    found();
    node.recompute = true;
  }
  if (!node.place.empty()) {
    std::string place;
    std::swap(place, node.place);
    found();
    std::swap(place, node.place);
  }
  for (Node &child : node.children)
    dropSettings(child, found);
}

std::vector<Case> proteus::fuzz::simplify(const Case &input) {
  std::vector<Case> list;
  Case next = input;
  auto take = [&] {
    list.push_back(next);
    next = input;
  };
  dropSettings(next.tree.root, [&] { list.push_back(next); });
  auto reset = [&](auto &field, auto value) {
    if (field == value)
      return;
    field = value;
    take();
  };
  reset(next.tree.microBatches, int64_t(0));
  reset(next.tree.order, std::string());
  reset(next.tree.maxOngoing, int64_t(0));
  reset(next.tree.bucketSize, int64_t(0));
  reset(next.tree.bucketFirst, int64_t(0));
  if (!input.tree.devices.empty()) {
    next.tree.devices.clear();
    take();
  }
  for (size_t i = 0; i < input.tree.mesh.size(); ++i)
    if (input.tree.devices.empty() && input.tree.mesh[i].second > 1) {
      --next.tree.mesh[i].second;
      take();
    }
  if (input.model.layers > 1) {
    --next.model.layers;
    next.model.repeatFrom = std::min(next.model.repeatFrom, next.model.layers);
    take();
  }
  bool Model::*flags[] = {
      &Model::bias,   &Model::residual, &Model::dropout,    &Model::gelu,
      &Model::causal, &Model::matmul,   &Model::pool,       &Model::position,
      &Model::tied,   &Model::lastNorm, &Model::castLogits, &Model::flatLoss};
  for (bool Model::*flag : flags)
    reset(next.model.*flag, false);
  std::string Model::*types[] = {&Model::gradient, &Model::master,
                                 &Model::reduction};
  for (std::string Model::*type : types)
    reset(next.model.*type, std::string());
  reset(next.model.optimizer, std::string("sgd"));
  int64_t Model::*sizes[] = {&Model::batch, &Model::width, &Model::inner,
                             &Model::classes};
  for (int64_t Model::*size : sizes)
    if (input.model.*size > 4) {
      --(next.model.*size);
      take();
    }
  return list;
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

/// Changes every node from `node` down; true if one of the changes did
/// anything.
static bool changeNodes(Node &node, llvm::function_ref<bool(Node &)> change) {
  bool changed = change(node);
  for (Node &child : node.children)
    changed |= changeNodes(child, change);
  return changed;
}

/// Removes the arrows that `matches` selects, and the splits and nodes that are
/// then empty of splits.
static bool
removeArrows(Tree &tree,
             llvm::function_ref<bool(const Split &, const Arrow &)> matches) {
  return changeNodes(tree.root, [&](Node &node) {
    bool changed = false;
    for (Split &split : node.splits) {
      size_t before = split.arrows.size();
      llvm::erase_if(split.arrows,
                     [&](const Arrow &arrow) { return matches(split, arrow); });
      changed |= split.arrows.size() != before;
    }
    llvm::erase_if(node.splits,
                   [](const Split &split) { return split.arrows.empty(); });
    return changed;
  });
}

/// The splits of one iterator; those that say `[]` are another feature.
template <const char *const &key> static bool removeIterator(Tree &tree) {
  return removeArrows(tree, [](const Split &split, const Arrow &arrow) {
    return split.item == "op" && arrow.key == key && !arrow.axes.empty();
  });
}

template <const char *const &item> static bool removeItem(Tree &tree) {
  return removeArrows(tree, [](const Split &split, const Arrow &) {
    return split.item == item;
  });
}

static bool removeUnsplit(Tree &tree) {
  return removeArrows(tree, [](const Split &, const Arrow &arrow) {
    return arrow.axes.empty();
  });
}

static bool removeSecondAxes(Tree &tree) {
  return changeNodes(tree.root, [](Node &node) {
    bool changed = false;
    for (Split &split : node.splits)
      for (Arrow &arrow : split.arrows)
        if (arrow.axes.size() > 1) {
          arrow.axes.resize(1);
          changed = true;
        }
    return changed;
  });
}

static bool removePlaces(Tree &tree, StringRef kind) {
  return changeNodes(tree.root, [&](Node &node) {
    if (!StringRef(node.place).starts_with(kind))
      return false;
    node.place.clear();
    return true;
  });
}

static bool removeStages(Tree &tree) { return removePlaces(tree, "stages"); }
static bool removeAt(Tree &tree) { return removePlaces(tree, "at"); }

static bool removeRecompute(Tree &tree) {
  return changeNodes(tree.root, [](Node &node) {
    return std::exchange(node.recompute, false);
  });
}

static bool removeMicroBatches(Tree &tree) {
  return std::exchange(tree.microBatches, 0) > 1;
}

static bool removeGPipe(Tree &tree) {
  if (!tree.microBatches || tree.order != "gpipe")
    return false;
  tree.order.clear();
  return true;
}

static bool removeMaxOngoing(Tree &tree) {
  return tree.microBatches && std::exchange(tree.maxOngoing, 0) > 0;
}

static bool removeBuckets(Tree &tree) {
  bool any = tree.bucketSize || tree.bucketFirst;
  tree.bucketSize = tree.bucketFirst = 0;
  return any;
}

static bool removeDevices(Tree &tree) {
  return !std::exchange(tree.devices, {}).empty();
}

static constexpr const char *batch = "batch", *seq = "seq", *head = "head",
                            *out = "out", *in = "in", *vocab = "vocab",
                            *hidden = "hidden", *channel = "channel",
                            *rows = "m", *columns = "n", *inner = "k",
                            *weight = "weight", *state = "state";

static const TreeFeature treeFeatures[] = {
    {"split of batch", removeIterator<batch>},
    {"split of seq", removeIterator<seq>},
    {"split of head", removeIterator<head>},
    {"split of out", removeIterator<out>},
    {"split of in", removeIterator<in>},
    {"split of vocab", removeIterator<vocab>},
    {"split of hidden", removeIterator<hidden>},
    {"split of channel", removeIterator<channel>},
    {"split of m", removeIterator<rows>},
    {"split of n", removeIterator<columns>},
    {"split of k", removeIterator<inner>},
    {"split of weights", removeItem<weight>},
    {"split of states", removeItem<state>},
    {"several axes on one key", removeSecondAxes},
    {"key -> []", removeUnsplit},
    {"stages", removeStages},
    {"at", removeAt},
    {"recompute", removeRecompute},
    {"micro-batches", removeMicroBatches},
    {"gpipe", removeGPipe},
    {"max_ongoing", removeMaxOngoing},
    {"buckets", removeBuckets},
    {"list of devices", removeDevices},
};

ArrayRef<TreeFeature> proteus::fuzz::getTreeFeatures() { return treeFeatures; }
