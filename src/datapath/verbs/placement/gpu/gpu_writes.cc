#include "datapath/verbs/placement/gpu/gpu_writes.h"

#include <algorithm>

#include "util/memory/overlap.h"

namespace dlcp::datapath {

Result<std::unique_ptr<GpuWrites>> GpuWrites::open(VerbsCard& card, MemoryRegions& registered,
                                                   PlacementCounters& counters) {
  std::unique_ptr<GpuWrites> writes(new GpuWrites(card, registered, counters));
  writes->staging_mr_ = {card.verbs->reg_mr(card.pd.get(), writes->staging_.data(),
                                            writes->staging_.size(), IBV_ACCESS_REMOTE_READ),
                         {card.verbs.get()}};
  if (writes->staging_mr_ == nullptr) return verbs_error("register memory", card.port, 0);
  if (auto opened = writes->work_.open(); !opened) return opened.error();
  return writes;
}

bool GpuWrites::start(std::span<std::byte> to, std::span<const std::byte> from) {
  if (registered_.gpu_region_of(to) == nullptr || is_dead()) return false;
  const bool is_zero = from.empty();
  for (std::size_t at = 0; at < to.size(); at += kPieceBytes) {
    const std::size_t number = first_ + pieces_.size();
    const std::size_t bytes = std::min(kPieceBytes, to.size() - at);
    Piece& piece = pieces_.emplace_back();
    piece.to = to.subspan(at, bytes);
    piece.is_zero = is_zero;
    piece.ends_write = at + bytes == to.size();
    if (is_zero) continue;
    const auto source = from.subspan(at, bytes);
    if (number - first_ < kSlots)
      std::ranges::copy(source, slot_of(number));
    else
      piece.bytes.assign(source.begin(), source.end());
  }
  counters_.gpu_bytes_copied += to.size();
  post_waiting();
  return true;
}

void GpuWrites::post_waiting() {
  const std::size_t end = first_ + std::min(pieces_.size(), kSlots);
  WorkQueue* const work = work_.get();
  for (; posted_ < end && work != nullptr && work->has_room(); ++posted_) {
    Piece& piece = pieces_[posted_ - first_];
    if (piece.is_done) continue;
    if (!piece.bytes.empty()) {
      std::ranges::copy(piece.bytes, slot_of(posted_));
      piece.bytes = {};
    }
    const std::byte* const from =
        piece.is_zero ? staging_.data() + kSlots * kPieceBytes : slot_of(posted_);
    const ibv_mr* const region = registered_.gpu_region_of(piece.to);
    piece.is_done = region == nullptr;  // released meanwhile
    if (!piece.is_done &&
        !work->read(piece.to, region->lkey, reinterpret_cast<std::uintptr_t>(from),
                    staging_mr_->rkey, posted_))
      return;
  }
}

std::size_t GpuWrites::finished(Time now) {
  while (work_.get() != nullptr) {
    const auto done = work_.get()->next();
    if (!done) break;
    if (!done->succeeded) continue;
    work_.on_success();
    if (done->token >= first_) pieces_[done->token - first_].is_done = true;
  }
  if (work_.close_broken()) posted_ = first_;  // a write of the same bytes may be repeated
  if (is_dead()) pieces_.clear();
  work_.reopen(now);
  post_waiting();
  std::size_t count = 0;
  for (; !pieces_.empty() && pieces_.front().is_done; pieces_.pop_front(), ++first_)
    count += pieces_.front().ends_write ? 1 : 0;
  posted_ = std::max(posted_, first_);
  post_waiting();
  return count;
}

bool GpuWrites::writes(std::span<const std::byte> memory) const {
  return std::ranges::any_of(
      pieces_, [&](const Piece& piece) { return !piece.is_done && overlap(piece.to, memory); });
}

void GpuWrites::stop(std::span<const std::byte> memory) {
  on_release(memory);
  for (Piece& piece : pieces_)
    piece.is_done = piece.is_done || overlap(piece.to, memory);
}

// Another registration may cover the memory, so its writes are begun again. The slots keep their
// bytes.
void GpuWrites::on_release(std::span<const std::byte> memory) {
  if (!writes(memory)) return;
  work_.close();
  posted_ = first_;
}

}  // namespace dlcp::datapath
