//===- Measurements.cpp - readers of published tables ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/Measurements.h"
#include "Proteus/Support/CSV.h"
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
// Construction of kernels
//===----------------------------------------------------------------------===//

static double widthOf(DType type) {
  return static_cast<double>(byteWidth(type));
}

Kernel proteus::cost::makeProduct(double batch, double rows, double columns,
                                  double inner, DType type, DType resultType,
                                  Pass pass, bool accumulates) {
  Kernel kernel;
  kernel.op = "product";
  kernel.family = Family::Product;
  kernel.matrix = true;
  kernel.type = type;
  kernel.pass = pass;
  kernel.accumulates = accumulates;
  kernel.flops = 2 * batch * rows * columns * inner;
  kernel.resultBytes = batch * rows * columns * widthOf(resultType);
  kernel.bytes =
      batch * (rows + columns) * inner * widthOf(type) + kernel.resultBytes;
  kernel.product = MatrixProduct{batch * rows, columns, inner, 0, batch};
  return kernel;
}

Kernel proteus::cost::makeGroupedProduct(double groups, double rows,
                                         double columns, double inner,
                                         DType type, DType resultType,
                                         Pass pass, bool accumulates) {
  Kernel kernel = makeProduct(groups, rows, columns, inner, type, resultType,
                              pass, accumulates);
  kernel.family = Family::GroupedProduct;
  return kernel;
}

Kernel proteus::cost::makeAttention(const Attention &attention, DType type,
                                    bool backward) {
  Kernel kernel;
  kernel.op = "attention";
  kernel.family = Family::Attention;
  kernel.matrix = true;
  kernel.type = type;
  kernel.pass = backward ? Pass::DataGradient : Pass::Forward;
  double pairs = attention.batch * attention.heads * attention.queries *
                 attention.keys * attention.visited;
  double sizes = attention.keyDim + attention.valueDim;
  kernel.flops = 2 * pairs * sizes * (backward ? 2.5 : 1);
  // Queries, keys, values and results. The backward pass also moves their
  // gradients.
  kernel.bytes = attention.batch * attention.heads * widthOf(type) *
                 (attention.queries + attention.keys) * sizes *
                 (backward ? 2 : 1);
  kernel.attention = attention;
  return kernel;
}

Kernel proteus::cost::makeConvolution(const Convolution &conv, DType type,
                                      Pass pass) {
  Kernel kernel;
  kernel.op = "convolution";
  kernel.family = Family::Convolution;
  kernel.matrix = true;
  kernel.type = type;
  kernel.pass = pass;
  double window = conv.kernelHeight * conv.kernelWidth;
  double weights = conv.groups * conv.inChannels * conv.outChannels * window;
  double positions = conv.batch * conv.outHeight * conv.outWidth;
  double image =
      conv.batch * conv.groups * conv.inChannels * conv.height * conv.width;
  double output = positions * conv.groups * conv.outChannels;
  kernel.flops = 2 * positions * weights;
  kernel.bytes = (image + output + weights) * widthOf(type);
  kernel.resultBytes = (pass == Pass::Forward        ? output
                        : pass == Pass::DataGradient ? image
                                                     : weights) *
                       widthOf(type);
  kernel.convolution = conv;
  return kernel;
}

Kernel proteus::cost::makeMemoryKernel(Family family, double bytes,
                                       DType type) {
  Kernel kernel;
  kernel.op = "memory";
  kernel.family = family;
  kernel.bytes = bytes;
  kernel.type = type;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Tables in CSV
//===----------------------------------------------------------------------===//

namespace {
/// Reads fields from the named columns of a table. Records only the first
/// error.
class Columns {
public:
  Columns(const CSV &csv, ArrayRef<StringRef> names) : csv(csv) {
    for (StringRef name : names) {
      Expected<size_t> column = csv.column(name);
      if (!column) {
        error = joinErrors(std::move(error), column.takeError());
        return;
      }
      columns.push_back(*column);
    }
  }
  ~Columns() { consumeError(std::move(error)); }

  bool failed() { return bool(error); }
  Error takeError() { return std::move(error); }

  StringRef text(size_t row, size_t column) {
    if (columns[column] < csv.row(row).size())
      return csv.row(row)[columns[column]];
    fail(row, "too few fields");
    return "";
  }
  /// Returns the positive number in a field. If the field contains no such
  /// number, records an error and returns 1.
  double number(size_t row, size_t column) {
    StringRef field = text(row, column);
    double value = numberOf(field);
    if (value > 0 && std::isfinite(value))
      return value;
    fail(row, "expected a positive number, got '" + field + "'");
    return 1;
  }
  void fail(size_t row, const Twine &message) {
    if (!error)
      error = csv.errorAt(row, message);
  }

private:
  const CSV &csv;
  SmallVector<size_t> columns;
  Error error = Error::success();
};
} // namespace

Expected<Measurements> proteus::cost::readVidurProducts(StringRef text,
                                                        StringRef source) {
  Expected<CSV> csv = CSV::parse(text, source);
  if (!csv)
    return csv.takeError();
  Columns columns(*csv, {"gpu", "model", "op", "tp", "M_tokens", "N", "K",
                         "time_ms_median"});
  Measurements all;
  for (size_t row = 1; row < csv->size() && !columns.failed(); ++row) {
    double tokens = columns.number(row, 4), n = columns.number(row, 5),
           k = columns.number(row, 6);
    all.push_back({makeProduct(1, tokens, n, k, DType::BF16, DType::BF16),
                   columns.number(row, 7) * 1e-3, columns.text(row, 0).str(),
                   (columns.text(row, 1) + " tp" + columns.text(row, 3) + " " +
                    columns.text(row, 2))
                       .str()});
  }
  if (columns.failed())
    return columns.takeError();
  return all;
}

namespace {
/// Sizes of the products of one layer on one device, in elements.
struct Widths {
  double preColumns = 0, postInner = 0, upColumns = 0, downInner = 0;

  /// Returns the width of queries and keys together, q + k. The product before
  /// attention computes queries, keys and values: its columns are q + 2k. The
  /// product after attention has the inner size q.
  double rope() const { return (preColumns + postInner) / 2; }
  double activation() const { return upColumns + downInner; }
};
} // namespace

/// Bytes that each device reads for one token of a rotary embedding in addition
/// to queries and keys: the position, and a row of cosines and sines in bf16.
/// The row has as many elements as a head, which is 128 in nearly all models of
/// the table.
static constexpr double ropeTableBytes = 8 + 2 * 128;

/// Returns the widths of each model at each tensor-parallel degree. The keys
/// are texts such as "<model> tp2".
static std::map<std::string, Widths> widthsOf(const Measurements &products) {
  std::map<std::string, Widths> widths;
  for (const Measurement &measurement : products) {
    auto [model, op] = StringRef(measurement.label).rsplit(' ');
    Widths &own = widths[model.str()];
    const MatrixProduct &product = *measurement.kernel.product;
    if (op == "attn_pre_proj")
      own.preColumns = product.columns;
    else if (op == "attn_post_proj")
      own.postInner = product.inner;
    else if (op == "mlp_up_proj")
      own.upColumns = product.columns;
    else if (op == "mlp_down_proj")
      own.downInner = product.inner;
  }
  return widths;
}

Expected<Measurements>
proteus::cost::readVidurMemoryKernels(StringRef text, StringRef source,
                                      const Measurements &products) {
  Expected<CSV> csv = CSV::parse(text, source);
  if (!csv)
    return csv.takeError();
  Columns columns(*csv, {"gpu", "model", "tp", "tokens", "hidden", "emb",
                         "input_layernorm", "attn_rope",
                         "post_attention_layernorm", "mlp_act", "add"});
  std::map<std::string, Widths> widths = widthsOf(products);
  Measurements all;
  for (size_t row = 1; row < csv->size() && !columns.failed(); ++row) {
    std::string model =
        (columns.text(row, 1) + " tp" + columns.text(row, 2)).str();
    double tokens = columns.number(row, 3);
    double hidden = tokens * columns.number(row, 4);
    auto add = [&](size_t column, Family family, double bytes) {
      // Skip operations that the model does not have, and operations of unknown
      // size, for which `bytes` is 0.
      StringRef time = columns.text(row, column);
      if (time == "None" || time.empty() || bytes == 0)
        return;
      all.push_back({makeMemoryKernel(family, bytes, DType::BF16),
                     columns.number(row, column) * 1e-3,
                     columns.text(row, 0).str(), model});
    };
    auto known = widths.find(model);
    Widths own = known == widths.end() ? Widths() : known->second;
    add(5, Family::Embedding, 4 * hidden);
    add(6, Family::Norm, 4 * hidden);
    add(7, Family::Rope,
        own.rope() == 0 ? 0 : tokens * (4 * own.rope() + ropeTableBytes));
    add(8, Family::Norm, 4 * hidden);
    add(9, Family::Activation, 2 * tokens * own.activation());
    add(10, Family::Stream, 6 * hidden);
  }
  if (columns.failed())
    return columns.takeError();
  return all;
}

/// Returns the type with the name `name`, for example "bf16" or "f8e4m3fn", or
/// nullopt if the name is unknown.
static std::optional<DType> typeOf(StringRef name) {
  if (name.starts_with("f8"))
    return DType::F8;
  return StringSwitch<std::optional<DType>>(name)
      .Cases({"bf16", "bfloat16"}, DType::BF16)
      .Cases({"f16", "fp16", "float16"}, DType::F16)
      .Cases({"f32", "fp32", "float32"}, DType::F32)
      .Default(std::nullopt);
}

Expected<Measurements> proteus::cost::readOpenXLA(StringRef text,
                                                  StringRef source) {
  Expected<CSV> csv = CSV::parse(text, source);
  if (!csv)
    return csv.takeError();
  Columns columns(*csv, {"gpu", "b", "m", "n", "k", "dtype", "tflops"});
  Measurements all;
  for (size_t row = 1; row < csv->size() && !columns.failed(); ++row) {
    auto [operands, result] = columns.text(row, 5).split("->");
    auto [left, right] = operands.split('x');
    std::optional<DType> type = typeOf(left), resultType = typeOf(result);
    if (!type || !resultType || !typeOf(right)) {
      columns.fail(row, "unknown types '" + columns.text(row, 5) + "'");
      break;
    }
    // On the machines of this table, products of single precision run as TF32.
    if (*type == DType::F32)
      type = resultType = DType::TF32;
    Kernel kernel = makeProduct(columns.number(row, 1), columns.number(row, 2),
                                columns.number(row, 3), columns.number(row, 4),
                                *type, *resultType);
    double seconds = kernel.flops / (columns.number(row, 6) * 1e12);
    all.push_back({std::move(kernel), seconds, columns.text(row, 0).str(),
                   columns.text(row, 5).str()});
  }
  if (columns.failed())
    return columns.takeError();
  return all;
}

//===----------------------------------------------------------------------===//
// DeepBench
//===----------------------------------------------------------------------===//

namespace {
/// Reads a sheet that was exported as CSV. The sheet consists of sections, and
/// each section has its own header row.
class DeepBenchReader {
public:
  DeepBenchReader(const CSV &csv) : csv(csv) {}

  Expected<Measurements> run() {
    Error error = readAll();
    if (error)
      return std::move(error);
    return std::move(all);
  }

private:
  Error readAll() {
    bool isHalf =
        csv.row(0).size() > 1 && StringRef(csv.row(0)[1]).starts_with("16 bit");
    type = isHalf ? DType::F16 : DType::F32;
    StringRef section;
    for (size_t row = 1; row < csv.size(); ++row) {
      ArrayRef<std::string> fields = csv.row(row);
      if (!fields[0].empty()) {
        section = fields[0];
        header = row;
        // In the section of products, the row with the section's name also
        // contains the names of the columns.
        continue;
      }
      if (section == "Convolution" && header + 1 == row) {
        header = row;
        section = "convolutions";
      } else if (section == "Dense Matrix Multiplication") {
        if (Error error = readProduct(row))
          return error;
      } else if (section == "convolutions") {
        if (Error error = readConvolution(row))
          return error;
      }
    }
    if (all.empty())
      return csv.errorAt(0, "no sheet of DeepBench: it has no products");
    return Error::success();
  }

  /// Returns the field in the column `name`, or an empty string if there is no
  /// such column. Also accepts a column name that begins with `name (`, and
  /// ignores case, because sheets contain both "stride" and "Stride".
  StringRef field(size_t row, StringRef name) const {
    for (auto [i, column] : llvm::enumerate(csv.row(header))) {
      StringRef own = StringRef(column).trim();
      if ((own.equals_insensitive(name) ||
           own.starts_with_insensitive((name + " (").str())) &&
          i < csv.row(row).size())
        return csv.row(row)[i];
    }
    return "";
  }
  double number(size_t row, StringRef name) const {
    return numberOf(field(row, name));
  }

  Error readProduct(size_t row) {
    double m = number(row, "M"), n = number(row, "N"), k = number(row, "K");
    double time = number(row, "Time");
    if (std::isnan(m))
      return Error::success(); // the row is a remark
    if (!(m > 0 && n > 0 && k > 0 && time > 0))
      return csv.errorAt(row, "expected M, N, K and a time");
    all.push_back(
        {makeProduct(1, m, n, k, type, type), time * 1e-3, "",
         field(row, "A Transpose").str() + field(row, "B Transpose").str()});
    return Error::success();
  }

  Error readConvolution(size_t row) {
    Convolution conv;
    conv.width = number(row, "W");
    if (std::isnan(conv.width))
      return Error::success(); // the row is a remark
    conv.height = number(row, "H");
    conv.batch = number(row, "N");
    conv.inChannels = number(row, "C");
    conv.outChannels = number(row, "K");
    conv.kernelHeight = number(row, "R");
    conv.kernelWidth = number(row, "S");
    double down = number(row, "Vertical stride");
    double across = number(row, "Horizontal stride");
    conv.stride = std::max(down, across);
    conv.outHeight = std::floor((conv.height + 2 * number(row, "pad_h") -
                                 conv.kernelHeight) /
                                down) +
                     1;
    conv.outWidth =
        std::floor((conv.width + 2 * number(row, "pad_w") - conv.kernelWidth) /
                   across) +
        1;
    if (!(conv.outHeight > 0 && conv.outWidth > 0 && conv.batch > 0 &&
          conv.inChannels > 0 && conv.outChannels > 0))
      return csv.errorAt(row, "expected the sizes of a convolution");
    std::pair<StringRef, Pass> passes[] = {
        {"Forward", Pass::Forward},
        {"wrt Inputs", Pass::DataGradient},
        {"wrt Parameters", Pass::WeightGradient}};
    for (auto [name, pass] : passes) {
      double time = number(row, name);
      // The gradient of the input of a model's first layer is not computed, so
      // its field "wrt Inputs" is empty.
      if (!std::isnan(time))
        all.push_back({makeConvolution(conv, type, pass), time * 1e-3, "", ""});
    }
    return Error::success();
  }

  const CSV &csv;
  DType type = DType::F32;
  size_t header = 0;
  Measurements all;
};
} // namespace

Expected<Measurements> proteus::cost::readDeepBench(StringRef text,
                                                    StringRef source) {
  Expected<CSV> csv = CSV::parse(text, source);
  if (!csv)
    return csv.takeError();
  return DeepBenchReader(*csv).run();
}

//===----------------------------------------------------------------------===//
// SimuMax
//===----------------------------------------------------------------------===//

/// Returns `text` without trailing commas of lists and objects. Files of
/// SimuMax contain such commas, but JSON does not allow them.
static std::string withoutTrailingCommas(StringRef text) {
  std::string result;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\'))
      inString = !inString;
    if (c == ',' && !inString) {
      StringRef rest = text.drop_front(i + 1).ltrim();
      if (rest.starts_with("}") || rest.starts_with("]"))
        continue;
    }
    result += c;
  }
  return result;
}

namespace {
/// A key in a system file of SimuMax such as "b=1, m=4096, layout=TN", split
/// into named values.
class ShapeKey {
public:
  ShapeKey(const json::Reader &entry, StringRef key) : entry(entry) {
    SmallVector<StringRef> parts;
    key.split(parts, ',');
    for (StringRef part : parts) {
      auto [name, value] = part.trim().split('=');
      values[name] = value;
    }
  }
  StringRef text(StringRef name) const {
    auto found = values.find(name);
    if (found != values.end())
      return found->second;
    entry.fail("the key lacks '" + name + "'");
    return "";
  }
  double number(StringRef name) const {
    StringRef value = text(name);
    double parsed = numberOf(value);
    if (parsed > 0)
      return parsed;
    entry.fail("expected a positive '" + name + "' in the key, got '" + value +
               "'");
    return 1;
  }
  DType type(StringRef name) const {
    StringRef value = text(name);
    if (std::optional<DType> known = typeOf(value))
      return *known;
    entry.fail("unknown type '" + value + "' in the key");
    return DType::BF16;
  }
  bool flag(StringRef name) const { return text(name) == "True"; }

private:
  const json::Reader &entry;
  std::map<StringRef, StringRef> values;
};
} // namespace

static Kernel productOf(const ShapeKey &key) {
  StringRef layout = key.text("layout");
  Pass pass = layout == "NT"   ? Pass::WeightGradient
              : layout == "NN" ? Pass::DataGradient
                               : Pass::Forward;
  return makeProduct(key.number("b"), key.number("m"), key.number("n"),
                     key.number("k"), DType::BF16, key.type("out_dtype"), pass,
                     key.flag("accumulate"));
}

static Kernel groupedProductOf(const ShapeKey &key) {
  double groups = key.number("ng"), m = key.number("M"), n = key.number("N"),
         k = key.number("K");
  DType type = key.type("dtype"), out = key.type("out_dtype");
  StringRef stage = key.text("stage");
  if (stage == "bwd_grad_act")
    return makeGroupedProduct(groups, m, k, n, type, out, Pass::DataGradient);
  if (stage == "bwd_grad_w")
    return makeGroupedProduct(groups, n, k, m, type,
                              key.type("main_grad_dtype"), Pass::WeightGradient,
                              /*accumulates=*/true);
  return makeGroupedProduct(groups, m, n, k, type, out);
}

/// Returns the attention kernel of a key. SimuMax measured attention with a
/// causal mask, which computes half of the (query, key) pairs.
static Kernel attentionOf(const ShapeKey &key, bool backward) {
  Attention attention;
  attention.batch = key.number("batch");
  attention.heads = key.number("head_num");
  attention.queries = attention.keys = key.number("seq_len");
  attention.keyDim = key.number("qk_head_dim");
  attention.valueDim = key.number("v_head_dim");
  attention.visited = 0.5;
  return makeAttention(attention, DType::BF16, backward);
}

Expected<Measurements> proteus::cost::readSimuMax(StringRef text,
                                                  StringRef source) {
  Expected<json::Document> document =
      json::Document::parse(withoutTrailingCommas(text), source);
  if (!document)
    return document.takeError();
  json::Reader root = document->root();
  std::string device = root["sys_name"].string();
  json::Reader ops = root["accelerator"]["op"];
  Measurements all;
  auto read = [&](StringRef name, function_ref<Kernel(const ShapeKey &)> make,
                  double countedOverDone) {
    if (!ops.has(name) || !ops[name].has("accurate_efficient_factor"))
      return;
    double peak = ops[name]["tflops"].positive(1e9) * 1e12;
    for (const auto &[key, entry] :
         ops[name]["accurate_efficient_factor"].members()) {
      Kernel kernel = make(ShapeKey(entry, key));
      double seconds =
          kernel.flops * countedOverDone / (peak * entry.positive(1000));
      all.push_back({std::move(kernel), seconds, device, name.str()});
    }
  };
  read("matmul", productOf, 1);
  read("group_matmul", groupedProductOf, 1);
  read(
      "sdp_fwd", [](const ShapeKey &key) { return attentionOf(key, false); },
      2);
  read(
      "sdp_bwd", [](const ShapeKey &key) { return attentionOf(key, true); }, 2);
  if (Error error = document->takeError())
    return std::move(error);
  return all;
}
