#include "core/endpoint/party.h"

namespace dlcp::core {

Channel* Party::channel() const {
  if (auto* sending = send_association()) return &sending->channel();
  auto* receiving = recv_association();
  return receiving == nullptr ? nullptr : &receiving->channel();
}

bool Party::wants_room() const {
  return send_association() != nullptr && send_association()->wants_room();
}

bool Party::is_expired(Time now) const {
  if (const auto* sending = send_association()) return sending->expired(now);
  if (const auto* receiving = recv_association()) return receiving->expired(now);
  return departed() != nullptr && departed()->expired(now);
}

Time Party::next_timeout() const {
  if (const auto* sending = sender()) return sending->next_timeout();
  if (const auto* receiving = receiver()) return receiving->next_timeout();
  if (const auto* sending = send_association()) return sending->next_timeout();
  if (const auto* receiving = recv_association()) return receiving->next_timeout();
  return departed() == nullptr ? kNever : departed()->next_timeout();
}

void Party::on_timeout(Time now) {
  with_connection([&](auto& connection) { connection.on_timeout(now); });
  if (auto* sending = send_association()) sending->on_timeout(now);
  if (auto* receiving = recv_association()) receiving->on_timeout(now);
  if (departed() != nullptr) departed()->on_timeout(now);
}

std::size_t Party::poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out,
                                 std::size_t whole) {
  if (auto* sending = sender()) return sending->poll_transmit(now, frames, out);
  if (auto* receiving = receiver()) return receiving->poll_transmit(frames, out);
  if (auto* sending = send_association()) return sending->poll_transmit(now, frames, out, whole);
  if (auto* receiving = recv_association()) return receiving->poll_transmit(now, frames, out);
  return departed() == nullptr ? 0 : departed()->poll_transmit(frames, out);
}

}  // namespace dlcp::core
