// The devices that the settings and the system offer, and the open state of one: a datapath for an
// engine and the core's configuration. carrier.h opens them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "datapath/datapath.h"
#include "datapath/gpu_memory.h"
#include "datapath/udp/interfaces/interfaces.h"
#include "engine/host/log.h"
#include "engine/settings/settings.h"
#include "util/result.h"

namespace dlcp::engine {

struct Carrier;

struct OpenedDevice {
  std::unique_ptr<datapath::Datapath> datapath;
  core::Config config;
  std::string description;  // for the log
};

// How packets of one carrier leave a device; holds what that carrier needs to open it.
class Access {
 public:
  virtual ~Access() = default;
  virtual const Carrier& over() const = 0;
  virtual Result<OpenedDevice> open(const Settings& settings) const = 0;
  // The GPU memory that messages may be in. May test the device, which takes up to a second, once.
  // begin_gpu_access() starts such a test and does not wait for it.
  virtual void begin_gpu_access(const Settings&) const {}
  virtual datapath::GpuAccess gpu_access(const Settings&) const { return {}; }
};

// A device as offered to NCCL: an interface, or an RDMA port under its own name.
struct Device : datapath::Interface {
  std::vector<std::shared_ptr<const Access>> accesses;  // at most one for each carrier

  // nullptr if the device cannot use this carrier.
  const Access* over(const Carrier& carrier) const;
  bool is_udp_alone() const;
};

// The GPU memory that NCCL may pass through the device of this index, which is that of its
// preferred carrier. If this needs a test, all devices are tested at the same time, because NCCL
// asks for each.
datapath::GpuAccess gpu_access(const std::vector<Device>& devices, std::size_t index,
                               const Settings& settings);

Result<std::vector<Device>> choose_devices(const Settings& settings);

// Log lines about settings of the user that have no effect with these devices, of which none has
// more than `lanes_most` lanes.
std::vector<LogLine> unused_settings(const Settings& settings, const std::vector<Device>& devices,
                                     std::size_t lanes_most);
// A log line if the settings name RDMA devices, but `devices` use UDP only.
std::optional<LogLine> unused_hcas(const Settings& settings, const std::vector<Device>& devices);

}  // namespace dlcp::engine
