// One lane of a device: a datapath and the protocol core, the pump between them, the lock that
// protects all three, and the helper thread. Every call that polls drives one bounded step; the
// helper thread drives steps while no caller does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/endpoint.h"
#include "datapath/datapath.h"
#include "engine/lane/connections/connection_table.h"
#include "engine/lane/connections/listeners.h"
#include "engine/lane/failures.h"
#include "engine/lane/flushes.h"
#include "engine/lane/linger.h"
#include "engine/lane/notices.h"
#include "engine/live/monitor.h"
#include "engine/live/statistics.h"
#include "engine/pump/pump.h"
#include "engine/thread/helper_thread.h"
#include "engine/thread/presence.h"

namespace dlcp::engine {

class Engine {
 public:
  Engine(std::unique_ptr<datapath::Datapath> datapath, const core::Config& config,
         const core::Secrets& secrets, LogSink log, Notices::FailureSink on_failure,
         std::unique_ptr<Monitor> monitor = std::make_unique<Monitor>(),
         std::unique_ptr<Placer> placer = nullptr);  // null: placer_for() the datapath
  ~Engine();

  // Starts the helper thread; until then only callers drive steps. kSystem if the system refuses.
  // `takes_part`: it steps whenever packets arrive, because callers poll other lanes, too.
  Status start_helper(bool takes_part = false);
  // Sends of at most `most` bytes are copied and done at once. `undelivered` counts the copies that
  // have not arrived; it may be null. Called before any connection.
  void copy_up_to(std::size_t most, std::atomic<std::size_t>* undelivered = nullptr) {
    connections_.copy_memory().message_bytes_max = most;
    connections_.copy_memory().undelivered = undelivered;
  }
  void stop() { helper_.stop(); }  // joins it; no other call may be in progress
  const wire::EndpointAddress& address() const { return datapath_->local_address(); }
  bool has_failed();  // because its device has failed
  Status check_reachable(const wire::EndpointAddress& peer) const;
  // `is_spare`: usually no peer connects to this listener, so a long wait is not logged.
  core::Listening listen(core::ContextId context, std::uint32_t number,
                         std::vector<wire::EndpointAddress> lanes = {}, bool is_spare = false);
  void close_listener(core::ListenerId listener);
  // A connection from connect() or accept() exists until close().
  Connection* connect(core::ContextId context, const wire::Invitation& listener,
                      const wire::EndpointAddress& to, const wire::Membership& membership = {},
                      core::OnSilence on_silence = core::OnSilence::kFailContext);
  // Closes an attempt. Returns why `to` may not have answered for `waited`; nullopt if it has.
  std::optional<Error> abandon(Connection* connection, const wire::EndpointAddress& to,
                               Duration waited);
  std::vector<wire::EndpointAddress> peer_lanes(const Connection& connection);
  void decline(core::ContextId context, const wire::Invitation& listener,
               const wire::EndpointAddress& to, const core::Refusal& why);
  // nullptr: none yet. Fails if the listener's context has failed or the peer has declined.
  Result<Connection*> accept(core::ListenerId listener, core::ContextId context);
  core::ConnectionState poll_state(Connection& connection);  // drives a step; kClosed: it failed
  // nullptr: try again later. Fails if the connection has failed.
  Result<Request*> send(Connection& connection, const Memory& message,
                        const core::Licence& licence = {});
  Result<Request*> receive(Connection& connection, const Memory& buffer,
                           const core::Licence& licence = {});
  bool has_sendable(const Connection& connection);  // see core::Endpoint
  bool peer_has_closed(const Connection& connection);
  bool drive();                  // one bounded step; false if another thread is driving one
  void count_callers(int more);  // callers that wait for the completion of several requests
  // Drives a step if the request is still pending. Do not use the request after kDone.
  Request::State test(Request& request, Request::Outcome& outcome);
  // Until release_memory(), hardware may fetch messages directly from the memory.
  void register_memory(const Connection& connection, const Memory& registered);
  // Memory of a GPU, which only the card accesses; released as memory of the host.
  Status register_gpu_memory(const Connection& connection, const datapath::GpuMemory& memory);
  // Makes received data visible to the GPU. nullptr: nothing to wait for.
  Result<Request*> flush_gpu(Connection& connection, const Memory& memory);
  // After it returns, nothing accesses the memory. A connection that still used it has failed.
  void release_memory(Connection& connection, const Memory& registered);
  // The connection must be closed next. Its posted receives, and later messages, are not needed.
  void forgo_receives(Connection& connection);
  // Frees the connection and its requests. True if it had failed or had outstanding requests.
  bool close(Connection* connection);
  void fail_context(core::ContextId context, const Error& error, bool pass_on = false);
  void linger(const Linger& most);
  void describe(core::ContextId context, const ContextDescription& description);  // for monitors
  ContextSummary summary(core::ContextId context, bool is_over = false);  // is_over: forgets it
  core::Counters counters();
  void add_to(Statistics& statistics) const;  // no other call may be in progress

 private:
  class Hold;  // holds the lock; its end sets the helper's timer and sends notices
  Result<Request*> post(Connection& connection, const Memory& memory, bool sends,
                        const core::Licence& licence);
  bool post_copy(Time now, Connection& connection, Request& request, const Memory& message);
  void end(Time now, Connection& connection);
  void step(Time now);
  void flush(Time now, Time end = {});  // sends what is queued: a few batches, and more until `end`
  void take_events(Time now);
  void on_event(Time now, const core::Event& event);
  void finish(Time now, Request& request, const core::Event& event);
  void report(Time now);
  void reclaim(std::span<std::byte> memory);
  void end_placing(const Connection& connection);
  Time deadline(Time now) const;
  HelperThread::Sleep on_helper_wake();
  std::mutex mutex_;
  const std::unique_ptr<datapath::Datapath> datapath_;
  const std::unique_ptr<Placer> placer_;
  Pump pump_;
  core::Endpoint& endpoint_;  // owned by the pump
  const std::unique_ptr<Monitor> monitor_;
  ConnectionTable connections_;
  Listeners listeners_;
  Notices notices_;
  Presence presence_;
  Failures failures_;
  Flushes flushes_;
  Time stepped_{}, helper_wakes_ = kNever;   // the last step; when the helper's own timer expires
  bool deferred_ = false;                    // messages were posted that leave with the next step
  std::atomic<std::uint32_t> departure_{1};  // number of the step with which such messages leave
  bool logged_copies_ = false, helper_runs_ = false, helper_takes_part_ = false;
  HelperThread helper_;
};

}  // namespace dlcp::engine
