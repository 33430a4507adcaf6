//===- Constants.cpp - the communication library in figures ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The figures of NVLink machines are fitted to public measurements (vtrain,
// vidur, ML Engineering, openxla's tables for A100, H100, H200, B200, GB200,
// MI350); docs/clusters.md says which are not. Those of PCIe are the constants
// of NCCL's tuner, which measurements of PCIe rings follow.
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::machine;
using json::Reader;

static constexpr double us = 1e-6;
static constexpr double gigabytes = 1e9;
/// A fill cost of c microseconds per root of a microsecond of wire time.
static constexpr double rootUs = 1e-3;

/// An exchange that was not measured takes the constants of an all-gather.
static void deriveExchange(CollectiveConstants &c) {
  c.exchangeBase = c.simpleBase;
  c.exchangeHop = c.simpleHop;
  c.exchangeExtra = c.extra[1];
  c.exchangeEfficiency = c.efficiency[1];
  c.exchangeFill = c.simpleFill;
}

static void setExchange(CollectiveConstants &c, double base, double hop,
                        double efficiency, double extra, double fill) {
  c.exchangeBase = base * us;
  c.exchangeHop = hop * us;
  c.exchangeEfficiency = efficiency;
  c.exchangeExtra = extra;
  c.exchangeFill = fill * rootUs;
}

static void setLow(CollectiveConstants &c, double base, double hop,
                   double efficiency) {
  c.lowBase = base * us;
  c.lowHop = hop * us;
  c.lowEfficiency = efficiency;
}

static void setSimple(CollectiveConstants &c, double base, double hop,
                      double fill) {
  c.simpleBase = base * us;
  c.simpleHop = hop * us;
  c.simpleFill = fill * rootUs;
}

static void setThree(double (&values)[3], double allReduce, double allGather,
                     double reduceScatter) {
  values[0] = allReduce;
  values[1] = allGather;
  values[2] = reduceScatter;
}

static void setMessage(CollectiveConstants &c, double base, double channel,
                       uint32_t channels) {
  c.messageBase = base * us;
  c.messageChannel = channel * gigabytes;
  c.channels = channels;
}

CollectiveConstants
proteus::machine::defaultConstants(Architecture architecture, bool nvlink) {
  CollectiveConstants c;
  // MI300 and its like have a mesh of their own, which counts as NVLink.
  if (!nvlink)
    architecture = Architecture::Other;
  switch (architecture) {
  case Architecture::Other:
  case Architecture::Turing:
  case Architecture::Pascal:
    // NCCL's tuner: base and hop of a ring, over PCIe or NVLink.
    setLow(c, 6.6, nvlink ? 0.6 : 1.0, 0.5);
    setSimple(c, 8.4, nvlink ? 3.4 : 5.7, 0);
    deriveExchange(c);
    setMessage(c, 8.4, 12, 2);
    return c;
  case Architecture::Volta:
    setLow(c, 29, 2.1, .60);
    setSimple(c, 11, 6.5, 0);
    setThree(c.extra, .05, .05, .05);
    setThree(c.efficiency, 1.05, 1.05, 1.05);
    deriveExchange(c);
    setMessage(c, 11, 15.7, 24);
    return c;
  case Architecture::Ampere:
    setLow(c, 9, 2.3, .10);
    setSimple(c, 28, 2.6, 2.5);
    setThree(c.extra, .34, .5, .34);
    deriveExchange(c);
    setMessage(c, 14, 15.7, 24);
    return c;
  case Architecture::Hopper:
    setLow(c, 11, 2.9, .31);
    setSimple(c, 23, .9, 1.0);
    setThree(c.extra, .37, .32, .80);
    setThree(c.efficiency, .97, .98, .98);
    setExchange(c, 36, 1.1, 382 / 370.8, .12, 3.6);
    setMessage(c, 7.6, 15.7, 24);
    c.inSwitch = {55 * us, .84, .01, 2.3 * rootUs};
    return c;
  case Architecture::Blackwell:
    setLow(c, 15, 1.24, .44);
    setSimple(c, 18, 1.7, 2.3);
    setThree(c.extra, .45, .49, .46);
    setThree(c.efficiency, .90, .99, .99);
    setExchange(c, 38, 0, 758 / 721.8, .83, 4.3);
    setMessage(c, 11.7, 18.9, 32);
    c.inSwitch = {50 * us, .78, .11, 7 * rootUs};
    return c;
  case Architecture::CDNA:
    // No low-latency protocol was identified: the base of Simple covers it.
    setLow(c, 55, 3.3, 0.5);
    setSimple(c, 55, 3.3, 0);
    setThree(c.efficiency, 1, 1, .93);
    setExchange(c, 53, 9, 59.0 / 64, 0, 0);
    setMessage(c, 21, 64, 32);
    return c;
  }
  llvm_unreachable("unknown architecture");
}

//===----------------------------------------------------------------------===//
// Constants of a file
//===----------------------------------------------------------------------===//

static void readTime(const Reader &reader, StringRef key, double &value) {
  if (reader.has(key))
    value = readMicroseconds(reader, key);
}

static void readFill(const Reader &reader, StringRef key, double &value) {
  if (reader.has(key))
    value = reader[key].nonNegative(1e6) * rootUs;
}

/// Shares of a wire are counted against what the library assumes of it, so a
/// little more than all of it is possible.
static void readEfficiency(const Reader &reader, StringRef key, double &value) {
  if (!reader.has(key))
    return;
  value = reader[key].positive(10);
  if (value < 1e-3) {
    reader[key].fail("expected a share of at least 0.001");
    value = 1;
  }
}

static constexpr StringRef ringKinds[] = {"all_reduce", "all_gather",
                                          "reduce_scatter"};

static void readInSwitch(const Reader &reader,
                         std::optional<CollectiveConstants::InSwitch> &value) {
  if (!reader.isObject()) {
    if (reader.boolean())
      reader.fail("expected false, or an object of constants");
    value.reset();
    return;
  }
  reader.expectKeys(
      {"base_us", "efficiency", "group_exponent", "fill_root_us"});
  if (!value)
    value.emplace();
  readTime(reader, "base_us", value->base);
  readEfficiency(reader, "efficiency", value->efficiency);
  if (reader.has("group_exponent"))
    value->groupExponent = reader["group_exponent"].nonNegative(10);
  readFill(reader, "fill_root_us", value->fill);
}

void proteus::machine::readConstants(const Reader &reader,
                                     CollectiveConstants &c) {
  reader.expectKeys({"source",
                     "low_base_us",
                     "low_hop_us",
                     "low_efficiency",
                     "simple_base_us",
                     "simple_hop_us",
                     "simple_fill_root_us",
                     "extra",
                     "efficiency",
                     "exchange_base_us",
                     "exchange_hop_us",
                     "exchange_extra",
                     "exchange_efficiency",
                     "exchange_fill_root_us",
                     "in_switch",
                     "message_base_us",
                     "message_channel_gbps",
                     "channels",
                     "network_hop_us",
                     "network_base_us"});
  if (reader.has("source"))
    reader["source"].string();
  readTime(reader, "low_base_us", c.lowBase);
  readTime(reader, "low_hop_us", c.lowHop);
  readEfficiency(reader, "low_efficiency", c.lowEfficiency);
  readTime(reader, "simple_base_us", c.simpleBase);
  readTime(reader, "simple_hop_us", c.simpleHop);
  readFill(reader, "simple_fill_root_us", c.simpleFill);
  if (reader.has("extra")) {
    reader["extra"].expectKeys(ringKinds);
    for (unsigned i = 0; i < 3; ++i)
      if (reader["extra"].has(ringKinds[i]))
        c.extra[i] = reader["extra"][ringKinds[i]].nonNegative(10);
  }
  if (reader.has("efficiency")) {
    reader["efficiency"].expectKeys(ringKinds);
    for (unsigned i = 0; i < 3; ++i)
      readEfficiency(reader["efficiency"], ringKinds[i], c.efficiency[i]);
  }
  readTime(reader, "exchange_base_us", c.exchangeBase);
  readTime(reader, "exchange_hop_us", c.exchangeHop);
  if (reader.has("exchange_extra"))
    c.exchangeExtra = reader["exchange_extra"].nonNegative(10);
  readEfficiency(reader, "exchange_efficiency", c.exchangeEfficiency);
  readFill(reader, "exchange_fill_root_us", c.exchangeFill);
  if (reader.has("in_switch"))
    readInSwitch(reader["in_switch"], c.inSwitch);
  readTime(reader, "message_base_us", c.messageBase);
  if (reader.has("message_channel_gbps"))
    c.messageChannel = readBandwidth(reader, "message_channel_gbps");
  if (reader.has("channels"))
    c.channels = reader["channels"].integer(1, 1024);
  readTime(reader, "network_hop_us", c.networkHop);
  readTime(reader, "network_base_us", c.networkBase);
}
