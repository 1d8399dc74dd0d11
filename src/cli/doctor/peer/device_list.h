// The devices that NCCL is offered on a host, and how `dlcp doctor --peer` learns those of the
// other host: a question to the listener's meeting port, and an answer that also contains the
// source address of the question, which reveals NAT.
//
// Both begin with a magic (8 bytes) and the asker's session (8 bytes), followed by text that is
// padded with zeros. The answer is as long as the question. Its text: "ADDRESS PORT
// ", then "NAME ADDRESS
// " for each device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datapath/address/ip_address.h"
#include "util/result.h"

namespace dlcp::cli {

struct NamedDevice {
  std::string name;
  datapath::IpAddress ip;

  friend bool operator==(const NamedDevice&, const NamedDevice&) = default;
};

// As a job with this environment would get them, without RDMA.
Result<std::vector<NamedDevice>> devices_of_this_host();

struct DeviceAnswer {
  datapath::IpAddress seen_from;  // source address of the question
  std::uint16_t seen_port = 0;
  std::vector<NamedDevice> devices;
};

// Lengths of questions: the usual one, which is also the largest, and the largest that every path
// over which jobs run can carry.
inline constexpr std::size_t kDeviceFrameBytes = 1200;
inline constexpr std::size_t kDeviceFrameBytesMin = 548;

std::vector<std::byte> encode_device_question(std::uint64_t session,
                                              std::size_t bytes = kDeviceFrameBytes);
// The session, if the frame is a question.
std::optional<std::uint64_t> decode_device_question(std::span<const std::byte> frame);
// `bytes`: the length of the question. Devices that do not fit are left out.
std::vector<std::byte> encode_device_answer(std::uint64_t session, const DeviceAnswer& answer,
                                            std::size_t bytes = kDeviceFrameBytes);
std::optional<DeviceAnswer> decode_device_answer(std::uint64_t session,
                                                 std::span<const std::byte> frame);

}  // namespace dlcp::cli
