// ring: fp32 all-reduces over a ring of ranks, driven as NCCL's proxy drives them: four slices
// under way per connection, the reduction between a slice's arrival and its departure. Input is
// made, and output compared, between the timed all-reduces.
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "cli/bench/contribution.h"
#include "cli/bench/reduce.h"
#include "cli/bench/ring_layer.h"
#include "cli/bench/ring_losses.h"
#include "cli/bench/rounds.h"

namespace dlcp::cli {
namespace {

class Ring final : public Round {
 public:
  explicit Ring(Session& session);

  void prepare(std::uint64_t iteration) override;
  void execute() override;
  void check(std::uint64_t iteration) override;
  std::uint64_t bytes_received() const override {
    return sum(std::mem_fn(&RingLayer::bytes_received));
  }

 private:
  template <class Value>
  std::uint64_t sum(Value value) const;
  void check_losses(std::uint64_t iteration);
  static float factor_of(std::uint64_t iteration) { return static_cast<float>(iteration % 3 + 1); }

  Session& s_;
  const BenchCase& c_;
  std::size_t count_;
  std::vector<std::int8_t> base_;  // this rank's contribution, without the iteration's offset
  std::vector<float> expected_;    // the sum of all ranks' bases
  std::vector<float> scale_;       // --loss-budget: what both are multiplied by, instead
  std::uint64_t lost_before_ = 0;
  std::vector<float> input_;
  std::vector<float> output_;
  // As a framework reduces some of a model's layers at a time.
  std::vector<RingLayer> layers_;
};

Ring::Ring(Session& session)
    : Round(session),
      s_(session),
      c_(session.bench_case),
      count_(c_.size / sizeof(float)),
      expected_(count_),
      input_(count_),
      output_(count_) {
  for (int rank = 0; rank < c_.ranks; rank++) {
    auto values = contribution(c_.seed, rank, 0, count_);
    for (std::size_t i = 0; i < count_; i++)
      expected_[i] += static_cast<float>(values[i]);
    if (rank == s_.control.rank()) base_ = std::move(values);
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
    layers_.emplace_back(s_, begin, end);
    begin = end;
  }
}

void Ring::prepare(std::uint64_t iteration) {
  if (scale_.empty())
    offset_floats(input_.data(), base_.data(), iteration_offset(iteration), count_);
  else
    for (std::size_t i = 0; i < count_; i++)
      input_[i] = static_cast<float>(base_[i]) * scale_[i] * factor_of(iteration);
  std::fill(output_.begin(), output_.end(), std::numeric_limits<float>::quiet_NaN());
}

template <class Value>
std::uint64_t Ring::sum(Value value) const {
  std::uint64_t total = 0;
  for (const RingLayer& layer : layers_)
    total += value(layer);
  return total;
}

void Ring::execute() {
  for (RingLayer& layer : layers_) {
    layer.restart();
    step_until([&] { return layer.done(); },
               [&] { return layer.step(input_.data(), output_.data()); });
  }
}

void Ring::check(std::uint64_t iteration) {
  if (!scale_.empty()) return check_losses(iteration);
  if (!c_.check) return;
  const float offset = iteration_offset(iteration) * static_cast<float>(c_.ranks);
  const std::size_t wrong = count_unequal(output_.data(), expected_.data(), offset, count_);
  s_.result.wrong += Mismatch{wrong * sizeof(float), wrong};
}

void Ring::check_losses(std::uint64_t iteration) {
  ReduceLoss loss;
  const std::uint64_t lost = sum(std::mem_fn(&RingLayer::contributions_lost));
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
