// How a sending association comes about: which of its streams says HELLO for all of them, and what
// that handshake has agreed on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "util/time.h"
#include "wire/control_frame.h"

namespace dlcp::core {

// What the first handshake has found; streams that join later keep to it.
struct AssociationTerms {
  std::uint32_t payload_bytes = 0;  // of a packet; 0: not established yet
  wire::Protection protection = wire::Protection::kHeader;
  // Stands for the round trip until data has been acknowledged; see Handshake.
  Duration round_trip{std::chrono::milliseconds(50)};
  Duration took{Duration::max()};
  Duration shortest() const { return std::min(round_trip, took); }
};

class SendSetup {
 public:
  bool established() const { return terms_.payload_bytes != 0; }
  const AssociationTerms& terms() const { return terms_; }
  // The receiver's token; 0: not known yet.
  std::uint64_t peer_token() const { return peer_token_; }

  // Numbers begin with 1 and are never used again.
  std::uint32_t next_stream() { return ++streams_; }
  // Continues where the association that this one replaces has ended.
  void begin_after(std::uint32_t last_stream) { streams_ = last_stream; }
  std::uint32_t last_stream() const { return streams_; }

  // The stream that says HELLO for all while nothing is established; 0: none.
  std::uint32_t leader() const { return leader_; }
  void lead(std::uint32_t stream) { leader_ = stream; }
  void leave(std::uint32_t stream) {
    if (stream == leader_) leader_ = 0;
  }
  // A leader's HELLO is sealed with this key, of its listener.
  void note_key(std::uint32_t stream, const wire::Key& listener_key) {
    listener_keys_.emplace_back(stream, listener_key);
  }

  // The listener's key that the association's keys derive from, if WELCOME brings a new token.
  std::optional<wire::Key> key_after(const wire::Welcome& welcome) {
    if (established() || welcome.association == 0 || welcome.association == peer_token_)
      return std::nullopt;
    for (const auto& [stream, key] : listener_keys_) {
      if (stream != welcome.key_stream) continue;
      peer_token_ = welcome.association;
      return key;
    }
    return std::nullopt;
  }
  void establish(const AssociationTerms& terms) {
    terms_ = terms;
    listener_keys_.clear();
    leader_ = 0;
  }

 private:
  AssociationTerms terms_;
  std::uint64_t peer_token_ = 0;
  std::uint32_t streams_ = 0;
  std::uint32_t leader_ = 0;
  std::vector<std::pair<std::uint32_t, wire::Key>> listener_keys_;
};

}  // namespace dlcp::core
