// The engine's listeners: whose each is, and why nobody will connect to it any more.
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
  // `patience`: how long a refusal that is not proven waits for the true peer to come after all,
  // and how long accept() is silent about nobody having come.
  explicit Listeners(Duration patience) : patience_(patience) {}

  // `is_silent`: waits_long() is never true of it.
  void open(core::ListenerId id, core::ContextId context, bool is_silent = false) {
    open_[id].context = context;
    open_[id].said = is_silent;
  }
  void close(core::ListenerId id) { open_.erase(id); }
  std::set<core::ContextId> contexts() const;

  // What has befallen a connection of the context. The peer's own word says more, whenever it
  // comes.
  void fail(core::ContextId context, const Error& error);
  // kDeclined; false if nothing changes by it.
  bool decline(const core::Event& event, Time now);
  // Why there is no use in waiting for a connection.
  std::optional<Error> failure(core::ListenerId id, Time now) const;
  // To be asked whenever somebody has waited in vain; true once, after a while.
  bool waits_long(core::ListenerId id, Time now);

 private:
  struct Listening {
    core::ContextId context = 0;
    std::optional<Error> failure;
    Time fails_at{};
    bool declined = false;  // `failure` is the peer's own, proven word, and stays
    std::optional<Time> waits_since;
    bool said = false;
  };

  const Duration patience_;
  std::unordered_map<core::ListenerId, Listening> open_;
};

}  // namespace dlcp::engine
