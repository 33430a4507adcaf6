//===- GraphBuilder.cpp - builder of model functions ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Models/GraphBuilder.h"

using namespace mlir;
using namespace proteus;
using namespace proteus::models;

GraphBuilder::GraphBuilder(MLIRContext &context, StringRef name,
                           FloatType elementType, nn::TrainingAttr training)
    : builder(&context), elementType(elementType) {
  Location loc = builder.getUnknownLoc();
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  // The type of the function is empty until `finish` sets it, because the
  // arguments are not yet known.
  function =
      func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  if (training)
    function->setAttr(nn::kTrainingAttr, training);
  frames.push_back({function.addEntryBlock(), "", 0, "", {}, {}});
  builder.setInsertionPointToEnd(frames.back().block);
}

GraphBuilder::~GraphBuilder() = default;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

RankedTensorType GraphBuilder::tensor(Shape shape) const {
  return RankedTensorType::get(shape, elementType);
}

GraphBuilder::Shape GraphBuilder::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

Value GraphBuilder::argument(StringRef path, nn::Role role,
                             RankedTensorType type) {
  argumentAttributes.push_back(builder.getDictionaryAttr(
      {builder.getNamedAttr(nn::kRoleAttr,
                            builder.getStringAttr(nn::stringify(role))),
       builder.getNamedAttr(nn::kPathAttr, builder.getStringAttr(path))}));
  return function.front().addArgument(type, builder.getUnknownLoc());
}

Value GraphBuilder::input(StringRef path, Shape shape) {
  return argument(path, nn::Role::Input, tensor(shape));
}

Value GraphBuilder::indices(StringRef path, Shape shape) {
  return argument(path, nn::Role::Input,
                  RankedTensorType::get(shape, builder.getI32Type()));
}

/// Returns the path `path` in the module `prefix`, which may be empty.
static std::string join(StringRef prefix, StringRef path) {
  return prefix.empty() ? path.str() : (prefix + "." + path).str();
}

Value GraphBuilder::parameter(StringRef path, Shape shape) {
  auto innermost = std::prev(frames.end());
  return parameterOf(innermost, join(innermost->prefix, path), shape);
}

Value GraphBuilder::table(StringRef path, Shape shape) {
  Value value = parameter(path, shape);
  auto training = function->getAttrOfType<nn::TrainingAttr>(nn::kTrainingAttr);
  if (training && training.getMaster())
    value.setType(RankedTensorType::get(shape, training.getMaster()));
  return value;
}

Value GraphBuilder::parameterOf(std::list<Frame>::iterator frame,
                                StringRef path, Shape shape) {
  auto found = frame->parameters.find(path);
  if (found != frame->parameters.end())
    return found->second;
  Value value;
  if (frame == frames.begin()) {
    double elements = 1;
    for (int64_t size : shape)
      elements *= static_cast<double>(size);
    numParameters += elements;
    value = argument(path, nn::Role::Parameter, tensor(shape));
  } else {
    // The parameter has two values: the stack of all slices in the enclosing
    // frame, and one slice, which is a block argument, in this frame.
    SmallVector<int64_t> stacked{frame->count};
    llvm::append_range(stacked, shape);
    auto outer = std::prev(frame);
    frame->stacks.push_back(parameterOf(
        outer, join(outer->prefix, join(frame->path, path)), stacked));
    value = frame->block->addArgument(tensor(shape), builder.getUnknownLoc());
  }
  frame->parameters[path] = value;
  return value;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

std::string GraphBuilder::pathOf(StringRef path) const {
  return join(frames.back().prefix, path);
}

void GraphBuilder::under(const Twine &module, function_ref<void()> body) {
  std::string outside = frames.back().prefix;
  frames.back().prefix = join(outside, module.str());
  body();
  frames.back().prefix = outside;
}

GraphBuilder::Values GraphBuilder::repeat(StringRef name, int64_t count,
                                          ValueRange carried,
                                          function_ref<Values(ValueRange)> body,
                                          int64_t first) {
  // The body determines the sliced operands of the repeat. The body is
  // therefore built before the repeat, in a separate region.
  std::string path = pathOf(name);
  Region region;
  Block &block = region.emplaceBlock();
  for (Value value : carried)
    block.addArgument(value.getType(), value.getLoc());
  frames.push_back({&block, (name + "[*]").str(), count, "", {}, {}});
  Values results;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&block);
    results = body(Values(block.getArguments()));
    create<nn::YieldOp>(results);
  }
  Values stacks = std::move(frames.back().stacks);
  frames.pop_back();

  SmallVector<Type> types;
  for (auto [number, value] : llvm::enumerate(results)) {
    auto type = cast<RankedTensorType>(value.getType());
    if (number < carried.size()) {
      types.push_back(type);
      continue;
    }
    SmallVector<int64_t> stacked{count};
    llvm::append_range(stacked, type.getShape());
    types.push_back(RankedTensorType::get(stacked, type.getElementType()));
  }
  auto repeat = create<nn::RepeatOp>(path, first, count, /*reverse=*/false,
                                     carried, stacks, types);
  repeat.getBody().takeBody(region);
  return Values(repeat.getResults());
}

Value GraphBuilder::repeat(StringRef name, int64_t count, Value carried,
                           function_ref<Value(Value)> body, int64_t first) {
  return repeat(
      name, count, ValueRange(carried),
      [&](ValueRange values) { return Values{body(values.front())}; },
      first)[0];
}

OwningOpRef<ModuleOp> GraphBuilder::finish(Value loss) {
  create<func::ReturnOp>(loss);
  function.setFunctionType(builder.getFunctionType(
      function.front().getArgumentTypes(), loss.getType()));
  function.setAllArgAttrs(argumentAttributes);
  return std::move(module);
}
