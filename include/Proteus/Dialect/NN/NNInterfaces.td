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
    Passes and cost models use only this interface, so they need no list of
    concrete operations. Operations of other dialects, such as linalg, get it by
    external models.
  }];
  let methods = [
    InterfaceMethod<"Returns the iterators, and those that index each dimension.",
      "::proteus::nn::IterationSpace", "getIterationSpace">,
    InterfaceMethod<"Returns the floating-point operations per point of the "
      "space that the mathematical definition requires.",
      "double", "getFlopsPerPoint", (ins), [{}], [{ return 0.0; }]>,
    InterfaceMethod<"Returns the floating-point operations per point that the "
      "kernel executes. They exceed getFlopsPerPoint if the kernel repeats work.",
      "double", "getExecutedFlopsPerPoint", (ins), [{}],
      [{ return $_op.getFlopsPerPoint(); }]>,
    InterfaceMethod<"Returns the share of the points that the kernel visits: one "
      "half for causal attention.",
      "double", "getVisitedShare", (ins), [{}], [{ return 1.0; }]>,
    InterfaceMethod<"Returns the share of its points that a device visits if it "
      "holds the ranges `held[i]` of iterator i. In causal attention a device with "
      "late queries visits more keys. The share is 1 if getVisitedShare is 1.",
      "double", "getVisitedShareOf",
      (ins "::llvm::ArrayRef<::proteus::nn::IteratorRanges>":$held), [{}],
      [{ return 1.0; }]>,
    InterfaceMethod<"Returns the class of the kernel, by the resource that bounds it.",
      "::proteus::nn::KernelClass", "getKernelClass", (ins), [{}],
      [{ return ::proteus::nn::KernelClass::Memory; }]>,
    InterfaceMethod<"Returns the family of kernels to which the kernel belongs.",
      "::proteus::nn::KernelFamily", "getKernelFamily", (ins), [{}],
      [{ return ::proteus::nn::KernelFamily::Plain; }]>,
    InterfaceMethod<"Returns the kind of a matrix product (see KernelPass); Forward "
      "for every other kernel.",
      "::proteus::nn::KernelPass", "getKernelPass", (ins), [{}],
      [{ return ::proteus::nn::KernelPass::Forward; }]>,
    InterfaceMethod<"Returns the larger of the two strides of a convolution, or 1 for "
      "any other operation.",
      "int64_t", "getWindowStride", (ins), [{}], [{ return 1; }]>,
    InterfaceMethod<"Returns true if the kernel reads the whole of an operand. A "
      "table lookup reads only the rows that the indices name.",
      "bool", "readsWholeOperand", (ins "unsigned":$operand), [{}],
      [{ return true; }]>,
    InterfaceMethod<"Returns the number of elements that are read per element "
      "written, from an operand that is not read whole.",
      "double", "getReadsPerWrite", (ins), [{}], [{ return 1.0; }]>,
    InterfaceMethod<"Returns the bytes of memory traffic per point of the space, "
      "or nullopt if the traffic is the size of operands and results.",
      "std::optional<double>", "getBytesPerPoint", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<"Returns the iterator whose values are computed one after "
      "another, such as the times of a recurrent layer, or nullopt. Every value is "
      "a launch of its own, which reads again the operands that the iterator does "
      "not index.",
      "std::optional<::llvm::StringRef>", "getSequentialIterator", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<"Returns true if the operation is linear in all its operands "
      "together, so that partial sums may pass through it unreduced.",
      "bool", "isLinear", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"Returns true if the operation only observes a value that has "
      "another reader. An observer reads the value in the layout of that reader and "
      "has no influence on the layout.",
      "bool", "isObserver", (ins), [{}], [{ return false; }]>
  ];
  // This check runs after the verifier of the operation (`verifyWithRegions`),
  // because errors of that verifier are more specific than an error about the
  // size of a dimension.
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
    An operation of the forward pass that can build the gradients of its
    operands.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the operations that compute the gradients of the operands from
        the gradients of the results. `scope` provides the gradients of the
        results and the builder, and collects the gradients of the operands.
      }],
      "::llvm::LogicalResult", "buildGradients",
      (ins "::proteus::nn::GradientScope &":$scope)>
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::proteus::nn";
  let description = [{
    An operation with a reduction that cannot be summed over devices, such as a
    log-sum-exp or a mean with its variance. To split the reduced iterator over
    devices, the operation is replaced by operations with plain sums and maxima.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the equivalent operations at the insertion point of `builder` and
        returns the values that replace the results.
      }],
      "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def RingOpInterface : OpInterface<"RingOpInterface"> {
  let cppNamespace = "::proteus::nn";
  let description = [{
    An operation that ring attention executes in steps. The values of one
    iterator are cut into one block per device. In each step a device computes
    with one block and then passes it to the next device of the ring. Operands
    and results that the iterator indexes travel with their block. Every other
    result stays on its device, which accumulates it over the steps.
  }];
  let methods = [
    InterfaceMethod<"Returns the name of the iterator whose blocks travel around "
      "the ring.",
      "::llvm::StringRef", "getRingIterator">,
    InterfaceMethod<[{
        Builds one step, which computes with one of `blocks` blocks. `operands`
        are the operands of the operation as the device holds them in this step.
        `soFar` are the results that stay on the device, accumulated over all
        preceding steps; it is empty in the first step. For a result that
        travels, the built operation returns the contribution of this step
        alone.
      }],
      "::mlir::Operation *", "buildRingStep",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::ValueRange":$soFar, "int64_t":$blocks)>
  ];
}

#endif // PROTEUS_DIALECT_NN_NNINTERFACES_TD
