// A connection to another rank while it is being opened: over RoCE where both can, and over UDP
// after all if nobody answers there. A peer that has not been heard over RoCE has not been told
// START either, so nothing accepts that connection any more and no data can be in two places.
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
  // `route`: chosen for `peer`. `patience`: how long RoCE may be silent.
  Opening(const Engines& engines, core::ContextId context, const Peer& peer, const Route& route,
          Duration patience);

  // Drives a step. A connection that is open, or has failed, is the caller's to use or to close.
  core::ConnectionState poll();
  Connection* connection() const { return connection_; }
  const wire::Invitation& listener() const { return peer_.listener; }
  // Why the connection is over UDP though both ranks have RoCE; empty if it is not.
  const std::string& why_not_roce() const { return why_not_roce_; }

 private:
  bool fall_back();

  const Engines engines_;
  const core::ContextId context_;
  const Peer peer_;
  const Duration patience_;
  const Time began_;
  bool may_fall_back_;
  Connection* connection_;
  std::string why_not_roce_;
};

}  // namespace dlcp::engine
