// From which of our devices a connection to a peer is opened. NCCL pairs devices by their numbers.
// Where the device that it chose has no route of its own to the peer's address, as when the cards
// of two hosts are cabled in different order, packets would leave by another card with this one's
// address, and strict reverse-path filters drop them. The connection then starts from the device
// that the kernel itself would use, as TCP does.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "datapath/ip_address.h"
#include "datapath/udp/netlink.h"
#include "engine/device.h"
#include "wire/packet.h"

namespace dlcp::engine {

using RouteLookup =
    std::function<std::optional<datapath::KernelRoute>(const datapath::RouteQuestion&)>;

// `own`: the number of the device that NCCL chose; that is also the answer where nothing is better.
std::size_t find_way(std::span<const Device> devices, std::size_t own,
                     const datapath::IpAddress& to, const RouteLookup& look_up);

// The answers of a process, so that the kernel is asked once for each device and peer's host.
class WayBook {
 public:
  explicit WayBook(RouteLookup look_up = datapath::find_route) : look_up_(std::move(look_up)) {}

  struct Way {
    std::size_t device = 0;
    std::string news;  // a line for the log, the first time that it is not NCCL's device
  };
  Way way(std::span<const Device> devices, std::size_t own, const wire::EndpointAddress& peer);

 private:
  const RouteLookup look_up_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::string> known_;  // own and peer's IP: device
};

}  // namespace dlcp::engine
