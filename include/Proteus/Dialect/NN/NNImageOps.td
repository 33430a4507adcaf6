//===- NNImageOps.td - convolution and pooling -------------*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNIMAGEOPS_TD
#define PROTEUS_DIALECT_NN_NNIMAGEOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

def NN_Dilation : DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">;
def NN_Groups : DefaultValuedAttr<I64Attr, "1">;

def NN_Conv2DOp : NN_ForwardOp<"conv2d",
    ["getFlopsPerPoint", "getKernelClass", "getWindowStride"]> {
  let summary = "two-dimensional convolution";
  let description = [{
    The input is `[batch, in, height, width]`, the weight is `[out, in, kernel,
    kernel]`. Iterators: `batch`, `out`, `in` (sum), and the opaque output and kernel
    positions. If `in` is split, only the devices with its first shard add the bias.

    With `groups` > 1 the channels form that many groups, each with its own
    convolution. The weight is then `[out, in / groups, kernel, kernel]`, a parallel
    iterator `group` counts the groups, and `out` and `in` count the channels of one
    group.

    **Constraints**: strides, dilations and groups are positive, paddings not
    negative; `groups` divides the channels of input and output; the output size is
    `(size + 2 padding - reach) / stride + 1` in each direction and positive, where
    reach is the extent `dilation (kernel - 1) + 1` of the kernel.

    ```mlir
    %y = nn.conv2d "features.0"(%x, %w, %b) {stride = array<i64: 4, 4>, padding = array<i64: 2, 2>} : (tensor<8x3x224x224xf32>, tensor<64x3x11x11xf32>, tensor<64xf32>) -> tensor<8x64x55x55xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$weight,
                       Optional<NN_FloatTensor>:$bias, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding, NN_Dilation:$dilation,
                       NN_Groups:$groups);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_Pool2DOp : NN_ForwardOp<"pool2d"> {
  let summary = "maximum or average over windows of an image";
  let description = [{
    A maximum ignores padding. An average counts padding as zeros and divides by the
    size of the whole window. Of equal maxima the first gets the gradient.
    Iterators: `batch`, `channel`, and opaque output positions.

    **Constraints**: as for `nn.conv2d`, with `kernel` instead of the weight and
    without dilations and groups.

    ```mlir
    %y = nn.pool2d "pool" max(%x) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x64x55x55xf32>) -> tensor<8x64x27x27xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_PoolKind:$kind,
                       DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $path $kind `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

def NN_Conv2DDgradOp : NN_KernelOp<"conv2d_dgrad",
    ["getFlopsPerPoint", "getKernelClass", "getKernelPass", "getWindowStride"]> {
  let summary = "gradient of nn.conv2d with respect to its input";
  let description = [{
    Iterators as in `nn.conv2d`; `out` is summed.

    **Constraints**: the sizes of gradient and result are those of the output and
    the image of a convolution, as for `nn.conv2d`.

    ```mlir
    %dx = nn.conv2d_dgrad "c"(%dy, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<16x4x3x3xf32>) -> tensor<8x4x8x8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$weight,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding,
                       NN_Dilation:$dilation, NN_Groups:$groups);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_Conv2DWgradOp : NN_KernelOp<"conv2d_wgrad",
    ["getFlopsPerPoint", "getKernelClass", "getKernelPass", "getWindowStride"]> {
  let summary = "gradient of nn.conv2d with respect to its weight";
  let description = [{
    Iterators as in `nn.conv2d`; `batch` is summed. The kernel also sums over the
    output positions, whose iterators stay opaque.

    **Constraints**: the sizes of gradient and input are those of the output and
    the image of a convolution, as for `nn.conv2d`.

    ```mlir
    %dw = nn.conv2d_wgrad "c"(%dy, %x) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x16x8x8xf32>, tensor<8x4x8x8xf32>) -> tensor<16x4x3x3xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding,
                       NN_Dilation:$dilation, NN_Groups:$groups);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_Pool2DGradOp : NN_KernelOp<"pool2d_grad",
    ["readsWholeOperand", "getReadsPerWrite"]> {
  let summary = "gradient of nn.pool2d";
  let description = [{
    Reads the forward operand to find the maxima. An average needs only the shape of
    that operand.

    **Constraints**: the sizes of gradient and input are those of the output and
    the image of a pooling, as for `nn.pool2d`.

    ```mlir
    %dx = nn.pool2d_grad "pool" max(%dy, %x) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<8x4x4x4xf32>, tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input,
                       NN_PoolKind:$kind, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $path $kind `(` operands `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNIMAGEOPS_TD
