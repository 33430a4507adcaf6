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

/// Measurements of one machine, and its cluster. The code that simulations use
/// predicts their times.
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
  /// Sets the share of the bandwidth of its NICs that the site reaches. Builds
  /// the communicators of several nodes again, because their plans depend on
  /// it.
  void setFabricEfficiency(double efficiency);
  double getFabricEfficiency() const { return cluster.fabric.efficiency; }

  /// Returns the time that the present constants predict.
  double seconds(const Sample &sample);

private:
  Measured(std::string name, machine::Cluster cluster, Samples samples)
      : name(std::move(name)), cluster(std::move(cluster)),
        samples(std::move(samples)) {}

  std::string name;
  machine::Cluster cluster;
  Samples samples;
  std::map<std::pair<int64_t, int64_t>, std::unique_ptr<net::Communicator>>
      groups; ///< by number of nodes and of ranks
};

/// Constants that are fitted together because the times of some collectives
/// depend on them only.
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

/// Returns typical constants of machines, the starting point of fits.
machine::CollectiveConstants typicalConstants(bool inSwitch);

/// Selects the samples of a machine that a fit uses.
using Choice = llvm::function_ref<bool(const Sample &)>;

/// Returns `start` with the constants of `block` fitted to the chosen samples
/// of `machines`. Each machine has the same weight. Constants that the samples
/// do not determine stay near `start`. With `few`, only constants that shift
/// and stretch curves are fitted, not those that change their shape.
machine::CollectiveConstants fitBlock(Block block,
                                      const machine::CollectiveConstants &start,
                                      llvm::ArrayRef<Measured *> machines,
                                      Choice chosen, bool few = false);

/// Constants between nodes, and the share of the bandwidth of its NICs that one
/// site reaches.
struct NetworkFit {
  machine::CollectiveConstants constants;
  double efficiency = 0;
};
NetworkFit fitNetwork(Measured &machine, Choice chosen);

/// Mean |predicted / measured - 1| by size of the message; negative: no rows.
struct SizeErrors {
  double small = -1;  ///< below 1 MiB
  double medium = -1; ///< below 16 MiB
  double large = -1;
  double above = -1; ///< all rows from 1 MiB (medium and large)
};
SizeErrors errorsOf(llvm::ArrayRef<Sample> samples,
                    llvm::ArrayRef<double> predicted);

/// Returns the mean relative distance of rows below 1 MiB from the line through
/// their neighbours in size, in logarithms: the error that no smooth curve can
/// avoid. Negative: no such rows.
double scatterOf(llvm::ArrayRef<Sample> samples);

/// Returns the octave of a size: 2^20 is in octave 20.
int64_t octaveOf(int64_t bytes);

} // namespace proteus::calibrate

#endif // PROTEUS_CALIBRATE_COLLECTIVEFIT_H
