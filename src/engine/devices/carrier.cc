#include "engine/devices/carrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "datapath/faulty/faulty_datapath.h"
#include "engine/host/coding_cost.h"
#include "engine/host/libcrypto.h"

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

core::Config core_config(const datapath::Limits& limits, const Settings& settings) {
  core::Config config;
  config.datagram_bytes_max = limits.datagram_bytes_max;
  config.receive_capacity_bytes = limits.receive_capacity_bytes;
  config.paths = limits.paths;
  config.can_unmark = limits.can_unmark;
  config.unit_bytes = limits.unit_bytes;
  config.burst_packets_max = settings.burst_packets_max;
  config.peer_timeout = settings.peer_timeout;
  config.protection = settings.protection;
  config.compression.mode = settings.compression;
  static const double encode_s_per_byte = measure_encode_s_per_byte();
  config.compression.encode_s_per_byte = encode_s_per_byte;
  config.target_delay =
      settings.target_delay != Duration::zero() ? settings.target_delay : limits.host_delay;
  config.eager_bytes = settings.eager_bytes;
  config.level_shares = settings.level_shares;
  config.licence_bytes_min = settings.loss_bytes_min;
  return config;
}

}  // namespace

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

Result<datapath::FaultSpec> read_faults(const Settings& settings) {
  auto faults = datapath::parse_fault_spec(settings.fault);
  if (!faults) {
    Error error = faults.error();
    error.what = "DLCP_FAULT: " + error.what;
    return error;
  }
  if (faults->corrupt > 0 && settings.protection == wire::Protection::kHeader) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("DLCP_FAULT corrupts packets ({}), but DLCP_CHECKSUM=header does "
                             "not detect damaged payloads",
                             settings.fault),
                 "set DLCP_CHECKSUM=full"};
  }
  return faults;
}

Result<OpenedDevice> open_device(const Access& access, const Settings& settings) {
  auto faults = read_faults(settings);
  if (!faults) return faults.error();
  auto opened = access.open(settings);
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
