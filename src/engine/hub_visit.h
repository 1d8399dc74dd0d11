// How a rank comes to its hubs: calls each over TCP, proves that it has the token, says what group
// it belongs to, and is told where the hub listens for it. All at once, in bounded time; a hub that
// refuses or does not answer fails it, by name.
#pragma once

#include <span>
#include <vector>

#include "engine/hub_word.h"
#include "util/fd.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::engine {

// The connections to the hubs, while a group lives. Whoever goes without leave() has died, for
// them.
class HubLeases {
 public:
  HubLeases() = default;
  explicit HubLeases(std::vector<Fd> sockets) : sockets_(std::move(sockets)) {}
  void leave();

 private:
  std::vector<Fd> sockets_;
};

struct VisitedHubs {
  HubLeases leases;
  std::vector<Opening::Peer> peers;  // by hub
};

// `join`: but for which hub it is for.
Result<VisitedHubs> visit_hubs(std::span<const HubPlace> places, const HubJoin& join,
                               const wire::Key& token, Duration timeout);

}  // namespace dlcp::engine
