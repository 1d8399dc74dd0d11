// How much payload one packet carries, when the path carries less than what was agreed at the
// start: RFC 8899 (DPLPMTUD) in our terms. Where questions are answered and packets of data come to
// nothing, questions are padded to each common size; if the current one gets no answer and a
// smaller one does, round after round, packets shrink to it (black-hole detection). A shrunk size
// is tried again all the while, so that packets grow as soon as the path lets them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "util/time.h"
#include "wire/data_header.h"

namespace dlcp::core {

// Datagrams that fit common MTUs (9000, 4200, 1500, 1280) under IPv6, the larger header, and a last
// resort; and what a tunnel (VXLAN, WireGuard, IPsec) leaves of 9000 and of 1500: one granule of
// payload less, for MTUs from 1388 on.
inline constexpr std::uint32_t kCommonDatagrams[] = {8952, 8892, 4152, 1452, 1340, 1232, 548};

class PacketSize {
 public:
  // START's payload size, the largest there will be, and what packets have beside it.
  void agree(std::uint32_t payload_bytes, std::size_t overhead = wire::kDataHeaderBytes);
  std::uint32_t payload_bytes() const { return sizes_[now_]; }
  std::uint32_t packet_bytes(std::uint32_t payload_bytes) const {
    return payload_bytes + overhead_;
  }
  bool shrunk() const { return now_ > 0; }

  // A question is due although earlier ones were answered: packets of ours come to nothing, and it
  // is to be asked in all sizes. True when this made packets shrink.
  bool on_fruitless(Time now);
  // Packets do arrive.
  void on_progress() { rounds_ = 0; }

  // Shrunk packets try larger sizes from time to time; ask next_timeout() while there is data to
  // send.
  Time next_timeout() const { return shrunk() ? grow_at_ : kNever; }
  void on_timeout(Time now);

  // The size of the next padded question to send, as payload of a data packet. `echo` comes back
  // with the answer; no two of one round may be equal.
  std::optional<std::uint32_t> next_question() const;
  void on_asked(std::uint32_t echo);
  // True when this made packets grow.
  bool on_answered(std::uint32_t echo);

 private:
  static constexpr std::size_t kSizesMax = std::size(kCommonDatagrams) + 1;
  static constexpr std::size_t kNone = kSizesMax;

  struct Question {
    std::size_t size = 0;  // of sizes_
    std::uint32_t echo = 0;
  };
  void ask(std::size_t from, std::size_t to);

  std::array<std::uint32_t, kSizesMax> sizes_{};  // payloads, largest first; the first is agreed
  std::uint32_t overhead_ = 0;
  std::size_t count_ = 1;
  std::size_t now_ = 0;

  unsigned rounds_ = 0;                        // of questions since packets came to nothing
  std::size_t answered_ = kNone;               // in these rounds: the largest size
  std::array<Question, kSizesMax + 1> round_;  // its first asked_ were sent, of questions_
  std::size_t questions_ = 0;
  std::size_t asked_ = 0;
  Time grow_at_{};
  // Larger sizes that were answered: the largest of this round, and of the one before.
  std::size_t larger_ = kNone;
  std::size_t larger_before_ = kNone;
};

}  // namespace dlcp::core
