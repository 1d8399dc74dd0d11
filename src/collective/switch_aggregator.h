// What the switch of SwitchML's UDP mode does, for hosts that have no such switch: adds the numbers
// of N workers, slot by slot, and takes the largest exponent. Sans-IO: datagrams are arguments, and
// who sent them; without a clock, as the switch is.
//
// A worker that sends to one set of a slot has got what the other set held. The switch knows
// repeats by one bit for each worker and set, and takes a packet that was overtaken by one of the
// next round for a new one. Serials, which the switch passes over, tell it here: an older one than
// the worker's last in that slot changes nothing. So they must grow, as SwitchWorker's do, and a
// set never adds up packets of different serials.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/switch_packet.h"

namespace dlcp::collective {

struct AggregatorTerms {
  unsigned workers = 2;   // 1 to 32
  unsigned slots = 512;   // 1 to 8192
  unsigned values = 256;  // 64 or 256, of each packet
};

class SwitchAggregator {
 public:
  enum class To : std::uint8_t { kNobody, kSender, kEveryone };
  struct Counts {
    std::uint64_t added = 0;     // packets
    std::uint64_t sums = 0;      // complete ones
    std::uint64_t repeated = 0;  // packets that were there already; answered if the sum is complete
    std::uint64_t stale = 0;     // packets that later ones had overtaken
    std::uint64_t unsound = 0;   // datagrams not of the form, or beyond slots and workers
    std::uint64_t restarts = 0;  // of the job: everything was forgotten
  };

  // Terms out of range are put into it.
  explicit SwitchAggregator(AggregatorTerms terms);

  // Who gets answer() now.
  To on_packet(unsigned worker, std::span<const std::byte> datagram);
  // Valid until the next packet.
  std::span<const std::byte> answer() const { return answer_; }

  // A worker has started anew: what it sent before counts no more. All of its job do, as sums are
  // of all.
  void restart();

  const AggregatorTerms& terms() const { return terms_; }
  const Counts& counts() const { return counts_; }

 private:
  struct Set {
    std::uint32_t members = 0;  // a bit for each worker that has added, and not gone on
    std::uint32_t serial = 0;
    bool complete = false;
    std::array<std::int8_t, 2> exponents{};
  };
  struct Last {  // of a worker in a slot
    std::uint32_t serial = 0;
    bool second_set = false;
    bool known = false;
  };

  std::span<std::uint32_t> sums_of(const SwitchHead& head);
  To repeat(const SwitchHead& head, const Last& last);
  void add(const SwitchHead& head, Set& set, std::span<const std::byte> datagram);
  void write_answer(const SwitchHead& head, const Set& set);

  AggregatorTerms terms_;
  std::uint8_t job_ = 0;
  bool any_ = false;                      // since the last restart
  std::vector<std::array<Set, 2>> sets_;  // by slot
  std::vector<Last> last_;                // by slot, then worker
  std::vector<std::uint32_t> sums_;       // by slot, then set
  std::vector<std::byte> answer_;
  Counts counts_;
};

}  // namespace dlcp::collective
