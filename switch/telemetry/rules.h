// Prometheus rules of a fabric. Recording rules map the counters of all systems to one set of
// names, labelled with the queue's number and its traffic; alerts compare them with the plan.
//
//   dlcp_switch_queue_packets:rate5m, _drops, _early_drops, _tail_drops, _marks, _trims
//                                     by fabric, switch, port, queue; carries, part
//   dlcp_switch_queue_shed:ratio      early drops relative to the share that may be shed
//   dlcp_switch_queue_depth:ratio     maximum depth relative to the planned limit
//   dlcp_switch_pfc_frames:rate5m     pause frames, by priority; of="dlcp" or "site"
//   dlcp_switch_lossless_drops:rate5m    of the site's lossless queues
//
// Two labels of the scrape (targets.json, gnmic.yml) identify raw series: `switch`, and
// `dlcp_plan`, the Watch that contains the switch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "switch/telemetry/watch.h"

namespace dlcp::fabric::telemetry {

inline constexpr std::string_view kRecorded = "dlcp_switch_queue_";  // followed by "packets:rate5m"
inline constexpr int kRateSeconds = 300;

// One YAML file, for promtool and Prometheus.
std::string rules_text(const std::string& fabric, const std::vector<Watch>& watches);

}  // namespace dlcp::fabric::telemetry
