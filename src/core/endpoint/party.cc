#include "core/endpoint/party.h"

namespace dlcp::core {

Channel* Party::channel() const {
  if (const auto* held = std::get_if<std::shared_ptr<SendAssociation>>(&who_))
    return &(*held)->channel();
  if (const auto* held = std::get_if<std::shared_ptr<RecvAssociation>>(&who_))
    return &(*held)->channel();
  return nullptr;
}

bool Party::wants_room() const {
  const auto* held = std::get_if<std::shared_ptr<SendAssociation>>(&who_);
  return held != nullptr && (*held)->wants_room();
}

Time Party::next_timeout() const {
  if (const auto* sending = sender()) return sending->next_timeout();
  if (const auto* receiving = receiver()) return receiving->next_timeout();
  if (const auto* held = std::get_if<std::shared_ptr<SendAssociation>>(&who_))
    return (*held)->next_timeout();
  if (const auto* held = std::get_if<std::shared_ptr<RecvAssociation>>(&who_))
    return (*held)->next_timeout();
  return departed() == nullptr ? kNever : departed()->next_timeout();
}

void Party::on_timeout(Time now) {
  with_connection([&](auto& connection) { connection.on_timeout(now); });
  if (const auto* held = std::get_if<std::shared_ptr<SendAssociation>>(&who_))
    (*held)->on_timeout(now);
  if (const auto* held = std::get_if<std::shared_ptr<RecvAssociation>>(&who_))
    (*held)->on_timeout(now);
  if (departed() != nullptr) departed()->on_timeout(now);
}

std::size_t Party::poll_transmit(Time now, FrameWriter& frames, std::size_t paths,
                                 std::span<wire::TxPacket> out, std::size_t whole) {
  if (auto* sending = sender()) return sending->poll_transmit(now, frames, out);
  if (auto* receiving = receiver()) return receiving->poll_transmit(now, frames, out);
  if (const auto* held = std::get_if<std::shared_ptr<SendAssociation>>(&who_))
    return (*held)->poll_transmit(now, frames, out, whole);
  if (const auto* held = std::get_if<std::shared_ptr<RecvAssociation>>(&who_))
    return (*held)->poll_transmit(now, frames, out);
  return departed() == nullptr ? 0 : departed()->poll_transmit(now, frames, paths, out);
}

}  // namespace dlcp::core
