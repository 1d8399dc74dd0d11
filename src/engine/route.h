// Between two ranks, over what: RoCE where both can, else UDP. The side that connects decides, from
// what it has itself and from the address in the other's handle; the other listens on both.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/device.h"
#include "engine/engine.h"
#include "util/result.h"
#include "wire/packet.h"

namespace dlcp::engine {

// The engines that are open on one device.
struct Engines {
  std::shared_ptr<Engine> roce;
  std::shared_ptr<Engine> udp;

  // Both addresses in one.
  wire::EndpointAddress address() const;
  const std::shared_ptr<Engine>& holder_of(const Engine* engine) const {
    return engine == roce.get() ? roce : udp;
  }
  const std::shared_ptr<Engine>& over(Carrier carrier) const {
    return carrier == Carrier::kRoce ? roce : udp;
  }
  template <class Function>
  void each(const Function& function) const {
    for (Engine* engine : {roce.get(), udp.get()}) {
      if (engine != nullptr) function(*engine);
    }
  }
};

struct Route {
  Carrier over = Carrier::kUdp;
  wire::EndpointAddress to;  // the part of the peer's address that is meant for it
  std::string why_not_roce;  // where only one of the two ranks could have used it
};

// An address of what both have; nullopt if they are not of one IP address.
std::optional<wire::EndpointAddress> join(const wire::EndpointAddress& roce,
                                          const wire::EndpointAddress& udp);

// `roce`, `udp`: this rank's addresses, where it has them. kInvalidUsage, naming both sides, if
// the two have nothing in common.
Result<Route> choose_route(const std::optional<wire::EndpointAddress>& roce,
                           const std::optional<wire::EndpointAddress>& udp,
                           const wire::EndpointAddress& peer);
Result<Route> choose_route(const Engines& engines, const wire::EndpointAddress& peer);

}  // namespace dlcp::engine
