//===- ModelWriter.cpp - models as text -------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelWriter.h"

#include "Registry.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <utility>

using namespace proteus::fuzz;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

std::string Tensor::type() const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

Tensor ModelWriter::argument(const Twine &path, Sizes shape, StringRef element,
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

Tensor ModelWriter::fresh(Sizes shape, StringRef element) {
  return {"%v" + std::to_string(numValues++), std::move(shape), element.str()};
}

Tensor ModelWriter::parameter(const Twine &path, const Sizes &shape) {
  Sizes stacked;
  for (const Scope &scope : scopes)
    stacked.push_back(scope.count);
  llvm::append_range(stacked, shape);
  Tensor value =
      argument(parameterPrefix + path, stacked, model.element, "parameter");
  for (Scope &scope : scopes) {
    stacked.erase(stacked.begin());
    Tensor slice = fresh(stacked);
    scope.slices +=
        llvm::formatv("{0}{1} = {2} : {3} to {4}",
                      scope.slices.empty() ? "" : ",\n              ",
                      slice.name, value.name, value.type(), slice.type())
            .str();
    value = slice;
  }
  return value;
}

Tensor ModelWriter::sharedParameter(const Twine &path, const Sizes &shape) {
  std::string name = path.str();
  for (auto &[other, tensor] : shared)
    if (other == name)
      return tensor;
  Tensor tensor = argument(name, shape, model.element, "parameter");
  shared.push_back({name, tensor});
  return tensor;
}

void ModelWriter::emitLine(const Twine &line) {
  body += indent() + line.str() + "\n";
}

void ModelWriter::noteKernel(StringRef path, Iterators iterators,
                             Sizes weight) {
  if (noteKernels)
    kernels.push_back({kernelPrefix + path.str(), inLayer, std::move(iterators),
                       std::move(weight)});
}

void ModelWriter::emit(StringRef mnemonic, StringRef path,
                       ArrayRef<Tensor> operands, StringRef attributes,
                       ArrayRef<Tensor> results, Iterators iterators,
                       Sizes weight) {
  auto join = [](ArrayRef<Tensor> tensors, bool types) {
    std::string text;
    for (const Tensor &tensor : tensors)
      text +=
          (text.empty() ? "" : ", ") + (types ? tensor.type() : tensor.name);
    return text;
  };
  auto [name, kind] = mnemonic.split(' ');
  emitLine(llvm::formatv("{0} = nn.{1} \"{2}{3}\"{4}{5}({6}){7}{8} : ({9}) -> "
                         "{10}{11}{12}",
                         join(results, false), name, prefix, path,
                         kind.empty() ? "" : " ", kind, join(operands, false),
                         attributes.empty() ? "" : " ", attributes,
                         join(operands, true), results.size() > 1 ? "(" : "",
                         join(results, true), results.size() > 1 ? ")" : "")
               .str());
  noteKernel(path, std::move(iterators), std::move(weight));
}

Tensor ModelWriter::repeat(StringRef path, int64_t first, int64_t count,
                           const Tensor &input,
                           llvm::function_ref<Tensor(const Tensor &)> write) {
  Tensor carried = fresh(input.shape, input.element);
  Tensor result = fresh(input.shape, input.element);
  std::string head = indent() + result.name + " = nn.repeat \"" + prefix +
                     path.str() + "\"" +
                     (first ? " first " + std::to_string(first) : "");
  // Paths in the body are relative to the iteration. The outermost repeat is
  // the layer of the tree.
  std::string outerBody = std::exchange(body, "");
  std::string outerPrefix = std::exchange(prefix, "");
  std::string outerParameters = parameterPrefix, outerKernels = kernelPrefix;
  if (path != "layers")
    kernelPrefix += path.str() + "[*].";
  parameterPrefix += path.str() + "[*].";
  scopes.push_back({count, ""});
  Tensor last = write(carried);
  std::string inside = std::exchange(body, std::move(outerBody));
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  prefix = std::move(outerPrefix);
  parameterPrefix = std::move(outerParameters);
  kernelPrefix = std::move(outerKernels);
  std::string slices =
      scope.slices.empty() ? "" : "        slice(" + scope.slices + ")\n";
  body += llvm::formatv("{0} count {1} carry({2} = {3} : {4})\n{5}"
                        "        -> ({4}) {{\n{6}{7}  nn.yield {8} : {4}\n"
                        "{7}}\n",
                        head, count, carried.name, input.name, input.type(),
                        slices, inside, indent(), last.name)
              .str();
  return result;
}

Iterators ModelWriter::dims(const Tensor &tensor, StringRef last) const {
  if (tensor.shape.size() == 4)
    return {{"batch", tensor.shape[0]}, {"channel", tensor.shape[1]}};
  Iterators list{{"batch", tensor.shape[0]}};
  if (tensor.shape.size() == 3)
    list.push_back({"seq", tensor.shape[1]});
  if (!last.empty())
    list.push_back({last.str(), tensor.shape.back()});
  return list;
}

//===----------------------------------------------------------------------===//
// Operations that several blocks write
//===----------------------------------------------------------------------===//

Tensor ModelWriter::unary(StringRef mnemonic, StringRef path,
                          const Tensor &input) {
  Tensor result = fresh(input.shape, input.element);
  emit(mnemonic, path, input, "", result, dims(input, "hidden"));
  return result;
}

Tensor ModelWriter::binary(StringRef mnemonic, StringRef path,
                           const Tensor &lhs, const Tensor &rhs) {
  Tensor result = fresh(lhs.shape, lhs.element);
  emit(mnemonic, path, {lhs, rhs}, "", result, dims(lhs, "hidden"));
  return result;
}

Tensor ModelWriter::add(StringRef path, const Tensor &lhs, const Tensor &rhs) {
  return binary("add", path, lhs, rhs);
}

Tensor ModelWriter::linear(StringRef path, const Tensor &input, int64_t out,
                           bool bias) {
  int64_t in = input.shape.back();
  std::vector<Tensor> operands{input, parameter(path + ".weight", {out, in})};
  if (bias)
    operands.push_back(parameter(path + ".bias", {out}));
  Sizes shape(input.shape);
  shape.back() = out;
  Tensor result = fresh(shape, input.element);
  Iterators iterators = dims(result, "out");
  iterators.push_back({"in", in});
  emit("linear", path, operands, "", result, iterators, {out, in});
  return result;
}

Tensor ModelWriter::layerNorm(StringRef path, const Tensor &input) {
  int64_t width = input.shape.back();
  Tensor scale = parameter(path + ".scale", {width});
  Tensor shift = parameter(path + ".shift", {width});
  Tensor result = fresh(input.shape, input.element);
  emit("layer_norm", path, {input, scale, shift}, "", result, dims(input, ""),
       {width});
  return result;
}

Tensor ModelWriter::rmsNorm(StringRef path, const Tensor &input) {
  int64_t width = input.shape.back();
  Tensor scale = parameter(path + ".scale", {width});
  Tensor result = fresh(input.shape, input.element);
  emit("rms_norm", path, {input, scale}, "", result, dims(input, ""), {width});
  return result;
}

Tensor ModelWriter::dropout(StringRef path, const Tensor &input) {
  Tensor result = fresh(input.shape, input.element);
  Tensor mask = fresh(input.shape, "i8");
  emit("dropout", path, input, "{probability = 0.25 : f64, seed = 3 : i64}",
       {result, mask}, dims(input, "hidden"));
  return result;
}

Tensor ModelWriter::conv(StringRef path, const Tensor &input, int64_t out,
                         bool bias) {
  int64_t in = input.shape[1];
  std::vector<Tensor> operands{input,
                               parameter(path + ".weight", {out, in, 3, 3})};
  if (bias)
    operands.push_back(parameter(path + ".bias", {out}));
  Sizes shape(input.shape);
  shape[1] = out;
  Tensor result = fresh(shape, input.element);
  emit("conv2d", path, operands,
       "{stride = array<i64: 1, 1>, padding = array<i64: 1, 1>}", result,
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
       llvm::formatv("{{kernel = array<i64: {0}, {0}>, stride = array<i64: "
                     "{1}, {1}>, padding = array<i64: {2}, {2}>}",
                     kernel, stride, padding)
           .str(),
       result, dims(result, ""));
  return result;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

Tensor ModelWriter::writeSlot(Slot slot, Tensor input) {
  for (const BlockUse &use : model.in(slot))
    input = use.block->write(*this, use, input);
  return input;
}

Tensor ModelWriter::layer(const Tensor &input) {
  return writeSlot(Slot::Feed, writeSlot(Slot::Mixer, input));
}

Tensor ModelWriter::layers(Tensor input) {
  inLayer = true;
  for (int64_t i = 0; i < model.repeatFrom; ++i) {
    prefix = parameterPrefix = "layers[" + std::to_string(i) + "].";
    noteKernels = i == 0;
    input = layer(input);
  }
  prefix.clear();
  parameterPrefix.clear();
  noteKernels = model.repeatFrom == 0;
  if (model.repeatFrom < model.layers)
    input =
        repeat("layers", model.repeatFrom, model.layers - model.repeatFrom,
               input, [&](const Tensor &carried) { return layer(carried); });
  inLayer = false;
  noteKernels = true;
  return input;
}

std::string ModelWriter::write() {
  Tensor x = writeSlot(Slot::Stem, {});
  x = writeSlot(Slot::AfterStem, x);
  for (const BlockUse &use : model.in(Slot::Mixer))
    if (use.block->prepare)
      outer = use.block->prepare(*this, use, x);
  x = layers(x);
  x = writeSlot(Slot::Tail, x);
  x = writeSlot(Slot::Head, x);
  x = writeSlot(Slot::Loss, x);
  emitLine("return " + x.name + " : " + x.type());

  std::string training;
  for (auto &[name, value] : model.training.list)
    training += (training.empty() ? "" : ", ") + name + " = " + value;
  return "  func.func @model(\n" + arguments + ")\n      -> " + x.type() +
         (training.empty()
              ? ""
              : " attributes {nn.training = #nn.training<" + training + ">}") +
         " {\n" + body + "  }\n";
}
