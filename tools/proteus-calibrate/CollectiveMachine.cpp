//===- CollectiveMachine.cpp - constants for a user's machine -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

#include "CollectiveReport.h"
#include "Fit.h"

#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::calibrate;
using machine::CollectiveConstants;

/// With fewer rows of a collective, a fit only shifts and stretches the curves
/// of the architecture. More rows also determine their shape.
static constexpr size_t fewRows = 24;

static Expected<machine::Cluster> readCluster(StringRef text) {
  if (machine::isClusterPreset(text))
    return machine::parseClusterPreset(text);
  Expected<std::string> contents = readInput(text);
  if (!contents)
    return contents.takeError();
  return machine::parseClusterJSON(*contents, text, [&](StringRef name) {
    SmallString<128> path(sys::path::parent_path(text));
    sys::path::append(path, name);
    return readInput(path);
  });
}

static Samples selected(ArrayRef<Sample> samples, bool acrossNodes) {
  Samples chosen;
  for (const Sample &sample : samples)
    if ((sample.nodes > 1) == acrossNodes)
      chosen.push_back(sample);
  return chosen;
}

/// Fits each collective that has rows. The worst error of the rings in unseen
/// octaves becomes the error of the constants.
static void fitInside(Measured &machine, CollectiveConstants &constants) {
  SizeErrors all;
  for (Block block : allBlocks) {
    Samples samples = samplesOf(machine, block);
    if (samples.empty())
      continue;
    bool few = samples.size() < fewRows || block == Block::Message;
    Judgement own = judge(machine, block, constants, few);
    SizeErrors before = errorsWith(machine, block, constants);
    constants = fitBlock(
        block, constants, {&machine}, [](const Sample &) { return true; }, few);
    errs() << formatv(
        "{0}: {1} rows; before {2}, fitted {3}, octaves unseen {4} %\n",
        calibrate::nameOf(samples.front().kind), samples.size(),
        inPercent(before), inPercent(own.fit), inPercent(own.octaves));
    if (block == Block::AllToAll || block == Block::Message)
      continue;
    all.small = std::max(all.small, own.octaves.small);
    all.medium = std::max(all.medium, own.octaves.medium);
    all.large = std::max(all.large, own.octaves.large);
  }
  double errors[] = {all.small, all.medium, all.large};
  for (unsigned i = 0; i < 3; ++i)
    if (errors[i] >= 0)
      constants.relativeError[i] = calibrate::rounded(errors[i], 2);
}

Error proteus::calibrate::calibrateMachine(StringRef rows,
                                           StringRef clusterText) {
  Expected<Samples> samples = readRows(rows);
  if (!samples)
    return samples.takeError();
  Expected<machine::Cluster> cluster = readCluster(clusterText);
  if (!cluster)
    return cluster.takeError();
  if (!cluster->hasOneKind())
    return createStringError(cluster->name +
                             ": there are several kinds of nodes; fit a "
                             "cluster of one kind at a time");
  if (cluster->kinds[0].collectives.ringsOnly)
    return createStringError(
        cluster->name + ": its collectives follow from its two links; describe "
                        "the inside of its nodes ('node') to fit constants");
  CollectiveConstants constants = cluster->kinds[0].collectives;
  Samples inside = selected(*samples, false), across = selected(*samples, true);
  if (!inside.empty()) {
    Expected<std::unique_ptr<Measured>> machine =
        Measured::create(rows.str(), *cluster, inside);
    if (!machine)
      return machine.takeError();
    fitInside(**machine, constants);
  }
  errs() << "errors below 1 MiB / from 1 MiB / from 16 MiB\n";
  if (!across.empty()) {
    cluster->kinds[0].collectives = constants;
    Expected<std::unique_ptr<Measured>> machine =
        Measured::create(rows.str(), *cluster, across);
    if (!machine)
      return machine.takeError();
    NetworkFit fit = fitNetwork(**machine, [](const Sample &) { return true; });
    constants = fit.constants;
    (*machine)->setFabricEfficiency(fit.efficiency);
    errs() << formatv(
        "several nodes: {0} rows; fitted {1} %\nfor the cluster: \"fabric\": "
        "{{\"efficiency\": {2}}\n",
        across.size(),
        inPercent(errorsOf(across, predict(**machine, constants, across))),
        fit.efficiency);
  }
  machine::printConstants(constants, "fitted to " + rows.str(), outs());
  return Error::success();
}
