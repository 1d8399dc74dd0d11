#include "switch/model/intent_file/switch_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "switch/model/intent_file/values.h"
#include "switch/model/site/site_import.h"

namespace dlcp::fabric {
namespace {

// The value of a word from a short list.
template <class T, std::size_t N>
auto one_of(const std::pair<const char*, T> (&words)[N]) {
  return [&words](std::string_view text) -> std::optional<T> {
    for (const auto& [word, value] : words)
      if (text == word) return value;
    return std::nullopt;
  };
}

constexpr std::pair<const char*, SwitchRole> kSwitchRoles[] = {
    {"leaf", SwitchRole::kLeaf},
    {"spine", SwitchRole::kSpine},
    {"superspine", SwitchRole::kSuperSpine},
    {"other", SwitchRole::kOther}};
constexpr std::pair<const char*, PortRole> kPortRoles[] = {{"host", PortRole::kHost},
                                                           {"fabric", PortRole::kFabric}};
constexpr std::pair<const char*, Trust> kTrusts[] = {{"dscp", Trust::kTrusted},
                                                     {"remark", Trust::kRemarked}};
constexpr std::pair<const char*, Overlay> kOverlays[] = {{"none", Overlay::kNone},
                                                         {"vxlan-uniform", Overlay::kVxlanUniform}};

constexpr std::pair<const char*, LoadBalancing> kLoadBalancings[] = {
    {"hash", LoadBalancing::kHash},
    {"flowlet", LoadBalancing::kFlowlet},
    {"packet", LoadBalancing::kPacket}};

constexpr unsigned kMetresMax = 100'000;

std::optional<unsigned> read_metres(std::string_view text) {
  if (!text.ends_with('m')) return std::nullopt;
  text.remove_suffix(1);
  const auto metres = read_integer(text, kMetresMax);
  return metres && *metres > 0 ? std::optional(static_cast<unsigned>(*metres)) : std::nullopt;
}

// Whole milliseconds, the unit of watchdogs.
std::optional<unsigned> read_milliseconds(std::string_view text) {
  constexpr std::uint64_t kNanoseconds = 1'000'000, kMinuteNs = 60'000'000'000;
  const auto time = read_time_ns(text);
  if (!time || *time < kNanoseconds || *time > kMinuteNs || *time % kNanoseconds != 0)
    return std::nullopt;
  return static_cast<unsigned>(*time / kNanoseconds);
}

constexpr std::uint64_t kSpeedMin = 1'000'000;  // 1 Mb/s: software switches in tests
constexpr std::uint64_t kSpeedMax = 3'200'000'000'000;

std::optional<std::uint64_t> read_link_speed(std::string_view text) {
  const auto rate = read_rate(text);
  return rate && *rate >= kSpeedMin && *rate <= kSpeedMax ? rate : std::nullopt;
}

constexpr double kDegreeMax = 100'000;

std::optional<double> read_degree(std::string_view text) {
  const auto number = read_number(text);
  return number && *number >= 1 && *number <= kDegreeMax ? number : std::nullopt;
}

constexpr std::size_t kNameMax = 64;

// Groups of Ansible, and other folders of the output.
bool is_reserved(std::string_view name) {
  constexpr std::string_view kReserved[] = {"all", "kept", "localhost", "telemetry", "ungrouped"};
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved) ||
         name.starts_with("dlcp_") || name.ends_with(".applied");
}

// Names become folder names, shell words and hosts of an inventory.
std::optional<std::vector<std::string>> read_switch_names(std::string_view text) {
  if (text.find_first_of("/:") != std::string_view::npos || text.starts_with('.') ||
      text.starts_with('-'))
    return std::nullopt;
  auto names = read_names(text);
  const bool fit = names && std::all_of(names->begin(), names->end(), [](const auto& name) {
                     return name.size() <= kNameMax && !is_reserved(name);
                   });
  return fit ? names : std::nullopt;
}

}  // namespace

std::optional<PortGroup> SwitchReader::read_group(const YamlNode& node, const std::string& where) {
  Section section(reading_, node, "switches[].ports[]", "ports of " + where);
  if (!section.usable()) return std::nullopt;
  PortGroup group;
  group.line = section.line();
  for (const auto& names : section.values(
           "ports", read_names,
           "names such as swp1, swp[1-32] or Ethernet[0-124:4], at most 4096 in one range"))
    group.ports.insert(group.ports.end(), names.begin(), names.end());
  group.role =
      section.value("role", one_of(kPortRoles), "host or fabric").value_or(PortRole::kFabric);
  const auto trust = section.value("trust", one_of(kTrusts), "dscp or remark");
  if (group.role == PortRole::kHost && section.find("trust") == nullptr) {
    reading_.fail(group.line,
                  fmt::format("host ports of {} do not state whether they trust DSCPs", where), "",
                  "trust: dscp or trust: remark",
                  "any host can send CS5: trust only hosts that run DLCP (dscp), and rewrite "
                  "DLCP's DSCPs at other ports (remark)");
  }
  group.trust = trust.value_or(Trust::kTrusted);
  group.remark_dscp =
      section.value("remark_to", read_dscp, "a DSCP, 0 to 63").value_or(std::uint8_t{0});
  if (section.find("remark_to") != nullptr && group.trust != Trust::kRemarked)
    reading_.fail(group.line, fmt::format("{} has remark_to without `trust: remark`", where));
  const auto speed = section.value("speed", read_link_speed, "a rate from 1M to 3.2T");
  if (!speed && !presets_.link_speed && section.find("speed") == nullptr) {
    reading_.fail(group.line, fmt::format("ports of {} have no speed", where), "",
                  "speed here, or fabric.link_speed");
  }
  group.speed_stated = speed.has_value();
  group.bits_per_second = speed ? *speed : presets_.link_speed.value_or(kSpeedMin);
  group.incast_degree =
      section.value("incast_degree", read_degree, "1 to 100000").value_or(presets_.incast_degree);
  group.lag = section.text("lag").value_or("");
  group.cable_metres = section.value("cable", read_metres, "1m to 100000m").value_or(0);
  for (const auto& names :
       section.values("hosts", read_names, "names such as gpu1 or gpu[1-32], one for each port"))
    group.hosts.insert(group.hosts.end(), names.begin(), names.end());
  if (!group.hosts.empty() && group.hosts.size() != group.ports.size()) {
    reading_.fail(group.line, fmt::format("{} has different numbers of hosts and ports", where),
                  fmt::format("{} hosts, {} ports", group.hosts.size(), group.ports.size()),
                  "one host for each port, in the ports' order");
  }
  return group;
}

std::vector<PortGroup> SwitchReader::read_ports(Section& section) {
  std::vector<PortGroup> groups;
  std::set<std::string> seen;
  for (const YamlNode* node : section.list("ports")) {
    auto group = read_group(*node, section.where());
    if (!group) continue;
    for (const std::string& port : group->ports) {
      if (seen.insert(port).second) continue;
      reading_.fail(group->line, fmt::format("a port of {} is listed twice", section.where()), port,
                    "each port in one group");
      break;
    }
    groups.push_back(std::move(*group));
  }
  if (groups.empty() && section.find("ports") != nullptr && !has_errors(reading_.problems))
    reading_.fail(section.line(), fmt::format("{} has no ports", section.where()));
  return groups;
}

void SwitchReader::read_buffer(const YamlNode& node, const std::string& where,
                               SwitchIntent& device) {
  Section section(reading_, node, "switches[].buffer", "buffer of " + where);
  if (!section.usable()) return;
  device.lossy_pool_bytes =
      section.value("lossy_pool", read_bytes, "a size such as 20.6MB").value_or(0);
  device.alpha_exponent =
      section.value("alpha", read_power_of_two, "a power of two such as 1/4, 1 or 2");
}

void SwitchReader::read_features(Section& section, SwitchIntent& device) {
  Features& features = device.features;
  features.load_balancing =
      section.value("load_balancing", one_of(kLoadBalancings), "hash, flowlet or packet");
  if (const YamlNode* node = section.find("trimming")) {
    Section part(reading_, *node, "switches[].trimming", "trimming of " + section.where());
    Trimming trimming;
    const auto size = [](std::string_view text) -> std::optional<std::uint64_t> {
      const auto bytes = read_bytes(text);
      return bytes && *bytes >= 64 && *bytes <= 4096 ? bytes : std::nullopt;
    };
    trimming.size_bytes = part.value("size", size, "64 to 4096 bytes").value_or(0);
    trimming.dscp = part.value("dscp", read_dscp, "a DSCP, 0 to 63");
    features.trimming = trimming;
  }
  if (const YamlNode* node = section.find("pfc_watchdog")) {
    Section part(reading_, *node, "switches[].pfc_watchdog", "pfc_watchdog of " + section.where());
    PfcWatchdog watchdog;
    constexpr const char* kTimes = "whole milliseconds, such as 200ms";
    watchdog.detect_ms =
        part.value("detect", read_milliseconds, kTimes).value_or(watchdog.detect_ms);
    watchdog.restore_ms =
        part.value("restore", read_milliseconds, kTimes).value_or(watchdog.restore_ms);
    features.pfc_watchdog = watchdog;
  }
  constexpr std::pair<const char*, int> kRemovable[] = {{"trimming", 0}, {"pfc_watchdog", 1}};
  for (const int what : section.values("remove", one_of(kRemovable), "trimming or pfc_watchdog")) {
    (what == 0 ? features.remove_trimming : features.remove_pfc_watchdog) = true;
    const bool asked =
        what == 0 ? features.trimming.has_value() : features.pfc_watchdog.has_value();
    if (asked)
      section.report_wrong_value("remove", kRemovable[what].first,
                                 "only features that the entry does not request", 0);
  }
}

bool SwitchReader::set_site(Section& section, const std::shared_ptr<const DeclaredSite>& declared,
                            SwitchIntent& device) {
  if (auto file = section.text("running_config")) {
    PendingImport wanted{*file, section.find("running_config")->line, true, declared};
    if (const auto at = file->find("{name}"); at != std::string::npos) {
      wanted.file.replace(at, 6, device.name);
      wanted.shared = false;
    }
    device.import = std::make_shared<const PendingImport>(std::move(wanted));
    return true;
  }
  if (declared != nullptr && declared->has_map) {
    device.site = {declared, &declared->config};
    return true;
  }
  reading_.fail(
      section.line(), fmt::format("{} has no DSCP map of the site", section.where()), "",
      "running_config, or a site section with dscp_map",
      "DLCP's rows are merged into the present configuration; without it nothing can be rendered");
  return false;
}

void SwitchReader::read(const YamlNode& node, std::vector<SwitchIntent>& switches) {
  const YamlNode* const name = node.find("name");
  const std::string where = name == nullptr ? "a switch" : fmt::format("switch '{}'", name->text);
  Section section(reading_, node, "switches[]", where);
  if (!section.usable()) return;
  const auto names =
      section.value("name", read_switch_names,
                    fmt::format("at most 64 letters, digits, '.', '_' and '-', with "
                                "ranges such as leaf[1-16] of at most {} names. "
                                "The names all, kept, localhost, telemetry, ungrouped, "
                                "dlcp_... and ....applied are reserved",
                                kNamesMax));
  SwitchIntent device;
  device.line = section.line();
  device.os = section.text("os").value_or("");
  device.version = section.text("version").value_or("");
  device.asic = section.text("asic").value_or("");
  device.sku = section.text("sku").value_or("");
  device.role = section.value("role", one_of(kSwitchRoles), "leaf, spine, superspine or other")
                    .value_or(SwitchRole::kOther);
  device.overlay =
      section
          .value("overlay", one_of(kOverlays),
                 "none or vxlan-uniform (tunnels that do not copy DSCP and ECN hide DLCP's marks)")
          .value_or(Overlay::kNone);
  const auto seed = section.value(
      "hash_seed", [](std::string_view text) { return read_integer(text, 0xffffffff); },
      "0 to 4294967295");
  if (seed) device.hash_seed = static_cast<unsigned>(*seed);
  device.port_groups = read_ports(section);
  read_features(section, device);
  if (const YamlNode* buffer = section.find("buffer")) read_buffer(*buffer, where, device);
  std::shared_ptr<const DeclaredSite> declared = site_;
  if (const YamlNode* site = section.find("site"))
    declared = std::make_shared<const DeclaredSite>(read_site(reading_, *site, "site of " + where));
  if (!names) return;
  for (const std::string& each : *names) {
    device.name = each;
    if (!set_site(section, declared, device)) return;
    switches.push_back(device);
  }
}

}  // namespace dlcp::fabric
