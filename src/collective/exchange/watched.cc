#include "collective/exchange/watched.h"

#include <algorithm>
#include <cstring>

namespace dlcp::collective {
namespace {

// Rounded up to the alignment that reductions prefer.
std::size_t words_bytes(std::uint32_t ranks, std::size_t word_bytes) {
  constexpr std::size_t kAlignment = 4096;
  return (std::size_t{ranks} * 2 * word_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Watched::Watched(std::uint32_t ranks, std::uint32_t rank, std::span<std::byte> staging,
                 const Make& make)
    : ranks_(ranks),
      rank_(rank),
      words_(staging.first(words_bytes(ranks, kWordBytes))),
      inner_(make(staging.subspan(words_.size()))) {}

std::size_t Watched::staging_needed(const Call& call) const {
  return words_.size() + (call.input.empty() ? 0 : inner_->staging_needed(call));
}

std::optional<std::uint64_t> Watched::start(const Call& call) {
  if (call.input.empty()) return pause() ? std::optional(kPauseNumber) : std::nullopt;
  go_on();
  return inner_->start(call);
}

void Watched::leave() {
  go_on();
  inner_->leave();
}

bool Watched::finished(std::uint64_t call) const {
  return call != kPauseNumber && inner_->finished(call);
}

std::span<std::byte> Watched::word(std::uint32_t peer, bool sends) const {
  return words_.subspan((std::size_t{peer} * 2 + (sends ? 1 : 0)) * kWordBytes, kWordBytes);
}

void Watched::post_to_all(bool sends) {
  for (std::uint32_t turn = 1; turn < ranks_; ++turn) {
    const std::uint32_t peer = (rank_ + turn) % ranks_;
    Transfer transfer;
    transfer.peer = peer;
    transfer.lane = Transfer::Lane::kResults;
    transfer.sends = sends;
    transfer.call = kPauseNumber;
    transfer.memory = word(peer, sends);
    if (sends) std::memcpy(transfer.memory.data(), &pauses_, kWordBytes);
    unposted_.push_back(transfer);
  }
}

// A call may finish before the messages that ended the previous pause have arrived, because these
// use other connections than the call's contributions. Both pauses use the same memory, so wait.
bool Watched::pause() {
  if (paused_) return true;
  if (sends_out_ > 0 || receives_out_ > 0) return false;
  paused_ = true;
  ++pauses_;
  post_to_all(false);
  receives_out_ = ranks_ - 1;
  return true;
}

void Watched::go_on() {
  if (!paused_) return;
  paused_ = false;
  post_to_all(true);
  sends_out_ = ranks_ - 1;
}

// Messages that end the pause precede all others.
void Watched::post_to(Mesh& mesh) {
  std::erase_if(unposted_, [&](const Transfer& transfer) { return mesh.post(transfer); });
  if (unposted_.empty()) inner_->post_to(mesh);
}

void Watched::on_done(const Transfer& transfer, std::size_t bytes,
                      std::span<const ByteRange> lost) {
  if (transfer.call != kPauseNumber) return inner_->on_done(transfer, bytes, lost);
  if (transfer.sends) {
    --sends_out_;
    return;
  }
  --receives_out_;
  std::uint64_t pause = 0;
  std::memcpy(&pause, transfer.memory.data(), kWordBytes);
  if (bytes != kWordBytes || pause != pauses_) {
    disagreement_ = "rank " + std::to_string(transfer.peer) +
                    " reduces other data than this rank by other means, or the reverse";
  }
}

}  // namespace dlcp::collective
