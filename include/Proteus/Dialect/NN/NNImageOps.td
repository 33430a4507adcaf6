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
    Computes the convolution of the input `[batch, in, height, width]` with the
    weight `[out, in, kernel, kernel]`, plus the bias. Iterators: `batch`,
    `out`, `in` (sum), and opaque iterators for the positions in the output and
    in the kernel. If `in` is split, only the devices with the first shard of
    `in` add the bias, so that it is added once.

    With `groups` > 1, the channels form `groups` groups, each with a
    convolution of its own. The weight is then `[out, in / groups, kernel,
    kernel]`, a parallel iterator `group` counts the groups, and `out` and `in`
    count the channels of one group.

    **Constraints**: strides, dilations and groups are positive, paddings not
    negative; `groups` divides the channels of input and output; in each
    direction the output size is `(size + 2 padding - reach) / stride + 1` and
    positive, where reach = `dilation (kernel - 1) + 1` is the number of pixels
    that the kernel covers.

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
    A maximum ignores padding. An average counts padding as zeros and divides by
    the size of the whole window. If several elements of a window are equal to
    the maximum, the first of them gets the gradient. Iterators: `batch`,
    `channel`, and opaque iterators for the positions in the output.

    **Constraints**: as for `nn.conv2d`, with the attribute `kernel` as the size
    of the window; there are no dilations and groups.

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
    Computes the gradient of the image. Iterators as in `nn.conv2d`, except that
    `out` is summed.

    **Constraints**: as for an `nn.conv2d` with the result of this operation as
    input and the operand `gradient` as result.

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
    Computes the gradient of the weight. Iterators as in `nn.conv2d`, except
    that `batch` is summed. The kernel also sums over the output positions, but
    their iterators stay opaque and can't be split.

    **Constraints**: as for an `nn.conv2d` with the operand `input` as input and
    the operand `gradient` as result.

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
    Reads the operand of `nn.pool2d` to find the maxima. The gradient of an
    average needs only the shape of that operand.

    **Constraints**: as for an `nn.pool2d` with the operand `input` as operand
    and the operand `gradient` as result.

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
