//===- KernelParametersJSON.cpp - the section "kernels" -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the section "kernels" of device files. Each set of
// parameters has an overload of `visit` that lists its fields. The reader and
// the writer both use these lists.
//
//===----------------------------------------------------------------------===//

#include "Readers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;
using namespace proteus;
using namespace proteus::machine;
using json::Reader;

namespace {
enum class Unit { Share, Microseconds };
} // namespace

/// Largest valid share. A larger value probably has a wrong unit.
static constexpr double maxShare = 100;

template <typename Visitor>
static void visit(ProductParameters &parameters, Visitor field) {
  field("efficiency", parameters.efficiency, Unit::Share);
  field("memory", parameters.memoryEfficiency, Unit::Share);
  field("fixed_us", parameters.fixedTime, Unit::Microseconds);
}

template <typename Visitor>
static void visit(GroupedParameters &parameters, Visitor field) {
  field("factor", parameters.factor, Unit::Share);
  field("dgrad", parameters.dataGradient, Unit::Share);
  field("wgrad", parameters.weightGradient, Unit::Share);
  field("group_us", parameters.groupTime, Unit::Microseconds);
}

template <typename Visitor>
static void visit(AttentionParameters &parameters, Visitor field) {
  field("forward", parameters.forward, Unit::Share);
  field("backward", parameters.backward, Unit::Share);
  field("tail", parameters.tail, Unit::Share);
  field("fixed_us", parameters.fixedTime, Unit::Microseconds);
}

template <typename Visitor>
static void visit(ConvolutionParameters &parameters, Visitor field) {
  field("efficiency", parameters.efficiency, Unit::Share);
  field("dgrad", parameters.dataGradient, Unit::Share);
  field("wgrad", parameters.weightGradient, Unit::Share);
  field("strided_dgrad", parameters.stridedDataGradient, Unit::Share);
  field("few_channels", parameters.fewChannels, Unit::Share);
  field("few_channels_wgrad", parameters.fewChannelsWeightGradient,
        Unit::Share);
  field("winograd", parameters.winograd, Unit::Share);
  field("memory", parameters.memoryEfficiency, Unit::Share);
  field("fixed_us", parameters.fixedTime, Unit::Microseconds);
}

template <typename Visitor>
static void visit(MemoryParameters &parameters, Visitor field) {
  field("efficiency", parameters.efficiency, Unit::Share);
  field("fixed_us", parameters.fixedTime, Unit::Microseconds);
}

/// Returns a pointer to the field `onMatrixUnits` of products and convolutions.
/// Returns null for other parameters, which do not have this field.
static bool *unitsOf(ProductParameters &p) { return &p.onMatrixUnits; }
static bool *unitsOf(ConvolutionParameters &p) { return &p.onMatrixUnits; }
static bool *unitsOf(Provenance &) { return nullptr; }

/// Returns true if the share `name` may be zero. A zero `winograd` means that
/// the library has no such kernels. A zero `tail` means that the end of a
/// kernel takes no extra time.
static bool mayBeZero(StringRef name) {
  return name == "winograd" || name == "tail";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Basis readBasis(const Reader &reader) {
  std::string name = reader.string();
  SmallVector<StringRef> known;
  for (Basis basis : allBases()) {
    if (stringify(basis) == name)
      return basis;
    known.push_back(stringify(basis));
  }
  if (reader.isString())
    reader.fail("unknown basis '" + name + "' (one of " + join(known, ", ") +
                ")");
  return Basis::Datasheet;
}

template <typename T> static T readParameters(const Reader &reader) {
  T parameters;
  SmallVector<StringRef> keys = {"basis", "error"};
  if (unitsOf(parameters))
    keys.push_back("units");
  visit(parameters,
        [&](StringRef name, double &, Unit) { keys.push_back(name); });
  reader.expectKeys(keys);
  if (bool *onMatrixUnits = unitsOf(parameters)) {
    std::string units = reader["units"].string();
    *onMatrixUnits = units == "matrix";
    if (units != "matrix" && units != "vector")
      reader["units"].fail("expected \"matrix\" or \"vector\"");
  }
  visit(parameters, [&](StringRef name, double &value, Unit unit) {
    if (unit == Unit::Microseconds)
      value = readMicroseconds(reader, name);
    else
      value = mayBeZero(name) ? reader[name].nonNegative(maxShare)
                              : reader[name].positive(maxShare);
  });
  parameters.basis = readBasis(reader["basis"]);
  parameters.error = reader["error"].nonNegative(maxShare);
  return parameters;
}

template <typename T>
static std::vector<std::pair<DType, T>> readByType(const Reader &reader) {
  SmallVector<StringRef> names;
  for (DType type : allDTypes())
    names.push_back(stringify(type));
  reader.expectKeys(names);
  std::vector<std::pair<DType, T>> entries;
  for (DType type : allDTypes())
    // The F32 parameters must exist, because element types without parameters
    // use the F32 parameters.
    if (reader.has(stringify(type)) || type == DType::F32)
      entries.emplace_back(type, readParameters<T>(reader[stringify(type)]));
  return entries;
}

KernelParameters proteus::machine::readKernels(const Reader &reader) {
  reader.expectKeys({"source", "product", "grouped_product", "attention",
                     "convolution", "memory"});
  if (reader.has("source"))
    reader["source"].string();
  KernelParameters kernels;
  kernels.products = readByType<ProductParameters>(reader["product"]);
  kernels.grouped =
      readParameters<GroupedParameters>(reader["grouped_product"]);
  kernels.attention = readParameters<AttentionParameters>(reader["attention"]);
  kernels.convolutions =
      readByType<ConvolutionParameters>(reader["convolution"]);
  Reader memory = reader["memory"];
  SmallVector<StringRef> classes;
  for (MemoryClass kind : allMemoryClasses())
    classes.push_back(stringify(kind));
  memory.expectKeys(classes);
  for (MemoryClass kind : allMemoryClasses())
    kernels.memory[static_cast<unsigned>(kind)] =
        readParameters<MemoryParameters>(memory[stringify(kind)]);
  return kernels;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

template <typename T> static std::string format(T parameters) {
  std::string text = "{";
  if (bool *onMatrixUnits = unitsOf(parameters))
    text += std::string("\"units\": ") +
            (*onMatrixUnits ? "\"matrix\", " : "\"vector\", ");
  visit(parameters, [&](StringRef name, double value, Unit unit) {
    // Round microseconds to three decimal places, because measurements are not
    // more precise.
    if (unit == Unit::Microseconds)
      value = std::round(value * 1e9) / 1e3;
    text += json::quote(name) + ": " + json::formatNumber(value) + ", ";
  });
  text += "\"basis\": " + json::quote(stringify(parameters.basis)) +
          ", \"error\": " + json::formatNumber(parameters.error);
  return text + "}";
}

/// Returns a JSON object with one line per entry. The lines are indented as the
/// second level below the key "kernels".
static std::string
formatEntries(ArrayRef<std::pair<StringRef, std::string>> entries) {
  std::string text = "{\n";
  for (auto [i, entry] : llvm::enumerate(entries))
    text += "      " + json::quote(entry.first) + ": " + entry.second +
            (i + 1 < entries.size() ? ",\n" : "\n");
  return text + "    }";
}

template <typename T>
static std::string formatByType(const std::vector<std::pair<DType, T>> &all) {
  SmallVector<std::pair<StringRef, std::string>> entries;
  for (const auto &[type, parameters] : all)
    entries.emplace_back(stringify(type), format(parameters));
  return formatEntries(entries);
}

std::string proteus::machine::formatKernels(const KernelParameters &kernels,
                                            StringRef source) {
  SmallVector<std::pair<StringRef, std::string>> memory;
  for (MemoryClass kind : allMemoryClasses())
    memory.emplace_back(stringify(kind), format(kernels.of(kind)));
  return "{\n    \"source\": " + json::quote(source) +
         ",\n    \"product\": " + formatByType(kernels.products) +
         ",\n    \"grouped_product\": " + format(kernels.grouped) +
         ",\n    \"attention\": " + format(kernels.attention) +
         ",\n    \"convolution\": " + formatByType(kernels.convolutions) +
         ",\n    \"memory\": " + formatEntries(memory) + "\n  }";
}
