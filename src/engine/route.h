// Between two ranks, over what: the best carrier that both have. The side that connects decides,
// from what it has itself and from the address in the other's handle; the other listens on all.
#pragma once

#include <span>
#include <string>

#include "engine/carrier.h"
#include "engine/port.h"
#include "util/result.h"
#include "wire/packet.h"

namespace dlcp::engine {

struct Route {
  const Carrier* over = nullptr;
  wire::EndpointAddress to;  // the part of the peer's address that is meant for it
  // Where one of the two ranks could have used a better carrier: "over UDP instead of RoCE: ..."
  std::string fallback;
};

// What this rank has.
struct LocalAddress {
  const Carrier* over = nullptr;
  wire::EndpointAddress address;
};

// What a connection over `used` has to say for itself where `better` was possible.
std::string fallback_words(const Carrier& used, const Carrier& better, const std::string& why);

// kInvalidUsage, naming both sides, if the two have nothing in common. `after`: only carriers that
// come after this one.
Result<Route> choose_route(std::span<const LocalAddress> ours, const wire::EndpointAddress& peer,
                           const Carrier* after = nullptr);
Result<Route> choose_route(const Port& port, const wire::EndpointAddress& peer,
                           const Carrier* after = nullptr);

}  // namespace dlcp::engine
