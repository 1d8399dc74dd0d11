// Hosts with the real protocol (core::Endpoint) on a simulated network, in simulated time. It plays
// the engine (the loop) and the application (posts, accepts, closes) of every host; the ledger
// watches.
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

// How a host's processor treats us. Lengths are means, drawn anew each time.
struct HostModel {
  Duration packet_cost{};   // processor time per packet, in or out
  Duration pause_every{};   // the application posts and closes nothing for pause_length;
  Duration pause_length{};  // acknowledgements and timers go on (the engine's helper thread)
  Duration freeze_every{};  // nothing of the process runs for freeze_length
  Duration freeze_length{};
};

struct WorldConfig {
  datapath::sim::NetworkConfig network;
  core::Config core;  // MTU, paths and receive capacity are taken from the hosts
  HostModel host;
  std::uint64_t seed = 1;
  bool gradients = false;  // messages hold gradients, not random words (content.h)
  // What each host was given as DLCP_SECRET_FILE.
  std::function<wire::Key(HostIndex)> site_secret;
  // Last word on one host's configuration.
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
  // One more message: posted on both sides as soon as the connection takes it, but not before the
  // times given. The receive's buffer is larger than the message by `spare`.
  Message& transfer(std::size_t flow, std::size_t bytes, Time send_at = {}, Time receive_at = {},
                    std::size_t spare = 0);
  // One more whose content is provided later; it is sent then. The receive is posted at once.
  Message& transfer_later(std::size_t flow, std::size_t bytes);
  void provide(std::size_t flow, std::size_t message, std::span<const std::byte> content);
  // The same, and its receive is posted later too, by expect().
  Message& transfer_unexpected(std::size_t flow, std::size_t bytes);
  void expect(std::size_t flow, std::size_t message, const core::Licence& licence);
  void close_sender(std::size_t flow);
  void close_receiver(std::size_t flow);

  // The host stops without a word.
  void kill(HostIndex host);
  // Nothing of its process runs for so long (SIGSTOP, a paused container).
  void freeze(HostIndex host, Duration length);
  // Sees every datagram before its host does, may change it, and may keep it back (false).
  using Filter = std::function<bool(HostIndex to, std::vector<std::byte>& datagram)>;
  void set_filter(const Filter& filter);
  // As if the datagram had arrived at the host, from its peer if nothing else is said; passes no
  // filter.
  void deliver(HostIndex host, std::span<const std::byte> datagram,
               const wire::HostAddress& source = {});
  // The keys of all connections; knows those that were opened while a filter was set.
  KeyRing& keys() { return keys_; }
  // Of the listener of that number: the n-th flow's has number n.
  const wire::Invitation& invitation(std::uint32_t number) { return invitations_[number - 1]; }

  bool step(Time limit);  // to the next thing that happens; false when that is after the limit
  void run_until(Time limit);
  void run_for(Duration duration) { run_until(now() + duration); }
  bool run_until(Time limit, const std::function<bool()>& reached);
  // Until every transfer has ended, and every close; a violation if that takes longer than `limit`.
  void finish(Duration limit);
  bool finished();

  std::uint64_t event_hash() const {
    return datapath::sim::mix(network_.event_hash(), ledger_.hash());
  }
  std::uint64_t sum(core::Counter counter);  // over all hosts
  std::string describe();                    // what is unfinished, and the counters
  // The last packets and decisions of all hosts, in the order in which they were; no payload.
  std::string trace() const;

 private:
  class Host;
  bool advance(Time limit);
  // Throws it again with what went before, once.
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
