//===- NNNormalizationOps.td - RMS and batch normalisation -*- tablegen -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_DIALECT_NN_NNNORMALIZATIONOPS_TD
#define PROTEUS_DIALECT_NN_NNNORMALIZATIONOPS_TD

include "Proteus/Dialect/NN/NNBase.td"

def NN_RMSNormOp : NN_ForwardOp<"rms_norm",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "normalisation by the root mean square of the last dimension";
  let description = [{
    Computes x / √(mean(x²) + 10⁻⁵) · scale.
    Iterators: the leading dimensions (parallel) and `hidden` (opaque).

    ```mlir
    %y = nn.rms_norm "norm_1"(%x, %g) : (tensor<8x1024x768xbf16>, tensor<768xbf16>) -> tensor<8x1024x768xbf16>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$scale);
  let results = (outs NN_FloatTensor:$result);
}

def NN_RMSNormGradOp : NN_KernelOp<"rms_norm_grad",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "gradients of nn.rms_norm with respect to input and scale";
  let description = [{
    Computes both gradients in one kernel. Iterators as in `nn.rms_norm`, except
    that the leading dimensions are summed in the gradient of the scale.

    ```mlir
    %dx, %dg = nn.rms_norm_grad "norm_1"(%dy, %x, %g) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input,
                       NN_FloatTensor:$scale);
  let results = (outs NN_FloatTensor:$input_gradient, NN_FloatTensor:$scale_gradient);
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

def NN_BatchNormOp : NN_ForwardOp<"batch_norm",
    ["getFlopsPerPoint", "getKernelFamily"],
    [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "normalisation over the batch, per channel";
  let description = [{
    The batch consists of `groups` groups of consecutive samples. For each group
    and channel, the result is (x − mean) · inverse · scale + shift. Mean and
    variance are taken over all samples and positions of the group, and inverse
    = 1 / √(variance + 10⁻⁵). Mean and inverse are results because the gradient
    reads them. The running averages that frameworks keep for evaluation are not
    modelled, because no gradient depends on them.

    With one group, the statistics are those of the whole batch. Iterators:
    `batch` (moments), `channel` (parallel) and opaque iterators for the
    positions. If the batch is split over devices, the operation is decomposed
    into partial sums, their all-reduce and a normalisation. This is
    synchronised batch normalisation.

    With several groups, every device normalises its own groups without
    communication. Iterators: `batch` (parallel) counts the groups, and `member`
    (opaque) the samples of a group. Micro-batches split the batch as well, so
    the number of groups must be a multiple of the number of micro-batches times
    the number of devices that split the batch.

    **Constraints**: the operand is `[batch, channel]` or `[batch, channel, height,
    width]`; `groups` divides the batch; mean and inverse are `[groups, channel]`.

    ```mlir
    %y, %mean, %inverse = nn.batch_norm "bn"(%x, %g, %b) {groups = 2 : i64} : (tensor<8x16x4x4xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16x4x4xf32>, tensor<2x16xf32>, tensor<2x16xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$scale,
                       NN_FloatTensor:$shift,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$mean,
                      NN_FloatTensor:$inverse);
  let hasVerifier = 1;
}

def NN_BatchNormGradOp : NN_KernelOp<"batch_norm_grad",
    ["getFlopsPerPoint", "getKernelFamily"],
    [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "gradients of nn.batch_norm with respect to input, scale and shift";
  let description = [{
    Computes the three gradients. Iterators as in `nn.batch_norm`; the gradients
    of scale and shift are summed over all groups. If there is only one group
    and the batch is split over devices, the sums Σ dy and Σ dy x̂ are reduced
    over the devices before the gradient of the input is computed from them.

    **Constraints**: as for `nn.batch_norm`.

    ```mlir
    %dx, %dg, %db = nn.batch_norm_grad "bn"(%dy, %x, %mean, %inverse, %g) {groups = 2 : i64} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input,
                       NN_FloatTensor:$mean, NN_FloatTensor:$inverse,
                       NN_FloatTensor:$scale,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs NN_FloatTensor:$input_gradient, NN_FloatTensor:$scale_gradient,
                      NN_FloatTensor:$shift_gradient);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Operations of a decomposed batch normalisation (one group over all devices)
//===----------------------------------------------------------------------===//

def NN_BatchNormSumsOp : NN_KernelOp<"batch_norm_sums",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "sums of values and of squares per channel";
  let description = [{
    Row 0 of the result is Σ x, and row 1 is Σ x². Both sums are in one tensor
    so that one all-reduce completes them. Iterators: `batch` (sum), `channel`,
    and opaque iterators for the positions.

    ```mlir
    %s = nn.batch_norm_sums "bn"(%x) : (tensor<8x16x4x4xf32>) -> tensor<2x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_BatchNormStatisticsOp : NN_KernelOp<"batch_norm_statistics", ["getFlopsPerPoint"]> {
  let summary = "mean and inverse deviation from sums";
  let description = [{
    Computes mean = Σ x / count and inverse = 1 / √(Σ x² / count − mean² + 10⁻⁵).
    Iterators: `channel`.

    **Constraints**: `count` is positive; the operand has two rows, each result one.

    ```mlir
    %mean, %inverse = nn.batch_norm_statistics "bn"(%s) {count = 128 : i64} : (tensor<2x16xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$sums,
                       ConfinedAttr<I64Attr, [IntPositive]>:$count);
  let results = (outs NN_FloatTensor:$mean, NN_FloatTensor:$inverse);
  let hasVerifier = 1;
}

def NN_BatchNormApplyOp : NN_KernelOp<"batch_norm_apply",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "normalisation with given statistics";
  let description = [{
    Computes (x − mean) · inverse · scale + shift. Iterators: `batch` and
    `channel` (parallel), and opaque iterators for the positions.

    ```mlir
    %y = nn.batch_norm_apply "bn"(%x, %mean, %inverse, %g, %b) : (tensor<8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$input, NN_FloatTensor:$mean,
                       NN_FloatTensor:$inverse, NN_FloatTensor:$scale,
                       NN_FloatTensor:$shift);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

def NN_BatchNormGradSumsOp : NN_KernelOp<"batch_norm_grad_sums",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "gradients of scale and shift of nn.batch_norm per channel";
  let description = [{
    Computes dscale = Σ dy (x − mean) inverse and dshift = Σ dy. Iterators:
    `batch` (sum), `channel`, and opaque iterators for the positions.

    ```mlir
    %dg, %db = nn.batch_norm_grad_sums "bn"(%dy, %x, %mean, %inverse) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input,
                       NN_FloatTensor:$mean, NN_FloatTensor:$inverse);
  let results = (outs NN_FloatTensor:$scale_gradient, NN_FloatTensor:$shift_gradient);
  let hasVerifier = 1;
}

def NN_BatchNormInputGradOp : NN_KernelOp<"batch_norm_input_grad",
    ["getFlopsPerPoint", "getKernelFamily"]> {
  let summary = "gradient of the input of nn.batch_norm from the two sums";
  let description = [{
    Computes dx = scale · inverse · (dy − dshift / count − x̂ dscale / count)
    with x̂ = (x − mean) inverse, where count is the number of values per
    channel. Iterators: `batch` and `channel` (parallel), and opaque iterators
    for the positions.

    ```mlir
    %dx = nn.batch_norm_input_grad "bn"(%dy, %x, %mean, %inverse, %g, %dg, %db) : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$path, NN_FloatTensor:$gradient, NN_FloatTensor:$input,
                       NN_FloatTensor:$mean, NN_FloatTensor:$inverse,
                       NN_FloatTensor:$scale, NN_FloatTensor:$scale_gradient,
                       NN_FloatTensor:$shift_gradient);
  let results = (outs NN_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // PROTEUS_DIALECT_NN_NNNORMALIZATIONOPS_TD
