//===- SimulateRemarks.cpp - a remark with the cost of every operation ----===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulateRemarks.h"

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/NN/NN.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace proteus;

constexpr StringLiteral category = "proteus-simulate";

/// The executions of an operation that have the same cost, as one row.
struct SimulateRemarks::Row {
  sim::Time time = 0; ///< time of one execution if nothing slows it
  const sim::Collective *collective = nullptr;
  StringRef boundBy;
  int64_t count = 0; ///< executions per step and device

  bool costsLike(const Row &other) const {
    return time == other.time && !collective == !other.collective &&
           (!collective ||
            (collective->algorithm == other.collective->algorithm &&
             collective->bytes == other.collective->bytes));
  }
};

SimulateRemarks::Row SimulateRemarks::rowOf(const sim::Workload &workload,
                                            const TaskOrigin &origin) const {
  sim::TaskInstance instance;
  instance.classIndex = origin.classIndex;
  instance.task = origin.task;
  instance.once = origin.once;
  const sim::Task &task = instance.in(workload);
  bool runsOnce = origin.once || task.when != sim::When::Always;
  Row row;
  row.time = task.duration;
  row.boundBy = origin.boundBy;
  row.count = runsOnce ? 1 : workload.info.microBatches;
  if (task.collective >= 0) {
    row.time = timesAlone[task.collective];
    row.collective = &workload.collectives[task.collective];
  }
  return row;
}

static std::string microseconds(sim::Time time) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.3f", static_cast<double>(time) / 1e6);
  return text;
}

void SimulateRemarks::emit(const sim::Workload &workload) const {
  using Rows = SmallVector<Row, 1>;
  llvm::MapVector<Operation *, llvm::MapVector<uint32_t, Rows>> byOperation;
  for (const TaskOrigin &origin : origins) {
    Rows &rows = byOperation[origin.op][origin.classIndex];
    Row row = rowOf(workload, origin);
    auto like = llvm::find_if(
        rows, [&](const Row &other) { return row.costsLike(other); });
    if (like == rows.end())
      rows.push_back(row);
    else
      like->count += row.count;
  }
  auto total = [](const Rows &rows) {
    sim::Time sum = 0;
    for (const Row &row : rows)
      sum += row.time * row.count;
    return sum;
  };
  for (auto &[op, byClass] : byOperation) {
    const Rows *slowest = &byClass.front().second;
    for (auto &[number, rows] : byClass)
      if (total(rows) > total(*slowest))
        slowest = &rows;
    auto options =
        remark::RemarkOpts::name(op->getName().getStringRef())
            .category(category)
            .function(op->getParentOfType<dist::ProgramOp>().getSymName());
    for (const Row &row : *slowest) {
      auto remark = remark::analysis(op->getLoc(), options);
      remark << remark::metric("Path", nn::getPath(op))
             << remark::metric("TimeUs", microseconds(row.time))
             << remark::metric("Count", row.count);
      if (!row.boundBy.empty())
        remark << remark::metric("BoundBy", row.boundBy);
      if (const sim::Collective *collective = row.collective)
        remark << remark::metric("Collective", collective->kindAndAxes())
               << remark::metric("Bytes", collective->bytes)
               << remark::metric("Algorithm", collective->algorithm);
    }
  }
}
