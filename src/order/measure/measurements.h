// The known distances between hosts: a sparse, symmetric table. One measurement of a pair is one
// burst of probes and their answers. Of several measurements the shortest counts, as noise on a
// path only adds delay.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dlcp::order {

// `from` sends probes and `to` answers; both are indices of hosts.
struct Pair {
  int from = 0;
  int to = 0;
  auto operator<=>(const Pair&) const = default;
};

struct Measurement {
  bool answered = false;
  double round_trip_us = 0;  // the minimum of the burst; only if answered
  int hops = -1;             // routers on the answer's path, from its TTL; -1: not known
};

class Measurements {
 public:
  explicit Measurements(int hosts) : heard_(static_cast<std::size_t>(hosts)), asked_(heard_) {}

  int hosts() const { return static_cast<int>(heard_.size()); }
  void add(Pair pair, const Measurement& measurement);
  bool known(int a, int b) const { return a == b || pairs_.contains(key(a, b)); }
  // In microseconds; nullopt if the pair was not measured or did not answer. If the number of
  // routers is known for all answers, each router adds more than any RTT.
  std::optional<double> distance(int a, int b) const;
  std::optional<double> round_trip_us(int a, int b) const;

  // Of all pairs that answered, in order of the pairs.
  std::vector<std::pair<Pair, double>> round_trips() const;

  // True if no probe of the host was answered, from at least two other hosts or all there are.
  bool silent(int host) const;
  std::size_t size() const { return pairs_.size(); }

 private:
  static std::uint64_t key(int a, int b) {
    const auto [low, high] = a < b ? std::pair(a, b) : std::pair(b, a);
    return static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint32_t>(high);
  }

  std::unordered_map<std::uint64_t, Measurement> pairs_;
  std::vector<int> heard_;  // by host: pairs with an answer
  std::vector<int> asked_;  // by host: pairs measured
  bool hops_known_ = true;  // for every answer
};

}  // namespace dlcp::order
