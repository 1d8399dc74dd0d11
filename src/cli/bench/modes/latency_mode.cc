// lat: one message back and forth between rank 0 and rank 1; a sample is half of a round trip. The
// clock is stopped while messages are prepared and checked.

#include <algorithm>
#include <limits>

#include "cli/bench/modes/flow.h"
#include "cli/bench/modes/rest.h"
#include "cli/bench/rank/rank.h"
#include "cli/launch/clock.h"

namespace dlcp::cli {
namespace {

constexpr std::int64_t kNever =
    std::numeric_limits<std::int64_t>::max();  // the flows measure nothing

class PingPong {
 public:
  explicit PingPong(Session& session);
  void run();

 private:
  void wait_for(std::uint64_t received);
  void lead();
  void follow();
  void check_all();
  void drain();

  Session& s_;
  BenchCase c_;
  Rest rest_;
  SendFlow send_;
  RecvFlow recv_;
  double check_seconds_ = 0;
};

BenchCase with_little_in_flight(BenchCase c) {
  c.inflight = 2;  // the next receive is posted before the answer can come
  return c;
}

PingPong::PingPong(Session& session)
    : s_(session),
      c_(with_little_in_flight(session.bench_case)),
      rest_(session.bench_case),
      send_(s_.net, *s_.links.find(s_.control.rank(), 1 - s_.control.rank(), 0), c_, nullptr),
      recv_(s_.net, *s_.links.find(1 - s_.control.rank(), s_.control.rank(), 0), c_, nullptr) {}

void PingPong::wait_for(std::uint64_t received) {
  for (std::uint64_t pass = 1; recv_.received() < received; pass++) {
    bool moved = send_.step(kNever);
    moved |= recv_.step(kNever);
    if (!moved) rest_();
    if (pass % 256 == 0) s_.control.alive(recv_.received());
    if (recv_.finished()) return;
  }
}

void PingPong::check_all() {
  const std::int64_t before = now_ns();
  while (recv_.check_some())
    continue;
  check_seconds_ += static_cast<double>(now_ns() - before) * 1e-9;
}

void PingPong::lead() {
  RankResult& r = s_.result;
  const std::int64_t start = now_ns();
  const std::int64_t warm_at =
      c_.iterations > 0 ? start : start + static_cast<std::int64_t>(c_.warmup_seconds * 1e9);
  const std::int64_t end_at = warm_at + static_cast<std::int64_t>(c_.seconds * 1e9);
  double timed_ns = 0;
  CpuTime cpu_before = cpu_time();
  for (std::uint64_t i = 0;; i++) {
    send_.mark_next();
    const std::int64_t before = now_ns();
    if (c_.iterations > 0 ? i == c_.iterations : before >= end_at && r.messages > 0) break;
    send_.set_limit(i + 1);
    wait_for(i + 1);
    const std::int64_t round = now_ns() - before;
    check_all();
    if (before < warm_at && now_ns() < end_at) {
      cpu_before = cpu_time();
      check_seconds_ = 0;
      continue;
    }
    r.times.add(round / 2);
    r.messages += 2;
    timed_ns += static_cast<double>(round);
  }
  r.cpu = cpu_time() - cpu_before - CpuTime{check_seconds_, 0};
  r.seconds = timed_ns * 1e-9;
  r.bytes = r.messages * c_.size;
  send_.end();
}

void PingPong::follow() {
  CpuTime cpu_before = cpu_time();
  std::int64_t warm_at =
      c_.iterations > 0 ? 0 : now_ns() + static_cast<std::int64_t>(c_.warmup_seconds * 1e9);
  for (std::uint64_t i = 0;; i++) {
    wait_for(i + 1);
    if (recv_.received() <= i) break;  // an end marker
    send_.set_limit(i + 1);
    // Twice, because a plugin may send a message with the test that follows its post.
    for (int step = 0; step < 2; ++step)
      send_.step(kNever);
    check_all();
    if (warm_at != 0 && now_ns() >= warm_at) {
      warm_at = 0;
      cpu_before = cpu_time();
      check_seconds_ = 0;
    }
    send_.mark_next();
    if (c_.iterations > 0 && i + 1 == c_.iterations) break;
  }
  s_.result.cpu = cpu_time() - cpu_before - CpuTime{check_seconds_, 0};
  send_.end();
}

void PingPong::drain() {
  for (std::uint64_t pass = 0; !send_.idle() || !recv_.finished(); pass++) {
    send_.step(kNever);
    recv_.step(kNever);
    recv_.check_some();
    if (pass % 64 == 0) s_.control.alive(recv_.received());
    rest_();
  }
}

void PingPong::run() {
  recv_.step(kNever);  // the first receives are posted before anything is sent
  s_.control.barrier();
  if (s_.control.rank() == 0)
    lead();
  else
    follow();
  drain();
  s_.result.wrong += recv_.mismatch();
}

}  // namespace

void run_latency(Session& session) {
  PingPong(session).run();
}

}  // namespace dlcp::cli
