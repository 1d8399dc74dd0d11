// ring: fp32 all-reduces over a ring of ranks, driven as NCCL's proxy drives them: four slices
// under way per connection, the reduction between a slice's arrival and its departure. Values are
// integers small enough that any order of summation is exact, so every element has one right
// result. Input is made, and output compared, between the timed all-reduces.
#include <sched.h>

#include <deque>
#include <limits>

#include "cli/bench/clock.h"
#include "cli/bench/rank.h"
#include "cli/bench/reduce.h"
#include "cli/bench/ring_plan.h"
#include "cli/bench/slots.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kSlots = 4;
constexpr std::size_t kPiece = 32 * 1024;  // elements reduced between two looks at the network

// One channel's connections to both neighbours and its steps through one all-reduce.
class RingChannel {
 public:
  RingChannel(Session& s, int channel, std::size_t first, std::size_t count);

  void restart();
  bool step(const float* input, float* output);
  bool done() const { return at_ == steps_.size() && sends_.empty() && unposted() == 0; }
  std::uint64_t bytes_received() const { return bytes_; }

 private:
  bool test();
  bool post();
  bool work(const float* input, float* output);
  std::uint64_t unposted() const { return prepared_ - sent_; }

  NetPlugin& net_;
  void* send_comm_;
  void* recv_comm_;
  std::vector<RingStep> steps_;
  std::size_t slot_bytes_;
  Slots send_slots_;
  Slots recv_slots_;
  std::size_t receives_per_run_ = 0;

  std::size_t at_ = 0;         // the step under work
  std::size_t worked_ = 0;     // its elements that are done
  std::size_t send_from_ = 0;  // the step whose slice is to be handed over next
  std::deque<void*> sends_;
  std::deque<void*> recvs_;
  // Messages since the start; they number the slots.
  std::uint64_t prepared_ = 0, sent_ = 0, departed_ = 0;
  std::uint64_t posted_ = 0, arrived_ = 0, consumed_ = 0;
  std::uint64_t to_post_ = 0;
  std::uint64_t bytes_ = 0;
};

std::size_t slot_bytes_for(const std::vector<RingStep>& steps) {
  std::size_t most = 4;
  for (const RingStep& step : steps)
    most = std::max(most, step.count);
  return most * sizeof(float);
}

RingChannel::RingChannel(Session& s, int channel, std::size_t first, std::size_t count)
    : net_(s.net),
      send_comm_(
          s.links.find(s.control.rank(), (s.control.rank() + 1) % s.control.ranks(), channel)
              ->comm),
      recv_comm_(s.links
                     .find((s.control.rank() + s.control.ranks() - 1) % s.control.ranks(),
                           s.control.rank(), channel)
                     ->comm),
      steps_(plan_ring(first, count, s.control.rank(), s.control.ranks())),
      slot_bytes_(slot_bytes_for(steps_)),
      send_slots_(s.net, send_comm_, kSlots, slot_bytes_),
      recv_slots_(s.net, recv_comm_, kSlots, slot_bytes_) {
  for (const RingStep& step : steps_)
    receives_per_run_ += step.receives;
}

void RingChannel::restart() {
  at_ = worked_ = send_from_ = 0;
  to_post_ += receives_per_run_;
}

bool RingChannel::test() {
  bool moved = false;
  int done = 0;
  int bytes = 0;
  if (!recvs_.empty()) {
    require(net_.test(recvs_.front(), done, bytes), "test (receive)");
    if (done != 0) {
      recvs_.pop_front();
      arrived_++;
      bytes_ += static_cast<std::uint64_t>(bytes);
      moved = true;
    }
  }
  done = 0;
  if (!sends_.empty()) {
    require(net_.test(sends_.front(), done, bytes), "test (send)");
    if (done != 0) {
      sends_.pop_front();
      departed_++;
      moved = true;
    }
  }
  return moved;
}

bool RingChannel::post() {
  bool moved = false;
  while (posted_ < to_post_ && posted_ - consumed_ < kSlots) {
    void* request = nullptr;
    require(net_.irecv(recv_comm_, recv_slots_.at(posted_), slot_bytes_, 0, recv_slots_.mhandle(),
                       false, &request),
            "irecv");
    if (request == nullptr) break;
    recvs_.push_back(request);
    posted_++;
    moved = true;
  }
  while (unposted() > 0) {
    while (!steps_[send_from_].sends)
      send_from_++;
    void* request = nullptr;
    require(net_.isend(send_comm_, send_slots_.at(sent_), steps_[send_from_].count * sizeof(float),
                       0, send_slots_.mhandle(), &request),
            "isend");
    if (request == nullptr) break;
    sends_.push_back(request);
    sent_++;
    send_from_++;
    moved = true;
  }
  return moved;
}

bool RingChannel::work(const float* input, float* output) {
  if (at_ == steps_.size()) return false;
  const RingStep& step = steps_[at_];
  if (step.receives && arrived_ == consumed_) return false;
  if (step.sends && prepared_ - departed_ == kSlots) return false;
  const std::size_t n = std::min(kPiece, step.count - worked_);
  const std::size_t offset = step.offset + worked_;
  float* to_send =
      step.sends ? reinterpret_cast<float*>(send_slots_.at(prepared_)) + worked_ : nullptr;
  float* to_store = step.stores ? output + offset : nullptr;
  float* first = to_store != nullptr ? to_store : to_send;
  float* second = to_store != nullptr ? to_send : nullptr;
  const float* arrived = reinterpret_cast<const float*>(recv_slots_.at(consumed_)) + worked_;
  if (step.reduces)
    add_floats(first, second, arrived, input + offset, n);
  else
    copy_floats(first, second, step.receives ? arrived : input + offset, n);
  worked_ += n;
  if (worked_ < step.count) return true;
  worked_ = 0;
  at_++;
  if (step.receives) consumed_++;
  if (step.sends) prepared_++;
  return true;
}

bool RingChannel::step(const float* input, float* output) {
  bool moved = post();
  moved |= test();
  moved |= work(input, output);
  return moved;
}

class Ring {
 public:
  explicit Ring(Session& session);
  void run();

 private:
  void prepare(std::uint64_t iteration);
  void reduce_once();
  void check(std::uint64_t iteration);
  static float offset_of(std::uint64_t iteration) { return static_cast<float>(iteration % 64); }

  Session& s_;
  const BenchCase& c_;
  bool spin_;
  std::size_t count_;
  std::vector<std::int8_t> base_;  // this rank's contribution, without the iteration's offset
  std::vector<float> expected_;    // the sum of all ranks' bases
  std::vector<float> input_;
  std::vector<float> output_;
  std::vector<std::unique_ptr<RingChannel>> channels_;
};

Ring::Ring(Session& session)
    : s_(session),
      c_(session.bench_case),
      spin_(c_.spins()),
      count_(c_.size / sizeof(float)),
      base_(count_),
      expected_(count_),
      input_(count_),
      output_(count_) {
  for (int rank = 0; rank < c_.ranks; rank++) {
    const std::uint64_t key = flow_key(c_.seed, rank, rank, 0);
    for (std::size_t i = 0; i < count_; i += 8) {
      const std::uint64_t bits = mix64(key + i);
      for (std::size_t j = i; j < std::min(i + 8, count_); j++) {
        const auto value = static_cast<std::int8_t>(bits >> (8 * (j - i)));
        expected_[j] += static_cast<float>(value);
        if (rank == s_.control.rank()) base_[j] = value;
      }
    }
  }
  const auto parts = static_cast<std::size_t>(c_.channels);
  const std::size_t part = (count_ + parts - 1) / parts;
  for (std::size_t c = 0; c < parts; c++) {
    const std::size_t first = std::min(c * part, count_);
    channels_.push_back(std::make_unique<RingChannel>(s_, static_cast<int>(c), first,
                                                      std::min(part, count_ - first)));
  }
}

void Ring::prepare(std::uint64_t iteration) {
  offset_floats(input_.data(), base_.data(), offset_of(iteration), count_);
  std::fill(output_.begin(), output_.end(), std::numeric_limits<float>::quiet_NaN());
  for (auto& channel : channels_)
    channel->restart();
}

void Ring::reduce_once() {
  for (std::uint64_t pass = 0;; pass++) {
    bool moved = false;
    bool done = true;
    for (auto& channel : channels_) {
      moved |= channel->step(input_.data(), output_.data());
      done &= channel->done();
    }
    if (done) return;
    if (!moved && !spin_) sched_yield();
    if (pass % 64 != 0) continue;
    std::uint64_t bytes = 0;
    for (auto& channel : channels_)
      bytes += channel->bytes_received();
    s_.control.alive(bytes);
  }
}

void Ring::check(std::uint64_t iteration) {
  if (!c_.check) return;
  const float offset = offset_of(iteration) * static_cast<float>(c_.ranks);
  const std::size_t wrong = count_unequal(output_.data(), expected_.data(), offset, count_);
  s_.result.wrong += Mismatch{wrong * sizeof(float), wrong};
}

void Ring::run() {
  RankResult& r = s_.result;
  std::int64_t warm_at = 0;
  std::int64_t end_at = 0;
  std::uint64_t bytes_before = 0;
  for (std::uint64_t i = 0;; i++) {
    prepare(i);
    const std::int64_t now = now_ns();
    if (i == 0) {
      warm_at = now + static_cast<std::int64_t>(c_.warmup_seconds * 1e9);
      end_at = warm_at + static_cast<std::int64_t>(c_.seconds * 1e9);
    }
    // The first is always a warm-up. 0: stop, 1: not counted, 2: counted.
    std::uint64_t what = i == 0 ? 1 : 2;
    if (c_.iterations > 0 ? i > c_.iterations : (now >= end_at && r.messages > 0)) what = 0;
    if (c_.iterations == 0 && now < warm_at) what = 1;
    // Ranks that wait for each other here would not notice a peer's death through the plugin.
    what = c_.kill_rank < 0 ? s_.control.agree(what) : 2;
    if (what == 0) break;
    const double cpu = cpu_seconds();
    const std::int64_t start = now_ns();
    reduce_once();
    const std::int64_t took = now_ns() - start;
    const double cpu_used = cpu_seconds() - cpu;
    std::uint64_t bytes = 0;
    for (auto& channel : channels_)
      bytes += channel->bytes_received();
    if (what == 2) {
      r.times.add(took);
      r.seconds += static_cast<double>(took) * 1e-9;
      r.cpu_seconds += cpu_used;
      r.messages++;
      r.bytes += bytes - bytes_before;
    }
    bytes_before = bytes;
    check(i);
  }
}

}  // namespace

void run_ring(Session& session) {
  Ring(session).run();
}

}  // namespace dlcp::cli
