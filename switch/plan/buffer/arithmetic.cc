#include "switch/plan/buffer/arithmetic.h"

#include <algorithm>
#include <cmath>

namespace dlcp::fabric {
namespace {

constexpr double kPacketsAtLeast = 16;  // a lower threshold would mark or drop single bursts

}  // namespace

double bandwidth_delay_bytes(const PortFigures& port) {
  return port.bits_per_second / 8 * port.base_rtt_ns / 1e9;
}

double ecn_knee_bytes(const PortFigures& port) {
  return std::max(1.2 * bandwidth_delay_bytes(port) / 7, kPacketsAtLeast * port.mtu_bytes);
}

double dynamic_limit_bytes(double pool_bytes, int alpha_exponent, double saturated) {
  const double alpha = std::ldexp(1.0, alpha_exponent);
  return alpha * pool_bytes / (1 + alpha * saturated);
}

std::vector<double> level_depths(const PortFigures& port, const std::vector<double>& shares,
                                 bool first_at_knee) {
  const double bdp = bandwidth_delay_bytes(port);
  const double spacing_min = kPacketsAtLeast * port.mtu_bytes;
  double above = 0;
  for (const double share : shares)
    above += share;
  std::vector<double> depths;
  double depth = first_at_knee ? ecn_knee_bytes(port) : std::max(0.25 * bdp, spacing_min);
  for (const double share : shares) {
    depths.push_back(depth);
    above -= share;
    depth += std::max((port.incast_degree * above - 1) * bdp, spacing_min);
  }
  return depths;
}

std::uint64_t whole_percent(std::uint64_t bytes, std::uint64_t limit) {
  constexpr std::uint64_t kMin = 1, kMax = 99;
  if (limit == 0) return kMin;
  return std::clamp((200 * bytes + limit) / (2 * limit), kMin, kMax);
}

std::uint64_t rounded_to_cell(double bytes, double cell_bytes) {
  const double cell = std::max(cell_bytes, 1.0);
  return static_cast<std::uint64_t>(std::max(std::floor(bytes / cell), 1.0) * cell);
}

}  // namespace dlcp::fabric
