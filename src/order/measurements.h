// What is known of the distances between hosts so far: a sparse, symmetric table. One measurement
// of a pair is one burst of probes and their answers; of several, the nearest counts, as noise on a
// path only ever adds.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dlcp::order {

// `from` asks and `to` answers; both are indices of hosts.
struct Pair {
  int from = 0;
  int to = 0;
  auto operator<=>(const Pair&) const = default;
};

struct Measurement {
  bool answered = false;
  double round_trip_us = 0;  // the least of the burst; only if answered
  int hops = -1;             // routers that the answer passed, from its TTL; -1: not known
};

class Measurements {
 public:
  explicit Measurements(int hosts) : heard_(static_cast<std::size_t>(hosts)), asked_(heard_) {}

  int hosts() const { return static_cast<int>(heard_.size()); }
  void add(Pair pair, const Measurement& measurement);
  bool known(int a, int b) const { return a == b || pairs_.contains(key(a, b)); }
  // Microseconds, or nothing where the pair was not measured or did not answer. Where all answers
  // show how many routers they passed, each router counts for more than any round trip.
  std::optional<double> distance(int a, int b) const;
  std::optional<double> round_trip_us(int a, int b) const;

  // Of every pair that answered, in order of the pairs.
  std::vector<std::pair<Pair, double>> round_trips() const;

  // At least two others were asked about the host, or all there are, and none got an answer.
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
  bool hops_known_ = true;  // of every answer
};

}  // namespace dlcp::order
