// Collects the connections that arrive at a listener until a bundle is complete. Each connection of
// a bundle arrives on a lane of its own, in any order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/devices/port.h"
#include "engine/opening/bundle.h"
#include "util/time.h"

namespace dlcp::engine {

class Gathering {
 public:
  Gathering() = default;
  ~Gathering();  // closes incomplete bundles
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  // Returns a complete bundle, or an empty one if there is none. `listeners` has one listener for
  // each of the first lanes of `port`. A bundle uses only lanes of `own`, because peers learn of
  // no others. Fails like Engine::accept, and also if a connection of an incomplete bundle has
  // failed or waited for `patience`, because nothing else would detect that its peer has died.
  Result<Bundle> accept(const Port& port, const Port& own,
                        std::span<const core::ListenerId> listeners, core::ContextId context,
                        Duration patience);
  // True if the last error is such a timeout, which no engine has reported.
  bool gave_up() const { return gave_up_; }

 private:
  struct Part {
    std::vector<Bundle::Member> members;
    Time began;
  };
  std::optional<Bundle> add(const Port& own, const Lane& lane, Connection* connection);
  std::optional<Error> failure(Duration patience);

  bool gave_up_ = false;
  std::map<std::uint64_t, Part> incomplete_;  // by the bundle's name
};

}  // namespace dlcp::engine
