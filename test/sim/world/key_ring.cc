#include "key_ring.h"

#include <algorithm>

namespace dlcp::test {

using wire::FrameType;

void KeyRing::add(const wire::Invitation& listener) {
  destinations_[wire::listener_token(listener)].key = wire::listener_key(listener, {});
}

void KeyRing::see(std::span<const std::byte> datagram) {
  const auto head = wire::decode_head(datagram);
  if (!head || head->type == FrameType::kData) return;
  const auto known = destinations_.find(head->destination);
  if (head->type == FrameType::kHello && known != destinations_.end()) {
    const auto hello = wire::decode<wire::Hello>(datagram);
    if (!hello) return;
    greeted_[hello->sender_token] = {known->second.key, hello->association};
    listener_keys_[{hello->association, hello->stream}] = known->second.key;
  } else if (const auto from = greeted_.find(head->destination);
             head->type == FrameType::kWelcome && from != greeted_.end()) {
    const auto welcome = wire::decode<wire::Welcome>(datagram);
    if (!welcome) return;
    const Greeting& greeting = from->second;
    const auto keys =
        wire::connection_keys(greeting.listener_key, head->destination, welcome->receiver_token);
    const auto shared =
        wire::connection_keys(listener_keys_[{greeting.association, welcome->key_stream}],
                              greeting.association, welcome->association);
    associations_[welcome->receiver_token] = welcome->association;
    if (!destinations_.contains(welcome->association)) {
      destinations_[welcome->association] = {shared.to_receiver, welcome->protection};
      destinations_[greeting.association] = {shared.to_sender, welcome->protection};
    }
    destinations_[welcome->receiver_token] = {keys.to_receiver, welcome->protection};
    destinations_[head->destination] = {keys.to_sender, welcome->protection};
  }
  const auto to = destinations_.find(head->destination);
  if (to != destinations_.end() && datagram.size() >= wire::kControlHeadBytes)
    to->second.newest = std::max(to->second.newest, wire::control_sequence(datagram));
}

// The destination for which data and SENT_ONCE of that stream are sealed.
const KeyRing::Destination* KeyRing::data_destination(std::uint64_t token) const {
  const auto association = associations_.find(token);
  if (association == associations_.end()) return nullptr;
  const auto to = destinations_.find(association->second);
  return to == destinations_.end() ? nullptr : &to->second;
}

bool KeyRing::reseal(std::vector<std::byte>& datagram) const {
  if (datagram.size() < wire::kControlHeadBytes + wire::kTagBytes) return false;
  const auto head = wire::decode_head(datagram);
  const auto to = head ? destinations_.find(head->destination) : destinations_.end();
  if (to == destinations_.end()) return false;
  if (head->type == FrameType::kData) {
    const auto data = wire::decode_data(datagram);
    if (!data) return false;
    const Destination* sealed_for = data_destination(head->destination);
    if (sealed_for == nullptr) return false;
    const std::vector<std::byte> payload(data->payload.begin(), data->payload.end());
    wire::encode_data(data->header, data->header.path_sequence, payload,
                      {sealed_for->key, sealed_for->protection}, datagram);
    return true;
  }
  const std::uint32_t number = wire::control_sequence(datagram);
  datagram.resize(datagram.size() - wire::kTagBytes);
  wire::seal(datagram, to->second.key, number, head->flags);
  return true;
}

std::optional<std::uint32_t> KeyRing::next_number(std::uint64_t destination) const {
  const auto to = destinations_.find(destination);
  return to == destinations_.end() ? std::nullopt : std::optional(to->second.newest + 1);
}

}  // namespace dlcp::test
