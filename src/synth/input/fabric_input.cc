#include "synth/input/fabric_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/order_file.h"

namespace dlcp::synth {
namespace {

constexpr double kBytesPerGbit = 1e9 / 8;
constexpr double kHostRate = 100 * kBytesPerGbit;  // for hosts without a measured rate
constexpr double kLinkLatency = 1e-6;

// Latency of one link up or down. Two links and the cost of a message make half of the measured
// RTT.
double latency_of(const fabric::Group& group, double message) {
  if (group.round_trip_us <= 0) return kLinkLatency;
  return std::max(group.round_trip_us * 1e-6 / 2 - 2 * message, 0.0) / 2;
}

class FabricReader {
 public:
  explicit FabricReader(const fabric::OrderFile& file) : file_(file), fabric_(file.fabric) {}

  Topology read() {
    topology_.name = fabric_.groups.front().name.empty() ? "fabric" : fabric_.groups.front().name;
    for (const int host : file_.order)
      add_host(host);
    first_switch_ = static_cast<int>(topology_.nodes.size());
    for (const fabric::Group& group : fabric_.groups)
      topology_.nodes.push_back({"switch " + group.name, false, false, -1});
    double widest = kHostRate;
    for (const fabric::Host& host : fabric_.hosts)
      widest = std::max(widest, host.gb_per_s * kBytesPerGbit);
    for (const auto& [host, rank] : ranks_) {
      const int group = fabric_.group_of[static_cast<std::size_t>(host)];
      const double measured =
          fabric_.hosts[static_cast<std::size_t>(host)].gb_per_s * kBytesPerGbit;
      unknown_hosts_ += measured <= 0;
      join(rank, first_switch_ + group, measured > 0 ? measured : kHostRate,
           latency_of(fabric_.groups[static_cast<std::size_t>(group)], topology_.message));
    }
    for (std::size_t g = 1; g < fabric_.groups.size(); g++)
      join_group(static_cast<int>(g), widest * static_cast<double>(fabric_.hosts.size()));
    if (unknown_hosts_ > 0)
      topology_.notes.push_back(
          fmt::format("{} hosts have no measured rate; 100 Gbit/s is assumed", unknown_hosts_));
    if (unlimited_ > 0)
      topology_.notes.push_back(fmt::format(
          "{} groups have no measured uplink; it is assumed to be no limit", unlimited_));
    return std::move(topology_);
  }

 private:
  void add_host(int index) {
    const fabric::Host& host = fabric_.hosts[static_cast<std::size_t>(index)];
    if (host.silent) {
      topology_.notes.push_back(fmt::format("{} did not answer probes and is left out", host.name));
      return;
    }
    ranks_.emplace_back(index, static_cast<int>(topology_.nodes.size()));
    topology_.nodes.push_back({host.name, true, false, -1});
  }

  void join(int below, int above, double rate, double latency) {
    topology_.links.push_back({below, above, rate, latency});
    topology_.links.push_back({above, below, rate, latency});
  }

  void join_group(int index, double no_limit) {
    const fabric::Group& group = fabric_.groups[static_cast<std::size_t>(index)];
    const double measured = group.uplink_gb_per_s * kBytesPerGbit;
    unlimited_ += measured <= 0;
    // Hosts of different groups are farther apart because of the links above the group.
    const fabric::Group& parent = fabric_.groups[static_cast<std::size_t>(group.parent)];
    const double apart = std::max(parent.round_trip_us - group.round_trip_us, 0.0) * 1e-6 / 4;
    const bool known = parent.round_trip_us > 0 && group.round_trip_us > 0;
    join(first_switch_ + index, first_switch_ + group.parent, measured > 0 ? measured : no_limit,
         known ? apart : kLinkLatency);
  }

  const fabric::OrderFile& file_;
  const fabric::Fabric& fabric_;
  Topology topology_;
  std::vector<std::pair<int, int>> ranks_;  // host and its rank
  int first_switch_ = 0;
  int unknown_hosts_ = 0;
  int unlimited_ = 0;
};

}  // namespace

bool is_order_file(std::string_view text) {
  return text.find("\"hosts\"") != std::string_view::npos &&
         text.find("\"fabric\"") != std::string_view::npos;
}

Result<Topology> parse_order_file(std::string_view text, const std::string& source) {
  const auto failed = [&](const Error& error) {
    return Error{error.code, source + ": " + error.what, error.hint};
  };
  auto file = fabric::read_order(text);
  if (!file) return failed(file.error());
  Topology topology = FabricReader(file.value()).read();
  const auto settled = topology.settle();
  if (!settled) return failed(settled.error());
  return topology;
}

}  // namespace dlcp::synth
