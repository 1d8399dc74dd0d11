// Counters of events. They are the only record of packets that were lost, dropped or refused. One
// list names every counter, so that printed tables, documentation and tests stay consistent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dlcp::core {

// X(identifier, "name", "what the counter counts, or where to look if it grows")
#define DLCP_COUNTERS(X)                                                                          \
  X(kPacketsSent, "packets_sent", "data packets, retransmissions included")                       \
  X(kBytesSent, "bytes_sent", "payload bytes, retransmissions included")                          \
  X(kBytesCompressed, "bytes_compressed",                                                         \
    "part of bytes_sent in compressed messages; see DLCP_COMPRESS")                               \
  X(kBytesCompressedWire, "bytes_compressed_wire",                                                \
    "size of bytes_compressed in packets; their quotient is the compression ratio")               \
  X(kBurstsSent, "bursts_sent",                                                                   \
    "groups of packets on one path; packets_sent / bursts_sent is the mean burst length")         \
  X(kPacketsRetransmitted, "packets_retransmitted",                                               \
    "data packets sent again: the fabric drops; see dlcp doctor --peer, drop counters")           \
  X(kBytesRetransmitted, "bytes_retransmitted", "payload bytes of packets_retransmitted")         \
  X(kSpuriousRetransmissions, "spurious_retransmissions",                                         \
    "packets that were late, not lost: reordering within a path, or hosts short of CPU time")     \
  X(kBytesLost, "bytes_lost", "licensed bytes that were delivered as zeros, within the budget")   \
  X(kLostUrgentProtected, "bytes_lost_urgent_protected",                                          \
    "bytes_lost with large magnitudes, counted by the sender: the network ignores the marks")     \
  X(kLostUrgentDroppable, "bytes_lost_urgent_droppable",                                          \
    "bytes_lost with small magnitudes, counted by the sender")                                    \
  X(kLostBulkProtected, "bytes_lost_bulk_protected",                                              \
    "as bytes_lost_urgent_protected, in bulk classes")                                            \
  X(kLostBulkDroppable, "bytes_lost_bulk_droppable",                                              \
    "as bytes_lost_urgent_droppable, in bulk classes")                                            \
  X(kMessagesShort, "messages_short", "licensed messages completed with lost bytes")              \
  X(kNeedsSent, "needs_sent",                                                                     \
    "licensed messages beyond the budget, repaired as exact messages are")                        \
  X(kLatePackets, "late_packets", "licensed packets that arrived after the end of their message") \
  X(kProbesSent, "probes_sent",                                                                   \
    "probes: the last packets of a burst were lost, or the peer answers late")                    \
  X(kPingsSent, "pings_sent", "requests for a sign of life while a receive waits")                \
  X(kPathsAvoided, "paths_avoided",                                                               \
    "paths avoided because they lost most packets: check links and switches")                     \
  X(kPacketsReceived, "packets_received", "data packets accepted")                                \
  X(kBytesReceived, "bytes_received", "payload bytes placed")                                     \
  X(kBytesCopied, "bytes_copied",                                                                 \
    "part of bytes_received that the processor copied; a card wrote the rest, see "               \
    "DLCP_ROCE_PLACEMENT")                                                                        \
  X(kDuplicates, "duplicates",                                                                    \
    "data received again; harmless, grows with spurious_retransmissions")                         \
  X(kCeMarksReceived, "ce_marks_received",                                                        \
    "packets with a congestion mark: switches are congested")                                     \
  X(kAcksSent, "acks_sent", "")                                                                   \
  X(kAcksReceived, "acks_received", "")                                                           \
  X(kUnpostedKept, "unposted_kept", "packets kept until the receive was posted")                  \
  X(kDroppedUnposted, "dropped_unposted", "as unposted_kept, but beyond the pool; sent again")    \
  X(kDroppedMalformed, "dropped_malformed", "not a packet of DLCP, or its header is damaged")     \
  X(kDroppedVersion, "dropped_version",                                                           \
    "packets of another wire version: the ranks run different releases")                          \
  X(kDroppedUnauthentic, "dropped_unauthentic",                                                   \
    "damaged headers (payloads too with DLCP_CHECKSUM=full): check cables and NIC offloads; "     \
    "or forged packets")                                                                          \
  X(kDroppedForeignHost, "dropped_foreign_host",                                                  \
    "packets from another IP address than the peer's: a foreign sender, or NAT between ranks")    \
  X(kDroppedReplayed, "dropped_replayed",                                                         \
    "packets that arrived twice: duplicated by the network, or replayed by an attacker")          \
  X(kDroppedUndecodable, "dropped_undecodable",                                                   \
    "compressed payloads damaged on the path: check cables and NIC offloads")                     \
  X(kDroppedUnknownToken, "dropped_unknown_token",                                                \
    "packets of a foreign sender, or of a peer that still uses a closed connection")              \
  X(kDroppedOutOfWindow, "dropped_out_of_window",                                                 \
    "packets with an old or impossible message number or offset")                                 \
  X(kDroppedUnexpected, "dropped_unexpected",                                                     \
    "frames that the state of the connection does not allow")                                     \
  X(kResetsReceived, "resets_received",                                                           \
    "connections that a peer closed with an error: see its log")                                  \
  X(kPeerTimeouts, "peer_timeouts",                                                               \
    "connections given up: no answer for DLCP_PEER_TIMEOUT, or the peer's host refuses packets")

enum class Counter : std::uint8_t {
#define DLCP_COUNTER_ENUM(id, name, help) id,
  DLCP_COUNTERS(DLCP_COUNTER_ENUM)
#undef DLCP_COUNTER_ENUM
};

struct CounterRow {
  Counter counter;
  const char* name;
  const char* help;
};

inline constexpr CounterRow kCounterRows[] = {
#define DLCP_COUNTER_ROW(id, name, help) {Counter::id, name, help},
    DLCP_COUNTERS(DLCP_COUNTER_ROW)
#undef DLCP_COUNTER_ROW
};
inline constexpr std::size_t kCounterCount = sizeof(kCounterRows) / sizeof(kCounterRows[0]);

class Counters {
 public:
  void add(Counter counter, std::uint64_t by = 1) {
    values_[static_cast<std::size_t>(counter)] += by;
  }
  void add(const Counters& other) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] += other.values_[i];
  }
  std::uint64_t operator[](Counter counter) const {
    return values_[static_cast<std::size_t>(counter)];
  }

 private:
  std::array<std::uint64_t, kCounterCount> values_{};
};

}  // namespace dlcp::core
