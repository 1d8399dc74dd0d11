#include "cli/bench/ring_channel.h"

#include <algorithm>

#include "cli/bench/bench_case.h"
#include "cli/bench/reduce.h"
#include "cli/bench/ring_losses.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kSlots = 4;
constexpr std::size_t kPieceBytes = 128 * 1024;  // reduced between two looks at the network

// Message `number` since the start, of so many per all-reduce.
void* phandle(ProxyOperation* operation, std::uint64_t number, std::size_t per_run) {
  return operation == nullptr ? nullptr : operation->phandle(static_cast<int>(number % per_run));
}

}  // namespace

RingChannel::RingChannel(const RingHop& hop, std::size_t first, std::size_t count,
                         const Reduction& reduction)
    : net_(hop.net),
      send_comm_(hop.send_comm),
      recv_comm_(hop.recv_comm),
      reduction_(reduction),
      element_bytes_(reduction.element_bytes()),
      steps_(plan_ring(first, count, hop.rank, hop.ranks, element_bytes_)),
      slot_bytes_(kRingSliceBytes),  // whatever the message, as NCCL posts receives
      send_slots_(net_, send_comm_, kSlots, slot_bytes_),
      recv_slots_(net_, recv_comm_, kSlots, slot_bytes_) {
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
                       false, &request, phandle(receiving_.get(), posted_, receives_per_run_)),
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
    require(
        net_.isend(send_comm_, send_slots_.at(sent_), steps_[send_from_].count * element_bytes_, 0,
                   send_slots_.mhandle(), &request, phandle(sending_.get(), sent_, sends_per_run_)),
        "isend");
    if (request == nullptr) break;
    sends_.push_back(request);
    sent_++;
    send_from_++;
    moved = true;
  }
  return moved;
}

bool RingChannel::work(const std::byte* input, std::byte* output) {
  if (at_ == steps_.size()) return false;
  const RingStep& step = steps_[at_];
  if (step.receives && arrived_ == consumed_) return false;
  if (step.sends && prepared_ - departed_ == kSlots) return false;
  const std::size_t bytes = step.count * element_bytes_;
  const std::size_t n = std::min(kPieceBytes, bytes - worked_);
  const std::size_t offset = step.offset * element_bytes_ + worked_;
  std::byte* to_send = step.sends ? send_slots_.at(prepared_) + worked_ : nullptr;
  std::byte* to_store = step.stores ? output + offset : nullptr;
  std::byte* first = to_store != nullptr ? to_store : to_send;
  std::byte* second = to_store != nullptr ? to_send : nullptr;
  const std::byte* arrived = recv_slots_.at(consumed_) + worked_;
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
      const auto* arrived = reinterpret_cast<const float*>(recv_slots_.at(consumed_));
      lost_ += count_lost(arrived, step.count) * step.sum_of;
    }
    consumed_++;
  }
  if (step.sends) prepared_++;
}

bool RingChannel::step(const void* input, void* output) {
  bool moved = post();
  moved |= test();
  moved |= work(static_cast<const std::byte*>(input), static_cast<std::byte*>(output));
  return moved;
}

}  // namespace dlcp::cli
