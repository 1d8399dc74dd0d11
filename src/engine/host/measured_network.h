// The measurements of `dlcp order` for this host, from the file that DLCP_ORDER names. They replace
// the device properties that are reported to NCCL.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/devices/device.h"
#include "util/result.h"

namespace dlcp::engine {

struct MeasuredDevice {
  // One way, to hosts at the far end of the fabric; 0: unknown. NCCL chooses algorithms by it, and
  // ranks that choose different ones hang, so all devices of all hosts get the same value.
  std::uint32_t latency_ns = 0;
  int speed_mbps = 0;  // while all hosts send; 0: unknown. NCCL's ranks agree on the smallest
};

// The measurements of each device, in the order of `devices`. `text` is the content of the file.
// kInvalidUsage if it cannot be parsed, or contains none of the devices' addresses.
Result<std::vector<MeasuredDevice>> measured_devices(const std::string& path,
                                                     const std::string& text,
                                                     std::span<const datapath::Interface> devices);

}  // namespace dlcp::engine
