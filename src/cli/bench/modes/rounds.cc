#include "cli/bench/modes/rounds.h"

#include "cli/launch/clock.h"

namespace dlcp::cli {
namespace {

constexpr std::uint64_t kStop = 0;
constexpr std::uint64_t kUncounted = 1;
constexpr std::uint64_t kCounted = 2;

// With --kill-rank the ranks must detect the death through the plugin, so they do not wait for each
// other here.
std::uint64_t agree(Session& session, std::uint64_t what) {
  return session.bench_case.kill_rank < 0 ? session.control.agree(what) : kCounted;
}

}  // namespace

void run_rounds(Session& session, Round& round) {
  const BenchCase& c = session.bench_case;
  RankResult& r = session.result;
  std::int64_t warm_at = 0;
  std::int64_t end_at = 0;
  for (std::uint64_t i = 0;; i++) {
    round.prepare(i);
    const std::int64_t now = now_ns();
    if (i == 0) {
      warm_at = now + static_cast<std::int64_t>(c.warmup_seconds * 1e9);
      end_at = warm_at + static_cast<std::int64_t>(c.seconds * 1e9);
    }
    // The first round is always a warm-up.
    std::uint64_t what = i == 0 ? kUncounted : kCounted;
    if (c.iterations > 0 ? i > c.iterations : (now >= end_at && r.messages > 0)) what = kStop;
    if (c.iterations == 0 && now < warm_at) what = kUncounted;
    what = agree(session, what);
    if (what == kStop) break;
    const std::uint64_t bytes = round.bytes_received();
    const CpuTime cpu = cpu_time();
    const std::int64_t start = now_ns();
    round.execute();
    const std::int64_t took = now_ns() - start;
    if (what == kCounted) {
      r.times.add(took);
      r.seconds += static_cast<double>(took) * 1e-9;
      r.cpu += cpu_time() - cpu;
      r.messages++;
      r.bytes += round.bytes_received() - bytes;
    }
    round.drain();
    // Check only after all ranks are done: the check takes processor time from ranks that still
    // run.
    agree(session, what);
    round.check(i);
  }
}

}  // namespace dlcp::cli
