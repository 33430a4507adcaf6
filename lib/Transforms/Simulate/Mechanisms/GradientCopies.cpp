//===- GradientCopies.cpp - gradients that are kept twice -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds the memory of gradients that exist twice.
//
// With `master_gradients` the optimizer has its own gradients, in the type of
// its master weights, in addition to those of the model.
//
// With `dummy_gradients` products add directly to the accumulated gradients of
// the weights. In place of the gradients of single products, the framework
// keeps one dummy gradient per shape of a weight matrix, in the type of the
// model.
//
//===----------------------------------------------------------------------===//

#include "Mechanism.h"

#include "Proteus/Dialect/Dist/Layout.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace proteus;

/// Returns true if a buffer is a parameter that is a matrix, or a stack with
/// one matrix per layer. Returns false for the weights of experts, which have
/// one more dimension.
static bool isMatrix(const FlatBuffer &buffer) {
  size_t rank = cast<RankedTensorType>(buffer.value.getType()).getRank();
  return buffer.owner == sim::MemoryOwner::Parameters &&
         rank == (buffer.pieces > 1 ? 3 : 2);
}

static int64_t elementBitsOf(const FlatBuffer &buffer) {
  return dist::elementBits(
      cast<RankedTensorType>(buffer.value.getType()).getElementType());
}

/// Returns true if gradients accumulate in a wider type than the parameters
/// have.
static bool hasWideGradients(ArrayRef<FlatBuffer> resident) {
  int64_t parameter = 0, gradient = 0;
  for (const FlatBuffer &buffer : resident)
    if (buffer.owner == sim::MemoryOwner::Parameters)
      parameter = std::max(parameter, elementBitsOf(buffer));
    else if (buffer.owner == sim::MemoryOwner::Gradients)
      gradient = std::max(gradient, elementBitsOf(buffer));
  return parameter > 0 && gradient > parameter;
}

namespace {
class GradientCopies : public Mechanism {
public:
  explicit GradientCopies(const machine::StackParameters &parameters)
      : master(parameters.masterGradients), dummy(parameters.dummyGradients) {}

  void changeClass(ArrayRef<FlatBuffer> resident,
                   sim::DeviceClass &device) const override;

private:
  bool master, dummy;
};
} // namespace

void GradientCopies::changeClass(ArrayRef<FlatBuffer> resident,
                                 sim::DeviceClass &device) const {
  // The gradients that exist already are those of the optimizer if they are
  // wider than the parameters. Then add gradients for the model, as large as
  // the parameters. Otherwise add gradients for the optimizer, as large as the
  // master weights. `alike` is the owner of the buffers with the size to add.
  sim::MemoryOwner alike = hasWideGradients(resident)
                               ? sim::MemoryOwner::Parameters
                               : sim::MemoryOwner::MasterWeights;
  // Shapes of matrices that already have a dummy gradient. A dummy gradient has
  // the size of the matrix of one layer.
  llvm::SmallSet<std::pair<int64_t, int64_t>, 8> shapes;
  for (auto [i, buffer] : llvm::enumerate(resident)) {
    sim::Buffer copy = device.resident[i];
    copy.owner = sim::MemoryOwner::Gradients;
    if (master && buffer.owner == alike) {
      device.resident.push_back(std::move(copy));
      continue;
    }
    if (!dummy || !isMatrix(buffer))
      continue;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(buffer.value.getType()).getShape().take_back(2);
    if (!shapes.insert({shape[0], shape[1]}).second)
      continue;
    copy.bytes /= copy.pieces;
    copy.pieces = 1;
    device.resident.push_back(std::move(copy));
  }
}

MechanismPtr
proteus::createGradientCopies(const machine::StackParameters &parameters) {
  if (!parameters.masterGradients && !parameters.dummyGradients)
    return nullptr;
  return std::make_unique<GradientCopies>(parameters);
}
