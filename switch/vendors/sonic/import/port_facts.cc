#include "switch/vendors/sonic/import/port_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "switch/vendors/sonic/release.h"

namespace dlcp::fabric::sonic {
namespace {

const Json& table_of(const Json& config, const char* name) {
  static const Json kEmpty = Json::object();
  const auto found = config.find(name);
  return found == config.end() || !found->is_object() ? kEmpty : *found;
}

// 0: absent, or not a number.
std::uint64_t number_field(const Json& row, const char* field) {
  const auto text = text_field(row, field);
  if (text.empty() || text.size() > 15 || text.find_first_not_of("0123456789") != std::string::npos)
    return 0;
  return std::stoull(text);
}

constexpr std::uint64_t kMegabit = 1'000'000;

SitePort* port_named(SiteConfig& site, const std::string& name) {
  const auto at = std::lower_bound(
      site.port_facts.begin(), site.port_facts.end(), name,
      [](const SitePort& port, const std::string& key) { return port.name < key; });
  return at == site.port_facts.end() || at->name != name ? nullptr : &*at;
}

// "Ethernet0|3-4" -> the queues; nullopt: another form of row.
std::optional<Range> queues_of(const std::string& key) {
  const auto bar = key.find('|');
  return range_of(bar == std::string::npos ? "" : key.substr(bar + 1));
}

// The pool of the lossy queues that the default class leads to; null: not in the rows.
const Json* lossy_pool(const Json& config, const SiteConfig& site, std::string& name) {
  const int queue = site.class_to_queue[site.default_class].value_or(0);
  for (const auto& [key, row] : table_of(config, "BUFFER_QUEUE").items()) {
    const auto range = queues_of(key);
    if (!range || !range->holds(queue)) continue;
    const Json* profile = find_row(config, "BUFFER_PROFILE", text_field(row, "profile"));
    if (profile == nullptr || !profile->contains("dynamic_th")) continue;
    name = text_field(*profile, "pool");
    return find_row(config, "BUFFER_POOL", name);
  }
  return nullptr;
}

// CABLE_LENGTH|AZURE {"Ethernet0": "40m"}.
void read_cables(const Json& config, SiteConfig& site) {
  for (const auto& [key, row] : table_of(config, "CABLE_LENGTH").items()) {
    if (!row.is_object()) continue;
    for (const auto& [name, length] : row.items()) {
      SitePort* const port = port_named(site, name);
      const auto text = length.is_string() ? length.get<std::string>() : "";
      const auto metres =
          text.ends_with('m') ? number_of(text.substr(0, text.size() - 1)) : std::nullopt;
      if (port != nullptr && metres) port->cable_metres = static_cast<unsigned>(*metres);
    }
  }
}

// Headroom in the profile of a port's lossless priority groups.
void read_headroom(const Json& config, SiteConfig& site) {
  for (const auto& [key, row] : table_of(config, "BUFFER_PG").items()) {
    const auto bar = key.find('|');
    const Json* profile = find_row(config, "BUFFER_PROFILE", text_field(row, "profile"));
    if (bar == std::string::npos || profile == nullptr) continue;
    SitePort* const port = port_named(site, key.substr(0, bar));
    if (port != nullptr)
      port->headroom_bytes = std::max(port->headroom_bytes, number_field(*profile, "xoff"));
  }
}

std::optional<int> exponent_of(const std::string& text) {
  const bool is_negative = text.starts_with('-');
  const auto size = number_of(std::string_view(text).substr(is_negative ? 1 : 0));
  return size ? std::optional(is_negative ? -*size : *size) : std::nullopt;
}

// Rows of several queues stay as they are. So do all rows if the default queue's profile has a
// fixed limit, because DLCP copies only profiles with dynamic ones.
void read_limits(const Json& config, SiteConfig& site) {
  std::string pool;
  const bool all_stay = lossy_pool(config, site, pool) == nullptr && pool.empty();
  for (const auto& [key, row] : table_of(config, "BUFFER_QUEUE").items()) {
    const auto range = queues_of(key);
    const auto named = text_field(row, "profile");
    const Json* profile = find_row(config, "BUFFER_PROFILE", named);
    if (!range || profile == nullptr || is_own(named)) continue;
    if (range->first == range->last && !all_stay) continue;
    QueueLimit limit{0, exponent_of(text_field(*profile, "dynamic_th")),
                     number_field(*profile, "static_th"), "BUFFER_QUEUE|" + key};
    if (!limit.alpha_exponent && !profile->contains("static_th")) continue;
    std::istringstream ports(key.substr(0, key.find('|')));
    for (std::string name; std::getline(ports, name, ',');)
      for (int q = range->first; q <= std::min(range->last, kQueueCount - 1); ++q)
        if (SitePort* const port = port_named(site, name)) {
          limit.queue = static_cast<std::uint8_t>(q);
          port->limits.push_back(limit);
        }
  }
}

}  // namespace

void read_hardware(const Json& config, SiteConfig& site, const Fault& fault) {
  for (const auto& [name, row] : table_of(config, "PORT").items()) {
    site.ports.push_back(name);
    const auto speed = number_field(row, "speed");
    if (speed == 0 && row.contains("speed"))
      fault("PORT", name, fmt::format("the speed of {} is not a number", name),
            text_field(row, "speed"), "megabits per second, as in 400000", "");
    site.port_facts.push_back({name, speed * kMegabit, "", false, 0, 0, {}});
  }
  for (const auto& [key, row] : table_of(config, "PORTCHANNEL_MEMBER").items()) {
    const auto bar = key.find('|');
    if (bar == std::string::npos) continue;
    if (SitePort* port = port_named(site, key.substr(bar + 1))) port->lag = key.substr(0, bar);
  }
  if (const Json* device = find_row(config, "DEVICE_METADATA", "localhost")) {
    site.hardware = text_field(*device, "hwsku");
    site.asic = asic_of(site.hardware);
    const auto type = text_field(*device, "type");
    site.hash_seed = hash_seed_of(type);
    site.hash_seed_source = "DEVICE_METADATA type " + type;
  }
  read_cables(config, site);
  const auto& watchdogs = table_of(config, "PFC_WD");
  if (config.contains("PORT_QOS_MAP"))
    site.pfc_watchdog = watchdogs.size() > (watchdogs.contains("GLOBAL") ? 1U : 0U);
}

void read_egress_rewrite(const Json& config, SiteConfig& site, const Fault& fault) {
  for (const auto& [port, row] : table_of(config, "PORT_QOS_MAP").items()) {
    const auto map = site_map(config, &row, "tc_to_dscp_map");
    if (map.empty()) continue;
    const Json* entries = find_row(config, "TC_TO_DSCP_MAP", map);
    if (entries == nullptr) continue;  // reported already
    if (SitePort* known = port_named(site, port)) known->rewrites_dscps = true;
    if (!site.egress_rewrite.empty()) continue;
    site.egress_rewrite = fmt::format("TC_TO_DSCP_MAP|{} (tc_to_dscp_map of {})", map, port);
    for (const auto& [from, to] : entries->items()) {
      const auto traffic_class = number_of(from);
      const int dscp = to.is_string() ? number_of(to.get<std::string>()).value_or(-1) : -1;
      if (!traffic_class || *traffic_class >= kTrafficClassesMax || dscp < 0 ||
          dscp >= kDscpCount) {
        fault("TC_TO_DSCP_MAP", map,
              fmt::format("TC_TO_DSCP_MAP|{} has an entry out of range", map),
              from + ": " + to.dump(), "0..15 to \"0\"..\"63\"", "");
        continue;
      }
      site.class_to_dscp[*traffic_class] = static_cast<std::uint8_t>(dscp);
    }
  }
}

void read_buffers(const Json& config, SiteConfig& site) {
  read_headroom(config, site);
  read_limits(config, site);
  const auto size = [&](const char* pool, const char* field) -> std::uint64_t {
    const Json* row = find_row(config, "BUFFER_POOL", pool);
    return row == nullptr ? 0 : number_field(*row, field);
  };
  std::string name;
  if (const Json* pool = lossy_pool(config, site, name))
    site.lossy_pool_bytes = number_field(*pool, "size");
  for (const char* customary : {"egress_lossy_pool", "ingress_lossy_pool"}) {
    if (site.lossy_pool_bytes != 0) break;
    name = customary;
    site.lossy_pool_bytes = size(customary, "size");
  }
  if (site.lossy_pool_bytes != 0) site.pool_source = "BUFFER_POOL|" + name;
  site.lossless_headroom_bytes = size("ingress_lossless_pool", "xoff");
  for (const auto& [key, row] : table_of(config, "BUFFER_QUEUE").items()) {
    const auto range = queues_of(key);
    const Json* profile = find_row(config, "BUFFER_PROFILE", text_field(row, "profile"));
    if (!range || profile == nullptr) continue;
    for (int q = range->first; q <= std::min(range->last, kQueueCount - 1); ++q)
      site.queues[q].trimming |= text_field(*profile, "packet_discard_action") == "trim";
  }
}

}  // namespace dlcp::fabric::sonic
