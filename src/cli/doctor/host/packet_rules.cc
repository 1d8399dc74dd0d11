#include "cli/doctor/host/packet_rules.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "datapath/udp/interfaces/reverse_path.h"

namespace dlcp::cli {
namespace {

constexpr int kFirstPort = 49152;
constexpr int kLastPort = 65535;
constexpr std::string_view kAccept = "accept";

std::string_view trimmed(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// "udp dport 49152-65535 ..." or "udp dport 55000 ...": the ports of a rule.
std::optional<std::pair<int, int>> ports_of(std::string_view rule) {
  constexpr std::string_view kPorts = "udp dport ";
  const auto at = rule.find(kPorts);
  if (at == rule.npos) return std::nullopt;
  const char* const end = rule.data() + rule.size();
  std::pair<int, int> ports;
  auto read = std::from_chars(rule.data() + at + kPorts.size(), end, ports.first);
  if (read.ec != std::errc()) return std::nullopt;  // a set, or "!= ..."
  ports.second = ports.first;
  if (read.ptr != end && *read.ptr == '-') std::from_chars(read.ptr + 1, end, ports.second);
  return ports;
}

bool has_word(std::string_view rule, std::string_view word) {
  const auto at = rule.find(word);
  return at != rule.npos && (at == 0 || rule[at - 1] == ' ') &&
         (at + word.size() == rule.size() || rule[at + word.size()] == ' ' ||
          rule[at + word.size()] == ';');
}

Finding dropping(std::string_view rule) {
  return {
      "firewall", Level::kWarn,
      fmt::format("a firewall rule drops or rejects UDP ports that DLCP uses for data: {}", rule),
      fmt::format("accept UDP {}-{} from the job's hosts before that rule", kFirstPort, kLastPort)};
}

Finding closed_chain(const std::string& chain) {
  return {
      "firewall", Level::kWarn,
      fmt::format("the input chain {} drops packets that no rule accepts, and this check found "
                  "no rule that accepts UDP {}-{}",
                  chain, kFirstPort, kLastPort),
      fmt::format("nft insert rule FAMILY TABLE {} ip saddr SUBNET udp dport {}-{} accept; then "
                  "test with `dlcp doctor --peer`",
                  chain, kFirstPort, kLastPort)};
}

}  // namespace

Findings check_reverse_path_filter(const std::vector<datapath::Interface>& devices,
                                   const std::vector<datapath::InterfaceAddress>& existing,
                                   const std::string& proc_root) {
  std::string strict;
  for (const auto& device : devices)
    if (device.ip.family == datapath::IpFamily::kV4 &&
        datapath::filters_strictly(device.name, proc_root))
      strict += (strict.empty() ? "" : ", ") + device.name;
  const bool is_risk = !check_shared_subnets(devices, existing).empty();
  if (strict.empty() || (devices.size() < 2 && !is_risk)) return {};
  Finding finding{"rp_filter", is_risk ? Level::kWarn : Level::kOk,
                  fmt::format("strict on {}: the kernel drops a packet unless the route back to "
                              "its sender uses the interface on which it arrived",
                              strict),
                  ""};
  if (is_risk)
    finding.fix =
        "sysctl -w net.ipv4.conf.all.rp_filter=2 and the same for each of these interfaces";
  return {finding};
}

Findings check_shared_subnets(const std::vector<datapath::Interface>& devices,
                              const std::vector<datapath::InterfaceAddress>& existing) {
  Findings findings;
  const auto is_device = [&](const datapath::InterfaceAddress& interface) {
    return std::ranges::find(devices, interface.name, &datapath::Interface::name) != devices.end();
  };
  for (std::size_t i = 0; i < existing.size(); ++i)
    for (std::size_t j = i + 1; j < existing.size(); ++j) {
      if (!is_device(existing[i]) && !is_device(existing[j])) continue;
      if (existing[i].is_loopback != existing[j].is_loopback) continue;  // no other host is on `lo`
      const auto subnet = datapath::common_subnet(existing[i], existing[j]);
      if (subnet.empty()) continue;
      findings.push_back(
          {"subnet", Level::kWarn,
           fmt::format(
               "{} and {} are both in {}: peers may send the packets for both addresses to one "
               "of them",
               existing[i].name, existing[j].name, subnet),
           "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2, or give "
           "each interface a subnet of its own"});
    }
  return findings;
}

Findings judge_ruleset(std::string_view ruleset) {
  Findings findings;
  std::string chain;
  bool drops = false;
  bool accepts = false;
  while (!ruleset.empty()) {
    const std::size_t end = std::min(ruleset.find('\n'), ruleset.size());
    const std::string_view line = trimmed(ruleset.substr(0, end));
    ruleset.remove_prefix(std::min(end + 1, ruleset.size()));
    if (line.starts_with("chain ")) {
      chain = line.substr(6, line.find(' ', 6) - 6);
      drops = accepts = false;
    }
    const bool is_input = line.find("hook input") != line.npos;
    drops = drops || (is_input && line.find("policy drop") != line.npos);
    const auto ports = ports_of(line);
    const bool concerned = ports && ports->first <= kLastPort && ports->second >= kFirstPort;
    if (concerned && (has_word(line, "drop") || has_word(line, "reject")))
      findings.push_back(dropping(line));
    const bool covers = ports && ports->first <= kFirstPort && ports->second >= kLastPort;
    const bool is_open = line == kAccept || line.starts_with("meta l4proto udp accept") ||
                         line.starts_with("ip saddr") || line.starts_with("ip6 saddr");
    if ((covers || is_open) && has_word(line, kAccept)) accepts = true;
    if (line == "}" && std::exchange(drops, false) && !accepts)
      findings.push_back(closed_chain(chain));
  }
  return findings;
}

Findings check_ruleset() {
  if (::geteuid() != 0) return {};
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen("nft list ruleset 2>/dev/null", "r"),
                                                   [](FILE* file) { return ::pclose(file); });
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), got);
  return judge_ruleset(text);
}

}  // namespace dlcp::cli
