// What each target calls the counters of its queues: leaves of a gNMI tree, series of a Prometheus
// exporter. The facts, with their sources, are the `telemetry` of switch/targets/NAME.json.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlcp::fabric::telemetry {

// Per queue of a port. Packets, but for kWatermark: bytes at the deepest.
enum class Counter { kPackets, kDrops, kEarlyDrops, kMarks, kTrims, kWatermark };
inline constexpr std::size_t kCounterCount = 6;
const char* name_of(Counter counter);  // "packets", "drops", "early_drops", ... as in the files

struct CounterName {
  std::string leaf;         // of the gNMI tree; empty: gNMI has none
  std::string metric;       // Prometheus series
  std::string where;        // more label matchers of it: type="periodic"
  std::string since;        // first release that has it; empty: all
  bool adds_early = false;  // early drops come on top of these
};

// Pause frames that a port received, per priority.
struct PfcName {
  std::string metric, port_label, priority_label;
  std::string path, leaf;  // gNMI; empty: none
};

struct Names {
  std::string os;
  std::string collector;  // what makes Prometheus series of them: "sonic-exporter", "gnmic", "otlp"
  int tcp_port = 0;       // of the exporter, or of the switch's gNMI server
  std::string path;       // gNMI, with {port} and {queue}; empty: none
  std::string entries;    // members of the path's value, where a queue is one: "{port}:{queue}"
  std::string gnmi_target;
  bool queues_by_name = false;  // {queue} is the queue's name in the configuration, not its number
  std::string port_label, queue_label;
  std::array<std::optional<CounterName>, kCounterCount> counters;
  std::optional<PfcName> pfc;
  std::map<std::string, std::string> sources;  // what was read there -> address
  std::string unverified;                      // empty: names are from published models or code

  const std::optional<CounterName>& counter(Counter which) const {
    return counters[static_cast<std::size_t>(which)];
  }
  // The counter, if that release of the system has it.
  const CounterName* counter(Counter which, std::string_view version) const;
};

// nullptr: nothing is known of this system's telemetry.
const Names* find_names(std::string_view os);

// How gnmic's Prometheus output calls a leaf that the processor `last-name` of gnmic.json has cut
// to its last element: its metric-prefix, then the leaf with '_' for what a metric's name cannot
// have.
inline constexpr std::string_view kGnmicPrefix = "dlcp_gnmi";
std::string gnmic_metric(std::string_view leaf);

}  // namespace dlcp::fabric::telemetry
