#include "cli/bench/modes/flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/launch/clock.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

// More slots than requests, so that some can be checked while others are being filled; the extra
// slots take about 16 MiB at most.
std::size_t recv_slots(const BenchCase& c) {
  const auto inflight = static_cast<std::size_t>(c.inflight);
  const std::size_t spare = (std::size_t{16} << 20) / std::max<std::size_t>(c.size, 1);
  return inflight + std::clamp<std::size_t>(spare, 2, inflight + 1);
}

Payload payload_of(const Link& link, const BenchCase& c) {
  const Wire& wire = link.wire;
  return {flow_key(c.seed, wire.source, wire.destination, wire.channel), c.size, c.data, c.flags};
}

}  // namespace

SendFlow::SendFlow(NetPlugin& net, const Link& link, const BenchCase& c,
                   std::atomic<std::int64_t>* times, NcclPart* nccl)
    : size_(c.size),
      inflight_(static_cast<std::uint64_t>(c.inflight)),
      payload_(payload_of(link, c)),
      lane_(net, link.comm, Lane::Way::kSend, inflight_, std::max<std::size_t>(c.size, 16)),
      times_(times),
      offered_at_(inflight_),
      feed_(nccl, c, true) {
  for (std::size_t i = 0; i < inflight_; i++)
    payload_.fill(slots().at(i));
}

void SendFlow::mark_next() {
  // The slot is free once the previous message in it is done.
  if (marked_ > posted() || lane_.under_way() >= inflight_) return;
  payload_.mark(slots().at(posted()), posted());
  marked_ = posted() + 1;
}

bool SendFlow::post() {
  const std::uint64_t message = posted();
  const bool data = message < limit_;
  // An end marker is an empty message, or one of 4 bytes where the data messages are empty.
  const std::size_t bytes = data ? size_ : (size_ == 0 ? 4 : 0);
  if (data) mark_next();
  if (!offered_) {
    const std::int64_t now = now_ns();
    offered_at_[message % inflight_] = data ? now : 0;
    if (times_ != nullptr)
      times_[message % SharedArea::kTimes].store(now, std::memory_order_relaxed);
  }
  offered_ = !lane_.post(bytes, feed_.phandle(message));
  return !offered_;
}

// One pass of NCCL's proxy thread over a connection: it posts a message or tests the oldest.
bool SendFlow::step(std::int64_t measure_from) {
  if (lane_.under_way() < inflight_ && posted() < limit_ + end_markers_ && post()) return true;
  if (!lane_.test()) return false;
  const std::int64_t offered_at = offered_at_[(lane_.done() - 1) % inflight_];
  if (times_ == nullptr && offered_at >= measure_from) histogram_.add(now_ns() - offered_at);
  return true;
}

RecvFlow::RecvFlow(NetPlugin& net, const Link& link, const BenchCase& c,
                   std::atomic<std::int64_t>* times, NcclPart* nccl)
    : size_(c.size),
      inflight_(static_cast<std::uint64_t>(c.inflight)),
      check_(c.check),
      optional_(c.flags != LineFlags::kNone),
      payload_(payload_of(link, c)),
      lane_(net, link.comm, Lane::Way::kReceive, recv_slots(c), std::max<std::size_t>(c.size, 16)),
      times_(times),
      feed_(nccl, c, false) {
  if (optional_) pollers_ = std::make_unique<LinePollers>(payload_, slots());
}

std::uint64_t RecvFlow::freed() const {
  return pollers_ ? std::min(received_, pollers_->consumed()) : (check_ ? checked_ : received_);
}

bool RecvFlow::starved() const {
  return lane_.under_way() < inflight_ && lane_.posted() - freed() >= lane_.slots().count();
}

bool RecvFlow::finished() const {
  if (lane_.under_way() > 0) return false;
  if (limit_ != kNoLimit) return received_ >= limit_ && freed() >= limit_;
  return ends_ >= inflight_ && freed() >= received_;
}

void RecvFlow::complete(int size, std::int64_t measure_from) {
  const std::size_t marker = size_ == 0 ? 4 : 0;
  if (limit_ == kNoLimit && static_cast<std::size_t>(size) == marker) {
    ends_++;
    return;
  }
  // A plugin that need not report a completion need not report its size either.
  if (ends_ > 0 || (!optional_ && static_cast<std::size_t>(size) != size_))
    throw BenchError(
        ExitCode::kWrongData,
        fmt::format("message {} arrived with {} bytes instead of {}", received_, size, size_));
  if (times_ != nullptr) {
    const std::int64_t now = now_ns();
    const std::int64_t since =
        times_[received_ % SharedArea::kTimes].load(std::memory_order_relaxed);
    if (since >= measure_from) histogram_.add(now - since);
  }
  received_++;
}

bool RecvFlow::step(std::int64_t measure_from) {
  // The sender sends `inflight_` end markers, one for each receive that may be posted.
  bool moved =
      lane_.under_way() + ends_ < inflight_ && lane_.posted() < limit_ &&
      lane_.posted() - freed() < slots().count() &&
      lane_.post(std::max<std::size_t>(size_, 4), feed_.phandle(lane_.posted()), optional_);
  if (const auto size = lane_.test()) {
    complete(*size, measure_from);
    moved = true;
  }
  return moved;
}

void RecvFlow::check_message_end(std::uint64_t message) {
  const std::uint64_t wrong = slots().check_guard(message);
  mismatch_ += Mismatch{wrong, (wrong + 3) / 4};
}

bool RecvFlow::unchecked() const {
  return pollers_ ? checked_ < freed() : check_ && checked_ < received_;
}

bool RecvFlow::check_some() {
  if (!unchecked()) return false;
  if (pollers_) {
    // The pollers have checked the lines; the guard is left.
    check_message_end(checked_++);
    return true;
  }
  const std::size_t to = std::min(size_, checked_bytes_ + kPiece);
  mismatch_ += payload_.check(slots().at(checked_), checked_, checked_bytes_, to);
  checked_bytes_ = to;
  if (checked_bytes_ == size_) {
    check_message_end(checked_);
    checked_++;
    checked_bytes_ = 0;
  }
  return true;
}

Mismatch RecvFlow::mismatch() const {
  Mismatch sum = mismatch_;
  if (pollers_) sum += pollers_->mismatch();
  return sum;
}

}  // namespace dlcp::cli
