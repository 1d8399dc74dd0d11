// The opening side of a connection. It sends HELLO in several sizes, to find the path MTU. It gets
// WELCOME for each size that arrives, sends START with the resulting payload size, and gets
// STARTED. Frames are repeated with back-off until they are answered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/association/send_setup.h"
#include "core/channel/frame_writer.h"
#include "core/channel/unmarked_peers.h"
#include "core/config.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::core {

// The association fields of HELLO.
struct AssociationName {
  std::uint64_t token = 0;       // of the sender
  std::uint64_t peer_token = 0;  // of the receiver, if the association is established
  std::uint32_t stream = 0;
};

class Handshake {
 public:
  // The destination of HELLO, and the key that seals it.
  struct Target {
    wire::Invitation listener;
    wire::Key key;
    wire::EndpointAddress at;
    wire::Membership membership{};
    const UnmarkedPeers* unmarked_peers = nullptr;  // of the endpoint
  };
  Handshake(const Config& config, std::uint64_t token, const Target& target,
            const wire::EndpointAddress& local);

  // kWaiting: nothing is sent before lead() or join(). Another stream sends HELLO for the
  // association.
  enum class State : std::uint8_t { kWaiting, kHello, kStart, kDone };
  State state() const { return state_; }

  // The streams of an association: one leads with the whole handshake. Then the others join on the
  // same terms, with a small HELLO and the WELCOME that answers it.
  void wait();
  void lead(Time now, const AssociationName& name);
  void join(Time now, const AssociationName& name, const AssociationTerms& terms);
  bool joins() const { return joins_; }
  // The stream tried to join an association that the receiver does not know any more.
  bool was_forgotten() const { return forgotten_; }

  void on_welcome(Time now, const wire::Welcome& welcome);
  void finish();  // STARTED has arrived, or a frame that shows that it was lost
  // The last frame was rejected (ICMP): the error may be forged, or be about DSCP or ECN.
  void retry_soon(Time now) {
    if (state_ == State::kHello || state_ == State::kStart)
      next_send_ = std::min(next_send_, now + kFirstPause);
    unmarked_from_ = std::min(unmarked_from_, now);
  }

  // Writes the frames that are due now, at most out.size(); returns their number.
  std::size_t poll_transmit(Time now, FrameWriter& frames, std::span<wire::TxPacket> out);
  Time next_timeout() const { return next_send_; }

  const wire::Key& listener_key() const { return target_.key; }
  const wire::EndpointAddress& peer_address() const { return target_.at; }
  std::uint64_t receiver_token() const { return receiver_token_; }
  // The listener has answered HELLOs without DSCP and ECN, but none with them.
  bool needs_unmarked() const { return needs_unmarked_; }
  // Other addresses of the listener, as announced in WELCOME.
  const std::vector<wire::EndpointAddress>& peer_lanes() const { return peer_lanes_; }
  // The token that frames are sent to: the listener's until it has answered.
  std::uint64_t called() const {
    return receiver_token_ != 0 ? receiver_token_ : wire::listener_token(target_.listener);
  }
  // Of the association; payload_bytes is 0 until a size was agreed on.
  const AssociationTerms& terms() const { return terms_; }

 private:
  static constexpr Duration kFirstPause = 5ms;

  void on_joined(const wire::Welcome& welcome);
  void agree_on(std::uint32_t datagram_bytes);
  void emit_hello(Time now, std::uint32_t size, bool unmarked, FrameWriter& frames,
                  wire::TxPacket& out);
  bool is_known_unmarked() const;
  std::uint32_t wanted() const;

  const Config& config_;
  std::uint64_t token_;
  const Target target_;
  const wire::EndpointAddress& local_;
  AssociationName association_;
  bool joins_ = false;
  bool forgotten_ = false;
  State state_ = State::kWaiting;
  std::vector<std::uint32_t> sizes_;  // of HELLO, largest first
  std::size_t next_size_ = 0;         // sizes_ from this index on are due in this round
  bool first_round_ = true;
  Time unmarked_from_ = kNever;  // from then on HELLO is also sent without marks
  bool needs_unmarked_ = false;
  std::uint32_t answered_ = 0;  // largest size that a WELCOME has confirmed
  std::uint32_t peer_datagram_max_ = ~std::uint32_t{0};
  unsigned rounds_answered_ = 0;         // rounds of HELLO sent since the first WELCOME
  unsigned starts_ = 0;                  // sent without an answer
  std::size_t rounds_ = 0;               // sent without progress
  wire::PathIndex path_ = 0;             // of the next HELLO
  wire::PathIndex start_path_ = 0;       // that of the HELLO which a WELCOME has answered
  std::vector<std::uint32_t> hello_at_;  // for each path, time in the last HELLO on it
  Time next_send_ = kNever;
  Duration pause_ = kFirstPause;
  std::uint64_t receiver_token_ = 0;
  AssociationTerms terms_;
  std::vector<wire::EndpointAddress> peer_lanes_;
};

}  // namespace dlcp::core
