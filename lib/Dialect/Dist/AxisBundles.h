//===- AxisBundles.h - axes that move together ------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joins several axes into one axis, called a bundle, if they have the same role
// in the layout from which a plan starts (`from`) and the same role in the
// layout to which it leads (`to`). The planner of `planReshard` searches on the
// mesh of bundles, so that the axes of a bundle move in one collective.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H
#define PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H

#include "Proteus/Dialect/Dist/LayoutAlgebra.h"

namespace proteus::dist {

/// A mesh on which axes are joined into bundles. Two axes are joined if, in
/// each of the layouts `from` and `to`, they are neighbours on one dimension,
/// or both partial with the same kind of reduction, or both fixed, or both
/// replicated. Axes that both layouts replicate are not joined.
class AxisBundles {
public:
  AxisBundles(const Mesh &mesh, const Layout &from, const Layout &to);

  /// Returns true if at least two axes are joined.
  bool joins() const { return joined.getNumAxes() != mesh.getNumAxes(); }
  const Mesh &getMesh() const { return joined; }
  /// Returns the layout on the joined mesh that is equivalent to `layout`. The
  /// axes of each bundle must have the same role in `layout`.
  Layout fold(const Layout &layout) const;
  /// Return the layout, step or axes on the original mesh that are equivalent
  /// to those on the joined mesh.
  Layout unfold(const Layout &layout) const;
  Step unfold(const Step &step) const;
  AxisList unfold(llvm::ArrayRef<Axis> axes) const;

private:
  const Mesh &mesh;
  Mesh joined;
  /// For each axis of the joined mesh, the axes of `mesh` that are joined in
  /// it, major first.
  llvm::SmallVector<AxisList> members;
};

} // namespace proteus::dist

#endif // PROTEUS_LIB_DIALECT_DIST_AXISBUNDLES_H
