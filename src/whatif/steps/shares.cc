#include "whatif/steps/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace dlcp::whatif {
namespace {

constexpr double kNs = 1e-9;

using Key = std::pair<std::uint64_t, std::uint64_t>;  // communicator's ID, sequence
using Shortest = std::map<Key, std::int64_t>;

bool synchronises(const std::string& function) {
  return function == "AllReduce" || function == "AllGather" || function == "ReduceScatter";
}

Key key_of(const Run& run, const Record& record) {
  return {run.communicators[record.communicator].id, record.sequence};
}

Shortest shortest_durations(std::span<const Run> runs) {
  Shortest shortest;
  for (const Run& run : runs)
    for (const Record& record : run.records) {
      if (!synchronises(run.kinds[record.kind].function)) continue;
      const auto [at, added] = shortest.try_emplace(key_of(run, record), record.duration_ns());
      if (!added) at->second = std::min(at->second, record.duration_ns());
    }
  return shortest;
}

struct Interval {
  std::int64_t begin;
  std::int64_t end;
};

// The length of the union of intervals, each limited to `within`.
std::int64_t covered(std::vector<Interval>& intervals, Interval within) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::int64_t sum = 0;
  std::int64_t reached = within.begin;
  for (const Interval& one : intervals) {
    const std::int64_t begin = std::max(one.begin, reached);
    const std::int64_t end = std::min(one.end, within.end);
    if (end > begin) sum += end - begin;
    reached = std::max(reached, end);
  }
  return sum;
}

class RankReader {
 public:
  RankReader(const Run& run, const Shortest& shortest, std::map<Shape, std::size_t>& shapes)
      : run_(run), shortest_(shortest), shapes_(shapes), steps_(find_steps(run)) {}

  RankShares read() {
    RankShares shares;
    shares.rank = run_.rank;
    shares.collectives = steps_.collectives;
    shares.agreement = steps_.agreement;
    if (run_.records.empty()) return shares;
    if (steps_.count() < 2) {  // too few to leave one out
      shares.collectives = 0;
      shares.steps.push_back(step(0, steps_.order.size(), first_start()));
    } else {
      // The first step is left out: nothing shows when its computation began.
      for (std::size_t i = 1; i < steps_.count(); i++)
        shares.steps.push_back(step(steps_.begins[i], steps_.begins[i + 1],
                                    last_end(steps_.begins[i - 1], steps_.begins[i])));
    }
    std::int64_t in_flight = 0, blocked = 0, overlap = 0;
    for (const Record& record : run_.records) {
      in_flight += record.duration_ns();
      blocked += std::min(record.blocked_ns, record.duration_ns());
      overlap += std::min(record.overlap_ns, record.duration_ns());
    }
    if (in_flight > 0) {
      shares.blocked = static_cast<double>(blocked) / static_cast<double>(in_flight);
      shares.concurrent = static_cast<double>(overlap) / static_cast<double>(in_flight);
    }
    return shares;
  }

 private:
  const Record& at(std::size_t position) const { return run_.records[steps_.order[position]]; }

  std::int64_t first_start() const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const Record& record : run_.records)
      first = std::min(first, record.start_ns);
    return first;
  }

  std::int64_t last_end(std::size_t begin, std::size_t end) const {
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = begin; i < end; i++)
      last = std::max(last, at(i).end_ns);
    return last;
  }

  std::size_t shape_of(const Record& record) {
    const Kind& kind = run_.kinds[record.kind];
    const Shape shape{kind.function, kind.type, kind.algorithm,
                      run_.communicators[record.communicator].ranks, record.bytes};
    return shapes_.try_emplace(shape, shapes_.size()).first->second;
  }

  // From `previous_end`, the end of the step before, to the end of this one's last collective.
  StepShare step(std::size_t begin, std::size_t end, std::int64_t previous_end) {
    const Interval whole{previous_end, std::max(previous_end, last_end(begin, end))};
    std::vector<Interval> in_flight, transferring;
    StepShare share;
    for (std::size_t i = begin; i < end; i++) {
      const Record& record = at(i);
      const std::int64_t transfer = synchronises(run_.kinds[record.kind].function)
                                        ? shortest_.at(key_of(run_, record))
                                        : record.duration_ns();
      in_flight.push_back({record.start_ns, record.end_ns});
      transferring.push_back({record.end_ns - transfer, record.end_ns});
      share.transfers.push_back({shape_of(record), static_cast<double>(transfer) * kNs});
    }
    const std::int64_t busy = covered(in_flight, whole);
    const std::int64_t network = covered(transferring, whole);
    share.compute = static_cast<double>(whole.end - whole.begin - busy) * kNs;
    share.waiting = static_cast<double>(busy - network) * kNs;
    share.network = static_cast<double>(network) * kNs;
    return share;
  }

  const Run& run_;
  const Shortest& shortest_;
  std::map<Shape, std::size_t>& shapes_;
  Steps steps_;
};

double log2_up(std::uint32_t ranks) {
  return std::ceil(std::log2(static_cast<double>(ranks)));
}

}  // namespace

double Shape::rounds() const {
  const double others = ranks - 1.0;
  if (ranks < 2) return 0;
  const bool collnet = algorithm.starts_with("COLLNET");
  const bool logarithmic = algorithm == "TREE" || algorithm == "PAT" || algorithm == "NVLS_TREE";
  if (function == "AllReduce") return collnet ? 2 : logarithmic ? 2 * log2_up(ranks) : 2 * others;
  if (function == "AllGather" || function == "ReduceScatter" || function == "Broadcast" ||
      function == "Reduce")
    return collnet ? 1 : logarithmic ? log2_up(ranks) : others;
  return 1;
}

double Shape::wire_bytes() const {
  const double size = static_cast<double>(bytes);
  if (ranks < 2) return 0;
  const double share = (ranks - 1.0) / ranks;
  if (function == "AllReduce") return 2 * share * size;
  if (function == "AllGather" || function == "ReduceScatter") return share * size;
  return size;
}

Shares measure_shares(std::span<const Run> runs) {
  const Shortest shortest = shortest_durations(runs);
  std::map<Shape, std::size_t> shapes;
  Shares shares;
  for (const Run& run : runs)
    shares.ranks.push_back(RankReader(run, shortest, shapes).read());
  shares.shapes.resize(shapes.size());
  for (const auto& [shape, index] : shapes)
    shares.shapes[index] = shape;
  return shares;
}

}  // namespace dlcp::whatif
