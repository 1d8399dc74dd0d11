// The devices that NCCL is offered on a host, and how `dlcp doctor --peer` learns those of the
// other one: a question at the listener's meeting port, and an answer that also tells from which
// address the question came, which shows NAT.
//
// Both begin with a magic (8 bytes) and the asker's session (8 bytes); a text follows, padded with
// zeros. The answer's is no longer than the question: "ADDRESS PORT\n", then "NAME ADDRESS\n" for
// each device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datapath/ip_address.h"
#include "util/result.h"

namespace dlcp::cli {

struct NamedDevice {
  std::string name;
  datapath::IpAddress ip;

  friend bool operator==(const NamedDevice&, const NamedDevice&) = default;
};

// As a job with this environment would have them, without RDMA.
Result<std::vector<NamedDevice>> devices_of_this_host();

struct DeviceAnswer {
  datapath::IpAddress seen_from;  // the asker, as the listener sees it
  std::uint16_t seen_port = 0;
  std::vector<NamedDevice> devices;
};

inline constexpr std::size_t kDeviceFrameBytes = 1200;

std::vector<std::byte> encode_device_question(std::uint64_t session);
// The session, if it is a question.
std::optional<std::uint64_t> decode_device_question(std::span<const std::byte> frame);
// Devices that find no room are left out.
std::vector<std::byte> encode_device_answer(std::uint64_t session, const DeviceAnswer& answer);
std::optional<DeviceAnswer> decode_device_answer(std::uint64_t session,
                                                 std::span<const std::byte> frame);

}  // namespace dlcp::cli
