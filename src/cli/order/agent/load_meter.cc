#include "cli/order/agent/load_meter.h"

#include <algorithm>

namespace dlcp::cli {
namespace {

constexpr double kPassedOver = 0.3;  // of the time, at its beginning, ignored
constexpr std::size_t kArrivalsMin = 8;

}  // namespace

double LoadMeter::bytes() const {
  double sum = 0;
  for (const Arrival& arrival : arrivals_)
    sum += static_cast<double>(arrival.bytes);
  return sum;
}

std::optional<double> LoadMeter::gb_per_s() const {
  if (arrivals_.size() < kArrivalsMin) return std::nullopt;
  const auto [first, last] = std::ranges::minmax(arrivals_, {}, &Arrival::at_ns);
  const auto begin = first.at_ns + static_cast<std::int64_t>(
                                       kPassedOver * static_cast<double>(last.at_ns - first.at_ns));
  // Counts from the first arrival to the last; the first gives only the start time.
  std::int64_t from = last.at_ns;
  for (const Arrival& arrival : arrivals_)
    if (arrival.at_ns >= begin) from = std::min(from, arrival.at_ns);
  double bytes = 0;
  for (const Arrival& arrival : arrivals_)
    if (arrival.at_ns > from) bytes += static_cast<double>(arrival.bytes);
  if (last.at_ns <= from) return std::nullopt;
  return bytes * 8 / static_cast<double>(last.at_ns - from);
}

}  // namespace dlcp::cli
