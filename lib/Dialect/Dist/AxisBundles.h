//===- AxisBundles.h - axes that move together ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Axes that two layouts treat alike, joined to one axis. The planner of layouts
// searches on the joined mesh, so that such axes move in one collective.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H
#define PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

namespace proteus::dist {

/// A mesh on which axes that two layouts treat alike are joined to one axis. In
/// each of the two layouts, the axes must be neighbours on one dimension, or
/// both be partial in the same way, fixed, or replicated. Axes that both
/// layouts replicate are not joined.
class AxisBundles {
public:
  AxisBundles(const Mesh &mesh, const Layout &from, const Layout &to);

  /// Returns true if any axes are joined.
  bool joins() const { return joined.getNumAxes() != mesh.getNumAxes(); }
  const Mesh &getMesh() const { return joined; }
  /// Returns the layout on the joined mesh. The layout must treat the axes of
  /// each bundle alike.
  Layout fold(const Layout &layout) const;
  /// Returns the layout, step or axes of the joined mesh on the original mesh.
  Layout unfold(const Layout &layout) const;
  Step unfold(const Step &step) const;
  AxisList unfold(llvm::ArrayRef<Axis> axes) const;

private:
  const Mesh &mesh;
  Mesh joined;
  /// Per axis of the joined mesh, the original axes, major first.
  llvm::SmallVector<AxisList> members;
};

} // namespace proteus::dist

#endif // PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H
