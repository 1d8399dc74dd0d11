#include "engine/lane/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/host/clock.h"
#include "engine/lane/hold.h"
#include "engine/opening/peer_trouble.h"
#include "engine/pump/card_placer.h"

namespace dlcp::engine {
namespace {

constexpr int kReceiveBatches = 2;        // per step: limits how long a caller is delayed
constexpr int kTransmitBatches = 4;       // also per step
constexpr Duration kStepTakes = 50us;     // approximately
constexpr Duration kStepTakesMost = 1ms;  // after a long absence of the callers
constexpr const char* kNobodyConnects =
    "a rank that should connect to this one has not done so within the peer timeout: it may be "
    "late, or it may have refused the connection; see its log";
constexpr const char* kNat =
    "; packets arrive from other addresses than their senders state, as behind NAT, which DLCP "
    "does not support";

}  // namespace

Engine::Engine(std::unique_ptr<datapath::Datapath> datapath, const core::Config& config,
               const core::Secrets& secrets, LogSink log, Notices::FailureSink on_failure,
               std::unique_ptr<Monitor> monitor, std::unique_ptr<Placer> placer)
    : datapath_(std::move(datapath)),
      placer_(placer != nullptr ? std::move(placer) : placer_for(*datapath_)),
      pump_(*datapath_, config, secrets, *placer_),
      endpoint_(pump_.endpoint()),
      monitor_(std::move(monitor)),
      listeners_(config.peer_timeout),
      notices_(std::move(log), std::move(on_failure)),
      failures_(pump_, *datapath_, connections_, listeners_, notices_, presence_) {}

Engine::~Engine() {
  helper_.stop();
}

Status Engine::start_helper(bool takes_part) {
  {
    const std::lock_guard lock(mutex_);
    helper_runs_ = true;
    helper_takes_part_ = takes_part;
  }
  return helper_.start(datapath_->wait_descriptor(), [this] { return on_helper_wake(); });
}

bool Engine::has_failed() {
  const std::lock_guard lock(mutex_);
  return datapath_->failure().has_value();
}

Status Engine::check_reachable(const wire::EndpointAddress& peer) const {
  return datapath_->check_reachable(peer);
}

core::Listening Engine::listen(core::ContextId context, std::uint32_t number,
                               std::vector<wire::EndpointAddress> lanes, bool is_spare) {
  Hold hold(*this);
  const auto listening = endpoint_.listen(context, number, std::move(lanes));
  listeners_.open(listening.id, context, is_spare);
  return listening;
}

void Engine::close_listener(core::ListenerId listener) {
  Hold hold(*this);
  listeners_.close(listener);
  endpoint_.close_listener(hold.now(), listener);
  flush(hold.now());
}

Connection* Engine::connect(core::ContextId context, const wire::Invitation& listener,
                            const wire::EndpointAddress& to, const wire::Membership& membership,
                            core::OnSilence on_silence) {
  Hold hold(*this);
  const auto id = endpoint_.connect(hold.now(), context, listener, to, membership, on_silence);
  Connection& connection = connections_.add(*this, id, context, true);
  step(hold.now());
  return &connection;
}

std::vector<wire::EndpointAddress> Engine::peer_lanes(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  return endpoint_.peer_lanes(connection.id);
}

void Engine::decline(core::ContextId context, const wire::Invitation& listener,
                     const wire::EndpointAddress& to, const core::Refusal& why) {
  Hold hold(*this);
  endpoint_.decline(hold.now(), context, listener, to, why);
  step(hold.now());
}

Result<Connection*> Engine::accept(core::ListenerId listener, core::ContextId context) {
  Hold hold(*this);
  step(hold.now());
  const auto id = endpoint_.accept(listener);
  if (!id) {
    if (auto failure = listeners_.failure(listener, hold.now())) return std::move(*failure);
    if (listeners_.waits_long(listener, hold.now())) {
      const bool foreign = endpoint_.counters()[core::Counter::kDroppedForeignHost] != 0;
      notices_.log(LogLevel::kWarn, fmt::format("{}{}", kNobodyConnects, foreign ? kNat : ""));
    }
    return static_cast<Connection*>(nullptr);
  }
  Connection& connection = connections_.add(*this, *id, context, false);
  connection.membership = endpoint_.membership(*id);
  return &connection;
}

core::ConnectionState Engine::poll_state(Connection& connection) {
  Hold hold(*this);
  step(hold.now());
  return connection.failed.load() ? core::ConnectionState::kClosed : endpoint_.state(connection.id);
}

Result<Request*> Engine::post(Connection& connection, const Memory& memory, bool sends,
                              const core::Licence& licence) {
  Hold hold(*this);
  if (connection.failed.load(std::memory_order_relaxed)) return connection.error;
  Request* request = connection.free_slot();
  if (request == nullptr) {
    step(hold.now());
    return request;
  }
  request->memory = {memory.data, memory.bytes};
  request->registration = memory.registration;
  request->outcome = {};
  request->posted_at = hold.now();
  request->licence = licence;
  const bool is_copied = sends && connection.waited_for && licence.budget_ppm == 0 &&
                         memory.kind == core::MemoryKind::kHost &&
                         connection.copies.takes(memory.bytes);
  request->leaves_with = 0;
  request->waited_for = false;  // until it has been posted, which may throw
  request->state.store(Request::State::kPending, std::memory_order_relaxed);
  bool taken = false;
  if (is_copied) {
    taken = post_copy(hold.now(), connection, *request, memory);
  } else if (sends) {
    taken = endpoint_.post_send(hold.now(), connection.id, request->name, request->memory, licence,
                                memory.kind);
  } else {
    taken = pump_.post_receive(hold.now(), connection.id, request->name,
                               {memory.data, memory.bytes}, licence, memory.kind);
  }
  if (!taken) {
    request->state.store(Request::State::kFree, std::memory_order_relaxed);
    step(hold.now());
    if (connection.failed.load(std::memory_order_relaxed)) return connection.error;
    return static_cast<Request*>(nullptr);
  }
  request->waited_for = connection.waited_for && !is_copied;
  if (request->waited_for) presence_.waits();
  take_events(hold.now());
  // If the caller will test it on this lane, it leaves then, with what is posted until then; but a
  // message to a peer to which nothing is in flight leaves at once.
  const bool tested =
      connection.waited_for && connection.beside.empty() &&
      (is_copied || request->state.load(std::memory_order_relaxed) == Request::State::kPending);
  if (!tested || (sends && !endpoint_.has_in_flight(connection.id))) {
    flush(hold.now());
  } else if (sends) {
    deferred_ = true;
    request->leaves_with = departure_.load(std::memory_order_relaxed);
  }
  return request;
}

bool Engine::post_copy(Time now, Connection& connection, Request& request, const Memory& message) {
  // The copy is kept before it is posted: if post_send() throws, the endpoint may send it anyway.
  const Copies::Copy& copy = connection.copies.add(now, {message.data, message.bytes});
  if (!endpoint_.post_send(now, connection.id, copy.name, copy.memory(), request.licence,
                           core::MemoryKind::kCopy)) {
    connection.copies.drop_last();
    return false;
  }
  request.memory = {};
  request.outcome.bytes = message.bytes;
  request.state.store(Request::State::kDone, std::memory_order_release);
  return true;
}

Result<Request*> Engine::send(Connection& connection, const Memory& message,
                              const core::Licence& licence) {
  return post(connection, message, true, licence);
}

Result<Request*> Engine::receive(Connection& connection, const Memory& buffer,
                                 const core::Licence& licence) {
  return post(connection, buffer, false, licence);
}

bool Engine::has_sendable(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  return endpoint_.has_sendable(connection.id);
}

bool Engine::peer_has_closed(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  return endpoint_.peer_has_closed(connection.id);
}

Request::State Engine::test(Request& request, Request::Outcome& outcome) {
  Request::State state = request.state.load(std::memory_order_acquire);
  // The first test after several sends drives a step, with which all their messages leave.
  const bool leaves_now = request.leaves_with == departure_.load();
  if (state == Request::State::kPending || leaves_now) {
    if (!drive()) request.connection->drive_beside();
    state = request.state.load(std::memory_order_acquire);
  }
  if (state == Request::State::kDone) {
    outcome = request.outcome;
    request.state.store(Request::State::kFree, std::memory_order_release);
  }
  return state;
}

bool Engine::drive() {
  Hold hold(*this, std::try_to_lock);
  if (hold.held()) step(hold.now());
  return hold.held();
}

void Engine::count_callers(int more) {
  presence_.waits(more);
  const Hold hold(*this, std::try_to_lock);  // its destructor handles callers that may leave
}

// Receiving and sending may each take as long as the last step is ago: on a busy processor steps
// are rare, and this caller may lose the processor again if it finds its request pending.
void Engine::step(Time now) {
  const Duration away = std::min(now - stepped_, kStepTakesMost);
  // Messages that were posted since then do not wait until what has arrived is handled.
  if (std::exchange(deferred_, false)) {
    departure_.fetch_add(1);
    pump_.transmit(now);
    now = steady_now();  // answers may have arrived meanwhile
  }
  const Time end = now + away;
  for (int batch = 0; (batch < kReceiveBatches || now < end) && pump_.receive(now).more; ++batch)
    now = steady_now();  // placing took time, and arrival times are relative to now
  take_events(now);
  flush(now, now + away);
  if (const auto failure = datapath_->failure()) failures_.device(now, *failure);
  failures_.take_refused_peer(now);
  failures_.take_unplaced(now, *placer_);
  flushes_.take(now, datapath_->placer(), connections_, presence_);
  take_events(now);
  report(now);
  stepped_ = steady_now();
}

void Engine::flush(Time now, Time end) {
  for (int batch = 0; (batch < kTransmitBatches || now < end) && pump_.transmit(now).more; ++batch)
    now = steady_now();  // sending took time, which must not count as age of later packets
}

void Engine::take_events(Time now) {
  while (const auto event = pump_.poll_event(now))
    on_event(now, *event);
  while (Connection* const left = connections_.next_to_end())
    end(now, *left);
}

void Engine::on_event(Time now, const core::Event& event) {
  if (event.kind == core::Event::Kind::kDeclined) {
    if (listeners_.decline(event, now)) notices_.log(LogLevel::kWarn, event.error.message());
    return;
  }
  if (event.kind == core::Event::Kind::kUnmarked)
    return notices_.log(LogLevel::kWarn, explain_unmarked(event.peer));
  Connection* connection = connections_.find(event.connection);
  if (connection == nullptr) return;
  if (event.kind == core::Event::Kind::kClosed) {
    failures_.closed(now, *connection, event);
    return;
  }
  if (Copies::is_name(event.request)) {
    const auto copy = connection->copies.take(event.request);
    if (copy && !connection->leaves)  // its communicator has been reported already
      monitor_->completed({connection->context, true, now - copy->sent_at, copy->bytes, 0, {}, 0});
    return;
  }
  Request* request = connection->find(event.request);
  if (request != nullptr &&
      request->state.load(std::memory_order_relaxed) == Request::State::kPending)
    finish(now, *request, event);
}

void Engine::finish(Time now, Request& request, const core::Event& event) {
  Connection& connection = *request.connection;
  if (event.lost > 0) connection.count_lost(request.licence, event.lost);
  monitor_->completed({connection.context, connection.sends, now - request.posted_at, event.bytes,
                       event.lost, request.licence, connection.contributions_lost});
  if (request.waited_for) presence_.has_got();
  request.outcome = {event.bytes, event.lost, event.holes};
  request.state.store(Request::State::kDone, std::memory_order_release);
}

// Updates the live page, whose readers may also request exact transfers.
void Engine::report(Time now) {
  for (std::string& line : pump_.take_news())
    notices_.log(LogLevel::kInfo, std::move(line));
  if (const auto exact = monitor_->exact_changed()) {
    endpoint_.forbid_loss(*exact);
    notices_.log(LogLevel::kWarn, *exact ? "`dlcp exact` was run: no data is lost from now on"
                                         : "`dlcp exact --undo` was run: licences are valid "
                                           "again");
  }
  if (monitor_->due() <= now || monitor_->stale(now)) monitor_->show(now, endpoint_, *datapath_);
}

// When a step is due even if no packet arrives.
Time Engine::deadline(Time now) const {
  return std::min(pump_.deadline(now), monitor_->due());
}

HelperThread::Sleep Engine::on_helper_wake() {
  std::unique_lock lock(mutex_, std::defer_lock);
  const Time woken = steady_now();
  const auto driven = helper_takes_part_ ? std::nullopt : presence_.look(woken);
  if (driven) {  // the poller holds the lock most of the time
    if (lock.try_lock()) helper_wakes_ = woken + *driven;
    return {false, woken + *driven};
  }
  // A thread that holds the lock, or waits for it, also drives a step.
  if (presence_.waiting_threads().load(std::memory_order_relaxed) > 0 || !lock.try_lock())
    return {false, woken + kStepTakes};
  const Time now = steady_now();  // under the lock, so that other threads' steps are in the past
  step(now);
  if (datapath_->arm()) step(steady_now());
  helper_wakes_ = deadline(steady_now());
  const HelperThread::Sleep sleep{true, helper_wakes_};
  const Notices::Batch said = notices_.take();
  lock.unlock();
  notices_.speak(said);
  return sleep;
}

void Engine::describe(core::ContextId context, const ContextDescription& description) {
  const std::lock_guard lock(mutex_);
  monitor_->describe(context, description);
}

ContextSummary Engine::summary(core::ContextId context, bool is_over) {
  const std::lock_guard lock(mutex_);
  ContextSummary summary = monitor_->summary(context, endpoint_);
  if (is_over) monitor_->forget(context, endpoint_);
  return summary;
}

void Engine::add_to(Statistics& statistics) const {
  statistics.add(endpoint_.counters(), datapath_->name(), datapath_->counts());
}

core::Counters Engine::counters() {
  const std::lock_guard lock(mutex_);
  return endpoint_.counters();
}

}  // namespace dlcp::engine
