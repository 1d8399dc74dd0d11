// Hosts with the real protocol (core::Endpoint) on a simulated network, in simulated time. World
// takes the roles of the engine (the loop) and of every host's application (posts, accepts,
// closes); the ledger checks the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/endpoint.h"
#include "datapath/sim/network.h"
#include "key_ring.h"
#include "ledger.h"
#include "util/rng.h"

namespace dlcp::test {

// How much processor time a host gives to the transport. Lengths are means; each pause draws its
// own.
struct HostModel {
  Duration packet_cost{};   // processor time per packet, in or out
  Duration pause_every{};   // the application posts and closes nothing for pause_length;
  Duration pause_length{};  // acknowledgements and timers go on (the engine's helper thread)
  Duration freeze_every{};  // the whole process stops for freeze_length
  Duration freeze_length{};
};

struct WorldConfig {
  datapath::sim::NetworkConfig network;
  core::Config core;  // MTU, paths and receive capacity are taken from the hosts
  HostModel host;
  std::uint64_t seed = 1;
  bool gradients = false;  // messages hold gradients, not random words (content.h)
  // The content of each host's DLCP_SECRET_FILE.
  std::function<wire::Key(HostIndex)> site_secret;
  // Final changes to one host's configuration.
  std::function<void(HostIndex, core::Config&)> adjust;
};

class World {
 public:
  explicit World(WorldConfig config);
  ~World();

  Time now() { return network_.events().now(); }
  datapath::sim::Network& network() { return network_; }
  core::Endpoint& endpoint(HostIndex host);
  Ledger& ledger() { return ledger_; }
  Flow& flow(std::size_t index) { return ledger_.flows()[index]; }

  // A connection from one host to another; contexts are per host. Returns its index.
  std::size_t open_flow(HostIndex from, HostIndex to, core::ContextId context = 1);
  // The sender of the flow tells its listener that it will not connect.
  void decline(std::size_t flow, const core::Refusal& why);
  // One more message: posted on both sides as soon as the connection accepts it, but not before the
  // given times. The receive's buffer is larger than the message by `spare`.
  Message& transfer(std::size_t flow, std::size_t bytes, Time send_at = {}, Time receive_at = {},
                    std::size_t spare = 0);
  // One more message whose content is provided later and sent then. The receive is posted at once.
  Message& transfer_later(std::size_t flow, std::size_t bytes);
  void provide(std::size_t flow, std::size_t message, std::span<const std::byte> content);
  // The same, but its receive is posted later too, by expect().
  Message& transfer_unexpected(std::size_t flow, std::size_t bytes);
  void expect(std::size_t flow, std::size_t message, const core::Licence& licence);
  void close_sender(std::size_t flow);
  void close_receiver(std::size_t flow);

  // The host stops without sending anything.
  void kill(HostIndex host);
  // The host's process stops for this time (SIGSTOP, a paused container).
  void freeze(HostIndex host, Duration length);
  // Called with every datagram before its host receives it; may change it, or drop it (false).
  using Filter = std::function<bool(HostIndex to, std::vector<std::byte>& datagram)>;
  void set_filter(const Filter& filter);
  // Delivers the datagram to the host, from its peer unless a source is given; passes no filter.
  void deliver(HostIndex host, std::span<const std::byte> datagram,
               const wire::HostAddress& source = {});
  // The keys of all connections that were opened while a filter was set.
  KeyRing& keys() { return keys_; }
  // The invitation of a listener by number: the n-th flow's listener has number n.
  const wire::Invitation& invitation(std::uint32_t number) { return invitations_[number - 1]; }

  bool step(Time limit);  // to the next event; false if that is after the limit
  void run_until(Time limit);
  void run_for(Duration duration) { run_until(now() + duration); }
  bool run_until(Time limit, const std::function<bool()>& reached);
  // Runs until every transfer and every close has ended; a violation if that takes longer than
  // `limit`.
  void finish(Duration limit);
  bool finished();

  std::uint64_t event_hash() const {
    return datapath::sim::mix(network_.event_hash(), ledger_.hash());
  }
  std::uint64_t sum(core::Counter counter);  // over all hosts
  std::string describe();                    // unfinished requests, and the counters
  // The last packets and decisions of all hosts in order of time, without payload.
  std::string trace() const;

 private:
  class Host;
  bool advance(Time limit);
  void watch(HostIndex host, datapath::sim::SimPlacer& card);
  // Throws it again with the trace added, once.
  [[noreturn]] void explain(const Violation& violation);
  void check_counters();

  WorldConfig config_;
  datapath::sim::Network network_;
  Ledger ledger_;
  std::vector<std::unique_ptr<Host>> hosts_;
  KeyRing keys_;
  std::vector<wire::Invitation> invitations_;
  Time last_step_at_;
  std::size_t steps_at_this_time_ = 0;
};

}  // namespace dlcp::test
