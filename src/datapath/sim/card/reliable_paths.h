// Reliable queue pairs (RC) of a simulated card. Packets of a path are numbered and taken in order.
// The receiver's card acknowledges them and reports a gap, and the sender's card repeats from the
// first that is missing. A packet that was taken before is acknowledged again, whatever its key. A
// packet with a dead key ends the path, and so do too many repeats without an answer. A path that
// has failed gets another epoch, which works when the peer has heard of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "datapath/placement.h"
#include "datapath/sim/card/card_config.h"
#include "datapath/sim/network/frame.h"

namespace dlcp::datapath::sim {

class ReliablePaths {
 public:
  static constexpr std::size_t kPathsMax = 16;  // of a link
  using Key = std::pair<LinkId, wire::PathIndex>;
  // Sends a copy of the frame; `key` names the path at this card.
  using Send = std::function<void(Time, const Key& key, const Frame& frame)>;
  // on_timer() is due at this time.
  using Schedule = std::function<void(Time)>;

  ReliablePaths(const CardConfig& config, Send send, Schedule schedule)
      : config_(config), send_(std::move(send)), schedule_(std::move(schedule)) {}
  void open(LinkId link, Duration round_trip);
  void close(LinkId link);

  // --- the sender's side
  std::uint32_t epoch(const Key& key) const;  // from 1 on
  std::uint32_t failures(const Key& key) const { return epoch(key) - 1; }
  void post(Time now, const Key& key, Frame frame);
  void on_answer(Time now, const Key& key, const PlacedHead& answer);
  // Returns the number of paths that have failed since the last call.
  std::size_t on_timer(Time now);

  // --- the receiver's side
  void begin(const Key& key, std::uint32_t epoch);  // the peer's
  enum class Verdict : std::uint8_t { kNext, kAnswered, kIgnored };
  // kNext: the packet must be taken or refused.
  Verdict look(Time now, const Key& key, const Frame& frame);
  void take(Time now, const Key& key, const Frame& frame);
  void refuse(Time now, const Key& key, const Frame& frame);  // its key is dead

  std::uint64_t repeats() const { return repeats_; }
  std::uint64_t doubles() const { return doubles_; }

 private:
  struct Sender {
    std::uint32_t epoch = 1;
    std::uint32_t next = 0;
    std::deque<Frame> unfinished;
    unsigned tries = 0;
    Time repeat_at = kNever;
  };
  struct Receiver {
    std::uint32_t epoch = 0;
    std::uint32_t expected = 0;
    bool has_failed = false;
    bool gap_reported = false;
  };
  void answer(Time now, const Key& key, const Frame& frame, PlacedHead::Kind kind);
  void repeat(Time now, const Key& key, Sender& sender);
  void wait(Time now, const Key& key, Sender& sender);
  void fail(Sender& sender);

  const CardConfig& config_;
  const Send send_;
  const Schedule schedule_;
  std::map<LinkId, int> patience_;  // in config_.repeat_after
  std::map<Key, Sender> senders_;
  std::map<Key, Receiver> receivers_;
  std::uint64_t repeats_ = 0;
  std::uint64_t doubles_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace dlcp::datapath::sim
