//===- Profile.cpp - readers of profile files -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/Profile.h"
#include "Proteus/Support/CSV.h"
#include "Proteus/Support/File.h"
#include "Proteus/Support/JSON.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

#include <cmath>
#include <map>

using namespace llvm;
using namespace proteus;
using namespace proteus::cost;

//===----------------------------------------------------------------------===//
// The format of docs/profiles.md
//===----------------------------------------------------------------------===//

namespace {
/// The named sizes of one kernel. `take` and `flag` remove a size from
/// `values`. Sizes that are left at the end are therefore unknown. Records only
/// the first error.
class Sizes {
public:
  explicit Sizes(std::map<std::string, double> values)
      : values(std::move(values)) {}

  /// Removes and returns a size, which must exist and be positive.
  double take(StringRef name) {
    auto found = values.find(name.str());
    if (found == values.end()) {
      fail("the shape lacks '" + name + "'");
      return 1;
    }
    double value = found->second;
    values.erase(found);
    if (!(value > 0) || !std::isfinite(value))
      fail("'" + name + "' must be positive");
    return value;
  }
  /// Removes and returns a size, or returns `otherwise` if it is absent.
  double take(StringRef name, double otherwise) {
    return values.count(name.str()) ? take(name) : otherwise;
  }
  /// Removes a size, which must be 0, 1 or absent. Returns true if the size is
  /// 1.
  bool flag(StringRef name) {
    auto found = values.find(name.str());
    if (found == values.end())
      return false;
    double value = found->second;
    values.erase(found);
    if (value != 0 && value != 1)
      fail("'" + name + "' must be 0 or 1");
    return value == 1;
  }
  /// Returns the first error, or an empty string if there was none. A size that
  /// is left in `values` is an error.
  std::string finish() {
    if (error.empty() && !values.empty())
      error = "the shape of this kernel has no '" + values.begin()->first + "'";
    return error;
  }
  void fail(const Twine &message) {
    if (error.empty())
      error = message.str();
  }

private:
  std::map<std::string, double> values;
  std::string error;
};
} // namespace

template <typename T, typename Range>
static std::optional<T> byName(StringRef name, const Range &all) {
  for (T value : all)
    if (stringify(value) == name)
      return value;
  return std::nullopt;
}

static ArrayRef<Family> allFamilies() {
  static constexpr Family families[] = {
      Family::Product,     Family::GroupedProduct, Family::Attention,
      Family::Convolution, Family::Stream,         Family::Norm,
      Family::Activation,  Family::Rope,           Family::Embedding,
      Family::Softmax,     Family::Update};
  return families;
}

static Kernel takeProduct(Sizes &sizes, Family family, DType type, Pass pass) {
  double batch = sizes.take("batch", 1);
  double m = sizes.take("m"), n = sizes.take("n"), k = sizes.take("k");
  double width =
      sizes.take("result_bytes", static_cast<double>(byteWidth(type)));
  bool accumulates = sizes.flag("accumulate");
  DType result = width == 4 ? DType::F32 : type;
  if (width != static_cast<double>(byteWidth(result)))
    sizes.fail("'result_bytes' must be the width of the type or 4");
  return family == Family::Product
             ? makeProduct(batch, m, n, k, type, result, pass, accumulates)
             : makeGroupedProduct(batch, m, n, k, type, result, pass,
                                  accumulates);
}

static Kernel takeAttention(Sizes &sizes, DType type, Pass pass) {
  Attention attention;
  attention.batch = sizes.take("batch", 1);
  attention.heads = sizes.take("heads");
  attention.queries = sizes.take("queries");
  attention.keys = sizes.take("keys", attention.queries);
  attention.keyDim = sizes.take("key_dim");
  attention.valueDim = sizes.take("value_dim", attention.keyDim);
  attention.visited = sizes.take("visited", 1);
  if (attention.visited > 1)
    sizes.fail("'visited' is a share");
  return makeAttention(attention, type, pass != Pass::Forward);
}

static Kernel takeConvolution(Sizes &sizes, DType type, Pass pass) {
  Convolution conv;
  conv.batch = sizes.take("batch");
  conv.groups = sizes.take("groups", 1);
  conv.inChannels = sizes.take("in");
  conv.outChannels = sizes.take("out");
  conv.height = sizes.take("height");
  conv.width = sizes.take("width");
  conv.outHeight = sizes.take("out_height");
  conv.outWidth = sizes.take("out_width");
  conv.kernelHeight = sizes.take("kernel_height");
  conv.kernelWidth = sizes.take("kernel_width");
  conv.stride = sizes.take("stride", 1);
  return makeConvolution(conv, type, pass);
}

/// Sets `kernel` to the kernel that one CSV row or JSON entry describes.
/// Returns an error message, or an empty string on success.
static std::string kernelOf(StringRef op, StringRef dtype, StringRef pass,
                            Sizes sizes, Kernel &kernel) {
  std::optional<Family> family = byName<Family>(op, allFamilies());
  if (!family) {
    SmallVector<StringRef> known;
    for (Family one : allFamilies())
      known.push_back(stringify(one));
    return ("unknown op '" + op + "' (one of " + join(known, ", ") + ")").str();
  }
  std::optional<DType> type = byName<DType>(dtype, machine::allDTypes());
  if (!type)
    return ("unknown dtype '" + dtype + "'").str();
  static constexpr Pass passes[] = {Pass::Forward, Pass::DataGradient,
                                    Pass::WeightGradient};
  std::optional<Pass> which = byName<Pass>(pass, passes);
  if (!which)
    return ("unknown pass '" + pass + "' (one of forward, dgrad, wgrad)").str();
  switch (*family) {
  case Family::Product:
  case Family::GroupedProduct:
    kernel = takeProduct(sizes, *family, *type, *which);
    break;
  case Family::Attention:
    kernel = takeAttention(sizes, *type, *which);
    break;
  case Family::Convolution:
    kernel = takeConvolution(sizes, *type, *which);
    break;
  default:
    kernel = makeMemoryKernel(*family, sizes.take("bytes"), *type);
  }
  return sizes.finish();
}

/// Returns true for "in_step", false for "alone", and nullopt for other words.
static std::optional<bool> isInStep(StringRef how) {
  return llvm::StringSwitch<std::optional<bool>>(how)
      .Case("alone", false)
      .Case("in_step", true)
      .Default(std::nullopt);
}

static std::string unknownWay(StringRef how) {
  return ("unknown method of measurement '" + how + "' (one of alone, in_step)")
      .str();
}

/// Parses CSV with the columns op,dtype,pass,shape,time_us and the optional
/// columns device and measured.
static Expected<Measurements> parseOwnCSV(const CSV &csv) {
  SmallVector<size_t> columns;
  for (StringRef name : {"op", "dtype", "pass", "shape", "time_us"}) {
    Expected<size_t> column = csv.column(name);
    if (!column)
      return column.takeError();
    columns.push_back(*column);
  }
  auto optionalColumn = [&](StringRef name) -> std::optional<size_t> {
    const auto *found = llvm::find(csv.row(0), name);
    if (found == csv.row(0).end())
      return std::nullopt;
    return found - csv.row(0).begin();
  };
  std::optional<size_t> device = optionalColumn("device");
  std::optional<size_t> how = optionalColumn("measured");
  Measurements all;
  for (size_t row = 1; row < csv.size(); ++row) {
    ArrayRef<std::string> fields = csv.row(row);
    if (fields.size() != csv.row(0).size())
      return csv.errorAt(row, "expected " + Twine(csv.row(0).size()) +
                                  " fields, got " + Twine(fields.size()));
    std::map<std::string, double> values;
    SmallVector<StringRef> parts;
    SplitString(fields[columns[3]], parts);
    for (StringRef part : parts) {
      auto [name, value] = part.split('=');
      values[name.str()] = numberOf(value);
    }
    Measurement measurement;
    std::string error =
        kernelOf(fields[columns[0]], fields[columns[1]], fields[columns[2]],
                 Sizes(std::move(values)), measurement.kernel);
    if (!error.empty())
      return csv.errorAt(row, error);
    measurement.seconds = numberOf(fields[columns[4]]) * 1e-6;
    if (!(measurement.seconds > 0) || !std::isfinite(measurement.seconds))
      return csv.errorAt(row, "expected a positive time, got '" +
                                  fields[columns[4]] + "'");
    if (device)
      measurement.device = fields[*device];
    if (how) {
      std::optional<bool> inStep = isInStep(fields[*how]);
      if (!inStep)
        return csv.errorAt(row, unknownWay(fields[*how]));
      measurement.inStep = *inStep;
    }
    all.push_back(std::move(measurement));
  }
  return all;
}

/// Parses JSON in the format
///   {"device": .., "measured": ..,
///    "kernels": [{"op", "dtype", "pass", "shape", "time_us"}]}
static Expected<Measurements> parseOwnJSON(const json::Document &document) {
  json::Reader root = document.root();
  root.expectKeys({"device", "measured", "kernels"});
  std::string device = root.has("device") ? root["device"].string() : "";
  bool inStep = false;
  if (root.has("measured")) {
    std::string how = root["measured"].string();
    if (std::optional<bool> known = isInStep(how))
      inStep = *known;
    else
      root["measured"].fail(unknownWay(how));
  }
  Measurements all;
  for (const json::Reader &entry : root["kernels"].elements()) {
    entry.expectKeys({"op", "dtype", "pass", "shape", "time_us"});
    std::map<std::string, double> values;
    for (const auto &[name, value] : entry["shape"].members())
      values[name] = value.nonNegative(1e18);
    Measurement measurement;
    std::string pass = entry.has("pass") ? entry["pass"].string() : "forward";
    std::string error =
        kernelOf(entry["op"].string(), entry["dtype"].string(), pass,
                 Sizes(std::move(values)), measurement.kernel);
    if (!error.empty())
      entry.fail(error);
    measurement.seconds = entry["time_us"].positive(1e12) * 1e-6;
    measurement.device = device;
    measurement.inStep = inStep;
    all.push_back(std::move(measurement));
  }
  if (Error error = document.takeError())
    return std::move(error);
  return all;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Expected<Measurements> parseTable(StringRef text, StringRef source) {
  Expected<CSV> csv = CSV::parse(text, source);
  if (!csv)
    return csv.takeError();
  ArrayRef<std::string> header = csv->row(0);
  auto has = [&](StringRef name) { return llvm::is_contained(header, name); };
  if (has("op") && has("shape"))
    return parseOwnCSV(*csv);
  if (has("M_tokens"))
    return readVidurProducts(text, source);
  if (has("post_attention_layernorm"))
    return readVidurMemoryKernels(text, source, {});
  if (has("tflops") && has("dtype"))
    return readOpenXLA(text, source);
  if (header[0] == "Precision")
    return readDeepBench(text, source);
  return csv->errorAt(0, "no profile: expected the columns op, dtype, pass, "
                         "shape and time_us, or those of a known table");
}

/// Limits of a measured kernel: its time in seconds, and its FLOPs and bytes.
/// No real kernel comes near them.
static constexpr double minSeconds = 1e-12, maxSeconds = 1e6, maxWork = 1e30;

/// Fails if a kernel of a profile is not within the limits.
static Error checkLimits(const Measurements &kernels, StringRef source) {
  for (auto [number, row] : llvm::enumerate(kernels)) {
    std::string place = (source + ": kernel " + Twine(number + 1)).str();
    if (!(row.seconds >= minSeconds && row.seconds <= maxSeconds))
      return createStringError(place +
                               ": expected a time from 1e-6 to 1e12 us"
                               ", got " +
                               json::formatNumber(row.seconds * 1e6) + " us");
    if (!(row.kernel.flops <= maxWork && row.kernel.bytes <= maxWork))
      return createStringError(place + ": its sizes give more than 1e30 FLOPs "
                                       "or bytes");
  }
  return Error::success();
}

static Expected<Measurements> parseText(StringRef text, StringRef source) {
  if (!text.ltrim().starts_with("{"))
    return parseTable(text, source);
  if (text.contains("\"accurate_efficient_factor\""))
    return readSimuMax(text, source);
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  return parseOwnJSON(*document);
}

Expected<Measurements> proteus::cost::parseProfile(StringRef text,
                                                   StringRef source) {
  Expected<Measurements> kernels = parseText(text, source);
  if (!kernels)
    return kernels;
  if (Error error = checkLimits(*kernels, source))
    return std::move(error);
  return kernels;
}

Expected<Measurements> proteus::cost::readProfile(StringRef path) {
  Expected<std::string> text = readTextFile(path);
  if (!text)
    return createStringError("can't read profile " + path + ": " +
                             toString(text.takeError()));
  return parseProfile(*text, path);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// Names of devices in published tables, and the names of the same devices in
/// cluster files.
static constexpr std::pair<StringRef, StringRef> tableNames[] = {
    {"a100", "A100-SXM4-80GB"},
    {"h100", "H100-SXM5-80GB"},
    {"a40", "A40"},
    {"sm_90", "H100-SXM5-80GB"},
    {"sm_100_B200", "B200-SXM6-180GB"},
    {"gfx950", "MI350X-288GB"},
    {"a100_pcie_bf16", "A100-PCIe-80GB"},
    {"b200_bf16_ceperm", "B200-SXM6-180GB"}};

Measurements proteus::cost::measurementsOf(const Device &device,
                                           const Measurements &all) {
  auto isOwn = [&](StringRef name) {
    return name.empty() || name == device.name ||
           llvm::any_of(tableNames, [&](const auto &pair) {
             return pair.first == name && pair.second == device.name;
           });
  };
  Measurements own;
  for (const Measurement &row : all)
    if (isOwn(row.device))
      own.push_back(row);
  return own;
}
