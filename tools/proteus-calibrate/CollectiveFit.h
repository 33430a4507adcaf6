//===- CollectiveFit.h - constants of collectives from times ----*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_CALIBRATE_COLLECTIVEFIT_H
#define PROTEUS_CALIBRATE_COLLECTIVEFIT_H

#include "CollectiveTables.h"

#include "Proteus/Machine/Cluster.h"
#include "Proteus/Network/Communicator.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace proteus::calibrate {

/// Measurements of one machine, and the cluster that predicts them: with the
/// code that simulations use.
class Measured {
public:
  /// Fails if the cluster has fewer devices than a sample needs.
  static llvm::Expected<std::unique_ptr<Measured>>
  create(std::string name, machine::Cluster cluster, Samples samples);

  const std::string &getName() const { return name; }
  const Samples &getSamples() const { return samples; }
  machine::CollectiveConstants &constants() {
    return cluster.kinds[0].collectives;
  }
  /// The share of its NICs that the site reaches. Plans of several nodes are
  /// made anew.
  void setFabricEfficiency(double efficiency);
  double getFabricEfficiency() const { return cluster.fabric.efficiency; }

  /// What the present constants say.
  double seconds(const Sample &sample);

private:
  Measured(std::string name, machine::Cluster cluster, Samples samples)
      : name(std::move(name)), cluster(std::move(cluster)),
        samples(std::move(samples)) {}

  std::string name;
  machine::Cluster cluster;
  Samples samples;
  std::map<std::pair<int64_t, int64_t>, std::unique_ptr<net::Communicator>>
      groups; ///< by nodes and ranks
};

/// Constants that are fitted together, as the times of some collectives depend
/// on them only.
enum class Block : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Message,
};
constexpr Block allBlocks[] = {Block::AllReduce, Block::AllGather,
                               Block::ReduceScatter, Block::AllToAll,
                               Block::Message};
Block blockOf(cost::CollectiveKind kind);

/// Figures in the middle of what machines have, to begin with.
machine::CollectiveConstants typicalConstants(bool inSwitch);

/// Which samples of a machine count.
using Choice = llvm::function_ref<bool(const Sample &)>;

/// The constants of `start` with those of `block` fitted to what is chosen of
/// `machines`, each machine with the same weight; what these do not say stays
/// near `start`. `few`: only what shifts and stretches curves, not their form.
machine::CollectiveConstants fitBlock(Block block,
                                      const machine::CollectiveConstants &start,
                                      llvm::ArrayRef<Measured *> machines,
                                      Choice chosen, bool few = false);

/// Constants between nodes and the share of NICs that one site reaches.
struct NetworkFit {
  machine::CollectiveConstants constants;
  double efficiency = 0;
};
NetworkFit fitNetwork(Measured &machine, Choice chosen);

/// Mean |predicted / measured - 1| by size; negative = there are no rows.
struct SizeErrors {
  double small = -1;  ///< below 1 MiB
  double medium = -1; ///< below 16 MiB
  double large = -1;
  double above = -1; ///< medium and large: from 1 MiB
};
SizeErrors errorsOf(llvm::ArrayRef<Sample> samples,
                    llvm::ArrayRef<double> predicted);

/// How far rows below 1 MiB are from the line through their neighbours in size,
/// in logarithms: what no smooth curve can follow. Negative = there are none.
double scatterOf(llvm::ArrayRef<Sample> samples);

/// Octave of a size: 2^20 is in octave 20.
int64_t octaveOf(int64_t bytes);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_COLLECTIVEFIT_H
