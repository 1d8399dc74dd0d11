#include "core/bounded_loss/lossy_receives.h"

#include <algorithm>
#include <utility>

namespace dlcp::core {

// ---- one message ----

void LossyReceives::Message::on_sent_once(const wire::SentOnce& frame) {
  if (state == State::kCollecting) marks = frame.marks;
  // The sender repeats SENT_ONCE: the last NEED may have been lost.
  if (state == State::kCollecting || state == State::kNeeded) state = State::kWaiting;
  // SENT_ONCE follows all packets of the message on this path.
  std::erase_if(marks, [&](const wire::PathMark& mark) { return mark.path == frame.path; });
  echo = frame.echo;
  path = frame.path;
  urgent = frame.urgent;
}

// True if no packet is expected any more: every path has delivered the message's last packet on it,
// a later one of the same queue, or SENT_ONCE.
bool LossyReceives::Message::quiet(std::span<const PathSeen> paths) {
  std::erase_if(marks, [&](const wire::PathMark& mark) {
    return mark.path < paths.size() && paths[mark.path].passed(mark, urgent);
  });
  return marks.empty();
}

// ---- all messages ----

void LossyReceives::forget_done() {
  std::erase_if(
      messages_,
      [&](const auto& message) {
        return message.second.state != State::kStopDue && !queue_.is_open(message.first);
      });
}

void LossyReceives::on_posted(std::uint64_t number, const Licence& licence,
                              std::size_t buffer_bytes) {
  ledger_.open(licence, buffer_bytes);
  if (licence.collective == 0) return;
  forget_done();
  if (queue_.is_open(number)) messages_[number].licence = licence;
}

bool LossyReceives::is_granted(std::uint64_t number) const {
  const auto found = messages_.find(number);
  return found != messages_.end() && found->second.state == State::kGranted;
}

bool LossyReceives::awaits() const {
  return std::ranges::any_of(
      messages_, [](const auto& message) { return message.second.state != State::kCollecting; });
}

bool LossyReceives::due() const {
  return std::ranges::any_of(
      messages_,
      [](const auto& message) {
        const State state = message.second.state;
        return state == State::kNeedDue || state == State::kStopDue;
      });
}

bool LossyReceives::on_sent_once(const wire::SentOnce& frame) {
  const auto expected = queue_.expect(frame.message, frame.message_bytes);
  if (!expected.number) return expected.possible;
  messages_[*expected.number].on_sent_once(frame);
  return true;
}

void LossyReceives::decide(std::span<const PathSeen> paths, std::size_t licence_bytes_min,
                           std::vector<Placement>& placements) {
  for (auto& [number, message] : messages_) {
    const bool granted = message.state == State::kGranted;
    if ((!granted && message.state != State::kWaiting) || !queue_.is_open(number)) continue;
    const RecvMessage& held = queue_.message(number);
    if (!held.posted || held.whole() || held.placing > 0) continue;
    if (granted ? !held.card_may_write : message.quiet(paths))
      decide(number, message, licence_bytes_min, placements);
  }
  forget_done();
}

void LossyReceives::decide(std::uint64_t number, Message& message, std::size_t licence_bytes_min,
                           std::vector<Placement>& placements) {
  const RecvMessage& held = queue_.message(number);
  const std::size_t missing = queue_.missing_bytes(number);
  // Packets that this receiver dropped for lack of room are not losses of the network.
  const bool stop =
      message.state == State::kGranted || (message.needs == 0 && !held.dropped_here &&
                                           message.licence.covers(held.bytes, licence_bytes_min) &&
                                           ledger_.reserve(message.licence, missing, held.bytes));
  if (stop && held.card_may_write) {
    // Late packets may still fill holes. Zeros are written when the card can no longer do so.
    message.state = State::kGranted;
    queue_.close(number);
    return;
  }
  if (!stop) {
    message.state = State::kNeedDue;
    ++message.needs;
    counters_.add(Counter::kNeedsSent);
    return;
  }
  message.state = State::kStopDue;
  message.lost_bytes = static_cast<std::uint32_t>(missing);
  message.holes = queue_.complete_with_holes(number, placements);
  counters_.add(Counter::kMessagesShort);
  counters_.add(Counter::kBytesLost, missing);
}

std::size_t LossyReceives::poll_transmit(const Recipient& to, const AnswerPath& on,
                                         FrameWriter& frames, std::span<wire::TxPacket> out) {
  std::size_t count = 0;
  for (auto& [full_number, message] : messages_) {
    if (count == out.size()) break;
    const auto number = static_cast<std::uint32_t>(full_number);
    if (message.state == State::kNeedDue) {
      // If SENT_ONCE is repeated, NEED was lost, perhaps because its path works in one direction
      // only.
      const std::uint32_t turn = message.needs - 1;
      const auto path = turn == 0 ? on.path : static_cast<wire::PathIndex>(turn % on.paths);
      frames.emit(wire::Need{to.token, number, message.echo, message.path}, path, *to.address,
                  out[count++]);
      message.state = State::kNeeded;
    } else if (message.state == State::kStopDue && !queue_.is_open(full_number)) {
      auto& holes = message.holes;
      holes.resize(std::min(holes.size(), wire::holes_max(on.frame_bytes)));
      frames.emit(wire::Stop{to.token, number, message.lost_bytes, std::move(holes)}, on.path,
                  *to.address, out[count++]);
      message.state = State::kDone;
    }
  }
  if (count > 0) forget_done();
  return count;
}

}  // namespace dlcp::core
