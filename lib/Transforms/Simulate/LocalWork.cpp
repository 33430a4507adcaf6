//===- LocalWork.cpp - work of an operation on one rank -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalWork.h"

#include "Proteus/Dialect/Proteus/Proteus.h"

using namespace mlir;
using namespace proteus;

static machine::DType dtypeOf(Type element) {
  if (element.isF64())
    return machine::DType::F64;
  if (element.isBF16())
    return machine::DType::BF16;
  if (element.isF16())
    return machine::DType::F16;
  if (auto type = dyn_cast<FloatType>(element))
    return type.getWidth() <= 8 ? machine::DType::F8 : machine::DType::F32;
  unsigned width = element.getIntOrFloatBitWidth();
  return width <= 8    ? machine::DType::I8
         : width <= 32 ? machine::DType::I32
                       : machine::DType::I64;
}

Type proteus::convertsInto(Operation *op) {
  auto type = op->getAttrOfType<TypeAttr>(ProteusDialect::computeAttrName);
  return type ? type.getValue() : Type();
}

machine::DType proteus::computeType(Operation *op) {
  if (Type type = convertsInto(op))
    return dtypeOf(type);
  for (Value value : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      if (isa<FloatType>(type.getElementType()))
        return dtypeOf(type.getElementType());
  for (Value value : op->getResults())
    return dtypeOf(dist::tensorTypeOf(value).getElementType());
  return machine::DType::F32;
}

static int64_t sizeOf(const nn::IteratorRanges &ranges) {
  int64_t size = 0;
  for (auto [begin, end] : ranges)
    size += end - begin;
  return size;
}

SmallVector<nn::IteratorRanges>
proteus::heldRanges(Operation *op, const nn::IterationSpace &space,
                    ArrayRef<int64_t> coordinates) {
  SmallVector<nn::IteratorRanges> held;
  for (const nn::Iterator &iterator : space.iterators)
    held.push_back({{0, iterator.size}});
  auto visit = [&](Value value, const nn::TensorIterators &dims) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    // With a flat cut, all tensors of an update have the same list of elements,
    // which the last dimension holds.
    if (dist::LayoutAttr layout = dist::getLayout(type);
        layout && !layout.getValue().flat.empty()) {
      for (auto [size, iterators] :
           llvm::zip_equal(dist::localShape(type, coordinates), dims))
        held[iterators.front()] = {{0, size}};
      return;
    }
    SmallVector<dist::Ranges> local = dist::localRanges(type, coordinates);
    for (auto [dim, iterators] : llvm::enumerate(dims)) {
      if (iterators.empty())
        continue;
      // If several iterators index a dimension, layouts split only the first
      // one, the major iterator.
      int64_t minor = 1;
      for (unsigned iterator : ArrayRef(iterators).drop_front())
        minor *= space.iterators[iterator].size;
      nn::IteratorRanges part;
      for (const dist::Range &range : local[dim])
        part.push_back({range.begin / minor, range.end / minor});
      nn::IteratorRanges &known = held[iterators.front()];
      if (sizeOf(part) < sizeOf(known))
        known = std::move(part);
    }
  };
  for (auto [value, dims] : llvm::zip(op->getOperands(), space.operands))
    visit(value, dims);
  for (auto [value, dims] : llvm::zip(op->getResults(), space.results))
    visit(value, dims);
  return held;
}

bool proteus::isHeldAt(Type type, ArrayRef<int64_t> coordinates) {
  dist::LayoutAttr layout = dist::getLayout(type);
  return !layout || layout.getValue().isHeldAt(coordinates);
}

static bool indexes(const nn::TensorIterators &tensor, unsigned iterator) {
  return llvm::any_of(tensor, [&](const nn::DimIterators &dim) {
    return llvm::is_contained(dim, iterator);
  });
}

/// Returns the indices of the tensors that are read through a sliding window,
/// such as the image of a convolution. No iterator indexes the dimensions along
/// which the window moves.
static SmallVector<unsigned>
windowedOf(ArrayRef<const nn::TensorIterators *> tensors) {
  SmallVector<unsigned> windowed;
  for (auto [t, tensor] : llvm::enumerate(tensors))
    if (llvm::any_of(*tensor,
                     [](const nn::DimIterators &dim) { return dim.empty(); }))
      windowed.push_back(t);
  return windowed;
}

/// Returns the sizes of `op` as a matrix product, or nullopt if `op` is not a
/// matrix product. An iterator belongs to the rows, the columns or the inner
/// dimension, depending on the tensors that it indexes. For example, an
/// iterator of the first operand and the result belongs to the rows.
static std::optional<cost::MatrixProduct>
productOf(nn::IterationSpaceOpInterface op, const nn::IterationSpace &space,
          ArrayRef<nn::IteratorRanges> held) {
  if (space.operands.size() < 2 || space.operands.size() > 3 ||
      space.results.size() != 1 || op.getFlopsPerPoint() != 2)
    return std::nullopt;
  const nn::TensorIterators *tensors[] = {
      &space.operands[0], &space.operands[1], &space.results[0]};
  SmallVector<unsigned> windowed = windowedOf(tensors);
  if (windowed.size() > 1)
    return std::nullopt;
  cost::MatrixProduct product{1, 1, 1, 0, 1};
  for (unsigned i = 0; i < space.iterators.size(); ++i) {
    bool in[3];
    for (unsigned t = 0; t < 3; ++t)
      in[t] = indexes(*tensors[t], i);
    // A tensor with windows counts as the matrix of its windows. This matrix
    // has the iterators that index exactly one of the other two tensors.
    for (unsigned w : windowed)
      in[w] = in[(w + 1) % 3] != in[(w + 2) % 3];
    if (in[0] + in[1] + in[2] < 2)
      return std::nullopt;
    double &size = in[0] && in[2]   ? product.rows
                   : in[1] && in[2] ? product.columns
                                    : product.inner;
    size *= static_cast<double>(sizeOf(held[i]));
    if (in[0] && in[1] && in[2])
      product.batch *= static_cast<double>(sizeOf(held[i]));
  }
  if (space.operands.size() == 3) {
    for (const nn::DimIterators &dim : space.operands[2])
      for (unsigned iterator : dim)
        if (!indexes(*tensors[1], iterator) || !indexes(*tensors[2], iterator))
          return std::nullopt;
    product.biased = product.rows * product.columns;
  }
  return product;
}

/// Returns the sizes of `op` as a convolution, or nullopt if `op` is not a
/// convolution. The meaning of an iterator depends on the tensors that it
/// indexes. For example, an iterator of the image and the weight, but not of
/// the output, indexes input channels.
static std::optional<cost::Convolution>
convolutionOf(nn::IterationSpaceOpInterface op, const nn::IterationSpace &space,
              ArrayRef<nn::IteratorRanges> held) {
  const nn::TensorIterators *tensors[] = {
      &space.operands[0], &space.operands[1], &space.results[0]};
  SmallVector<unsigned> windowed = windowedOf(tensors);
  if (windowed.size() != 1)
    return std::nullopt;
  unsigned image = windowed.front();
  // The weight is operand 1, or operand 0 if operand 1 is the image. The
  // product that computes the gradient of the weight has that gradient as its
  // result, which is `tensors[2]`.
  unsigned weight =
      op.getKernelPass() == nn::KernelPass::WeightGradient ? 2 : 1;
  if (weight == image)
    weight = 0;
  unsigned output = 3 - image - weight;
  cost::Convolution conv;
  SmallVector<double> positions, window;
  for (unsigned i = 0; i < space.iterators.size(); ++i) {
    double size = static_cast<double>(sizeOf(held[i]));
    bool inImage = indexes(*tensors[image], i);
    bool inWeight = indexes(*tensors[weight], i);
    bool inOutput = indexes(*tensors[output], i);
    if (inImage && inWeight)
      (inOutput ? conv.groups : conv.inChannels) *= size;
    else if (inImage)
      conv.batch *= size;
    else if (inWeight && inOutput)
      conv.outChannels *= size;
    else
      (inWeight ? window : positions).push_back(size);
  }
  auto type =
      dist::tensorTypeOf(image < 2 ? op->getOperand(image) : op->getResult(0));
  SmallVector<double> pixels;
  for (auto [dim, iterators] : llvm::enumerate(*tensors[image]))
    if (iterators.empty())
      pixels.push_back(static_cast<double>(type.getDimSize(dim)));
  if (positions.size() != 2 || window.size() != 2 || pixels.size() != 2)
    return std::nullopt;
  conv.outHeight = positions[0];
  conv.outWidth = positions[1];
  conv.kernelHeight = window[0];
  conv.kernelWidth = window[1];
  conv.height = pixels[0];
  conv.width = pixels[1];
  conv.stride = static_cast<double>(op.getWindowStride());
  return conv;
}

/// Returns the sizes of fused attention. All such operations use the same names
/// for their iterators.
static cost::Attention attentionOf(const nn::IterationSpace &space,
                                   ArrayRef<nn::IteratorRanges> held,
                                   double visited) {
  auto size = [&](StringRef name) {
    return static_cast<double>(sizeOf(held[*space.find(name)]));
  };
  cost::Attention attention;
  attention.batch = size("batch");
  attention.heads = size("head") * size("group");
  attention.queries = size("seq");
  attention.keys = size("key");
  attention.keyDim = size("dim");
  attention.valueDim =
      space.find("value_dim") ? size("value_dim") : attention.keyDim;
  attention.visited = visited;
  return attention;
}

static cost::Pass passOf(nn::KernelPass pass) {
  switch (pass) {
  case nn::KernelPass::Forward:
    return cost::Pass::Forward;
  case nn::KernelPass::DataGradient:
    return cost::Pass::DataGradient;
  case nn::KernelPass::WeightGradient:
    return cost::Pass::WeightGradient;
  }
  llvm_unreachable("unknown pass");
}

/// Returns the cost family of a kernel. It depends on the sizes that `kernel`
/// already contains, for example on whether it has sizes of a convolution.
static cost::Family familyOf(nn::KernelFamily family,
                             const cost::Kernel &kernel) {
  switch (family) {
  case nn::KernelFamily::Plain:
    if (!kernel.matrix)
      return cost::Family::Stream;
    return kernel.convolution ? cost::Family::Convolution
           : kernel.product   ? cost::Family::Product
                              : cost::Family::OtherMatrix;
  case nn::KernelFamily::Grouped:
    return kernel.product ? cost::Family::GroupedProduct
                          : cost::Family::OtherMatrix;
  case nn::KernelFamily::Attention:
    return cost::Family::Attention;
  case nn::KernelFamily::Norm:
    return cost::Family::Norm;
  case nn::KernelFamily::Activation:
    return cost::Family::Activation;
  case nn::KernelFamily::Rope:
    return cost::Family::Rope;
  case nn::KernelFamily::Embedding:
    return cost::Family::Embedding;
  case nn::KernelFamily::Softmax:
    return cost::Family::Softmax;
  case nn::KernelFamily::Update:
    return cost::Family::Update;
  }
  llvm_unreachable("unknown family");
}

bool proteus::accumulates(Operation *op) {
  return llvm::any_of(op->getResultTypes(), [](Type type) {
    dist::LayoutAttr layout = dist::getLayout(type);
    return layout && layout.getValue().getPartialKind(dist::microAxis) &&
           layout.getMesh().getValue().getSize(dist::microAxis) > 1;
  });
}

/// Returns the bytes that an operation reads and writes, and sets `written` to
/// the bytes that it writes. If an iterator is sequential, sets `steps` to the
/// size of that iterator.
static double bytesOf(nn::IterationSpaceOpInterface op,
                      const nn::IterationSpace &space,
                      ArrayRef<nn::IteratorRanges> held,
                      ArrayRef<int64_t> coordinates, double &steps,
                      double &written) {
  std::optional<unsigned> sequential;
  if (std::optional<StringRef> name = op.getSequentialIterator())
    sequential = space.find(*name);
  if (sequential)
    steps = static_cast<double>(sizeOf(held[*sequential]));
  written = 0;
  for (Value result : op->getResults())
    written += dist::localBytes(dist::tensorTypeOf(result), coordinates);
  double bytes = written;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    if (!op.readsWholeOperand(i)) {
      bytes += written * op.getReadsPerWrite();
      continue;
    }
    // An operand that the sequential iterator does not index is read again in
    // every step.
    bool again = sequential && !indexes(space.operands[i], *sequential);
    bytes += (again ? steps : 1) *
             dist::localBytes(dist::tensorTypeOf(operand), coordinates);
  }
  return bytes;
}

/// Returns the bytes of the first `count` operands of `op`, in the types in
/// which they are stored.
static double factorBytes(Operation *op, unsigned count,
                          ArrayRef<int64_t> coordinates) {
  double bytes = 0;
  for (Value factor : op->getOperands().take_front(count))
    bytes += dist::localBytes(dist::tensorTypeOf(factor), coordinates);
  return bytes;
}

/// Returns the size of an element of `type` relative to an element of the first
/// operand of `op`: 0.5 for an 8-bit type and a 16-bit operand.
static double narrowing(Operation *op, Type type) {
  return static_cast<double>(type.getIntOrFloatBitWidth()) /
         dist::tensorTypeOf(op->getOperand(0)).getElementTypeBitWidth();
}

Type proteus::narrowTypeOfReaders(Value value) {
  Type narrow;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    Type type = isa<dist::JoinOp>(user)
                    ? narrowTypeOfReaders(user->getResult(0))
                : use.getOperandNumber() < 2 ? convertsInto(user)
                                             : Type();
    if (!type)
      return Type();
    if (!narrow ||
        type.getIntOrFloatBitWidth() > narrow.getIntOrFloatBitWidth())
      narrow = type;
  }
  return narrow;
}

static bool isForActivation(Operation *gather) {
  return dist::getPurpose(gather).value_or(dist::Purpose::Activation) ==
         dist::Purpose::Activation;
}

int64_t proteus::gatheredBits(Value gathered) {
  int64_t bits = dist::tensorTypeOf(gathered).getElementTypeBitWidth();
  if (!isForActivation(gathered.getDefiningOp()))
    return bits;
  Type type = narrowTypeOfReaders(gathered);
  return type ? std::min<int64_t>(bits, type.getIntOrFloatBitWidth()) : bits;
}

/// Returns the number of devices over which the conversion of `value` is split.
/// If `value` is gathered from converted shards, that is the size of the group,
/// else 1.
static int64_t convertedBy(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto join = dyn_cast_if_present<dist::JoinOp>(op))
    op = join.getInputs().front().getDefiningOp();
  auto gather = dyn_cast_if_present<dist::AllGatherOp>(op);
  return gather && isForActivation(gather) &&
                 narrowTypeOfReaders(gather.getResult())
             ? gather.getGroupSize()
             : 1;
}

int64_t proteus::numPieces(Operation *op) {
  auto pieces = op->getAttrOfType<IntegerAttr>(ProteusDialect::piecesAttrName);
  return pieces ? pieces.getInt() : 1;
}

// All pieces count as one product with more rows. The bytes add up, because
// every product reads the weight again. The rows add up, because the products
// run on several streams and one product fills the partial last wave of thread
// blocks of another. The launches do not add up, because one product hides the
// launches of the others.
cost::Kernel proteus::workOfAllPieces(Operation *op, cost::Kernel work) {
  auto count = static_cast<double>(numPieces(op));
  if (!work.product)
    return work;
  work.flops *= count;
  work.bytes *= count;
  work.resultBytes *= count;
  work.product->rows *= count;
  work.product->biased *= count;
  return work;
}

// Follows Transformer Engine. A forward product converts both factors, and also
// stores them transposed for the products of the backward pass. The product for
// the gradient of the input converts the incoming gradient. The product for the
// gradient of the weight converts nothing, because both of its factors are
// converted already.
Conversion proteus::conversionOf(nn::IterationSpaceOpInterface op) {
  bool converts =
      convertsInto(op) && !isa<nn::LinearWgradOp, nn::ExpertLinearWgradOp>(*op);
  bool isGradient = isa<nn::LinearDgradOp, nn::ExpertLinearDgradOp>(*op);
  return {converts, converts && !isGradient};
}

std::optional<cost::Kernel>
proteus::conversionWork(nn::IterationSpaceOpInterface op,
                        ArrayRef<int64_t> coordinates,
                        const Conversion &conversion) {
  if (!conversion.input)
    return std::nullopt;
  Type type = convertsInto(op);
  double read = factorBytes(op, conversion.weights ? 2 : 1, coordinates);
  cost::Kernel kernel;
  kernel.op = nn::CastOp::getOperationName();
  auto parts = static_cast<double>(convertedBy(op->getOperand(0)));
  double gathered = factorBytes(op, 1, coordinates);
  double converted = gathered * narrowing(op, type);
  // The kernel reads the factors. It writes each of them twice in the narrow
  // type: once as it is and once transposed.
  kernel.bytes = read + 2 * read * narrowing(op, type);
  // Each of `parts` devices converts its shard of the first factor before the
  // gather. Every device then reads the gathered factor, converted already, to
  // transpose it.
  if (parts > 1)
    kernel.bytes += (gathered + converted) / parts - gathered;
  kernel.type = dtypeOf(dist::tensorTypeOf(op->getOperand(0)).getElementType());
  return kernel;
}

std::optional<cost::Kernel> proteus::localWork(nn::IterationSpaceOpInterface op,
                                               ArrayRef<int64_t> coordinates) {
  // If the results of an operation exist only at some coordinates, the
  // operation costs nothing at any other coordinates.
  for (Type type : op->getResultTypes())
    if (!isHeldAt(type, coordinates))
      return std::nullopt;
  nn::IterationSpace space = op.getIterationSpace();
  SmallVector<nn::IteratorRanges> held = heldRanges(op, space, coordinates);
  double visited = op.getVisitedShareOf(held);
  // A rank that skips all points launches no kernel. This happens in causal
  // attention if all keys of a rank come after its queries.
  if (visited == 0)
    return std::nullopt;
  double points = visited;
  for (const nn::IteratorRanges &ranges : held)
    points *= static_cast<double>(sizeOf(ranges));
  cost::Kernel kernel;
  kernel.op = op->getName().getStringRef();
  kernel.flops = points * op.getExecutedFlopsPerPoint();
  kernel.bytes =
      bytesOf(op, space, held, coordinates, kernel.steps, kernel.resultBytes);
  if (std::optional<double> perPoint = op.getBytesPerPoint())
    kernel.bytes = points * *perPoint;
  if (Type type = convertsInto(op))
    kernel.bytes -= factorBytes(op, 2, coordinates) * (1 - narrowing(op, type));
  kernel.type = computeType(op);
  kernel.pass = passOf(op.getKernelPass());
  kernel.matrix = op.getKernelClass() == nn::KernelClass::Matrix;
  if (kernel.matrix) {
    kernel.product = productOf(op, space, held);
    if (kernel.product)
      kernel.convolution = convolutionOf(op, space, held);
    if (op.getKernelFamily() == nn::KernelFamily::Attention)
      kernel.attention = attentionOf(space, held, visited);
    kernel.accumulates = accumulates(op);
  }
  kernel.family = familyOf(op.getKernelFamily(), kernel);
  return kernel;
}
