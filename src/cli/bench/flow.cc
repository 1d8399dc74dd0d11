#include "cli/bench/flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/bench/clock.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kPiece = 64 * 1024;

// Slots to check from while others are being filled; about 16 MiB of them at most.
std::size_t recv_slots(const BenchCase& c) {
  const auto inflight = static_cast<std::size_t>(c.inflight);
  const std::size_t spare = (std::size_t{16} << 20) / std::max<std::size_t>(c.size, 1);
  return inflight + std::clamp<std::size_t>(spare, 2, inflight + 1);
}

std::uint64_t key_of(const Link& link, const BenchCase& c) {
  return flow_key(c.seed, link.wire.source, link.wire.destination, link.wire.channel);
}

}  // namespace

SendFlow::SendFlow(NetPlugin& net, const Link& link, const BenchCase& c,
                   std::atomic<std::int64_t>* times, NcclPart* nccl)
    : net_(net),
      comm_(link.comm),
      size_(c.size),
      inflight_(static_cast<std::uint64_t>(c.inflight)),
      lines_(key_of(link, c), c.size, c.flags),
      slots_(net, link.comm, static_cast<std::size_t>(c.inflight),
             std::max<std::size_t>(c.size, 16)),
      times_(times),
      feed_(nccl, c, true) {
  if (c.flags != LineFlags::kNone) return;
  payload_ = std::make_unique<Payload>(key_of(link, c), c.size);
  for (std::size_t i = 0; i < slots_.count(); i++)
    payload_->fill(slots_.at(i));
}

void SendFlow::mark_next() {
  // The slot is free once the message `inflight` before this one is done.
  if (marked_ > posted_ || requests_.size() >= inflight_) return;
  if (payload_)
    payload_->mark(slots_.at(posted_), posted_);
  else
    lines_.encode(slots_.at(posted_), posted_);
  marked_ = posted_ + 1;
}

bool SendFlow::post() {
  const bool data = posted_ < limit_;
  // An end marker is empty, or 4 bytes where empty messages are the test.
  const std::size_t bytes = data ? size_ : (size_ == 0 ? 4 : 0);
  if (data) mark_next();
  if (!offered_) {
    offered_at_ = now_ns();
    if (times_ != nullptr)
      times_[posted_ % SharedArea::kTimes].store(offered_at_, std::memory_order_relaxed);
  }
  offered_ = true;
  void* request = nullptr;
  require(net_.isend(comm_, slots_.at(posted_), bytes, 0, slots_.mhandle(), &request,
                     feed_.phandle(posted_)),
          "isend");
  if (request == nullptr) return false;
  offered_ = false;
  requests_.push_back({request, data ? offered_at_ : 0});
  posted_++;
  return true;
}

bool SendFlow::step(std::int64_t measure_from) {
  bool moved = false;
  while (requests_.size() < inflight_ && posted_ < limit_ + end_markers_) {
    if (!post()) break;
    moved = true;
  }
  while (!requests_.empty()) {
    int done = 0;
    int bytes = 0;
    require(net_.test(requests_.front().handle, done, bytes), "test (send)");
    if (done == 0) break;
    if (times_ == nullptr && requests_.front().offered_at >= measure_from)
      histogram_.add(now_ns() - requests_.front().offered_at);
    requests_.pop_front();
    moved = true;
  }
  return moved;
}

RecvFlow::RecvFlow(NetPlugin& net, const Link& link, const BenchCase& c,
                   std::atomic<std::int64_t>* times, NcclPart* nccl)
    : net_(net),
      comm_(link.comm),
      size_(c.size),
      inflight_(static_cast<std::uint64_t>(c.inflight)),
      check_(c.check),
      optional_(c.flags != LineFlags::kNone),
      slots_(net, link.comm, recv_slots(c), std::max<std::size_t>(c.size, 16)),
      times_(times),
      feed_(nccl, c, false) {
  const std::uint64_t key = key_of(link, c);
  if (c.flags == LineFlags::kNone)
    payload_ = std::make_unique<Payload>(key, c.size);
  else
    pollers_ = std::make_unique<LinePollers>(LinePayload(key, c.size, c.flags), slots_);
}

RecvFlow::~RecvFlow() = default;

std::uint64_t RecvFlow::freed() const {
  return pollers_ ? std::min(received_, pollers_->consumed()) : (check_ ? checked_ : received_);
}

bool RecvFlow::starved() const {
  return requests_.size() < inflight_ && posted_ - freed() >= slots_.count();
}

bool RecvFlow::finished() const {
  if (!requests_.empty()) return false;
  if (limit_ != kNoLimit) return received_ >= limit_ && freed() >= limit_;
  return ends_ >= inflight_ && freed() >= received_;
}

void RecvFlow::complete(int size, std::int64_t measure_from) {
  const std::size_t marker = size_ == 0 ? 4 : 0;
  if (limit_ == kNoLimit && static_cast<std::size_t>(size) == marker) {
    ends_++;
    return;
  }
  // Where completion need not be reported its size is not to be relied on either.
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
  bool moved = false;
  // Each end marker takes a receive, and as many of them come as may be under way.
  while (requests_.size() + ends_ < inflight_ && posted_ < limit_ &&
         posted_ - freed() < slots_.count()) {
    void* request = nullptr;
    require(net_.irecv(comm_, slots_.at(posted_), std::max<std::size_t>(size_, 4), 0,
                       slots_.mhandle(), optional_, &request, feed_.phandle(posted_)),
            "irecv");
    if (request == nullptr) break;
    requests_.push_back(request);
    posted_++;
    moved = true;
  }
  while (!requests_.empty()) {
    int done = 0;
    int size = 0;
    require(net_.test(requests_.front(), done, size), "test (receive)");
    if (done == 0) break;
    requests_.pop_front();
    complete(size, measure_from);
    moved = true;
  }
  return moved;
}

void RecvFlow::check_message_end(std::uint64_t message) {
  const std::uint64_t wrong = slots_.check_guard(message);
  mismatch_ += Mismatch{wrong, (wrong + 3) / 4};
}

bool RecvFlow::unchecked() const {
  return pollers_ ? checked_ < freed() : check_ && checked_ < received_;
}

bool RecvFlow::check_some() {
  if (!unchecked()) return false;
  if (pollers_) {
    // The pollers read the lines; the guard is ours to look at.
    check_message_end(checked_++);
    return true;
  }
  const std::size_t to = std::min(size_, checked_bytes_ + kPiece);
  mismatch_ += payload_->check(slots_.at(checked_), checked_, checked_bytes_, to);
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
