// The payload size of packets, if the path carries less than the handshake agreed on: RFC 8899
// (DPLPMTUD) with DLCP's probes, padded to each common size. README.md says when packets shrink and
// grow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "util/time.h"
#include "wire/data/data_header.h"

namespace dlcp::core {

// UDP payloads that fit common MTUs (9000, 4200, 1500, 1280) under IPv6, whose header is the larger
// one, and a last resort. Also the sizes that tunnels (VXLAN, WireGuard, IPsec) leave of 9000 and
// 1500: one granule of payload less, for MTUs from 1388 on.
inline constexpr std::uint32_t kCommonDatagrams[] = {8952, 8892, 4152, 1452, 1340, 1232, 548};
inline constexpr std::uint32_t kDatagramLeast = std::end(kCommonDatagrams)[-1];

class PacketSize {
 public:
  // The payload size of START, which is the maximum, and the header and tag bytes of a packet.
  void agree(std::uint32_t payload_bytes, std::size_t overhead = wire::kDataHeaderBytes);
  std::uint32_t payload_bytes() const { return sizes_[now_]; }
  std::uint32_t packet_bytes(std::uint32_t payload_bytes) const {
    return payload_bytes + overhead_;
  }
  bool shrunk() const { return now_ > 0; }

  // Called when a probe is due although earlier probes were answered: data packets do not arrive,
  // and probes of all sizes are needed. Returns true if packets shrank now.
  bool on_fruitless(Time now);
  // Data packets arrive.
  void on_progress() { rounds_ = rounds_carried_ = 0; }
  // Rounds since then in which a probe of the current size was answered, although data packets do
  // not arrive.
  unsigned rounds_carried() const { return rounds_carried_; }

  // Shrunk packets try larger sizes from time to time. Use next_timeout() while there is data to
  // send.
  Time next_timeout() const { return shrunk() ? grow_at_ : kNever; }
  void on_timeout(Time now);

  // The size of the next padded probe, as payload of a data packet. The answer returns `echo`,
  // which must differ among the probes of a round.
  std::optional<std::uint32_t> next_question() const;
  void on_asked(std::uint32_t echo);
  // Returns true if packets grew now.
  bool on_answered(std::uint32_t echo);

 private:
  static constexpr std::size_t kSizesMax = std::size(kCommonDatagrams) + 1;
  static constexpr std::size_t kNone = kSizesMax;

  struct Question {
    std::size_t size = 0;  // index into sizes_
    std::uint32_t echo = 0;
  };
  void ask(std::size_t from, std::size_t to);

  std::array<std::uint32_t, kSizesMax> sizes_{};  // payload sizes, largest first; the first is the
                                                  // agreed size
  std::uint32_t overhead_ = 0;
  std::size_t count_ = 1;
  std::size_t now_ = 0;

  unsigned rounds_ = 0;  // of probes since data packets stopped arriving
  unsigned rounds_carried_ = 0;
  std::size_t answered_ = kNone;               // largest size answered in these rounds
  std::array<Question, kSizesMax + 1> round_;  // of questions_ probes, the first asked_ were sent
  std::size_t questions_ = 0;
  std::size_t asked_ = 0;
  Time grow_at_{};
  // The largest size above the current one that was answered in this round, and in the one before.
  std::size_t larger_ = kNone;
  std::size_t larger_before_ = kNone;
};

}  // namespace dlcp::core
