// The sockets around collective/switchml/aggregator/switch_aggregator: worker i sends to port P +
// i, which identifies it, and receives its answers from that port. The first packet at a port fixes
// the worker's address. Another source port of the same address is a restarted worker; another
// address is a stranger, unless the worker has been silent for `keep_for_s`: the next job may run
// on other hosts.
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collective/switchml/aggregator/switch_aggregator.h"
#include "util/result.h"
#include "util/rng.h"
#include "util/system/fd.h"
#include "util/time.h"

namespace dlcp::cli {

struct ServerOptions {
  collective::AggregatorTerms terms;
  std::uint16_t port = collective::kSwitchPortBase;
  double drop = 0;  // share of the packets dropped here on purpose, in each direction
  // A worker sends nothing between two sums, for example while its job writes a checkpoint.
  double keep_for_s = 120;
};

// A UDP socket with large buffers, on all addresses of the host or on the loopback address only.
Result<Fd> open_udp_socket(std::uint16_t port, bool loopback_only);

class AggregatorServer {
 public:
  struct Counts {
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;    // on purpose
    std::uint64_t strangers = 0;  // packets from addresses that belong to no worker
  };

  static Result<AggregatorServer> open(const ServerOptions& options, bool loopback_only);

  // Answers packets that arrive within `wait`; returns how many arrived.
  std::size_t serve(Duration wait);

  // Lines for the user since the last call: why packets are ignored.
  std::string take_news() { return std::exchange(news_, {}); }

  const Counts& counts() const { return counts_; }
  const collective::SwitchAggregator& aggregator() const { return aggregator_; }

 private:
  struct Worker {
    Fd socket;
    sockaddr_in6 address{};  // IPv4 in IPv6 form; family 0: has not sent yet
    in6_pktinfo own{};       // the address of this host that it sends to
    std::chrono::steady_clock::time_point heard_at{};
    bool has_stranger = false;  // told since the worker has this address
  };

  explicit AggregatorServer(const ServerOptions& options)
      : drop_(options.drop), keep_for_s_(options.keep_for_s), aggregator_(options.terms) {}

  bool receive(unsigned index);
  bool knows(unsigned index, const sockaddr_in6& from);
  void tell_unsound(const sockaddr_in6& from, std::span<const std::byte> packet);
  void answer(Worker& worker);

  double drop_;
  double keep_for_s_;
  Rng rng_{1};
  collective::SwitchAggregator aggregator_;
  std::vector<Worker> workers_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(2048);
  std::chrono::steady_clock::time_point now_{};
  std::string news_;
  Counts counts_;
};

}  // namespace dlcp::cli
