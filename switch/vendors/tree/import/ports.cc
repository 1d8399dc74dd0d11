// The ports of a running configuration, with their speeds and link aggregates.
#include <algorithm>

#include "switch/vendors/text/numbers.h"
#include "switch/vendors/text/words.h"
#include "switch/vendors/tree/import/facts.h"

namespace dlcp::fabric::tree {
namespace {

// "100G", "100g", "100gbps", "openconfig-if-ethernet:SPEED_100GB", "100000" (in Mb/s); 0: none.
std::uint64_t speed_of(std::string text) {
  if (const auto at = text.find("SPEED_"); at != std::string::npos) text.erase(0, at + 6);
  const auto digits = text.find_first_not_of("0123456789");
  const auto number = number_of(std::string_view(text).substr(0, digits));
  if (!number) return 0;
  if (digits == std::string::npos) return static_cast<std::uint64_t>(*number) * 1'000'000;
  const bool giga = text[digits] == 'g' || text[digits] == 'G';
  return giga ? static_cast<std::uint64_t>(*number) * 1'000'000'000 : 0;
}

// "Ethernet1/49/2" belongs to slot "1/49", "et-0/0/1:3" to "0/0/1" and to "0/0".
bool is_of_slot(std::string_view port, std::string_view slot) {
  const auto digits = std::min(port.find_first_of("0123456789"), port.size());
  const auto numbers = port.substr(digits);
  return numbers.starts_with(slot) && (numbers.size() == slot.size() ||
                                       numbers[slot.size()] == '/' || numbers[slot.size()] == ':');
}

// "0", "0", "4-7,9" -> "0/0/4" ... "0/0/9". Text that is not a list gives one slot without ports.
std::vector<std::string> slots_of(const Captures& held) {
  constexpr int kPortsMax = 512;
  std::string stem, list;
  for (const auto& [hole, value] : held) {
    if (!hole.starts_with("slot")) continue;
    stem += list.empty() ? "" : list + "/";
    list = value;
  }
  std::replace(list.begin(), list.end(), ',', ' ');
  std::vector<std::string> slots;
  for (const auto& word : words_of(list)) {
    const auto dash = word.find('-');
    const auto first = number_of(std::string_view(word).substr(0, dash));
    const auto last = dash == std::string::npos ? first : number_of(word.substr(dash + 1));
    if (!first || !last || *last > kPortsMax) {
      slots.push_back(stem + word);
      continue;
    }
    for (int number = *first; number <= *last; ++number)
      slots.push_back(stem + std::to_string(number));
  }
  return slots;
}

// The speed of a port from the part of its name before the numbers.
std::uint64_t speed_by_name(const Target& target, const std::string& port) {
  const auto digits = port.find_first_of("0123456789");
  const auto known = target.name_speeds.find(port.substr(0, digits));
  return known == target.name_speeds.end() ? 0 : speed_of(known->second);
}

}  // namespace

void read_ports(const Target& target, const Facts& facts, const Document& document,
                SiteConfig& site) {
  std::map<std::string, SitePort> ports;
  const auto port = [&ports](const std::string& name) -> SitePort& {
    auto& row = ports[name];
    row.name = name;
    return row;
  };
  for (const Fact& fact : of(facts, "port"))
    port(held(fact.held, "port"));
  for (const auto& [kind, names] : document.bound)
    for (const auto& [name, object] : names)
      port(name);
  for (const Fact& fact : of(facts, "speed"))
    port(held(fact.held, "port")).bits_per_second = speed_of(held(fact.held, "speed"));
  // Speeds of a single port precede those of a whole module.
  std::vector<std::pair<std::string, std::uint64_t>> slots;
  for (const Fact& fact : of(facts, "slot_speed"))
    for (auto& slot : slots_of(fact.held))
      slots.emplace_back(std::move(slot), speed_of(held(fact.held, "speed")));
  std::stable_sort(slots.begin(), slots.end(), [](const auto& a, const auto& b) {
    return std::count(a.first.begin(), a.first.end(), '/') >
           std::count(b.first.begin(), b.first.end(), '/');
  });
  for (auto& [name, row] : ports) {
    for (const auto& [slot, speed] : slots)
      if (row.bits_per_second == 0 && is_of_slot(name, slot)) row.bits_per_second = speed;
    if (row.bits_per_second == 0) row.bits_per_second = speed_by_name(target, name);
  }
  for (const Fact& fact : of(facts, "lag"))
    port(held(fact.held, "port")).lag = target.lag_prefix + held(fact.held, "lag");
  for (auto& [name, row] : ports) {
    if (!name.starts_with(target.ports_begin)) continue;
    site.ports.push_back(name);
    site.port_facts.push_back(std::move(row));
  }
}

}  // namespace dlcp::fabric::tree
