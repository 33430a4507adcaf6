//===- CollectiveFit.cpp - constants of collectives from times ------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveFit.h"

#include "Fit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

using namespace llvm;
using namespace proteus;
using namespace proteus::calibrate;
using cost::CollectiveKind;
using machine::CollectiveConstants;
using machine::RingConstants;

//===----------------------------------------------------------------------===//
// Predictions
//===----------------------------------------------------------------------===//

static std::vector<int64_t> devicesOf(const machine::Cluster &cluster,
                                      const Sample &sample) {
  std::vector<int64_t> devices;
  for (int64_t node = 0; node < sample.nodes; ++node)
    for (int64_t i = 0; i < sample.ranks / sample.nodes; ++i)
      devices.push_back(node * cluster.devicesPerNode() + i);
  return devices;
}

Expected<std::unique_ptr<Measured>>
Measured::create(std::string name, machine::Cluster cluster, Samples samples) {
  for (const Sample &sample : samples)
    if (sample.nodes > cluster.numNodes() ||
        sample.ranks / sample.nodes > cluster.devicesPerNode())
      return createStringError(
          name + ": " + Twine(sample.ranks) + " devices on " +
          Twine(sample.nodes) + " node(s) were measured, but the cluster '" +
          cluster.name + "' has " + Twine(cluster.numNodes()) + " node(s) of " +
          Twine(cluster.devicesPerNode()));
  std::unique_ptr<Measured> measured(
      new Measured(std::move(name), std::move(cluster), std::move(samples)));
  for (const Sample &sample : measured->samples) {
    auto &group = measured->groups[{sample.nodes, sample.ranks}];
    if (group)
      continue;
    Expected<std::unique_ptr<net::Communicator>> made =
        net::Communicator::create(measured->cluster,
                                  devicesOf(measured->cluster, sample));
    if (!made)
      return made.takeError();
    group = std::move(*made);
  }
  return measured;
}

void Measured::setFabricEfficiency(double efficiency) {
  cluster.fabric.efficiency = efficiency;
  for (auto &[key, group] : groups)
    if (key.first > 1)
      group = cantFail(net::Communicator::create(
          cluster, devicesOf(cluster, {CollectiveKind::AllReduce, key.second,
                                       key.first, 0, 0})));
}

double Measured::seconds(const Sample &sample) {
  return cost::toSeconds(groups.at({sample.nodes, sample.ranks})
                             ->plan(sample.kind, sample.bytes)
                             .alone());
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
constexpr double us = 1e-6, rootUs = 1e-3, gigabytes = 1e9;

/// A constant to fit, with its unit and its bounds in this unit.
struct Slot {
  std::function<double &(CollectiveConstants &)> value;
  double unit, low, high;

  double in(CollectiveConstants constants) const {
    return std::clamp(value(constants) / unit, low, high);
  }
};
} // namespace

Block proteus::calibrate::blockOf(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return Block::AllReduce;
  case CollectiveKind::AllGather:
    return Block::AllGather;
  case CollectiveKind::ReduceScatter:
    return Block::ReduceScatter;
  case CollectiveKind::AllToAll:
    return Block::AllToAll;
  default:
    return Block::Message;
  }
}

static void addRing(std::vector<Slot> &slots,
                    RingConstants CollectiveConstants::*ring, bool few) {
  auto of = [ring](double RingConstants::*field) {
    return [=](CollectiveConstants &c) -> double & { return c.*ring.*field; };
  };
  slots.push_back({of(&RingConstants::lowBase), us, 0.1, 200});
  slots.push_back({of(&RingConstants::simpleBase), us, 0.1, 200});
  slots.push_back({of(&RingConstants::efficiency), 1, 0.5, 1.3});
  if (few)
    return;
  slots.push_back({of(&RingConstants::lowHop), us, 0.01, 20});
  slots.push_back({of(&RingConstants::lowEfficiency), 1, 0.02, 1});
  slots.push_back({of(&RingConstants::simpleHop), us, 0.01, 20});
  slots.push_back({of(&RingConstants::simpleFill), rootUs, 0.001, 30});
  slots.push_back({of(&RingConstants::extra), 1, 0.01, 1});
}

static void addInSwitch(std::vector<Slot> &slots, bool few) {
  using InSwitch = CollectiveConstants::InSwitch;
  auto of = [](double InSwitch::*field) {
    return [=](CollectiveConstants &c) -> double & {
      return (*c.inSwitch).*field;
    };
  };
  slots.push_back({of(&InSwitch::base), us, 1, 200});
  slots.push_back({of(&InSwitch::efficiency), 1, 0.4, 1.2});
  if (few)
    return;
  slots.push_back({of(&InSwitch::groupExponent), 1, 0.001, 1});
  slots.push_back({of(&InSwitch::fill), rootUs, 0.001, 30});
}

static std::vector<Slot> slotsOf(Block block, const CollectiveConstants &start,
                                 bool few) {
  using C = CollectiveConstants;
  auto of = [](double C::*field) {
    return [=](C &c) -> double & { return c.*field; };
  };
  std::vector<Slot> slots;
  switch (block) {
  case Block::AllReduce:
    addRing(slots, &C::allReduce, few);
    if (start.inSwitch)
      addInSwitch(slots, few);
    break;
  case Block::AllGather:
    addRing(slots, &C::allGather, few);
    break;
  case Block::ReduceScatter:
    addRing(slots, &C::reduceScatter, few);
    break;
  case Block::AllToAll:
    slots.push_back({of(&C::exchangeBase), us, 0.1, 200});
    slots.push_back({of(&C::exchangeEfficiency), 1, 0.3, 1.3});
    if (few)
      break;
    slots.push_back({of(&C::exchangeHop), us, 0.001, 20});
    slots.push_back({of(&C::exchangeExtra), 1, 0.01, 1});
    slots.push_back({of(&C::exchangeFill), rootUs, 0.001, 30});
    if (start.exchangeLowChannel > 0) {
      slots.push_back({of(&C::exchangeChannel), gigabytes, 5, 100});
      slots.push_back({of(&C::exchangeLowChannel), gigabytes, 1, 100});
    }
    break;
  case Block::Message:
    slots.push_back({of(&C::messageBase), us, 0.1, 200});
    slots.push_back({of(&C::messageEfficiency), 1, 0.3, 1});
    if (few)
      break;
    slots.push_back({of(&C::messageChannel), gigabytes, 5, 100});
    if (start.messageLowChannel > 0)
      slots.push_back({of(&C::messageLowChannel), gigabytes, 1, 100});
    break;
  }
  return slots;
}

CollectiveConstants proteus::calibrate::typicalConstants(bool inSwitch) {
  CollectiveConstants c;
  RingConstants ring;
  ring.lowBase = 10 * us, ring.lowHop = 2 * us, ring.lowEfficiency = 0.4;
  ring.simpleBase = 20 * us, ring.simpleHop = 2 * us;
  ring.simpleFill = 1 * rootUs;
  ring.extra = 0.3, ring.efficiency = 0.95;
  c.allReduce = c.allGather = c.reduceScatter = ring;
  c.exchangeBase = 30 * us, c.exchangeHop = 0.1 * us, c.exchangeExtra = 0.3;
  c.exchangeEfficiency = 0.95, c.exchangeFill = 2 * rootUs;
  if (inSwitch)
    c.inSwitch = {40 * us, 0.8, 0.05, 3 * rootUs};
  c.messageBase = 10 * us, c.messageChannel = 15.7 * gigabytes;
  c.messageEfficiency = 0.95;
  return c;
}

/// Sets the constants of `slots`. Final values have three digits, because no
/// source has more.
static void assign(CollectiveConstants &constants, ArrayRef<Slot> slots,
                   ArrayRef<double> values, bool isFinal) {
  for (auto [slot, value] : llvm::zip_equal(slots, values))
    slot.value(constants) =
        (isFinal ? calibrate::rounded(value) : value) * slot.unit;
}

//===----------------------------------------------------------------------===//
// Fits
//===----------------------------------------------------------------------===//

int64_t proteus::calibrate::octaveOf(int64_t bytes) {
  return static_cast<int64_t>(
      std::floor(std::log2(static_cast<double>(bytes)) + 1e-9));
}

static auto keyOf(const Sample &sample) {
  return std::tuple(sample.kind, sample.nodes, sample.ranks,
                    octaveOf(sample.bytes));
}

/// Returns at most six rows of each group and octave. Tables with a row for
/// every kilobyte contain no more information than that.
static Samples thinned(ArrayRef<Sample> samples, Choice chosen) {
  constexpr size_t most = 6;
  std::map<decltype(keyOf(samples.front())), Samples> octaves;
  for (const Sample &sample : samples)
    if (chosen(sample))
      octaves[keyOf(sample)].push_back(sample);
  Samples kept;
  for (const auto &[key, rows] : octaves)
    for (size_t i = 0; i < std::min(most, rows.size()); ++i)
      kept.push_back(rows[rows.size() > most ? i * rows.size() / most : i]);
  return kept;
}

/// Returns the mean |log(predicted / measured)|.
static double lossOf(Measured &machine, ArrayRef<Sample> samples) {
  double sum = 0;
  for (const Sample &sample : samples)
    sum += std::abs(std::log(machine.seconds(sample) / sample.seconds));
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

CollectiveConstants
proteus::calibrate::fitBlock(Block block, const CollectiveConstants &start,
                             ArrayRef<Measured *> machines, Choice chosen,
                             bool few) {
  std::vector<Slot> slots = slotsOf(block, start, few);
  std::vector<Samples> rows;
  std::vector<CollectiveConstants> kept;
  for (Measured *machine : machines) {
    rows.push_back(thinned(machine->getSamples(), [&](const Sample &sample) {
      return blockOf(sample.kind) == block && chosen(sample);
    }));
    kept.push_back(machine->constants());
    machine->constants() = start;
  }
  // Constants that the rows do not determine stay near the start: a factor of
  // ten costs as much as half a percent of error.
  constexpr double pull = 0.002;
  auto loss = [&](ArrayRef<double> values) {
    double sum = 0;
    for (auto [slot, value] : llvm::zip_equal(slots, values))
      sum += pull * std::abs(std::log(value / slot.in(start))) *
             static_cast<double>(machines.size());
    for (auto [machine, samples] : llvm::zip_equal(machines, rows)) {
      assign(machine->constants(), slots, values, /*isFinal=*/false);
      sum += lossOf(*machine, samples);
    }
    return sum;
  };
  // Start from two points, because piecewise curves have several minima.
  std::vector<double> best;
  double least = 0;
  for (const CollectiveConstants &from :
       {start, typicalConstants(start.inSwitch.has_value())}) {
    std::vector<Parameter> parameters;
    for (const Slot &slot : slots)
      parameters.push_back({"", slot.in(from), slot.low, slot.high});
    std::vector<double> values = minimise(parameters, loss);
    double value = loss(values);
    if (best.empty() || value < least)
      best = values, least = value;
  }
  for (auto [machine, constants] : llvm::zip_equal(machines, kept))
    machine->constants() = constants;
  CollectiveConstants fitted = start;
  assign(fitted, slots, best, /*isFinal=*/true);
  return fitted;
}

NetworkFit proteus::calibrate::fitNetwork(Measured &machine, Choice chosen) {
  Samples rows = thinned(machine.getSamples(), chosen);
  CollectiveConstants kept = machine.constants();
  double before = machine.getFabricEfficiency();
  auto set = [&](ArrayRef<double> values) {
    machine.constants().networkBase = values[0] * us;
    machine.constants().networkHop = values[1] * us;
    // The share has steps of a thousandth, because each new value requires new
    // plans for groups of several nodes.
    double efficiency = std::round(values[2] * 1000) / 1000;
    if (efficiency != machine.getFabricEfficiency())
      machine.setFabricEfficiency(efficiency);
  };
  std::vector<double> values = minimise({{"base", 8.4, 0.1, 1000},
                                         {"hop", 14, 1, 1000},
                                         {"share", 0.92, 0.05, 1}},
                                        [&](ArrayRef<double> values) {
                                          set(values);
                                          return lossOf(machine, rows);
                                        });
  NetworkFit fit;
  set({calibrate::rounded(values[0]), calibrate::rounded(values[1]),
       calibrate::rounded(values[2])});
  fit.constants = machine.constants();
  fit.efficiency = machine.getFabricEfficiency();
  machine.constants() = kept;
  machine.setFabricEfficiency(before);
  return fit;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

SizeErrors proteus::calibrate::errorsOf(ArrayRef<Sample> samples,
                                        ArrayRef<double> predicted) {
  double sums[3] = {0, 0, 0}, counts[3] = {0, 0, 0};
  for (auto [sample, seconds] : llvm::zip_equal(samples, predicted)) {
    unsigned size = sample.bytes < 1 << 20    ? 0
                    : sample.bytes < 16 << 20 ? 1
                                              : 2;
    sums[size] += std::abs(seconds / sample.seconds - 1);
    ++counts[size];
  }
  auto mean = [](double sum, double count) {
    return count > 0 ? sum / count : -1;
  };
  return {mean(sums[0], counts[0]), mean(sums[1], counts[1]),
          mean(sums[2], counts[2]),
          mean(sums[1] + sums[2], counts[1] + counts[2])};
}

double proteus::calibrate::scatterOf(ArrayRef<Sample> samples) {
  // Rows of one size (several permutations or element types) are neighbours
  // too.
  std::map<std::tuple<CollectiveKind, int64_t, int64_t>, Samples> curves;
  for (const Sample &sample : samples)
    if (sample.bytes < 1 << 20)
      curves[{sample.kind, sample.nodes, sample.ranks}].push_back(sample);
  double sum = 0, count = 0;
  for (auto &[key, curve] : curves) {
    std::sort(curve.begin(), curve.end(), [](const Sample &a, const Sample &b) {
      return std::tie(a.bytes, a.seconds) < std::tie(b.bytes, b.seconds);
    });
    for (size_t i = 1; i + 1 < curve.size(); ++i) {
      double before = std::log(curve[i - 1].seconds),
             after = std::log(curve[i + 1].seconds);
      double from = std::log(static_cast<double>(curve[i - 1].bytes)),
             to = std::log(static_cast<double>(curve[i + 1].bytes));
      double at = std::log(static_cast<double>(curve[i].bytes));
      double share = to > from ? (at - from) / (to - from) : 0.5;
      double line = std::exp(before + share * (after - before));
      sum += std::abs(line / curve[i].seconds - 1);
      ++count;
    }
  }
  return count > 0 ? sum / count : -1;
}
