// The devices that settings and the system offer, and what is open of one: something an engine can
// run on, and what the core is told of it. carrier.h opens them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "datapath/datapath.h"
#include "datapath/udp/interfaces.h"
#include "engine/settings.h"
#include "util/result.h"

namespace dlcp::engine {

struct Carrier;

struct OpenedDevice {
  std::unique_ptr<datapath::Datapath> datapath;
  core::Config config;
  std::string description;  // for the log
};

// How one carrier's packets leave a device: what that carrier has to know of it.
class Access {
 public:
  virtual ~Access() = default;
  virtual const Carrier& over() const = 0;
  virtual Result<OpenedDevice> open(const Settings& settings) const = 0;
};

// What NCCL is offered: an interface, or an RDMA port under its own name.
struct Device : datapath::Interface {
  std::vector<std::shared_ptr<const Access>> accesses;  // at most one of each carrier

  // nullptr: packets of the device do not go that way.
  const Access* over(const Carrier& carrier) const;
};

Result<std::vector<Device>> choose_devices(const Settings& settings);

}  // namespace dlcp::engine
