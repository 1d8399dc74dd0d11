// bw, incast, alltoall: every connection sends messages as fast as the plugin takes them. A sender
// stops by the clock and then sends end markers. The receivers measure from the last message of the
// warm-up to the last message.
//
// abort: fills the same connections and then does what NCCL does when a communicator is aborted:
// deregisters and frees the memory while requests are outstanding, closes, finalizes, unloads. Run
// it under AddressSanitizer, which finds a plugin that touches the freed memory.

#include "cli/bench/modes/flow.h"
#include "cli/bench/modes/rest.h"
#include "cli/bench/rank/rank.h"
#include "cli/launch/clock.h"

namespace dlcp::cli {
namespace {

// Steps of connections between two looks at the clock. With many ranks on few cores one step takes
// milliseconds, because each drives the whole engine.
constexpr std::size_t kStepsPerLook = 64;

class Stream {
 public:
  explicit Stream(Session& session);
  void run();
  void abort();

 private:
  void begin();
  bool step_all();
  void housekeep();
  bool done() const;
  bool check(RecvFlow& flow);
  void note_arrival();
  void report();

  Session& s_;
  const BenchCase& c_;
  std::vector<std::unique_ptr<SendFlow>> sends_;
  std::vector<std::unique_ptr<RecvFlow>> recvs_;
  Rest rest_;
  bool ending_ = false;
  std::int64_t warm_at_ = 0;
  std::int64_t end_at_ = 0;
  bool warm_ = false;  // the warm-up is over; the values below are those at its end
  std::int64_t first_at_ = 0;
  std::int64_t last_at_ = 0;
  std::uint64_t received_ = 0;  // messages on all connections
  std::uint64_t first_count_ = 0;
  CpuTime first_cpu_;
  double check_seconds_ = 0;
};

Stream::Stream(Session& session) : s_(session), c_(session.bench_case), rest_(session.bench_case) {
  for (Link& link : s_.links.all()) {
    auto* times = c_.one_host ? s_.control.shared().times(link.number) : nullptr;
    if (link.sends(s_.control.rank()))
      sends_.push_back(std::make_unique<SendFlow>(s_.net, link, c_, times, s_.nccl));
    else
      recvs_.push_back(std::make_unique<RecvFlow>(s_.net, link, c_, times, s_.nccl));
  }
}

void Stream::begin() {
  const std::uint64_t limit = c_.iterations > 0 ? c_.iterations : kNoLimit;
  for (auto& flow : sends_)
    flow->set_limit(limit);
  for (auto& flow : recvs_)
    flow->set_limit(limit);
  const std::int64_t ready_at = now_ns();
  s_.control.barrier();
  const std::int64_t now = now_ns();
  const double warmup = c_.iterations > 0 ? 0 : c_.warmup_seconds;
  // Without a warm-up every message counts, also those that another rank has sent before this rank
  // reads the clock.
  warm_at_ = warmup > 0 ? now + static_cast<std::int64_t>(warmup * 1e9) : ready_at;
  end_at_ = now + static_cast<std::int64_t>((warmup + c_.seconds) * 1e9);
  first_at_ = last_at_ = now;
  first_cpu_ = cpu_time();
}

bool Stream::check(RecvFlow& flow) {
  if (!flow.unchecked()) return false;
  const double before = thread_cpu_seconds();
  flow.check_some();
  check_seconds_ += thread_cpu_seconds() - before;
  return true;
}

bool Stream::step_all() {
  bool moved = false;
  for (auto& flow : sends_)
    moved |= flow->step(warm_at_);
  const std::uint64_t before = received_;
  for (auto& flow : recvs_) {
    const std::uint64_t had = flow->received();
    moved |= flow->step(warm_at_);
    received_ += flow->received() - had;
    if (flow->starved()) check(*flow);
  }
  if (received_ != before) note_arrival();
  return moved;
}

void Stream::note_arrival() {
  last_at_ = now_ns();
  warm_ |= last_at_ >= warm_at_;
  if (warm_) return;
  first_at_ = last_at_;
  first_count_ = received_;
  first_cpu_ = cpu_time();
  check_seconds_ = 0;
}

void Stream::housekeep() {
  const std::int64_t now = now_ns();
  std::uint64_t bytes = 0;
  for (const auto& flow : recvs_)
    bytes += flow->received() * c_.size;
  if (recvs_.empty()) {
    for (const auto& flow : sends_)
      bytes += flow->posted();  // progress; the unit does not matter
    if (!warm_ && now >= warm_at_) {
      warm_ = true;
      first_cpu_ = cpu_time();
    }
  }
  s_.control.alive(bytes);
  if (!ending_ && c_.iterations == 0 && now >= end_at_) {
    ending_ = true;
    for (auto& flow : sends_)
      flow->end();
  }
}

bool Stream::done() const {
  for (const auto& flow : sends_)
    if (!flow->idle()) return false;
  for (const auto& flow : recvs_)
    if (!flow->finished()) return false;
  return true;
}

void Stream::run() {
  begin();
  const std::size_t flows = sends_.size() + recvs_.size();
  std::size_t steps = kStepsPerLook;
  while (!done()) {
    bool moved = step_all();
    if (!moved) {
      for (auto& flow : recvs_)
        if ((moved = check(*flow))) break;
    }
    if (!moved) rest_();
    steps += flows;
    if (steps < kStepsPerLook) continue;
    steps = 0;
    housekeep();
  }
  report();
}

void Stream::report() {
  RankResult& r = s_.result;
  r.cpu = cpu_time() - first_cpu_ - CpuTime{check_seconds_, 0};
  if (!recvs_.empty()) {
    r.seconds = static_cast<double>(last_at_ - first_at_) * 1e-9;
    r.messages = received_ - first_count_;
    r.bytes = r.messages * c_.size;
  }
  for (auto& flow : recvs_) {
    while (flow->check_some())
      continue;
    r.wrong += flow->mismatch();
    r.times.merge(flow->times());
  }
  for (const auto& flow : sends_)
    r.times.merge(flow->times());
}

void Stream::abort() {
  for (auto& flow : sends_)
    flow->set_limit(kNoLimit);
  s_.control.barrier();
  // Ranks abort at different times, as they do in a real job.
  const std::uint64_t rank = static_cast<unsigned>(s_.control.rank());
  const std::int64_t stop_at =
      now_ns() + 20'000'000 + static_cast<std::int64_t>(mix64(c_.seed + 7 * rank) % 20'000'000);
  try {
    while (now_ns() < stop_at)
      step_all();
  } catch (const BenchError&) {
    // The peer aborted first; that is expected.
  }
  for (auto& flow : sends_)
    s_.result.messages += flow->posted();
  for (auto& flow : recvs_)
    s_.result.bytes += flow->received() * c_.size;
  for (auto& flow : sends_)
    flow->slots().release();
  for (auto& flow : recvs_)
    flow->slots().release();
}

}  // namespace

void run_stream(Session& session) {
  Stream stream(session);
  if (session.bench_case.mode == Mode::kAbort)
    stream.abort();
  else
    stream.run();
}

}  // namespace dlcp::cli
