#include "switch/model/intent_file/intent_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "dlcp/class_overrides.h"
#include "switch/model/intent_file/section.h"
#include "switch/model/intent_file/switch_reader.h"
#include "switch/model/intent_file/values.h"
#include "switch/model/site/site_import.h"
#include "switch/model/site/site_reader.h"

namespace dlcp::fabric {
namespace {

constexpr std::size_t kSwitchesMax = 20000;

DlcpIntent default_dlcp() {
  DlcpIntent dlcp;
  dlcp.classes = kTrafficClasses;
  dlcp.level_shares = kTwoLevelShares;
  dlcp.strict_percent = 10;
  dlcp.exact_percent = 20;
  dlcp.urgent_percent = 20;
  dlcp.bulk_percent = 10;
  return dlcp;
}

auto between(double min, double max) {
  return [min, max](std::string_view text) -> std::optional<double> {
    const auto value = read_number(text);
    return value && *value >= min && *value <= max ? value : std::nullopt;
  };
}

void read_fabric(Reading& reading, const YamlNode& node, FabricIntent& fabric,
                 FabricPresets& presets) {
  Section section(reading, node, "fabric", "fabric");
  presets.link_speed = 1'000'000'000;  // after an error here, avoids further errors about ports
  if (!section.usable()) return;
  fabric.name = section.text("name").value_or("");
  const auto time = [](std::string_view text) -> std::optional<std::uint64_t> {
    const auto value = read_time_ns(text);
    return value && *value >= 500 && *value <= 1'000'000'000 ? value : std::nullopt;
  };
  fabric.base_rtt_ns =
      section.value("base_rtt", time, "a time from 500ns to 1s, such as 12us").value_or(0);
  const auto speed = section.value("link_speed", read_rate, "a rate such as 400G");
  if (speed) presets.link_speed = speed;
  if (section.find("link_speed") == nullptr) presets.link_speed.reset();
  presets.incast_degree =
      section.value("incast_degree", between(1, 100000), "1 to 100000").value_or(4);
  const auto packet = [](std::string_view text) -> std::optional<std::uint64_t> {
    const auto value = read_bytes(text);
    return value && *value >= 576 && *value <= 65535 ? value : std::nullopt;
  };
  fabric.mtu_bytes = section.value("mtu", packet, "576 to 65535 bytes").value_or(4200);
  fabric.saturated_queues =
      section.value("saturated_queues", between(1, 4096), "1 to 4096").value_or(16);
}

// Overwrites a share if the key is present.
void share(Section& section, const char* key, double& percent) {
  const auto value = section.value(key, read_percent, "a percentage such as 20%");
  if (value) percent = *value;
}

void read_shares(Reading& reading, const YamlNode& node, DlcpIntent& dlcp) {
  Section section(reading, node, "dlcp.shares", "dlcp.shares");
  share(section, "exact", dlcp.exact_percent);
  share(section, "urgent", dlcp.urgent_percent);
  share(section, "bulk", dlcp.bulk_percent);
  const double sum = dlcp.exact_percent + dlcp.urgent_percent + dlcp.bulk_percent;
  const bool starved = dlcp.exact_percent < 1 || dlcp.urgent_percent < 1 || dlcp.bulk_percent < 1;
  if (sum > 90 || starved) {
    reading.fail(section.line(), "the sum or a value of dlcp.shares is out of range",
                 fmt::format("{:g}% + {:g}% + {:g}%", dlcp.exact_percent, dlcp.urgent_percent,
                             dlcp.bulk_percent),
                 "each at least 1%, and at most 90% in all, because the site needs the rest");
  }
}

void read_queues(Reading& reading, const YamlNode& node, DlcpIntent& dlcp) {
  Section section(reading, node, "dlcp.queues", "dlcp.queues");
  const auto queue = [](std::string_view text) -> std::optional<std::uint8_t> {
    const auto value = read_integer(text, kQueueCount - 1);
    return value ? std::optional(static_cast<std::uint8_t>(*value)) : std::nullopt;
  };
  constexpr const char* kKeys[] = {"control", "exact", "urgent", "bulk"};
  for (std::size_t i = 0; i < dlcp.queue_of.size(); ++i) {
    dlcp.queue_of[i] = section.value(kKeys[i], queue, "a queue, 0 to 7");
    for (std::size_t j = 0; j < i; ++j) {
      if (!dlcp.queue_of[i] || dlcp.queue_of[i] != dlcp.queue_of[j]) continue;
      reading.fail(section.line(),
                   fmt::format("dlcp.queues: {} and {} have the same queue", kKeys[j], kKeys[i]),
                   std::to_string(*dlcp.queue_of[i]), "a different queue for each",
                   "leave one out: the plan joins classes if queues are few");
    }
  }
}

void check_sum(Reading& reading, const Section& section, double sum) {
  if (std::abs(sum - 100) < 0.01) return;
  reading.fail(section.line(), fmt::format("the sum of {} is wrong", section.where()),
               fmt::format("{:g}%", sum), "100%");
}

void read_level_shares(Reading& reading, const YamlNode& node, LevelShares& shares) {
  Section section(reading, node, "dlcp.level_shares", "dlcp.level_shares");
  if (const YamlNode* part = section.find("bulk")) {
    Section bulk(reading, *part, "dlcp.level_shares.bulk", "dlcp.level_shares.bulk");
    double droppable = shares.bulk_droppable * 100;
    double middle = shares.bulk_middle * 100;
    double kept = shares.bulk_protected * 100;
    share(bulk, "droppable", droppable);
    share(bulk, "middle", middle);
    share(bulk, "protected", kept);
    check_sum(reading, bulk, droppable + middle + kept);
    shares.bulk_droppable = droppable / 100;
    shares.bulk_middle = middle / 100;
    shares.bulk_protected = kept / 100;
  }
  if (const YamlNode* part = section.find("urgent")) {
    Section urgent(reading, *part, "dlcp.level_shares.urgent", "dlcp.level_shares.urgent");
    double droppable = shares.urgent_droppable * 100;
    double kept = shares.urgent_protected * 100;
    share(urgent, "droppable", droppable);
    share(urgent, "protected", kept);
    check_sum(reading, urgent, droppable + kept);
    shares.urgent_droppable = droppable / 100;
    shares.urgent_protected = kept / 100;
  }
}

void read_classes(Reading& reading, const std::string& file, int line, const Sources& sources,
                  DlcpIntent& dlcp) {
  auto text = sources.read(file);
  for (Problem& problem : text.problems) {
    problem.file = reading.file;
    problem.line = line;
    reading.problems.push_back(std::move(problem));
  }
  if (!text.value) return;
  for (const ClassOverrideError& error :
       apply_class_overrides(*text.value, dlcp.classes, dlcp.sent_shares)) {
    reading.problems.push_back(
        {Severity::kError, file, error.line, error.what, error.seen, error.expected, ""});
  }
}

void read_dlcp(Reading& reading, const YamlNode& node, const Sources& sources, DlcpIntent& dlcp) {
  Section section(reading, node, "dlcp", "dlcp");
  if (!section.usable()) return;
  const auto strict = section.value(
      "strict_limit",
      [](std::string_view text) -> std::optional<double> {
        const auto value = read_percent(text);
        return value && *value >= 1 && *value <= 20 ? value : std::nullopt;
      },
      "1% to 20%, because an unlimited strict queue starves the others");
  if (strict) dlcp.strict_percent = *strict;
  if (const YamlNode* part = section.find("shares")) read_shares(reading, *part, dlcp);
  if (const YamlNode* part = section.find("queues")) read_queues(reading, *part, dlcp);
  if (const auto file = section.text("classes")) {
    read_classes(reading, *file, section.find("classes")->line, sources, dlcp);
    dlcp.level_shares = dlcp.sent_shares;
  }
  if (const YamlNode* part = section.find("level_shares")) {
    dlcp.shares_line = part->line;
    read_level_shares(reading, *part, dlcp.level_shares);
  }
}

constexpr std::size_t kTenantNameMax = 12;

std::optional<std::string> read_tenant_name(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  if (!plain || text.empty() || text.size() > kTenantNameMax) return std::nullopt;
  return std::string(text);
}

// DSCPs that two tenants mark, and shares whose sum exceeds the link.
void check_tenants(Reading& reading, const Intent& intent) {
  std::array<std::string, kDscpCount> owner;
  double sum = 0;
  for (std::size_t i = 0; i <= intent.tenants.size(); ++i) {
    const DlcpIntent& dlcp = tenant_of(intent, i);
    const int line = i == 0 ? 0 : intent.tenants[i - 1].line;
    const std::string name =
        i == 0 ? "dlcp" : fmt::format("tenant '{}'", intent.tenants[i - 1].name);
    sum += dlcp.exact_percent + dlcp.urgent_percent + dlcp.bulk_percent;
    for (const TrafficClassRow& row : dlcp.classes) {
      std::string& held = owner[row.dscp];
      if (!held.empty() && held != name) {
        reading.fail(line, fmt::format("{} and {} use the same DSCP", held, name),
                     std::to_string(row.dscp), "different DSCPs for each tenant",
                     "`CLASS.dscp = N` lines in the file that `classes` names");
        return;
      }
      held = name;
    }
  }
  if (sum > 90 && !intent.tenants.empty())
    reading.fail(0, "the shares of all tenants are too large", fmt::format("{:g}%", sum),
                 "at most 90% in all, because the site needs the rest",
                 "lower dlcp.shares and the tenants' shares");
}

void read_tenant(Reading& reading, const YamlNode& node, const Sources& sources, Intent& intent) {
  Section section(reading, node, "tenants[]", "a tenant");
  if (!section.usable()) return;
  TenantIntent tenant;
  tenant.line = section.line();
  tenant.dlcp = default_dlcp();
  tenant.name = section.value("name", read_tenant_name, "at most 12 letters, digits, '_' and '-'")
                    .value_or("");
  if (const YamlNode* part = section.find("shares")) read_shares(reading, *part, tenant.dlcp);
  tenant.classes = section.text("classes").value_or("");
  read_classes(reading, tenant.classes, section.line(), sources, tenant.dlcp);
  tenant.dlcp.shares_line = intent.dlcp.shares_line;
  tenant.dlcp.level_shares =
      intent.dlcp.shares_line != 0 ? intent.dlcp.level_shares : tenant.dlcp.sent_shares;
  for (const TenantIntent& other : intent.tenants)
    if (other.name == tenant.name)
      reading.fail(tenant.line, "two tenants have the same name", tenant.name,
                   "a different name for each");
  intent.tenants.push_back(std::move(tenant));
}

void check_names(Reading& reading, const std::vector<SwitchIntent>& switches) {
  std::set<std::string> names;
  for (const SwitchIntent& device : switches) {
    if (names.insert(device.name).second) continue;
    reading.fail(device.line, "two switches have the same name", device.name,
                 "a different name for each");
    return;
  }
  if (switches.size() > kSwitchesMax) {
    reading.fail(0, "too many switches", std::to_string(switches.size()),
                 fmt::format("at most {}", kSwitchesMax));
  }
}

void import_all(Reading& reading, const Sources& sources, Intent& intent) {
  SiteImports imports(intent.file, sources);
  for (SwitchIntent& device : intent.switches) {
    auto site = imports.site_of(device);
    std::move(site.problems.begin(), site.problems.end(), std::back_inserter(reading.problems));
    if (site.value) device.site = *site.value;
  }
}

}  // namespace

Checked<Intent> read_intent(const std::string& file, const std::string& text,
                            const Sources& sources) {
  Checked<Intent> result;
  auto tree = parse_yaml(file, text);
  if (!tree.value) {
    result.problems = std::move(tree.problems);
    return result;
  }
  Reading reading{file, {}};
  Intent intent;
  intent.file = file;
  intent.dlcp = default_dlcp();
  FabricPresets presets;
  Section top(reading, *tree.value, "", "the intent file");
  if (const YamlNode* node = top.find("fabric"))
    read_fabric(reading, *node, intent.fabric, presets);
  if (const YamlNode* node = top.find("dlcp")) read_dlcp(reading, *node, sources, intent.dlcp);
  for (const YamlNode* node : top.list("tenants"))
    read_tenant(reading, *node, sources, intent);
  if (!has_errors(reading.problems)) check_tenants(reading, intent);
  std::shared_ptr<const DeclaredSite> site;
  if (const YamlNode* node = top.find("site"))
    site = std::make_shared<const DeclaredSite>(read_site(reading, *node, "site"));
  SwitchReader switches(reading, presets, site);
  for (const YamlNode* node : top.list("switches"))
    switches.read(*node, intent.switches);
  check_names(reading, intent.switches);
  if (!sources.import_later && !has_errors(reading.problems)) import_all(reading, sources, intent);
  result.problems = std::move(reading.problems);
  if (!has_errors(result.problems)) result.value = std::move(intent);
  return result;
}

}  // namespace dlcp::fabric
