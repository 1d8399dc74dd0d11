// By which of our devices, and to which of a peer's addresses, a connection is tried, in order.
// NCCL pairs devices by their numbers; that pair comes first if the device has a route of its own
// there. Otherwise, and next, comes the device by which the kernel itself would send, as for TCP:
// the cards of two hosts may be cabled in different order, and strict reverse-path filters drop
// what leaves by another card than the address's. The peer's other addresses follow, for a rail
// that is dead. The pair that answered is remembered for the next connections between the two.
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

#include "datapath/udp/netlink.h"
#include "engine/device.h"
#include "wire/packet.h"

namespace dlcp::engine {

struct Way {
  std::size_t device = 0;    // of ours, by number
  std::size_t address = 0;   // of the peer's, by number
  wire::EndpointAddress to;  // the same, with UDP ports alone

  friend bool operator==(const Way&, const Way&) = default;
};

using RouteLookup =
    std::function<std::optional<datapath::KernelRoute>(const datapath::RouteQuestion&)>;

// At least one way; empty where there is nothing to choose: `own`, the device that NCCL chose, has
// RoCE, or has a route and is the only one that fits. No two of them name the same pair.
std::vector<Way> find_ways(std::span<const Device> devices, std::size_t own,
                           const wire::EndpointAddress& peer, const RouteLookup& look_up);

// The ways of a process, by its devices and its peers' hosts. Any thread may use it.
class WayBook {
 public:
  explicit WayBook(RouteLookup look_up = datapath::find_route) : look_up_(std::move(look_up)) {}

  struct Ways {
    std::vector<Way> all;       // as find_ways(); the one that answered last comes first
    bool is_confirmed = false;  // the first has answered
  };
  // Asks the kernel once for each device and peer.
  Ways ways(std::span<const Device> devices, std::size_t own, const wire::EndpointAddress& peer);
  // A connection from `own` to this peer has come about by `way`. Returns a line for the log the
  // first time that it is another way than NCCL's topology assumes, else an empty text.
  std::string remember(std::span<const Device> devices, std::size_t own,
                       const wire::EndpointAddress& peer, const Way& way);
  // The devices have been read anew.
  void clear();

 private:
  struct Known {
    std::vector<Way> ways;  // in the order in which they are tried; `to` is of another listener
    std::optional<std::pair<std::size_t, std::size_t>> answered;  // device and address
  };

  const RouteLookup look_up_;
  std::mutex mutex_;
  std::map<std::pair<std::size_t, std::string>, Known> known_;  // by own device and peer's host
};

}  // namespace dlcp::engine
