#include "whatif/steps/steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "util/statistics/median.h"

namespace dlcp::whatif {
namespace {

constexpr std::size_t kPeriodMax = 4096;
constexpr double kAgreementMin = 0.8;  // below this nothing repeats
// A longer period must explain this much more, or the shorter one is taken.
constexpr double kAgreementTie = 0.005;
// A pause between equal sequences begins a step if it is this much longer than the median pause.
constexpr std::int64_t kLongPauseFactor = 3;
constexpr std::int64_t kLongPauseMin = 100'000;  // ns
constexpr std::size_t kMultipleMax = 256;        // equal sequences of a step
constexpr std::size_t kRepeatsMin = 4;           // steps, to trust a multiple

std::vector<std::size_t> by_call(const Run& run) {
  std::vector<std::size_t> order(run.records.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Record &x = run.records[a], &y = run.records[b];
    return std::tie(x.enqueued_ns, x.start_ns, x.sequence) <
           std::tie(y.enqueued_ns, y.start_ns, y.sequence);
  });
  return order;
}

// A small number for each combination of communicator, kind and size.
std::vector<std::uint32_t> signatures(const Run& run, const std::vector<std::size_t>& order) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> known;
  std::vector<std::uint32_t> all;
  for (const std::size_t i : order) {
    const Record& r = run.records[i];
    const auto next = static_cast<std::uint32_t>(known.size());
    all.push_back(known.try_emplace({r.communicator, r.kind, r.bytes}, next).first->second);
  }
  return all;
}

// The time before each collective in which none was in flight; 0 if there was none.
std::vector<std::int64_t> pauses(const Run& run, const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> all;
  std::int64_t ended = order.empty() ? 0 : run.records[order[0]].start_ns;
  for (const std::size_t i : order) {
    all.push_back(std::max<std::int64_t>(0, run.records[i].start_ns - ended));
    ended = std::max(ended, run.records[i].end_ns);
  }
  return all;
}

void find_period(const std::vector<std::uint32_t>& signature, Steps& steps) {
  const std::size_t n = signature.size();
  double best = kAgreementMin;
  std::vector<double> agreement(std::min(n / 2, kPeriodMax) + 1);
  for (std::size_t period = 1; period < agreement.size(); period++) {
    std::size_t equal = 0;
    for (std::size_t i = period; i < n; i++)
      equal += signature[i] == signature[i - period] ? 1 : 0;
    agreement[period] = static_cast<double>(equal) / static_cast<double>(n - period);
    best = std::max(best, agreement[period]);
    if (equal == n - period) break;
  }
  for (std::size_t period = 1; period < agreement.size(); period++) {
    if (agreement[period] < best - kAgreementTie) continue;
    steps.collectives = period;
    steps.agreement = agreement[period];
    return;
  }
}

struct Phase {
  std::size_t position = 0;        // in the period
  std::int64_t median_pause = -1;  // before this position, ns
};

// The position before which the median pause is longest.
Phase find_phase(const std::vector<std::int64_t>& pause, std::size_t period) {
  Phase longest;
  std::vector<std::int64_t> before;
  for (std::size_t at = 0; at < period; at++) {
    before.clear();
    for (std::size_t i = at == 0 ? period : at; i < pause.size(); i += period)
      before.push_back(pause[i]);
    if (const std::int64_t middle = median(before); middle > longest.median_pause)
      longest = {at, middle};
  }
  return longest;
}

// A step may consist of several equal sequences, for example of buckets of one size. Then no
// position of the sequence has a long pause, but one of a multiple does. Returns that multiple,
// or 1.
std::size_t find_multiple(const std::vector<std::int64_t>& pause, std::size_t period) {
  const std::int64_t usual = median(pause);
  const std::int64_t least = std::max(usual * kLongPauseFactor, usual + kLongPauseMin);
  if (find_phase(pause, period).median_pause > least) return 1;
  for (std::size_t m = 2; m <= kMultipleMax && m * period * kRepeatsMin <= pause.size(); m++)
    if (find_phase(pause, m * period).median_pause > least) return m;
  return 1;
}

}  // namespace

Steps find_steps(const Run& run) {
  Steps steps;
  steps.order = by_call(run);
  find_period(signatures(run, steps.order), steps);
  if (steps.collectives == 0) return steps;
  const auto pause = pauses(run, steps.order);
  steps.collectives *= find_multiple(pause, steps.collectives);
  const std::size_t phase = find_phase(pause, steps.collectives).position;
  for (std::size_t at = phase; at <= steps.order.size(); at += steps.collectives)
    steps.begins.push_back(at);
  return steps;
}

}  // namespace dlcp::whatif
