// The function of the switch in SwitchML's UDP mode, for hosts without such a switch: adds the
// numbers of N workers, slot by slot, and takes the largest exponent. Sans-IO: datagrams and the
// number of their sender are arguments. Like the switch, it has no clock.
//
// A worker that sends to one set of a slot has received the sum of the other set. The switch
// detects repeats by one bit for each worker and set, and so mistakes a packet that was overtaken
// by one of the next round for a new one. The switch ignores serials. This class uses them: a
// packet with an older serial than the worker's last one in that slot is ignored. Serials must
// therefore increase, as SwitchWorker's do, and a set never adds packets of different serials.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/switchml/switch_packet.h"

namespace dlcp::collective {

struct AggregatorTerms {
  unsigned workers = 2;   // 1 to 32
  unsigned slots = 512;   // 1 to 8192
  unsigned values = 256;  // 64 or 256, per packet
};

class SwitchAggregator {
 public:
  enum class To : std::uint8_t { kNobody, kSender, kEveryone };
  struct Counts {
    std::uint64_t added = 0;     // packets
    std::uint64_t sums = 0;      // of complete sets
    std::uint64_t repeated = 0;  // packets seen before; answered if the sum is complete
    std::uint64_t stale = 0;     // packets that later ones overtook
    std::uint64_t unsound = 0;   // datagrams with invalid format, slot or worker
    std::uint64_t restarts = 0;  // times that a job started again and all state was cleared
  };

  // Values outside their range are replaced by the nearest valid one.
  explicit SwitchAggregator(AggregatorTerms terms);

  // True if packets with this header are added.
  bool fits(const SwitchHead& head) const {
    return head.values == terms_.values && head.slot < terms_.slots;
  }
  // Returns who must receive answer().
  To on_packet(unsigned worker, std::span<const std::byte> datagram);
  // Valid until the next packet.
  std::span<const std::byte> answer() const { return answer_; }

  // A worker has started again, so its earlier packets no longer count. The whole job starts again,
  // because every sum contains all workers.
  void restart();

  const AggregatorTerms& terms() const { return terms_; }
  const Counts& counts() const { return counts_; }

 private:
  struct Set {
    std::uint32_t members = 0;  // one bit per worker that added and has not moved on
    std::uint32_t serial = 0;
    bool complete = false;
    std::array<std::int8_t, 2> exponents{};
  };
  struct Last {  // the last packet of a worker in a slot
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
  bool any_ = false;                      // true after the first packet since the last restart
  std::vector<std::array<Set, 2>> sets_;  // by slot
  std::vector<Last> last_;                // by slot, then worker
  std::vector<std::uint32_t> sums_;       // by slot, then set
  std::vector<std::byte> answer_;
  Counts counts_;
};

}  // namespace dlcp::collective
