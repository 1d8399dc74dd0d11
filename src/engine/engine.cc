// What callers ask for, and the turns they take. The step itself is in step.cc.
#include "engine/engine.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "engine/clock.h"
#include "engine/turn.h"

namespace dlcp::engine {
namespace {

constexpr std::size_t kBatchPackets = 64;
constexpr Duration kReclaimPatience = 10ms;
constexpr const char* kNobodyConnects =
    "a rank that should connect to this one has not done so for the peer time-out: it may be late, "
    "or have refused; its log says why";

}  // namespace

Engine::Engine(std::unique_ptr<datapath::Datapath> datapath, const core::Config& config,
               const core::Secrets& secrets, LogSink log, Notices::FailureSink on_failure,
               std::unique_ptr<Monitor> monitor)
    : datapath_(std::move(datapath)),
      endpoint_(config, datapath_->local_address(), secrets),
      monitor_(std::move(monitor)),
      arrived_(kBatchPackets),
      listeners_(config.peer_timeout),
      notices_(std::move(log), std::move(on_failure)) {}

Engine::~Engine() {
  helper_.stop();
}

bool Engine::start_helper() {
  {
    const std::lock_guard lock(mutex_);
    helper_runs_ = true;
  }
  return helper_.start(datapath_->wait_descriptor(), [this] { return helper_turn(); });
}

Status Engine::check_reachable(const wire::EndpointAddress& peer) const {
  return datapath_->check_reachable(peer);
}

core::Endpoint::Listening Engine::listen(core::ContextId context, std::uint32_t number) {
  Turn turn(*this);
  const auto listening = endpoint_.listen(context, number);
  listeners_.open(listening.id, context);
  return listening;
}

void Engine::close_listener(core::ListenerId listener) {
  Turn turn(*this);
  listeners_.close(listener);
  endpoint_.close_listener(turn.now(), listener);
  transmit(turn.now());
}

Connection* Engine::keep(core::ConnectionId id, core::ContextId context, bool sends) {
  auto& slot = connections_[id];
  slot = std::make_unique<Connection>();
  slot->engine = this;
  slot->id = id;
  slot->context = context;
  slot->sends = sends;
  return slot.get();
}

Connection* Engine::connect(core::ContextId context, const wire::Invitation& listener,
                            const wire::EndpointAddress& to) {
  Turn turn(*this);
  Connection* connection =
      keep(endpoint_.connect(turn.now(), context, listener, to), context, true);
  step(turn.now());
  return connection;
}

void Engine::decline(core::ContextId context, const wire::Invitation& listener,
                     const wire::EndpointAddress& to, const core::Refusal& why) {
  Turn turn(*this);
  endpoint_.decline(turn.now(), context, listener, to, why);
  step(turn.now());
}

Result<Connection*> Engine::accept(core::ListenerId listener, core::ContextId context) {
  Turn turn(*this);
  step(turn.now());
  const auto id = endpoint_.accept(listener);
  if (!id) {
    if (auto failure = listeners_.failure(listener, turn.now())) {
      return std::move(*failure);
    }
    if (listeners_.waits_long(listener, turn.now())) {
      notices_.say(LogLevel::kWarn, kNobodyConnects);
    }
    return static_cast<Connection*>(nullptr);
  }
  Connection* connection = keep(*id, context, false);
  if (endpoint_.state(*id) == core::ConnectionState::kClosed) {  // its event found nobody
    connection->fail({ErrorCode::kRemote, "the peer gave up before the connection was accepted",
                      "its log says why"});
  }
  return connection;
}

core::ConnectionState Engine::poll_state(Connection& connection) {
  Turn turn(*this);
  step(turn.now());
  return connection.failed.load() ? core::ConnectionState::kClosed : endpoint_.state(connection.id);
}

Result<Request*> Engine::post(Connection& connection, const Memory& memory, bool sends,
                              const core::Licence& licence) {
  Turn turn(*this);
  if (connection.failed.load(std::memory_order_relaxed)) {
    return connection.error;
  }
  Request* request = connection.free_slot();
  if (request == nullptr) {
    step(turn.now());
    return request;
  }
  request->memory = {memory.data, memory.bytes};
  request->registration = memory.registration;
  request->outcome = {};
  request->posted_at = turn.now();
  request->licence = licence;
  request->state.store(Request::State::kPending, std::memory_order_relaxed);
  bool taken = false;
  if (sends) {
    taken = endpoint_.post_send(turn.now(), connection.id, request->name, request->memory, licence);
  } else {
    taken = endpoint_.post_receive(turn.now(), connection.id, request->name,
                                   {memory.data, memory.bytes}, licence);
    place();
  }
  if (!taken) {
    request->state.store(Request::State::kFree, std::memory_order_relaxed);
    step(turn.now());
    if (connection.failed.load(std::memory_order_relaxed)) {
      return connection.error;
    }
    return static_cast<Request*>(nullptr);
  }
  more_work_ = transmit(turn.now()) || more_work_;
  take_events(turn.now());
  return request;
}

Result<Request*> Engine::send(Connection& connection, const Memory& message,
                              const core::Licence& licence) {
  return post(connection, message, true, licence);
}

Result<Request*> Engine::receive(Connection& connection, const Memory& buffer,
                                 const core::Licence& licence) {
  return post(connection, buffer, false, licence);
}

Request::State Engine::test(Request& request, Request::Outcome& outcome) {
  Request::State state = request.state.load(std::memory_order_acquire);
  if (state == Request::State::kPending) {
    poll();
    state = request.state.load(std::memory_order_acquire);
  }
  if (state == Request::State::kDone) {
    outcome = request.outcome;
    request.state.store(Request::State::kFree, std::memory_order_release);
  }
  return state;
}

void Engine::register_memory(const Connection& connection, const Memory& registered) {
  if (!connection.sends) {
    return;  // what arrives is copied there
  }
  Turn turn(*this);
  const auto done = datapath_->register_memory({registered.data, registered.bytes});
  if (!done && !said_copies_) {
    said_copies_ = true;
    Error error = done.error();
    error.what += "; what is sent from it will be copied, which takes more of the processor";
    notices_.say(LogLevel::kWarn, error.message());
  }
}

void Engine::release_memory(Connection& connection, const Memory& registered) {
  Turn turn(*this);
  const std::byte* begin = registered.data;
  const std::byte* end = begin + registered.bytes;
  bool in_use = false;
  for (const Request& request : connection.requests) {
    if (request.state.load(std::memory_order_relaxed) == Request::State::kPending) {
      const bool overlaps = !request.memory.empty() && request.memory.data() < end &&
                            begin < request.memory.data() + request.memory.size();
      // Other registrations may hold the same memory: NCCL registers what is registered already.
      in_use = in_use ||
               (request.registration != nullptr ? request.registration == registered.registration
                                                : overlaps);
    }
  }
  if (in_use) {
    endpoint_.close(turn.now(), connection.id);
    const Error error{ErrorCode::kInternal,
                      "memory was deregistered while requests on it were outstanding",
                      "the connection is aborted; expected only while a communicator aborts"};
    if (!connection.failed.load(std::memory_order_relaxed)) {
      notices_.say(LogLevel::kWarn, error.message());
    }
    fail(connection, error);
    take_events(turn.now());
    transmit(turn.now());
  }
  if (connection.sends) {
    reclaim({registered.data, registered.bytes});
    datapath_->release_memory({registered.data, registered.bytes});
  }
}

// Waits for the datapath to let go of the memory, and makes it if that takes long: hardware may be
// held up by a port that is down, and the packets were for a connection that has what it needs.
void Engine::reclaim(std::span<const std::byte> memory) {
  const Time end = steady_now() + kReclaimPatience;
  constexpr timespec kPause{0, 20'000};
  while (datapath_->reads(memory)) {
    if (steady_now() >= end) {
      datapath_->abandon(memory);
      return;
    }
    nanosleep(&kPause, nullptr);
  }
}

bool Engine::close(Connection* connection) {
  Turn turn(*this);
  bool aborted = connection->failed.load(std::memory_order_relaxed);
  for (const Request& request : connection->requests) {
    aborted = aborted || request.state.load(std::memory_order_relaxed) == Request::State::kPending;
  }
  endpoint_.close(turn.now(), connection->id);
  fail(*connection, {ErrorCode::kInternal, "the connection is closed", ""});  // drops what is held
  connections_.erase(connection->id);
  transmit(turn.now());
  take_events(turn.now());
  return aborted;
}

void Engine::fail_context(core::ContextId context, const Error& error) {
  Turn turn(*this);
  endpoint_.fail_context(turn.now(), context, error);
  fail_connections(context, error);
  take_events(turn.now());
  transmit(turn.now());
}

void Engine::linger(Duration at_most, bool resets_only) {
  const Time end = steady_now() + at_most;
  constexpr timespec kPause{0, 200'000};
  for (;;) {
    {
      Turn turn(*this);
      step(turn.now());
      const bool pending =
          resets_only ? endpoint_.has_resets_to_send() : endpoint_.has_unconfirmed_closes();
      if (!pending || turn.now() >= end) {
        return;
      }
    }
    nanosleep(&kPause, nullptr);
  }
}

void Engine::describe(core::ContextId context, const ContextDescription& description) {
  const std::lock_guard lock(mutex_);
  monitor_->describe(context, description);
}

ContextSummary Engine::summary(core::ContextId context) {
  const std::lock_guard lock(mutex_);
  return monitor_->summary(context, endpoint_);
}

core::Counters Engine::counters() {
  const std::lock_guard lock(mutex_);
  return endpoint_.counters();
}

}  // namespace dlcp::engine
