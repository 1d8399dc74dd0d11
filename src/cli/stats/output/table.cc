// The tables of `dlcp stats`: a block per process, a line per device and two per communicator.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>

#include "cli/stats/output/formats.h"
#include "util/text/duration_text.h"

namespace dlcp::cli {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.3g}%",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string percentiles(const DurationHistogram& histogram) {
  if (histogram.count() == 0) return "-";
  return fmt::format("{}/{}/{}", duration_text(histogram.percentile(0.5)),
                     duration_text(histogram.percentile(0.99)),
                     duration_text(histogram.percentile(0.999)));
}

void print_device(std::string& out, const engine::LiveDevice& device) {
  using core::Counter;
  const auto& counters = device.counters;
  out += fmt::format("  {} {} {}: sent {}, received {}, resent {}, CE marks {}\n",
                     device.name.view(), device.datapath.view(), device.address.view(),
                     bytes_text(count_of(counters, Counter::kBytesSent)),
                     bytes_text(count_of(counters, Counter::kBytesReceived)),
                     share_text(count_of(counters, Counter::kBytesRetransmitted),
                                count_of(counters, Counter::kBytesSent)),
                     count_of(counters, Counter::kCeMarksReceived));
}

std::string local_time(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm local{};
  localtime_r(&time, &local);
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local));
}

std::string name_of(const engine::LiveCommunicator& row) {
  if (row.communicator != 0) return fmt::format("{:016x}", row.communicator);
  return row.context == 0 ? "(ended)" : "(all)";
}

void print_communicator(std::string& out, const ProcessSnapshot& process,
                        const engine::LiveCommunicator& row) {
  using core::Counter;
  out += fmt::format(
      "  communicator {}{} on {}\n    sent {}, received {}, resent {}\n", name_of(row),
      row.rank < 0 ? "" : fmt::format(" rank {}/{}", row.rank, row.ranks),
      process.device_name(row.device), bytes_text(count_of(row.counters, Counter::kBytesSent)),
      bytes_text(count_of(row.counters, Counter::kBytesReceived)),
      bytes_text(count_of(row.counters, Counter::kBytesRetransmitted)));
  out += fmt::format("    p50/p99/p99.9  send {}  receive {}\n", percentiles(row.sends),
                     percentiles(row.receives));
  if (const auto words = row.all_reduce.view(); !words.empty())
    out += fmt::format("    all-reduces: {}\n", words.substr(0, 63));
  if (row.blocks_whole + row.blocks_partial > 0) {
    out += fmt::format("    blocks {} whole, {} partial; contributions repaired {}\n",
                       row.blocks_whole, row.blocks_partial,
                       count_of(row.counters, Counter::kNeedsSent));
  }
  if (row.licensed_bytes > 0) {
    out += fmt::format("    licensed {}, delivered {}, lost {}, budget used at most {}\n",
                       bytes_text(row.licensed_bytes),
                       share_text(row.licensed_bytes - std::min(row.lost_bytes, row.licensed_bytes),
                                  row.licensed_bytes),
                       bytes_text(row.lost_bytes), share_text(row.budget_used_ppm, 1'000'000));
  }
  const auto why = row.exact_because.view();
  if (!why.empty()) out += fmt::format("    exact: {}\n", why.substr(0, 69));
}

}  // namespace

std::string to_table(const std::vector<ProcessSnapshot>& processes) {
  std::string out;
  for (const ProcessSnapshot& process : processes) {
    out += fmt::format("{} {}, since {}{}\n", process.pid, process.command,
                       local_time(process.started_at), process.made_exact ? ", made exact" : "");
    for (const auto& device : process.devices)
      if (!device.name.view().empty()) print_device(out, device);
    for (const auto& row : process.communicators)
      print_communicator(out, process, row);
  }
  return out;
}

std::string to_path_table(const std::vector<ProcessSnapshot>& processes) {
  std::string out;
  for (const ProcessSnapshot& process : processes) {
    out += fmt::format("{} {}\n", process.pid, process.command);
    if (process.paths.empty()) {
      out += "  no sending connections, or no packets during this measurement\n";
      continue;
    }
    out += fmt::format("  {:<50} {:>9} {:>7} {:>8}\n", "path", "packets", "lost", "delay");
    for (const auto& row : process.paths) {
      out += fmt::format("  {:<50} {:>9} {:>7} {:>8}{}\n", row.tuple.view(), row.sent,
                         fmt::format("{:.2f}%", static_cast<double>(row.lost_ppm) / 1e4),
                         row.delay_ns == 0
                             ? "-"
                             : duration_text(Duration(static_cast<std::int64_t>(row.delay_ns))),
                         row.avoided != 0 ? " !" : "");
    }
  }
  return out;
}

}  // namespace dlcp::cli
