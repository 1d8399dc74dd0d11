// The pairs of a local device and a peer's address by which a connection is tried, in order. NCCL
// pairs devices by number; that pair is first if the device has a route of its own to the address.
// Otherwise, and as the next choice, the device is used that the kernel itself would send by, as
// for TCP: the cards of two hosts may be cabled in different order, and strict reverse-path filters
// drop packets that leave by a card other than that of their source address. The peer's other
// addresses follow, in case a rail is down. The pair that was answered is remembered for later
// connections between the two hosts.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "datapath/udp/interfaces/netlink.h"
#include "engine/devices/device.h"
#include "wire/packet.h"

namespace dlcp::engine {

struct Way {
  std::size_t device = 0;    // number of the local device
  std::size_t address = 0;   // number of the peer's address
  wire::EndpointAddress to;  // that address, with UDP ports only

  friend bool operator==(const Way&, const Way&) = default;
};

using RouteLookup =
    std::function<std::optional<datapath::KernelRoute>(const datapath::RouteQuestion&)>;

// The ways in order, without duplicates. Empty if there is no choice: `own`, the device that NCCL
// chose, has RoCE, or there is only one device and one address.
std::vector<Way> find_ways(std::span<const Device> devices, std::size_t own,
                           const wire::EndpointAddress& peer, const RouteLookup& look_up);

// The ways of a process, by device and peer host. Thread-safe.
class WayBook {
 public:
  explicit WayBook(RouteLookup look_up = datapath::find_route) : look_up_(std::move(look_up)) {}

  struct Ways {
    std::vector<Way> all;       // from find_ways(), with the last answered one first
    bool is_confirmed = false;  // the first one has been answered
  };
  // Queries the kernel once for each device and peer.
  Ways ways(std::span<const Device> devices, std::size_t own, const wire::EndpointAddress& peer);
  // Records that a connection from `own` to this peer uses `way`. Returns a log line the first time
  // that it differs from the pair that NCCL's topology assumes, otherwise an empty text.
  std::string remember(std::span<const Device> devices, std::size_t own,
                       const wire::EndpointAddress& peer, const Way& way);
  // Called after the devices were read again.
  void clear();

 private:
  struct Known {
    std::vector<Way> ways;  // in order of trial; `to` is another listener's
    std::optional<std::pair<std::size_t, std::size_t>> answered;  // device and address
  };

  const RouteLookup look_up_;
  std::mutex mutex_;
  std::map<std::pair<std::size_t, std::string>, Known> known_;  // by own device and peer host
};

}  // namespace dlcp::engine
