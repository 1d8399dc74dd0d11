// Threshold arithmetic: pure functions of one port's figures. Lengths are bytes, rates bits per
// second, times nanoseconds. Sources: the dynamic threshold is from Choudhury and Hahne (1998), the
// ECN knee from DCTCP (2010, section 3.3). The spacing of drop levels is DLCP's own, explained
// below.
#pragma once

#include <cstdint>
#include <vector>

namespace dlcp::fabric {

struct PortFigures {
  double bits_per_second = 0;
  double base_rtt_ns = 0;
  double incast_degree = 1;  // F: senders to one queue that may burst at once
  double mtu_bytes = 0;
  double cell_bytes = 1;
};

// Bytes that the port sends in one base round-trip time.
double bandwidth_delay_bytes(const PortFigures& port);

// Depth above which ECN-capable packets are marked: 1.2 * BDP / 7, at least 16 packets.
double ecn_knee_bytes(const PortFigures& port);

// Maximum length of a queue with dynamic threshold 2^alpha_exponent while `saturated` queues of the
// pool are full: alpha * B / (1 + alpha * N).
double dynamic_limit_bytes(double pool_bytes, int alpha_exponent, double saturated);

// Depths D_1 < ... < D_k for levels with these shares of the offered bytes, least important first.
// D_1 is the knee if both must be equal, else a quarter of the BDP. While level i is dropped, the
// levels above it still arrive at F * (their shares) times the link rate for one round-trip time,
// so D_(i+1) = D_i + max((F * sum of shares above i - 1) * BDP, 16 packets).
std::vector<double> level_depths(const PortFigures& port, const std::vector<double>& shares,
                                 bool first_at_knee);

// The deepest level leaves a fifth of the queue's limit for unplanned traffic.
inline constexpr double kUsableLimit = 0.8;

// A depth as a whole percentage of the limit, 1 to 99, for systems that state it so.
std::uint64_t whole_percent(std::uint64_t bytes, std::uint64_t limit);

std::uint64_t rounded_to_cell(double bytes, double cell_bytes);

}  // namespace dlcp::fabric
