// A connection to another rank while it is being opened: over the best carrier that both have, and
// over the next after all if nobody answers there. A peer that has not been heard over one has not
// been told START either, so nothing accepts that connection any more and no data can be in two
// places.
#pragma once

#include <string>

#include "core/endpoint_types.h"
#include "engine/connection.h"
#include "engine/route.h"
#include "util/result.h"
#include "util/time.h"
#include "wire/keys.h"

namespace dlcp::engine {

class Opening {
 public:
  struct Peer {
    wire::Invitation listener;
    wire::EndpointAddress address;  // of all that it has
  };
  // `route`: chosen for `peer`. `patience`: how long a carrier that is not the last may be silent.
  Opening(const Port& port, core::ContextId context, const Peer& peer, const Route& route,
          Duration patience);

  // Drives a step. A connection that is open, or has failed, is the caller's to use or to close.
  core::ConnectionState poll();
  Connection* connection() const { return connection_; }
  const wire::Invitation& listener() const { return peer_.listener; }
  // See Route::fallback; empty if nobody fell back here.
  const std::string& fallback() const { return fallback_; }

 private:
  bool fall_back();

  const Port port_;
  const core::ContextId context_;
  const Peer peer_;
  const Duration patience_;
  Time began_;
  const Carrier* over_;
  bool may_fall_back_ = true;
  Connection* connection_;
  std::string fallback_;
};

}  // namespace dlcp::engine
