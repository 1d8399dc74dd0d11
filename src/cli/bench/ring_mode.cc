// ring: fp32 all-reduces over a ring of ranks, driven as NCCL's proxy drives them: four slices
// under way per connection, the reduction between a slice's arrival and its departure. Values are
// integers small enough that any order of summation is exact, so every element has one right
// result. Input is made, and output compared, between the timed all-reduces.
#include <sched.h>

#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "cli/bench/nccl_part.h"
#include "cli/bench/reduce.h"
#include "cli/bench/ring_channel.h"
#include "cli/bench/ring_losses.h"
#include "cli/bench/rounds.h"

namespace dlcp::cli {
namespace {

// A part of the vector that is reduced in one all-reduce, as a framework reduces some of a model's
// layers.
struct Layer {
  std::size_t count = 0;
  std::vector<std::unique_ptr<RingChannel>> channels;
};

class Ring final : public Round {
 public:
  explicit Ring(Session& session);

  void prepare(std::uint64_t iteration) override;
  void execute() override;
  void check(std::uint64_t iteration) override;
  std::uint64_t bytes_received() const override {
    return sum(std::mem_fn(&RingChannel::bytes_received));
  }

 private:
  RingHop hop(int channel) const;
  std::vector<std::unique_ptr<RingChannel>> cut(std::size_t begin, std::size_t end) const;
  void begin(Layer& layer);
  void reduce(Layer& layer);
  template <class Value>
  std::uint64_t sum(Value value) const;
  void check_losses(std::uint64_t iteration);
  static float offset_of(std::uint64_t iteration) { return static_cast<float>(iteration % 64); }
  static float factor_of(std::uint64_t iteration) { return static_cast<float>(iteration % 3 + 1); }

  Session& s_;
  const BenchCase& c_;
  bool spin_;
  std::size_t count_;
  std::vector<std::int8_t> base_;  // this rank's contribution, without the iteration's offset
  std::vector<float> expected_;    // the sum of all ranks' bases
  std::vector<float> scale_;       // --loss-budget: what both are multiplied by, instead
  std::uint64_t lost_before_ = 0;
  std::vector<float> input_;
  std::vector<float> output_;
  std::vector<Layer> layers_;
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
  if (s_.nccl != nullptr) {
    scale_.resize(count_);
    for (std::size_t i = 0; i < count_; i++)
      scale_[i] = loss_scale(c_.seed, i);
  }
  // Each a step longer than the one before, so that they can be told apart.
  const auto layers = static_cast<std::size_t>(c_.layers);
  const std::size_t step = std::max<std::size_t>(count_ / (layers * (layers + 1) / 2), 1);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < layers; i++) {
    const std::size_t end = i + 1 == layers ? count_ : std::min(begin + (i + 1) * step, count_);
    layers_.push_back({end - begin, cut(begin, end)});
    begin = end;
  }
}

std::vector<std::unique_ptr<RingChannel>> Ring::cut(std::size_t begin, std::size_t end) const {
  std::vector<std::unique_ptr<RingChannel>> channels;
  const auto parts = static_cast<std::size_t>(c_.channels);
  const std::size_t part = (end - begin + parts - 1) / parts;
  for (std::size_t c = 0; c < parts; c++) {
    const std::size_t first = std::min(begin + c * part, end);
    channels.push_back(std::make_unique<RingChannel>(hop(static_cast<int>(c)), first,
                                                     std::min(part, end - first)));
  }
  return channels;
}

RingHop Ring::hop(int channel) const {
  const int rank = s_.control.rank();
  const int ranks = s_.control.ranks();
  const Link* out = s_.links.find(rank, (rank + 1) % ranks, channel);
  const Link* in = s_.links.find((rank + ranks - 1) % ranks, rank, channel);
  return {s_.net, out->comm, in->comm, rank, ranks};
}

void Ring::prepare(std::uint64_t iteration) {
  if (scale_.empty()) {
    offset_floats(input_.data(), base_.data(), offset_of(iteration), count_);
  } else {
    for (std::size_t i = 0; i < count_; i++)
      input_[i] = static_cast<float>(base_[i]) * scale_[i] * factor_of(iteration);
  }
  std::fill(output_.begin(), output_.end(), std::numeric_limits<float>::quiet_NaN());
}

void Ring::begin(Layer& layer) {
  void* collective = nullptr;
  if (s_.nccl != nullptr) {
    CollectiveCall call;
    call.count = layer.count;
    call.channels = static_cast<std::uint8_t>(c_.channels);
    collective = s_.nccl->start_collective(call);
  }
  for (auto& channel : layer.channels)
    channel->restart(s_.nccl, collective);
}

template <class Value>
std::uint64_t Ring::sum(Value value) const {
  std::uint64_t total = 0;
  for (const Layer& layer : layers_) {
    for (const auto& channel : layer.channels)
      total += value(*channel);
  }
  return total;
}

void Ring::execute() {
  for (Layer& layer : layers_) {
    begin(layer);
    reduce(layer);
  }
}

void Ring::reduce(Layer& layer) {
  for (std::uint64_t pass = 0;; pass++) {
    bool moved = false;
    bool done = true;
    for (auto& channel : layer.channels) {
      moved |= channel->step(input_.data(), output_.data());
      done &= channel->done();
    }
    if (done) return;
    if (!moved && !spin_) sched_yield();
    if (pass % 64 != 0) continue;
    s_.control.alive(bytes_received());
  }
}

void Ring::check(std::uint64_t iteration) {
  if (!scale_.empty()) return check_losses(iteration);
  if (!c_.check) return;
  const float offset = offset_of(iteration) * static_cast<float>(c_.ranks);
  const std::size_t wrong = count_unequal(output_.data(), expected_.data(), offset, count_);
  s_.result.wrong += Mismatch{wrong * sizeof(float), wrong};
}

void Ring::check_losses(std::uint64_t iteration) {
  ReduceLoss loss;
  const std::uint64_t lost = sum(std::mem_fn(&RingChannel::contributions_lost));
  loss.lost = lost - std::exchange(lost_before_, lost);
  for (std::size_t i = 0; i < count_; i++) {
    const float exact = expected_[i] * scale_[i] * factor_of(iteration);
    const double error = static_cast<double>(output_[i]) - static_cast<double>(exact);
    loss.unequal += output_[i] == exact ? 0 : 1;
    loss.squared_error += error * error;
    loss.squared_exact += static_cast<double>(exact) * static_cast<double>(exact);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &output_[i], sizeof bits);
    loss.hash = (loss.hash ^ bits) * 0x100000001b3;  // FNV-1a, a word at a time
  }
  s_.result.losses.push_back(loss);
}

}  // namespace

void run_ring(Session& session) {
  Ring ring(session);
  run_rounds(session, ring);
}

}  // namespace dlcp::cli
