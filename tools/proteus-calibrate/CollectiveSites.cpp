//===- CollectiveSites.cpp - networks of measured sites -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveSites.h"

#include "CollectiveReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <iterator>

using namespace llvm;
using namespace proteus;
using namespace proteus::calibrate;
using cost::CollectiveKind;
using machine::CollectiveConstants;

static Expected<std::unique_ptr<Measured>>
readSite(StringRef name, StringRef preset, Expected<Samples> samples,
         const CollectiveConstants &constants) {
  if (!samples)
    return samples.takeError();
  Expected<machine::Cluster> cluster = machine::parseClusterPreset(preset);
  if (!cluster)
    return cluster.takeError();
  cluster->kinds[0].collectives = constants;
  return Measured::create(name.str(), std::move(*cluster), std::move(*samples));
}

/// Fits the network of one site, as its profile would state it: constants
/// between nodes and the share of the bandwidth of its NICs.
static NetworkFit judgeSite(Measured &site, Choice chosen) {
  const Samples &samples = site.getSamples();
  CollectiveConstants kept = site.constants();
  double before = site.getFabricEfficiency();
  auto secondsWith = [&](const NetworkFit &fit, ArrayRef<Sample> rows) {
    site.setFabricEfficiency(fit.efficiency);
    std::vector<double> seconds = predict(site, fit.constants, rows);
    site.setFabricEfficiency(before);
    return seconds;
  };
  NetworkFit fit = fitNetwork(site, chosen);
  // Hold out sizes if there are several of them, or else numbers of nodes.
  auto isUnseen = [&](const Sample &sample, int64_t fold) {
    bool hasSizes = samples.front().bytes != samples.back().bytes;
    return octaveOf(hasSizes ? sample.bytes : sample.nodes) % 2 == fold;
  };
  Samples unseen;
  std::vector<double> seconds;
  for (int64_t fold : {0, 1}) {
    NetworkFit half = fitNetwork(
        site, [&](const Sample &sample) { return !isUnseen(sample, fold); });
    Samples rows;
    llvm::copy_if(samples, std::back_inserter(rows),
                  [&](const Sample &sample) { return isUnseen(sample, fold); });
    llvm::append_range(seconds, secondsWith(half, rows));
    llvm::append_range(unseen, rows);
  }
  SizeErrors octaves = errorsOf(unseen, seconds);
  Samples rows;
  llvm::copy_if(samples, std::back_inserter(rows), chosen);
  std::string misses = missed(octaves);
  outs() << formatv(
      "{0}: fitted {1}, octaves unseen {2}, defaults {3}{4}\n"
      "  network base {5:f1} us, hop {6:f1} us, share of the NICs {7}\n",
      site.getName(), inPercent(errorsOf(rows, secondsWith(fit, rows))),
      inPercent(octaves), inPercent(errorsOf(rows, predict(site, kept, rows))),
      misses.empty() ? "" : "; missed: " + misses,
      fit.constants.networkBase * 1e6, fit.constants.networkHop * 1e6,
      fit.efficiency);
  return fit;
}

/// Fits the network of the site of the Ultra-Scale Playbook and prints its
/// errors: one size on 2 to 64 nodes.
static Error judgeUltraScale(const CollectiveConstants &hopper,
                             const std::string &directory) {
  Expected<std::unique_ptr<Measured>> site =
      readSite("Ultra-Scale H100, 2-64 nodes", "dgx-h100:64",
               readUltraScale(directory +
                              "ultrascale_comm_bandwidth_256MB_by_nodes.json"),
               hopper);
  if (!site)
    return site.takeError();
  const Samples &samples = (*site)->getSamples();
  // All-reduces vary tenfold from run to run there, so they are predicted and
  // not fitted.
  NetworkFit fit = judgeSite(**site, [](const Sample &sample) {
    return sample.kind != CollectiveKind::AllReduce;
  });
  std::vector<double> plain = predict(**site, hopper, samples);
  (*site)->setFabricEfficiency(fit.efficiency);
  std::vector<double> fitted = predict(**site, fit.constants, samples);
  for (size_t i = 0; i < samples.size(); ++i) {
    const Sample &sample = samples[i];
    double ranks = static_cast<double>(sample.ranks);
    double moved = static_cast<double>(sample.bytes) * (ranks - 1) / ranks *
                   (sample.kind == CollectiveKind::AllReduce ? 2 : 1) / 1e9;
    outs() << formatv("  {0,-14} {1,2} nodes: busbw {2,5:f1} GB/s measured, "
                      "{3,5:f1} fitted, {4,5:f1} with the defaults\n",
                      calibrate::nameOf(sample.kind), sample.nodes,
                      moved / sample.seconds, moved / fitted[i],
                      moved / plain[i]);
  }
  return Error::success();
}

Error proteus::calibrate::judgeSites(const CollectiveConstants &hopper,
                                     const CollectiveConstants &blackwell,
                                     const std::string &directory) {
  outs() << "\nSeveral nodes\n";
  if (Error error = judgeUltraScale(hopper, directory))
    return error;
  Expected<std::unique_ptr<Measured>> site = readSite(
      "ML Engineering B200, 4 nodes, EFA", "dgx-b200:4",
      readBook(directory + "ml_engineering_collective_busbw.csv", "B200", 4),
      blackwell);
  if (!site)
    return site.takeError();
  judgeSite(**site, [](const Sample &) { return true; });
  return Error::success();
}
