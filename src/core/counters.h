// Counters of events. They are the only record of packets that were lost, dropped or refused. One
// list names every counter, so that printed tables, documentation and tests stay consistent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dlcp::core {

// X(identifier, "name", "what the counter counts, or where to look if it grows")
#define DLCP_COUNTERS(X)                                                                           \
  X(kPacketsSent, "packets_sent", "data packets, retransmissions included")                        \
  X(kBytesSent, "bytes_sent", "payload bytes, retransmissions included")                           \
  X(kBytesCompressed, "bytes_compressed",                                                          \
    "of bytes_sent, those of compressed messages; see DLCP_COMPRESS")                              \
  X(kBytesCompressedWire, "bytes_compressed_wire",                                                 \
    "what bytes_compressed took in packets; bytes_compressed / bytes_compressed_wire is the "      \
    "ratio")                                                                                       \
  X(kBurstsSent, "bursts_sent",                                                                    \
    "groups of packets on one path; packets_sent / bursts_sent is the mean burst length")          \
  X(kPacketsRetransmitted, "packets_retransmitted",                                                \
    "the fabric drops: see dlcp doctor --peer, switch drop counters")                              \
  X(kBytesRetransmitted, "bytes_retransmitted", "as packets_retransmitted")                        \
  X(kSpuriousRetransmissions, "spurious_retransmissions",                                          \
    "the fabric reorders within one path, or hosts are starved of CPU")                            \
  X(kBytesLost, "bytes_lost", "licensed bytes that were delivered as zeros, within the budget")    \
  X(kLostUrgentProtected, "bytes_lost_urgent_protected",                                           \
    "of bytes_lost, counted by the sender: large magnitudes; the network drops without looking")   \
  X(kLostUrgentDroppable, "bytes_lost_urgent_droppable", "the same: small magnitudes")             \
  X(kLostBulkProtected, "bytes_lost_bulk_protected", "as bytes_lost_urgent_protected")             \
  X(kLostBulkDroppable, "bytes_lost_bulk_droppable", "as bytes_lost_urgent_droppable")             \
  X(kMessagesShort, "messages_short", "licensed messages that were completed with bytes_lost")     \
  X(kNeedsSent, "needs_sent", "licensed messages over budget, repaired as exact ones are")         \
  X(kLatePackets, "late_packets", "licensed packets that came after their message was complete")   \
  X(kProbesSent, "probes_sent", "tails are lost or peers answer late")                             \
  X(kPathsAvoided, "paths_avoided", "a link or switch drops most of what one path carries")        \
  X(kPacketsReceived, "packets_received", "data packets accepted")                                 \
  X(kBytesReceived, "bytes_received", "payload bytes placed")                                      \
  X(kDuplicates, "duplicates", "data already held; harmless, follows spurious_retransmissions")    \
  X(kCeMarksReceived, "ce_marks_received", "switches see congestion")                              \
  X(kAcksSent, "acks_sent", "")                                                                    \
  X(kAcksReceived, "acks_received", "")                                                            \
  X(kUnpostedKept, "unposted_kept", "messages arrive before their receive is posted")              \
  X(kDroppedUnposted, "dropped_unposted",                                                          \
    "as unposted_kept, beyond the pool; they are sent again")                                      \
  X(kDroppedMalformed, "dropped_malformed", "not ours, or damaged in the head")                    \
  X(kDroppedVersion, "dropped_version", "peers run another wire version")                          \
  X(kDroppedUnauthentic, "dropped_unauthentic",                                                    \
    "damaged headers (payloads too with DLCP_CHECKSUM=full): cables, NIC offloads; or forged "     \
    "ones")                                                                                        \
  X(kDroppedForeignHost, "dropped_foreign_host",                                                   \
    "a connection's packets from an IP address that is not its peer's: strangers, or NAT between " \
    "ranks")                                                                                       \
  X(kDroppedReplayed, "dropped_replayed", "packets that the network, or somebody, delivers twice") \
  X(kDroppedUndecodable, "dropped_undecodable",                                                    \
    "compressed payloads that were damaged on the way: cables, NIC offloads")                      \
  X(kDroppedUnknownToken, "dropped_unknown_token",                                                 \
    "strangers, or peers that outlived a connection")                                              \
  X(kDroppedOutOfWindow, "dropped_out_of_window", "old or impossible message numbers or offsets")  \
  X(kDroppedUnexpected, "dropped_unexpected", "a frame the connection's state does not allow")     \
  X(kResetsReceived, "resets_received", "peers failed; their logs say why")                        \
  X(kPeerTimeouts, "peer_timeouts",                                                                \
    "peers died or the network was down for longer than DLCP_PEER_TIMEOUT")

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
