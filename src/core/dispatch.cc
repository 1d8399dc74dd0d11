#include "core/dispatch.h"

#include <utility>

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

// Why the packet is not taken from the peer that this channel belongs to; data, or a control frame.
std::optional<Counter> refusal(Channel& channel, wire::FrameType type,
                               const wire::RxPacket& packet) {
  if (type != wire::FrameType::kData) return channel.refuse_control(packet);
  auto data = wire::decode_data(packet.bytes);
  return data ? channel.refuse_data(packet, *data) : Counter::kDroppedMalformed;
}

}  // namespace

void Dispatch::on_packet(Time now, const wire::RxPacket& packet) {
  if (!take_data(now, packet)) take_other(now, packet);
}

// Nearly all that comes: data, for a connection that is there. False for everything else, which
// take_other() looks into.
bool Dispatch::take_data(Time now, const wire::RxPacket& packet) {
  auto data = wire::decode_data(packet.bytes);
  Slot* slot = data ? slots_.find(data->header.destination) : nullptr;
  auto* receiving = slot == nullptr ? nullptr : slot->party.receiver();
  if (receiving == nullptr) return false;
  if (const auto reason = slot->channel.refuse_data(packet, *data)) {
    drop(*reason);
    return true;
  }
  receiving->release_copied();
  receiving->on_data(now, packet, *data, commons_.placements.wanted);
  if (receiving->has_news() || !agenda_.has_turn(slot->index)) lifecycle_.follow_up(now, *slot);
  return true;
}

[[gnu::cold]] void Dispatch::take_other(Time now, const wire::RxPacket& arrived) {
  const auto head = wire::decode_head(arrived.bytes);
  if (!head) return drop(Counter::kDroppedMalformed);
  if (head->version != wire::kWireVersion) return drop(Counter::kDroppedVersion);
  // A control frame is answered on the path its sender chose, wherever it came in: peers may send
  // all their paths to one port of ours.
  wire::RxPacket packet = arrived;
  packet.path = static_cast<wire::PathIndex>(head->flags % commons_.config.paths);
  Slot* slot = slots_.find(head->destination);
  if (head->type == wire::FrameType::kHello) return admission_.on_hello(now, slot, packet);
  if (slot == nullptr) return drop(Counter::kDroppedUnknownToken);
  if (slot->party.listener() != nullptr && head->type == wire::FrameType::kRefuse)
    return admission_.on_declined(*slot, packet);

  const Arrival arrival{now, packet, head->type, *slot};
  if (auto* departed = slot->party.departed()) return to_departed(arrival, *departed);
  auto* sending = slot->party.sender();
  if (head->type == wire::FrameType::kData || !slot->party.is_connection())
    return drop(Counter::kDroppedUnexpected);
  if (sending != nullptr && head->type == wire::FrameType::kWelcome && !sending->open())
    return on_welcome(arrival, *sending);
  if (const auto reason = slot->channel.refuse_control(packet)) return drop(*reason);
  const bool sound = sending != nullptr ? to_sender(arrival, *sending)
                                        : to_receiver(arrival, *slot->party.receiver());
  if (!sound) drop(Counter::kDroppedUnexpected);
  const bool again = head->type == wire::FrameType::kWelcome;
  if (sound && sending != nullptr && !again) sending->heard_on(packet.path);
  lifecycle_.follow_up(now, *slot);
}

void Dispatch::to_departed(const Arrival& arrival, Departed& departed) {
  if (const auto reason = refusal(arrival.slot.channel, arrival.type, arrival.packet))
    return drop(*reason);
  if (departed.on_frame(arrival.now, arrival.type)) lifecycle_.leave(arrival.slot);
  if (arrival.slot.token != 0) lifecycle_.follow_up(arrival.now, arrival.slot);
}

// The keys of a connection hang on the token that WELCOME brings, so it is opened with those. The
// peer may have forgotten a connection that was slow to start, and welcome it anew.
void Dispatch::on_welcome(const Arrival& arrival, SendConnection& connection) {
  Slot& slot = arrival.slot;
  const auto welcome = wire::decode<wire::Welcome>(arrival.packet.bytes);
  if (!welcome) return drop(Counter::kDroppedMalformed);
  const auto keys = wire::connection_keys(connection.handshake().listener_key(), slot.token,
                                          welcome->receiver_token);
  Channel channel = slot.channel;
  if (!(keys.to_sender == channel.opening_key())) channel.rekey(keys.to_receiver, keys.to_sender);
  if (const auto reason = channel.refuse_control(arrival.packet)) return drop(*reason);
  slot.channel = std::move(channel);
  connection.on_welcome(arrival.now, *welcome);
  connection.heard_on(arrival.packet.path);
  lifecycle_.follow_up(arrival.now, slot);
}

bool Dispatch::to_sender(const Arrival& arrival, SendConnection& connection) {
  const Time now = arrival.now;
  const wire::RxPacket& packet = arrival.packet;
  switch (arrival.type) {
    case wire::FrameType::kAck:
      if (!wire::decode_ack(packet.bytes, ack_)) return false;
      connection.on_ack(now, ack_, packet.arrived_at, arrival.slot.channel.last_is_newest());
      return true;
    case wire::FrameType::kWelcome:
      return true;  // again, of a connection that is open
    case wire::FrameType::kStarted:
      return deliver<wire::Started>(packet, [&](auto& f) { connection.on_started(now, f); });
    case wire::FrameType::kRefuse:
      return deliver<wire::Refuse>(packet, [&](auto& f) { connection.on_refuse(f); });
    case wire::FrameType::kPing:
      return deliver<wire::Ping>(packet, [&](auto&) { connection.on_ping(now); });
    case wire::FrameType::kNeed:
      return deliver<wire::Need>(packet, [&](auto& f) { connection.on_need(now, f); });
    case wire::FrameType::kStop:
      return deliver<wire::Stop>(packet, [&](auto& f) { connection.on_stop(now, f); });
    default:
      return to_either(arrival, connection);
  }
}

bool Dispatch::to_receiver(const Arrival& arrival, RecvConnection& connection) {
  const Time now = arrival.now;
  const wire::RxPacket& packet = arrival.packet;
  switch (arrival.type) {
    case wire::FrameType::kStart:
      return deliver<wire::Start>(packet, [&](auto& f) {
        const bool before = connection.started();
        connection.on_start(now, f, packet.path);
        if (!before && connection.started()) admission_.on_started(arrival.slot);
      });
    case wire::FrameType::kProbe:
      return deliver<wire::Probe>(packet,
                                  [&](auto& f) { connection.on_probe(now, f, packet.path); });
    case wire::FrameType::kSentOnce:
      return deliver<wire::SentOnce>(packet, [&](auto& f) {
        connection.release_copied();
        connection.on_sent_once(now, f, packet.path, commons_.placements.wanted);
      });
    case wire::FrameType::kPong:
      return deliver<wire::Pong>(packet, [&](auto&) { connection.on_pong(now, packet.path); });
    default:
      return to_either(arrival, connection);
  }
}

// How a peer ends a connection, whichever side it is.
template <class Connection>
bool Dispatch::to_either(const Arrival& arrival, Connection& connection) {
  switch (arrival.type) {
    case wire::FrameType::kClose:
      return deliver<wire::Close>(arrival.packet, [&](auto& f) {
        Channel& channel = arrival.slot.channel;
        commons_.strays.push(wire::CloseAck{connection.peer_token()}, channel.sealing_key(),
                             channel.next_sequence(), connection.peer_address(),
                             arrival.packet.path);
        connection.on_peer_closed(arrival.now, f.completed);
      });
    case wire::FrameType::kReset:
      return deliver<wire::Reset>(arrival.packet, [&](auto& f) {
        connection.on_reset(f);
        commons_.counters.add(Counter::kResetsReceived);
      });
    default:
      return false;
  }
}

}  // namespace dlcp::core
