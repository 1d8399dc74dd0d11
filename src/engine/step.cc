// One bounded step of the engine: packets in, timers, packets out, events; and the helper thread's
// part in it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "engine/clock.h"
#include "engine/engine.h"
#include "engine/turn.h"
#include "util/ordered_copy.h"

namespace dlcp::engine {
namespace {

constexpr int kReceiveBatches = 2;      // of 64 packets, per step: bounds how long a caller is held
constexpr int kTransmitBatches = 4;     // likewise
constexpr Duration kRetryHeld = 300us;  // when the datapath took nothing
constexpr Duration kPollingPause = 6ms;  // longer than a slice of another task: then nobody polls
constexpr Duration kSettlePatience = 50ms;  // of a send that waits for hardware

}  // namespace

void Engine::poll() {
  Turn turn(*this, std::try_to_lock);
  if (turn.held()) {
    step(turn.now());
  }
}

bool Engine::step(Time now) {
  const bool received = receive_packets(now);
  for (auto refused = datapath_->next_refused(); !refused.empty();
       refused = datapath_->next_refused()) {
    endpoint_.on_refused(now, refused);
  }
  if (const auto failure = datapath_->failure(); failure && !device_failed_) {
    fail_device(now, *failure);
  }
  if (endpoint_.next_timeout() <= now) {
    endpoint_.on_timeout(now);
  }
  const bool sent_to_bound = transmit(now);
  take_events(now);
  settle(now);
  report(now);
  more_work_ = received || sent_to_bound;
  return more_work_;
}

// True if more packets may be waiting.
bool Engine::receive_packets(Time now) {
  for (int batch = 0; batch < kReceiveBatches; ++batch) {
    if (batch > 0) {
      now = steady_now();  // placing took a while, and arrival times hang on it
    }
    const std::size_t count = datapath_->receive(now, arrived_);
    for (std::size_t i = 0; i < count; ++i) {
      endpoint_.on_packet(now, arrived_[i]);
      place();
    }
    if (count < arrived_.size()) {
      return false;
    }
  }
  return true;
}

void Engine::place() {
  for (const core::Placement& placement : endpoint_.placements()) {
    if (placement.zeros > 0) {
      std::memset(placement.destination, 0, placement.zeros);
      continue;
    }
    ordered_copy(placement.destination, placement.payload.data(), placement.payload.size());
  }
}

// True if the core may have more to send now.
bool Engine::transmit(Time now) {
  for (int batch = 0; batch < kTransmitBatches; ++batch) {
    if (batch > 0) {
      now = steady_now();  // sending took a while; what is sent next must not look that old
    }
    if (outbox_.empty()) {
      outbox_.filled(endpoint_.poll_transmit(now, outbox_.room()));
      if (outbox_.empty()) {
        return false;
      }
    }
    outbox_.took(datapath_->send(outbox_.waiting()));
    if (!outbox_.empty()) {
      return false;  // deadline() sees to the rest
    }
  }
  return true;
}

void Engine::take_events(Time now) {
  while (const auto event = endpoint_.poll_event()) {
    on_event(now, *event);
  }
}

void Engine::on_event(Time now, const core::Event& event) {
  if (event.kind == core::Event::Kind::kDeclined) {
    if (listeners_.decline(event, now)) {
      notices_.say(LogLevel::kWarn, event.error.message());
    }
    return;
  }
  const auto found = connections_.find(event.connection);
  if (found == connections_.end()) {
    return;  // closed or not accepted yet
  }
  Connection& connection = *found->second;
  if (event.kind == core::Event::Kind::kClosed) {
    if (!connection.failed.load(std::memory_order_relaxed)) {
      const core::ContextId context = connection.context;
      Error error = event.error;
      if (const std::string peer = datapath_->describe(event.peer); !peer.empty()) {
        error.what = fmt::format("{} (peer {})", error.what, peer);
      }
      fail(connection, error);
      notices_.say(LogLevel::kWarn, error.message());
      notices_.failed(context, error);
      endpoint_.fail_context(now, context, event.error);
      fail_connections(context, error);
    }
    return;
  }
  Request* request = connection.find(event.request);
  if (request == nullptr ||
      request->state.load(std::memory_order_relaxed) != Request::State::kPending) {
    return;
  }
  if (event.kind == core::Event::Kind::kSendDone) {
    if (!outbox_.empty()) {
      outbox_.drop_within(request->memory);
    }
    if (datapath_->reads(request->memory)) {  // a copy that was sent again and has not left yet
      settling_.push_back({event, now});
      return;
    }
  }
  finish(now, *request, event);
}

void Engine::finish(Time now, Request& request, const core::Event& event) {
  Connection& connection = *request.connection;
  if (event.lost > 0 && !connection.sends) {
    if (std::exchange(connection.lossy_collective, request.licence.collective) !=
        request.licence.collective) {
      connection.contributions_lost = 0;
    }
    connection.contributions_lost += event.lost * request.licence.cost();
  }
  monitor_->completed({connection.context, connection.sends, now - request.posted_at, event.bytes,
                       event.lost, request.licence, connection.contributions_lost});
  request.outcome = {event.bytes, event.lost};
  request.state.store(Request::State::kDone, std::memory_order_release);
}

// Sends whose memory the datapath has let go of by now are done; after a while it is made to.
void Engine::settle(Time now) {
  for (auto at = settling_.begin(); at != settling_.end();) {
    const auto found = connections_.find(at->event.connection);
    Request* request =
        found == connections_.end() ? nullptr : found->second->find(at->event.request);
    const bool pending = request != nullptr &&
                         request->state.load(std::memory_order_relaxed) == Request::State::kPending;
    if (pending && datapath_->reads(request->memory)) {
      if (now - at->since < kSettlePatience) {
        ++at;
        continue;
      }
      datapath_->abandon(request->memory);
    }
    if (pending) {
      finish(now, *request, at->event);
    }
    at = settling_.erase(at);
  }
}

// To those who look from outside, who may also ask us to be exact.
void Engine::report(Time now) {
  if (const auto exact = monitor_->exact_changed()) {
    endpoint_.forbid_loss(*exact);
    notices_.say(LogLevel::kWarn, *exact ? "`dlcp exact` was run: nothing is lost from now on"
                                         : "`dlcp exact --undo` was run: licences hold again");
  }
  if (monitor_->due() <= now || monitor_->stale(now)) {
    monitor_->show(now, endpoint_, *datapath_);
  }
}

void Engine::fail_device(Time now, const Error& error) {
  device_failed_ = true;
  notices_.say(LogLevel::kWarn, error.message());
  std::set<core::ContextId> contexts = listeners_.contexts();
  for (const auto& [id, connection] : connections_) {
    contexts.insert(connection->context);
  }
  for (const core::ContextId context : contexts) {
    endpoint_.fail_context(now, context, error);
    fail_connections(context, error);
    notices_.failed(context, error);
  }
}

void Engine::fail(Connection& connection, const Error& error) {
  if (!outbox_.empty()) {
    for (const Request& request : connection.requests) {
      if (request.state.load(std::memory_order_relaxed) == Request::State::kPending) {
        outbox_.drop_within(request.memory);
      }
    }
  }
  connection.fail(error);
}

void Engine::fail_connections(core::ContextId context, const Error& error) {
  listeners_.fail(context, error);
  for (const auto& [id, connection] : connections_) {
    if (connection->context == context) {
      fail(*connection, error);
    }
  }
}

// When a step is due though no packet arrives.
Time Engine::deadline(Time now) const {
  Time next = std::min({endpoint_.next_timeout(), datapath_->next_release(), monitor_->due()});
  if (more_work_) {
    next = now;
  } else if (!outbox_.empty()) {
    next = std::min(next, now + kRetryHeld);
  }
  return next;
}

HelperThread::Sleep Engine::helper_turn() {
  const Time polled = time_from_ns(last_poll_ns_.load(std::memory_order_relaxed));
  std::unique_lock lock(mutex_, std::try_to_lock);
  const Time now = steady_now();
  if (!lock.owns_lock()) {
    return {false, now + helper_.look_up().next()};  // whoever holds it also drives
  }
  if (now < polled + kPollingPause) {
    helper_wakes_ = now + helper_.look_up().next();
    return {false, helper_wakes_};
  }
  helper_.look_up().reset();
  step(now);
  if (datapath_->arm()) {
    step(now);
  }
  helper_wakes_ = deadline(now);
  const HelperThread::Sleep sleep{true, helper_wakes_};
  const Notices::Batch said = notices_.take();
  lock.unlock();
  notices_.speak(said);
  return sleep;
}

}  // namespace dlcp::engine
