//===- AxisBundles.h - axes that move together ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H
#define PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

namespace proteus::dist {

/// A mesh on which axes that two layouts treat alike are one axis: those that
/// both are reduced away, or are neighbours on one dimension before, after, or
/// both, with the same fate otherwise.
class AxisBundles {
public:
  AxisBundles(const Mesh &mesh, const Layout &from, const Layout &to);

  /// Whether any axes were joined.
  bool joins() const { return joined.getNumAxes() != mesh.getNumAxes(); }
  const Mesh &getMesh() const { return joined; }
  /// A layout in which bundles are not torn apart, on the joined mesh.
  Layout fold(const Layout &layout) const;
  /// What the joined mesh says, on the mesh itself.
  Layout unfold(const Layout &layout) const;
  Step unfold(const Step &step) const;
  AxisList unfold(llvm::ArrayRef<Axis> axes) const;

private:
  const Mesh &mesh;
  Mesh joined;
  /// The axes of every axis of the joined mesh, major first.
  llvm::SmallVector<AxisList> members;
};

} // namespace proteus::dist

#endif // PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H
