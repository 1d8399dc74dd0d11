#include "core/endpoint/dispatch.h"

#include <algorithm>
#include <utility>

#include "wire/data/data_header.h"
#include "wire/frames/loss_frame.h"
#include "wire/frames/placed_frame.h"

namespace dlcp::core {
namespace {

// Decodes the frame and passes it to `take`; false if decoding fails.
template <class Frame, class Take>
bool deliver(const wire::RxPacket& packet, const Take& take) {
  const auto frame = wire::decode<Frame>(packet.bytes);
  if (frame) take(*frame);
  return frame.has_value();
}

// The reason to drop a packet, data or control frame, on this channel; nullopt: take it.
std::optional<Counter> refusal(Channel& channel, wire::FrameType type,
                               const wire::RxPacket& packet) {
  if (type != wire::FrameType::kData) return channel.refuse_control(packet);
  auto data = wire::decode_data(packet.bytes);
  return data ? channel.refuse_data(packet, *data) : Counter::kDroppedMalformed;
}

// Frames of a stream that its association seals, because they must keep their order with the
// association's data and ACKs.
bool sealed_by_association(wire::FrameType type) {
  return type == wire::FrameType::kData || type == wire::FrameType::kSentOnce ||
         type == wire::FrameType::kNeed || type == wire::FrameType::kStop;
}

}  // namespace

std::size_t Dispatch::on_packets(Time now, std::span<const wire::RxPacket> packets) {
  const std::size_t taken = take_data(now, packets);
  if (taken > 0) return taken;
  take_other(now, packets.front());
  return 1;
}

// The fast path: data for an existing connection, which is nearly all traffic. Returns 0 for
// everything else, which take_other() handles.
std::size_t Dispatch::take_data(Time now, std::span<const wire::RxPacket> packets) {
  wire::DataPacket data;
  if (!wire::decode_data(packets.front().bytes, data)) return 0;
  Slot* slot = slots_.find(data.header.destination);
  auto* receiving = slot == nullptr ? nullptr : slot->party.receiver();
  if (receiving == nullptr) return 0;
  RecvAssociation& association = receiving->association();
  Channel& channel = association.channel();
  const std::uint64_t token = slot->token;
  // An encrypted packet is a run of its own, because the next one is decrypted to the same memory.
  DataRun run{.placements = commons_.placements.wanted,
              .ends = channel.protection() == wire::Protection::kEncrypted};
  std::size_t taken = 0;
  std::size_t authentic = 0;  // packets[0] to packets[authentic - 1] are
  do {
    if (taken >= authentic && !run.ends) {
      const auto rest = packets.subspan(taken);
      const std::size_t together = channel.authentic_run(rest, data.header);
      if (together > 0 || channel.authentic_together(rest, data.header))
        authentic = taken + std::max(together, wire::kTagsTogether);
      const std::size_t count = receiving->on_data_run(rest.first(together), data.header, run);
      if (count > 0) {
        channel.accept_run(data.header, count);
        taken += count;
        continue;
      }
    }
    const wire::RxPacket& packet = packets[taken];
    if (const auto reason = channel.refuse_data(packet, data, taken < authentic))
      drop(*reason);
    else
      receiving->on_data(packet, data, run);
    ++taken;
  } while (!run.ends && taken < packets.size() && wire::decode_data(packets[taken].bytes, data) &&
           data.header.destination == token);
  if (run.packets == 0) return taken;
  receiving->on_run(now, run);
  if (!association.can_follow()) agenda_.want_turn(association.place(), Agenda::Turn::kAnswer);
  const bool served = agenda_.has_turn(slot->index) && agenda_.has_turn(association.place());
  if (receiving->has_outcome() || !served) lifecycle_.follow_up(now, *slot);
  return taken;
}

[[gnu::cold]] void Dispatch::take_other(Time now, const wire::RxPacket& packet) {
  const auto head = wire::decode_head(packet.bytes);
  if (!head) return drop(Counter::kDroppedMalformed);
  if (head->version != wire::kWireVersion) return drop(Counter::kDroppedVersion);
  // A control frame is answered on the path that its sender chose, not on the path it arrived on: a
  // peer may send all its paths to one port of this endpoint.
  const auto answer_path = static_cast<wire::PathIndex>(head->flags % commons_.config.paths);
  Slot* slot = slots_.find(head->destination);
  if (head->type == wire::FrameType::kHello)
    return admission_.on_hello(now, slot, packet, answer_path);
  if (slot == nullptr) return drop(Counter::kDroppedUnknownToken);
  if (slot->party.listener() != nullptr && head->type == wire::FrameType::kRefuse)
    return admission_.on_declined(*slot, packet);

  const Arrival arrival{now, packet, head->type, *slot, answer_path};
  if (slot->party.is_association()) return to_association(arrival);
  if (auto* departed = slot->party.departed()) return to_departed(arrival, *departed);
  auto* sending = slot->party.sender();
  if (head->type == wire::FrameType::kData || !slot->party.is_connection())
    return drop(Counter::kDroppedUnexpected);
  if (sending != nullptr && head->type == wire::FrameType::kWelcome && !sending->open())
    return on_welcome(arrival, *sending);
  Channel* channel = channel_of(*slot, head->type);
  if (channel == nullptr) return drop(Counter::kDroppedUnknownToken);
  if (const auto reason = channel->refuse_control(packet)) return drop(*reason);
  const bool sound = sending != nullptr ? to_sender(arrival, *sending)
                                        : to_receiver(arrival, *slot->party.receiver());
  if (!sound) drop(Counter::kDroppedUnexpected);
  // A repeated WELCOME may be older than the frame that arrived last.
  const bool again = head->type == wire::FrameType::kWelcome;
  if (sound && sending != nullptr && !again) sending->association().heard_on(answer_path);
  lifecycle_.follow_up(now, *slot);
}

void Dispatch::to_departed(const Arrival& arrival, Departed& departed) {
  Channel* channel = channel_of(arrival.slot, arrival.type);
  if (channel == nullptr) return drop(Counter::kDroppedUnknownToken);
  if (const auto reason = refusal(*channel, arrival.type, arrival.packet)) return drop(*reason);
  if (departed.on_frame(arrival.now, arrival.type)) lifecycle_.leave(arrival.slot);
  if (arrival.slot.token != 0) lifecycle_.follow_up(arrival.now, arrival.slot);
}

// The keys of a connection depend on the token in WELCOME, so WELCOME is opened with the keys that
// its token gives. The token may change: a receiver that has dropped a slow half-open connection
// accepts it again under a new token.
void Dispatch::on_welcome(const Arrival& arrival, SendStream& stream) {
  Slot& slot = arrival.slot;
  const auto welcome = wire::decode<wire::Welcome>(arrival.packet.bytes);
  if (!welcome) return drop(Counter::kDroppedMalformed);
  const auto keys =
      wire::connection_keys(stream.handshake().listener_key(), slot.token, welcome->receiver_token);
  Channel channel = slot.channel;
  if (!(keys.to_sender == channel.opening_key())) channel.rekey(keys.to_receiver, keys.to_sender);
  if (const auto reason = channel.refuse_control(arrival.packet)) return drop(*reason);
  slot.channel = std::move(channel);
  stream.on_welcome(arrival.now, *welcome);
  if (stream.lacks_association()) {
    stream.move_to(arrival.now, associations_.after(stream.association(), stream.counters()));
    slot.association = stream.association().token();
  }
  stream.association().heard_on(arrival.answer_path);
  lifecycle_.begin_streams(arrival.now, stream.association());
  lifecycle_.follow_up(arrival.now, slot);
}

Channel* Dispatch::channel_of(Slot& slot, wire::FrameType type) const {
  if (!sealed_by_association(type)) return &slot.channel;
  const Slot* association = slots_.find(slot.association);
  return association == nullptr ? nullptr : association->party.channel();
}

void Dispatch::to_association(const Arrival& arrival) {
  Slot& slot = arrival.slot;
  if (const auto reason = slot.party.channel()->refuse_control(arrival.packet))
    return drop(*reason);
  auto* sending = slot.party.send_association();
  auto* receiving = slot.party.recv_association();
  const bool acks = arrival.type == wire::FrameType::kAck || arrival.type == wire::FrameType::kPing;
  if (sending != nullptr && acks)
    on_ack(arrival, *sending);
  else if (receiving != nullptr && arrival.type == wire::FrameType::kProbe)
    on_probe(arrival, *receiving);
  else if (receiving != nullptr && arrival.type == wire::FrameType::kPong)
    on_pong(arrival, *receiving);
  else if (!on_placing(arrival, sending, receiving))
    drop(Counter::kDroppedUnexpected);
  lifecycle_.follow_up(arrival.now, slot);
}

void Dispatch::on_ack(const Arrival& arrival, SendAssociation& association) {
  if (!wire::decode_ack(arrival.packet.bytes, ack_)) return drop(Counter::kDroppedMalformed);
  association.heard_on(arrival.answer_path);
  association.on_ack(arrival.now, ack_, arrival.packet.arrived_at,
                     association.channel().last_is_newest(), reported_);
  if (ack_.asks_pong) on_ping(arrival, association);
  for (const std::uint64_t token : reported_)
    if (Slot* stream = slots_.find(token)) lifecycle_.follow_up(arrival.now, *stream);
}

// The peer waits for streams that have ended here. The record of each tells it how; streams without
// a record are named in the answer.
void Dispatch::on_ping(const Arrival& arrival, SendAssociation& association) {
  association.on_ping(arrival.now, ack_.sent);
  for (const std::uint32_t number : association.ended()) {
    bool is_recorded = false;
    slots_.for_each([&](Slot& slot) {
      Departed* departed = slot.party.departed();
      if (departed == nullptr || slot.association != arrival.slot.token ||
          departed->peer().stream != number)
        return;
      is_recorded = true;
      departed->on_probe();
      lifecycle_.follow_up(arrival.now, slot);
    });
    if (!is_recorded) association.report_unknown(number);
  }
}

bool Dispatch::on_placing(const Arrival& arrival, SendAssociation* sending,
                          RecvAssociation* receiving) {
  if (arrival.type == wire::FrameType::kPermits && sending != nullptr) {
    const auto permits = wire::decode<wire::Permits>(arrival.packet.bytes);
    return permits && sending->on_permits(arrival.now, *permits);
  }
  if (arrival.type != wire::FrameType::kLink) return false;
  const auto link = wire::decode<wire::Link>(arrival.packet.bytes);
  if (!link) return false;
  return sending != nullptr ? sending->on_link(arrival.now, *link)
                            : receiving->on_link(arrival.now, *link);
}

// Records of ended streams answer a PROBE as well: the sender may have missed how they ended.
void Dispatch::on_probe(const Arrival& arrival, RecvAssociation& association) {
  const auto probe = wire::decode<wire::Probe>(arrival.packet.bytes);
  if (!probe) return drop(Counter::kDroppedMalformed);
  association.on_probe(arrival.now, *probe, arrival.answer_path);
  const std::vector<std::uint64_t> departed =
      association.departed();  // follow_up() may remove some
  for (const std::uint64_t token : departed) {
    Slot& slot = *slots_.find(token);
    slot.party.departed()->on_probe();
    lifecycle_.follow_up(arrival.now, slot);
  }
}

void Dispatch::on_pong(const Arrival& arrival, RecvAssociation& association) {
  const auto pong = wire::decode<wire::Pong>(arrival.packet.bytes);
  if (!pong) return drop(Counter::kDroppedMalformed);
  for (const std::uint64_t token : association.on_pong(arrival.now, *pong, arrival.answer_path))
    if (Slot* slot = slots_.find(token)) lifecycle_.follow_up(arrival.now, *slot);
}

void Dispatch::on_established(Time now, const SendStream& stream) {
  if (stream.handshake().needs_unmarked()) lifecycle_.unmark(stream.peer_address());
  lifecycle_.begin_streams(now, stream.association());
}

bool Dispatch::to_sender(const Arrival& arrival, SendStream& connection) {
  const Time now = arrival.now;
  const wire::RxPacket& packet = arrival.packet;
  switch (arrival.type) {
    case wire::FrameType::kWelcome:
      return true;  // a repetition; the connection is open
    case wire::FrameType::kStarted:
      return deliver<wire::Started>(packet, [&](auto& f) {
        connection.on_started(now, f);
        on_established(now, connection);
      });
    case wire::FrameType::kRefuse:
      return deliver<wire::Refuse>(packet, [&](auto& f) { connection.on_refuse(f); });
    case wire::FrameType::kClose: {  // also establishes the association if STARTED was lost
      const bool known = to_either(arrival, connection);
      on_established(now, connection);
      return known;
    }
    case wire::FrameType::kNeed:
      return deliver<wire::Need>(packet, [&](auto& f) { connection.on_need(now, f); });
    case wire::FrameType::kStop:
      return deliver<wire::Stop>(packet, [&](auto& f) { connection.on_stop(now, f); });
    default:
      return to_either(arrival, connection);
  }
}

bool Dispatch::to_receiver(const Arrival& arrival, RecvStream& connection) {
  const Time now = arrival.now;
  const wire::RxPacket& packet = arrival.packet;
  switch (arrival.type) {
    case wire::FrameType::kStart:
      return deliver<wire::Start>(packet, [&](auto& f) {
        const bool before = connection.started();
        connection.on_start(now, f, arrival.answer_path);
        if (f.unmarked && commons_.config.can_unmark) lifecycle_.unmark(connection.peer_address());
        if (!before && connection.started()) admission_.on_started(arrival.slot);
      });
    case wire::FrameType::kSentOnce:
      return deliver<wire::SentOnce>(packet, [&](auto& f) {
        connection.on_sent_once(now, f, arrival.answer_path, commons_.placements.wanted);
      });
    default:
      return to_either(arrival, connection);
  }
}

// The frames by which a peer ends a connection, on either side.
template <class Connection>
bool Dispatch::to_either(const Arrival& arrival, Connection& connection) {
  switch (arrival.type) {
    case wire::FrameType::kClose:
      return deliver<wire::Close>(arrival.packet, [&](auto& f) {
        Channel& channel = arrival.slot.channel;
        commons_.strays.push(wire::CloseAck{connection.peer_token()}, channel.sealing_key(),
                             channel.next_sequence(), connection.peer_address(),
                             {arrival.answer_path});
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
