//===- ModelWriter.cpp - models and trees as text ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"

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
