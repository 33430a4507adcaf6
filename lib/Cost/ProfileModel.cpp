//===- ProfileModel.cpp - cost model with measured kernels ----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Cost/Profile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace llvm;
using namespace proteus::cost;

/// Expected relative difference between two measurements of one kernel.
static constexpr double repeatError = 0.02;
/// Expected relative error of the modelled slowdown at the sustained clock.
static constexpr double clockError = 0.5;

namespace {

using Coordinates = std::vector<double>;

/// Coordinates of a kernel in a profile. The model interpolates between kernels
/// with equal `same` and different `sizes`.
struct Place {
  Coordinates same, sizes;
};

Place placeOf(const Kernel &kernel) {
  Place place;
  place.same = {static_cast<double>(kernel.family),
                static_cast<double>(kernel.type),
                static_cast<double>(kernel.pass),
                static_cast<double>(kernel.accumulates)};
  if (kernel.convolution) {
    const Convolution &c = *kernel.convolution;
    place.same.insert(place.same.end(),
                      {c.groups, c.inChannels, c.outChannels, c.height, c.width,
                       c.outHeight, c.outWidth, c.kernelHeight, c.kernelWidth,
                       c.stride});
    place.sizes = {c.batch};
  } else if (kernel.attention) {
    const Attention &a = *kernel.attention;
    place.same.insert(place.same.end(),
                      {a.keyDim, a.valueDim, a.visited, a.keys / a.queries});
    place.sizes = {a.batch * a.heads, a.queries};
  } else if (kernel.product) {
    const MatrixProduct &p = *kernel.product;
    // Bytes of one element of the result.
    place.same.push_back(kernel.resultBytes / (p.rows * p.columns));
    place.sizes = {p.batch, p.rows / p.batch, p.columns, p.inner};
  } else {
    place.same.push_back(kernel.steps);
    place.sizes = {kernel.bytes};
  }
  return place;
}

/// Measurements of kernels that differ only in their sizes. The deviation `off`
/// of a measurement is log(measured time / modelled time).
class Points {
public:
  /// Adds one measurement.
  void add(const Coordinates &sizes, double off) {
    Point &point = points[sizes];
    point.off += off;
    ++point.count;
  }

  /// Returns the mean deviation of all measurements at `sizes`, or nullopt if
  /// there are none.
  std::optional<double> measured(const Coordinates &sizes) const {
    auto found = points.find(sizes);
    if (found == points.end())
      return std::nullopt;
    return found->second.off / found->second.count;
  }

  /// Interpolates the deviation at `sizes` between measured neighbours. Returns
  /// this deviation, and the difference between the largest and the smallest
  /// deviation of the neighbours. First looks for two neighbours, a smaller and
  /// a larger kernel, that differ from `sizes` in one size only. If there are
  /// none, looks for four neighbours that differ in two sizes, and so on.
  /// Returns nullopt if there are no neighbours.
  std::optional<std::pair<double, double>>
  between(const Coordinates &sizes) const {
    unsigned count = sizes.size();
    for (unsigned wanted = 1; wanted <= count; ++wanted)
      for (unsigned moving = 1; moving < (1u << count); ++moving)
        if (static_cast<unsigned>(llvm::popcount(moving)) == wanted)
          if (auto found = inCell(sizes, moving))
            return found;
    return std::nullopt;
  }

private:
  struct Point {
    double off = 0;
    int count = 0;
  };

  /// Returns true if `a` and `b` agree in each size i for which bit i of
  /// `moving` is not set.
  static bool agree(const Coordinates &a, const Coordinates &b,
                    unsigned moving) {
    for (unsigned i = 0; i < a.size(); ++i)
      if (!(moving >> i & 1) && a[i] != b[i])
        return false;
    return true;
  }

  /// Interpolates between the neighbours that differ from `sizes` in each size
  /// i for which bit i of `moving` is set. The interpolation is linear in the
  /// logarithms of the sizes. Returns nullopt if a neighbour was not measured.
  std::optional<std::pair<double, double>> inCell(const Coordinates &sizes,
                                                  unsigned moving) const {
    Coordinates low(sizes.size(), 0), high(sizes.size(), HUGE_VAL);
    for (const auto &[other, point] : points)
      if (agree(sizes, other, moving))
        for (unsigned i = 0; i < sizes.size(); ++i) {
          if (other[i] < sizes[i])
            low[i] = std::max(low[i], other[i]);
          if (other[i] > sizes[i])
            high[i] = std::min(high[i], other[i]);
        }
    SmallVector<unsigned> axes;
    for (unsigned i = 0; i < sizes.size(); ++i)
      if (moving >> i & 1) {
        if (low[i] == 0 || high[i] == HUGE_VAL)
          return std::nullopt;
        axes.push_back(i);
      }
    double off = 0, least = HUGE_VAL, most = -HUGE_VAL;
    for (unsigned corner = 0; corner < (1u << axes.size()); ++corner) {
      Coordinates at = sizes;
      double weight = 1;
      for (auto [bit, axis] : llvm::enumerate(axes)) {
        bool isHigh = corner >> bit & 1;
        double share = std::log(sizes[axis] / low[axis]) /
                       std::log(high[axis] / low[axis]);
        at[axis] = isHigh ? high[axis] : low[axis];
        weight *= isHigh ? share : 1 - share;
      }
      auto found = points.find(at);
      if (found == points.end())
        return std::nullopt;
      double own = found->second.off / found->second.count;
      off += weight * own;
      least = std::min(least, own);
      most = std::max(most, own);
    }
    return std::pair(off, most - least);
  }

  std::map<Coordinates, Point> points;
};

class ProfileModel : public KernelCostModel {
public:
  ProfileModel(const Device &device, const KernelModelOptions &options,
               const Measurements &profile)
      : inStep(createDeviceModel(device, options)),
        alone(createDeviceModel(atFullClock(device), options)) {
    for (const Measurement &row : profile) {
      Place place = placeOf(row.kernel);
      // A kernel that was measured outside a step ran at the full clock.
      // Compare it with the model at this clock. The deviation is assumed to be
      // the same at the clock of a step.
      const KernelCostModel &like = row.inStep ? *inStep : *alone;
      double model = secondsOf(like, row.kernel);
      Kind &kind = kinds[place.same];
      kind.points.add(place.sizes, std::log(row.seconds / model));
      kind.measuredAlone |= !row.inStep;
    }
  }

  Answer cost(const Kernel &kernel) const override {
    Answer answer = inStep->cost(kernel);
    Place place = placeOf(kernel);
    auto found = kinds.find(place.same);
    if (found == kinds.end())
      return answer;
    const Kind &kind = found->second;
    double off = 0;
    if (std::optional<double> exact = kind.points.measured(place.sizes)) {
      off = *exact;
      answer.source = Source::Measured;
      answer.uncertainty = repeatError;
    } else if (auto around = kind.points.between(place.sizes)) {
      off = around->first;
      answer.source = Source::Interpolated;
      answer.uncertainty = repeatError + around->second / 2;
    } else {
      return answer;
    }
    Kernel like = asMeasured(kernel);
    double modelled = secondsOf(*inStep, like);
    if (kind.measuredAlone)
      answer.uncertainty +=
          clockError * (modelled / secondsOf(*alone, like) - 1);
    answer.time = fromSeconds(modelled * std::exp(off));
    return answer;
  }

private:
  /// Kernels that differ only in their sizes.
  struct Kind {
    Points points;
    bool measuredAlone = false; ///< true if some kernels were measured alone
  };

  /// Returns the kernel with the default layout of channels. Profiles do not
  /// contain the layout, because users measure with the layout of their stack.
  static Kernel asMeasured(Kernel kernel) {
    if (kernel.convolution)
      kernel.convolution->channelsLast = Convolution().channelsLast;
    return kernel;
  }

  /// Returns the time of `kernel` by `model`: at least 1 ps, because measured
  /// times are divided by it.
  static double secondsOf(const KernelCostModel &model, const Kernel &kernel) {
    return toSeconds(std::max<Time>(model.cost(kernel).time, 1));
  }

  /// Returns the device at its full clock, which it reaches without continuous
  /// load.
  static Device atFullClock(Device device) {
    device.sustained = 1;
    return device;
  }

  std::unique_ptr<KernelCostModel> inStep, alone;
  std::map<Coordinates, Kind> kinds;
};

} // namespace

std::unique_ptr<KernelCostModel>
proteus::cost::createProfileModel(const Device &device,
                                  const KernelModelOptions &options,
                                  const Measurements &profile) {
  if (profile.empty())
    return createDeviceModel(device, options);
  return std::make_unique<ProfileModel>(device, options, profile);
}
