#include "synth/evaluate/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "synth/evaluate/waits.h"

namespace dlcp::synth {
namespace {

using Fault = std::optional<std::string>;

// One set of ranks for each rank: the contributions that its copy of one chunk contains.
class Copies {
 public:
  Copies(int ranks, int contributions)
      : words_((static_cast<std::size_t>(contributions) + 63) / 64),
        bits_(words_ * static_cast<std::size_t>(ranks)) {}

  void clear() { std::fill(bits_.begin(), bits_.end(), 0); }
  void put(int rank, int contribution) {
    at(rank)[static_cast<std::size_t>(contribution) / 64] |= std::uint64_t{1}
                                                             << (contribution % 64);
  }
  int size(int rank) const {
    int sum = 0;
    for (std::size_t i = 0; i < words_; i++)
      sum += std::popcount(at(rank)[i]);
    return sum;
  }
  bool empty(int rank) const {
    return std::all_of(
        at(rank), at(rank) + words_, [](std::uint64_t w) { return w == 0; });
  }
  std::vector<std::uint64_t> of(int rank) const { return {at(rank), at(rank) + words_}; }
  bool overlaps(int rank, const std::vector<std::uint64_t>& set) const {
    for (std::size_t i = 0; i < words_; i++)
      if ((at(rank)[i] & set[i]) != 0) return true;
    return false;
  }
  void add(int rank, const std::vector<std::uint64_t>& set) {
    for (std::size_t i = 0; i < words_; i++)
      at(rank)[i] |= set[i];
  }
  void replace(int rank, const std::vector<std::uint64_t>& set) {
    std::copy(set.begin(), set.end(), at(rank));
  }

 private:
  std::uint64_t* at(int rank) { return bits_.data() + static_cast<std::size_t>(rank) * words_; }
  const std::uint64_t* at(int rank) const {
    return bits_.data() + static_cast<std::size_t>(rank) * words_;
  }

  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

bool in(int value, std::size_t count) {
  return value >= 0 && static_cast<std::size_t>(value) < count;
}

Fault check_indices(const Schedule& s) {
  if (s.ranks < 1 || s.ranks > Topology::kRanksMax)
    return fmt::format("the schedule has {} ranks; 1 to {} are possible", s.ranks,
                       Topology::kRanksMax);
  const auto ranks = static_cast<std::size_t>(s.ranks);
  for (std::size_t i = 0; i < s.messages.size(); i++) {
    const Message& m = s.messages[i];
    if (!in(m.from, ranks) || !in(m.to, ranks))
      return fmt::format("message {} goes from rank {} to rank {} of {}", i, m.from, m.to, s.ranks);
    if (m.from == m.to) return fmt::format("message {} goes from rank {} to itself", i, m.from);
    if (m.step < 0) return fmt::format("message {} has step {}", i, m.step);
    if (m.ranges == 0) return fmt::format("message {} carries no data", i);
    for (const Range& range : s.ranges(m)) {
      if (!in(range.first, s.chunks.size()) || range.count < 1 ||
          static_cast<std::size_t>(range.count) >
              s.chunks.size() - static_cast<std::size_t>(range.first))
        return fmt::format("message {} carries chunks {} to {} of {}", i, range.first,
                           range.first + range.count - 1, s.chunks.size());
    }
  }
  return std::nullopt;
}

// Chunks with the same key (everything, a shard's owner, a pair of ranks) must fill [begin, begin +
// units).
Fault check_cover(const Schedule& s) {
  const bool pairs = s.collective == Collective::kAllToAll;
  const bool from_one = pairs || s.collective == Collective::kAllGather;
  const bool to_one = pairs || s.collective == Collective::kReduceScatter;
  std::map<std::pair<int, int>, std::vector<std::pair<int, int>>> parts;
  for (std::size_t i = 0; i < s.chunks.size(); i++) {
    const Chunk& c = s.chunks[i];
    const auto fits = [&](int rank, bool needed) {
      return needed ? in(rank, static_cast<std::size_t>(s.ranks)) : rank == -1;
    };
    if (!fits(c.source, from_one) || !fits(c.target, to_one))
      return fmt::format("chunk {} goes from rank {} to rank {}, which {} does not allow", i,
                         c.source, c.target, name_of(s.collective));
    if (c.units < 1 || c.begin < 0 || c.begin > s.units - c.units)
      return fmt::format("chunk {} has units {} to {} of {}", i, c.begin, c.begin + c.units - 1,
                         s.units);
    if (pairs && c.source == c.target)
      return fmt::format("chunk {} goes from rank {} to itself", i, c.source);
    parts[{c.source, c.target}].push_back({c.begin, c.units});
  }
  const int shard = pairs || s.collective == Collective::kAllReduce ? s.units : s.units / s.ranks;
  if (shard * (shard == s.units ? 1 : s.ranks) != s.units)
    return fmt::format("{} units cannot be divided into {} equal shards", s.units, s.ranks);
  const std::size_t n = static_cast<std::size_t>(s.ranks);
  const std::size_t keys = pairs ? n * (n - 1) : from_one || to_one ? n : 1;
  if (s.ranks > 1 && parts.size() != keys)
    return fmt::format("{} of {} shards have chunks", parts.size(), keys);
  for (auto& [key, list] : parts) {
    std::sort(list.begin(), list.end());
    int at = shard == s.units ? 0 : shard * std::max(key.first, key.second);
    const int end = at + shard;
    for (const auto& [begin, units] : list) {
      if (begin != at)
        return fmt::format("unit {} is in {} chunks", std::min(begin, at),
                           begin < at ? "two" : "no");
      at += units;
    }
    if (at != end)
      return fmt::format("unit {} is in {} chunks", std::min(at, end), at < end ? "no" : "two");
  }
  return std::nullopt;
}

// Runs the messages that carry one chunk.
class ChunkRun {
 public:
  ChunkRun(const Schedule& schedule, Copies& copies, int chunk)
      : s_(schedule),
        copies_(copies),
        index_(chunk),
        chunk_(s_.chunks[static_cast<std::size_t>(chunk)]) {
    copies_.clear();
    for (int rank = 0; rank < s_.ranks; rank++) {
      if (chunk_.source < 0) copies_.put(rank, rank);
      if (chunk_.source == rank) copies_.put(rank, 0);
    }
  }

  // `messages` are sorted by step. All messages of a step are sent before any of them arrives.
  Fault run(const std::vector<std::uint32_t>& messages) {
    for (std::size_t i = 0; i < messages.size();) {
      std::size_t end = i;
      sent_.clear();
      const int step = message(messages[i]).step;
      for (; end < messages.size() && message(messages[end]).step == step; end++) {
        const Message& m = message(messages[end]);
        if (copies_.empty(m.from))
          return fmt::format("rank {} sends chunk {} in step {} before it has it", m.from, index_,
                             m.step);
        sent_.push_back(copies_.of(m.from));
      }
      for (std::size_t k = i; k < end; k++)
        if (auto fault = arrive(message(messages[k]), sent_[k - i])) return fault;
      i = end;
    }
    return finish();
  }

 private:
  const Message& message(std::uint32_t index) const { return s_.messages[index]; }

  Fault arrive(const Message& m, const std::vector<std::uint64_t>& set) {
    const bool sums =
        s_.collective == Collective::kAllReduce || s_.collective == Collective::kReduceScatter;
    if (m.reduce) {
      if (!sums)
        return fmt::format("rank {} adds chunk {} in {}", m.to, index_, name_of(s_.collective));
      if (copies_.overlaps(m.to, set))
        return fmt::format("rank {} adds a contribution to chunk {} twice in step {}", m.to, index_,
                           m.step);
      copies_.add(m.to, set);
      return std::nullopt;
    }
    const int all = chunk_.source < 0 ? s_.ranks : 1;
    int held = 0;
    for (const std::uint64_t word : set)
      held += std::popcount(word);
    if (held != all)
      return fmt::format("rank {} copies {} of {} contributions of chunk {} in step {}", m.to, held,
                         all, index_, m.step);
    if (copies_.size(m.to) == all)
      return fmt::format("rank {} receives chunk {} in step {}, but already has it", m.to, index_,
                         m.step);
    copies_.replace(m.to, set);
    return std::nullopt;
  }

  Fault finish() const {
    const int all = chunk_.source < 0 ? s_.ranks : 1;
    for (int rank = 0; rank < s_.ranks; rank++) {
      if (chunk_.target >= 0 && chunk_.target != rank) continue;
      if (copies_.size(rank) != all)
        return fmt::format("rank {} ends with {} of {} contributions to chunk {}", rank,
                           copies_.size(rank), all, index_);
    }
    return std::nullopt;
  }

  const Schedule& s_;
  Copies& copies_;
  int index_;
  const Chunk& chunk_;
  std::vector<std::vector<std::uint64_t>> sent_;
};

Fault run_all(const Schedule& s) {
  std::vector<std::vector<std::uint32_t>> by_chunk(s.chunks.size());
  for (std::size_t i = 0; i < s.messages.size(); i++) {
    s.each_chunk(
        s.messages[i],
        [&](int chunk) {
          by_chunk[static_cast<std::size_t>(chunk)].push_back(static_cast<std::uint32_t>(i));
        });
  }
  const bool sums =
      s.collective == Collective::kAllReduce || s.collective == Collective::kReduceScatter;
  Copies copies(s.ranks, sums ? s.ranks : 1);
  for (std::size_t c = 0; c < s.chunks.size(); c++) {
    std::stable_sort(by_chunk[c].begin(), by_chunk[c].end(), [&](std::uint32_t a, std::uint32_t b) {
      return s.messages[a].step < s.messages[b].step;
    });
    if (auto fault = ChunkRun(s, copies, static_cast<int>(c)).run(by_chunk[c])) return fault;
  }
  return std::nullopt;
}

Fault check_routes(const Schedule& s, const Routes& routes) {
  if (routes.ranks() != s.ranks)
    return fmt::format("the schedule has {} ranks, but the topology {}", s.ranks, routes.ranks());
  for (const Message& m : s.messages) {
    if (!routes.adjacent(m.from, m.to))
      return fmt::format("rank {} sends to rank {}, but no path of switches connects them", m.from,
                         m.to);
  }
  return std::nullopt;
}

Fault first_fault(const Schedule& s, const Routes* routes) {
  if (auto fault = check_indices(s)) return fault;
  if (auto fault = check_cover(s)) return fault;
  if (routes != nullptr) {
    if (auto fault = check_routes(s, *routes)) return fault;
  }
  if (auto fault = run_all(s)) return fault;
  if (const auto stuck = first_waiting(s))
    return fmt::format("deadlock: message {} of rank {} to rank {} waits for itself", *stuck,
                       s.messages[*stuck].from, s.messages[*stuck].to);
  return std::nullopt;
}

}  // namespace

Verdict verify(const Schedule& schedule, const Routes* routes) {
  Verdict verdict;
  if (auto fault = first_fault(schedule, routes)) {
    verdict.why = *fault;
    return verdict;
  }
  verdict.correct = true;
  std::vector<bool> seen(static_cast<std::size_t>(schedule.ranks), schedule.ranks == 1);
  for (const Message& m : schedule.messages)
    seen[static_cast<std::size_t>(m.from)] = seen[static_cast<std::size_t>(m.to)] = true;
  verdict.ranks_taking_part = static_cast<int>(std::count(seen.begin(), seen.end(), true));
  return verdict;
}

}  // namespace dlcp::synth
