// What comes from the network: finds whose a frame is, checks that it may come now, hands it over.
// What nobody can use is counted by reason and changes nothing.
#include <fmt/format.h>

#include "core/endpoint_state.h"
#include "wire/data_header.h"
#include "wire/loss_frame.h"

namespace dlcp::core {
namespace {

// Answers to strangers are cheap to ask for: no more than this many wait to be sent.
constexpr std::size_t kStraysMax = 64;

}  // namespace

// Nearly all that comes: data, for a connection that is there. False for everything else, which
// dispatch() looks into.
bool Endpoint::State::take_data(Time now, const wire::RxPacket& packet) {
  const auto data = wire::decode_data(packet.bytes);
  Slot* slot = data ? find(data->header.destination) : nullptr;
  const auto* receiving = slot == nullptr ? nullptr : slot->get<RecvPtr>();
  if (receiving == nullptr) return false;
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
  // A control frame is answered on the path its sender chose, wherever it came in: peers may send
  // all their paths to one port of ours.
  wire::RxPacket packet = arrived;
  packet.path = static_cast<wire::PathIndex>(head->flags % config.paths);
  Slot* slot = find(head->destination);
  const bool other_version = head->version != wire::kWireVersion;
  if (other_version && head->type != wire::FrameType::kHello &&
      head->type != wire::FrameType::kRefuse) {
    counters.add(Counter::kDroppedVersion);
    return;
  }
  if (slot == nullptr) {
    counters.add(Counter::kDroppedUnknownToken);
    return;
  }
  if (slot->get<Listener>() != nullptr) {
    if (head->type == wire::FrameType::kHello) {
      on_hello(now, *slot, packet);
    } else {
      counters.add(Counter::kDroppedUnexpected);
    }
    return;
  }
  if (auto* sending = slot->get<SendPtr>()) {
    to_sender(now, **sending, head->type, packet);
  } else if (auto* receiving = slot->get<RecvPtr>()) {
    to_receiver(now, *slot, **receiving, head->type, packet);
  } else if (auto* departed = slot->get<Departed>()) {
    const bool intact = head->type == wire::FrameType::kData
                            ? wire::decode_data(packet.bytes).has_value()
                            : wire::control_intact(packet.bytes);
    if (!intact) {
      counters.add(Counter::kDroppedHeaderCrc);
    } else if (departed->on_frame(now, head->type)) {
      slot->what = std::monostate{};
      if (!slot->held_by_user) {
        release(*slot);
        return;
      }
    }
  }
  settle(now, *slot);
}

void Endpoint::State::on_hello(Time now, Slot& listener, const wire::RxPacket& packet) {
  const auto hello = wire::decode_hello(packet.bytes);
  if (!hello || hello->sender_token == 0) {
    counters.add(Counter::kDroppedHeaderCrc);
    return;
  }
  if (hello->wire_version != wire::kWireVersion) {
    on_stray_hello(*hello, packet);
    return;
  }
  if (hello->hello_bytes != packet.bytes.size()) {
    counters.add(Counter::kDroppedMalformed);
    return;
  }
  const auto known = by_sender_token.find(hello->sender_token);
  Slot* slot = known == by_sender_token.end() ? nullptr : find(known->second);
  if (slot == nullptr) {
    const ContextId context = listener.context;
    const std::uint64_t listener_token = listener.token;
    slot = &add(context);
    slot->listener = listener_token;
    slot->what = std::make_unique<RecvConnection>(now, config, counters_of[context], credits,
                                                  unposted, slot->token, *hello);
    by_sender_token[hello->sender_token] = slot->token;
  }
  if (auto* receiving = slot->get<RecvPtr>()) (*receiving)->on_hello(*hello, packet.path);
  settle(now, *slot);
}

// A HELLO of another wire version: say so, naming both, instead of letting the peer time out.
void Endpoint::State::on_stray_hello(const wire::Hello& hello, const wire::RxPacket& packet) {
  counters.add(Counter::kDroppedVersion);
  if (strays.size() >= kStraysMax) return;
  wire::Refuse refuse;
  refuse.destination = hello.sender_token;
  refuse.reason = fmt::format(
      "wire version {} (of the connecting rank) and {} (of the listening rank, plugin {}) do not "
      "match",
      hello.wire_version, wire::kWireVersion, config.plugin_version);
  strays.push_back({refuse, hello.sender_address, packet.path});
}

void Endpoint::State::answer_close(std::uint64_t peer_token, const wire::EndpointAddress& to,
                                   wire::PathIndex path) {
  if (strays.size() < kStraysMax) strays.push_back({wire::CloseAck{peer_token}, to, path});
}

void Endpoint::State::to_sender(Time now, SendConnection& connection, wire::FrameType type,
                                const wire::RxPacket& packet) {
  bool intact = true;
  switch (type) {
    case wire::FrameType::kAck:
      intact = wire::decode_ack(packet.bytes, ack_in);
      if (intact) connection.on_ack(now, ack_in, packet.arrived_at);
      break;
    case wire::FrameType::kWelcome:
      if (const auto frame = wire::decode_welcome(packet.bytes); (intact = frame.has_value())) {
        connection.on_welcome(now, *frame);
      }
      break;
    case wire::FrameType::kStarted:
      if (const auto frame = wire::decode_started(packet.bytes); (intact = frame.has_value())) {
        connection.on_started(now, *frame);
      }
      break;
    case wire::FrameType::kRefuse:
      if (const auto frame = wire::decode_refuse(packet.bytes); (intact = frame.has_value())) {
        connection.on_refuse(*frame);
      }
      break;
    case wire::FrameType::kPing:
      if (const auto frame = wire::decode_ping(packet.bytes); (intact = frame.has_value())) {
        connection.on_ping(now, *frame);
      }
      break;
    case wire::FrameType::kNeed:
      if (const auto frame = wire::decode_need(packet.bytes); (intact = frame.has_value())) {
        connection.on_need(now, *frame);
      }
      break;
    case wire::FrameType::kStop:
      if (const auto frame = wire::decode_stop(packet.bytes); (intact = frame.has_value())) {
        connection.on_stop(now, *frame);
      }
      break;
    case wire::FrameType::kClose:
      if (const auto frame = wire::decode_close(packet.bytes); (intact = frame.has_value())) {
        answer_close(connection.peer_token(), connection.peer_address(), packet.path);
        connection.on_peer_closed(now, frame->completed);
      }
      break;
    case wire::FrameType::kReset:
      if (const auto frame = wire::decode_reset(packet.bytes); (intact = frame.has_value())) {
        connection.on_reset(*frame);
      }
      break;
    default:
      counters.add(Counter::kDroppedUnexpected);
      return;
  }
  if (intact) {
    connection.heard_on(packet.path);
  } else {
    counters.add(Counter::kDroppedHeaderCrc);
  }
  if (intact && type == wire::FrameType::kReset) counters.add(Counter::kResetsReceived);
}

void Endpoint::State::to_receiver(Time now, Slot& slot, RecvConnection& connection,
                                  wire::FrameType type, const wire::RxPacket& packet) {
  bool intact = true;
  switch (type) {
    case wire::FrameType::kData:
      intact = false;  // take_data() left it
      break;
    case wire::FrameType::kStart:
      if (const auto frame = wire::decode_start(packet.bytes); (intact = frame.has_value())) {
        const bool before = connection.started();
        connection.on_start(now, *frame, packet.path);
        Slot* listener = find(slot.listener);
        if (!before && connection.started() && listener != nullptr) {
          listener->get<Listener>()->acceptable.push_back(slot.token);
        }
      }
      break;
    case wire::FrameType::kProbe:
      if (const auto frame = wire::decode_probe(packet.bytes); (intact = frame.has_value())) {
        connection.on_probe(now, *frame, packet.path);
      }
      break;
    case wire::FrameType::kSentOnce:
      if (const auto frame = wire::decode_sent_once(packet.bytes); (intact = frame.has_value())) {
        connection.release_copied();
        connection.on_sent_once(now, *frame, packet.path, placements);
      }
      break;
    case wire::FrameType::kPong:
      if ((intact = wire::decode_pong(packet.bytes).has_value()))
        connection.on_pong(now, packet.path);
      break;
    case wire::FrameType::kClose:
      if (const auto frame = wire::decode_close(packet.bytes); (intact = frame.has_value())) {
        answer_close(connection.peer_token(), connection.peer_address(), packet.path);
        connection.on_peer_closed(now, frame->completed);
      }
      break;
    case wire::FrameType::kReset:
      if (const auto frame = wire::decode_reset(packet.bytes); (intact = frame.has_value())) {
        connection.on_reset(*frame);
        counters.add(Counter::kResetsReceived);
      }
      break;
    default:
      // HELLO goes to the listener.
      counters.add(Counter::kDroppedUnexpected);
      return;
  }
  if (!intact) counters.add(Counter::kDroppedHeaderCrc);
}

}  // namespace dlcp::core
