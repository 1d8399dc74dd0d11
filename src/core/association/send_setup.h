// How a sending association is established: which of its streams sends HELLO for all, and the terms
// that the handshake agreed on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

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

struct SendSetup {
  AssociationTerms terms;
  std::uint64_t peer_token = 0;   // the receiver's; 0: not known yet
  std::uint32_t last_stream = 0;  // numbers begin with 1 and are not reused
  // The stream that sends HELLO for all until the association is established; 0: none.
  std::uint32_t leader = 0;
  // The listeners' keys that seal the HELLOs of streams.
  std::map<std::uint32_t, wire::Key> listener_keys{};

  bool established() const { return terms.payload_bytes != 0; }
  // If WELCOME brings a new token, returns the listener's key that the association's keys derive
  // from.
  std::optional<wire::Key> key_after(const wire::Welcome& welcome) {
    const bool is_new = welcome.association != 0 && welcome.association != peer_token;
    const auto key = listener_keys.find(welcome.key_stream);
    if (established() || !is_new || key == listener_keys.end()) return std::nullopt;
    peer_token = welcome.association;
    return key->second;
  }
  void establish(const AssociationTerms& agreed) {
    terms = agreed;
    listener_keys.clear();
    leader = 0;
  }
};

}  // namespace dlcp::core
