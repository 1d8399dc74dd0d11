// What `dlcp order` has measured of this host, from the file that DLCP_ORDER names, for those who
// tell NCCL what to expect of a device.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/device.h"
#include "util/result.h"

namespace dlcp::engine {

struct MeasuredDevice {
  double latency_us = 0;  // one way, to hosts at the far end of the fabric; 0: not known
  int speed_mbps = 0;     // with all hosts sending; 0: not known
};

// By device, in their order. A file without this host says nothing of its devices; one that cannot
// be read is an error (kInvalidUsage). `text` is the file's.
Result<std::vector<MeasuredDevice>> measured_devices(const std::string& path,
                                                     const std::string& text,
                                                     std::span<const datapath::Interface> devices);

}  // namespace dlcp::engine
