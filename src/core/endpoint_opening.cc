// HELLO: how a stranger becomes a connection. Who has no invitation gets no answer and costs
// nothing; who has one gets a place among few until START shows that it hears us.
#include <algorithm>
#include <utility>

#include "core/endpoint_state.h"
#include "wire/control_frame.h"

namespace dlcp::core {
namespace {

// Connections of one listener that have said HELLO and not START; the oldest makes room.
constexpr std::size_t kHalfOpenMax = 64;
constexpr std::string_view kEncryptionDiffers =
    "one of the two ranks encrypts payloads (DLCP_ENCRYPT), the other does not";

}  // namespace

void Endpoint::State::on_hello(Time now, Slot* listener, const wire::RxPacket& packet) {
  const auto hello = wire::decode<wire::Hello>(packet.bytes);
  if (!hello || hello->sender_token == 0 || hello->hello_bytes != packet.bytes.size()) {
    counters.add(Counter::kDroppedMalformed);
    return;
  }
  // A listener that is gone is known by its number again: nothing of it has to be kept.
  const auto* open = listener == nullptr ? nullptr : listener->get<Listener>();
  wire::Key key;
  if (open != nullptr) {
    key = open->key;
  } else {
    const auto invitation = wire::invitation(secrets.listeners, hello->listener_number);
    if (wire::listener_token(invitation) != hello->destination) {
      counters.add(Counter::kDroppedUnknownToken);
      return;
    }
    key = wire::listener_key(invitation, secrets.site);
  }
  if (Channel::is_foreign(packet, wire::host_of(hello->sender_address))) {
    counters.add(Counter::kDroppedForeignHost);
    return;
  }
  if (!wire::authentic(packet.bytes, key)) {
    counters.add(Counter::kDroppedUnauthentic);
    return;
  }
  const auto known = by_sender.find({hello->sender_token, hello->sender_address});
  Slot* slot = known == by_sender.end() ? nullptr : find(known->second);
  if (slot == nullptr && open == nullptr) {
    refuse(*hello, {0, wire::Refuse::Cause::kClosed, std::string(kListenerClosed)}, key,
           packet.path);
    return;
  }
  if ((hello->protection == wire::Protection::kEncrypted) !=
      (config.protection == wire::Protection::kEncrypted)) {
    refuse(*hello, {0, wire::Refuse::Cause::kSettings, std::string(kEncryptionDiffers)}, key,
           packet.path);
    return;
  }
  if (slot == nullptr) slot = &open_half(now, *listener, *hello);
  if (auto* receiving = slot->get<RecvPtr>()) (*receiving)->on_hello(*hello, packet.path);
  settle(now, *slot);
}

Slot& Endpoint::State::open_half(Time now, Slot& listener, const wire::Hello& hello) {
  const std::uint64_t listener_token = listener.token;
  auto& half_open = listener.get<Listener>()->half_open;
  if (half_open.size() >= kHalfOpenMax) {
    std::erase_if(half_open, [&](std::uint64_t token) {
      Slot* slot = find(token);
      return slot == nullptr || slot->get<RecvPtr>() == nullptr ||
             (*slot->get<RecvPtr>())->started();
    });
  }
  if (half_open.size() >= kHalfOpenMax) {
    depart(now, *find(half_open.front()), std::nullopt);
    half_open.erase(half_open.begin());
  }
  Slot& slot = add(listener.context, draw_token());
  half_open.push_back(slot.token);
  const auto keys =
      wire::connection_keys(listener.get<Listener>()->key, hello.sender_token, slot.token);
  const auto protection = std::max(config.protection, hello.protection);
  slot.listener = listener_token;
  slot.channel = Channel(keys.to_sender, {keys.to_receiver, protection},
                         wire::host_of(hello.sender_address), config.ciphers.get());
  slot.what = std::make_unique<RecvConnection>(now, config, counters_of[slot.context], credits,
                                               unposted, slot.token, hello);
  by_sender[{hello.sender_token, hello.sender_address}] = slot.token;
  return slot;
}

// Who holds an invitation will not use it: the user above hears why, once, although it is said more
// often.
void Endpoint::State::on_declined(Slot& listener, const wire::RxPacket& packet) {
  const auto refuse = wire::decode<wire::Refuse>(packet.bytes);
  if (!refuse) {
    counters.add(Counter::kDroppedMalformed);
    return;
  }
  auto& open = *listener.get<Listener>();
  const bool proven = wire::authentic(packet.bytes, open.key);
  if (!proven && !wire::authentic(packet.bytes, open.key_without_site)) {
    counters.add(Counter::kDroppedUnauthentic);
    return;
  }
  if (std::exchange(proven ? open.declined : open.declined_unproven, true)) return;
  Event event;
  event.kind = Event::Kind::kDeclined;
  event.connection = listener.token;
  event.proven = proven;
  event.error = {ErrorCode::kInvalidUsage, kPeerRefuses + refuse->reason, kSetAlike};
  events.push_back(std::move(event));
}

void Endpoint::State::refuse(const wire::Hello& hello, wire::Refuse with, const wire::Key& key,
                             wire::PathIndex path) {
  with.destination = hello.sender_token;
  strays.push(with, key, 0, hello.sender_address, path);
}

}  // namespace dlcp::core
