//===- NNInterfaces.td - interfaces of operations ----------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNINTERFACES_TD
#define PROTEUS_DIALECT_NN_NNINTERFACES_TD

include "mlir/IR/OpBase.td"

def IterationSpaceOpInterface : OpInterface<"IterationSpaceOpInterface"> {
  let cppNamespace = "::proteus::nn";
  let description = [{
    An operation that a device executes over a rectangular space of iterators.
    Operations of other dialects get this interface by external models; passes
    and cost models never ask for a concrete operation.
  }];
  let methods = [
    InterfaceMethod<"The iterators, and the ones that index each dimension.",
      "::proteus::nn::IterationSpace", "getIterationSpace">,
    InterfaceMethod<"Floating-point operations per point of the space that the "
      "mathematics needs.",
      "double", "getFlopsPerPoint", (ins), [{}], [{ return 0.0; }]>,
    InterfaceMethod<"Floating-point operations per point that the kernel "
      "executes; more than the mathematics when a kernel repeats work.",
      "double", "getExecutedFlopsPerPoint", (ins), [{}],
      [{ return $_op.getFlopsPerPoint(); }]>,
    InterfaceMethod<"Share of the points that are visited: one half for causal "
      "attention.",
      "double", "getVisitedShare", (ins), [{}], [{ return 1.0; }]>,
    InterfaceMethod<"The share of its points that a device visits which holds "
      "these ranges of each iterator: of causal attention, late queries see "
      "more keys. All of them where the share of the whole is 1.",
      "double", "getVisitedShareOf",
      (ins "::llvm::ArrayRef<::proteus::nn::IteratorRanges>":$held), [{}],
      [{ return 1.0; }]>,
    InterfaceMethod<"How the device executes the operation.",
      "::proteus::nn::KernelClass", "getKernelClass", (ins), [{}],
      [{ return ::proteus::nn::KernelClass::Memory; }]>,
    InterfaceMethod<"What is particular about the kernel.",
      "::proteus::nn::KernelFamily", "getKernelFamily", (ins), [{}],
      [{ return ::proteus::nn::KernelFamily::Plain; }]>,
    InterfaceMethod<"Which part of a step the kernel belongs to.",
      "::proteus::nn::KernelPass", "getKernelPass", (ins), [{}],
      [{ return ::proteus::nn::KernelPass::Forward; }]>,
    InterfaceMethod<"The larger stride of the window through which an image is "
      "read, if there is one.",
      "int64_t", "getWindowStride", (ins), [{}], [{ return 1; }]>,
    InterfaceMethod<"Whether the kernel reads the whole of an operand. A table "
      "lookup reads as many rows as it returns.",
      "bool", "readsWholeOperand", (ins "unsigned":$operand), [{}],
      [{ return true; }]>,
    InterfaceMethod<"Elements that are read per element written, of an operand "
      "that is not read whole.",
      "double", "getReadsPerWrite", (ins), [{}], [{ return 1.0; }]>,
    InterfaceMethod<"Bytes of memory traffic per point of the space, where that "
      "is not the size of operands and results.",
      "std::optional<double>", "getBytesPerPoint", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<"The iterator whose values follow one another, each a step of "
      "its own that is launched and reads what the iterator does not index again: "
      "the times of a recurrent layer.",
      "std::optional<::llvm::StringRef>", "getSequentialIterator", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<"Whether the operation is linear in all its operands "
      "together, so that partial sums may pass through it unreduced.",
      "bool", "isLinear", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"Whether the operation only looks at a value on its way to "
      "another reader: it takes the layout of that reader and asks for none of "
      "its own.",
      "bool", "isObserver", (ins), [{}], [{ return false; }]>
  ];
  // Run after the operation's own verifier, which can say more about what is
  // wrong than a dimension that does not fit.
  let verifyWithRegions = 1;
  let verify = [{
    return ::proteus::nn::verifyIterationSpace(
        $_op, ::mlir::cast<::proteus::nn::IterationSpaceOpInterface>($_op)
                  .getIterationSpace());
  }];
}

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::proteus::nn";
  let description = [{
    An operation that knows how to build the gradients of its operands.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the operations that compute the gradients of the operands from
        the gradients of the results, through `scope`.
      }],
      "::llvm::LogicalResult", "buildGradients",
      (ins "::proteus::nn::GradientScope &":$scope)>
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::proteus::nn";
  let description = [{
    An operation with a compound reduction (log-sum-exp, moments) that can be replaced
    by operations with simple ones, so that the reduced iterator can be split
    over devices.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the equivalent operations at `builder` and returns the values
        that replace the results.
      }],
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def RingOpInterface : OpInterface<"RingOpInterface"> {
  let cppNamespace = "::proteus::nn";
  let description = [{
    An operation that can visit one iterator block by block while the blocks go
    round a ring of devices. What is indexed by that iterator travels; the rest
    of the results is built up in place.
  }];
  let methods = [
    InterfaceMethod<"The name of the iterator whose blocks go round.",
      "::llvm::StringRef", "getRingIterator">,
    InterfaceMethod<[{
        Builds the work of one step over the `operands` that are there, of which
        there are `blocks` in all. `soFar` holds what the last step made of the
        results that do not travel; it is empty in the first step. A result
        that travels is what this step contributes to it.
      }],
      "::mlir::Operation *", "buildRingStep",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::ValueRange":$soFar, "int64_t":$blocks)>
  ];
}

#endif // PROTEUS_DIALECT_NN_NNINTERFACES_TD
