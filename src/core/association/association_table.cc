#include "core/association/association_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace dlcp::core {

std::size_t AssociationTable::AddressHash::operator()(const wire::EndpointAddress& address) const {
  const std::string_view bytes(reinterpret_cast<const char*>(address.bytes.data()), address.size);
  return std::hash<std::string_view>{}(bytes);
}

SendAssociation& AssociationTable::make(Slot& slot, const wire::EndpointAddress& to,
                                        Counters& counters) {
  slot.party = std::make_shared<SendAssociation>(
      commons_.config, counters, commons_.rate, commons_.unmarked_peers,
      SendAssociation::Open{slot.token, slot.index, to, rng_.next()});
  return *slot.party.send_association();
}

SendAssociation& AssociationTable::to(const wire::EndpointAddress& to, Counters& counters) {
  if (const auto known = by_peer_.find(to); known != by_peer_.end())
    return *slots_.find(known->second)->party.send_association();
  Slot& slot = slots_.add(0);
  by_peer_[to] = slot.token;
  return make(slot, to, counters);
}

// The old object remains until its last stream has left it; the receiver closes those streams.
SendAssociation& AssociationTable::after(const SendAssociation& forgotten, Counters& counters) {
  const wire::EndpointAddress to = forgotten.peer_address();
  const auto known = by_peer_.find(to);
  if (known == by_peer_.end()) return this->to(to, counters);
  Slot& slot = *slots_.find(known->second);
  SendAssociation& current = *slot.party.send_association();
  if (&current != &forgotten) return current;  // another stream has replaced it before
  const std::uint32_t streams = current.setup().last_stream;
  SendAssociation& association = make(slot, to, counters);
  association.setup().last_stream = streams;
  return association;
}

RecvAssociation& AssociationTable::from(const wire::Hello& hello, const wire::Key& key,
                                        Counters& counters) {
  const SenderName sender{hello.association, hello.sender_address};
  if (Slot* known = slots_.find(sender))
    if (auto* association = known->party.recv_association()) return *association;
  Slot& slot = slots_.add(0);
  const auto keys = wire::connection_keys(key, hello.association, slot.token);
  const auto protection = std::max(commons_.config.protection, hello.protection);
  const Config& config = commons_.config;
  Channel channel(keys.to_sender, {keys.to_receiver, protection},
                  wire::host_of(hello.sender_address), config.ciphers.get());
  slot.party = std::make_shared<RecvAssociation>(
      config, counters, commons_.credits, std::move(channel),
      RecvAssociation::Open{slot.token, slot.index, hello.association, hello.sender_address,
                            hello.stream});
  // A tag over the payload, or encryption, needs packets with headers.
  if (config.card != nullptr && protection == wire::Protection::kHeader)
    slot.party.recv_association()->place_with(*config.card, commons_.links);
  slots_.name(sender, slot);
  by_sender_[hello.sender_address] = slot.token;
  return *slot.party.recv_association();
}

Slot* AssociationTable::of_sender(const wire::EndpointAddress& sender) {
  const auto known = by_sender_.find(sender);
  return known == by_sender_.end() ? nullptr : slots_.find(known->second);
}

RecvAssociation* AssociationTable::joined_by(const wire::Hello& hello) const {
  Slot* slot = hello.receiver_association == 0 ? nullptr : slots_.find(hello.receiver_association);
  auto* association = slot == nullptr ? nullptr : slot->party.recv_association();
  const bool known = association != nullptr && association->payload_bytes() != 0 &&
                     association->peer_token() == hello.association &&
                     association->sender() == hello.sender_address;
  return known ? association : nullptr;
}

void AssociationTable::settle(Time now, Slot& slot, Duration keep) {
  auto* sending = slot.party.send_association();
  if (sending != nullptr && sending->empty()) {
    std::erase_if(by_peer_, [&](const auto& known) { return known.second == slot.token; });
    sending->on_left(now, keep);
  }
  if (auto* receiving = slot.party.recv_association()) receiving->on_left(now, keep);
  // Streams that did not finish their handshake leave no association behind.
  if (slot.party.is_expired(now)) release(slot);
}

void AssociationTable::release(Slot& slot) {
  if (const auto* receiving = slot.party.recv_association()) {
    slots_.forget({receiving->peer_token(), receiving->sender()});
    std::erase_if(by_sender_, [&](const auto& known) { return known.second == slot.token; });
  }
  slots_.release(slot);
}

}  // namespace dlcp::core
