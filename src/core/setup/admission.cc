#include "core/setup/admission.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/liveness/peer_errors.h"

namespace dlcp::core {
namespace {

// The reason that the sender of a connection gets if the listener closes before it accepts.
constexpr std::string_view kListenerClosed = "the listener was closed";

bool encrypts(wire::Protection protection) {
  return protection == wire::Protection::kEncrypted;
}

}  // namespace

Listening Admission::listen(ContextId context, std::uint32_t number,
                            std::vector<wire::EndpointAddress> lanes) {
  lanes.resize(std::min(lanes.size(), wire::Welcome::kLanesMax));
  const wire::Invitation invitation = wire::invitation(commons_.secrets.listeners, number);
  Slot& slot = slots_.add(context, wire::listener_token(invitation));
  Listener listener;
  listener.key = wire::listener_key(invitation, commons_.secrets.site);
  listener.key_without_site = wire::listener_key(invitation, {});
  listener.lanes = std::move(lanes);
  slot.party = std::move(listener);
  return {slot.token, invitation};
}

void Admission::close_listener(Time now, ListenerId listener) {
  Slot* slot = slots_.find(listener);
  if (slot == nullptr || slot->party.listener() == nullptr) return;
  slots_.for_each([&](Slot& waiting) {
    const auto* receiving = waiting.party.receiver();
    if (receiving == nullptr || waiting.listener != listener || waiting.held_by_user) return;
    lifecycle_.depart(now, waiting,
                      Departed::End{Departed::Kind::kReset, Departed::peer_of(*receiving),
                                    std::string(kListenerClosed)});
  });
  slots_.release(*slot);
}

std::optional<ConnectionId> Admission::accept(ListenerId listener) {
  Slot* slot = slots_.find(listener);
  if (slot == nullptr || slot->party.listener() == nullptr) return std::nullopt;
  auto& acceptable = slot->party.listener()->acceptable;
  while (!acceptable.empty()) {
    Slot* connection = slots_.find(acceptable.front());
    acceptable.pop_front();
    if (connection == nullptr || connection->party.receiver() == nullptr) continue;
    connection->held_by_user = true;
    connection->party.receiver()->on_accepted();
    return connection->token;
  }
  return std::nullopt;
}

void Admission::on_started(const Slot& slot) {
  Slot* listener = slots_.find(slot.listener);
  if (listener != nullptr) listener->party.listener()->acceptable.push_back(slot.token);
}

// A closed listener is recognised by the number in HELLO, so that no record of it is needed.
std::optional<Admission::Door> Admission::find_door(Slot* slot, const wire::Hello& hello) const {
  if (slot != nullptr && slot->party.listener() != nullptr)
    return Door{slot->party.listener()->key, slot};
  const auto invitation = wire::invitation(commons_.secrets.listeners, hello.listener_number);
  if (wire::listener_token(invitation) != hello.destination) return std::nullopt;
  return Door{wire::listener_key(invitation, commons_.secrets.site), nullptr};
}

void Admission::on_hello(Time now, Slot* to, const wire::RxPacket& packet,
                         wire::PathIndex answer_path) {
  const auto drop = [&](Counter reason) { commons_.counters.add(reason); };
  const auto hello = wire::decode<wire::Hello>(packet.bytes);
  if (!hello || hello->sender_token == 0 || hello->association == 0 ||
      hello->hello_bytes != packet.bytes.size())
    return drop(Counter::kDroppedMalformed);
  const auto door = find_door(to, *hello);
  if (!door) return drop(Counter::kDroppedUnknownToken);
  if (Channel::is_foreign(packet, wire::host_of(hello->sender_address)))
    return drop(Counter::kDroppedForeignHost);
  if (!wire::authentic(packet.bytes, door->key)) return drop(Counter::kDroppedUnauthentic);

  const AnswerWay way{answer_path, commons_.config.can_unmark && packet.unmarked()};
  Slot* slot = slots_.find(SenderName{hello->sender_token, hello->sender_address});
  if (slot == nullptr && door->listener == nullptr) {
    refuse(*hello, {0, wire::Refuse::Cause::kClosed, std::string(kListenerClosed)}, door->key, way);
    return;
  }
  if (encrypts(hello->protection) != encrypts(commons_.config.protection)) {
    refuse(*hello,
           {0, wire::Refuse::Cause::kSettings,
            "one of the two ranks encrypts payloads (DLCP_ENCRYPT), but the other does not"},
           door->key, way);
    return;
  }
  if (slot == nullptr) slot = open(now, *door->listener, *hello);
  if (slot == nullptr) return drop(Counter::kDroppedReplayed);
  if (auto* receiving = slot->party.receiver()) {
    // The stream's earlier HELLO was for an association that was not established yet.
    auto* joined = receiving->started() ? nullptr : associations_.joined_by(*hello);
    if (joined == &receiving->association() && joined->takes(hello->stream)) {
      receiving->join(now, hello->stream);
      on_started(*slot);
    }
    const bool bundled = hello->membership.lanes > 1 && door->listener != nullptr;
    receiving->on_hello(
        *hello, way,
        bundled ? std::span<const wire::EndpointAddress>(door->listener->party.listener()->lanes)
                : std::span<const wire::EndpointAddress>());
  } else if (slot->party.departed() != nullptr) {
    return welcome_again(*slot, *hello, way);
  }
  lifecycle_.follow_up(now, *slot);
}

// The stream was accepted and closed before its sender had received WELCOME, without which the
// sender cannot read how the stream ended.
void Admission::welcome_again(const Slot& departed, const wire::Hello& hello,
                              const AnswerWay& way) {
  const auto* association = associations_.joined_by(hello);
  if (association == nullptr || departed.association != association->token()) return;
  wire::Welcome welcome = association->welcome(hello, departed.token);
  welcome.payload_bytes = association->payload_bytes();
  Slot& slot = slots_.at(departed.index);
  commons_.strays.push(welcome, slot.channel.sealing_key(), slot.channel.next_sequence(),
                       hello.sender_address, way);
}

void Admission::make_room(Time now, Listener& listener) {
  auto& half_open = listener.half_open;
  if (half_open.size() < kHalfOpenMax) return;
  std::erase_if(half_open, [&](std::uint64_t token) {
    const Slot* slot = slots_.find(token);
    return slot == nullptr || slot->party.receiver() == nullptr ||
           slot->party.receiver()->started();
  });
  if (half_open.size() < kHalfOpenMax) return;
  lifecycle_.depart(now, *slots_.find(half_open.front()), std::nullopt);
  half_open.erase(half_open.begin());
}

Slot* Admission::open(Time now, Slot& at, const wire::Hello& hello) {
  Listener& listener = *at.party.listener();
  auto* association = associations_.joined_by(hello);
  const bool joins = association != nullptr;
  if (joins && !association->takes(hello.stream)) return nullptr;
  if (!joins) make_room(now, listener);
  Slot& slot = slots_.add(at.context);
  const auto keys = wire::connection_keys(listener.key, hello.sender_token, slot.token);
  Counters& counters = commons_.counters.of(slot.context);
  if (!joins) {
    association = &associations_.from(hello, listener.key, counters);
    association->takes(hello.stream);
  }
  slot.listener = at.token;
  slot.association = association->token();
  slot.channel = Channel(keys.to_sender, {keys.to_receiver, association->channel().protection()},
                         wire::host_of(hello.sender_address), commons_.config.ciphers.get());
  auto stream = std::make_unique<RecvStream>(now, commons_.config, counters, commons_.unposted,
                                             slot.token, hello, *association);
  if (joins) stream->join(now, hello.stream);
  slot.party = std::move(stream);
  slots_.name({hello.sender_token, hello.sender_address}, slot);
  if (joins)
    on_started(slot);
  else
    listener.half_open.push_back(slot.token);
  return &slot;
}

// Refusals are repeated; the user gets only one event per kind.
void Admission::on_declined(Slot& listener, const wire::RxPacket& packet) {
  const auto refuse = wire::decode<wire::Refuse>(packet.bytes);
  if (!refuse) return commons_.counters.add(Counter::kDroppedMalformed);
  auto& open = *listener.party.listener();
  const bool proven = wire::authentic(packet.bytes, open.key);
  if (!proven && !wire::authentic(packet.bytes, open.key_without_site))
    return commons_.counters.add(Counter::kDroppedUnauthentic);
  if (std::exchange(proven ? open.declined : open.declined_unproven, true)) return;
  Event event;
  event.kind = Event::Kind::kDeclined;
  event.connection = listener.token;
  event.proven = proven;
  event.error = peer_refuses({0, wire::Refuse::Cause::kSettings, refuse->reason});
  lifecycle_.report(std::move(event));
}

void Admission::refuse(const wire::Hello& hello, wire::Refuse with, const wire::Key& key,
                       const AnswerWay& way) {
  with.destination = hello.sender_token;
  commons_.strays.push(with, key, 0, hello.sender_address, way);
}

}  // namespace dlcp::core
