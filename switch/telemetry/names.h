// The names of queue counters on each target: leaves of a gNMI tree, series of a Prometheus
// exporter. The names and their sources are the `telemetry` of switch/targets/NAME.json.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlcp::fabric::telemetry {

// Per queue of a port. In packets, except kWatermark: maximum depth in bytes.
enum class Counter { kPackets, kDrops, kEarlyDrops, kMarks, kTrims, kWatermark };
inline constexpr std::size_t kCounterCount = 6;
const char* name_of(Counter counter);  // "packets", "drops", "early_drops", ... as in the files

struct CounterName {
  std::string leaf;         // of the gNMI tree; empty: not in gNMI
  std::string metric;       // Prometheus series
  std::string where;        // additional label matchers: type="periodic"
  std::string since;        // first release that has it; empty: all
  bool adds_early = false;  // early drops are not included in this counter
};

// Pause frames that a port received, per priority.
struct PfcName {
  std::string metric, port_label, priority_label;
  std::string path, leaf;  // gNMI; empty: none
};

struct Names {
  std::string os;
  std::string collector;  // source of the Prometheus series: "sonic-exporter", "gnmic", "otlp"
  int tcp_port = 0;       // of the exporter, or of the switch's gNMI server
  std::string path;       // gNMI, with {port} and {queue}; empty: none
  std::string entries;    // members of the path's value, if each is a queue: "{port}:{queue}"
  std::string gnmi_target;
  bool queues_by_name = false;  // {queue} is the queue's name in the configuration, not its number
  std::string port_label, queue_label;
  std::array<std::optional<CounterName>, kCounterCount> counters;
  std::optional<PfcName> pfc;
  std::map<std::string, std::string> sources;  // documented name -> address
  std::string unverified;                      // empty: names are from published models or code

  const std::optional<CounterName>& counter(Counter which) const {
    return counters[static_cast<std::size_t>(which)];
  }
  // The counter, if that release of the system has it.
  const CounterName* counter(Counter which, std::string_view version) const;
};

// nullptr: the system's telemetry is not known.
const Names* find_names(std::string_view os);

// gnmic's Prometheus name of a leaf that the processor `last-name` of gnmic.json has cut to its
// last element: metric-prefix, then the leaf with '_' for characters that a metric name must not
// have.
inline constexpr std::string_view kGnmicPrefix = "dlcp_gnmi";
std::string gnmic_metric(std::string_view leaf);

}  // namespace dlcp::fabric::telemetry
