// The rows behind find_capabilities: operating systems (what their configuration can say) and ASICs
// (sizes). Figures come from vendors' documentation and public configuration templates; what was
// only inferred is a sentence in `unverified`.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "switch/capability/capability.h"
#include "switch/capability/targets.h"

namespace dlcp::fabric {
namespace {

enum class Family { kBroadcom, kSpectrum, kGeneric, kSoftware };

struct AsicRow {
  const char* name;
  Family family;
  unsigned cell_bytes;
  std::uint64_t buffer_bytes;
  std::uint64_t lossy_pool_bytes;  // a third of the chip's buffer where no template is public
};

constexpr std::uint64_t kMega = 1'000'000;
constexpr AsicRow kAsics[] = {
    {"trident3", Family::kBroadcom, 256, 32 * kMega, 10 * kMega},
    {"trident4", Family::kBroadcom, 254, 132 * kMega, 40 * kMega},
    {"tomahawk2", Family::kBroadcom, 208, 42 * kMega, 14 * kMega},
    {"tomahawk3", Family::kBroadcom, 254, 64 * kMega, 21 * kMega},
    {"tomahawk4", Family::kBroadcom, 254, 113 * kMega, 37 * kMega},
    {"tomahawk5", Family::kBroadcom, 254, 165 * kMega, 55 * kMega},
    {"spectrum2", Family::kSpectrum, 144, 42 * kMega, 14 * kMega},
    {"spectrum3", Family::kSpectrum, 144, 64 * kMega, 20'600'000},
    {"spectrum4", Family::kSpectrum, 192, 160 * kMega, 103'700'000},
    {"generic", Family::kGeneric, 256, 0, 0},
    {"software", Family::kSoftware, 1, 0, 2 * kMega},
};

struct SystemRow {
  const char* os;
  unsigned version_min;  // as version_number() reads it
  const char* version_text;
  std::array<Family, 2> families;
  Capabilities what;
};

constexpr std::uint64_t kInt32Max = 2'147'483'647;

Capabilities sonic() {
  Capabilities row;
  row.control_plane_queue = 7;  // sonic-mgmt's BGP queue test plan: unicast queue 7 everywhere
  row.threshold_bytes_max = kInt32Max;
  row.alpha_exponent_min = -8;
  row.alpha_exponent_max = 7;
  row.remarking = Remarking::kClassifyOnly;
  row.hash_settable = true;
  row.port_prefix = "Ethernet";
  row.grammar_checked = true;
  row.unverified = {
      "That not-ECT packets are dropped at the WRED threshold while ECT packets are marked is "
      "documented behaviour (wred_green_enable with ecn_all), not seen on this ASIC."};
  return row;
}

// An ASIC that nobody has described: WRED and ECN are not trusted to share a queue.
Capabilities sonic_generic() {
  Capabilities row = sonic();
  row.mechanism = Mechanism::kQueues;
  row.levels_per_queue = 1;
  row.unverified = {"The ASIC is unknown: only plain WRED and plain ECN per queue are used."};
  return row;
}

Capabilities cumulus() {
  Capabilities row;
  row.threshold_bytes_max = kInt32Max;
  row.alpha_exponent_min = -7;
  row.alpha_exponent_max = 3;
  row.weights_are_percent = true;
  row.remarking = Remarking::kClassifyOnly;
  row.overlay_uniform = true;
  row.hash_settable = true;
  row.port_prefix = "swp";
  row.unverified = {
      "That `red enable` beside `ecn enable` drops not-ECT packets is inferred from the ASIC's "
      "registers as Linux drives them.",
      "The spelling of alpha values is from examples, not from a grammar."};
  return row;
}

Capabilities eos() {
  Capabilities row;
  row.mechanism = Mechanism::kColour;
  row.levels_per_queue = 3;
  row.separate_knee = true;
  row.control_plane_queue = 7;  // the switch's own packets have traffic class 7
  row.threshold_bytes_max = kInt32Max;
  row.alpha_exponent_min = row.alpha_exponent_max = -2;  // assumed; set per platform, not by us
  row.weights_are_percent = true;
  row.remarking = Remarking::kRewrite;  // a policy-map on the port
  row.overlay_uniform = true;
  row.port_prefix = "Ethernet";
  row.level_counters = true;
  row.unverified = {
      "Whether ECN marking and drop-precedence thresholds work together in one queue depends on "
      "the platform: compare `show qos profile` with this plan.",
      "The dynamic threshold is assumed to be 1/4; state buffer.alpha if it is another.",
      "That the switch's own control packets leave through queue 7 is from memory of the manual."};
  return row;
}

Capabilities tc() {
  Capabilities row;
  row.mechanism = Mechanism::kColour;
  row.levels_per_queue = 3;
  row.separate_knee = true;
  row.threshold_bytes_max = (std::uint64_t{1} << 30) - 1;  // RED's, in the kernel
  row.pool_per_port = true;
  row.remarking = Remarking::kRewrite;
  row.hash_settable = true;
  row.level_counters = true;
  row.tolerance = 0;
  row.seen_working = true;  // test/switch/test_tc_guest.py
  return row;
}

const std::vector<SystemRow>& systems() {
  static const std::vector<SystemRow> kSystems = {
      {"sonic", 202205, ">= 202205", {Family::kBroadcom, Family::kSpectrum}, sonic()},
      {"sonic", 202205, ">= 202205", {Family::kGeneric, Family::kGeneric}, sonic_generic()},
      {"cumulus", 500, ">= 5.0", {Family::kSpectrum, Family::kSpectrum}, cumulus()},
      {"eos", 425, ">= 4.25", {Family::kBroadcom, Family::kBroadcom}, eos()},
      {"tc", 506, "Linux >= 5.6", {Family::kSoftware, Family::kSoftware}, tc()},
  };
  return kSystems;
}

// "202311" -> 202311; "5.14" and "5.14.1" -> 514; "4.30.2F" -> 430; 0: not a version.
unsigned version_number(std::string_view text) {
  unsigned major = 0;
  unsigned minor = 0;
  const char* const end = text.data() + text.size();
  auto at = std::from_chars(text.data(), end, major);
  if (at.ec != std::errc()) return 0;
  if (major >= 1000 || at.ptr == end) return major >= 1000 ? major : major * 100;
  if (*at.ptr != '.') return 0;
  at = std::from_chars(at.ptr + 1, end, minor);
  return at.ec == std::errc() && minor < 100 ? major * 100 + minor : 0;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

const AsicRow* find_asic(std::string_view name) {
  const auto* found = std::find_if(std::begin(kAsics), std::end(kAsics),
                                   [name](const AsicRow& row) { return name == row.name; });
  return found == std::end(kAsics) ? nullptr : found;
}

bool drives(const SystemRow& system, const AsicRow& asic) {
  return std::find(system.families.begin(), system.families.end(), asic.family) !=
         system.families.end();
}

std::string version_hint(std::string_view os, std::string_view version) {
  const auto dot = version.find('.');
  if (os == "eos" && dot != std::string_view::npos && version.size() == dot + 2) {
    return "quote it: YAML reads 4.30 as the number 4.3";
  }
  const std::string why =
      os == "sonic" ? "before 202205 `config apply-patch` is missing or unknown to us, and so are "
                      "the rules of its updater; "
                    : "";
  return why + "upgrade the switch, or leave it out: it then serves DLCP as its default class";
}

Problem refusal(std::string what, std::string_view seen, std::string expected, std::string hint) {
  Problem problem;
  problem.what = std::move(what);
  problem.seen = seen;
  problem.expected = std::move(expected);
  problem.hint = std::move(hint);
  return problem;
}

}  // namespace

Checked<Capabilities> find_capabilities(std::string_view os, std::string_view version,
                                        std::string_view asic) {
  using Result = Checked<Capabilities>;
  const auto known = known_systems();
  if (std::find(known.begin(), known.end(), os) == known.end()) {
    return Result::failed(refusal("unknown operating system", os, "one of " + joined(known),
                                  "a new vendor is five steps: switch/ARCHITECTURE.md"));
  }
  if (asic.starts_with("jericho")) {
    return Result::failed(
        refusal("ASICs with virtual output queues are not supported", asic,
                "one of " + joined(known_asics(os)),
                "their thresholds are per virtual output queue, which this plan does not model; "
                "leave the switch out and expect no shedding there"));
  }
  const AsicRow* const chip = find_asic(asic);
  for (const SystemRow& system : systems()) {
    if (os != system.os || chip == nullptr || !drives(system, *chip)) continue;
    const unsigned number = version_number(version);
    const bool branch = os == "sonic" && version == "master";
    if (!branch && number < system.version_min) {
      return Result::failed(refusal(fmt::format("unsupported version of {}", os), version,
                                    system.version_text, version_hint(os, version)));
    }
    Result result;
    result.value = system.what;
    result.value->os = os;
    result.value->version = version;
    result.value->asic = asic;
    result.value->cell_bytes = chip->cell_bytes;
    result.value->buffer_bytes = chip->buffer_bytes;
    result.value->lossy_pool_bytes = chip->lossy_pool_bytes;
    return result;
  }
  return Result::failed(refusal(fmt::format("unknown ASIC for {}", os), asic,
                                "one of " + joined(known_asics(os)),
                                os == "sonic" ? "`generic` works anywhere, with separate queues"
                                              : "ask for a row in the capability table"));
}

std::vector<std::string> known_systems() {
  std::vector<std::string> names;
  for (const SystemRow& system : systems()) {
    if (names.empty() || names.back() != system.os) names.emplace_back(system.os);
  }
  return names;
}

std::vector<std::string> known_asics(std::string_view os) {
  std::vector<std::string> names;
  for (const SystemRow& system : systems()) {
    if (os != system.os) continue;
    for (const AsicRow& asic : kAsics) {
      if (drives(system, asic)) names.emplace_back(asic.name);
    }
  }
  return names;
}

const char* name_of(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kColour:
      return "colour";
    case Mechanism::kEct:
      return "ECT";
    case Mechanism::kQueues:
      break;
  }
  return "queues";
}

std::vector<TargetRow> known_targets() {
  std::vector<TargetRow> rows;
  for (const SystemRow& system : systems()) {
    TargetRow row{system.os,
                  system.version_text,
                  {},
                  system.what.levels_per_queue,
                  name_of(system.what.mechanism),
                  system.what.separate_knee,
                  system.what.control_plane_queue,
                  "nothing: rendered only with `--unverified`"};
    for (const AsicRow& asic : kAsics) {
      if (drives(system, asic)) row.asics.emplace_back(asic.name);
    }
    if (system.what.seen_working) {
      row.checked_by = "applied and measured in a virtual machine";
    } else if (system.what.grammar_checked) {
      row.checked_by = "published YANG models; not on hardware";
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string capability_table_text() {
  std::string text =
      "| system | version | ASICs | levels in one queue | ECN knee apart from drop depth | checked "
      "by |\n|---|---|---|---|---|---|\n";
  for (const TargetRow& row : known_targets()) {
    text += fmt::format("| {} | {} | {} | {}, by {} | {} | {} |\n", row.os, row.since,
                        joined(row.asics), row.levels_per_queue, row.mechanism,
                        row.separate_knee ? "yes" : "no", row.checked_by);
  }
  return text;
}

}  // namespace dlcp::fabric
