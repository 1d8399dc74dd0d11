#include "engine/devices/roce/roce_access.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "core/packet_size/packet_size.h"
#include "datapath/verbs/verbs_options.h"
#include "engine/devices/roce/placement_plan.h"
#include "engine/devices/roce/placement_trial.h"

namespace dlcp::engine {

constinit const Carrier kRoce{.name = "RoCE",
                              .needs = "UDP port 4791",
                              .lane_mbps = 190'000,
                              .locator = datapath::LocatorKind::kQueuePair};

namespace {

// Payload size of an IP packet of `mtu` bytes; 0: no limit.
Result<std::size_t> datagram_bytes(datapath::IpFamily family, std::size_t mtu) {
  constexpr std::size_t kAboveIp = 8 + 12 + 8 + 4;  // UDP, BTH, DETH, ICRC
  const std::size_t headers = (family == datapath::IpFamily::kV4 ? 20 : 40) + kAboveIp;
  if (mtu == 0) return std::size_t{0};
  if (mtu < core::kDatagramLeast + headers) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("DLCP_MTU={} is too small for RoCE; with this address family it must "
                             "be at least {}",
                             mtu, core::kDatagramLeast + headers),
                 "raise DLCP_MTU, or set DLCP_DATAPATH=udp on all ranks"};
  }
  return mtu - headers;
}

class RoceAccess final : public Access {
 public:
  RoceAccess(datapath::RocePort port, bool only_reliable)
      : port_(std::move(port)),
        trial_([this, only_reliable] { return datapath::test_placement(port_, only_reliable); }) {}

  const Carrier& over() const override { return kRoce; }
  Result<OpenedDevice> open(const Settings& settings) const override {
    const auto bytes = datagram_bytes(port_.gid.ip.family, settings.mtu);
    if (!bytes) return bytes.error();
    datapath::VerbsOptions options;
    options.port = port_;
    options.paths = settings.paths;
    options.tos = marks_of(settings);
    options.datagram_bytes_max = bytes.value();
    PlacementPlan plan = plan_of(settings);
    options.placement = plan.ability;
    auto opened = datapath::open_verbs(options);
    if (!opened && options.placement.places()) {
      plan.text = "received data is copied, because " + opened.error().message();
      trial_.replace(opened.error());  // GPU memory is not announced any more
      options.placement = {};
      opened = datapath::open_verbs(options);
    }
    if (!opened) return opened.error();
    const datapath::Limits limits = opened->datapath->limits();
    OpenedDevice device;
    device.description = fmt::format(
        "{} over RoCEv2 at {} (GID {}): datagrams of {} bytes, {} paths by {}, {} UDP source ports "
        "per peer, {} KiB receive capacity; {}",
        to_string(port_), opened->datapath->describe(opened->datapath->local_address()),
        port_.gid.index, limits.datagram_bytes_max, limits.paths,
        port_.entropy == datapath::Entropy::kFlowLabel ? "flow label" : "queue pair",
        opened->source_ports, limits.receive_capacity_bytes >> 10, plan.text);
    device.datapath = std::move(opened->datapath);
    return device;
  }
  void begin_gpu_access(const Settings& settings) const override {
    plan_placement(
        settings, port_,
        [this]() -> PlacementTrial::Ability {
          trial_.begin();
          return datapath::PlacementAbility{};
        });
  }
  datapath::GpuAccess gpu_access(const Settings& settings) const override {
    return plan_of(settings).ability.places_in_gpus();
  }

 private:
  PlacementPlan plan_of(const Settings& settings) const {
    return plan_placement(
        settings, port_, [this] { return trial_.result(); });
  }

  const datapath::RocePort port_;
  mutable PlacementTrial trial_;  // one for all lanes of the device
};

}  // namespace

std::shared_ptr<const Access> roce_access(datapath::RocePort port, const Settings& settings) {
  return std::make_shared<RoceAccess>(std::move(port), settings.placement == PlacementChoice::kRc);
}

}  // namespace dlcp::engine
