//===- OrderTransfers.cpp - order of messages between stages --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderTransfers.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace proteus;

namespace {

/// Finds the kernels that read values first.
class FirstReads {
public:
  explicit FirstReads(func::FuncOp function) {
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      numbers[op] = ops.size();
      ops.push_back(op);
    });
  }

  /// The number of the kernel that reads a value first, and the operand of this
  /// kernel.
  using Read = std::pair<size_t, size_t>;
  static constexpr size_t none = std::numeric_limits<size_t>::max();

  /// Returns the first read of `value`, directly or through communication. Its
  /// kernel is `none` if no kernel reads the value.
  Read find(Value value) {
    if (auto known = found.find(value); known != found.end())
      return known->second;
    Read first = {none, 0};
    for (OpOperand &use : value.getUses())
      first = std::min(first, find(use));
    return found[value] = first;
  }

  Operation *kernelOf(Read read) const { return ops[read.first]; }

private:
  Read find(OpOperand &use) {
    Operation *op = use.getOwner();
    size_t number = use.getOperandNumber();
    if (isa<nn::RepeatOp, nn::RecomputeOp>(op))
      return find(op->getRegion(0).getArgument(number));
    if (isa<nn::IterationSpaceOpInterface>(op))
      return {numbers.lookup(op), number};
    Read first = {none, 0};
    for (Value result : op->getResults())
      first = std::min(first, find(result));
    return first;
  }

  DenseMap<Operation *, size_t> numbers;
  std::vector<Operation *> ops;
  DenseMap<Value, Read> found;
};

/// A transfer with the first read of its value.
using ReadTransfer = std::pair<FirstReads::Read, dist::TransferOp>;

} // namespace

/// Moves `transfers`, and the communication that reads their values before
/// `reader`, to the positions directly before `reader`.
static void moveBefore(Operation *reader, ArrayRef<ReadTransfer> transfers) {
  llvm::SetVector<Operation *> moved;
  for (auto [read, transfer] : transfers)
    moved.insert(transfer);
  for (size_t i = 0; i < moved.size(); ++i)
    for (Operation *user : moved[i]->getUsers())
      if (user->getBlock() == reader->getBlock() &&
          user->isBeforeInBlock(reader))
        moved.insert(user);
  // Transfers are first in the list and keep the order of the list. Their
  // readers keep their present order.
  SmallVector<Operation *> readers(moved.begin() + transfers.size(),
                                   moved.end());
  llvm::sort(readers,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (auto [read, transfer] : transfers)
    transfer->moveBefore(reader);
  for (Operation *op : readers)
    op->moveBefore(reader);
}

void proteus::orderTransfers(func::FuncOp function) {
  FirstReads reads(function);
  llvm::MapVector<Operation *, SmallVector<ReadTransfer>> groups;
  Block &block = function.front();
  for (auto transfer : block.getOps<dist::TransferOp>()) {
    FirstReads::Read read = reads.find(transfer.getResult());
    if (read.first == FirstReads::none)
      continue;
    Operation *reader = block.findAncestorOpInBlock(*reads.kernelOf(read));
    if (reader->getNumRegions() > 0)
      groups[reader].push_back({read, transfer});
  }
  for (auto &[reader, transfers] : groups) {
    auto isEarlier = [](const ReadTransfer &a, const ReadTransfer &b) {
      if (a.first != b.first)
        return a.first < b.first;
      dist::TransferOp first = a.second;
      return first->isBeforeInBlock(b.second);
    };
    if (llvm::is_sorted(transfers, isEarlier))
      continue;
    llvm::sort(transfers, isEarlier);
    moveBefore(reader, transfers);
  }
}
