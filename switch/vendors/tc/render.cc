// A plan as one bash script with its tables (ports, queues, who goes where) and the engine below
// them. Everything it prints comes from tree.h; here is tc's syntax.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

#include "switch/vendors/embedded.h"
#include "switch/vendors/tc/tc_parts.h"
#include "switch/vendors/tc/tree.h"

namespace dlcp::fabric::tc {
namespace {

constexpr std::uint64_t kBytesPerRound = 300;  // of weight 1, in one round of the weighted queues
constexpr std::uint64_t kBurstBytesMin = 20'000;
constexpr std::uint64_t kBurstsPerSecond = 1000;
constexpr unsigned kRedBurst = 32;
constexpr std::uint64_t kRedRateMax = 30'000'000'000;  // tc takes 32 bits of bytes per second here
constexpr unsigned kFirstPref = 0xd100;                // preference of DLCP's filters

template <class... Arguments>
void add(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

// tc chooses RED's weight from min, burst and avpkt; for these it is 1/2, the least there is, so
// that marking goes by the depth of the moment.
std::string red_curve(std::uint64_t at_bytes, std::uint64_t bits_per_second) {
  return fmt::format("min {} max {} avpkt {} burst {} probability 1 bandwidth {}bit", at_bytes,
                     at_bytes + 1, (at_bytes + kRedBurst - 1) / kRedBurst, kRedBurst,
                     std::min(bits_per_second, kRedRateMax));
}

std::string shaper(const Band& band) {
  const std::uint64_t burst = std::max(kBurstBytesMin, band.bits_per_second / 8 / kBurstsPerSecond);
  return fmt::format("tbf rate {}bit burst {} limit {}", band.bits_per_second, burst,
                     band.limit_bytes);
}

void add_levels(std::string& text, const Band& band, const std::string& place,
                std::uint64_t bits_per_second) {
  const std::size_t last = band.levels.size() - 1;
  add(text, "qdisc add dev $1 {} gred setup vqs {} default {} grio limit {}\n", place,
      band.levels.size(), last, band.limit_bytes);
  for (std::size_t i = 0; i <= last; ++i) {
    const BandLevel& level = band.levels[i];
    // Without marks the curve begins where everything is dropped: the limit alone decides.
    const std::uint64_t curve = level.mark_bytes > 0 ? level.mark_bytes : band.limit_bytes;
    add(text, "qdisc change dev $1 {} gred vq {} prio 1 limit {} {}{}\n", place, i,
        level.limit_bytes, red_curve(curve, bits_per_second), level.mark_bytes > 0 ? " ecn" : "");
  }
}

void add_band(std::string& text, const Band& band, std::size_t index,
              std::uint64_t bits_per_second) {
  const std::string place =
      fmt::format("parent {:x}:{:x} handle {:x}:", kHandle, index + 1, kHandle + index + 1);
  switch (band.kind) {
    case BandKind::kSite:
      break;  // the kernel's own queue stays
    case BandKind::kShaped:
      add(text, "qdisc add dev $1 {} {}\n", place, shaper(band));
      break;
    case BandKind::kTail:
      add(text, "qdisc add dev $1 {} bfifo limit {}\n", place, band.limit_bytes);
      break;
    case BandKind::kMarked:
      add(text, "qdisc add dev $1 {} red limit {} {} ecn nodrop\n", place, band.limit_bytes,
          red_curve(band.mark_bytes, bits_per_second));
      break;
    case BandKind::kLevels:
      add_levels(text, band, place, bits_per_second);
      break;
  }
}

std::string describe(const Band& band) {
  std::string text = fmt::format("queue {} {}", band.queue, band.name);
  if (band.strict) {
    text += band.bits_per_second > 0
                ? fmt::format(", strict, at most {} bit/s", band.bits_per_second)
                : ", strict";
  } else {
    add(text, ", weight {}", band.weight);
  }
  if (band.mark_bytes > 0) add(text, ", marked above {} bytes", band.mark_bytes);
  for (const BandLevel& level : band.levels) {
    add(text, "; {}:", level.name);
    if (level.mark_bytes > 0) add(text, " marked above {},", level.mark_bytes);
    add(text, " dropped above {}", level.limit_bytes);
  }
  return text;
}

void add_matches(std::string& text, const std::vector<Match>& matches) {
  unsigned pref = kFirstPref;
  for (const Match& match : matches) {
    for (const char* protocol : {"ip", "ipv6"}) {
      add(text,
          "filter add dev $1 egress protocol {} pref {} flower ip_tos {:#04x}/0xfc classid "
          "{:x}:{:x} action skbedit priority {:x}:{:x} pass\n",
          protocol, pref++, match.dscp << 2, kHandle, match.level, kHandle, match.band + 1);
    }
  }
}

// DSCPs of the first tenant in the order of its classes, then those of the others.
std::vector<unsigned> marks_of(const SwitchPlan& plan) {
  std::vector<unsigned> marks;
  for (const TrafficClassRow& row : plan.classes)
    marks.push_back(row.dscp);
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    const bool listed = std::find(marks.begin(), marks.end(), dscp) != marks.end();
    if ((plan.dlcp_dscps >> dscp & 1) != 0 && !listed) marks.push_back(dscp);
  }
  return marks;
}

void add_remarks(std::string& text, const SwitchPlan& plan, const PortGroup& group) {
  if (group.trust != Trust::kRemarked) return;
  unsigned pref = kFirstPref;
  for (const unsigned dscp : marks_of(plan)) {
    add(text,
        "filter add dev $1 ingress protocol ip pref {} flower ip_tos {:#04x}/0xfc action pedit ex "
        "munge ip tos set {:#04x} retain 0xfc pipe action csum ip4h pipe action pass\n",
        pref++, dscp << 2, group.remark_dscp << 2);
    add(text,
        "filter add dev $1 ingress protocol ipv6 pref {} flower ip_tos {:#04x}/0xfc action pedit "
        "ex munge ip6 traffic_class set {:#04x} retain 0xfc pipe action pass\n",
        pref++, dscp << 2, group.remark_dscp << 2);
  }
}

// The rows of one group's ports, for `tc -batch`: $1 is the port, $2 the place of its tree.
std::string rows_of(const SwitchPlan& plan, const PortGroupPlan& group) {
  const Tree tree = tree_of(plan, group);
  const auto strict = static_cast<std::size_t>(std::count_if(
      tree.bands.begin(), tree.bands.end(), [](const Band& band) { return band.strict; }));
  std::string quanta;
  std::string comments;
  std::string text;
  for (std::size_t i = 0; i < tree.bands.size(); ++i) {
    add(comments, "  # band {:x}:{:x} is {}\n", kHandle, i + 1, describe(tree.bands[i]));
    if (i >= strict) add(quanta, " {}", tree.bands[i].weight * kBytesPerRound);
  }
  add(text, "{}  cat <<END\n", comments);
  add(text, "qdisc add dev $1 $2 handle {:x}: ets bands {}", kHandle, tree.bands.size());
  if (strict > 0) add(text, " strict {}", strict);
  if (!quanta.empty()) add(text, " quanta{}", quanta);
  text += " priomap";
  for (int priority = 0; priority < 16; ++priority)
    add(text, " {}", tree.default_band);
  text += '\n';
  for (std::size_t i = 0; i < tree.bands.size(); ++i) {
    add_band(text, tree.bands[i], i, group.group.bits_per_second);
  }
  text += "qdisc add dev $1 clsact\n";
  add_matches(text, matches_of(plan, group, tree));
  add_remarks(text, plan, group.group);
  text += "END\n";
  return text;
}

bool is_interface_name(const std::string& name) {
  return !name.empty() && name.size() <= 15 && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '@';
         });
}

Problem problem_at(const PortGroupPlan& group, std::string what, std::string seen,
                   std::string expected, std::string hint) {
  return {.severity = Severity::kError,
          .file = {},
          .line = group.group.line,
          .what = std::move(what),
          .seen = std::move(seen),
          .expected = std::move(expected),
          .hint = std::move(hint)};
}

// Trees that are not the kernel's own, or a token bucket that holds nothing else: the site's.
bool may_attach(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (line.starts_with("qdisc clsact") || line.starts_with("qdisc ingress")) return false;
    if (line.find(" root") == std::string::npos) continue;
    const bool by_kernel = line.find(" 0: root") != std::string::npos;
    if (!by_kernel && !(line.starts_with("qdisc tbf ") && lines.size() == 1)) return false;
  }
  return true;
}

std::vector<Problem> problems_of(const SwitchPlan& plan) {
  std::vector<Problem> problems;
  const auto* import = dynamic_cast<const Import*>(plan.site->document.get());
  for (const PortGroupPlan& group : plan.groups) {
    for (const std::string& port : group.group.ports) {
      if (!is_interface_name(port)) {
        problems.push_back(problem_at(group, "not a network interface's name", port,
                                      "1 to 15 letters, digits or _ - . @",
                                      "list interfaces as `ip link` shows them"));
      }
      if (import == nullptr) continue;
      const auto found = import->qdiscs.find(port);
      if (found == import->qdiscs.end()) {
        problems.push_back(problem_at(group, "port is not in the imported configuration", port,
                                      "a device of " + plan.site->source,
                                      "import `tc qdisc show` of this switch, all devices"));
      } else if (!may_attach(found->second)) {
        problems.push_back(
            problem_at(group, "port " + port + " has queues or filters of the site's own",
                       found->second.front(), "the kernel's default queue, or a single tbf",
                       "they cannot be merged: remove them first, or leave the port out"));
      }
    }
    for (const QueuePlan& queue : group.queues) {
      const std::uint64_t most = std::max(queue.limit_bytes, queue.mark_bytes.value_or(0));
      if (most > kThresholdMax) {
        problems.push_back(problem_at(
            group, "depth of queue " + queue.name + " is beyond tc's", std::to_string(most),
            "at most " + std::to_string(kThresholdMax) + " bytes", "lower the switch's buffer"));
      }
    }
  }
  return problems;
}

std::string header_of(const SwitchPlan& plan) {
  return fmt::format(
      "#!/bin/bash\n"
      "# Queues of switch {0} for DLCP, made by dlcp-switch: change the intent file and render "
      "again,\n"
      "# not this file.\n"
      "#\n"
      "#   {1} apply [PORT...]      puts the queues on every port; where they are, does nothing\n"
      "#   {1} rollback [PORT...]   takes them away and puts back what was there\n"
      "#   {1} show [PORT...]       applied, not applied or changed since, and the counters\n"
      "#\n"
      "# A port whose queues have changed since they were imported or applied is refused, and "
      "nothing is\n"
      "# changed then. What was there before is kept in $DLCP_SWITCH_STATE (default "
      "/var/lib/dlcp-switch).\n"
      "# Exit: 0 done; 1 failed, and what was changed was taken back; 2 usage; 3 refused.\n"
      "#\n"
      "# ets serves the strict bands in order, then the weighted ones by turns. tbf bounds a "
      "strict queue.\n"
      "# red and gred mark above min (RED's weight is 1/2, the least tc accepts: the depth of the "
      "moment);\n"
      "# gred drops each level above the level's own limit, measured on the whole queue.\n\n",
      plan.name, "dlcp-qos.sh");
}

std::string script_of(const SwitchPlan& plan) {
  std::string text = header_of(plan);
  std::string ports;
  std::string cases;
  std::string imported;
  const auto* import = dynamic_cast<const Import*>(plan.site->document.get());
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    const PortGroup& group = plan.groups[i].group;
    std::string pattern;
    for (const std::string& port : group.ports) {
      add(ports, " {}", port);
      add(pattern, "{}{}", pattern.empty() ? "" : " | ", port);
      if (import == nullptr || import->qdiscs.at(port).empty()) continue;
      add(imported, "    {}) cat <<'END' ;;\n", port);
      for (const std::string& line : import->qdiscs.at(port))
        add(imported, "{}\n", line);
      imported += "END\n";
    }
    add(cases, "    {}) group_{} \"$@\" ;;\n", pattern, i + 1);
  }
  add(text, "switch={}\nports=({})\n", plan.name, ports.substr(ports.empty() ? 0 : 1));
  const bool source_port = std::find(plan.hash_fields.begin(), plan.hash_fields.end(),
                                     HashField::kSourcePort) != plan.hash_fields.end();
  add(text, "forwarding=({})  # multipath routes by the 5-tuple\n",
      source_port ? "net.ipv4.fib_multipath_hash_policy=1 net.ipv6.fib_multipath_hash_policy=1"
                  : "");
  for (std::size_t i = 0; i < plan.groups.size(); ++i) {
    const PortGroup& group = plan.groups[i].group;
    add(text, "\ngroup_{}() {{ # {} bit/s{}\n{}}}\n", i + 1, group.bits_per_second,
        group.trust == Trust::kRemarked
            ? fmt::format("; DLCP's DSCPs that arrive here become {}", group.remark_dscp)
            : "; DSCPs are taken as they arrive",
        rows_of(plan, plan.groups[i]));
  }
  add(text, "\nrows_of() {{ # PORT PLACE\n  case $1 in\n{}  esac\n}}\n", cases);
  add(text, "\nimported_of() {{ # PORT\n  case $1 in\n{}    *) ;;\n  esac\n}}\n\n", imported);
  text += embedded::kTcEngine;
  return text;
}

ReportNote seen(std::string text) {
  return {.severity = Severity::kNote, .text = std::move(text), .verified = true};
}

ReportNote unseen(std::string text) {
  return {.severity = Severity::kWarning, .text = std::move(text), .verified = false};
}

std::vector<ReportNote> notes_of(const SwitchPlan& plan) {
  std::vector<ReportNote> notes{
      seen("Levels are virtual queues of gred: each is dropped above its own depth of the whole "
           "queue, and counted by itself."),
      seen("Marking goes by an average with weight 1/2 (the least tc accepts), which is at most a "
           "packet behind the depth of the moment."),
      seen("Depths count packets with their Ethernet header. What is in a network card's ring is "
           "beyond them: keep byte queue limits on."),
      unseen("Packets with a VLAN tag are not classified and go to the default queue."),
  };
  if (plan.site->pfc_priorities != 0) {
    notes.push_back(
        unseen("tc knows no PFC: the site's lossless queue is an ordinary weighted one here."));
  }
  const bool lag = std::any_of(plan.groups.begin(), plan.groups.end(),
                               [](const auto& group) { return !group.group.lag.empty(); });
  if (lag) {
    notes.push_back(unseen(
        "Queues are put on the members of a bond; the bond itself must have none (its default)."));
  }
  return notes;
}

}  // namespace

Rendering render_script(const SwitchPlan& plan) {
  Rendering rendering;
  rendering.problems = problems_of(plan);
  if (has_errors(rendering.problems)) return rendering;
  rendering.files.push_back({.path = "dlcp-qos.sh",
                             .text = script_of(plan),
                             .kind = FileKind::kConfig,
                             .grammar_checked = true,
                             .executable = true});
  rendering.files.push_back({.path = "rollback.sh",
                             .text =
                                 "#!/bin/bash\n# Takes DLCP's queues away and puts back what was "
                                 "there before.\nexec \"$(dirname \"$0\")/dlcp-qos.sh\" rollback\n",
                             .kind = FileKind::kRollback,
                             .grammar_checked = true,
                             .executable = true});
  for (const PortGroupPlan& group : plan.groups) {
    const std::size_t bands = tree_of(plan, group).bands.size();
    for (const std::string& port : group.group.ports) {
      // What is queued at that moment goes with the old tree.
      rendering.changes.push_back({.row = "qdisc dev " + port,
                                   .before = "the kernel's default, or the site's tbf",
                                   .after = fmt::format("ets {:x}: with {} bands", kHandle, bands),
                                   .impact = Impact::kDropsTraffic});
      rendering.changes.push_back({.row = "filter dev " + port,
                                   .before = "",
                                   .after = "clsact: DSCP to band and level",
                                   .impact = Impact::kHitless});
    }
  }
  rendering.notes = notes_of(plan);
  return rendering;
}

}  // namespace dlcp::fabric::tc
