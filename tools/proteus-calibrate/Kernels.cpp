//===- Kernels.cpp - sections "kernels" of device files -------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fit.h"
#include "KernelFits.h"
#include "Parts.h"

#include "Proteus/Cost/KernelModels.h"
#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <map>

using namespace llvm;
using namespace proteus;
using namespace proteus::calibrate;
using namespace proteus::machine;
using cost::Family;
using cost::Measurement;
using cost::Pass;

//===----------------------------------------------------------------------===//
// Devices and their sources
//===----------------------------------------------------------------------===//

namespace {
/// Devices with the same chip and nearly the same number of multiprocessors.
/// `device` takes missing parameters from `from`.
struct Kinship {
  StringRef device, from;
};
} // namespace

static constexpr Kinship kin[] = {
    {"A100-SXM4-80GB", "A100-PCIe-80GB"},
    {"A100-PCIe-80GB", "A100-SXM4-80GB"},
    {"A100-SXM4-40GB", "A100-SXM4-80GB"},
    {"A100-PCIe-40GB", "A100-PCIe-80GB"},
    {"H200-SXM5-141GB", "H100-SXM5-80GB"},
    {"H200-NVL-141GB", "H100-SXM5-80GB"},
    {"H100-NVL-94GB", "H100-SXM5-80GB"},
    {"GH200-96GB", "H100-SXM5-80GB"},
    {"GB200-186GB", "B200-SXM6-180GB"},
    {"V100-SXM2-32GB", "V100-SXM2-16GB"},
    {"V100-SXM3-32GB", "V100-SXM2-16GB"},
    {"V100-SXM3-32GB-H", "V100-SXM2-16GB"},
    {"V100-PCIe-16GB", "V100-SXM2-16GB"},
    {"V100-PCIe-32GB", "V100-SXM2-16GB"},
    {"V100S-PCIe-32GB", "V100-SXM2-16GB"},
    {"TITAN-V", "V100-SXM2-16GB"},
    {"P100-SXM2-16GB", "P100-PCIe-16GB"},
    {"P40", "TITAN-Xp"},
    {"MI355X-288GB", "MI350X-288GB"},
};
/// Least error of figures from a datasheet. Measured devices may be too few or
/// too similar to show a smaller one.
static constexpr double leastDatasheetError = 0.15;
/// Relative difference in clock and power between boards with the same chip.
static constexpr double boardError = 0.05;

/// Achieved shares of the memory bandwidth that SimuMax states for its two
/// machines: 0.91 of 1600 GB/s, and 0.666 of 8000 GB/s.
static constexpr double streamA100PCIe = 0.91 * 1600 / 1935;
static constexpr double streamB200 = 0.666;
/// No table has the error of these shares or the time of small kernels.
static constexpr double statedStreamError = 0.1;
static constexpr double statedStreamFixedTime = 3e-6;

//===----------------------------------------------------------------------===//
// Means of devices
//===----------------------------------------------------------------------===//

/// Returns the geometric mean of one member of several sets.
template <typename T>
static double meanOf(ArrayRef<T> sets, double T::*member) {
  double logs = 0;
  for (const T &set : sets)
    logs += std::log(set.*member);
  return rounded(std::exp(logs / static_cast<double>(sets.size())));
}

/// Returns the error of a device whose figures are means of other devices: the
/// spread of the main figure, combined with the error of each device.
template <typename T>
static double spreadOf(ArrayRef<T> sets, double T::*member) {
  double mean = meanOf(sets, member), spread = 0, error = 0;
  for (const T &set : sets) {
    spread += std::abs(std::log(set.*member / mean));
    error += set.error;
  }
  double count = static_cast<double>(sets.size());
  // A device is further from the mean of the others than from a mean that
  // includes it.
  double others = count > 1 ? count / (count - 1) : 1;
  return std::max(
      leastDatasheetError,
      rounded(std::hypot(spread / count * others, error / count), 2));
}

template <typename T>
static T mean(ArrayRef<T> sets, ArrayRef<double T::*> members) {
  T result = sets.front();
  for (double T::*member : members)
    result.*member = meanOf(sets, member);
  result.basis = Basis::Datasheet;
  result.error = spreadOf(sets, members.front());
  return result;
}

namespace {

/// Calibration of all devices: fits the parameters that tables determine and
/// derives the others.
class KernelCalibration {
public:
  explicit KernelCalibration(const KernelTables &tables) : tables(tables) {}

  Error readDevices(StringRef directory);
  void fit();
  void complete();
  Error write() const;

private:
  /// The parameters of a device found so far.
  struct Known {
    Device device;
    std::string path, text;
    bool standsForOthers = true; ///< its figures count in means of devices
    std::map<DType, ProductParameters> products;
    std::map<DType, ConvolutionParameters> convolutions;
    std::optional<GroupedParameters> grouped;
    std::optional<AttentionParameters> attention;
    std::map<MemoryClass, MemoryParameters> memory;
  };

  void fitVidur();
  void fitSimuMax(StringRef name, const KernelTable &table, double target,
                  double stream);
  void fitOpenXLA();
  void scaleToBestRates(StringRef name, StringRef accelerator);
  void fitDeepBench(StringRef name, StringRef sheet, DType type);
  void inherit(Known &device, const Known &from) const;
  void scaleToSixteenBits(const Known &known, DType type,
                          ProductParameters &set) const;
  void scaleToProducts(const Known &known, DType type,
                       ConvolutionParameters &set) const;
  void fillIn(Known &device) const;
  Known &at(StringRef name) { return devices.at(name.str()); }

  /// Returns the measured sets of devices of the same maker, or of other makers
  /// if there are none.
  template <typename T>
  std::vector<T>
  measured(const Device &like,
           function_ref<void(const Known &, std::vector<T> &)> collect) const {
    bool isCDNA = like.architecture == Architecture::CDNA;
    std::vector<T> own, others;
    for (const auto &[name, known] : devices)
      if (known.standsForOthers)
        collect(known,
                (known.device.architecture == Architecture::CDNA) == isCDNA
                    ? own
                    : others);
    for (std::vector<T> *all : {&own, &others})
      llvm::erase_if(*all,
                     [](const T &set) { return set.basis != Basis::Measured; });
    return own.empty() ? others : own;
  }

  const KernelTables &tables;
  std::map<std::string, Known> devices;
};

} // namespace

Error KernelCalibration::readDevices(StringRef directory) {
  std::error_code code;
  for (sys::fs::directory_iterator file(directory + "/devices", code), end;
       file != end && !code; file.increment(code)) {
    if (sys::path::extension(file->path()) != ".json")
      continue;
    Expected<std::string> text = readInput(file->path());
    if (!text)
      return text.takeError();
    Expected<Device> device = parseDeviceJSON(*text, file->path());
    if (!device)
      return device.takeError();
    std::string name = device->name;
    Known &known = devices[name];
    known.device = std::move(*device);
    known.path = file->path();
    known.text = std::move(*text);
    // The fits determine the rate of short bursts.
    known.device.sustained = 1;
  }
  if (code)
    return createStringError("can't list " + directory +
                             "/devices: " + code.message());
  for (const Kinship &pair : kin)
    for (StringRef name : {pair.device, pair.from})
      if (!devices.count(name.str()))
        return createStringError("there is no device file of " + name);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Fits
//===----------------------------------------------------------------------===//

void KernelCalibration::fitVidur() {
  struct Row {
    StringRef name, gpu;
    double target;
  };
  for (Row row : {Row{"A100-SXM4-80GB", "a100", 0.07},
                  Row{"H100-SXM5-80GB", "h100", 0.07}, Row{"A40", "a40", 0}}) {
    auto isOwn = [&](const Measurement &m) { return m.device == row.gpu; };
    Known &known = at(row.name);
    KernelTable products = tables.vidur.filtered(isOwn);
    products.target = row.target;
    known.products[DType::BF16] =
        fitProducts(known.device, products, DType::BF16);
    for (MemoryClass kind :
         {MemoryClass::Stream, MemoryClass::Norm, MemoryClass::Activation,
          MemoryClass::Rope, MemoryClass::Embedding})
      known.memory[kind] = fitMemory(
          known.device, tables.vidurMemory.filtered([&](const Measurement &m) {
            return isOwn(m) && cost::memoryClassOf(m.kernel.family) == kind;
          }),
          kind);
  }
}

void KernelCalibration::fitSimuMax(StringRef name, const KernelTable &table,
                                   double target, double stream) {
  Known &known = at(name);
  auto ofFamily = [&](Family family) {
    return table.filtered(
        [&](const Measurement &m) { return m.kernel.family == family; });
  };
  KernelTable products = ofFamily(Family::Product);
  products.target = target;
  known.products[DType::BF16] =
      fitProducts(known.device, products, DType::BF16);
  known.grouped =
      fitGroupedProducts(known.device, ofFamily(Family::GroupedProduct),
                         known.products[DType::BF16]);
  KernelTable attention = ofFamily(Family::Attention);
  attention.grouping = Grouping::Attention;
  // Leave out one shape at a time.
  std::vector<unsigned> shapes = attention.groups();
  attention.folds = *llvm::max_element(shapes) + 1;
  attention.target = 0.09;
  known.attention = fitAttention(known.device, attention);
  MemoryParameters memory;
  memory.efficiency = rounded(stream);
  memory.fixedTime = statedStreamFixedTime;
  memory.basis = Basis::Measured;
  memory.error = statedStreamError;
  known.memory[MemoryClass::Stream] = memory;
}

void KernelCalibration::fitOpenXLA() {
  struct Row {
    StringRef name, gpu, types;
    DType type;
    bool keep; ///< false: another table fits the device better
    double target;
  };
  double burst = 1; ///< efficiency of bf16 in this table
  // fp8 of sm_90 and f32 of gfx950 have rows above the peak and are left out.
  for (Row row :
       {Row{"H100-SXM5-80GB", "sm_90", "bf16xbf16->bf16", DType::BF16, false,
            0.07},
        Row{"H100-SXM5-80GB", "sm_90", "f32xf32->f32", DType::TF32, true, 0},
        Row{"B200-SXM6-180GB", "sm_100_B200", "bf16xbf16->bf16", DType::BF16,
            false, 0.10},
        Row{"B200-SXM6-180GB", "sm_100_B200", "f32xf32->f32", DType::TF32, true,
            0},
        Row{"B200-SXM6-180GB", "sm_100_B200", "f8e4m3fnxf8e4m3fn->bf16",
            DType::F8, true, 0},
        Row{"MI350X-288GB", "gfx950", "bf16xbf16->bf16", DType::BF16, true, 0},
        Row{"MI350X-288GB", "gfx950", "f16xf16->f16", DType::F16, true, 0},
        Row{"MI350X-288GB", "gfx950", "f8e4m3fnxf8e4m3fn->bf16", DType::F8,
            true, 0}}) {
    KernelTable table = tables.openxla.filtered([&](const Measurement &m) {
      return m.device == row.gpu && m.label == row.types;
    });
    table.target = row.target;
    Known &known = at(row.name);
    ProductParameters set = fitProducts(known.device, table, row.type);
    if (row.type == DType::BF16)
      burst = set.efficiency;
    if (!row.keep)
      continue;
    // These are rates of short bursts. If another table has rates of longer
    // work in bf16, the clock is assumed to fall by the same factor for other
    // types.
    if (auto own = known.products.find(DType::BF16);
        own != known.products.end() && row.type != DType::BF16) {
      set.efficiency = rounded(set.efficiency * own->second.efficiency / burst);
      set.error = rounded(std::hypot(set.error, boardError), 2);
    }
    known.products[row.type] = set;
  }
}

/// Derives fp8 from bf16. No table of fp8 on this device is usable, but the
/// highest rates of fp8 and of bf16 are known. A product is assumed to reach
/// the same share of both.
void KernelCalibration::scaleToBestRates(StringRef name,
                                         StringRef accelerator) {
  Known &known = at(name);
  auto bestShare = [&](StringRef precision, DType type) {
    for (const KernelTables::BestRate &best : tables.bestRates)
      if (best.precision == precision &&
          StringRef(best.accelerator).starts_with(accelerator))
        return best.teraflops * 1e12 / known.device.peak(type);
    return 0.0;
  };
  double wide = bestShare("bf16", DType::BF16);
  double narrow = bestShare("fp8", DType::F8);
  if (wide <= 0 || narrow <= 0) {
    errs() << "warning: the table of highest rates has no bf16 and fp8 of '"
           << accelerator << "'; fp8 is taken from other devices\n";
    return;
  }
  ProductParameters set = known.products.at(DType::BF16);
  set.efficiency = rounded(set.efficiency * narrow / wide);
  set.error = rounded(std::hypot(set.error, boardError), 2);
  known.products[DType::F8] = set;
}

/// Returns true for the gradient of the input of a first layer, which training
/// does not need.
static bool isFirstLayer(const Measurement &m) {
  return m.kernel.pass == Pass::DataGradient &&
         m.kernel.convolution->inChannels <= 3;
}

void KernelCalibration::fitDeepBench(StringRef name, StringRef sheet,
                                     DType type) {
  Known &known = at(name);
  KernelTable table = tables.deepbench(sheet);
  KernelTable products = table.filtered(
      [](const Measurement &m) { return m.kernel.family == Family::Product; });
  known.products[type] = fitProducts(known.device, products, type);
  KernelTable convolutions = table.filtered([](const Measurement &m) {
    return m.kernel.family == Family::Convolution && !isFirstLayer(m);
  });
  convolutions.grouping = Grouping::Image;
  convolutions.target = 0.25;
  convolutions.sumTarget = 0.12;
  known.convolutions[type] = fitConvolutions(known.device, convolutions, type);
}

void KernelCalibration::fit() {
  printHeader();
  fitVidur();
  fitSimuMax("A100-PCIe-80GB", tables.simumaxA100, 0.07, streamA100PCIe);
  fitSimuMax("B200-SXM6-180GB", tables.simumaxB200, 0.10, streamB200);
  fitOpenXLA();
  scaleToBestRates("H100-SXM5-80GB", "H100 SXM");
  fitDeepBench("V100-SXM2-16GB", "V100__Results_FP16_ip_Mixed_math",
               DType::F16);
  fitDeepBench("V100-SXM2-16GB", "V100__Results_FP32", DType::F32);
  fitDeepBench("T4", "T4__Results_FP16_ip_Mixed_math", DType::F16);
  fitDeepBench("T4", "T4__Results_FP32", DType::F32);
  fitDeepBench("P100-PCIe-16GB", "P100__Results_FP32", DType::F32);
  fitDeepBench("P100-PCIe-16GB", "P100__Results_Psuedo_FP16", DType::F16);
  fitDeepBench("TITAN-Xp", "TitanXp__FP32", DType::F32);
  fitDeepBench("GTX-1080Ti", "1080Ti__Results_FP32", DType::F32);
  fitDeepBench("M40", "M40__Results_FP32", DType::F32);
  // Its libraries, CUDA 7.5 and cuDNN 5, are used on no other device.
  at("M40").standsForOthers = false;
  outs()
      << "\nLeft out: fp8 of sm_90 and f32 of gfx950 (openxla; rows above "
         "the peak of the datasheet), gradients of\nthe input of first "
         "layers (deepbench; training does not compute them).\nFitted "
         "beside and forgotten, because they belong to the loop that "
         "measured: how much faster short kernels\nran (simumax B200), and "
         "the time to launch attention (simumax). Rates of openxla in other "
         "types than\nbf16 are scaled to the clock of the table of bf16 that "
         "is kept. fp8 of H100: the highest rates of the table of ML "
         "Engineering\nbeside those of bf16.\n";
}

//===----------------------------------------------------------------------===//
// Parameters without measurements
//===----------------------------------------------------------------------===//

template <typename T> static T ofSameChip(T set) {
  set.basis = Basis::SameChip;
  set.error = rounded(std::hypot(set.error, boardError), 2);
  return set;
}

void KernelCalibration::inherit(Known &device, const Known &from) const {
  auto takeAll = [](auto &to, const auto &entries) {
    for (const auto &[key, set] : entries)
      to.try_emplace(key, ofSameChip(set));
  };
  takeAll(device.products, from.products);
  takeAll(device.convolutions, from.convolutions);
  takeAll(device.memory, from.memory);
  if (!device.grouped && from.grouped)
    device.grouped = ofSameChip(*from.grouped);
  if (!device.attention && from.attention)
    device.attention = ofSameChip(*from.attention);
}

/// Returns the types of `device` that have kernels of their own.
static std::vector<DType> typesOf(const Device &device) {
  std::vector<DType> types;
  // All other types use the kernels of the 16-bit type. BF16 stands for F16 if
  // the device has both.
  for (DType type :
       {DType::F32, DType::BF16, DType::F16, DType::TF32, DType::F8})
    // One 16-bit type stands for the other.
    if (device.supports(type) &&
        !(type == DType::F16 && device.supports(DType::BF16)))
      types.push_back(type);
  return types;
}

/// Returns the set of the 16-bit type on matrix units, or null.
template <typename T>
static const T *ofSixteenBits(const std::map<DType, T> &sets) {
  for (DType type : {DType::BF16, DType::F16})
    if (auto found = sets.find(type);
        found != sets.end() && found->second.onMatrixUnits)
      return &found->second;
  return nullptr;
}

/// Scales `set`, a mean of other devices, for a device with measured products
/// in 16 bits but not in `type`. The ratio of the two types is assumed to be
/// that of devices with measurements of both. It replaces the mean because the
/// limit of the clock differs between boards.
void KernelCalibration::scaleToSixteenBits(const Known &known, DType type,
                                           ProductParameters &set) const {
  const ProductParameters *sixteen = ofSixteenBits(known.products);
  if (!sixteen)
    return;
  // A ratio has the error of the two sets that it compares.
  std::vector<ProductParameters> ratios = measured<ProductParameters>(
      known.device,
      [&](const Known &other, std::vector<ProductParameters> &all) {
        const ProductParameters *wide = ofSixteenBits(other.products);
        auto own = other.products.find(type);
        if (!wide || wide->basis != Basis::Measured ||
            own == other.products.end())
          return;
        all.push_back(own->second);
        all.back().efficiency /= wide->efficiency;
      });
  if (ratios.empty())
    return;
  ProductParameters ratio =
      mean<ProductParameters>(ratios, {&ProductParameters::efficiency});
  set.efficiency = rounded(sixteen->efficiency * ratio.efficiency);
  set.error = rounded(std::hypot(sixteen->error, ratio.error), 2);
}

/// Scales convolutions in TF32, which no table has. They are computed as
/// products, so they are assumed to lose as much as products against 16 bits.
void KernelCalibration::scaleToProducts(const Known &known, DType type,
                                        ConvolutionParameters &set) const {
  const ProductParameters *sixteen = ofSixteenBits(known.products);
  const ProductParameters &own = known.products.at(type);
  if (!sixteen || &own == sixteen)
    return;
  set.efficiency =
      rounded(set.efficiency * own.efficiency / sixteen->efficiency);
  set.error = rounded(std::hypot(set.error, own.error), 2);
}

void KernelCalibration::fillIn(Known &known) const {
  for (DType type : typesOf(known.device)) {
    bool onMatrixUnits = hasMatrixUnits(known.device, type);
    auto isAlike = [&](DType own, const auto &set) {
      return set.onMatrixUnits == onMatrixUnits &&
             byteWidth(own) == byteWidth(type);
    };
    std::vector<ProductParameters> products = measured<ProductParameters>(
        known.device,
        [&](const Known &other, std::vector<ProductParameters> &all) {
          for (const auto &[own, set] : other.products)
            if (isAlike(own, set))
              all.push_back(set);
        });
    ProductParameters product =
        mean<ProductParameters>(products, {&ProductParameters::efficiency,
                                           &ProductParameters::memoryEfficiency,
                                           &ProductParameters::fixedTime});
    if (onMatrixUnits)
      scaleToSixteenBits(known, type, product);
    known.products.try_emplace(type, product);
    if (type == DType::F8)
      continue;
    std::vector<ConvolutionParameters> convolutions =
        measured<ConvolutionParameters>(
            known.device,
            [&](const Known &other, std::vector<ConvolutionParameters> &all) {
              for (const auto &[own, set] : other.convolutions)
                if (onMatrixUnits ? set.onMatrixUnits : isAlike(own, set))
                  all.push_back(set);
            });
    ConvolutionParameters generic = mean<ConvolutionParameters>(
        convolutions, {&ConvolutionParameters::efficiency,
                       &ConvolutionParameters::dataGradient,
                       &ConvolutionParameters::weightGradient,
                       &ConvolutionParameters::stridedDataGradient,
                       &ConvolutionParameters::fewChannels,
                       &ConvolutionParameters::fewChannelsWeightGradient,
                       &ConvolutionParameters::winograd,
                       &ConvolutionParameters::memoryEfficiency,
                       &ConvolutionParameters::fixedTime});
    if (onMatrixUnits)
      scaleToProducts(known, type, generic);
    known.convolutions.try_emplace(type, generic);
  }
  std::vector<GroupedParameters> grouped = measured<GroupedParameters>(
      known.device,
      [](const Known &other, std::vector<GroupedParameters> &all) {
        if (other.grouped)
          all.push_back(*other.grouped);
      });
  if (!known.grouped) {
    known.grouped = mean<GroupedParameters>(
        grouped, {&GroupedParameters::factor, &GroupedParameters::dataGradient,
                  &GroupedParameters::weightGradient});
    known.grouped->groupTime = 0;
  }
  std::vector<AttentionParameters> attention = measured<AttentionParameters>(
      known.device,
      [](const Known &other, std::vector<AttentionParameters> &all) {
        if (other.attention)
          all.push_back(*other.attention);
      });
  if (!known.attention)
    known.attention =
        mean<AttentionParameters>(attention, {&AttentionParameters::forward,
                                              &AttentionParameters::backward});
  for (MemoryClass kind : allMemoryClasses()) {
    // No table has softmax and losses. They reduce rows as norms do.
    MemoryClass like = kind == MemoryClass::Softmax ? MemoryClass::Norm : kind;
    std::vector<MemoryParameters> sets = measured<MemoryParameters>(
        known.device,
        [&](const Known &other, std::vector<MemoryParameters> &all) {
          if (auto own = other.memory.find(like); own != other.memory.end())
            all.push_back(own->second);
        });
    MemoryParameters generic = mean<MemoryParameters>(
        sets, {&MemoryParameters::efficiency, &MemoryParameters::fixedTime});
    if (kind == MemoryClass::Softmax)
      if (auto own = known.memory.find(like); own != known.memory.end()) {
        generic = own->second;
        generic.basis = Basis::Datasheet;
      }
    known.memory.try_emplace(kind, generic);
  }
}

void KernelCalibration::complete() {
  for (const Kinship &pair : kin)
    inherit(at(pair.device), at(pair.from));
  // The means contain measured sets only, so the order of devices has no
  // effect.
  for (auto &[name, known] : devices)
    fillIn(known);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

template <typename T>
static std::vector<std::pair<DType, T>> inOrder(const std::map<DType, T> &map) {
  return std::vector<std::pair<DType, T>>(map.begin(), map.end());
}

Error KernelCalibration::write() const {
  for (const auto &[name, known] : devices) {
    KernelParameters kernels;
    kernels.products = inOrder(known.products);
    kernels.convolutions = inOrder(known.convolutions);
    kernels.grouped = *known.grouped;
    kernels.attention = *known.attention;
    for (const auto &[kind, set] : known.memory)
      kernels.memory[static_cast<unsigned>(kind)] = set;
    // The section "kernels" is the last one of a file.
    StringRef text = known.text;
    text = text.substr(0, text.find(",\n  \"kernels\":")).rtrim();
    if (text.ends_with("}") && !StringRef(known.text).contains("\"kernels\":"))
      text = text.drop_back().rtrim();
    std::string whole =
        (text + ",\n  \"kernels\": " +
         formatKernels(kernels, "written by proteus-calibrate; "
                                "docs/accuracy.md names the tables") +
         "\n}\n")
            .str();
    if (Expected<Device> again = parseDeviceJSON(whole, known.path); !again)
      return again.takeError();
    if (Error error = writeFileAtomically(known.path, whole))
      return error;
  }
  return Error::success();
}

Error proteus::calibrate::fitKernels(StringRef directory, StringRef output) {
  Expected<KernelTables> tables = KernelTables::read(directory);
  if (!tables)
    return tables.takeError();
  KernelCalibration calibration(*tables);
  if (Error error = calibration.readDevices(output))
    return error;
  calibration.fit();
  calibration.complete();
  return calibration.write();
}
