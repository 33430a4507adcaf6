//===- Mesh.cpp - devices and the axis of the pipeline ----------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"
#include "TreeBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace proteus::fuzz;

/// Chooses `mesh`, `pipeline` and `freeAxes`.
static void chooseMesh(Random &random, TreeBuilder &builder) {
  constexpr int64_t maxDevices = 16;
  constexpr const char *names[] = {"x", "y", "z"};
  int64_t rank = random.pick<int64_t>({1, 2, 2, 3, 3, 3});
  int64_t devices = 1;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = random.pick<int64_t>({1, 2, 2, 2, 2, 2, 3, 3, 4});
    size = std::min(size, maxDevices / devices);
    devices *= size;
    builder.tree.mesh.push_back({names[i], size});
  }
  for (auto &[name, size] : builder.tree.mesh)
    if (builder.pipeline.empty() && size >= 2 && size <= builder.model.layers &&
        random.chance(40))
      builder.pipeline = name;
    else
      builder.freeAxes.push_back(name);
}

static void listDevices(Random &random, TreeBuilder &builder) {
  int64_t number = 1;
  for (auto &[name, size] : builder.tree.mesh)
    number *= size;
  for (int64_t i = 0; i < number; ++i)
    builder.tree.devices.push_back(i);
  random.shuffle(builder.tree.devices);
}

void proteus::fuzz::addMesh(Registry &registry) {
  Feature mesh;
  mesh.name = "mesh";
  mesh.changeTree = chooseMesh;
  registry.addFeature(mesh);
  Feature devices;
  devices.name = "list of devices";
  devices.percent = 10;
  devices.changeTree = listDevices;
  devices.remove = [](Case &input) {
    return !std::exchange(input.tree.devices, {}).empty();
  };
  registry.addFeature(devices);
}
