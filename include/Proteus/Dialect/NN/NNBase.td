//===- NNBase.td - shared classes of nn operations ---------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNBASE_TD
#define PROTEUS_DIALECT_NN_NNBASE_TD

include "Proteus/Dialect/NN/NNDialect.td"
include "Proteus/Dialect/NN/NNInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NN_Tensor : StaticShapeTensorOf<[AnyFloat, AnySignlessInteger]>;
def NN_FloatTensor : StaticShapeTensorOf<[AnyFloat]>;
def NN_IntTensor : StaticShapeTensorOf<[AnySignlessInteger]>;
def NN_MaskTensor : StaticShapeTensorOf<[I8]>;

/// Base class of an operation that runs as a kernel or is a view. The attribute
/// `path` names the operation in the module tree, for example
/// `layers[3].attention.qkv`. Strategies select operations by path.
class NN_KernelOp<string mnemonic, list<string> spaceMethods = [],
                  list<Trait> traits = []>
    : Op<NN_Dialect, mnemonic, traits # [Pure,
        DeclareOpInterfaceMethods<IterationSpaceOpInterface, spaceMethods>]> {
  let assemblyFormat = [{
    $path `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
}

/// Base class of a forward operation that can build its gradients.
class NN_ForwardOp<string mnemonic, list<string> spaceMethods = [],
                   list<Trait> traits = []>
    : NN_KernelOp<mnemonic, spaceMethods,
                  traits # [DeclareOpInterfaceMethods<GradientOpInterface>]>;

#endif // PROTEUS_DIALECT_NN_NNBASE_TD
