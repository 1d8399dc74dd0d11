// How connections of an engine end: closed, given up, failed with their context; and what is waited
// for at the end of a communicator.
#include <ctime>

#include "core/liveness/peer_errors.h"
#include "engine/host/clock.h"
#include "engine/lane/engine.h"
#include "engine/lane/hold.h"

namespace dlcp::engine {
namespace {

// Peers cannot place into receives of the connection when this returns.
void end_permissions(datapath::Placer* card, const Connection& connection) {
  if (card == nullptr) return;
  for (const Request& request : connection.requests)
    if (request.state.load(std::memory_order_relaxed) != Request::State::kFree)
      card->revoke_all(request.memory);
}

}  // namespace

// Gives up one of several attempts to reach a listener.
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
      silence.ends_alone = true;
      silence.error =
          core::peer_silent(core::Silence::kNoAnswer, waited, "the connection was being opened");
      why = failures_.error_of(hold.now(), silence);
      endpoint_.close(hold.now(), connection->id);  // packets that arrive later open nothing
    }
  }
  close(connection);
  return why;
}

bool Engine::close(Connection* connection) {
  end_placing(*connection);
  Hold hold(*this);
  bool aborted = connection->failed.load(std::memory_order_relaxed);
  for (const Request& request : connection->requests)
    aborted = aborted || request.state.load(std::memory_order_relaxed) == Request::State::kPending;
  if (!aborted && !connection->copies.empty()) {
    endpoint_.leave(connection->id);
    connections_.leave(*connection);
  } else {
    end(hold.now(), *connection);
  }
  flush(hold.now());
  take_events(hold.now());
  return aborted;
}

void Engine::forgo_receives(Connection& connection) {
  end_placing(connection);
  Hold hold(*this);
  endpoint_.leave(connection.id);
  endpoint_.close(hold.now(), connection.id);
  end_permissions(datapath_->placer(), connection);
  for (Request& request : connection.requests) {
    if (request.state.load(std::memory_order_relaxed) != Request::State::kPending) continue;
    pump_.forget(connection.id, request.memory);
    if (request.waited_for) presence_.has_got();
    request.state.store(Request::State::kFree, std::memory_order_relaxed);
  }
}

void Engine::end(Time now, Connection& connection) {
  endpoint_.close(now, connection.id);
  failures_.end(connection,
                {ErrorCode::kInternal, "the connection is closed", ""});  // drops held packets
  if (!connection.sends) end_permissions(datapath_->placer(), connection);
  connections_.erase(connection.id);
}

// `pass_on`: the failure began here, so that other engines and the trace must learn of it.
void Engine::fail_context(core::ContextId context, const Error& error, bool pass_on) {
  Hold hold(*this);
  if (pass_on) notices_.failed(context, error);
  failures_.context(hold.now(), context, error);
  take_events(hold.now());
  flush(hold.now());
}

void Engine::linger(const Linger& most) {
  constexpr timespec kPause{0, 200'000};
  const Time begun = steady_now();
  Time closes_end = begun + most.closes;
  for (;; nanosleep(&kPause, nullptr)) {
    Hold hold(*this);
    step(hold.now());
    if (connections_.any_leaves(most.context)) {
      closes_end = hold.now() + most.closes;
      if (hold.now() < begun + most.copies) continue;
      const Error error{
          ErrorCode::kRemote,
          "the peer did not receive the last messages of a closed connection within "
          "DLCP_PEER_TIMEOUT",
          "see the log of the other rank: it may have failed, or be slower than that"};
      notices_.log(LogLevel::kWarn, error.message());
      failures_.context(hold.now(), most.context, error);
      take_events(hold.now());
    }
    const bool pending =
        most.resets_only ? endpoint_.has_resets_to_send() : endpoint_.has_unconfirmed_closes();
    if (!pending || hold.now() >= closes_end) return flush(hold.now());
  }
}

}  // namespace dlcp::engine
