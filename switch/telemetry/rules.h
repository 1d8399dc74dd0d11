// Prometheus rules of a fabric. Recording rules bring the counters of every system under one set of
// names, with the queue's number and what it carries as labels; alerts compare those with the plan.
//
//   dlcp_switch_queue_packets:rate5m, _drops, _early_drops, _tail_drops, _marks, _trims
//                                     by fabric, switch, port, queue; carries, part
//   dlcp_switch_queue_shed:ratio      early drops in terms of the share that may be shed
//   dlcp_switch_queue_depth:ratio     deepest fill in terms of the planned limit
//   dlcp_switch_pfc_frames:rate5m     pause frames, by priority; of="dlcp" or "site"
//   dlcp_switch_lossless_drops:rate5m    of the site's lossless queues
//
// Raw series are told apart by two labels that the scrape gives them (targets.json, gnmic.yml):
// `switch`, and `dlcp_plan`, the Watch they belong to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "switch/telemetry/watch.h"

namespace dlcp::fabric::telemetry {

inline constexpr std::string_view kRecorded = "dlcp_switch_queue_";  // "packets:rate5m" follows
inline constexpr int kRateSeconds = 300;

// One YAML file, for promtool and Prometheus.
std::string rules_text(const std::string& fabric, const std::vector<Watch>& watches);

}  // namespace dlcp::fabric::telemetry
