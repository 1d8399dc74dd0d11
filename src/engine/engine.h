// One device of this process at work: a datapath and the protocol core, the pump between them, the
// lock around all three, and the helper thread. Whoever polls drives one bounded step; the helper
// steps when nobody does.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/endpoint.h"
#include "datapath/datapath.h"
#include "engine/connection.h"
#include "engine/connection_table.h"
#include "engine/failures.h"
#include "engine/helper_thread.h"
#include "engine/listeners.h"
#include "engine/monitor.h"
#include "engine/notices.h"
#include "engine/presence.h"
#include "engine/pump.h"
#include "engine/statistics.h"

namespace dlcp::engine {

class Engine {
 public:
  Engine(std::unique_ptr<datapath::Datapath> datapath, const core::Config& config,
         const core::Secrets& secrets, LogSink log, Notices::FailureSink on_failure,
         std::unique_ptr<Monitor> monitor = std::make_unique<Monitor>(),
         std::unique_ptr<Placer> placer = std::make_unique<HostPlacer>());
  ~Engine();

  // Starts the helper thread; until then only callers drive. False if the system refuses.
  // `takes_part`: it steps whenever packets come, as pollers have other lanes to poll as well.
  bool start_helper(bool takes_part = false);
  void stop() { helper_.stop(); }  // joins it; nobody else may be inside any more
  const wire::EndpointAddress& address() const { return datapath_->local_address(); }
  Status check_reachable(const wire::EndpointAddress& peer) const;
  // `is_spare`: mostly nobody connects here, and no log line says so.
  core::Endpoint::Listening listen(core::ContextId context, std::uint32_t number,
                                   std::vector<wire::EndpointAddress> lanes = {},
                                   bool is_spare = false);
  void close_listener(core::ListenerId listener);
  // accept(), too, leaves a connection that lives until close().
  Connection* connect(core::ContextId context, const wire::Invitation& listener,
                      const wire::EndpointAddress& to, const wire::Membership& membership = {},
                      core::OnSilence on_silence = core::OnSilence::kFailContext);
  // Closes an attempt, and tells why `to` may not have answered for `waited`. nullopt: it has.
  std::optional<Error> abandon(Connection* connection, const wire::EndpointAddress& to,
                               Duration waited);
  std::vector<wire::EndpointAddress> peer_lanes(const Connection& connection);
  void decline(core::ContextId context, const wire::Invitation& listener,
               const wire::EndpointAddress& to, const core::Refusal& why);
  // nullptr: none yet. Fails once the listener's context has, or the peer has declined.
  Result<Connection*> accept(core::ListenerId listener, core::ContextId context);
  // Drives a step; kClosed once the connection has failed.
  core::ConnectionState poll_state(Connection& connection);
  // nullptr: not now, try again. Fails once the connection has.
  Result<Request*> send(Connection& connection, const Memory& message,
                        const core::Licence& licence = {});
  Result<Request*> receive(Connection& connection, const Memory& buffer,
                           const core::Licence& licence = {});
  bool has_sendable(const Connection& connection);  // see core::Endpoint
  bool drive();                  // one bounded step; false if another thread is at it
  void count_callers(int more);  // who poll for what takes several requests
  // Drives a step if the request is still pending. kDone frees the request: its last use.
  Request::State test(Request& request, Request::Outcome& outcome);

  // Between the two, a datapath that can lets its hardware fetch messages from the memory.
  void register_memory(const Connection& connection, const Memory& registered);
  // Afterwards nobody touches it; a connection that still used it is dead.
  void release_memory(Connection& connection, const Memory& registered);
  // Frees the connection and its requests. True if it had failed or had some outstanding.
  bool close(Connection* connection);
  void fail_context(core::ContextId context, const Error& error);
  void linger(Duration at_most, bool resets_only = false);  // until closes are confirmed

  void describe(core::ContextId context, const ContextDescription& description);  // for monitors
  ContextSummary summary(core::ContextId context);
  core::Counters counters();
  // Into the sums of the process; nobody else may be inside any more.
  void add_to(Statistics& statistics) const;

 private:
  class Hold;  // the lock, held; its end re-arms the helper and speaks what was to be said
  Result<Request*> post(Connection& connection, const Memory& memory, bool sends,
                        const core::Licence& licence);
  void step(Time now);
  void flush(Time now);  // sends what a call from above has left to send
  void take_events(Time now);
  void on_event(Time now, const core::Event& event);
  void finish(Time now, Request& request, const core::Event& event);
  void report(Time now);
  void reclaim(std::span<std::byte> memory);
  void wait_until_placed(std::span<const std::byte> memory);
  Time deadline(Time now) const;
  HelperThread::Sleep on_helper_wake();

  std::mutex mutex_;
  const std::unique_ptr<datapath::Datapath> datapath_;
  const std::unique_ptr<Placer> placer_;
  Pump pump_;
  core::Endpoint& endpoint_;  // the pump's
  const std::unique_ptr<Monitor> monitor_;
  ConnectionTable connections_;
  Listeners listeners_;
  Notices notices_;
  Presence presence_;
  Failures failures_;
  Time helper_wakes_ = kNever;  // when the helper wakes by itself
  bool said_copies_ = false;
  bool helper_runs_ = false;
  bool helper_takes_part_ = false;
  HelperThread helper_;
};

}  // namespace dlcp::engine
