// The measurements of `dlcp order` for this host, from the file that DLCP_ORDER names. They replace
// the device properties that are reported to NCCL.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/devices/device.h"
#include "util/result.h"

namespace dlcp::engine {

struct MeasuredDevice {
  double latency_us = 0;  // one way, to hosts at the far end of the fabric; 0: unknown
  int speed_mbps = 0;     // while all hosts send; 0: unknown
};

// The measurements of each device, in the order of `devices`. If the file does not contain this
// host, nothing is known of its devices. If it cannot be parsed, the error is kInvalidUsage. `text`
// is the content of the file.
Result<std::vector<MeasuredDevice>> measured_devices(const std::string& path,
                                                     const std::string& text,
                                                     std::span<const datapath::Interface> devices);

}  // namespace dlcp::engine
