// The content of a slot in an endpoint's table: nothing, a listener, one side of an association or
// of a stream, or the record of a stream that has ended. Offers the operations that all of them
// share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "core/association/recv_association.h"
#include "core/association/send_association.h"
#include "core/liveness/departed.h"
#include "core/streams/recv_stream.h"
#include "core/streams/send_stream.h"
#include "util/memory/ring_queue.h"

namespace dlcp::core {

struct Listener {
  wire::Key key;                             // seals frames before a connection exists
  wire::Key key_without_site;                // for a peer with the invitation, but without the
                                             // site's secret
  RingQueue<std::uint64_t> acceptable;       // tokens of connections that have started
  std::vector<std::uint64_t> half_open;      // tokens of connections that may not have started,
                                             // oldest first
  std::vector<wire::EndpointAddress> lanes;  // other addresses of the listener
  bool declined = false;                     // a peer has refused to connect
  bool declined_unproven = false;            // a peer without the site's secret has refused
};

class Party {
 public:
  Party() = default;
  Party(Listener listener) : who_(std::move(listener)) {}
  Party(std::unique_ptr<SendStream> connection) : who_(std::move(connection)) {}
  Party(std::unique_ptr<RecvStream> connection) : who_(std::move(connection)) {}
  Party(std::shared_ptr<SendAssociation> association) : who_(std::move(association)) {}
  Party(std::shared_ptr<RecvAssociation> association) : who_(std::move(association)) {}
  Party(Departed departed) : who_(std::move(departed)) {}

  // Null if the slot has another content.
  Listener* listener() { return std::get_if<Listener>(&who_); }
  Departed* departed() { return std::get_if<Departed>(&who_); }
  const Departed* departed() const { return std::get_if<Departed>(&who_); }
  SendStream* sender() const { return held<std::unique_ptr<SendStream>>(); }
  RecvStream* receiver() const { return held<std::unique_ptr<RecvStream>>(); }
  SendAssociation* send_association() const { return held<std::shared_ptr<SendAssociation>>(); }
  RecvAssociation* recv_association() const { return held<std::shared_ptr<RecvAssociation>>(); }
  bool is_association() const {
    return send_association() != nullptr || recv_association() != nullptr;
  }
  // Seals what an association sends; null for other contents, which use the slot's channel.
  Channel* channel() const;
  bool is_nobody() const { return std::holds_alternative<std::monostate>(who_); }
  bool is_connection() const { return sender() != nullptr || receiver() != nullptr; }

  // Calls `work` with the SendStream or RecvStream, if there is one; returns whether there is one.
  template <class Work>
  bool with_connection(Work&& work) const {
    if (auto* sending = sender())
      work(*sending);
    else if (auto* receiving = receiver())
      work(*receiving);
    else
      return false;
    return true;
  }

  Time next_timeout() const;
  void on_timeout(Time now);
  bool is_expired(Time now) const;  // an association without streams, or a record: it can go
  // Packets are left that need a larger `out` than the last call had.
  bool wants_room() const;
  std::size_t poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out,
                            std::size_t whole);

 private:
  template <class Pointer>
  typename Pointer::element_type* held() const {
    const auto* pointer = std::get_if<Pointer>(&who_);
    return pointer == nullptr ? nullptr : pointer->get();
  }

  std::variant<std::monostate, Listener, std::unique_ptr<SendStream>, std::unique_ptr<RecvStream>,
               std::shared_ptr<SendAssociation>, std::shared_ptr<RecvAssociation>, Departed>
      who_;
};

}  // namespace dlcp::core
