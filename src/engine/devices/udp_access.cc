#include "engine/devices/udp_access.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/packet_size/packet_size.h"
#include "datapath/udp/udp_datapath.h"

namespace dlcp::engine {

constinit const Carrier kUdp{.name = "UDP",
                             .needs = "UDP ports 49152 to 65535",
                             .lane_mbps = 25'000,
                             .locator = datapath::LocatorKind::kUdpPort};

namespace {

static_assert(datapath::kUdpDatagramBytesMin == std::end(core::kCommonDatagrams)[-1]);

datapath::UdpOptions options_of(const datapath::Interface& interface, const Settings& settings) {
  constexpr std::size_t kV4Headers = 20 + 8;
  constexpr std::size_t kV6Headers = 40 + 8;
  datapath::UdpOptions options;
  options.local_ip = interface.ip;
  options.interface_name = interface.name;
  options.paths = settings.paths;
  if (settings.mtu != 0 || interface.is_routed_to) {  // loopback's MTU is not relevant in this case
    const bool v4 = interface.ip.family == datapath::IpFamily::kV4;
    const std::size_t mtu = settings.mtu != 0 ? std::min(settings.mtu, interface.properties.mtu)
                                              : interface.properties.mtu;
    options.datagram_bytes_max = mtu - (v4 ? kV4Headers : kV6Headers);
  }
  if (settings.receive_buffer_bytes != 0)
    options.receive_buffer_bytes = settings.receive_buffer_bytes;
  if (settings.send_buffer_bytes != 0) options.send_buffer_bytes = settings.send_buffer_bytes;
  options.gso = settings.gso;
  options.gro = settings.gro;
  options.tos = marks_of(settings);
  return options;
}

class UdpAccess final : public Access {
 public:
  explicit UdpAccess(datapath::Interface from) : from_(std::move(from)) {}

  const Carrier& over() const override { return kUdp; }
  Result<OpenedDevice> open(const Settings& settings) const override {
    auto opened = datapath::UdpDatapath::open(options_of(from_, settings));
    if (!opened) return opened.error();
    const datapath::UdpDatapath& udp = *opened.value();
    const datapath::Limits limits = udp.limits();
    OpenedDevice device;
    device.description = fmt::format(
        "{} at {}: datagrams of {} bytes, {} paths, {} KiB receive capacity, GSO {}, "
        "GRO {}",
        from_.name, to_string(udp.address()), limits.datagram_bytes_max, limits.paths,
        limits.receive_capacity_bytes >> 10, udp.counters().gso_on != 0 ? "on" : "off",
        udp.counters().gro_on != 0 ? "on" : "off");
    device.datapath = std::move(opened).value();
    return device;
  }

 private:
  const datapath::Interface from_;
};

}  // namespace

std::shared_ptr<const Access> udp_access(datapath::Interface from) {
  if (from.ip.is_link_local() && from.ip.scope == 0)
    from.ip.scope = ::if_nametoindex(from.name.c_str());
  return std::make_shared<UdpAccess>(std::move(from));
}

}  // namespace dlcp::engine
