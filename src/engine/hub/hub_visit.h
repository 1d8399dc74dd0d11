// How a rank registers with its hubs: it connects to each over TCP, proves that it has the token,
// describes its group, and receives the address where the hub listens for that group. All hubs are
// contacted at the same time, within a bounded time. If a hub's name has several addresses, the
// next one is called if one refuses, or has not answered in its share of the time. If a hub refuses
// or does not answer, the visit fails with an error that names the hub and the last address.
#pragma once

#include <span>
#include <vector>

#include "engine/hub/hub_word.h"
#include "util/result.h"
#include "util/system/fd.h"
#include "util/time.h"

namespace dlcp::engine {

// The TCP connections to the hubs during the life of a group. If one closes without leave(), the
// hub considers the rank dead.
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

// `join` is complete except for the number of the hub.
Result<VisitedHubs> visit_hubs(std::span<const HubPlace> places, const HubJoin& join,
                               const wire::Key& token, Duration timeout);

}  // namespace dlcp::engine
