//===- CaseNetwork.cpp - networks of measured runs ------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translation of the network of a case to network cards. Cases describe
// networks in words: "4x 100 Gb/s Omni-Path per node", "8x HDR200 InfiniBand",
// "400 Gb/s per GPU", "1.6 Tb/s". Missing values, such as the number of cards,
// are assumed to be those of most nodes with the same devices, and the
// assumption is noted. The exception is a rate per node: it is divided among
// eight cards.
//
//===----------------------------------------------------------------------===//

#include "CaseTranslation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <optional>

using namespace llvm;
using namespace proteus;
using namespace proteus::validation;

namespace {

/// The unit to which a rate belongs: "400 Gb/s per GPU" is the rate of a
/// device.
enum class Scope { Unstated, Card, Device, Node };

/// The values of a network that the words of a case state.
struct StatedNetwork {
  std::optional<int64_t> cards;
  std::optional<double> gbit;
  /// Rate of a card of the generation that the words name, for example 200 for
  /// "HDR". Applies if the words state no rate.
  std::optional<double> usualGbit;
  Scope scope = Scope::Unstated;
};

/// The words, numbers and signs of a text in order. "8x" is split into the
/// tokens "8" and "x", and "HDR200" into "HDR" and "200".
class Tokens {
public:
  explicit Tokens(StringRef text) {
    while (!text.empty()) {
      auto isNumber = [](char c) { return isDigit(c) || c == '.'; };
      StringRef token = isDigit(text.front())   ? text.take_while(isNumber)
                        : isAlpha(text.front()) ? text.take_while(isAlpha)
                                                : text.take_front();
      // The multiplication sign has two bytes in UTF-8. It becomes "x".
      if (text.starts_with("\u00d7"))
        token = text.take_front(2);
      text = text.drop_front(token.size());
      if (token != " ")
        all.push_back(token == "\u00d7" || token == "*" ? "x" : token);
    }
  }

  size_t size() const { return all.size(); }
  /// Returns token `i`, or an empty text after the last token.
  StringRef operator[](size_t i) const { return i < all.size() ? all[i] : ""; }
  bool is(size_t i, StringRef word) const {
    return (*this)[i].equals_insensitive(word);
  }
  std::optional<double> number(size_t i) const {
    double value = 0;
    StringRef text = (*this)[i];
    // A number at the end of a sentence includes the full stop.
    if (text.empty() || !isDigit(text.front()) ||
        text.rtrim('.').getAsDouble(value))
      return std::nullopt;
    return value;
  }

private:
  std::vector<StringRef> all;
};

} // namespace

/// Returns the unit of a rate at token `i`, in Gbit/s: 1000 for "Tb" in "Tb/s",
/// 8 for "GBps", because a capital B means bytes. Returns 0 if the token is not
/// a unit of a rate.
static double unitAt(const Tokens &words, size_t i) {
  bool isRate = words[i + 1] == "/" && words.is(i + 2, "s");
  StringRef unit = words[i];
  if (isRate)
    return StringSwitch<double>(unit)
        .Cases({"Gb", "Gbit", "gb"}, 1)
        .Cases({"Tb", "Tbit"}, 1000)
        .Cases({"Mb", "Mbit"}, 0.001)
        .Cases({"GB", "GiB"}, 8)
        .Case("TB", 8000)
        .Default(0);
  return StringSwitch<double>(unit)
      .Cases({"Gbps", "gbps", "Gbit", "Gb", "GbE", "GigE", "G", "Gigabit"}, 1)
      .Case("Tbps", 1000)
      .Case("GBps", 8)
      .Default(0);
}

/// Returns the Gbit/s of a card of the generation that is named at token `i`,
/// for example 100 for "EDR". Returns 0 if the token names no generation.
static double generationAt(const Tokens &words, size_t i) {
  // A hyphen or a space separates the parts of a name: "Omni-Path",
  // "ConnectX-6", "Slingshot 11".
  size_t next = words[i + 1] == "-" ? i + 2 : i + 1;
  if (words.is(i, "Omni") && words.is(next, "Path"))
    return 100;
  if (words.is(i, "ConnectX") || words.is(i, "CX"))
    return StringSwitch<double>(words[next])
        .Cases({"4", "5"}, 100)
        .Case("6", 200)
        .Case("7", 400)
        .Case("8", 800)
        .Default(0);
  if (words.is(i, "Slingshot"))
    return words[next] == "10" ? 100 : 200;
  double rate = StringSwitch<double>(words[i].upper())
                    .Case("QDR", 40)
                    .Case("FDR", 56)
                    .Case("EDR", 100)
                    .Case("HDR", 200)
                    .Case("NDR", 400)
                    .Case("XDR", 800)
                    .Default(0);
  // A port may have half the rate of its generation, as in "HDR100".
  if (std::optional<double> own = words.number(i + 1);
      rate > 0 && own && *own >= rate / 2 && *own <= rate)
    return *own;
  return rate;
}

/// Returns true if the generation that is named at token `i` has its number as
/// the next token: the 7 of "ConnectX 7", the 11 of "Slingshot 11", the 200 of
/// "HDR200". The number of "HDR 200 Gb/s" is a rate.
static bool hasNumber(const Tokens &words, size_t i) {
  std::optional<double> number = words.number(i + 1);
  if (!number || unitAt(words, i + 2) > 0)
    return false;
  if (words.is(i, "Slingshot"))
    return *number == 10 || *number == 11;
  return words.is(i, "ConnectX") || words.is(i, "CX") ||
         *number == generationAt(words, i);
}

static bool isCardAt(const Tokens &words, size_t i) {
  return StringSwitch<bool>(words[i].lower())
      .Cases({"nic", "nics", "card", "cards", "hca", "hcas"}, true)
      .Cases({"port", "ports", "adapter", "adapters", "rail", "rails"}, true)
      .Default(false);
}

static Scope scopeAt(const Tokens &words, size_t i) {
  if (words.is(i, "total") || words.is(i, "aggregate") ||
      words.is(i, "aggregated"))
    return Scope::Node;
  if (words.is(i, "each"))
    return Scope::Card;
  if (!words.is(i, "per") && words[i] != "/")
    return Scope::Unstated;
  return StringSwitch<Scope>(words[i + 1].lower())
      .Cases({"gpu", "device", "accelerator", "gpus"}, Scope::Device)
      .Cases({"node", "server", "host", "machine", "instance"}, Scope::Node)
      .Cases({"card", "nic", "port", "hca", "rail"}, Scope::Card)
      .Default(Scope::Unstated);
}

static StatedNetwork readWords(StringRef text) {
  constexpr int64_t mostCards = 256;
  constexpr double mostGbit = 1e6;
  Tokens words(text);
  StatedNetwork stated;
  auto count = [&](std::optional<double> number) {
    if (number && *number >= 1 && *number <= mostCards && !stated.cards)
      stated.cards = static_cast<int64_t>(*number);
  };
  for (size_t i = 0; i < words.size(); ++i) {
    std::optional<double> number = words.number(i);
    if (number && words.is(i + 1, "x"))
      count(number);
    else if (words.is(i, "x") && !words.number(i - 1) &&
             unitAt(words, i + 2) == 0)
      count(words.number(i + 1));
    else if (number && (isCardAt(words, i + 1) ||
                        (*number <= 16 && generationAt(words, i + 1) > 0)))
      count(number);
    if (double unit = number ? unitAt(words, i + 1) : 0;
        unit > 0 && *number > 0 && *number * unit <= mostGbit && !stated.gbit) {
      stated.gbit = *number * unit;
      // A range such as "40-57 Gb/s" was measured between nodes. The node gets
      // a single card with the mean of the range, even if the text states more
      // cards.
      if (std::optional<double> low = words.number(i - 2);
          i >= 2 && words[i - 1] == "-" && low && *low < *number) {
        stated.gbit = (*low + *number) / 2 * unit;
        stated.cards = 1;
      }
    }
    if (double rate = generationAt(words, i); rate > 0) {
      if (!stated.usualGbit)
        stated.usualGbit = rate;
      // Skip the number of "ConnectX-5 cards", which is not a number of cards.
      if (words[i + 1] == "-")
        i += 2;
      else if (hasNumber(words, i))
        ++i;
      continue;
    }
    if (stated.scope == Scope::Unstated)
      stated.scope = scopeAt(words, i);
  }
  return stated;
}

static std::string textOf(const Network &network) {
  return formatv("{0} of {1} Gbit/s per node",
                 network.cards == 1
                     ? "a network card"
                     : std::to_string(network.cards) + " network cards",
                 formatv("{0:f0}", network.gbit).str())
      .str();
}

Network proteus::validation::networkOfWords(StringRef words, int64_t devices,
                                            const Network &usual,
                                            CaseNotes &notes) {
  StatedNetwork stated = readWords(words);
  double gbit = stated.gbit.value_or(stated.usualGbit.value_or(0));
  auto assume = [&](Network network) {
    notes.assumed.push_back("the network '" + words.str() + "' is taken for " +
                            textOf(network));
    notes.isNetworkAssumed = true;
    return network;
  };
  if (gbit <= 0)
    return assume(stated.cards ? Network{*stated.cards, usual.gbit} : usual);
  // If the text states a number of cards, the rate belongs to one card: "4x 100
  // Gb/s per node" means four cards of 100 Gbit/s. The exception is a rate per
  // node that exceeds the rate of the fastest card: it is the sum over the
  // cards.
  constexpr double fastestCard = 1600;
  if (stated.cards && (stated.scope != Scope::Node || gbit <= fastestCard))
    return {*stated.cards, gbit};
  if (stated.scope == Scope::Device)
    return {devices, gbit};
  // A rate per node is the sum over the cards of the node. If the text does not
  // state the number of cards, assume eight.
  if (stated.scope == Scope::Node && stated.gbit) {
    int64_t cards = stated.cards.value_or(8);
    return {cards, gbit / cards};
  }
  // The number of cards is not stated. The rate of a named generation, such as
  // "HDR", is that of a card. If the text does not state what its rate belongs
  // to, and the rate exceeds that of a usual card, assume that it is the sum
  // over all cards. If the rate is below half the rate of a usual card, assume
  // that the node has one card with this rate. Otherwise assume that each card
  // has this rate.
  if (gbit > usual.gbit && stated.gbit && stated.scope != Scope::Card)
    return assume({usual.cards, gbit / usual.cards});
  return assume({gbit < usual.gbit / 2 ? 1 : usual.cards, gbit});
}
