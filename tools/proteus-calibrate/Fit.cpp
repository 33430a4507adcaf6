//===- Fit.cpp - fits of few parameters to many measurements --------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fit.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace llvm;
using namespace proteus::calibrate;

namespace {

using Point = std::vector<double>;

/// Simplex search of Nelder and Mead in the logarithms of the parameters, which
/// stay within their bounds.
class Simplex {
public:
  Simplex(ArrayRef<Parameter> parameters,
          function_ref<double(ArrayRef<double>)> loss)
      : parameters(parameters), loss(loss) {}

  Point run(Point start) {
    begin(std::move(start));
    constexpr unsigned mostSteps = 400;
    for (unsigned step = 0; step < mostSteps * parameters.size(); ++step) {
      sort();
      if (values.back() - values.front() < 1e-10 && spread() < 1e-7)
        break;
      improve();
    }
    sort();
    return points.front();
  }

  double valueAt(const Point &logs) const {
    Point values(logs.size());
    for (size_t i = 0; i < logs.size(); ++i)
      values[i] = std::exp(logs[i]);
    double value = loss(values);
    return std::isfinite(value) ? value : 1e300;
  }

private:
  void begin(Point start) {
    points.assign(1, start);
    for (size_t i = 0; i < parameters.size(); ++i) {
      Point next = start;
      double step = 0.2;
      // Step down if the upper bound is too near.
      next[i] += next[i] + step > std::log(parameters[i].high) ? -step : step;
      points.push_back(inside(std::move(next)));
    }
    values.clear();
    for (const Point &point : points)
      values.push_back(valueAt(point));
  }

  Point inside(Point point) const {
    for (size_t i = 0; i < point.size(); ++i)
      point[i] = std::clamp(point[i], std::log(parameters[i].low),
                            std::log(parameters[i].high));
    return point;
  }

  void sort() {
    std::vector<size_t> order(points.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(values[a], a) < std::pair(values[b], b);
    });
    std::vector<Point> sortedPoints;
    std::vector<double> sortedValues;
    for (size_t i : order) {
      sortedPoints.push_back(std::move(points[i]));
      sortedValues.push_back(values[i]);
    }
    points = std::move(sortedPoints);
    values = std::move(sortedValues);
  }

  double spread() const {
    double most = 0;
    for (size_t i = 0; i < parameters.size(); ++i)
      most = std::max(most, std::abs(points.back()[i] - points.front()[i]));
    return most;
  }

  /// Returns the worst point, mirrored at the middle of the others and `factor`
  /// times as far from it.
  Point mirrored(double factor) const {
    size_t n = parameters.size();
    Point middle(n, 0);
    for (size_t p = 0; p < n; ++p)
      for (size_t i = 0; i < n; ++i)
        middle[i] += points[p][i] / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i)
      middle[i] += factor * (middle[i] - points.back()[i]);
    return inside(std::move(middle));
  }

  bool tryFactor(double factor, double limit) {
    Point point = mirrored(factor);
    double value = valueAt(point);
    if (value >= limit)
      return false;
    points.back() = std::move(point);
    values.back() = value;
    return true;
  }

  void improve() {
    Point worst = points.back();
    double best = values.front(), second = values[values.size() - 2];
    if (tryFactor(1, second)) {
      // The new point improves on the best one: go further in this direction.
      // `mirrored` starts from the last point, so the worst point is restored
      // before.
      if (values.back() < best) {
        Point kept = points.back();
        double value = values.back();
        points.back() = worst;
        if (!tryFactor(2, value)) {
          points.back() = kept;
          values.back() = value;
        }
      }
      return;
    }
    if (tryFactor(-0.5, values.back()))
      return;
    for (size_t p = 1; p < points.size(); ++p) {
      for (size_t i = 0; i < parameters.size(); ++i)
        points[p][i] = (points[p][i] + points.front()[i]) / 2;
      values[p] = valueAt(points[p]);
    }
  }

  ArrayRef<Parameter> parameters;
  function_ref<double(ArrayRef<double>)> loss;
  std::vector<Point> points;
  std::vector<double> values;
};

} // namespace

std::vector<double>
proteus::calibrate::minimise(ArrayRef<Parameter> parameters,
                             function_ref<double(ArrayRef<double>)> loss,
                             unsigned restarts) {
  Simplex simplex(parameters, loss);
  Point point;
  for (const Parameter &parameter : parameters) {
    assert(parameter.low > 0 && parameter.low <= parameter.start &&
           parameter.start <= parameter.high && "bounds must hold the start");
    point.push_back(std::log(parameter.start));
  }
  for (unsigned run = 0; run <= restarts; ++run)
    point = simplex.run(std::move(point));
  for (double &value : point)
    value = std::exp(value);
  return point;
}

Quality proteus::calibrate::qualityOf(ArrayRef<double> predicted,
                                      ArrayRef<double> measured) {
  assert(predicted.size() == measured.size());
  Quality quality;
  quality.rows = static_cast<int64_t>(measured.size());
  if (measured.empty())
    return quality;
  std::vector<double> errors;
  double logs = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    errors.push_back(std::abs(predicted[i] / measured[i] - 1));
    logs += std::log(predicted[i] / measured[i]);
  }
  double count = static_cast<double>(measured.size());
  quality.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / count;
  quality.bias = std::exp(logs / count) - 1;
  std::sort(errors.begin(), errors.end());
  quality.median = errors[errors.size() / 2];
  quality.p90 = errors[errors.size() * 9 / 10];
  return quality;
}

/// Returns the parameters that predict the rows with `isUsed` best.
static std::vector<double> fitTo(ArrayRef<Parameter> parameters,
                                 ArrayRef<double> measured, Prediction predict,
                                 function_ref<bool(size_t)> isUsed) {
  return minimise(parameters, [&](ArrayRef<double> values) {
    double sum = 0;
    size_t count = 0;
    for (size_t row = 0; row < measured.size(); ++row) {
      if (!isUsed(row))
        continue;
      sum += std::abs(std::log(predict(values, row) / measured[row]));
      ++count;
    }
    return count ? sum / static_cast<double>(count) : 0;
  });
}

FitResult proteus::calibrate::fitRows(ArrayRef<Parameter> parameters,
                                      ArrayRef<double> measured,
                                      ArrayRef<unsigned> groups, unsigned folds,
                                      Prediction predict) {
  assert(groups.size() == measured.size());
  FitResult result;
  result.parameters =
      fitTo(parameters, measured, predict, [](size_t) { return true; });
  std::vector<double> all(measured.size());
  std::vector<double> &unseen = result.unseen;
  unseen.resize(measured.size());
  for (size_t row = 0; row < measured.size(); ++row)
    all[row] = predict(result.parameters, row);
  for (unsigned fold = 0; fold < folds; ++fold) {
    std::vector<double> values =
        fitTo(parameters, measured, predict,
              [&](size_t row) { return groups[row] % folds != fold; });
    for (size_t row = 0; row < measured.size(); ++row)
      if (groups[row] % folds == fold)
        unseen[row] = predict(values, row);
  }
  result.fit = qualityOf(all, measured);
  result.crossValidated = qualityOf(unseen, measured);
  return result;
}

double proteus::calibrate::rounded(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}
