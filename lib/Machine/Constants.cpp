//===- Constants.cpp - constants of communication libraries ---------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the constants of collectives. Sets of constants are embedded
// from clusters/communication. That folder has one file per set, and each file
// states the source of its values. scripts/calibrate writes the fitted sets.
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace llvm;
using namespace proteus;
using namespace proteus::machine;
using json::Reader;

static constexpr double us = 1e-6;
static constexpr double gigabytes = 1e9;
/// The square root of a microsecond, in square roots of seconds. Files contain
/// fill costs in this unit.
static constexpr double rootUs = 1e-3;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

double proteus::machine::readShare(const Reader &number, double most) {
  double value = number.positive(most);
  if (value >= 1e-3)
    return value;
  number.fail("expected a share of at least 0.001");
  return 1;
}

static void readTime(const Reader &reader, StringRef key, double &value) {
  if (reader.has(key))
    value = readMicroseconds(reader, key);
}

static void readFill(const Reader &reader, StringRef key, double &value) {
  if (reader.has(key))
    value = reader[key].nonNegative(1e6) * rootUs;
}

static void readPart(const Reader &reader, StringRef key, double &value) {
  if (reader.has(key))
    value = reader[key].nonNegative(10);
}

/// Reads a share of a bandwidth. The share may exceed 1, because it is relative
/// to the bandwidth that the communication library assumes for a link.
static void readEfficiency(const Reader &reader, StringRef key, double &value) {
  if (reader.has(key))
    value = readShare(reader[key], 10);
}

namespace {
struct RingKey {
  StringRef key;
  RingConstants CollectiveConstants::*ring;
};
} // namespace

static constexpr RingKey ringKeys[] = {
    {"all_reduce", &CollectiveConstants::allReduce},
    {"all_gather", &CollectiveConstants::allGather},
    {"reduce_scatter", &CollectiveConstants::reduceScatter}};

static void readRing(const Reader &reader, RingConstants &ring) {
  reader.expectKeys({"low_base_us", "low_hop_us", "low_efficiency",
                     "simple_base_us", "simple_hop_us", "simple_fill_root_us",
                     "extra", "efficiency"});
  readTime(reader, "low_base_us", ring.lowBase);
  readTime(reader, "low_hop_us", ring.lowHop);
  readEfficiency(reader, "low_efficiency", ring.lowEfficiency);
  readTime(reader, "simple_base_us", ring.simpleBase);
  readTime(reader, "simple_hop_us", ring.simpleHop);
  readFill(reader, "simple_fill_root_us", ring.simpleFill);
  readPart(reader, "extra", ring.extra);
  readEfficiency(reader, "efficiency", ring.efficiency);
}

static void readExchange(const Reader &reader, CollectiveConstants &c) {
  reader.expectKeys({"base_us", "hop_us", "extra", "efficiency", "fill_root_us",
                     "channel_gbps", "low_channel_gbps"});
  readTime(reader, "base_us", c.exchangeBase);
  readTime(reader, "hop_us", c.exchangeHop);
  readPart(reader, "extra", c.exchangeExtra);
  readEfficiency(reader, "efficiency", c.exchangeEfficiency);
  readFill(reader, "fill_root_us", c.exchangeFill);
  if (reader.has("channel_gbps"))
    c.exchangeChannel = readBandwidth(reader, "channel_gbps");
  if (reader.has("low_channel_gbps"))
    c.exchangeLowChannel = readBandwidth(reader, "low_channel_gbps");
}

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
  readPart(reader, "group_exponent", value->groupExponent);
  readFill(reader, "fill_root_us", value->fill);
}

static void readMessage(const Reader &reader, CollectiveConstants &c) {
  reader.expectKeys(
      {"base_us", "channel_gbps", "low_channel_gbps", "efficiency"});
  readTime(reader, "base_us", c.messageBase);
  if (reader.has("channel_gbps"))
    c.messageChannel = readBandwidth(reader, "channel_gbps");
  if (reader.has("low_channel_gbps"))
    c.messageLowChannel = readBandwidth(reader, "low_channel_gbps");
  readEfficiency(reader, "efficiency", c.messageEfficiency);
}

static constexpr StringRef errorKeys[] = {"below_1_mib", "below_16_mib",
                                          "above"};

static void readErrors(const Reader &reader, double (&errors)[3]) {
  reader.expectKeys(errorKeys);
  for (unsigned i = 0; i < 3; ++i)
    readPart(reader, errorKeys[i], errors[i]);
}

void proteus::machine::readConstants(const Reader &reader,
                                     CollectiveConstants &c) {
  reader.expectKeys({"source", "like", "all_reduce", "all_gather",
                     "reduce_scatter", "all_to_all", "in_switch", "message",
                     "channels", "network", "synchronisation_us",
                     "relative_error"});
  if (reader.has("source"))
    reader["source"].string();
  for (const auto &[key, ring] : ringKeys)
    if (reader.has(key))
      readRing(reader[key], c.*ring);
  if (reader.has("all_to_all"))
    readExchange(reader["all_to_all"], c);
  if (reader.has("in_switch"))
    readInSwitch(reader["in_switch"], c.inSwitch);
  if (reader.has("message"))
    readMessage(reader["message"], c);
  if (reader.has("channels"))
    c.channels = reader["channels"].integer(1, 1024);
  if (reader.has("network")) {
    reader["network"].expectKeys({"base_us", "hop_us"});
    readTime(reader["network"], "base_us", c.networkBase);
    readTime(reader["network"], "hop_us", c.networkHop);
  }
  readTime(reader, "synchronisation_us", c.synchronisation);
  if (reader.has("relative_error"))
    readErrors(reader["relative_error"], c.relativeError);
}

Error proteus::machine::parseConstants(StringRef text, StringRef source,
                                       CollectiveConstants &constants) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  readConstants(document->root(), constants);
  return document->takeError();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Returns `value` in multiples of `unit`, rounded to nine digits. The rounding
/// removes the error of the unit conversion, so that a value from a file is
/// printed as it is in the file.
static double inUnit(double value, double unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9g", value / unit);
  return std::strtod(text, nullptr);
}

static void printRing(const RingConstants &ring, json::Writer &writer) {
  writer.beginObject();
  writer.attribute("low_base_us", inUnit(ring.lowBase, us));
  writer.attribute("low_hop_us", inUnit(ring.lowHop, us));
  writer.attribute("low_efficiency", ring.lowEfficiency);
  writer.attribute("simple_base_us", inUnit(ring.simpleBase, us));
  writer.attribute("simple_hop_us", inUnit(ring.simpleHop, us));
  writer.attribute("simple_fill_root_us", inUnit(ring.simpleFill, rootUs));
  writer.attribute("extra", ring.extra);
  writer.attribute("efficiency", ring.efficiency);
  writer.endObject();
}

static void printChannels(double channel, double low, json::Writer &writer) {
  if (channel > 0)
    writer.attribute("channel_gbps", inUnit(channel, gigabytes));
  if (low > 0)
    writer.attribute("low_channel_gbps", inUnit(low, gigabytes));
}

static void printExchange(const CollectiveConstants &c, json::Writer &writer) {
  writer.key("all_to_all");
  writer.beginObject();
  writer.attribute("base_us", inUnit(c.exchangeBase, us));
  writer.attribute("hop_us", inUnit(c.exchangeHop, us));
  writer.attribute("extra", c.exchangeExtra);
  writer.attribute("efficiency", c.exchangeEfficiency);
  writer.attribute("fill_root_us", inUnit(c.exchangeFill, rootUs));
  printChannels(c.exchangeChannel, c.exchangeLowChannel, writer);
  writer.endObject();
}

static void printInSwitch(const CollectiveConstants &c, json::Writer &writer) {
  if (!c.inSwitch)
    return writer.attribute("in_switch", false);
  writer.key("in_switch");
  writer.beginObject();
  writer.attribute("base_us", inUnit(c.inSwitch->base, us));
  writer.attribute("efficiency", c.inSwitch->efficiency);
  writer.attribute("group_exponent", c.inSwitch->groupExponent);
  writer.attribute("fill_root_us", inUnit(c.inSwitch->fill, rootUs));
  writer.endObject();
}

static void printMessage(const CollectiveConstants &c, json::Writer &writer) {
  writer.key("message");
  writer.beginObject();
  writer.attribute("base_us", inUnit(c.messageBase, us));
  printChannels(c.messageChannel, c.messageLowChannel, writer);
  writer.attribute("efficiency", c.messageEfficiency);
  writer.endObject();
}

void proteus::machine::printConstants(const CollectiveConstants &c,
                                      StringRef source, raw_ostream &os) {
  json::Writer writer(os);
  writer.beginObject();
  writer.attribute("source", source);
  for (const auto &[key, ring] : ringKeys) {
    writer.key(key);
    printRing(c.*ring, writer);
  }
  printExchange(c, writer);
  printInSwitch(c, writer);
  printMessage(c, writer);
  if (c.channels)
    writer.attribute("channels", int64_t{c.channels});
  writer.key("network");
  writer.beginObject();
  writer.attribute("base_us", inUnit(c.networkBase, us));
  writer.attribute("hop_us", inUnit(c.networkHop, us));
  writer.endObject();
  if (c.synchronisation > 0)
    writer.attribute("synchronisation_us", inUnit(c.synchronisation, us));
  writer.key("relative_error");
  writer.beginObject();
  for (unsigned i = 0; i < 3; ++i)
    writer.attribute(errorKeys[i], c.relativeError[i]);
  writer.endObject();
  writer.endObject();
  os << "\n";
}

//===----------------------------------------------------------------------===//
// Embedded sets
//===----------------------------------------------------------------------===//

namespace {
struct ConstantFile {
  StringRef name;
  StringRef text;
};
} // namespace

/// The embedded sets of constants. They are sorted by name, because the build
/// file lists them in this order.
static constexpr ConstantFile files[] = {
#include "ConstantFiles.inc"
};

std::vector<std::string> proteus::machine::constantSetNames() {
  std::vector<std::string> names;
  for (const ConstantFile &file : files)
    names.push_back(file.name.str());
  return names;
}

/// Returns the embedded set `name`, or null if no set has this name. The first
/// call parses all sets.
static const CollectiveConstants *findSet(StringRef name) {
  static const std::vector<CollectiveConstants> sets = [] {
    std::vector<CollectiveConstants> all;
    for (const ConstantFile &file : files)
      if (Error error =
              parseConstants(file.text, file.name, all.emplace_back()))
        report_fatal_error(Twine("embedded constants: ") +
                           toString(std::move(error)));
    return all;
  }();
  for (const auto &[file, set] : llvm::zip_equal(files, sets))
    if (file.name == name)
      return &set;
  return nullptr;
}

const CollectiveConstants &
proteus::machine::readLike(const Reader &name,
                           const CollectiveConstants &otherwise) {
  std::string text = name.string();
  if (const CollectiveConstants *set = findSet(text))
    return *set;
  name.fail("there are no constants '" + text +
            "' (known: " + llvm::join(constantSetNames(), ", ") + ")");
  return otherwise;
}

static StringRef setNameOf(Architecture architecture, bool nvlink) {
  if (!nvlink)
    return "pcie";
  switch (architecture) {
  case Architecture::Other:
  case Architecture::Turing:
  case Architecture::Pascal:
    return "other-nvlink";
  case Architecture::Volta:
    return "volta-nvlink";
  case Architecture::Ampere:
    return "ampere-nvlink";
  case Architecture::Hopper:
    return "hopper-nvlink";
  case Architecture::Blackwell:
    return "blackwell-nvlink";
  case Architecture::CDNA:
    // The mesh between MI300 and similar devices counts as NVLink.
    return "cdna";
  }
  llvm_unreachable("unknown architecture");
}

const CollectiveConstants &
proteus::machine::defaultConstants(Architecture architecture, bool nvlink) {
  const CollectiveConstants *set = findSet(setNameOf(architecture, nvlink));
  if (!set)
    report_fatal_error("embedded constants of an architecture are missing");
  return *set;
}
