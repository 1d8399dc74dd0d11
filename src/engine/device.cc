#include "engine/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "datapath/faulty/faulty_datapath.h"
#include "datapath/udp/udp_datapath.h"

namespace dlcp::engine {
namespace {

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
  if (settings.receive_buffer_bytes != 0) {
    options.receive_buffer_bytes = settings.receive_buffer_bytes;
  }
  if (settings.send_buffer_bytes != 0) {
    options.send_buffer_bytes = settings.send_buffer_bytes;
  }
  options.gso = settings.gso;
  options.gro = settings.gro;
  for (const TrafficClassRow& row : settings.classes) {
    options.tos[static_cast<std::size_t>(row.traffic_class)] = tos_of(row);
  }
  return options;
}

core::Config core_config(const datapath::Limits& limits, const Settings& settings) {
  core::Config config;
  config.datagram_bytes_max = limits.datagram_bytes_max;
  config.receive_capacity_bytes = limits.receive_capacity_bytes;
  config.paths = limits.paths;
  config.unit_bytes = limits.unit_bytes;
  config.burst_packets_max = settings.burst_packets_max;
  config.peer_timeout = settings.peer_timeout;
  config.checksum = settings.checksum;
  config.target_delay = settings.target_delay;
  config.eager_bytes = settings.eager_bytes;
  config.plugin_version = DLCP_VERSION;
  return config;
}

}  // namespace

Result<OpenedDevice> open_device(const datapath::Interface& interface, const Settings& settings) {
  auto faults = datapath::parse_fault_spec(settings.fault);
  if (!faults) {
    return faults.error();
  }
  if (faults->corrupt > 0 && settings.checksum != wire::ChecksumMode::kFull) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("DLCP_FAULT corrupts packets ({}), and DLCP_CHECKSUM=header would not "
                             "notice damaged payloads",
                             settings.fault),
                 "set DLCP_CHECKSUM=full"};
  }
  auto opened = datapath::UdpDatapath::open(udp_options(interface, settings));
  if (!opened) {
    return opened.error();
  }
  OpenedDevice device;
  const datapath::UdpDatapath& udp = *opened.value();
  const datapath::Limits limits = udp.limits();
  device.udp = &udp.counters();
  device.config = core_config(limits, settings);
  device.description = fmt::format(
      "{} at {}: datagrams of {} bytes, {} paths, bursts of {}, {} KiB receive capacity, GSO {}, "
      "GRO {}",
      interface.name, to_string(udp.address()), limits.datagram_bytes_max, limits.paths,
      limits.burst_packets_max, limits.receive_capacity_bytes >> 10,
      udp.counters().gso_on ? "on" : "off", udp.counters().gro_on ? "on" : "off");
  device.datapath = std::move(opened).value();
  if (!faults->is_nothing()) {
    device.datapath =
        std::make_unique<datapath::FaultyDatapath>(std::move(device.datapath), faults.value());
  }
  return device;
}

Status check_reachable(const wire::EndpointAddress& local, const wire::EndpointAddress& peer) {
  const auto ours = datapath::decode_udp_address(local);
  const auto theirs = datapath::decode_udp_address(peer);
  if (!ours || !theirs) {
    return Error{ErrorCode::kInvalidUsage,
                 "the address in the peer's handle is not one of the UDP datapath",
                 "run the same plugin version on all ranks"};
  }
  if (ours->ip.family != theirs->ip.family) {
    const auto name = [](const datapath::UdpAddress& address) {
      return address.ip.family == datapath::IpFamily::kV4 ? "IPv4" : "IPv6";
    };
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("this rank is at {} ({}), the peer's rank at {} ({})", to_string(ours->ip),
                    name(*ours), to_string(theirs->ip), name(*theirs)),
        "choose interfaces of one address family on all ranks (DLCP_IFNAME)"};
  }
  return Unit{};
}

}  // namespace dlcp::engine
