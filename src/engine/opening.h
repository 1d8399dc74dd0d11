// A connection to another rank while it is being opened, or a bundle of them over as many lanes as
// both have: over the best carrier that both have, and over the next after all if nobody answers
// there. A peer that has not been heard over one has not been told START either, so nothing accepts
// that connection any more and no data can be in two places.
#pragma once

#include <string>

#include "core/endpoint_types.h"
#include "engine/bundle.h"
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
  enum class Over : std::uint8_t { kOneLane, kAllLanes };
  // `route`: chosen for `peer`. `patience`: how long a carrier that is not the last may be silent.
  Opening(const Port& port, core::ContextId context, const Peer& peer, const Route& route,
          Duration patience, Over lanes = Over::kOneLane);

  // Drives a step. What is open, or has failed, is the caller's to use or to close.
  core::ConnectionState poll();
  // The first, or the one that has failed.
  Connection* connection() const { return connection_; }
  // All of them.
  Bundle bundle() const;
  const wire::Invitation& listener() const { return peer_.listener; }
  // See Route::fallback; empty if nobody fell back here.
  const std::string& fallback() const { return fallback_; }

 private:
  Connection* call_first(const wire::EndpointAddress& to) const;
  bool fall_back();
  void call_others();
  core::ConnectionState poll_others();

  const Port port_;
  const core::ContextId context_;
  const Peer peer_;
  const Duration patience_;
  const Over lanes_;
  Time began_;
  const Carrier* over_;
  bool may_fall_back_ = true;
  Connection* connection_;
  bool called_others_ = false;
  std::vector<Bundle::Member> members_;  // once the others have been called
  std::string fallback_;
};

}  // namespace dlcp::engine
