//===- SpaceFixture.h - fixture for iteration spaces ------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_UNITTESTS_NN_SPACEFIXTURE_H
#define PROTEUS_UNITTESTS_NN_SPACEFIXTURE_H

#include "Proteus/Dialect/NN/NN.h"

#include "SpaceText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace proteus::nn {

class IterationSpaceTest : public ::testing::Test {
protected:
  IterationSpaceTest() {
    context.loadDialect<mlir::func::FuncDialect, NNDialect>();
  }

  /// Parses an operation in the generic form without operands, `"nn.relu"
  /// <{...}> : (types) -> types`. Its operands become arguments of a function.
  IterationSpaceOpInterface parse(llvm::StringRef text) {
    auto [head, signature] = text.split(" : (");
    auto [operandTypes, resultTypes] = signature.split(") -> ");
    std::string arguments, operands;
    unsigned count = 0;
    llvm::SmallVector<llvm::StringRef> types;
    operandTypes.split(types, ", ", /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (llvm::StringRef type : types) {
      std::string name = "%a" + std::to_string(count++);
      arguments += (arguments.empty() ? "" : ", ") + name + ": " + type.str();
      operands += (operands.empty() ? "" : ", ") + name;
    }
    auto [name, properties] = head.split(" ");
    size_t results = resultTypes.count("tensor");
    std::string source = "func.func @f(" + arguments +
                         ") { %r:" + std::to_string(results) + " = " +
                         name.str() + "(" + operands + ") " + properties.str() +
                         " : (" + signature.str() + " return }";
    module = mlir::parseSourceString<mlir::ModuleOp>(source, &context);
    IterationSpaceOpInterface found;
    if (module)
      module->walk([&](IterationSpaceOpInterface op) { found = op; });
    return found;
  }

  /// Checks iterators and indexing of one operation.
  void expectSpace(llvm::StringRef text, llvm::StringRef iterators,
                   llvm::StringRef indexing) {
    SCOPED_TRACE(text.str());
    auto op = parse(text);
    ASSERT_TRUE(op);
    IterationSpace space = op.getIterationSpace();
    EXPECT_EQ(iteratorsOf(space), iterators.str());
    EXPECT_EQ(indexingOf(space), indexing.str());
  }

  void expectReshape(llvm::StringRef from, llvm::StringRef to,
                     llvm::StringRef iterators, llvm::StringRef indexing) {
    expectSpace(("\"nn.reshape\" <{path = \"r\"}> : (tensor<" + from +
                 "f32>) -> tensor<" + to + "f32>")
                    .str(),
                iterators, indexing);
  }

  /// Returns the floating-point operations of the whole operation.
  double flops(llvm::StringRef text) {
    auto op = parse(text);
    return op.getIterationSpace().numPoints() * op.getFlopsPerPoint() *
           op.getVisitedShare();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace proteus::nn

#endif // PROTEUS_UNITTESTS_NN_SPACEFIXTURE_H
