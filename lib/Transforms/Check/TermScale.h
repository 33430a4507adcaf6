//===- TermScale.h - scale of tensors with terms that cancel ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_TRANSFORMS_CHECK_TERMSCALE_H
#define PROTEUS_LIB_TRANSFORMS_CHECK_TERMSCALE_H

#include "Proteus/Interp/Tensor.h"

#include "llvm/ADT/StringRef.h"

namespace proteus {

/// Largest relative error that the disturbed execution adds to a number, to
/// measure the size of terms that cancel (see `scaleOfTerms`). It is much
/// larger than rounding errors, so that these do not matter. It is much smaller
/// than 1, so that the error of a result is proportional to it.
inline constexpr double noiseSize = 1e-11;

/// Returns the kind of a tensor: the last component of its path. All tensors
/// with paths that end in `.weight`, for example, are of the same kind.
llvm::StringRef kindOf(llvm::StringRef path);

/// Returns a lower bound for the scale by which the differences of a tensor are
/// divided. The scale is the largest value of the tensor, or this bound if the
/// largest value is smaller.
///
/// A tensor may be small because large terms cancel. It may even be zero by a
/// law of the model. For example, a batch normalisation subtracts any bias that
/// was added before it, so the gradient of this bias is zero. The elements of
/// such a tensor are rounding errors of the terms, which differ in every
/// execution. A mistake of the lowering is as large as the terms, so
/// differences are compared with the size of the terms. The disturbed
/// execution, in which numbers have relative errors of about `noiseSize`, shows
/// the size of the terms: a sum has an error of about `noiseSize` times its
/// terms.
///
/// The errors may also change a decision, such as the choice of an expert. The
/// difference from the disturbed execution then does not show the size of the
/// terms. The bound is therefore at most `largestOfKind`, the largest value of
/// all tensors of the same kind.
double scaleOfTerms(const interp::Tensor &expected,
                    const interp::Tensor &disturbed, double largestOfKind);

} // namespace proteus

#endif // PROTEUS_LIB_TRANSFORMS_CHECK_TERMSCALE_H
