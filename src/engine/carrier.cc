#include "engine/carrier.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <utility>

#include "datapath/faulty/faulty_datapath.h"
#include "datapath/udp/udp_datapath.h"
#include "datapath/verbs/verbs_options.h"
#include "engine/libcrypto.h"

namespace dlcp::engine {

datapath::ClassMarks marks_of(const Settings& settings) {
  datapath::ClassMarks tos{};
  for (const TrafficClassRow& row : settings.classes)
    tos[static_cast<std::size_t>(row.traffic_class)] = tos_of(row);
  return tos;
}

namespace {

constexpr std::size_t kProcessorsPerLane = 16;  // the others compute
constexpr std::size_t kLanesMax = 16;

datapath::UdpOptions udp_options(const datapath::Interface& interface, const Settings& settings) {
  constexpr std::size_t kV4Headers = 20 + 8;
  constexpr std::size_t kV6Headers = 40 + 8;
  datapath::UdpOptions options;
  options.local_ip = interface.ip;
  options.interface_name = interface.name;
  options.paths = settings.paths;
  if (settings.mtu != 0) {
    const bool v4 = interface.ip.family == datapath::IpFamily::kV4;
    options.datagram_bytes_max =
        std::min(settings.mtu, interface.properties.mtu) - (v4 ? kV4Headers : kV6Headers);
  }
  if (settings.receive_buffer_bytes != 0)
    options.receive_buffer_bytes = settings.receive_buffer_bytes;
  if (settings.send_buffer_bytes != 0) options.send_buffer_bytes = settings.send_buffer_bytes;
  options.gso = settings.gso;
  options.gro = settings.gro;
  options.tos = marks_of(settings);
  return options;
}

// What is left of an IP packet of `mtu` bytes; 0: no limit.
std::size_t roce_datagram_bytes(datapath::IpFamily family, std::size_t mtu) {
  constexpr std::size_t kAboveIp = 8 + 12 + 8 + 4;  // UDP, BTH, DETH, ICRC
  const std::size_t headers = (family == datapath::IpFamily::kV4 ? 20 : 40) + kAboveIp;
  return mtu == 0 ? 0 : mtu - headers;
}

core::Config core_config(const datapath::Limits& limits, const Settings& settings) {
  core::Config config;
  config.datagram_bytes_max = limits.datagram_bytes_max;
  config.receive_capacity_bytes = limits.receive_capacity_bytes;
  config.paths = limits.paths;
  config.unit_bytes = limits.unit_bytes;
  config.burst_packets_max = settings.burst_packets_max;
  config.peer_timeout = settings.peer_timeout;
  config.protection = settings.protection;
  config.congestion = settings.congestion;
  config.target_delay =
      settings.target_delay != Duration::zero() ? settings.target_delay : limits.host_delay;
  config.eager_bytes = settings.eager_bytes;
  config.level_shares = settings.level_shares;
  config.licence_bytes_min = settings.loss_bytes_min;
  config.plugin_version = DLCP_VERSION;
  return config;
}

Result<OpenedDevice> open_udp(const Device& chosen, const Settings& settings) {
  datapath::Interface from = chosen;
  if (chosen.roce) {
    from.name = chosen.roce->gid.netdev;
    from.ip.scope = from.ip.is_link_local() ? ::if_nametoindex(from.name.c_str()) : 0;
  }
  auto opened = datapath::UdpDatapath::open(udp_options(from, settings));
  if (!opened) return opened.error();
  const datapath::UdpDatapath& udp = *opened.value();
  const datapath::Limits limits = udp.limits();
  OpenedDevice device;
  device.description = fmt::format(
      "{} at {}: datagrams of {} bytes, {} paths, bursts of {}, {} KiB receive capacity, GSO {}, "
      "GRO {}",
      from.name, to_string(udp.address()), limits.datagram_bytes_max, limits.paths,
      limits.burst_packets_max, limits.receive_capacity_bytes >> 10,
      udp.counters().gso_on != 0 ? "on" : "off", udp.counters().gro_on != 0 ? "on" : "off");
  device.datapath = std::move(opened).value();
  return device;
}

Result<OpenedDevice> open_roce(const Device& from, const Settings& settings) {
  const datapath::RocePort& port = *from.roce;
  datapath::VerbsOptions options;
  options.port = port;
  options.paths = settings.paths;
  options.tos = marks_of(settings);
  options.datagram_bytes_max = roce_datagram_bytes(from.ip.family, settings.mtu);
  auto opened = datapath::open_verbs(options);
  if (!opened) return opened.error();
  const datapath::Limits limits = opened->datapath->limits();
  OpenedDevice device;
  device.description = fmt::format(
      "{} over RoCEv2 at {} (GID {}): datagrams of {} bytes, {} paths by {}, {} UDP source ports "
      "per peer, {} KiB receive capacity",
      to_string(port), opened->datapath->describe(opened->datapath->local_address()),
      port.gid.index, limits.datagram_bytes_max, limits.paths,
      port.entropy == datapath::Entropy::kFlowLabel ? "flow label" : "queue pair",
      opened->source_ports, limits.receive_capacity_bytes >> 10);
  device.datapath = std::move(opened->datapath);
  return device;
}

}  // namespace

constinit const Carrier kRoce{.name = "RoCE",
                              .needs = "UDP port 4791",
                              .lane_mbps = 190'000,
                              .on = [](const Device& device) { return device.roce.has_value(); },
                              .open = open_roce,
                              .locator = datapath::LocatorKind::kQueuePair};
constinit const Carrier kUdp{.name = "UDP",
                             .needs = "UDP ports 49152 to 65535",
                             .lane_mbps = 25'000,
                             .on = [](const Device& device) { return device.udp; },
                             .open = open_udp,
                             .locator = datapath::LocatorKind::kUdpPort};

std::span<const Carrier* const> carriers() {
  static constexpr std::array<const Carrier*, 2> kBestFirst{&kRoce, &kUdp};
  return kBestFirst;
}

std::size_t lane_count(const Device& device, const Carrier& over, const Settings& settings,
                       std::size_t processors) {
  if (settings.lanes != 0) return settings.lanes;
  const auto mbps = static_cast<std::uint64_t>(std::max(device.properties.speed_mbps, 1));
  const std::size_t wanted = (mbps + over.lane_mbps - 1) / over.lane_mbps;
  return std::clamp<std::size_t>(processors / kProcessorsPerLane, 1, std::min(wanted, kLanesMax));
}

Result<OpenedDevice> open_device(const Device& from, const Carrier& over,
                                 const Settings& settings) {
  auto faults = datapath::parse_fault_spec(settings.fault);
  if (!faults) return faults.error();
  if (faults->corrupt > 0 && settings.protection == wire::Protection::kHeader) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("DLCP_FAULT corrupts packets ({}), and DLCP_CHECKSUM=header would not "
                             "notice damaged payloads",
                             settings.fault),
                 "set DLCP_CHECKSUM=full"};
  }
  auto opened = over.open(from, settings);
  if (!opened) return opened.error();
  OpenedDevice& device = opened.value();
  device.config = core_config(device.datapath->limits(), settings);
  if (settings.protection == wire::Protection::kEncrypted) {
    auto ciphers = libcrypto_ciphers();
    if (!ciphers) return ciphers.error();
    device.config.ciphers = std::move(ciphers).value();
  }
  if (!faults->is_nothing()) {
    device.datapath =
        std::make_unique<datapath::FaultyDatapath>(std::move(device.datapath), faults.value());
  }
  return opened;
}

}  // namespace dlcp::engine
