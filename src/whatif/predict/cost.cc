#include "whatif/predict/cost.h"

#include <algorithm>
#include <cmath>

namespace dlcp::whatif {
namespace {

constexpr int kPasses = 12;
constexpr double kHuber = 0.1;      // relative errors beyond this count linearly
constexpr double kSpreadMin = 4;    // of bytes per round, to separate latency from bandwidth
constexpr double kLatencyHigh = 4;  // times the usual latency

struct Point {
  double rounds, bytes, seconds, count;
};

// Of all transfers.
struct Sums {
  double rounds = 0, bytes = 0, seconds = 0;
};

Sums sums_of(std::span<const Point> points) {
  Sums sums;
  for (const Point& point : points) {
    sums.rounds += point.count * point.rounds;
    sums.bytes += point.count * point.bytes;
    sums.seconds += point.count * point.seconds;
  }
  return sums;
}

// Least squares of relative errors with weights; neither constant is negative.
void solve(std::span<const Point> points, std::span<const double> weights, Cost& cost) {
  double rr = 0, rb = 0, bb = 0, r1 = 0, b1 = 0;
  for (std::size_t i = 0; i < points.size(); i++) {
    const double r = points[i].rounds / points[i].seconds, b = points[i].bytes / points[i].seconds;
    rr += weights[i] * r * r;
    rb += weights[i] * r * b;
    bb += weights[i] * b * b;
    r1 += weights[i] * r;
    b1 += weights[i] * b;
  }
  const double determinant = rr * bb - rb * rb;
  const Sums sums = sums_of(points);
  const double latency = determinant > 0 ? (r1 * bb - b1 * rb) / determinant : -1;
  const double per_byte = determinant > 0 ? (rr * b1 - rb * r1) / determinant : 0;
  cost.latency = latency < 0 ? 0 : per_byte < 0 ? sums.seconds / sums.rounds : latency;
  cost.per_byte = latency < 0 ? sums.seconds / sums.bytes : std::max(0.0, per_byte);
}

double relative_error(const Point& point, const Cost& cost) {
  return (point.rounds * cost.latency + point.bytes * cost.per_byte) / point.seconds - 1;
}

void fit(std::span<const Point> points, Cost& cost) {
  std::vector<double> weights(points.size(), 1.0);
  for (int pass = 0; pass < kPasses; pass++) {
    solve(points, weights, cost);
    for (std::size_t i = 0; i < points.size(); i++)
      weights[i] = kHuber / std::max(kHuber, std::abs(relative_error(points[i], cost)));
  }
  double deviation = 0;
  for (const Point& point : points)
    deviation += point.count * point.seconds * std::abs(relative_error(point, cost));
  cost.error = deviation / sums_of(points).seconds;
}

// For shapes that all have about as many bytes in a round.
void assume_latency(std::span<const Point> points, Cost& cost) {
  double per_round = points[0].seconds / std::max(points[0].rounds, 1.0);
  for (const Point& point : points)
    per_round = std::min(per_round, point.seconds / std::max(point.rounds, 1.0));
  cost.assumed = true;
  cost.latency_low = 0;
  cost.latency_high = std::min(kLatencyHigh * kUsualLatency, per_round);
  cost = cost.with_latency(std::min(kUsualLatency, per_round));
}

}  // namespace

double median_of(std::vector<double> values) {
  return quantile_of(std::move(values), 0.5);
}

double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double part = position - static_cast<double>(below);
  return values[below] * (1 - part) + values[above] * part;
}

double Cost::bytes_share(const Shape& shape) const {
  const double bytes = shape.wire_bytes() * per_byte;
  const double all = bytes + shape.rounds() * latency;
  return all > 0 ? bytes / all : 0;
}

Cost Cost::with_latency(double other) const {
  Cost cost = *this;
  cost.latency = other;
  cost.per_byte = std::max(0.0, per_byte + (latency - other) * rounds_per_byte);
  return cost;
}

Cost fit_cost(std::span<const Shape> shapes, std::span<const ShapeTime> times) {
  std::vector<Point> points;
  double least = 0, most = 0;
  for (std::size_t i = 0; i < shapes.size() && i < times.size(); i++) {
    const Point point{shapes[i].rounds(), shapes[i].wire_bytes(), times[i].median, times[i].count};
    if (!(point.seconds > 0) || point.rounds <= 0 || point.bytes <= 0) continue;
    const double per_round = point.bytes / point.rounds;
    least = points.empty() ? per_round : std::min(least, per_round);
    most = std::max(most, per_round);
    points.push_back(point);
  }
  Cost cost;
  if (points.empty()) return cost;
  const Sums sums = sums_of(points);
  cost.rounds_per_byte = sums.rounds / sums.bytes;
  if (most >= kSpreadMin * least) {
    fit(points, cost);
    cost.latency_low = cost.latency_high = cost.latency;
    return cost;
  }
  // All time is put on the bytes first; then a part of it becomes latency.
  cost.per_byte = sums.seconds / sums.bytes;
  assume_latency(points, cost);
  return cost;
}

std::vector<ShapeTime> shape_times(const Shares& shares) {
  std::vector<std::vector<double>> all(shares.shapes.size());
  for (const RankShares& rank : shares.ranks)
    for (const StepShare& step : rank.steps)
      for (const Transfer& transfer : step.transfers)
        all[transfer.shape].push_back(transfer.seconds);
  std::vector<ShapeTime> times;
  for (auto& seconds : all) {
    const auto count = static_cast<double>(seconds.size());
    times.push_back({median_of(std::move(seconds)), count});
  }
  return times;
}

}  // namespace dlcp::whatif
