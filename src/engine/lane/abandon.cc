// Engine::abandon(): gives up one of several attempts to reach a listener.
#include "core/liveness/peer_errors.h"
#include "engine/lane/engine.h"
#include "engine/lane/hold.h"

namespace dlcp::engine {

std::optional<Error> Engine::abandon(Connection* connection, const wire::EndpointAddress& to,
                                     Duration waited) {
  Error why;
  {
    Hold hold(*this);
    if (connection->failed.load(std::memory_order_relaxed)) {
      why = connection->error;
    } else if (endpoint_.state(connection->id) != core::ConnectionState::kCalling) {
      return std::nullopt;
    } else {
      core::Event silence;
      silence.peer = to;
      silence.error =
          core::peer_silent(core::Silence::kNoAnswer, waited, "the connection was being opened");
      why = failures_.error_of(hold.now(), silence);
      endpoint_.close(hold.now(), connection->id);  // packets that arrive later open nothing
    }
  }
  close(connection);
  return why;
}

}  // namespace dlcp::engine
