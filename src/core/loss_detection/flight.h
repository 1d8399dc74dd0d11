// What is on the wire: one record per data packet, per path in the order sent, and the decision
// which of them are lost. The rules are RACK's (RFC 8985) with paths in the place of one ordered
// stream:
//  - a packet is lost once its own path has delivered a later one and the reordering window is
//    over;
//  - a packet is lost once any path has delivered one sent later and a longer, cross-path grace is
//    over.
// Counting duplicate acknowledgements would be wrong under spraying and is not done.
//
// How long to wait is learnt from evidence: a packet that was passed over and then acknowledged
// after all shows how late packets can be, and a needless retransmission that the wait was too
// short. Where neither happens, losses are found within an eighth of the round trip.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/loss_detection/rtt.h"
#include "core/streams/send_message.h"
#include "util/ring_queue.h"
#include "util/time.h"
#include "wire/packet.h"

namespace dlcp::core {

class Flight {
 public:
  explicit Flight(std::size_t paths);

  // Numbers the packet on its path, never twice alike, and keeps its record. Of a chunk sent in
  // pieces the last is judged (`ends`): by then the others have had their chance, and the chunk is
  // sent again whole.
  std::uint64_t on_sent(Time now, wire::PathIndex path, const ChunkRef& chunk, bool ends = true);

  // The peer has seen `sequence` on `path`; it was sent at `sent_at`. False if it never was, or if
  // that is no news.
  bool on_report(Time now, wire::PathIndex path, std::uint32_t sequence, Time sent_at);
  // A question sent at `sent_at` on `path` was answered: all that was sent before it has had its
  // chance, once it has had `data_takes`: where switches keep classes apart a question overtakes
  // whatever data waits.
  void on_probe_answered(Time now, wire::PathIndex path, Time sent_at, Duration data_takes);

  struct Loss {
    wire::PathIndex path = 0;
    ChunkRef chunk;
    Time sent_at;
    bool overtaken = false;  // its own path has delivered a later one: that works
  };
  // Moves records that are settled out, and appends those now to be declared lost to `out`.
  // deadline() tells when to call again even if nothing arrives.
  void find_losses(Time now, const RttEstimator& rtt, const ChunkStates& chunks,
                   std::vector<Loss>& out);
  Time deadline() const { return deadline_; }

  // A retransmission turned out needless: wait longer before the next one. At most once per round
  // trip, as one hasty decision can concern many packets.
  void on_spurious(Time now, Duration round_trip);

  std::optional<std::uint8_t> path_of_newest() const;
  bool empty() const { return records_ == 0; }

 private:
  struct Record {
    ChunkRef chunk;
    Time sent_at;
    bool settled = false;  // acknowledged, or declared lost
    bool passed = false;   // a later one of its path was known to have arrived when it was not
    bool passed_across = false;  // the same of any path
  };
  // How late packets were that arrived after all, as the most of the last one to two epochs.
  struct Lateness {
    Duration now{0};
    Duration before{0};
    void add(Duration late) { now = std::max(now, late); }
    void end_epoch() { before = std::exchange(now, Duration(0)); }
    // With a margin, as the latest is still to come.
    Duration allowance() const { return std::max(now, before) * 5 / 4; }
  };
  // The newest send time known to be delivered, and how long it took to learn of it.
  struct Delivery {
    Time sent_at = Time::min();
    Duration took{0};
    void update(Time now, Time packet_sent_at, Duration least = Duration(0));
  };
  struct Path {
    std::uint64_t next_sequence = 0;
    std::uint64_t front_sequence = 0;   // of records.front()
    std::uint64_t delivered_below = 0;  // a packet with sequence delivered_below - 1 has arrived
    Delivery newest;
    RingQueue<Record> records;
  };

  bool lost(Time now, const Path& path, std::uint64_t sequence, Record& record);
  void arrived_late(Time now, const Path& path, const Record& record);
  void set_windows(Time now, const RttEstimator& rtt);

  std::vector<Path> paths_;
  std::size_t records_ = 0;    // not settled
  double reordering_ = 0.125;  // share of the round trip that one path may reorder by
  Duration grace_;             // least cross_path_window_
  Lateness on_path_;
  Lateness across_;
  Time epoch_ends_{};
  Time widen_again_at_{};
  Duration same_path_window_{0};
  Duration cross_path_window_{0};
  Delivery newest_;  // on any path
  std::uint8_t newest_path_ = 0;
  Time deadline_ = kNever;
};

}  // namespace dlcp::core
