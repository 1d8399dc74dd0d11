// One worker of SwitchML's UDP mode: sums float32 with those of the other workers in a switch.
// Sans-IO: time and datagrams are arguments. All workers make the same calls of the same length in
// the same order.
//
// A call's packet p brings the exponent of block p, and the numbers of block p - batch, whose
// common exponent the answer to packet p - batch brought. So the first batch has no numbers;
// instead its first number says how many workers have values that SwitchML cannot express, and if
// any has, all end the call with kRefused and are still in step.
//
// Packets take slots in turn over all calls, and the sets of a slot alternate. A slot is used again
// only when its last sum has come: the switch then knows that nobody needs the other set's sum any
// more.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "collective/switch_packet.h"
#include "collective/switch_repair.h"
#include "util/time.h"

namespace dlcp::collective {

struct SwitchTerms {
  unsigned workers = 2;                // 1 to 32
  unsigned slots = kSwitchSlotsUsual;  // at most what the switch has; the same on all workers
  unsigned values = 256;               // 64 or 256, as the switch was set up
  std::uint8_t job = 0;                // comes back in answers; others than this job's are dropped
  Duration first_wait = 1ms;           // for an answer, until it has been seen how long one takes
};

class SwitchWorker {
 public:
  enum class Call : std::uint8_t {
    kNone,
    kRunning,
    kDone,     // the result is complete
    kRefused,  // some worker has a value that is infinite, NaN or from 2^127 on: to be summed
               // otherwise, by all
  };
  struct Counts {
    std::uint64_t sent = 0;  // packets, repeats included
    std::uint64_t repeated = 0;
    std::uint64_t taken = 0;    // answers
    std::uint64_t dropped = 0;  // datagrams that were no answer to what is waited for
    std::uint64_t unsound = 0;  // answers whose exponent cannot be: below our own, or of no float
  };

  // Terms out of range are put into it.
  explicit SwitchWorker(SwitchTerms terms);

  // False where a call is running, or the sizes differ. `result` may be `input`; both are used
  // until the call has ended.
  bool start(std::span<const float> input, std::span<float> result);
  Call call() const { return call_; }

  // What is to be sent now; empty: nothing. Valid until the next call of anything here.
  std::span<const std::byte> poll_transmit(Time now);
  // When there will be something to be sent again, if no answer comes; kNever: nothing is waited
  // for.
  Time deadline();
  void on_datagram(std::span<const std::byte> datagram, Time now);

  const Counts& counts() const { return counts_; }

 private:
  enum class State : std::uint8_t { kUnsent, kReady, kWaiting, kDone };

  std::uint32_t slot_of(std::uint32_t packet) const;
  SwitchHead head_of(std::uint32_t packet) const;
  std::span<const float> block(std::span<const float> of, std::uint32_t index) const;
  void make_ready(std::uint64_t packet);
  std::span<const std::byte> transmit(std::uint32_t packet, bool again, Time now);
  void finish(std::uint32_t packet, std::span<const std::byte> answer);

  SwitchTerms terms_;
  std::uint64_t position_ = 0;  // of the call's first packet among all packets of all calls
  Call call_ = Call::kNone;
  std::span<const float> input_;
  std::span<float> result_;
  std::uint32_t blocks_ = 0, batch_ = 0, packets_ = 0, done_ = 0;
  bool refused_ = false;                // by us, then by anybody
  std::vector<State> states_;           // of the call's packets
  std::vector<std::int8_t> exponents_;  // of the call's blocks: our own, then everybody's
  std::deque<std::uint32_t> ready_;
  std::vector<std::uint32_t> packets_in_;  // by slot: which of the call's packets it holds
  SwitchRepair repair_;
  std::vector<std::byte> packet_;
  Counts counts_;
};

}  // namespace dlcp::collective
