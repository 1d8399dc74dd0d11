// What comes from the network: finds whose a frame is, checks that it may come now, hands it over.
// What nobody can use is counted by reason and changes nothing.
#include <fmt/format.h>

#include "core/endpoint_state.h"
#include "wire/data_header.h"
#include "wire/loss_frame.h"

namespace dlcp::core {
namespace {

// Hands over what the bytes say; false if that is no frame of the kind.
template <class Frame, class Take>
bool deliver(const wire::RxPacket& packet, const Take& take) {
  const auto frame = wire::decode<Frame>(packet.bytes);
  if (frame) take(*frame);
  return frame.has_value();
}

}  // namespace

// Nearly all that comes: data, for a connection that is there. False for everything else, which
// dispatch() looks into.
bool Endpoint::State::take_data(Time now, const wire::RxPacket& packet) {
  auto data = wire::decode_data(packet.bytes);
  Slot* slot = data ? find(data->header.destination) : nullptr;
  const auto* receiving = slot == nullptr ? nullptr : slot->get<RecvPtr>();
  if (receiving == nullptr) return false;
  if (const auto reason = slot->channel.refuse_data(packet, *data)) {
    counters.add(*reason);
    return true;
  }
  (*receiving)->release_copied();
  (*receiving)->on_data(now, packet, *data, placements);
  if ((*receiving)->has_news() || !slot->in_ready) settle(now, *slot);
  return true;
}

void Endpoint::State::dispatch(Time now, const wire::RxPacket& arrived) {
  const auto head = wire::decode_head(arrived.bytes);
  if (!head) {
    counters.add(Counter::kDroppedMalformed);
    return;
  }
  if (head->version != wire::kWireVersion) {
    counters.add(Counter::kDroppedVersion);
    return;
  }
  // A control frame is answered on the path its sender chose, wherever it came in: peers may send
  // all their paths to one port of ours.
  wire::RxPacket packet = arrived;
  packet.path = static_cast<wire::PathIndex>(head->flags % config.paths);
  Slot* slot = find(head->destination);
  if (head->type == wire::FrameType::kHello) {
    on_hello(now, slot, packet);
    return;
  }
  if (slot == nullptr) {
    counters.add(Counter::kDroppedUnknownToken);
    return;
  }
  if (slot->get<Listener>() != nullptr && head->type == wire::FrameType::kRefuse) {
    on_declined(*slot, packet);
    return;
  }
  if (slot->get<Departed>() != nullptr) {
    to_departed(now, *slot, *head, packet);
    return;
  }
  auto* sending = slot->get<SendPtr>();
  auto* receiving = slot->get<RecvPtr>();
  if (head->type == wire::FrameType::kData || (sending == nullptr && receiving == nullptr)) {
    counters.add(Counter::kDroppedUnexpected);
    return;
  }
  if (sending != nullptr && head->type == wire::FrameType::kWelcome && !(*sending)->open()) {
    on_welcome(now, *slot, **sending, packet);
    return;
  }
  if (const auto reason = slot->channel.refuse_control(packet)) {
    counters.add(*reason);
    return;
  }
  const bool sound = sending != nullptr ? to_sender(now, *slot, **sending, head->type, packet)
                                        : to_receiver(now, *slot, **receiving, head->type, packet);
  if (!sound) counters.add(Counter::kDroppedUnexpected);
  settle(now, *slot);
}

void Endpoint::State::to_departed(Time now, Slot& slot, const wire::FrameHead& head,
                                  const wire::RxPacket& packet) {
  std::optional<Counter> reason;
  if (head.type == wire::FrameType::kData) {
    auto data = wire::decode_data(packet.bytes);
    reason =
        data ? slot.channel.refuse_data(packet, *data) : std::optional(Counter::kDroppedMalformed);
  } else {
    reason = slot.channel.refuse_control(packet);
  }
  if (reason) {
    counters.add(*reason);
    return;
  }
  if (slot.get<Departed>()->on_frame(now, head.type)) {
    slot.what = std::monostate{};
    if (!slot.held_by_user) {
      release(slot);
      return;
    }
  }
  settle(now, slot);
}

// The keys of a connection hang on the token that WELCOME brings, so it is opened with those. The
// peer may have forgotten a connection that was slow to start, and welcome it anew.
void Endpoint::State::on_welcome(Time now, Slot& slot, SendConnection& connection,
                                 const wire::RxPacket& packet) {
  const auto welcome = wire::decode<wire::Welcome>(packet.bytes);
  if (!welcome) {
    counters.add(Counter::kDroppedMalformed);
    return;
  }
  const auto keys = wire::connection_keys(connection.handshake().listener_key(), slot.token,
                                          welcome->receiver_token);
  Channel channel = slot.channel;
  if (!(keys.to_sender == channel.opening_key())) {
    channel.rekey(keys.to_receiver, keys.to_sender);
  }
  if (const auto reason = channel.refuse_control(packet)) {
    counters.add(*reason);
    return;
  }
  slot.channel = std::move(channel);
  connection.on_welcome(now, *welcome);
  connection.heard_on(packet.path);
  settle(now, slot);
}

bool Endpoint::State::to_sender(Time now, Slot& slot, SendConnection& connection,
                                wire::FrameType type, const wire::RxPacket& packet) {
  bool sound = false;
  switch (type) {
    case wire::FrameType::kAck:
      sound = wire::decode_ack(packet.bytes, ack_in);
      if (sound) connection.on_ack(now, ack_in, packet.arrived_at, slot.channel.last_is_newest());
      break;
    case wire::FrameType::kWelcome:
      return true;  // again, of a connection that is open
    case wire::FrameType::kStarted:
      sound = deliver<wire::Started>(packet, [&](auto& f) { connection.on_started(now, f); });
      break;
    case wire::FrameType::kRefuse:
      sound = deliver<wire::Refuse>(packet, [&](auto& f) { connection.on_refuse(f); });
      break;
    case wire::FrameType::kPing:
      sound = deliver<wire::Ping>(packet, [&](auto&) { connection.on_ping(now); });
      break;
    case wire::FrameType::kNeed:
      sound = deliver<wire::Need>(packet, [&](auto& f) { connection.on_need(now, f); });
      break;
    case wire::FrameType::kStop:
      sound = deliver<wire::Stop>(packet, [&](auto& f) { connection.on_stop(now, f); });
      break;
    case wire::FrameType::kClose:
      sound = deliver<wire::Close>(packet, [&](auto& f) {
        answer_close(slot, connection.peer_token(), connection.peer_address(), packet.path);
        connection.on_peer_closed(now, f.completed);
      });
      break;
    case wire::FrameType::kReset:
      sound = deliver<wire::Reset>(packet, [&](auto& f) { connection.on_reset(f); });
      if (sound) counters.add(Counter::kResetsReceived);
      break;
    default:
      break;
  }
  if (sound) connection.heard_on(packet.path);
  return sound;
}

bool Endpoint::State::to_receiver(Time now, Slot& slot, RecvConnection& connection,
                                  wire::FrameType type, const wire::RxPacket& packet) {
  switch (type) {
    case wire::FrameType::kStart:
      return deliver<wire::Start>(packet, [&](auto& f) {
        const bool before = connection.started();
        connection.on_start(now, f, packet.path);
        Slot* listener = find(slot.listener);
        if (!before && connection.started() && listener != nullptr) {
          listener->get<Listener>()->acceptable.push_back(slot.token);
        }
      });
    case wire::FrameType::kProbe:
      return deliver<wire::Probe>(packet,
                                  [&](auto& f) { connection.on_probe(now, f, packet.path); });
    case wire::FrameType::kSentOnce:
      return deliver<wire::SentOnce>(packet, [&](auto& f) {
        connection.release_copied();
        connection.on_sent_once(now, f, packet.path, placements);
      });
    case wire::FrameType::kPong:
      return deliver<wire::Pong>(packet, [&](auto&) { connection.on_pong(now, packet.path); });
    case wire::FrameType::kClose:
      return deliver<wire::Close>(packet, [&](auto& f) {
        answer_close(slot, connection.peer_token(), connection.peer_address(), packet.path);
        connection.on_peer_closed(now, f.completed);
      });
    case wire::FrameType::kReset:
      return deliver<wire::Reset>(packet, [&](auto& f) {
        connection.on_reset(f);
        counters.add(Counter::kResetsReceived);
      });
    default:
      return false;
  }
}

void Endpoint::State::answer_close(Slot& slot, std::uint64_t peer_token,
                                   const wire::EndpointAddress& to, wire::PathIndex path) {
  strays.push(wire::CloseAck{peer_token}, slot.channel.sealing_key(), slot.channel.next_sequence(),
              to, path);
}

}  // namespace dlcp::core
