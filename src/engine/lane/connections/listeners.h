// The engine's listeners: the context of each, and the reason why no peer will connect to it any
// more.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>

#include "core/endpoint_types.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::engine {

class Listeners {
 public:
  // `patience`: how long an unproven refusal is held back in case the true peer connects, and how
  // long accept() waits without a connection before that is reported.
  explicit Listeners(Duration patience) : patience_(patience) {}

  // If `is_silent`, waits_long() is always false for it.
  void open(core::ListenerId id, core::ContextId context, bool is_silent = false) {
    open_[id].context = context;
    open_[id].says_after = is_silent ? Duration::max() : patience_;
  }
  void close(core::ListenerId id) { open_.erase(id); }
  std::set<core::ContextId> usable_contexts() const;  // of those that have not failed

  // Records the failure of a connection of the context. A reason that the peer itself sent replaces
  // it, whenever that arrives.
  void fail(core::ContextId context, const Error& error);
  // Handles kDeclined; false if it changes nothing.
  bool decline(const core::Event& event, Time now);
  // Why waiting for a connection is futile, if it is.
  std::optional<Error> failure(core::ListenerId id, Time now) const;
  // Must be called after each accept() that found no connection. True after `patience` and each
  // time that the wait has doubled, so that the caller logs it again: NCCL may wait for ever.
  bool waits_long(core::ListenerId id, Time now);

 private:
  struct Listening {
    core::ContextId context = 0;
    std::optional<Error> failure;
    Time fails_at{};
    bool declined = false;  // `failure` is the peer's own, proven reason and is final
    std::optional<Time> waits_since;
    Duration says_after{};
  };

  const Duration patience_;
  std::unordered_map<core::ListenerId, Listening> open_;
};

}  // namespace dlcp::engine
