// The choice of the carrier between two ranks: the best one that both have. The connecting side
// decides, from its own carriers and the address in the other's handle. The other side listens on
// all of its carriers.
#pragma once

#include <span>
#include <string>

#include "engine/devices/carrier.h"
#include "engine/devices/port.h"
#include "util/result.h"
#include "wire/packet.h"

namespace dlcp::engine {

struct Route {
  const Carrier* over = nullptr;
  wire::EndpointAddress to;  // the part of the peer's address for this carrier
  // If one of the two ranks has a better carrier: "over UDP instead of RoCE: ..."
  std::string fallback;
};

// The carriers that this rank has.
struct LocalAddress {
  const Carrier* over = nullptr;
  wire::EndpointAddress address;
};

// The text that reports a connection over `used` although `better` was possible.
std::string fallback_words(const Carrier& used, const Carrier& better, const std::string& why);

// kInvalidUsage, naming both sides, if the two have no carrier in common. If `after` is set, only
// the carriers after it are considered.
Result<Route> choose_route(std::span<const LocalAddress> ours, const wire::EndpointAddress& peer,
                           const Carrier* after = nullptr);
Result<Route> choose_route(const Port& port, const wire::EndpointAddress& peer,
                           const Carrier* after = nullptr);

}  // namespace dlcp::engine
