#include "cli/driver/ring/ring_channel.h"

#include <algorithm>

namespace dlcp::cli {
namespace {

constexpr std::size_t kSlots = 4;                // posted or in use at a time, on each side
constexpr std::size_t kWatchedSlots = 8;         // with a canary
constexpr std::size_t kPieceBytes = 128 * 1024;  // reduced between two polls of the network

// The step of message `number` since the start, with `per_run` messages per all-reduce.
int in_run(std::uint64_t number, std::size_t per_run) {
  return static_cast<int>(number % per_run);
}
void* phandle(ProxyOperation* operation, std::uint64_t number, std::size_t per_run) {
  return operation == nullptr ? nullptr : operation->phandle(in_run(number, per_run));
}

}  // namespace

RingChannel::RingChannel(const RingHop& hop, std::size_t first, std::size_t count,
                         const Reduction& reduction, bool has_canary)
    : reduction_(reduction),
      element_bytes_(reduction.element_bytes()),
      steps_(plan_ring(first, count, hop.rank, hop.ranks, element_bytes_)),
      send_(hop.net, hop.send_comm, Lane::Way::kSend, kSlots, kRingSliceBytes),
      recv_(hop.net, hop.recv_comm, Lane::Way::kReceive, has_canary ? kWatchedSlots : kSlots,
            kRingSliceBytes) {
  if (has_canary) canary_.emplace(recv_.slots(), kRingSliceBytes);
  for (const RingStep& step : steps_) {
    receives_per_run_ += step.receives;
    sends_per_run_ += step.sends;
  }
}

void RingChannel::restart(NcclPart* nccl, void* collective) {
  if (nccl != nullptr) {
    sending_ =
        std::make_unique<ProxyOperation>(*nccl, collective, static_cast<int>(sends_per_run_), true);
    receiving_ = std::make_unique<ProxyOperation>(*nccl, collective,
                                                  static_cast<int>(receives_per_run_), false);
  }
  at_ = worked_ = send_from_ = 0;
  to_post_ += receives_per_run_;
}

bool RingChannel::test() {
  const auto arrived = recv_.test();
  if (arrived) {
    bytes_ += static_cast<std::uint64_t>(*arrived);
    if (receiving_ != nullptr)
      receiving_->finished(in_run(recv_.done() - 1, receives_per_run_), true);
  }
  const auto departed = send_.test();
  if (departed && sending_ != nullptr)
    sending_->finished(in_run(send_.done() - 1, sends_per_run_), false);
  return arrived || departed;
}

bool RingChannel::post() {
  bool moved = false;
  // NCCL posts receives of a whole slice, even for shorter messages.
  while (recv_.posted() < to_post_ && recv_.posted() - consumed_ < kSlots) {
    if (canary_) canary_->check_before(recv_.posted());
    if (!recv_.post(kRingSliceBytes, phandle(receiving_.get(), recv_.posted(), receives_per_run_)))
      break;
    if (receiving_ != nullptr)
      receiving_->receive_posted(in_run(recv_.posted() - 1, receives_per_run_));
    moved = true;
  }
  while (unposted() > 0) {
    while (!steps_[send_from_].sends)
      send_from_++;
    if (!send_.post(steps_[send_from_].count * element_bytes_,
                    phandle(sending_.get(), send_.posted(), sends_per_run_)))
      break;
    send_from_++;
    moved = true;
  }
  return moved;
}

bool RingChannel::work(const std::byte* input, std::byte* output) {
  if (at_ == steps_.size()) return false;
  const RingStep& step = steps_[at_];
  if (step.receives && recv_.done() == consumed_) return false;
  if (step.sends && prepared_ - send_.done() == kSlots) return false;
  const std::size_t bytes = step.count * element_bytes_;
  const std::size_t n = std::min(kPieceBytes, bytes - worked_);
  const std::size_t offset = step.offset * element_bytes_ + worked_;
  std::byte* to_send = step.sends ? send_.slots().at(prepared_) + worked_ : nullptr;
  std::byte* to_store = step.stores ? output + offset : nullptr;
  std::byte* first = to_store != nullptr ? to_store : to_send;
  std::byte* second = to_store != nullptr ? to_send : nullptr;
  const std::byte* arrived = recv_.slots().at(consumed_) + worked_;
  if (step.reduces)
    combine(reduction_, first, second, arrived, input + offset, n);
  else
    copy_bytes(first, second, step.receives ? arrived : input + offset, n);
  worked_ += n;
  if (worked_ < bytes) return true;
  worked_ = 0;
  at_++;
  finish_step(step);
  return true;
}

void RingChannel::finish_step(const RingStep& step) {
  if (step.receives) {
    if (receiving_ != nullptr && step.reduces) {
      const auto* arrived = reinterpret_cast<const float*>(recv_.slots().at(consumed_));
      lost_ += count_lost(arrived, step.count) * step.sum_of;
    }
    consumed_++;
    if (canary_) canary_->fill_next();
  }
  if (step.sends) prepared_++;
}

std::uint64_t RingChannel::bytes_overwritten() {
  if (!canary_) return 0;
  canary_->check_all();
  return canary_->changed_bytes();
}

bool RingChannel::step(const void* input, void* output) {
  bool moved = post();
  moved |= test();
  moved |= work(static_cast<const std::byte*>(input), static_cast<std::byte*>(output));
  if (done()) {
    sending_.reset();
    receiving_.reset();
  }
  return moved;
}

}  // namespace dlcp::cli
