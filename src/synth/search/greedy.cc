#include "synth/search/greedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>

namespace dlcp::synth {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Plans an AllGather forwards in time. A plan on the network with all links reversed, played
// backwards, is a ReduceScatter.
class Gathering {
 public:
  Gathering(const Topology& topology, const Routes& routes, double chunk_bytes, int parts,
            bool backwards)
      : topology_(topology),
        routes_(routes),
        chunk_bytes_(chunk_bytes),
        backwards_(backwards),
        ranks_(topology.ranks()),
        chunks_(ranks_ * parts),
        there_(static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(chunks_), kNever),
        known_(static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(ranks_), kNever),
        holders_(static_cast<std::size_t>(chunks_), 1),
        free_(topology.links.size()),
        sends_(static_cast<std::size_t>(ranks_)),
        receives_(sends_) {
    schedule_.collective = Collective::kAllGather;
    schedule_.ranks = ranks_;
    schedule_.units = chunks_;
    for (int c = 0; c < chunks_; c++) {
      schedule_.chunks.push_back({c, 1, c / parts, -1});
      there(c / parts, c) = 0;
    }
  }

  std::optional<Schedule> run() {
    for (int from = 0; from < ranks_; from++)
      for (int to = 0; to < ranks_; to++)
        consider(from, to);
    std::vector<Transfer> taken;
    while (!open_.empty()) {
      const Transfer expected = open_.top();
      open_.pop();
      if (expected.ends > known(expected)) continue;
      known(expected) = kNever;
      // Transfers chosen since then may occupy the links, or may have brought the chunk.
      const Transfer now = best(expected.from, expected.to);
      if (now.ends > expected.ends) {
        push(now);
        continue;
      }
      take(now);
      taken.push_back(now);
      consider(now.from, now.to);
      for (int next = 0; next < ranks_; next++)
        offer(now.to, next, now.chunk);
    }
    if (taken.size() != static_cast<std::size_t>(chunks_) * static_cast<std::size_t>(ranks_ - 1))
      return std::nullopt;  // some rank cannot be reached
    // A chunk arrives before it is forwarded, so one step per message preserves the order.
    std::stable_sort(taken.begin(), taken.end(),
                     [](const Transfer& a, const Transfer& b) { return a.begins < b.begins; });
    int step = 0;
    for (const Transfer& one : taken)
      schedule_.add(step++, one.from, one.to, false, Range{one.chunk, 1});
    return std::move(schedule_);
  }

 private:
  struct Transfer {
    double ends = kNever;
    double begins = 0;
    int from = 0;
    int to = 0;
    int chunk = -1;
    bool operator>(const Transfer& other) const {
      if (ends != other.ends) return ends > other.ends;
      return from != other.from ? from > other.from : to > other.to;
    }
  };

  double& there(int rank, int chunk) {
    return there_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(chunks_) +
                  static_cast<std::size_t>(chunk)];
  }

  void consider(int from, int to) {
    if (from == to || hops(from, to).empty()) return;
    push(best(from, to));
  }

  // Call it after a chunk has become available at `from`.
  void offer(int from, int to, int chunk) {
    if (there(to, chunk) < kNever || hops(from, to).empty()) return;
    Transfer transfer{kNever, std::max(there(from, chunk), ready(from, to)), from, to, chunk};
    transfer.ends = pass(transfer, false);
    push(transfer);
  }

  void push(const Transfer& transfer) {
    if (transfer.ends >= known(transfer)) return;
    known(transfer) = transfer.ends;
    open_.push(transfer);
  }
  // The end of the best open transfer between the two ranks.
  double& known(const Transfer& transfer) {
    return known_[static_cast<std::size_t>(transfer.from) * static_cast<std::size_t>(ranks_) +
                  static_cast<std::size_t>(transfer.to)];
  }

  std::span<const int> hops(int from, int to) const {
    return backwards_ ? routes_.hops(to, from) : routes_.hops(from, to);
  }

  // The chunk that `from` can send first; of several, the one that the fewest ranks have.
  Transfer best(int from, int to) {
    Transfer transfer{kNever, kNever, from, to, -1};
    const double idle = ready(from, to);
    for (int chunk = 0; chunk < chunks_; chunk++) {
      const double begins = std::max(there(from, chunk), idle);
      if (begins == kNever || there(to, chunk) < kNever) continue;
      const bool rarer = transfer.chunk >= 0 && begins == transfer.begins &&
                         holders_[static_cast<std::size_t>(chunk)] <
                             holders_[static_cast<std::size_t>(transfer.chunk)];
      if (begins >= transfer.begins && !rarer) continue;
      transfer.begins = begins;
      transfer.chunk = chunk;
    }
    if (transfer.chunk >= 0) transfer.ends = pass(transfer, false);
    return transfer;
  }

  const Hop& hop(int from, int to, std::size_t index) const {
    const auto list = hops(from, to);
    return routes_.hop(list[backwards_ ? list.size() - 1 - index : index]);
  }

  // The time when the sender and the first links are idle.
  double ready(int from, int to) const {
    double time = sends_[static_cast<std::size_t>(from)];
    for (const LinkShare& one : hop(from, to, 0).links)
      time = std::max(time, free_[static_cast<std::size_t>(one.link)]);
    return time;
  }

  // The end of the transfer, computed as in the simulation; `take` reserves links and processors.
  double pass(const Transfer& transfer, bool take) {
    double head = transfer.begins + topology_.message, tail = head;
    const std::size_t count = hops(transfer.from, transfer.to).size();
    for (std::size_t i = 0; i < count; i++) {
      const Hop& over = hop(transfer.from, transfer.to, i);
      for (const LinkShare& one : over.links)
        head = std::max(head, free_[static_cast<std::size_t>(one.link)]);
      if (take) {
        for (const LinkShare& one : over.links)
          free_[static_cast<std::size_t>(one.link)] =
              head +
              chunk_bytes_ * one.share / topology_.links[static_cast<std::size_t>(one.link)].rate;
      }
      tail = std::max(tail, head + chunk_bytes_ * over.seconds_per_byte) + over.latency;
      head += over.latency;
    }
    double& receiver = receives_[static_cast<std::size_t>(transfer.to)];
    const double ends = std::max(tail, receiver) + topology_.message;
    if (take) {
      receiver = ends;
      sends_[static_cast<std::size_t>(transfer.from)] = transfer.begins + topology_.message;
    }
    return ends;
  }

  void take(const Transfer& transfer) {
    there(transfer.to, transfer.chunk) = pass(transfer, true);
    holders_[static_cast<std::size_t>(transfer.chunk)]++;
  }

  const Topology& topology_;
  const Routes& routes_;
  double chunk_bytes_;
  bool backwards_;
  int ranks_;
  int chunks_;
  std::vector<double> there_;             // by rank and chunk: time when it is there, or will be
  std::vector<double> known_;             // by pair
  std::vector<int> holders_;              // by chunk: ranks that have it or will have it
  std::vector<double> free_;              // by link
  std::vector<double> sends_, receives_;  // by rank: end of its processor's reservation
  std::priority_queue<Transfer, std::vector<Transfer>, std::greater<>> open_;
  Schedule schedule_;
};

}  // namespace

std::optional<Recipe> greedy(const Topology& topology, const Routes& routes, Collective collective,
                             double bytes, int parts) {
  const auto ranks = static_cast<std::size_t>(topology.ranks());
  const bool both = collective == Collective::kAllReduce;
  const std::size_t messages =
      ranks * (ranks - 1) * static_cast<std::size_t>(parts) * (both ? 2 : 1);
  if (collective == Collective::kAllToAll || ranks < 2 || messages > kGreedyMessagesMax)
    return std::nullopt;
  const double chunk_bytes = bytes / static_cast<double>(ranks) / parts;
  std::optional<Schedule> gather, back;
  if (collective != Collective::kReduceScatter) {
    gather = Gathering(topology, routes, chunk_bytes, parts, false).run();
    if (!gather) return std::nullopt;
  }
  if (collective != Collective::kAllGather) {
    back = Gathering(topology, routes, chunk_bytes, parts, true).run();
    if (!back) return std::nullopt;
    back = reversed(*back);
  }
  Recipe recipe;
  recipe.name = fmt::format("greedy for {:.0f} bytes", bytes);
  if (parts > 1) recipe.name += fmt::format(", {} parts", parts);
  recipe.family = Family::kExplicit;
  recipe.schedule = both ? all_reduce_of(*back, *gather) : back ? *back : *gather;
  return recipe;
}

}  // namespace dlcp::synth
