// How a sending association is established: which of its streams sends HELLO for all, and the terms
// that the handshake agreed on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "util/time.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

// The result of the first handshake. Streams that join later use the same terms.
struct AssociationTerms {
  std::uint32_t payload_bytes = 0;  // of a packet; 0: not established yet
  wire::Protection protection = wire::Protection::kHeader;
  // Used as RTT until data has been acknowledged, 1 ms to 1 s: otherwise data on a long path would
  // be probed for, and counted as lost, too early. It is not an RTT sample, because a process that
  // is busy starting may read the answer late. 50 ms before the first answer.
  Duration round_trip{std::chrono::milliseconds(50)};
  Duration took{Duration::max()};  // the shortest exchange with a HELLO of the agreed size
  Duration shortest() const { return std::min(round_trip, took); }
};

class SendSetup {
 public:
  bool established() const { return terms_.payload_bytes != 0; }
  const AssociationTerms& terms() const { return terms_; }
  // The receiver's token; 0: not known yet.
  std::uint64_t peer_token() const { return peer_token_; }

  // Numbers begin with 1 and are not reused.
  std::uint32_t next_stream() { return ++streams_; }
  // Continues the numbers of the association that this one replaces.
  void begin_after(std::uint32_t last_stream) { streams_ = last_stream; }
  std::uint32_t last_stream() const { return streams_; }

  // The stream that sends HELLO for all until the association is established; 0: none.
  std::uint32_t leader() const { return leader_; }
  void lead(std::uint32_t stream) { leader_ = stream; }
  void leave(std::uint32_t stream) {
    if (stream == leader_) leader_ = 0;
  }
  // Remembers the listener's key that seals the HELLO of this leader.
  void note_key(std::uint32_t stream, const wire::Key& listener_key) {
    listener_keys_.emplace_back(stream, listener_key);
  }

  // If WELCOME brings a new token, returns the listener's key that the association's keys derive
  // from.
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
