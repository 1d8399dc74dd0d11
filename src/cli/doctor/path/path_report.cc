#include "cli/doctor/path/path_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dlcp::cli {
namespace {

constexpr double kLossOfFault = 0.01;  // a higher loss indicates a fault, not only congestion
constexpr std::uint8_t kEcnBits = 3;
constexpr const char* kDataPorts = "49152-65535";
constexpr const char* kMarkFix =
    "configure every switch and router on the path to trust and keep DSCP and ECN of these "
    "ports (no re-marking at the edge), or choose code points that the site keeps";
constexpr const char* kDroppedFix =
    "let packets with these DSCPs and with ECN bits pass in every firewall, router and switch "
    "between the hosts; if the site drops only DSCPs, choose others in the file of DLCP_CLASSES "
    "(`control.dscp = 0`)";

double ms(Duration d) {
  return static_cast<double>(d.count()) / 1e6;
}

// "50123" or "50123-60222 (3 ports)".
std::string port_span(const std::vector<std::uint16_t>& ports) {
  const auto [least, most] = std::ranges::minmax(ports);
  return least == most ? fmt::format("{}", least)
                       : fmt::format("{}-{} ({} ports)", least, most, ports.size());
}

// The ports that no packet passes in this direction; "" if all are open.
std::string closed_text(const PortsResult& ports, const char* way) {
  if (ports.closed.empty()) return "";
  if (ports.open.empty()) return fmt::format("UDP {} is closed {}", kDataPorts, way);
  return fmt::format("of {} UDP ports tried {}, {} are closed: {}",
                     ports.open.size() + ports.closed.size(), way, ports.closed.size(),
                     port_span(ports.closed));
}

Finding judge_ports(const PathMeasurement& m) {
  Finding finding{"path_ports", Level::kOk, "", ""};
  const std::string there = closed_text(m.there, "towards the peer");
  const std::string back = closed_text(m.back, "from the peer to this host");
  const bool unanswered = there.empty() && !m.answers;
  if (there.empty() && back.empty() && !unanswered) {
    finding.value =
        fmt::format("UDP {} is open in both directions: {} ports tried towards the peer, {} back",
                    kDataPorts, m.there.open.size(), m.back.open.size());
    return finding;
  }
  finding.level = Level::kFail;
  finding.value = unanswered ? fmt::format(
                                   "probes reach UDP {} of the peer, but no answer reaches this "
                                   "host",
                                   kDataPorts)
                             : there;
  if (!back.empty()) finding.value += finding.value.empty() ? back : "; " + back;
  finding.fix = fmt::format(
      "accept UDP {} in both directions in every firewall between the hosts of the job (nft insert "
      "rule FAMILY TABLE CHAIN ip saddr SUBNET udp dport {} accept)",
      kDataPorts, kDataPorts);
  return finding;
}

Finding judge_mtu(const PathMeasurement& m) {
  Finding finding{"path_mtu", Level::kOk, "", ""};
  finding.value =
      fmt::format("{} bytes towards the peer, {} in both directions; the interface has {}",
                  m.mtu_forward, m.mtu_both, m.route_mtu);
  if (m.mtu_both < m.mtu_needed) {
    finding.level = Level::kFail;
    finding.fix = fmt::format(
        "raise the MTU of the path: with this address family DLCP needs packets of at least {} "
        "bytes",
        m.mtu_needed);
  } else if (m.mtu_both < m.route_mtu) {
    finding.level = Level::kWarn;
    finding.value += m.mtu_both < m.mtu_forward ? "; the way back has the smaller MTU" : "";
    finding.fix = fmt::format(
        "raise the MTU of the switches on the path to {}; until then the plugin detects and "
        "uses the smaller size, or set DLCP_MTU={}",
        m.route_mtu, m.mtu_both);
  }
  return finding;
}

// "DSCP 18 arrives as 0", "ECN is cleared", or "" if the mark is unchanged. CE instead of ECT is a
// normal congestion mark.
std::string change(std::uint8_t sent, std::uint8_t seen) {
  std::string text;
  if ((seen >> 2) != (sent >> 2)) text = fmt::format("DSCP {} arrives as {}", sent >> 2, seen >> 2);
  const int ecn_sent = sent & kEcnBits;
  const int ecn_seen = seen & kEcnBits;
  const bool marked = ecn_sent != 0 && ecn_seen == static_cast<int>(Ecn::kCe);
  if (ecn_seen != ecn_sent && !marked)
    text += fmt::format("{}ECN {} arrives as {}", text.empty() ? "" : ", ", ecn_sent, ecn_seen);
  return text;
}

// Every job needs the classes control and exact. Without them the plugin sends all packets to this
// host without marks.
Finding judge_dropped(const MarkResult& mark) {
  const TrafficClassRow& row = row_of(mark.traffic_class);
  const bool needed =
      row.traffic_class == TrafficClass::kControl || row.traffic_class == TrafficClass::kExact;
  return {"path_marks", Level::kWarn,
          fmt::format("class {}: packets with DSCP {}{} get no answer; packets without marks do{}",
                      row.name, mark.sent >> 2, (mark.sent & kEcnBits) == 0 ? "" : " and ECN",
                      needed ? ", and jobs send all packets without marks" : ""),
          kDroppedFix};
}

// Marks on all packets carry no information about queues.
Findings judge_congestion_marks(const PathMeasurement& m) {
  std::size_t answers = 0, there = 0, back = 0;
  for (const LaneResult& lane : m.lanes) {
    answers += lane.replies;
    there += lane.marked_there;
    back += lane.marked_back;
  }
  if (answers == 0 || (there < answers && back < answers)) return {};
  const char* const way = there < answers  ? "from the peer"
                          : back < answers ? "towards the peer"
                                           : "in both directions";
  return {
      {"path_marks", Level::kWarn,
       fmt::format("all {} probes of class exact arrive with a congestion mark {}", answers, way),
       "if the path is idle: raise the ECN threshold of the switches on the path, and find "
       "the device that sets the ECN field"}};
}

Findings judge_marks(const PathMeasurement& m) {
  Findings findings;
  for (const MarkResult& mark : m.marks) {
    if (!mark.forward || !mark.back) {
      findings.push_back(judge_dropped(mark));
      continue;
    }
    const std::string forward = change(mark.sent, *mark.forward);
    const std::string back = change(mark.sent, *mark.back);
    if (forward.empty() && back.empty()) continue;
    std::string value = fmt::format("class {}:", row_of(mark.traffic_class).name);
    if (!forward.empty()) value += fmt::format(" on the way there {}", forward);
    if (!back.empty())
      value += fmt::format("{} on the way back {}", forward.empty() ? "" : ";", back);
    findings.push_back({"path_marks", Level::kWarn, value, kMarkFix});
  }
  std::ranges::move(judge_congestion_marks(m), std::back_inserter(findings));
  if (findings.empty()) {
    return {{"path_marks", Level::kOk,
             fmt::format("DSCP and ECN of all {} classes arrive unchanged in both directions",
                         m.marks.size()),
             ""}};
  }
  return findings;
}

struct Totals {
  std::size_t sent = 0, seen = 0, replies = 0, silent = 0, lossy = 0;
};

Totals totals_of(const PathMeasurement& m) {
  Totals totals;
  for (const LaneResult& lane : m.lanes) {
    totals.sent += lane.sent;
    totals.seen += std::max(lane.seen, lane.replies);
    totals.replies += lane.replies;
    totals.silent += lane.replies == 0;
    totals.lossy += lane.replies < lane.sent;
  }
  return totals;
}

double share(std::size_t lost, std::size_t of) {
  return of == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(of);
}

Finding judge_loss(const PathMeasurement& m) {
  const Totals t = totals_of(m);
  const double there = share(t.sent - t.seen, t.sent);
  const double back = share(t.seen - t.replies, t.seen);
  Finding finding{"path_loss", Level::kOk, "", ""};
  finding.value = fmt::format("{:.2f}% there, {:.2f}% back; {} of {} paths lose packets",
                              100 * there, 100 * back, t.lossy, m.lanes.size());
  if (t.silent > 0) {
    finding.level = Level::kFail;
    finding.value += fmt::format(", {} carry nothing", t.silent);
    finding.fix =
        "possibly a dead link behind a load balancer: compare the source ports in the table "
        "with the switches' hash and drop counters";
  } else if (there > kLossOfFault || back > kLossOfFault) {
    finding.level = Level::kFail;
    finding.fix = t.lossy * 2 < m.lanes.size()
                      ? "some paths lose packets: look for one link with errors (CRC, FEC) or "
                        "full queues"
                      : "most paths lose packets: look at the hosts' own links and at shared "
                        "queues";
  } else if (t.lossy > 0) {
    finding.level = Level::kWarn;
    finding.fix =
        "DLCP tolerates this loss; check the error and drop counters of the switches on the "
        "path";
  }
  return finding;
}

Finding judge_delay(const PathMeasurement& m) {
  const auto by_median = [](const LaneResult& a, const LaneResult& b) {
    return a.rtt_median < b.rtt_median;
  };
  const auto [best, worst] = std::ranges::minmax_element(m.lanes, by_median);
  Finding finding{"path_delay", Level::kOk, "", ""};
  if (best == m.lanes.end()) return finding;
  finding.value = fmt::format("round trip {:.3f} ms on the best path, {:.3f} ms on the worst",
                              ms(best->rtt_median), ms(worst->rtt_median));
  if (worst->rtt_median > 3 * best->rtt_median + 200us) {
    finding.level = Level::kWarn;
    finding.fix = "one path is congested or longer than the others; see the table";
  }
  return finding;
}

}  // namespace

Findings judge(const PathMeasurement& measurement) {
  Findings findings = {judge_ports(measurement)};
  if (measurement.lanes.empty()) return findings;
  findings.push_back(judge_mtu(measurement));
  std::ranges::move(judge_marks(measurement), std::back_inserter(findings));
  findings.push_back(judge_loss(measurement));
  findings.push_back(judge_delay(measurement));
  return findings;
}

std::string lane_table(const PathMeasurement& measurement, std::size_t rows) {
  if (measurement.lanes.empty()) return "";
  std::string text = fmt::format("{:>6} {:>6} {:>6} {:>11} {:>10} {:>12} {:>10}\n", "port", "to",
                                 "sent", "lost there", "lost back", "rtt p50 ms", "max ms");
  const std::size_t shown = std::min(rows, measurement.lanes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const LaneResult& lane = measurement.lanes[i];
    const std::size_t seen = std::max(lane.seen, lane.replies);
    text += fmt::format("{:>6} {:>6} {:>6} {:>11} {:>10} {:>12.3f} {:>10.3f}\n", lane.port,
                        lane.to_port, lane.sent, lane.sent - seen, seen - lane.replies,
                        ms(lane.rtt_median), ms(lane.rtt_max));
  }
  const std::size_t hidden = measurement.lanes.size() - shown;
  if (hidden > 0) text += fmt::format("       ({} better paths not shown)\n", hidden);
  return text;
}

nlohmann::json to_json(const PathMeasurement& m) {
  const auto optional_tos = [](std::optional<std::uint8_t> tos) {
    return tos ? nlohmann::json(*tos) : nlohmann::json();
  };
  nlohmann::json marks = nlohmann::json::array();
  for (const MarkResult& mark : m.marks) {
    marks.push_back({{"class", row_of(mark.traffic_class).name},
                     {"tos_sent", mark.sent},
                     {"tos_there", optional_tos(mark.forward)},
                     {"tos_back", optional_tos(mark.back)}});
  }
  nlohmann::json lanes = nlohmann::json::array();
  for (const LaneResult& lane : m.lanes) {
    lanes.push_back({{"port", lane.port},
                     {"to_port", lane.to_port},
                     {"sent", lane.sent},
                     {"seen", lane.seen},
                     {"replies", lane.replies},
                     {"rtt_p50_ms", ms(lane.rtt_median)},
                     {"rtt_max_ms", ms(lane.rtt_max)}});
  }
  const auto ports = [](const PortsResult& result) {
    return nlohmann::json{{"open", result.open}, {"closed", result.closed}};
  };
  return {{"ports_there", ports(m.there)},
          {"ports_back", ports(m.back)},
          {"interface_mtu", m.route_mtu},
          {"mtu_there", m.mtu_forward},
          {"mtu_both_ways", m.mtu_both},
          {"marks", marks},
          {"paths", lanes}};
}

}  // namespace dlcp::cli
