#include "cli/doctor/host/host_checks.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/doctor/host/packet_rules.h"
#include "datapath/udp/interfaces/interfaces.h"
#include "datapath/udp/udp_datapath.h"
#include "engine/devices/registry.h"
#include "engine/settings/environment.h"
#include "engine/settings/settings.h"

namespace dlcp::cli {
namespace {

constexpr int kKernelTested = 5 * 1000 + 4;   // older kernels probably work, but are not tested
constexpr int kKernelWithGro = 5 * 1000 + 0;  // UDP_GRO
constexpr std::size_t kMtuWorthRaising = 4000;

Finding interface_finding(const datapath::Interface& interface) {
  const auto& properties = interface.properties;
  // Determined as in a job; this also works without /sys.
  const auto asked = datapath::interface_mtu(interface.name, interface.ip);
  const std::size_t mtu = asked && !interface.is_routed_to ? asked.value() : properties.mtu;
  Finding finding{"interface", Level::kOk, "", ""};
  finding.value =
      fmt::format("{}: {}, MTU {}, {} Mbit/s{}", interface.name, datapath::to_string(interface.ip),
                  mtu, properties.speed_mbps, properties.is_virtual ? ", virtual" : "");
  if (interface.ip.is_loopback()) {
    finding.level = Level::kWarn;
    finding.value += "; only jobs of this host alone can use it";
    finding.fix = "for jobs with other hosts bring another interface up";
  }
  if (const std::size_t least = datapath::udp_mtu_min(interface.ip.family); mtu < least) {
    finding.level = Level::kFail;
    finding.fix =
        fmt::format("ip link set dev {} mtu 1500 (DLCP needs at least {})", interface.name, least);
  } else if (mtu < kMtuWorthRaising && !properties.is_virtual) {
    finding.fix = "if the network carries jumbo frames: ip link set dev NAME mtu 9000";
  }
  return finding;
}

Findings interface_findings(const engine::Settings& settings) {
  const auto existing = datapath::list_interfaces(settings.family);
  if (!existing) return {{"interface", Level::kFail, existing.error().what, existing.error().hint}};
  const auto chosen = datapath::own_interfaces(settings.interfaces, settings.family);
  if (!chosen) {
    return {{"interface", Level::kFail, chosen.error().what,
             chosen.error().hint.empty() ? "set DLCP_IFNAME" : chosen.error().hint}};
  }
  Findings findings;
  for (const auto& interface : chosen.value())
    findings.push_back(interface_finding(interface));
  std::string unused;
  for (const auto& interface : existing.value())
    if (std::ranges::find(chosen.value(), interface.name, &datapath::Interface::name) ==
        chosen.value().end())
      unused += fmt::format("{}{} ({}: {})", unused.empty() ? "" : ", ", interface.name,
                            datapath::to_string(interface.ip),
                            datapath::why_not_chosen(interface, settings.interfaces));
  if (!unused.empty()) findings.push_back({"not_used", Level::kOk, unused, ""});
  for (const auto& part :
       {check_shared_subnets(chosen.value(), existing.value()),
        check_reverse_path_filter(chosen.value(), existing.value()), check_ruleset()})
    findings.insert(findings.end(), part.begin(), part.end());
  return findings;
}

}  // namespace

std::string kernel_release() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "";
}

Finding check_kernel(const std::string& release) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(release.c_str(), "%d.%d", &major, &minor) != 2)
    return {"kernel", Level::kWarn, "unknown release '" + release + "'", ""};
  const int version = major * 1000 + minor;
  if (version < kKernelWithGro) {
    return {"kernel", Level::kWarn, release + ": no merged receive (UDP_GRO), so receiving is slow",
            "Linux 5.4 or newer"};
  }
  if (version < kKernelTested)
    return {"kernel", Level::kWarn, release + ": DLCP is not tested on this kernel",
            "Linux 5.4 or newer"};
  return {"kernel", Level::kOk, release, ""};
}

Findings check_settings_and_interfaces() {
  const auto settings = engine::process_settings();
  if (!settings) return {{"settings", Level::kFail, settings.error().what, settings.error().hint}};
  Findings findings;
  Finding summary{"settings", Level::kOk, "all defaults", ""};
  std::string changed;
  for (const auto& item : settings.value().effective) {
    if (item.origin == "default") continue;
    changed += fmt::format("{}{}={} ({})", changed.empty() ? "" : ", ", item.name, item.value,
                           item.origin);
  }
  if (!changed.empty()) summary.value = changed;
  findings.push_back(summary);
  if (std::string unknown = engine::unknown_line(settings.value()); !unknown.empty()) {
    findings.push_back({"settings", Level::kWarn, std::move(unknown),
                        "unset them, or leave them if other programs read them"});
  }
  if (const std::string& fault = settings.value().fault; !fault.empty()) {
    findings.push_back({"settings", Level::kWarn,
                        fmt::format("DLCP_FAULT={} damages all traffic on purpose", fault),
                        "unset it outside of tests"});
  }
  std::ranges::move(interface_findings(settings.value()), std::back_inserter(findings));
  auto setup = engine::read_setup();
  if (!setup && count(findings, Level::kFail) == 0)
    findings.push_back({"settings", Level::kFail, setup.error().what, setup.error().hint});
  if (!setup) return findings;
  if (auto unused = engine::unused_hcas(setup->settings, setup->devices); unused) {
    const bool is_own = unused->level == engine::LogLevel::kWarn;
    findings.push_back({"hca", is_own ? Level::kWarn : Level::kOk, std::move(unused->text),
                        is_own ? "name a usable port of the line `rdma`, or unset DLCP_HCA" : ""});
  }
  return findings;
}

}  // namespace dlcp::cli
