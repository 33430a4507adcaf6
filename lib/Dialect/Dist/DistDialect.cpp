//===- DistDialect.cpp - registration and dialect interfaces --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Dialect/Dist/Dist.h"
#include "Proteus/Dialect/Proteus/Proteus.h"

#include "mlir/Interfaces/FoldInterfaces.h"

using namespace mlir;
using namespace proteus::dist;

#include "Proteus/Dialect/Dist/DistDialect.cpp.inc"

namespace {
/// Gives each mesh and each layout an alias, so that it is printed once, at the
/// top of the file.
struct DistAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<MeshAttr>(attr))
      os << "mesh";
    else if (isa<LayoutAttr>(attr))
      os << "layout";
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};

/// Puts constants that folding creates into the section that uses them, because
/// a program may contain only sections.
struct DistFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  bool shouldMaterializeInto(Region *region) const override {
    return isa<SectionOp>(region->getParentOp());
  }
};

/// Determines which collectives and copies may have the attributes
/// `proteus.once`, `proteus.prefetch` and `proteus.exchange`.
struct DistAttributePlaces : proteus::AttributePlaceInterface {
  using AttributePlaceInterface::AttributePlaceInterface;

  bool mayCarry(Operation *op, StringRef name) const override {
    using proteus::ProteusDialect;
    if (name == ProteusDialect::onceAttrName)
      return isa<AllGatherOp>(op);
    if (name == ProteusDialect::prefetchAttrName)
      return isa<AllGatherOp, FusedGatherOp, FetchOp>(op);
    return name == ProteusDialect::exchangeAttrName &&
           isa<AllGatherOp, ReduceScatterOp, AllReduceOp>(op);
  }
};
} // namespace

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "Proteus/Dialect/Dist/DistOps.cpp.inc"
      >();
  addInterfaces<DistAsmInterface, DistFoldInterface, DistAttributePlaces>();
}
