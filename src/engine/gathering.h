// Connections that have come to a listener, until those of a bundle are all there: each comes on a
// lane of its own, in whatever order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/bundle.h"
#include "engine/port.h"
#include "util/time.h"

namespace dlcp::engine {

class Gathering {
 public:
  Gathering() = default;
  ~Gathering();  // closes what is incomplete
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  // What has come as a whole, or empty. `listeners`: one on each lane of the port. Fails as
  // Engine::accept does, and where a part of a bundle has failed, or waited so long, before the
  // rest came: nobody else would notice that its peer is gone.
  Result<Bundle> accept(const Port& port, std::span<const core::ListenerId> listeners,
                        core::ContextId context, Duration patience);
  // The last error is of our own impatience: no engine has said it.
  bool gave_up() const { return gave_up_; }

 private:
  struct Part {
    std::vector<Bundle::Member> members;
    Time began;
  };
  std::optional<Bundle> add(const Port& port, const Lane& lane, Connection* connection);
  std::optional<Error> failure(Duration patience);

  bool gave_up_ = false;
  std::map<std::uint64_t, Part> incomplete_;  // by the bundle's name
};

}  // namespace dlcp::engine
