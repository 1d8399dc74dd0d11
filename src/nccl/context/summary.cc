#include "nccl/context/summary.h"

#include <fmt/format.h>

#include "core/counters.h"

namespace dlcp::nccl {
namespace {

double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

std::string times(const DurationHistogram& histogram) {
  const auto us = [&](double share) {
    return std::chrono::duration_cast<std::chrono::microseconds>(histogram.percentile(share))
        .count();
  };
  return fmt::format("{}/{}/{} us", us(0.5), us(0.99), us(0.999));
}

}  // namespace

std::string summary_line(std::uint64_t communicator, const engine::ContextSummary& summary) {
  using core::Counter;
  const core::Counters& counters = summary.counters;
  if (counters[Counter::kBytesSent] + counters[Counter::kBytesReceived] == 0) return {};
  std::string line = communicator == 0 ? std::string("all communicators")
                                       : fmt::format("communicator {:016x}", communicator);
  line += fmt::format(
      ": sent {:.1f} MB, received {:.1f} MB, resent {:.1f} MB, p50/p99/p99.9 of sends {}, of "
      "receives {}",
      megabytes(counters[Counter::kBytesSent]), megabytes(counters[Counter::kBytesReceived]),
      megabytes(counters[Counter::kBytesRetransmitted]), times(summary.sends),
      times(summary.receives));
  if (summary.licensed_bytes == 0) return line + "; exact";
  return line + fmt::format(
                    "; licensed {:.1f} MB, delivered {:.4f}%, lost {} bytes, largest use of a "
                    "collective's budget {:.1f}%",
                    megabytes(summary.licensed_bytes),
                    100 - 100 * static_cast<double>(summary.lost_bytes) /
                              static_cast<double>(summary.licensed_bytes),
                    summary.lost_bytes, static_cast<double>(summary.budget_used_ppm) / 1e4);
}

}  // namespace dlcp::nccl
