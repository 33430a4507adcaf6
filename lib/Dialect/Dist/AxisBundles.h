//===- AxisBundles.h - axes that move together ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins axes that have the same role in two layouts to one axis, called a
// bundle. The planner of layouts searches on the mesh of bundles, so that the
// axes of a bundle move in one collective.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H
#define PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

namespace proteus::dist {

/// A mesh on which axes are joined to bundles. In each of the two layouts, the
/// axes of a bundle must either be neighbours on one dimension, or both be
/// partial with the same kind of reduction, or both be fixed, or both be
/// replicated. Axes that both layouts replicate are not joined.
class AxisBundles {
public:
  AxisBundles(const Mesh &mesh, const Layout &from, const Layout &to);

  /// Returns true if at least two axes are joined.
  bool joins() const { return joined.getNumAxes() != mesh.getNumAxes(); }
  const Mesh &getMesh() const { return joined; }
  /// Returns the layout on the joined mesh that is equivalent to `layout`. In
  /// `layout`, the axes of a bundle must have the same role.
  Layout fold(const Layout &layout) const;
  /// Return the layout, step or axes on the original mesh that are equivalent
  /// to those on the joined mesh.
  Layout unfold(const Layout &layout) const;
  Step unfold(const Step &step) const;
  AxisList unfold(llvm::ArrayRef<Axis> axes) const;

private:
  const Mesh &mesh;
  Mesh joined;
  /// For each axis of the joined mesh, the original axes, major first.
  llvm::SmallVector<AxisList> members;
};

} // namespace proteus::dist

#endif // PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H
