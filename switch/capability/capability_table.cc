// The rows behind find_capabilities: operating systems (their configurable features, from
// switch/targets/) and ASICs (sizes). Figures come from vendors' documentation and public
// configuration templates; a figure that was only inferred has a sentence in `unverified`.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "switch/capability/capability.h"
#include "switch/capability/targets.h"
#include "switch/model/text/joined.h"
#include "switch/targets/target_files.h"

namespace dlcp::fabric {
namespace {

enum class Family { kBroadcom, kSpectrum, kCloudScale, kSiliconOne, kGeneric, kSoftware };

struct AsicRow {
  const char* name;
  Family family;
  unsigned cell_bytes;
  std::uint64_t buffer_bytes;
  std::uint64_t lossy_pool_bytes;  // a third of the chip's buffer if no template is public
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
    {"cloudscale-ex", Family::kCloudScale, 208, 40 * kMega, 13 * kMega},
    {"cloudscale-gx", Family::kCloudScale, 208, 80 * kMega, 26 * kMega},
    {"silicon-one-g200", Family::kSiliconOne, 384, 256 * kMega, 85 * kMega},
    {"generic", Family::kGeneric, 256, 0, 0},
    {"software", Family::kSoftware, 1, 0, 2 * kMega},
};

// A row of a file in switch/targets/.
struct SystemRow {
  std::string os;
  unsigned version_min = 0;  // in the form of version_number()
  std::string version_text;
  std::vector<Family> families;
  std::vector<std::string> releases;
  std::string remarking_since;                 // older releases only classify; empty: all releases
  std::map<std::string, std::string> sources;  // by the capability's name
  Capabilities what;
};

Mechanism mechanism_of(const std::string& name) {
  if (name == "colour") return Mechanism::kColour;
  return name == "ECT" ? Mechanism::kEct : Mechanism::kQueues;
}

Remarking remarking_of(const std::string& name) {
  if (name == "rewrite") return Remarking::kRewrite;
  if (name == "spare class") return Remarking::kBySpareClass;
  return name == "none" ? Remarking::kNone : Remarking::kClassifyOnly;
}

std::optional<Family> family_of(const std::string& name) {
  if (name == "broadcom") return Family::kBroadcom;
  if (name == "spectrum") return Family::kSpectrum;
  if (name == "cloudscale") return Family::kCloudScale;
  if (name == "silicon-one") return Family::kSiliconOne;
  if (name == "software") return Family::kSoftware;
  return Family::kGeneric;
}

// A missing key keeps Capabilities' default.
template <class T>
void take(const nlohmann::json& data, const char* key, T& value) {
  value = data.value(key, value);
}

Capabilities capabilities_of(const nlohmann::json& data) {
  Capabilities row;
  row.mechanism = mechanism_of(data.at("mechanism"));
  row.remarking = remarking_of(data.value("remarking", "classify"));
  take(data, "levels_per_queue", row.levels_per_queue);
  take(data, "separate_knee", row.separate_knee);
  take(data, "site_classes", row.site_classes);
  take(data, "control_plane_queue", row.control_plane_queue);
  take(data, "lossless_queues", row.lossless_queues);
  take(data, "threshold_bytes_max", row.threshold_bytes_max);
  take(data, "pool_per_port", row.pool_per_port);
  take(data, "alpha_exponent_min", row.alpha_exponent_min);
  take(data, "alpha_exponent_max", row.alpha_exponent_max);
  take(data, "weight_max", row.weight_max);
  take(data, "weights_are_percent", row.weights_are_percent);
  take(data, "overlay_uniform", row.overlay_uniform);
  take(data, "lag_members", row.lag_members);
  take(data, "hash_settable", row.hash_settable);
  take(data, "level_counters", row.level_counters);
  take(data, "port_prefix", row.port_prefix);
  take(data, "port_shapes", row.port_shapes);
  take(data, "no_port_shapes", row.no_port_shapes);
  take(data, "tolerance", row.tolerance);
  take(data, "grammar_checked", row.grammar_checked);
  take(data, "seen_working", row.seen_working);
  take(data, "unverified", row.unverified);
  return row;
}

std::vector<SystemRow> read_systems() {
  std::vector<SystemRow> list;
  for (const TargetFile& file : target_files()) {
    const auto data = nlohmann::json::parse(file.data);
    for (const auto& row : data.at("capabilities")) {
      SystemRow system;
      system.os = data.at("os");
      system.version_min = row.at("version_min");
      system.version_text = row.at("since");
      for (const auto& family : row.at("families"))
        if (const auto known = family_of(family)) system.families.push_back(*known);
      take(row, "releases", system.releases);
      take(row, "remarking_since", system.remarking_since);
      take(data, "sources", system.sources);
      system.what = capabilities_of(row);
      list.push_back(std::move(system));
    }
  }
  return list;
}

const std::vector<SystemRow>& systems() {
  static const std::vector<SystemRow> kSystems = read_systems();
  return kSystems;
}

// "202311" -> 202311; "5.14" and "5.14.1" -> 514; "4.30.2F" -> 430; 0: not a version.
unsigned version_number(std::string_view text) {
  unsigned major = 0;
  unsigned minor = 0;
  const char* const end = text.data() + text.size();
  auto at = std::from_chars(text.data(), end, major);
  if (at.ec != std::errc()) return 0;
  constexpr unsigned kDayOfBuild = 10'000'000;  // SONiC's 20240510 is a build of branch 202405
  if (major >= kDayOfBuild) return major / 100;
  if (major >= 1000 || at.ptr == end) return major >= 1000 ? major : major * 100;
  if (*at.ptr != '.') return 0;
  at = std::from_chars(at.ptr + 1, end, minor);
  return at.ec == std::errc() && minor < 100 ? major * 100 + minor : 0;
}

const AsicRow* find_asic(std::string_view name) {
  const auto* found = std::find_if(std::begin(kAsics), std::end(kAsics),
                                   [name](const AsicRow& row) { return name == row.name; });
  return found == std::end(kAsics) ? nullptr : found;
}

bool runs_on(const SystemRow& system, const AsicRow& asic) {
  return std::find(system.families.begin(), system.families.end(), asic.family) !=
         system.families.end();
}

std::string version_hint(std::string_view os, std::string_view version) {
  const auto dot = version.find('.');
  if (os == "eos" && dot != std::string_view::npos && version.size() == dot + 2)
    return "quote it: YAML reads 4.30 as the number 4.3";
  const std::string why = os == "sonic" ? "before 202205, `config apply-patch` is missing or the "
                                          "rules of its updater are unknown; "
                                        : "";
  return why + "upgrade the switch, or leave it out: it then serves DLCP in its default class";
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
                                  "switch/vendors/README.md describes how to add a system"));
  }
  if (asic.starts_with("jericho")) {
    return Result::failed(
        refusal("ASICs with virtual output queues are not supported", asic,
                "one of " + joined(known_asics(os)),
                "their thresholds are per virtual output queue, which this plan does not model; "
                "leave the switch out; it then does not drop DLCP's packets by level"));
  }
  const AsicRow* const chip = find_asic(asic);
  for (const SystemRow& system : systems()) {
    if (os != system.os || chip == nullptr || !runs_on(system, *chip)) continue;
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
    if (!is_since(os, version, system.remarking_since))
      result.value->remarking = Remarking::kClassifyOnly;
    result.value->cell_bytes = chip->cell_bytes;
    result.value->buffer_bytes = chip->buffer_bytes;
    result.value->lossy_pool_bytes = chip->lossy_pool_bytes;
    return result;
  }
  return Result::failed(
      refusal(fmt::format("unknown ASIC for {}", os), asic, "one of " + joined(known_asics(os)),
              os == "sonic" ? "`generic` works on any ASIC, with separate queues for the levels"
                            : "add the ASIC to the capability table"));
}

bool is_since(std::string_view os, std::string_view version, std::string_view release) {
  if (os == "sonic" && version == "master") return true;
  return version_number(version) >= version_number(release);
}

std::vector<std::string> known_systems() {
  std::vector<std::string> names;
  for (const SystemRow& system : systems())
    if (names.empty() || names.back() != system.os) names.emplace_back(system.os);
  return names;
}

std::vector<std::string> known_asics(std::string_view os) {
  std::vector<std::string> names;
  for (const SystemRow& system : systems()) {
    if (os != system.os) continue;
    for (const AsicRow& asic : kAsics)
      if (runs_on(system, asic)) names.emplace_back(asic.name);
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
    TargetRow row;
    row.os = system.os;
    row.since = system.version_text;
    row.levels_per_queue = system.what.levels_per_queue;
    row.mechanism = name_of(system.what.mechanism);
    row.separate_knee = system.what.separate_knee;
    row.control_plane_queue = system.what.control_plane_queue;
    row.checked_by = "nothing; rendered only with `--unverified`";
    for (const AsicRow& asic : kAsics)
      if (runs_on(system, asic)) row.asics.emplace_back(asic.name);
    if (system.what.seen_working)
      row.checked_by = "applied and measured in a virtual machine";
    else if (system.what.grammar_checked)
      row.checked_by = "published YANG models; not on hardware";
    row.releases = system.releases;
    row.sources = system.sources;
    for (const FeatureRow& feature : feature_rows())
      if (feature.os == system.os) row.features.push_back(feature);
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
