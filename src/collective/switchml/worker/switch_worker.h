// One worker of SwitchML's UDP mode: sums float32 values with those of the other workers in a
// switch. Sans-IO: time and datagrams are arguments. All workers make the same calls of the same
// length in the same order.
//
// Packet p of a call carries the exponent of block p and the numbers of block p - batch, whose
// common exponent is in the answer to packet p - batch. The packets of the first batch have no
// numbers. Instead, their first number states whether the worker has values that SwitchML cannot
// represent. If any worker has, all workers end the call with kRefused and remain in step.
//
// Packets use slots in turn over all calls, and the two sets of a slot alternate. A worker reuses a
// slot only after its last sum has arrived, which tells the switch that this worker no longer needs
// the sum of the other set.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "collective/switchml/switch_packet.h"
#include "collective/switchml/worker/switch_repair.h"
#include "util/time.h"

namespace dlcp::collective {

struct SwitchTerms {
  unsigned workers = 2;                // 1 to 32
  unsigned slots = kSwitchSlotsUsual;  // at most those of the switch; the same on all workers
  unsigned values = 256;               // 64 or 256, as configured on the switch
  std::uint8_t job = 0;                // returned in answers; answers with another job are dropped
  std::uint32_t serial = 0;            // of the first packet; the same on all workers
};

class SwitchWorker {
 public:
  enum class Call : std::uint8_t {
    kNone,
    kRunning,
    kDone,     // the result is complete
    kRefused,  // some worker has a value that is infinite, NaN or at least 2^127; all workers must
               // reduce the call by other means
  };
  struct Counts {
    std::uint64_t sent = 0;  // packets, including repeats
    std::uint64_t repeated = 0;
    std::uint64_t taken = 0;    // answers used
    std::uint64_t dropped = 0;  // datagrams that did not answer an outstanding packet
    std::uint64_t unsound = 0;  // answers with an exponent below this worker's or invalid
  };

  // Values outside their range are replaced by the nearest valid one.
  explicit SwitchWorker(SwitchTerms terms);

  // False if a call is running or the sizes differ. `result` may equal `input`; both are in use
  // until the call ends.
  bool start(std::span<const float> input, std::span<float> result);
  Call call() const { return call_; }

  // The datagram to send now, or empty. It is valid until the next call of any member function.
  std::span<const std::byte> poll_transmit(Time now);
  // The time at which a packet must be sent again if no answer arrives; kNever if none is
  // outstanding.
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
  std::uint64_t position_ = 0;  // number of the call's first packet, counted over all calls
  Call call_ = Call::kNone;
  std::span<const float> input_;
  std::span<float> result_;
  std::uint32_t blocks_ = 0, batch_ = 0, packets_ = 0, done_ = 0;
  bool refused_ = false;                // by this worker, later by any worker
  std::vector<State> states_;           // of the call's packets
  std::vector<std::int8_t> exponents_;  // of the call's blocks: own, later the largest
  std::deque<std::uint32_t> ready_;
  std::vector<std::uint32_t> packets_in_;  // by slot: the call's packet in it
  SwitchRepair repair_;
  std::vector<std::byte> packet_;
  Counts counts_;
};

}  // namespace dlcp::collective
